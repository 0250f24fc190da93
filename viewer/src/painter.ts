// painter.ts - strands without a graphics card: drawn here, pixel by pixel, and handed over as a picture.
//
// Where WebGL is done in software, a line of seven pixels costs a microsecond and a half, a hundred
// thousand of them a tenth of a second. Drawing them in place costs a tenth of that: points are
// projected once, and every segment is a walk along its longer axis that writes a colour and a depth
// where it is nearer than what was there. One rectangle then puts colours, depths and shadows into
// the scene, so that bodies, tubes and strands hide each other as they should.
//
// Light is that of the shaders of rods.ts: a strand of a pixel is lit by its tangent alone (Kajiya
// and Kay), a wider one as the round rod it is, with one colour for each pixel across it. Colours
// hold along a segment. Depths are those of the projection, which are even along a line on the screen.
import {
    DataTexture, Matrix4, Mesh, NearestFilter, PlaneGeometry, RGBAFormat, RedFormat, FloatType, ShaderMaterial, UnsignedByteType, Vector4,
    type PerspectiveCamera,
} from "three";
import type { RunInfo } from "./protocol";
import { LIGHT, light } from "./shade";

const VERTEX = /* glsl */ `
uniform vec4 box;
void main() { gl_Position = vec4(mix(box.xy, box.zw, position.xy + 0.5), 0.0, 1.0); }
`;

const FRAGMENT = /* glsl */ `
precision highp float;
${LIGHT}
uniform highp sampler2D colours, depths;
uniform mat4 back;
uniform vec4 size; // pixels, and how far towards the light the shadow is looked up, m
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 c = texelFetch(colours, at, 0);
    if (c.a < 0.5) discard;
    float z = texelFetch(depths, at, 0).r;
    vec4 p = back * vec4(2.0 * gl_FragCoord.xy / size.xy - 1.0, z, 1.0);
    float lit_ = lit(p.xyz / p.w + keyDirection * size.z, 1.6);
    gl_FragColor = vec4(c.rgb * mix(0.55, 1.0, lit_), 1.0);
    gl_FragDepth = 0.5 * z + 0.5;
}
`;

const WIDEST = 64; // pixels
const ROUND = 2; // pixels from which a strand has a light and a dark side

function texture(width: number, height: number, data: Uint8Array | Float32Array): DataTexture {
    const isFloat = data instanceof Float32Array;
    const made = new DataTexture(data, width, height, isFloat ? RedFormat : RGBAFormat, isFloat ? FloatType : UnsignedByteType);
    made.minFilter = made.magFilter = NearestFilter;
    return made;
}

/** What is drawn: positions and colours by point, and which lines. */
export interface Strokes {
    xyz: Float32Array;
    colours: Uint32Array; // r, g, b from the lowest byte up
    isDrawn: (line: number) => boolean;
    selected: number;
    thickness: number;
}

export class Painter {
    readonly mesh: Mesh;
    private width = 0;
    private height = 0;
    private colour = new Uint32Array(0);
    private depth = new Float32Array(0);
    private painted = { left: 0, right: 0, low: 0, high: 0 }; // pixels that are not empty
    private readonly places: Float32Array; // x, y in pixels, depth, pixels a metre; by point of a line
    private readonly across = new Uint32Array(WIDEST); // colours from side to side
    private readonly uniforms = {
        ...light,
        colours: { value: null as DataTexture | null },
        depths: { value: null as DataTexture | null },
        back: { value: new Matrix4() },
        box: { value: new Vector4() },
        size: { value: new Vector4() },
    };

    constructor(private readonly run: RunInfo) {
        const longest = run.lines.reduce((most, [, , count]) => Math.max(most, count), 0);
        this.places = new Float32Array(4 * longest);
        this.mesh = new Mesh(new PlaneGeometry(1, 1), new ShaderMaterial({
            uniforms: this.uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT,
        }));
        this.mesh.frustumCulled = false;
        this.mesh.visible = false;
    }

    private resize(width: number, height: number): void {
        if (width === this.width && height === this.height) {
            this.colour.fill(0, this.painted.low * width, this.painted.high * width);
            this.depth.fill(2, this.painted.low * width, this.painted.high * width);
            return;
        }
        this.width = width;
        this.height = height;
        this.colour = new Uint32Array(width * height);
        this.depth = new Float32Array(width * height).fill(2);
        this.uniforms.colours.value?.dispose();
        this.uniforms.depths.value?.dispose();
        this.uniforms.colours.value = texture(width, height, new Uint8Array(this.colour.buffer));
        this.uniforms.depths.value = texture(width, height, this.depth);
    }

