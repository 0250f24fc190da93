// rods.ts - thousands of rods, drawn from two textures.
//
// Level of detail, by the radius in pixels of each line:
//   strands  a ribbon of two triangles a segment that faces the eye and is lit as if it were round;
//            never thinner than a pixel, where it is lit as a hair is (by its tangent alone);
//            where there is no graphics card, painter.ts draws them instead
//   tubes    true geometry: rings about a cubic through the points (Hermite, with tangents that halve
//            the angle between neighbours), turned with the material frame, closed at the ends;
//            flat sections for ribbons
// Tubes are given to the largest of the lines that the camera sees until their budget of vertices is
// spent: whoever comes near enough to tell sees tubes alone.
//
// Data. Strands read one buffer with two vertices a point, bound three times with a shift, so that a
// vertex sees its neighbours without a fetch. Tubes, of which there are few, fetch points by number
// from textures: one for position and value, one for what never changes (half sizes of the section
// along n1 and n2, number of the rod, whether a line starts or ends here), one for quaternions. A new
// frame costs one loop and one upload for each kind that is drawn.
import {
    BackSide, BufferAttribute, BufferGeometry, DataTexture, DoubleSide, FloatType, FrontSide, Frustum, Group,
    InstancedBufferAttribute, InstancedBufferGeometry, LineSegments, Matrix4, Mesh, NearestFilter,
    RGBAFormat, ShaderMaterial, Vector2, Vector3,
    type PerspectiveCamera, type Side,
} from "three";
import { isWisp } from "./colours";
import { Painter } from "./painter";
import type { Frame, RunInfo } from "./protocol";
import { LIGHT, SHADOW_LAYER, light } from "./shade";
import { Strands } from "./strands";
import { MOST_FIBRES, brushOf } from "./wisp";

const ROW_BITS = 11;
const ROW = 1 << ROW_BITS;
const STRAND = 0, TUBE = 1; // how a line is drawn
const FIRST = 1; // flags of a point
const LAST = 2;

const POINTS = /* glsl */ `
precision highp int;
uniform highp sampler2D points, sections, frames;
uniform float thickness, hasFrames;
vec4 fetch(highp sampler2D t, int i) { return texelFetch(t, ivec2(i & ${ROW - 1}, i >> ${ROW_BITS}), 0); }
bool isFirst(vec4 section) { return (int(section.w) & ${FIRST}) != 0; }
bool isLast(vec4 section) { return (int(section.w) & ${LAST}) != 0; }
`;

// a hair is lit by its tangent alone (Kajiya and Kay)
const HAIR = /* glsl */ `
vec3 shadeHair(vec3 colour, vec3 t, vec3 v, float shadow) {
    float tl = dot(t, keyDirection), tv = dot(t, v);
    float st = sqrt(max(1.0 - tl * tl, 0.0)), sv = sqrt(max(1.0 - tv * tv, 0.0));
    float shine = pow(max(st * sv - tl * tv, 0.0), 30.0);
    vec3 c = colour * colour * (mix(ground, sky, 0.62) * (0.55 + 0.45 * shadow) + key * 0.62 * st * shadow)
        + 0.22 * key * shine * shadow * (0.3 + 0.7 * colour);
    return sqrt(c);
}
`;

const LINE_DEPTH_VERTEX = /* glsl */ `
attribute vec3 here;
void main() { gl_Position = projectionMatrix * viewMatrix * vec4(here, 1.0); }
`;

