// colours.ts - one number for each point, and the colour it stands for.
//
// FIELDS is the only list: names are the server's, `needs` says which arrays of a frame are read, and
// `fill` makes the values. Scales: from dark to light where a value has a size, even about 0 where it
// has a sign, and palettes where it is a name. Colours are mixed in OKLab, so that equal steps look
// equal. The ends of a scale leave out the outermost hundredth of the values and only ever grow while
// a run plays, so that a colour means the same from frame to frame.
import { DataTexture, LinearFilter, RGBAFormat, UnsignedByteType } from "three";
import type { ArrayName, Frame, RodInfo, RunInfo } from "./protocol";

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

// The colours are those of `filum render` (src/look/colour.c): stops (t, lightness, chroma, hue in degrees)
// with straight lines between them. On a dark page the dark ends are lifted, or they would not be seen.
type Stop = [number, number, number, number];
const RISING: Stop[] = [[0, 0.27, 0.115, 312], [0.25, 0.43, 0.105, 268], [0.5, 0.59, 0.095, 195], [0.75, 0.76, 0.15, 145], [1, 0.92, 0.17, 104]];
const DIVERGING: Stop[] = [
    [0, 0.38, 0.13, 262], [0.25, 0.66, 0.11, 245], [0.5, 0.94, 0, 245], [0.5, 0.94, 0, 40], [0.75, 0.66, 0.14, 40], [1, 0.38, 0.14, 24],
];
const DARKEST = 0.48; // lightness on a dark page
export const STATE_COLOURS = { open: "#a0a5ab", stick: "#4c8edf", slide: "#cb7229" };

// What a rod is coloured by where nothing is measured: a colour of its own where there are a few, and else
// what it is like: the brown of hair in many shades, hemp, paper.
const NAMES = 128, NUMBERS = 62, HEMP = 62, PAPER = 63, HAIR = 64;
const FEW = 60; // rods
const SLENDER = 800; // length by radius, from which on a rod is hair
const BROWN = [0.43, 0.31, 0.22], HEMP_COLOUR = [0.8, 0.56, 0.33], PAPER_COLOUR = [0.8, 0.3, 0.26];

export const isHair = (rod: RodInfo): boolean => !rod.ribbon && rod.length > SLENDER * rod.radius;
/** A hair that touches farther out than it reaches stands for a wisp, and is drawn as one. */
export const isWisp = (rod: RodInfo): boolean => isHair(rod) && rod.contactRadius > 1.5 * rod.radius;

const part = (x: number): number => x - Math.floor(x);

/** The colour of a thing with this number, sRGB, 0 .. 255. */
export function numberColour(k: number): Lab {
    const turn = part(0.61803398874989485 * k + 0.08), step = part(0.75487766624669276 * k);
    return fromStop(0.62 + 0.14 * step, 0.115, 360 * turn);
}

function nameColour(k: number): Lab {
    if (k < NUMBERS) {
        return numberColour(k);
    }
    if (k < HAIR) {
        return (k === HEMP ? HEMP_COLOUR : PAPER_COLOUR).map((c) => 255 * c) as Lab;
    }
    const shade = 0.75 + (0.5 * (k - HAIR)) / (NAMES - HAIR), warm = 0.04 * part(0.61803398874989485 * k);
    return [255 * (BROWN[0]! * shade + warm), 255 * BROWN[1]! * shade, 255 * (BROWN[2]! * shade - 0.5 * warm)];
}

function fillRods(_: Frame, values: Float32Array, run: RunInfo): void {
    const few = run.rods.length > 1 && run.rods.length <= FEW;
    for (const [rod, first, count] of run.lines) {
        const info = run.rods[rod]!;
        const k = few ? rod : isHair(info) ? HAIR + Math.floor((NAMES - HAIR) * part(0.618034 * rod))
            : info.ribbon ? PAPER : HEMP;
        values.fill((k + 0.5) / NAMES, first, first + count);
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

const fromStop = (lightness: number, chroma: number, hue: number): Lab =>
    fromLab([lightness, chroma * Math.cos((Math.PI * hue) / 180), chroma * Math.sin((Math.PI * hue) / 180)]);

function atStops(stops: Stop[], t: number, isDark: boolean): Lab {
    let k = 0;
    while (k < stops.length - 2 && t > stops[k + 1]![0]) {
        k++;
    }
    const a = stops[k]!, b = stops[k + 1]!;
    const u = b[0] > a[0] ? (t - a[0]) / (b[0] - a[0]) : 0;
    const [lightness, chroma, hue] = [1, 2, 3].map((i) => a[i]! + u * (b[i]! - a[i]!)) as Lab;
    const least = Math.min(...stops.map((stop) => stop[1])), most = Math.max(...stops.map((stop) => stop[1]));
    const lift = isDark ? (DARKEST - least) * ((most - lightness) / (most - least)) : 0;
    return fromStop(lightness + lift, chroma, hue);
}

/** The 256 colours of a scale, as [r, g, b]. */
export function colours(scale: Scale, isDark: boolean): Lab[] {
    const states = [STATE_COLOURS.open, STATE_COLOURS.stick, STATE_COLOURS.slide].map(toLab);
    return Array.from({ length: 256 }, (_, i) => {
        if (scale === "rods") {
            return nameColour(Math.floor((i * NAMES) / 256));
        }
        if (scale === "states") {
            return fromLab(states[Math.round((2 * i) / 255)]!);
        }
        return atStops(scale === "size" ? RISING : DIVERGING, i / 255, isDark);
    });
}

export function lutTexture(scale: Scale, isDark: boolean): DataTexture {
    const data = new Uint8Array(4 * 256);
    colours(scale, isDark).forEach((rgb, i) => data.set([...rgb.map(Math.round), 255], 4 * i));
    const texture = new DataTexture(data, 256, 1, RGBAFormat, UnsignedByteType);
    texture.minFilter = texture.magFilter = LinearFilter;
    texture.needsUpdate = true;
    return texture;
}

/** Whether the page is dark. */
export const isDark = (): boolean => document.documentElement.dataset["theme"] !== "light";

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
