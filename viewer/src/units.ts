// units.ts - numbers as people read them: three digits, and a prefix where the unit has one.

const PREFIXES: [number, string][] = [
    [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"],
];

function digits(x: number, count: number): string {
    const text = x.toPrecision(count);
    return text.includes("e") ? x.toExponential(count - 2).replace("e+", "e") : String(Number(text));
}

/** A number for a narrow field that can be typed again: 9.81, -1e12, 2.58e-5. */
export function compact(x: number): string {
    const exact = String(x).replace("e+", "e");
    const size = Math.abs(x);
    const plain = size >= 1e-3 && size < 1e5;
    return exact.length <= 7 ? exact : plain ? String(Number(x.toPrecision(4))) : Number(x.toPrecision(3)).toExponential().replace("e+", "e");
}

/** The prefix in which a number of this size is read, and its factor: 2e-5, "N" -> 1e-6, "µ". */
export function prefixFor(size: number, unit: string): { factor: number; prefix: string } {
    const has = unit !== "" && !unit.startsWith("1") && size > 0 && Number.isFinite(size);
    const [factor, prefix] = has ? PREFIXES.find(([f]) => size >= 0.9995 * f) ?? PREFIXES[PREFIXES.length - 1]! : [1, ""];
    return { factor, prefix };
}

/** 0.00123, "N" -> "1.23 mN". Units that begin with "1" or hold no letter get no prefix. */
export function withUnit(x: number, unit: string, count = 3): string {
    if (!Number.isFinite(x)) {
        return Number.isNaN(x) ? "unknown" : `${x > 0 ? "" : "-"}∞ ${unit}`.trim();
    }
    if (x === 0) {
        return `0 ${unit}`.trim();
    }
    if (unit === "" || unit.startsWith("1")) {
        const size = Math.abs(x);
        if (unit === "" && size >= 1e4 && size < 1e9) {
            return size >= 1e6 ? `${digits(x / 1e6, count)}M` : `${digits(x / 1e3, count)}k`;
        }
        const text = size >= 1e5 || size < 1e-3 ? String(x.toExponential(count - 2)).replace("e+", "e") : digits(x, count);
        return `${text} ${unit}`.trim();
    }
    const { factor, prefix } = prefixFor(Math.abs(x), unit);
    return `${digits(x / factor, count)} ${prefix}${unit}`;
}

/** The largest of 1, 2, 5 times a power of ten that is not above x. */
export function roundDown(x: number): number {
    const power = 10 ** Math.floor(Math.log10(x));
    const lead = x / power;
    return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}