    /** Draw lines as a camera sees them into a picture of so many pixels. */
    paint(strokes: Strokes, camera: PerspectiveCamera, width: number, height: number): void {
        this.resize(width, height);
        const project = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
        this.painted = { left: width, right: 0, low: height, high: 0 };
        const { lines, rods } = this.run;
        for (let line = 0; line < lines.length; line++) {
            const [rod, first, count, thick] = lines[line]!;
            if (strokes.isDrawn(line) && this.project(strokes.xyz, first, count, project.elements)) {
                const ribbon = rods[rod]!.ribbon;
                const radius = (ribbon ? ribbon.width / 2 : thick) * strokes.thickness;
                this.line(strokes, first, count, radius, rod === strokes.selected);
            }
        }
        const { left, right, low, high } = this.painted;
        this.mesh.visible = high > low;
        this.uniforms.colours.value!.needsUpdate = this.mesh.visible;
        this.uniforms.depths.value!.needsUpdate = this.mesh.visible;
        this.uniforms.back.value.copy(project).invert();
        this.uniforms.box.value.set((2 * left) / width - 1, (2 * low) / height - 1, (2 * right) / width - 1, (2 * high) / height - 1);
        this.uniforms.size.value.set(width, height, 2.5 * light.shadowTexel.value, 0);
    }

    // the points of a line in pixels; false where none of it can be seen
    private project(xyz: Float32Array, first: number, count: number, m: number[]): boolean {
        const { places, width, height } = this;
        let left = 0, right = 0, below = 0, above = 0, behind = 0;
        for (let i = 0, j = 3 * first, k = 0; i < count; i++, j += 3, k += 4) {
            const x = xyz[j]!, y = xyz[j + 1]!, z = xyz[j + 2]!;
            const w = m[3]! * x + m[7]! * y + m[11]! * z + m[15]!;
            if (!(w > 1e-9)) {
                places[k + 3] = 0; // behind the eye, or not a number
                behind++;
                continue;
            }
            const px = (0.5 + (0.5 * (m[0]! * x + m[4]! * y + m[8]! * z + m[12]!)) / w) * width;
            const py = (0.5 + (0.5 * (m[1]! * x + m[5]! * y + m[9]! * z + m[13]!)) / w) * height;
            places[k] = px;
            places[k + 1] = py;
            places[k + 2] = (m[2]! * x + m[6]! * y + m[10]! * z + m[14]!) / w;
            places[k + 3] = 1 / (w * light.pixel.value);
            left += px < -WIDEST ? 1 : 0;
            right += px > width + WIDEST ? 1 : 0;
            below += py < -WIDEST ? 1 : 0;
            above += py > height + WIDEST ? 1 : 0;
        }
        return Math.max(left, right, below, above) + behind < count;
    }

    private line(strokes: Strokes, first: number, count: number, radius: number, isSelected: boolean): void {
        const { places } = this;
        for (let i = 0, k = 0; i + 1 < count; i++, k += 4) {
            const scale = 0.5 * (places[k + 3]! + places[k + 7]!);
            if (!(places[k + 3]! > 0) || !(places[k + 7]! > 0)) {
                continue;
            }
            const wide = Math.max(1, Math.min(WIDEST, Math.round(2 * radius * scale)));
            this.shade(strokes, first + i, wide, isSelected);
            this.segment(k, wide);
        }
    }

    // the colours across a segment that is so many pixels wide
    private shade(strokes: Strokes, i: number, wide: number, isSelected: boolean): void {
        const { xyz, colours } = strokes;
        const { eye, keyDirection } = light;
        const j = 3 * i;
        const x = xyz[j]!, y = xyz[j + 1]!, z = xyz[j + 2]!;
        let tx = xyz[j + 3]! - x, ty = xyz[j + 4]! - y, tz = xyz[j + 5]! - z;
        const l = 1 / Math.sqrt(tx * tx + ty * ty + tz * tz + 1e-30);
        tx *= l;
        ty *= l;
        tz *= l;
        let vx = eye.value.x - x, vy = eye.value.y - y, vz = eye.value.z - z;
        const d = 1 / Math.sqrt(vx * vx + vy * vy + vz * vz + 1e-30);
        vx *= d;
        vy *= d;
        vz *= d;
        const { x: lx, y: ly, z: lz } = keyDirection.value;
        const hex = colours[i]!;
        let r = (hex & 255) / 255, g = ((hex >> 8) & 255) / 255, b = ((hex >> 16) & 255) / 255;
        if (isSelected) {
            r = 0.4 * r + 0.6;
            g = 0.4 * g + 0.468;
            b = 0.4 * b + 0.12;
        }
        const tl = tx * lx + ty * ly + tz * lz, tv = tx * vx + ty * vy + tz * vz;
        if (wide < ROUND) {
            const st = Math.sqrt(Math.max(1 - tl * tl, 0)), sv = Math.sqrt(Math.max(1 - tv * tv, 0));
            let s = Math.max(st * sv - tl * tv, 0);
            s *= s;
            s *= s;
            s *= s;
            s *= s;
            s *= 0.22 * s; // the 32nd power
            const up = 0.62 * st;
            this.across[0] = pack(
                r * r * (0.468 + up) + s * (0.3 + 0.7 * r),
                g * g * (0.498 + 0.96 * up) + 0.96 * s * (0.3 + 0.7 * g),
                b * b * (0.543 + 0.9 * up) + 0.9 * s * (0.3 + 0.7 * b));
            return;
        }
        // side and front of the round section as the eye sees it; on the screen, side points right or up
        let sx = vy * tz - vz * ty, sy = vz * tx - vx * tz, sz = vx * ty - vy * tx;
        const n = 1 / Math.sqrt(sx * sx + sy * sy + sz * sz + 1e-30);
        sx *= n;
        sy *= n;
        sz *= n;
        const fx = ty * sz - tz * sy, fy = tz * sx - tx * sz, fz = tx * sy - ty * sx;
        const sl = sx * lx + sy * ly + sz * lz, fl = fx * lx + fy * ly + fz * lz;
        let hx = lx + vx, hy = ly + vy, hz = lz + vz;
        const h = 1 / Math.sqrt(hx * hx + hy * hy + hz * hz + 1e-30);
        hx *= h;
        hy *= h;
        hz *= h;
        const sh = sx * hx + sy * hy + sz * hz, fh = fx * hx + fy * hy + fz * hz;
        const gloss = 0.35 * Math.max(0.15, Math.min(1, (wide - 2) / 4)); // a hair has no spot of light
        for (let k = 0; k < wide; k++) {
            const u = (2 * k + 1) / wide - 1;
            const c = Math.sqrt(1 - u * u);
            const direct = 0.95 * Math.max(u * sl + c * fl, 0);
            const sky = 0.5 + 0.5 * (u * sz + c * fz);
            let s = Math.max(u * sh + c * fh, 0);
            s *= s;
            s *= s;
            s *= s;
            s *= s;
            s *= gloss * s;
            this.across[k] = pack(
                r * r * (0.22 + 0.4 * sky + direct) + s,
                g * g * (0.2 + 0.48 * sky + 0.96 * direct) + 0.96 * s,
                b * b * (0.19 + 0.57 * sky + 0.9 * direct) + 0.9 * s);
        }
    }

