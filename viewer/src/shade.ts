// shade.ts - the light, one for everything: rods, solids and ground.
//
// A sky above and a ground below (a hemisphere), one key light with a shadow, a weak light from the
// other side, a highlight and a rim. Colours are multiplied in linear light; gamma is taken as 2, so
// a colour is squared on its way in and its root is taken on its way out, which no eye can tell from
// the exact curve.
//
// Shadows are a depth map seen along the key light, made anew only when a new frame is shown, not
// when the camera moves, and once more, larger and closer about the scene, when it rests. Closed bodies
// cast by their far sides, so that a side in the light never shadows itself.
import {
    DepthTexture, Matrix4, NearestFilter, OrthographicCamera, UnsignedIntType, Vector2, Vector3, Vector4, WebGLRenderTarget,
    type Scene, type WebGLRenderer,
} from "three";

export const SHADOW_LAYER = 1; // what is drawn into the shadow map

const TAPS = 12; // of a soft shadow

// places in the unit disc, evenly spread as seeds in a sunflower
const seed = (i: number): Vector2 =>
    new Vector2(Math.cos(2.399963 * i), Math.sin(2.399963 * i)).multiplyScalar(Math.sqrt((i + 0.5) / TAPS));

/** The uniforms that all materials share. */
export const light = {
    eye: { value: new Vector4(0, 0, 1, 1) }, // w = 1: where it is; w = 0: the direction to it
    pixel: { value: 0.001 }, // size of a pixel at distance 1 (w = 1), or anywhere (w = 0)
    keyDirection: { value: new Vector3(0.35, -0.45, 0.82).normalize() },
    sky: { value: new Vector3(0.62, 0.68, 0.76) },
    ground: { value: new Vector3(0.22, 0.2, 0.19) },
    key: { value: new Vector3(1.0, 0.96, 0.9) },
    shadowMap: { value: null as DepthTexture | null },
    shadowMatrix: { value: new Matrix4() },
    shadowOn: { value: 0 },
    shadowBias: { value: 0.002 },
    shadowTexel: { value: 0 }, // m
    shadowSpan: { value: new Vector2(1, 1) }, // m, of the map
    fine: { value: 1 }, // how many pixels drawn make one that is shown, each way
    shadowDisc: { value: Array.from({ length: TAPS }, (_, i) => seed(i)) },
    shadowPlain: { value: 0 }, // 1: shadows with hard edges, where softness costs too much
};

export const LIGHT = /* glsl */ `
uniform vec4 eye;
uniform float pixel;
uniform vec3 keyDirection, sky, ground, key;
uniform highp sampler2D shadowMap;
uniform mat4 shadowMatrix;
uniform float shadowOn, shadowBias, shadowTexel, shadowPlain, fine;
uniform vec2 shadowSpan, shadowDisc[${TAPS}];

vec3 toEye(vec3 p) { return normalize(eye.xyz - eye.w * p); }
float pixelAt(vec3 p) { return eye.w > 0.5 ? pixel * length(eye.xyz - p) : pixel; }

float tap(vec3 q, vec2 by) { return step(q.z, texture(shadowMap, q.xy + by).r); }
// 1 in the light, 0 in the shadow: the mean over a disc of so many texels, turned from pixel to pixel. A
// loop, because without a graphics card both sides of a branch cost their time, and turns of a loop do not.
float lit(vec3 p, float softness, vec2 at) {
    if (shadowOn < 0.5) return 1.0;
    vec3 q = (shadowMatrix * vec4(p, 1.0)).xyz;
    if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
    q.z -= shadowBias;
    float turn = 6.2832 * fract(52.9829189 * fract(dot(at, vec2(0.06711056, 0.00583715))));
    vec2 u = (1.0 - shadowPlain) * softness * shadowTexel * vec2(cos(turn), sin(turn));
    int count = shadowPlain > 0.5 ? 1 : ${TAPS};
    float sum = 0.0;
    for (int i = 0; i < count; i++) {
        vec2 d = shadowDisc[i];
        sum += tap(q, vec2(u.x * d.x - u.y * d.y, u.y * d.x + u.x * d.y) / shadowSpan);
    }
    return sum / float(count);
}

// of a hair: it has no width to be soft over
float litThin(vec3 p) {
    if (shadowOn < 0.5) return 1.0;
    vec3 q = (shadowMatrix * vec4(p, 1.0)).xyz;
    q.z -= shadowBias;
    return tap(q, vec2(0.0));
}
// Of a surface: looked up in front of it. A tap d texels aside of a plane whose normal makes the angle a
// with the light lies d tan(a) deeper, which a step of d sin(a) along the normal makes up for.
float litSurface(vec3 p, vec3 n, float softness, vec2 at) {
    float c = max(dot(n, keyDirection), 0.0);
    return lit(p + n * shadowTexel * (0.6 + (softness + 0.8) * sqrt(1.0 - c * c)), softness, at);
}

vec3 shade(vec3 base, vec3 n, vec3 v, float shadow, float gloss) {
    float direct = max(dot(n, keyDirection), 0.0) * shadow;
    float back = max(dot(n, vec3(-keyDirection.xy, 0.2)), 0.0);
    vec3 c = base * base * (mix(ground, sky, 0.5 + 0.5 * n.z) + key * (0.95 * direct + 0.12 * back));
    float s = max(dot(n, normalize(keyDirection + v)), 0.0);
    float rim = 1.0 - max(dot(n, v), 0.0);
    c += gloss * (shadow * key * pow(s, 36.0) + 0.25 * sky * rim * rim * rim);
    return sqrt(c);
}
`;