// One fibre of a wisp (wisp.ts), an instance of all strands; a strand that is no wisp is in the first alone.
const FIBRE = /* glsl */ `
const float DIM = 0.5; // strands beside the selected one
uniform float fibreCount;
attribute vec3 here, fibre; // fibre: a place in the unit ball
attribute vec4 kind; // radius, rod, 1 or -1: which side, and the radius of a wisp, or 0
float fibreRadius() {
    return kind.w > 0.0 ? kind.w / (fibreCount > 1.5 ? 1.2 * sqrt(fibreCount) : 1.0) : kind.x;
}
vec3 place(vec3 tangent) {
    if (!(kind.w > 0.0) || fibreCount < 1.5) return here;
    float a = 2.4 * kind.y, c = cos(a), s = sin(a);
    vec3 o = (1.25 * kind.w - fibreRadius()) * vec3(c * fibre.x - s * fibre.y, s * fibre.x + c * fibre.y, fibre.z);
    return here + o - dot(o, tangent) * tangent;
}
bool isNone() { return gl_InstanceID > 0 && !(kind.w > 0.0); }
`;

const STRAND_VERTEX = /* glsl */ `
${LIGHT}
uniform float thickness, selected;
${FIBRE}
attribute vec3 before, after, colour;
varying vec3 vColour, vNormal, vTangent, vEye;
varying vec2 vAcross; // from side to side, and half width in pixels
varying float vLit;
void main() {
    vec3 tangent = normalize(after - before + vec3(1e-12));
    vec3 here = place(tangent);
    vec3 v = toEye(here);
    vec3 side = normalize(cross(tangent, v) + vec3(1e-9));
    float size = pixelAt(here);
    bool isSelected = abs(kind.y - selected) < 0.5;
    float width = max(fibreRadius() * thickness, (isSelected ? 1.5 : 0.62) * size);
    vColour = isSelected ? mix(colour, vec3(1.0, 0.92, 0.53), 0.75) : selected > -0.5 ? DIM * colour : colour;
    vTangent = tangent;
    vEye = v;
    vNormal = normalize(cross(side, tangent));
    vAcross = vec2(kind.z, width / size);
    vLit = litThin(here + keyDirection * width * 2.0);
    gl_Position = projectionMatrix * viewMatrix * vec4(here + kind.z * width * side, 1.0);
    if (isSelected) { // before other strands, but not before bodies far in front of it
        vec4 near = projectionMatrix * viewMatrix * vec4(here + 0.04 * length(eye.xyz - here) * v, 1.0);
        gl_Position.z = near.z / near.w * gl_Position.w;
    }
    if (isNone()) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;

const STRAND_DEPTH_VERTEX = /* glsl */ `
${LIGHT}
uniform float thickness;
${FIBRE}
attribute vec3 before, after;
void main() {
    vec3 side = normalize(cross(after - before, eye.xyz) + vec3(1e-9));
    float width = max(fibreRadius() * thickness, 0.62 * pixel);
    vec3 p = place(normalize(after - before + vec3(1e-12)));
    gl_Position = projectionMatrix * viewMatrix * vec4(p + kind.z * width * side, 1.0);
    if (isNone()) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
`;

const STRAND_FRAGMENT = /* glsl */ `
precision highp float;
${LIGHT}
${HAIR}
varying vec3 vColour, vNormal, vTangent, vEye;
varying vec2 vAcross;
varying float vLit;
void main() {
    float x = clamp(vAcross.x, -1.0, 1.0);
    vec3 t = vTangent;
    vec3 hair = shadeHair(vColour, t, vEye, vLit);
    float round_ = clamp((vAcross.y - 0.9) / 1.5, 0.0, 1.0);
    if (round_ > 0.0) {
        vec3 side = cross(t, vNormal);
        vec3 n = normalize(vNormal * sqrt(1.0 - 0.98 * x * x) - side * x);
        hair = mix(hair, shade(vColour, n, vEye, vLit, 0.35), round_);
    }
    gl_FragColor = vec4(hair, 1.0);
}
`;

const TUBE_VERTEX = /* glsl */ `
${LIGHT}
${POINTS}
attribute float segment;
varying vec3 vPlace, vNormal;
varying vec4 vMark; // value, rod, section coordinate along n1, half width in pixels
vec3 firstNormal(int i, vec3 t) {
    vec3 n;
    if (hasFrames > 0.5) {
        vec4 q = fetch(frames, i); // w x y z; the second column of its matrix
        n = vec3(2.0 * (q.y * q.z - q.x * q.w), 1.0 - 2.0 * (q.y * q.y + q.w * q.w), 2.0 * (q.z * q.w + q.x * q.y));
    } else {
        n = abs(t.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0);
    }
    return normalize(n - dot(n, t) * t + vec3(1e-9));
}
void main() {
    int i = int(segment);
    vec4 a = fetch(points, i), b = fetch(points, i + 1);
    vec4 sa = fetch(sections, i), sb = fetch(sections, i + 1);
    vec3 chord = b.xyz - a.xyz;
    float l = max(length(chord), 1e-12);
    vec3 d = chord / l;
    vec3 ta = isFirst(sa) ? d : normalize(d + normalize(a.xyz - fetch(points, i - 1).xyz + vec3(1e-12)));
    vec3 tb = isLast(sb) ? d : normalize(d + normalize(fetch(points, i + 2).xyz - b.xyz + vec3(1e-12)));
    float t = position.x, u = 1.0 - t;
    vec3 centre = a.xyz * u * u * (1.0 + 2.0 * t) + b.xyz * t * t * (3.0 - 2.0 * t) + l * u * t * (ta * u - tb * t);
    vec3 along = normalize(6.0 * u * t * chord + l * (ta * u * (1.0 - 3.0 * t) + tb * t * (3.0 * t - 2.0)) + 1e-3 * d * l);
    vec3 n1 = mix(firstNormal(i, ta), firstNormal(i + 1, tb), t);
    n1 = normalize(n1 - dot(n1, along) * along + vec3(1e-9));
    vec3 n2 = cross(along, n1);
    float size = pixelAt(centre);
    vec2 half_ = max(mix(sa.xy, sb.xy, t) * thickness, vec2(0.3 * size));
    vec2 in_ = position.yz * half_;
    // the ends are closed where a line ends, and nothing elsewhere
    bool end = abs(normal.x) > 0.5;
    if (end && !(normal.x < 0.0 ? isFirst(sa) : isLast(sb))) in_ = vec2(0.0);
    vec2 m = normal.yz / half_ * min(half_.x, half_.y); // normal of an ellipse
    vNormal = end ? along * sign(normal.x) : normalize(m.x * n1 + m.y * n2);
    vPlace = centre + in_.x * n1 + in_.y * n2;
    vMark = vec4(mix(a.w, b.w, t), sa.z, end ? 0.0 : position.y, max(half_.x, half_.y) / size);
    gl_Position = projectionMatrix * viewMatrix * vec4(vPlace, 1.0);
}
`;

const TUBE_FRAGMENT = /* glsl */ `
precision highp float;
${LIGHT}
uniform highp sampler2D lut;
uniform vec2 range;
uniform float selected, stripes;
varying vec3 vPlace, vNormal;
varying vec4 vMark;
void main() {
    vec3 v = toEye(vPlace);
    vec3 n = normalize(vNormal);
    float x = clamp((vMark.x - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
    vec3 c = texture(lut, vec2((x * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    if (abs(vMark.y - selected) < 0.5) c = mix(c, vec3(1.0, 0.9, 0.5), 0.6);
    else if (selected > -0.5) c *= 0.55;
    if (!gl_FrontFacing) n = -n;
    if (stripes > 0.5) c *= mix(1.0, 0.45, smoothstep(0.955, 0.975, abs(vMark.z)) * step(0.0, vMark.z));
    float shadow = litSurface(vPlace, n, 2.0, gl_FragCoord.xy);
    gl_FragColor = vec4(shade(c, n, v, shadow, 0.42), 1.0);
}
`;

const DEPTH_FRAGMENT = "void main() { gl_FragColor = vec4(1.0); }";

function pointTexture(count: number): DataTexture {
    const rows = Math.max(1, Math.ceil(count / ROW));
    const texture = new DataTexture(new Float32Array(4 * ROW * rows), ROW, rows, RGBAFormat, FloatType);
    texture.minFilter = texture.magFilter = NearestFilter;
    texture.needsUpdate = true;
    return texture;
}

const dataOf = (texture: DataTexture) => texture.image.data as Float32Array;

// A tube about the unit segment. position: place along it, and the section's two coordinates in units
// of its half sizes; normal: -1 or 1 at a closed end, and the section's normal.
function tubeGeometry(sides: number, rings: number, flat: boolean): BufferGeometry {
    const outline: [number, number, number, number][] = []; // u, v, normal
    if (flat) {
        for (const [u, v, nu, nv] of [[-1, -1, 0, -1], [1, -1, 0, -1], [1, -1, 1, 0], [1, 1, 1, 0],
            [1, 1, 0, 1], [-1, 1, 0, 1], [-1, 1, -1, 0], [-1, -1, -1, 0]] as const) {
            outline.push([u, v, nu, nv]);
        }
    } else {
        for (let i = 0; i <= sides; i++) {
            const angle = (2 * Math.PI * i) / sides;
            outline.push([Math.cos(angle), Math.sin(angle), Math.cos(angle), Math.sin(angle)]);
        }
    }
    const position: number[] = [];
    const normal: number[] = [];
    const index: number[] = [];
    const around = outline.length;
    for (let r = 0; r <= rings; r++) {
        for (const [u, v, nu, nv] of outline) {
            position.push(r / rings, u, v);
            normal.push(0, nu, nv);
        }
    }
    for (let r = 0; r < rings; r++) {
        for (let i = 0; i + 1 < around; i += flat ? 2 : 1) {
            const a = r * around + i;
            index.push(a, a + 1, a + around, a + 1, a + around + 1, a + around);
        }
    }
    for (const end of [-1, 1]) {
        const centre = position.length / 3;
        const t = end < 0 ? 0 : 1;
        position.push(t, 0, 0);
        normal.push(end, 0, 0);
        for (const [u, v] of outline) {
            position.push(t, u, v);
            normal.push(end, 0, 0);
        }
        for (let i = 1; i < around; i++) {
            index.push(centre, ...(end > 0 ? [centre + i, centre + i + 1] : [centre + i + 1, centre + i]));
        }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(position), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(normal), 3));
    geometry.setIndex(index);
    return geometry;
}

// How fine tubes are, by the number of segments, and the radius in pixels from which they are worth it
// where there are many points, and where there are few (at most `few`).
interface Detail {
    steps: { upTo: number; sides: number; rings: number }[];
    pixels: number;
    fewPixels: number;
    few: number;
}
const CARD: Detail = { // about 600 000 vertices at most
    steps: [{ upTo: 1500, sides: 24, rings: 6 }, { upTo: 4000, sides: 14, rings: 4 }, { upTo: 20000, sides: 8, rings: 2 }],
    pixels: 1.6, fewPixels: 0.7, few: 4000,
};
const NO_CARD: Detail = { // about 40 000
    steps: [{ upTo: 250, sides: 16, rings: 4 }, { upTo: 1500, sides: 8, rings: 2 }],
    pixels: 4, fewPixels: 1.2, few: 1500,
};

// Fibres of wisps, in segments of all of them together.
const FINE_SHADOW_POINTS = 10_000; // without a card more of them have shadows of thin lines
const MOST_PIECES = 3, CARD_POINTS = 250_000; // of a segment, and points of all pieces together
const CARD_SEGMENTS = 900_000, STILL_SEGMENTS = 100_000, MOVING_SEGMENTS = 9_000;

/** One kind of tubes, round or flat: the segments that are drawn so now. */
class Tubes {
    readonly mesh: Mesh;
    private detail = -1;

    constructor(private readonly flat: boolean, private readonly steps: Detail["steps"], material: ShaderMaterial) {
        this.mesh = new Mesh(new InstancedBufferGeometry(), material);
        this.mesh.frustumCulled = false;
        this.mesh.visible = false;
    }

    set(segments: number[]): void {
        this.mesh.visible = segments.length > 0;
        if (!this.mesh.visible) {
            return;
        }
        let detail = this.steps.findIndex(({ upTo }) => segments.length <= upTo);
        detail = detail < 0 ? this.steps.length - 1 : detail;
        let geometry = this.mesh.geometry as InstancedBufferGeometry;
        const room = (geometry.getAttribute("segment") as InstancedBufferAttribute | undefined)?.count ?? 0;
        if (detail !== this.detail || room < segments.length) {
            geometry.dispose();
            const { sides, rings } = this.steps[detail]!;
            geometry = new InstancedBufferGeometry();
            geometry.copy(tubeGeometry(sides, rings, this.flat) as InstancedBufferGeometry);
            const size = Math.ceil(segments.length * 1.3);
            geometry.setAttribute("segment", new InstancedBufferAttribute(new Float32Array(size), 1));
            this.mesh.geometry = geometry;
            this.detail = detail;
        }
        const attribute = geometry.getAttribute("segment") as InstancedBufferAttribute;
        (attribute.array as Float32Array).set(segments);
        attribute.needsUpdate = true;
        geometry.instanceCount = segments.length;
    }
}

// the distance to the nearest part of a line that may be seen, a ball about each point that reaches the
// next; infinite where nothing can be
function nearest(frustum: Frustum, eye: Vector3, xyz: Float32Array, first: number, count: number, radius: number): number {
    const p = new Vector3(), next = new Vector3();
    let least = Infinity;
    for (let i = first; i < first + count; i++) {
        p.fromArray(xyz, 3 * i);
        next.fromArray(xyz, 3 * Math.min(i + 1, first + count - 1));
        const reach = radius + p.distanceTo(next);
        if (frustum.planes.every((plane) => plane.distanceToPoint(p) > -reach)) {
            least = Math.min(least, p.distanceTo(eye));
        }
    }
    return least;
}

export class Rods {
    readonly group = new Group();
    uploadMs = 0; // time on the CPU for the last frame
    tubeCount = 0; // lines drawn as tubes
    private thinCount = 0; // segments drawn as strands
    private readonly points: DataTexture;
    private readonly sections: DataTexture;
    private readonly turns: DataTexture;
    private readonly pieces: number; // of a segment of a strand
    private readonly thin: Strands;
    private readonly strands: Mesh;
    private readonly coarse: LineSegments | null = null; // shadows of the many strands that the painter draws
    private readonly strandShadow: Mesh; // as wide as they are
    private readonly painter: Painter | null = null; // where there is no graphics card
    private readonly colours: Uint32Array; // by point
    private readonly detail: Detail;
    private shown: { frame: Frame; values: Float32Array } | null = null;
    private readonly round: Tubes;
    private readonly flat: Tubes;
    private readonly drawnAs: Uint8Array; // by line
    private readonly size: Float32Array; // radius in pixels by line
    private readonly uniforms;
    private listed = false;

    constructor(private readonly run: RunInfo, lut: DataTexture, software: boolean) {
        const count = run.pointCount;
        this.detail = software ? NO_CARD : CARD;
        this.colours = new Uint32Array(count);
        this.points = pointTexture(count);
        this.sections = pointTexture(count);
        const flatOnes = run.rods.some((rod) => rod.ribbon);
        this.turns = pointTexture(count <= 400_000 || flatOnes ? count : 1);
        this.fillSections();
        this.uniforms = {
            ...light,
            points: { value: this.points },
            sections: { value: this.sections },
            frames: { value: this.turns },
            lut: { value: lut },
            range: { value: new Vector2(0, 1) },
            thickness: { value: 1 },
            selected: { value: -1 },
            stripes: { value: 0 },
            hasFrames: { value: 0 },
            fibreCount: { value: 1 },
        };
        const side = { side: DoubleSide };
        this.pieces = software ? 1 : Math.max(1, Math.min(MOST_PIECES, Math.floor(CARD_POINTS / Math.max(1, run.pointCount))));
        this.thin = new Strands(run, this.pieces);
        this.strands = new Mesh(this.thin.geometry, this.material(STRAND_VERTEX, STRAND_FRAGMENT, side));
        this.strands.frustumCulled = false;
        const { steps } = this.detail;
        this.round = new Tubes(false, steps, this.material(TUBE_VERTEX, TUBE_FRAGMENT, { side: FrontSide }));
        this.flat = new Tubes(true, steps, this.material(TUBE_VERTEX, TUBE_FRAGMENT, side));
        this.group.add(this.strands, this.round.mesh, this.flat.mesh);
        this.drawnAs = new Uint8Array(run.lines.length);
        this.size = new Float32Array(run.lines.length);
        if (software) {
            this.painter = new Painter(run);
            this.coarse = new LineSegments(this.thin.shadow, this.shadowMaterial(LINE_DEPTH_VERTEX));
            this.coarse.frustumCulled = false;
            this.coarse.layers.set(SHADOW_LAYER);
            this.group.add(this.painter.mesh, this.coarse);
        }
        this.strandShadow = this.addShadow(this.strands, STRAND_DEPTH_VERTEX, DoubleSide);
        this.addShadow(this.round.mesh, TUBE_VERTEX, BackSide); // a tube does not shadow its own bright side
        this.addShadow(this.flat.mesh, TUBE_VERTEX, DoubleSide);
    }

    private material(vertexShader: string, fragmentShader: string, more: object): ShaderMaterial {
        return new ShaderMaterial({ uniforms: this.uniforms, vertexShader, fragmentShader, ...more });
    }

    // A shader that has nothing to light. It must not see the shadow map: a texture cannot be read while
    // it is drawn into.
    private shadowMaterial(vertexShader: string, side: Side = DoubleSide): ShaderMaterial {
        return new ShaderMaterial({
            uniforms: { ...this.uniforms, shadowMap: { value: null } },
            vertexShader,
            fragmentShader: DEPTH_FRAGMENT,
            side,
        });
    }

    // the same mesh on the layer of shadows
    private addShadow(mesh: Mesh, vertexShader: string, side: Side): Mesh {
        const shadow = new Mesh(mesh.geometry, this.shadowMaterial(vertexShader, side));
        shadow.frustumCulled = false;
        shadow.layers.set(SHADOW_LAYER);
        this.shadows.push([mesh, shadow]);
        this.group.add(shadow);
        return shadow;
    }
    private readonly shadows: [Mesh, Mesh][] = [];

    private fillSections(): void {
        const data = dataOf(this.sections);
        for (const [rod, first, count, thick] of this.run.lines) {
            const info = this.run.rods[rod]!;
            const a = info.ribbon ? info.ribbon.width / 2 : thick;
            const b = info.ribbon ? info.ribbon.thickness / 2 : thick;
            for (let i = first; i < first + count; i++) {
                const flags = (i === first ? FIRST : 0) | (i === first + count - 1 ? LAST : 0);
                data.set([a, b, rod, flags], 4 * i);
            }
        }
        this.sections.needsUpdate = true;
    }

    /** Show a frame, coloured by one value a point. */
    show(frame: Frame, values: Float32Array): void {
        const start = performance.now();
        this.shown = { frame, values };
        if (frame.arrays.position && frame.arrays.position.length >= 3 * this.run.pointCount) {
            if (this.thinCount !== 0) {
                this.showThin();
            }
            if (this.tubeCount > 0) {
                this.showTubes();
            }
        }
        this.uploadMs = performance.now() - start;
    }

    private showThin(): void {
        const { frame, values } = this.shown!;
        const lut = this.uniforms.lut.value.image.data as Uint8Array;
        const table = new Uint32Array(lut.buffer, lut.byteOffset, lut.length / 4);
        const { x: low, y: high } = this.uniforms.range.value;
        const scale = 255 / Math.max(high - low, 1e-30);
        const last = table.length - 1;
        for (let i = 0; i < this.colours.length; i++) {
            const c = ((values[i]! - low) * scale + 0.5) | 0;
            this.colours[i] = table[c < 0 ? 0 : c > last ? last : c]!;
        }
        this.thin.place(frame.arrays.position!);
        if (!this.painter) {
            this.thin.paint(this.colours);
        }
    }

    private showTubes(): void {
        const { frame, values } = this.shown!;
        const xyz = frame.arrays.position!;
        const data = dataOf(this.points);
        const count = this.run.pointCount;
        for (let i = 0, j = 0, k = 0; i < count; i++, j += 3, k += 4) {
            data[k] = xyz[j]!;
            data[k + 1] = xyz[j + 1]!;
            data[k + 2] = xyz[j + 2]!;
            data[k + 3] = values[i]!;
        }
        this.points.needsUpdate = true;
        const q = frame.arrays.quaternion;
        const room = dataOf(this.turns);
        const known = q !== undefined && q.length <= room.length;
        if (known) {
            room.set(q);
            this.turns.needsUpdate = true;
        }
        this.uniforms.hasFrames.value = known ? 1 : 0;
    }

    /** Whether tubes, which turn with the material frame, are drawn now. */
    get needsFrames(): boolean {
        return this.run.pointCount <= 400_000 || this.run.rods.some((rod) => rod.ribbon);
    }

    setRange(low: number, high: number): void {
        this.uniforms.range.value.set(low, high);
    }

    setLut(lut: DataTexture): void {
        this.uniforms.lut.value = lut;
    }

    set selected(rod: number) {
        this.uniforms.selected.value = rod;
    }

    set thickness(factor: number) {
        this.uniforms.thickness.value = factor;
    }

    set stripes(on: boolean) {
        this.uniforms.stripes.value = on ? 1 : 0;
    }

    /** What the camera sees of each line: its radius in pixels, and -1 where it would be large and is out of sight. */
    private measure(camera: PerspectiveCamera, xyz: Float32Array, least: number): void {
        const eye = camera.position;
        const frustum = new Frustum().setFromProjectionMatrix(
            new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
        const scale = this.uniforms.thickness.value / light.pixel.value;
        this.run.lines.forEach(([rod, first, count, thick], line) => {
            const info = this.run.rods[rod]!;
            let near = Infinity;
            for (let k = 0; k <= 4; k++) {
                const j = 3 * (first + Math.round((k * (count - 1)) / 4));
                const x = xyz[j]! - eye.x, y = xyz[j + 1]! - eye.y, z = xyz[j + 2]! - eye.z;
                near = Math.min(near, x * x + y * y + z * z);
            }
            const radius = info.ribbon ? info.ribbon.width / 2 : thick;
            if (isWisp(info)) { // fibres, however near
                this.size[line] = 0;
                return;
            }
            this.size[line] = (radius * scale) / Math.sqrt(near);
            if (this.size[line]! >= 0.2 * least) { // it may be large between these five points, or out of sight
                const seen = nearest(frustum, eye, xyz, first, count, radius);
                this.size[line] = seen < Infinity ? (radius * scale) / seen : -1;
            }
        });
    }

    /** Choose how each line is drawn, from where the camera is. */
    update(camera: PerspectiveCamera): void {
        const xyz = this.shown?.frame.arrays.position;
        if (!xyz || xyz.length < 3 * this.run.pointCount) {
            return;
        }
        const { steps, pixels, fewPixels, few } = this.detail;
        const least = this.run.pointCount <= few ? fewPixels : pixels;
        this.measure(camera, xyz, least);
        const wanted: number[] = [];
        this.size.forEach((size, line) => {
            const was = this.drawnAs[line] === TUBE; // which stays so for a while, also out of sight
            if (was ? size < 0 || size >= 0.85 * least : size >= least) {
                wanted.push(line);
            }
        });
        wanted.sort((a, b) => this.size[b]! - this.size[a]!);
        let left = steps[steps.length - 1]!.upTo;
        const now = new Uint8Array(this.drawnAs.length);
        for (const line of wanted) {
            left -= this.run.lines[line]![2] - 1;
            if (left < 0) {
                break;
            }
            now[line] = TUBE;
        }
        if (!this.listed || now.some((kind, line) => kind !== this.drawnAs[line])) {
            this.drawnAs.set(now);
            this.list();
        }
    }

    /** Draw the strands: where there is no graphics card, here, into a picture of so many pixels. */
    paint(camera: PerspectiveCamera, width: number, height: number, still: boolean): void {
        const xyz = this.shown?.frame.arrays.position;
        if (!this.listed || !xyz) {
            return;
        }
        const budget = !this.painter ? CARD_SEGMENTS : still ? STILL_SEGMENTS : MOVING_SEGMENTS;
        const segments = Math.max(1, this.run.pointCount * this.pieces);
        const most = Math.max(1, Math.min(MOST_FIBRES, Math.floor(budget / segments)));
        const { selected, thickness, fibreCount } = this.uniforms;
        if (this.painter) {
            this.painter.paint({
                xyz, colours: this.colours, isDrawn: (line) => this.drawnAs[line] === STRAND,
                selected: selected.value, thickness: thickness.value, smooth: still, most,
            }, camera, width, height);
            return;
        }
        const wisp = this.run.rods.find(isWisp);
        if (wisp) { // all alike, by the distance of the middle of the first
            const middle = new Vector3().fromArray(xyz, 3 * (wisp.firstPoint + (wisp.pointCount >> 1)));
            const pixel = light.pixel.value * middle.distanceTo(camera.position);
            this.thin.fibres = fibreCount.value = brushOf(wisp, wisp.radius, pixel, most).fibres;
        }
    }

    // the segments of each kind; a kind that was not drawn before needs the frame now
    private list(): void {
        const round: number[] = [];
        const flat: number[] = [];
        this.run.lines.forEach(([rod, first, count], line) => {
            const into = this.run.rods[rod]!.ribbon ? flat : round;
            for (let i = first; this.drawnAs[line] === TUBE && i + 1 < first + count; i++) {
                into.push(i);
            }
        });
        const isThin = (line: number) => this.drawnAs[line] === STRAND;
        const coarse = this.coarse !== null && this.run.pointCount > FINE_SHADOW_POINTS;
        this.thinCount = coarse ? this.thin.listCoarse(isThin, this.run.pointCount > 10_000 ? 2 : 1)
            : this.thin.list(isThin, this.thin.geometry);
        if (this.coarse) {
            this.coarse.visible = coarse && this.thinCount > 0;
        }
        this.tubeCount = this.drawnAs.reduce((sum, value) => sum + (value === TUBE ? 1 : 0), 0);
        this.strands.visible = this.thinCount > 0 && !this.painter;
        this.round.set(round);
        this.flat.set(flat);
        for (const [mesh, shadow] of this.shadows) {
            shadow.geometry = mesh.geometry;
            shadow.visible = mesh.visible;
        }
        this.strandShadow.visible = this.thinCount > 0 && !coarse;
        if (this.thinCount > 0) {
            this.showThin();
        }
        if (this.tubeCount > 0) {
            this.showTubes();
        }
        this.listed = true;
    }
}
