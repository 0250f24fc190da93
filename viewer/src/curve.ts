// curve.ts - the cubic through the points of a line, as tubes have it (rods.ts), in straight pieces.

/**
 * `pieces` for each of the segments between `count` points from point `first` on: (count - 1) * pieces + 1
 * points into `path`. Tangents halve the corners: the mean of both chords, each made as long as the segment.
 */
export function bend(xyz: Float32Array, first: number, count: number, pieces: number, path: Float32Array): void {
    let k = 0, before = 0;
    let length = count > 1 ? chord(xyz, 3 * first) : 0;
    for (let i = 0; i + 1 < count; i++) {
        const b = 3 * (first + i), c = b + 3;
        const after = i + 2 < count ? chord(xyz, c) : 0;
        const p = i > 0 ? 0.5 * (length / Math.max(before, 1e-30)) : 0;
        const q = i + 2 < count ? 0.5 * (length / Math.max(after, 1e-30)) : 0;
        for (let e = 0; e < 3; e++) {
            const from = xyz[b + e]!, to = xyz[c + e]!, way = to - from;
            const ta = i > 0 ? 0.5 * way + p * (from - xyz[b + e - 3]!) : way;
            const tb = i + 2 < count ? 0.5 * way + q * (xyz[c + e + 3]! - to) : way;
            for (let s = 0; s < pieces; s++) {
                const t = s / pieces, u = 1 - t;
                path[3 * (k + s) + e] = from * u * u * (1 + 2 * t) + to * t * t * (3 - 2 * t) + u * t * (ta * u - tb * t);
            }
        }
        k += pieces;
        before = length;
        length = after;
    }
    for (let e = 0; e < 3 && count > 0; e++) {
        path[3 * k + e] = xyz[3 * (first + count - 1) + e]!;
    }
}

// how far the next point is
function chord(xyz: Float32Array, j: number): number {
    const x = xyz[j + 3]! - xyz[j]!, y = xyz[j + 4]! - xyz[j + 1]!, z = xyz[j + 5]! - xyz[j + 2]!;
    return Math.sqrt(x * x + y * y + z * z);
}