interface ShadowMap {
    size: number;
    depth: DepthTexture;
    target: WebGLRenderTarget;
}

function shadowMap(size: number): ShadowMap {
    const depth = new DepthTexture(size, size, UnsignedIntType);
    depth.minFilter = depth.magFilter = NearestFilter;
    return { size, depth, target: new WebGLRenderTarget(size, size, { depthTexture: depth }) };
}

/** The shadow map and the camera that looks along the key light: a small map while things move, a large one when they rest. */
export class Shadow {
    private readonly camera = new OrthographicCamera();
    private readonly moving: ShadowMap;
    private resting: ShadowMap | null = null; // made when first needed
    on = true;

    constructor(size: number, private readonly restingSize: number) {
        this.moving = shadowMap(size);
        this.camera.layers.set(SHADOW_LAYER);
        this.camera.up.set(0, 1, 0);
    }

    /** Draw the shadows of a scene that lies within `radius` of `centre`; at rest, of what lies in the box alone. */
    draw(renderer: WebGLRenderer, scene: Scene, { centre, radius }: { centre: Vector3; radius: number }, box: { low: Vector3; high: Vector3 } | null): void {
        light.shadowOn.value = 0;
        if (!this.on || !(radius > 0)) {
            return;
        }
        const map = box ? (this.resting ??= shadowMap(this.restingSize)) : this.moving;
        const middle = box ? box.low.clone().add(box.high).multiplyScalar(0.5) : centre;
        const reach = box ? 0.5 * box.low.distanceTo(box.high) : 1.3 * radius;
        const far = Math.max(reach, radius);
        const camera = this.camera;
        camera.position.copy(middle).addScaledVector(light.keyDirection.value, 1.1 * reach);
        camera.lookAt(middle);
        camera.updateMatrixWorld();
        camera.near = 0;
        camera.far = 1.1 * reach + 5 * far; // the ground lies behind what casts shadows
        camera.left = camera.bottom = -reach;
        camera.right = camera.top = reach;
        if (box) {
            this.fit(box, 0.02 * reach);
        }
        camera.updateProjectionMatrix();
        const width = camera.right - camera.left, height = camera.top - camera.bottom;
        const texel = Math.max(width, height) / map.size;
        const eye = light.eye.value.clone();
        const pixel = light.pixel.value;
        light.eye.value.set(...light.keyDirection.value.toArray(), 0);
        light.pixel.value = texel;
        const background = scene.background;
        scene.background = null;
        renderer.setRenderTarget(map.target);
        renderer.clear();
        renderer.render(scene, camera);
        renderer.setRenderTarget(null);
        scene.background = background;
        light.eye.value.copy(eye);
        light.pixel.value = pixel;
        light.shadowMap.value = map.depth;
        light.shadowTexel.value = texel;
        light.shadowSpan.value.set(width, height);
        light.shadowBias.value = (0.6 * texel) / camera.far;
        light.shadowMatrix.value
            .makeScale(0.5, 0.5, 0.5).setPosition(0.5, 0.5, 0.5)
            .multiply(camera.projectionMatrix).multiply(camera.matrixWorldInverse);
        light.shadowOn.value = 1;
    }

    // the sides of the camera's view as near as the corners of the box let them be
    private fit({ low, high }: { low: Vector3; high: Vector3 }, margin: number): void {
        const camera = this.camera;
        const least = new Vector3().setScalar(Infinity), most = new Vector3().setScalar(-Infinity);
        for (let k = 0; k < 8; k++) {
            const corner = new Vector3(k & 1 ? low.x : high.x, k & 2 ? low.y : high.y, k & 4 ? low.z : high.z);
            corner.applyMatrix4(camera.matrixWorldInverse);
            least.min(corner);
            most.max(corner);
        }
        camera.left = least.x - margin;
        camera.right = most.x + margin;
        camera.bottom = least.y - margin;
        camera.top = most.y + margin;
    }
}