    // walk along the longer axis; what is across lies along the other
    private segment(k: number, wide: number): void {
        const { places, width, height } = this;
        let ax = places[k]!, ay = places[k + 1]!, az = places[k + 2]!;
        let bx = places[k + 4]!, by = places[k + 5]!, bz = places[k + 6]!;
        const isFlat = Math.abs(bx - ax) > Math.abs(by - ay);
        // u: along, v: across; `turned`: the side that the colours begin with
        const turned = isFlat ? bx > ax : by < ay;
        if (isFlat ? bx < ax : by < ay) {
            [ax, ay, az, bx, by, bz] = [bx, by, bz, ax, ay, az];
        }
        const u0 = isFlat ? ax : ay, u1 = isFlat ? bx : by, v0 = isFlat ? ay : ax, v1 = isFlat ? by : bx;
        const most = isFlat ? width : height, tall = isFlat ? height : width;
        const from = Math.max(0, Math.round(u0)), to = Math.min(most, Math.max(Math.round(u1), Math.round(u0) + (wide > 1 ? 1 : 0)));
        if (!(to > from)) {
            return;
        }
        const run = Math.max(u1 - u0, 1e-6);
        const dv = (v1 - v0) / run, dz = (bz - az) / run;
        let v = v0 + dv * (from + 0.5 - u0), z = az + dz * (from + 0.5 - u0);
        // the width across the axis that is walked, of a line that is `wide` at right angles to itself
        const span = wide < ROUND ? 1 : Math.min(WIDEST, Math.round(wide * Math.sqrt(1 + Math.min(dv * dv, 1))));
        const step = isFlat ? width : 1, next = isFlat ? 1 : width;
        const { colour, depth, across } = this;
        let low = tall, high = 0;
        for (let u = from, at = from * next; u < to; u++, at += next, v += dv, z += dz) {
            const start = Math.round(v - span / 2);
            const begin = start < 0 ? 0 : start, end = start + span > tall ? tall : start + span;
            for (let c = begin, p = at + begin * step; c < end; c++, p += step) {
                if (z < depth[p]! && z > -1) {
                    const place = span === 1 ? 0 : (((c - start) * wide) / span) | 0;
                    depth[p] = z;
                    colour[p] = across[turned ? place : wide - 1 - place]!;
                }
            }
            low = begin < low ? begin : low;
            high = end > high ? end : high;
        }
        if (isFlat) {
            this.grow(from, to, low, high);
        } else {
            this.grow(low, high, from, to);
        }
    }

    private grow(left: number, right: number, low: number, high: number): void {
        const { painted } = this;
        painted.left = left < painted.left ? left : painted.left;
        painted.right = right > painted.right ? right : painted.right;
        painted.low = low < painted.low ? low : painted.low;
        painted.high = high > painted.high ? high : painted.high;
    }
}

// linear light to a colour: its root, as in shade.ts
function pack(r: number, g: number, b: number): number {
    const R = Math.min(255, 255 * Math.sqrt(r)), G = Math.min(255, 255 * Math.sqrt(g)), B = Math.min(255, 255 * Math.sqrt(b));
    return (0xff000000 | (B << 16) | (G << 8) | R) >>> 0;
}
