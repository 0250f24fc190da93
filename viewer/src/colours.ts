// colours.ts - one number for each point, and the colour it stands for.
//
// FIELDS is the only list: names are the server's, `needs` says which arrays of a frame are read, and
// `fill` makes the values. Scales: from dark to light where a value has a size, even about 0 where it
// has a sign, and palettes where it is a name. Anchors are mixed in OKLab, so that equal steps look
// equal. The ends of a scale leave out the outermost hundredth of the values and only ever grow while
// a run plays, so that a colour means the same from frame to frame.
import { DataTexture, LinearFilter, RGBAFormat, UnsignedByteType } from "three";
import type { ArrayName, Frame, RunInfo } from "./protocol";

type Fill = (frame: Frame, values: Float32Array, run: RunInfo) => void;
export type Scale = "size" | "sign" | "rods" | "states";

export interface Field {
    name: string;
    label: string;
    unit: string;
    scale: Scale;
    needs: ArrayName[];
    fill: Fill;
}

const copy = (name: "tension" | "elastic" | "force") => (frame: Frame, values: Float32Array) => {
    const from = frame.arrays[name];
    values.fill(0);
    if (from) {
        values.set(from.subarray(0, values.length));
    }
};

function norms(from: Float32Array | undefined, first: number, values: Float32Array): void {
    values.fill(0);
    for (let i = 0, j = 0; from && i < values.length; i++, j += 3) {
        const a = first === 0 ? from[j]! : 0;
        values[i] = Math.hypot(a, from[j + 1]!, from[j + 2]!);
    }
}

export const FIELDS: Field[] = [
    { name: "rod", label: "Rod", unit: "", scale: "rods", needs: [], fill: fillRods },
    { name: "tension", label: "Tension", unit: "N", scale: "sign", needs: ["tension"], fill: copy("tension") },
    { name: "curvature", label: "Curvature", unit: "1/m", scale: "size", needs: ["curvature"],
      fill: (frame, values) => norms(frame.arrays.curvature, 1, values) },
    { name: "twist", label: "Twist", unit: "1/m", scale: "sign", needs: ["curvature"],
      fill: (frame, values) => {
          values.fill(0);
          const from = frame.arrays.curvature;
          for (let i = 0; from && i < values.length; i++) {
              values[i] = from[3 * i]!;
          }
      } },
    { name: "elastic", label: "Elastic energy", unit: "J/m", scale: "size", needs: ["elastic"], fill: copy("elastic") },
    { name: "speed", label: "Speed", unit: "m/s", scale: "size", needs: ["velocity"],
      fill: (frame, values) => norms(frame.arrays.velocity, 0, values) },
    { name: "force", label: "Contact force", unit: "N", scale: "size", needs: ["force"], fill: copy("force") },
    { name: "state", label: "Stick or slide", unit: "", scale: "states", needs: ["state"],
      fill: (frame, values) => {
          values.fill(0);
          if (frame.arrays.state) {
              values.set(frame.arrays.state.subarray(0, values.length));
          }
      } },
];

export function fieldNamed(name: string): Field {
    return FIELDS.find((field) => field.name === name) ?? FIELDS[0]!;
}

// few rods: colours far apart; many: the shades of one head of hair
const FEW = ["#4f9de0", "#ef8a4a", "#59b97c", "#d9627d", "#9a7fd6", "#d8b13c", "#4bb8bd", "#b9805c", "#8fa3b8", "#c779b7"];
const MANY = ["#6b452c", "#7d5233", "#8e6240", "#5a3a26", "#9b704a", "#74492d", "#a87d55", "#633f29"];
const MANY_FROM = 65;
const SIZE = ["#3a4398", "#2f6dae", "#2f8c94", "#6fb878", "#d6cf5c", "#fbe9a4"];
const SIGN = ["#2456b0", "#5f9bd8", "#c3d3df", "#e9e4de", "#e9bda2", "#d9714e", "#a3261f"];
export const STATE_COLOURS = { open: "#8a93a0", stick: "#3fae6e", slide: "#ef7d32" };

function fillRods(_: Frame, values: Float32Array, run: RunInfo): void {
    const palette = run.rods.length < MANY_FROM ? FEW.length : MANY.length;
    for (const [rod, first, count] of run.lines) {
        // neighbours get different shades; the hash spreads them evenly
        const k = palette === FEW.length ? rod % palette : Math.floor(palette * ((rod * 0.618034) % 1));
        values.fill((k + 0.5) / palette, first, first + count);
    }
}

type Lab = [number, number, number];

function toLab(hex: string): Lab {
    const [r, g, b] = [1, 3, 5].map((i) => {
        const c = parseInt(hex.slice(i, i + 2), 16) / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    }) as Lab;
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
}

function fromLab([L, a, b]: Lab): Lab {
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ].map((c) => {
        const x = Math.min(1, Math.max(0, c));
        return 255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
    }) as Lab;
}

/** The 256 colours of a scale, as [r, g, b]. */
export function colours(scale: Scale, rodCount: number): Lab[] {
    const table: Lab[] = [];
    const palette = rodCount < MANY_FROM ? FEW : MANY;
    const anchors =
        scale === "size" ? SIZE : scale === "sign" ? SIGN : [STATE_COLOURS.open, STATE_COLOURS.stick, STATE_COLOURS.slide];
    const labs = anchors.map(toLab);
    for (let i = 0; i < 256; i++) {
        if (scale === "rods") {
            table.push(fromLab(toLab(palette[Math.floor((i * palette.length) / 256)]!)));
            continue;
        }
        const x = (i / 255) * (labs.length - 1);
        const k = Math.min(labs.length - 2, Math.floor(x));
        const a = labs[k]!, b = labs[k + 1]!, t = x - k;
        table.push(fromLab([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])]));
    }
    return table;
}

export function lutTexture(scale: Scale, rodCount: number): DataTexture {
    const data = new Uint8Array(4 * 256);
    colours(scale, rodCount).forEach((rgb, i) => data.set([...rgb.map(Math.round), 255], 4 * i));
    const texture = new DataTexture(data, 256, 1, RGBAFormat, UnsignedByteType);
    texture.minFilter = texture.magFilter = LinearFilter;
    texture.needsUpdate = true;
    return texture;
}

const SAMPLES = 4096;

/** The ends of a scale for these values; `before` is what was shown last, which it includes. */
export function rangeOf(field: Field, values: Float32Array, before: [number, number] | null): [number, number] {
    if (field.scale === "rods") {
        return [0, 1];
    }
    if (field.scale === "states") {
        return [0, 2];
    }
    const stride = Math.max(1, Math.floor(values.length / SAMPLES));
    const some: number[] = [];
    for (let i = 0; i < values.length; i += stride) {
        if (Number.isFinite(values[i]!)) {
            some.push(values[i]!);
        }
    }
    some.sort((a, b) => a - b);
    const drop = Math.floor(some.length / 100);
    let low = some[drop] ?? 0;
    let high = some[some.length - 1 - drop] ?? 1;
    if (before) {
        low = Math.min(low, before[0]);
        high = Math.max(high, before[1]);
    }
    if (field.scale === "sign") {
        high = Math.max(Math.abs(low), Math.abs(high));
        low = -high;
    } else {
        low = Math.min(low, 0);
    }
    return high > low ? [low, high] : [low, low + 1e-9];
}
