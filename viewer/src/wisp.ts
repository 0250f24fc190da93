// wisp.ts - a hair that stands for many, drawn as a wisp of fibres, as `filum render` draws it.
//
// The radius of its contacts tells how wide the wisp is. Its fibres lie inside that radius, the more of
// them the more pixels there are for them, and thin enough that they cover about what the wisp would. A
// fibre is the hair moved aside by one vector of a ball, less its part along the hair: nothing has to be
// known of the section, and fibres neither flip nor kink where the hair turns.
import { isWisp } from "./colours";
import type { RodInfo } from "./protocol";

export const MOST_FIBRES = 14;
const FIBRES_A_PIXEL = 5; // of a wisp's radius

export interface Brush {
    fibres: number;
    radius: number; // m, of a fibre
    spread: number; // m, of the fibres' axes
}

/** How a line is drawn where a pixel has this size (m), with at most `most` fibres. */
export function brushOf(rod: RodInfo, radius: number, pixel: number, most: number): Brush {
    if (rod.ribbon || !isWisp(rod)) {
        return { fibres: 1, radius: rod.ribbon ? rod.ribbon.width / 2 : radius, spread: 0 };
    }
    const wanted = FIBRES_A_PIXEL * (rod.contactRadius / Math.max(pixel, 1e-30) - 0.5);
    const fibres = Math.max(1, Math.min(most, Math.ceil(wanted))) || 1; // NaN too
    const own = rod.contactRadius / (fibres > 1 ? 1.2 * Math.sqrt(fibres) : 1);
    return { fibres, radius: own, spread: fibres > 1 ? 1.25 * rod.contactRadius - own : 0 };
}

/** A place in the unit ball for a fibre: even over the ball, turned by rod. */
export function ballPlace(rod: number, fibre: number, fibres: number): number[] {
    const far = Math.cbrt((fibre + 0.5) / fibres);
    const z = 1 - (2 * ((fibre * 0.618034 + 0.37 * rod) % 1)), flat = Math.sqrt(Math.max(0, 1 - z * z));
    const angle = 2.399963 * fibre + 2.4 * rod;
    return [far * flat * Math.cos(angle), far * flat * Math.sin(angle), far * z];
}

export function fibreAt(rod: number, fibre: number, { spread, fibres }: Brush): number[] {
    return ballPlace(rod, fibre, fibres).map((x) => spread * x);
}
