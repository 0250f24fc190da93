// shade.ts - the light, one for everything: rods, solids and ground.
//
// A sky above and a ground below (a hemisphere), one key light with a shadow, a weak light from the
// other side, a highlight and a rim. Colours are multiplied in linear light; gamma is taken as 2, so
// a colour is squared on its way in and its root is taken on its way out, which no eye can tell from
// the exact curve.
//
// Shadows are a depth map seen along the key light, made anew only when a new frame is shown, not
// when the camera moves.
import {
    DepthTexture, Matrix4, NearestFilter, OrthographicCamera, UnsignedIntType, Vector3, Vector4, WebGLRenderTarget,
    type Scene, type WebGLRenderer,
} from "three";

export const SHADOW_LAYER = 1; // what is drawn into the shadow map

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
    shadowPlain: { value: 0 }, // 1: shadows with hard edges, where softness costs too much
};

export const LIGHT = /* glsl */ `
uniform vec4 eye;
uniform float pixel;
uniform vec3 keyDirection, sky, ground, key;
uniform highp sampler2D shadowMap;
uniform mat4 shadowMatrix;
uniform float shadowOn, shadowBias, shadowTexel, shadowPlain;

vec3 toEye(vec3 p) { return normalize(eye.xyz - eye.w * p); }
float pixelAt(vec3 p) { return eye.w > 0.5 ? pixel * length(eye.xyz - p) : pixel; }

float tap(vec3 q, vec2 by) { return step(q.z, texture(shadowMap, q.xy + by).r); }
// 1 in the light, 0 in the shadow
float lit(vec3 p, float softness) {
    if (shadowOn < 0.5) return 1.0;
    vec3 q = (shadowMatrix * vec4(p, 1.0)).xyz;
    if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
    q.z -= shadowBias;
    if (shadowPlain > 0.5) return tap(q, vec2(0.0));
    float r = softness / float(textureSize(shadowMap, 0).x);
    return 0.2 * (tap(q, vec2(0.0)) + tap(q, vec2(r, 0.4 * r)) + tap(q, vec2(-0.4 * r, r))
        + tap(q, vec2(-r, -0.4 * r)) + tap(q, vec2(0.4 * r, -r)));
}

// of a hair: it has no width to be soft over
float litThin(vec3 p) {
    if (shadowOn < 0.5) return 1.0;
    vec3 q = (shadowMatrix * vec4(p, 1.0)).xyz;
    q.z -= shadowBias;
    return tap(q, vec2(0.0));
}
// of a surface: looked up a little in front of it, the more the flatter the light falls
float litSurface(vec3 p, vec3 n, float softness) {
    float slope = 1.0 - max(dot(n, keyDirection), 0.0);
    return lit(p + n * shadowTexel * (1.3 + 2.2 * slope), softness);
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

/** The shadow map and the camera that looks along the key light. */
export class Shadow {
    private readonly target: WebGLRenderTarget;
    private readonly camera = new OrthographicCamera();
    on = true;

    constructor(private readonly size: number) {
        const depth = new DepthTexture(size, size, UnsignedIntType);
        depth.minFilter = depth.magFilter = NearestFilter;
        this.target = new WebGLRenderTarget(size, size, { depthTexture: depth });
        this.camera.layers.set(SHADOW_LAYER);
        light.shadowMap.value = depth;
    }

    /** Draw the shadows of a scene that lies within `radius` of `centre`. */
    draw(renderer: WebGLRenderer, scene: Scene, centre: Vector3, radius: number): void {
        light.shadowOn.value = 0;
        if (!this.on || !(radius > 0)) {
            return;
        }
        const r = 1.3 * radius;
        const camera = this.camera;
        camera.left = camera.bottom = -r;
        camera.right = camera.top = r;
        camera.near = 0;
        camera.far = 6 * r;
        camera.position.copy(centre).addScaledVector(light.keyDirection.value, 3 * r);
        camera.up.set(0, 1, 0);
        camera.lookAt(centre);
        camera.updateProjectionMatrix();
        camera.updateMatrixWorld();
        const eye = light.eye.value.clone();
        const pixel = light.pixel.value;
        light.eye.value.set(...light.keyDirection.value.toArray(), 0);
        light.pixel.value = (2 * r) / this.size;
        const background = scene.background;
        scene.background = null;
        renderer.setRenderTarget(this.target);
        renderer.clear();
        renderer.render(scene, camera);
        renderer.setRenderTarget(null);
        scene.background = background;
        light.eye.value.copy(eye);
        light.pixel.value = pixel;
        light.shadowTexel.value = (2 * r) / this.size;
        light.shadowBias.value = (1.2 * ((2 * r) / this.size)) / (6 * r);
        light.shadowMatrix.value
            .makeScale(0.5, 0.5, 0.5).setPosition(0.5, 0.5, 0.5)
            .multiply(camera.projectionMatrix).multiply(camera.matrixWorldInverse);
        light.shadowOn.value = 1;
    }
}
