// painter.ts - strands without a graphics card: drawn here, pixel by pixel, and handed over as a picture.
//
// Where WebGL is done in software, a line of seven pixels costs a microsecond and a half, a hundred
// thousand of them a tenth of a second. Drawing them in place costs a tenth of that: points are
// projected once, and every segment is a walk along its longer axis that writes a colour and a depth
// where it is nearer than what was there. One rectangle then puts colours, depths and shadows into
// the scene, so that bodies, tubes and strands hide each other as they should.
//
// At rest there is time: curves are smooth (the cubic of the tubes in rods.ts, in pieces), and several
// pixels are drawn for each that is shown, so that edges are smooth too. A hair that stands for a wisp is
// drawn as fibres (wisp.ts). The selected line is drawn last, over all other lines, and they are dimmed.
//
// Light is that of the shaders of rods.ts: a strand of a pixel is lit by its tangent alone (Kajiya
// and Kay), a wider one as the round rod it is, with one colour for each pixel across it. Colours
// hold along a segment. Depths are those of the projection, which are even along a line on the screen.
import {
    DataTexture, Matrix4, Mesh, NearestFilter, PlaneGeometry, RGBAFormat, RedFormat, FloatType, ShaderMaterial, UnsignedByteType, Vector4,
    type PerspectiveCamera,
} from "three";
import { bend } from "./curve";
import type { RunInfo } from "./protocol";
import { LIGHT, light } from "./shade";
import { brushOf, fibreAt, type Brush } from "./wisp";

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
    float lit_ = lit(p.xyz / p.w + keyDirection * size.z, 2.0, gl_FragCoord.xy);
    gl_FragColor = vec4(c.rgb * mix(0.55, 1.0, lit_), 1.0);
    gl_FragDepth = 0.5 * z + 0.5;
}
`;

const WIDEST = 128; // pixels
const PIECES = 8; // of a segment, at most
const DEVIATION = 0.15; // pixels, of the pieces from the curve
const DIM = 0.5; // lines beside the selected one
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
    smooth: boolean; // curves instead of corners
    most: number; // fibres of a wisp
}

/** One line to draw: points and colours, where it begins in them, and how it is drawn. */
interface Stroke {
    xyz: Float32Array;
    colours: Uint32Array;
    first: number;
    count: number;
    radius: number; // m
    isSelected: boolean;
    isDim: boolean;
}

export class Painter {
    readonly mesh: Mesh;
    private width = 0;
    private height = 0;
    private colour = new Uint32Array(0);
    private depth = new Float32Array(0);
    private painted = { left: 0, right: 0, low: 0, high: 0 }; // pixels that are not empty
    private readonly places: Float32Array; // x, y in pixels, depth, pixels a metre; by point of a line
    private readonly path: Float32Array; // x, y, z of a line that is smooth or a fibre
    private readonly pathColours: Uint32Array;
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
        this.places = new Float32Array(4 * PIECES * longest);
        this.path = new Float32Array(3 * PIECES * longest);
        this.pathColours = new Uint32Array(PIECES * longest);
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
        const { lines } = this.run;
        const later: number[] = [];
        for (let line = 0; line < lines.length; line++) {
            if (!strokes.isDrawn(line)) {
                continue;
            }
            if (lines[line]![0] === strokes.selected) {
                later.push(line);
            } else {
                this.strand(strokes, line, project.elements);
            }
        }
        later.forEach((line) => this.strand(strokes, line, project.elements));
        const { left, right, low, high } = this.painted;
        this.mesh.visible = high > low;
        this.uniforms.colours.value!.needsUpdate = this.mesh.visible;
        this.uniforms.depths.value!.needsUpdate = this.mesh.visible;
        this.uniforms.back.value.copy(project).invert();
        this.uniforms.box.value.set((2 * left) / width - 1, (2 * low) / height - 1, (2 * right) / width - 1, (2 * high) / height - 1);
        this.uniforms.size.value.set(width, height, 2.5 * light.shadowTexel.value, 0);
    }

    // one line of the run: itself, or the fibres of its wisp
    private strand(strokes: Strokes, line: number, m: number[]): void {
        const [rod, first, count, thick] = this.run.lines[line]!;
        const { xyz, colours, selected } = strokes;
        const info = this.run.rods[rod]!;
        const isSelected = rod === selected;
        const middle = 3 * (first + (count >> 1));
        const w = m[3]! * xyz[middle]! + m[7]! * xyz[middle + 1]! + m[11]! * xyz[middle + 2]! + m[15]!;
        const pixel = Math.abs(w) * light.pixel.value;
        const brush = brushOf(info, thick, pixel, isSelected ? 1 : strokes.most);
        const stroke: Stroke = {
            xyz, colours, first, count, radius: brush.radius * strokes.thickness, isSelected,
            isDim: !isSelected && selected >= 0,
        };
        const pieces = strokes.smooth ? this.piecesOf(xyz, first, count, pixel) : 1;
        if (pieces === 1 && brush.fibres === 1) {
            this.stroke(stroke, m);
            return;
        }
        stroke.xyz = this.path;
        stroke.colours = this.pathColours;
        stroke.first = 0;
        stroke.count = (count - 1) * pieces + 1;
        for (let fibre = 0; fibre < brush.fibres; fibre++) {
            this.bend(strokes, first, count, pieces);
            if (brush.fibres > 1) {
                this.shift(stroke.count, rod, fibre, brush);
            }
            this.stroke(stroke, m);
        }
    }

    // as many as the sharpest corner needs
    private piecesOf(xyz: Float32Array, first: number, count: number, pixel: number): number {
        let most = 0;
        for (let i = first + 1, j = 3 * i; i + 1 < first + count; i++, j += 3) {
            const x = xyz[j - 3]! - 2 * xyz[j]! + xyz[j + 3]!;
            const y = xyz[j - 2]! - 2 * xyz[j + 1]! + xyz[j + 4]!;
            const z = xyz[j - 1]! - 2 * xyz[j + 2]! + xyz[j + 5]!;
            most = Math.max(most, x * x + y * y + z * z);
        }
        const off = Math.sqrt(most) / (8 * Math.max(pixel, 1e-30)); // of a segment from its curve
        return off > DEVIATION ? Math.min(PIECES, Math.ceil(Math.sqrt(off / DEVIATION))) : 1; // NaN: 1
    }

    // a line as a curve, in pieces
    private bend({ xyz, colours }: Strokes, first: number, count: number, pieces: number): void {
        bend(xyz, first, count, pieces, this.path);
        for (let k = 0; k <= (count - 1) * pieces; k++) {
            this.pathColours[k] = colours[first + Math.round(k / pieces)]!;
        }
    }

    // move a path aside, to where a fibre of its wisp is
    private shift(count: number, rod: number, fibre: number, brush: Brush): void {
        const { path } = this;
        const [ox, oy, oz] = fibreAt(rod, fibre, brush) as [number, number, number];
        let tx = 0, ty = 0, tz = 0;
        for (let i = 0, j = 0; i < count; i++, j += 3) {
            if (i + 1 < count) {
                tx = path[j + 3]! - path[j]!;
                ty = path[j + 4]! - path[j + 1]!;
                tz = path[j + 5]! - path[j + 2]!;
            }
            const along = (ox * tx + oy * ty + oz * tz) / (tx * tx + ty * ty + tz * tz + 1e-30);
            path[j] = path[j]! + ox - along * tx;
            path[j + 1] = path[j + 1]! + oy - along * ty;
            path[j + 2] = path[j + 2]! + oz - along * tz;
        }
    }

    private stroke(stroke: Stroke, m: number[]): void {
        if (this.project(stroke.xyz, stroke.first, stroke.count, m)) {
            this.line(stroke);
        }
    }

    // the points of a line in pixels; false where none of it can be seen
    private project(xyz: Float32Array, first: number, count: number, m: number[]): boolean {
        const { places, width, height } = this;
        const pixel = light.pixel.value / light.fine.value;
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
            places[k + 3] = 1 / (w * pixel);
            left += px < -WIDEST ? 1 : 0;
            right += px > width + WIDEST ? 1 : 0;
            below += py < -WIDEST ? 1 : 0;
            above += py > height + WIDEST ? 1 : 0;
        }
        return Math.max(left, right, below, above) + behind < count;
    }

    private line(stroke: Stroke): void {
        const { places } = this;
        const { count, radius, isSelected, first } = stroke;
        const fine = light.fine.value;
        const least = Math.max(1, Math.round((isSelected ? 3 : 1) * fine));
        for (let i = 0, k = 0; i + 1 < count; i++, k += 4) {
            const scale = 0.5 * (places[k + 3]! + places[k + 7]!);
            if (!(places[k + 3]! > 0) || !(places[k + 7]! > 0)) {
                continue;
            }
            const wide = Math.max(least, Math.min(WIDEST, Math.round(2 * radius * scale)));
            this.shade(stroke, first + i, wide, fine);
            this.segment(k, wide, isSelected);
        }
    }

    // the colours across a segment that is so many pixels wide
    private shade(stroke: Stroke, i: number, wide: number, fine: number): void {
        const { xyz, colours } = stroke;
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
        if (stroke.isSelected) {
            r = 0.25 * r + 0.75;
            g = 0.25 * g + 0.69;
            b = 0.25 * b + 0.4;
        } else if (stroke.isDim) {
            r *= DIM;
            g *= DIM;
            b *= DIM;
        }
        const tl = tx * lx + ty * ly + tz * lz, tv = tx * vx + ty * vy + tz * vz;
        if (wide < ROUND * fine) {
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
            for (let k = 1; k < wide; k++) {
                this.across[k] = this.across[0]!;
            }
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
        const gloss = 0.35 * Math.max(0.15, Math.min(1, (wide / fine - 2) / 4)); // a hair has no spot of light
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
    private segment(k: number, wide: number, isOver: boolean): void {
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
                if ((z < depth[p]! || isOver) && z > -1) {
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
