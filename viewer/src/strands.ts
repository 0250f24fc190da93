// strands.ts - the vertices of thin rods, drawn as strips that turn to the eye (rods.ts has the shaders).
import {
    BufferAttribute, BufferGeometry, DynamicDrawUsage, InstancedBufferAttribute, InstancedBufferGeometry, InterleavedBuffer,
    InterleavedBufferAttribute,
} from "three";
import { isWisp } from "./colours";
import { bend } from "./curve";
import type { RunInfo } from "./protocol";
import { MOST_FIBRES, ballPlace } from "./wisp";

/**
 * Lines as curves, each segment in `pieces`: two vertices a point; every line has a ghost before its first
 * point and one after its last.
 */
export class Strands {
    readonly geometry = new InstancedBufferGeometry(); // an instance for each fibre of the wisps
    readonly shadow = new BufferGeometry(); // the same vertices
    private readonly places: InterleavedBuffer;
    private readonly colours: BufferAttribute;
    private readonly first: Int32Array; // vertex of the first point of each line; its ghost is 2 before

    private readonly points: Int32Array; // of each line, ends of pieces
    private readonly path: Float32Array; // of one line

    constructor(private readonly run: RunInfo, private readonly pieces: number) {
        this.first = new Int32Array(run.lines.length);
        this.points = Int32Array.from(run.lines, ([, , points]) => Math.max(0, (points - 1) * pieces + 1));
        this.path = new Float32Array(3 * this.points.reduce((a, b) => Math.max(a, b), 0));
        let count = 0;
        this.points.forEach((points, line) => {
            this.first[line] = count;
            count += 2 * points + 4;
        });
        // vertex v has its own place 2 vertices further on: the ghost of the first line comes first
        this.places = new InterleavedBuffer(new Float32Array(3 * (count + 4)), 3).setUsage(DynamicDrawUsage);
        this.colours = new BufferAttribute(new Uint8Array(4 * count + 4), 4, true).setUsage(DynamicDrawUsage);
        ["before", "here", "after"].forEach((name, k) => {
            this.geometry.setAttribute(name, new InterleavedBufferAttribute(this.places, 3, 6 * k));
        });
        this.geometry.setAttribute("colour", this.colours);
        this.geometry.setAttribute("kind", this.kinds(count));
        for (const [name, attribute] of Object.entries(this.geometry.attributes)) {
            this.shadow.setAttribute(name, attribute);
        }
        this.geometry.setAttribute("fibre", new InstancedBufferAttribute(new Float32Array(3 * MOST_FIBRES), 3));
        this.fibres = 1;
    }

    /** How many fibres a wisp has now. */
    set fibres(count: number) {
        if (this.geometry.instanceCount !== count) {
            this.geometry.instanceCount = count;
            const fibre = this.geometry.getAttribute("fibre") as InstancedBufferAttribute;
            (fibre.array as Float32Array).set(Array.from({ length: count }, (_, k) => ballPlace(0, k, count)).flat());
            fibre.needsUpdate = true;
        }
    }

    private kinds(count: number): BufferAttribute {
        const kind = new Float32Array(4 * count + 4);
        this.run.lines.forEach(([rod, , , thick], line) => {
            const info = this.run.rods[rod]!;
            const radius = info.ribbon ? info.ribbon.width / 2 : thick;
            const wisp = isWisp(info) ? info.contactRadius : 0;
            for (let i = 0; i < this.points[line]!; i++) {
                kind.set([radius, rod, -1, wisp, radius, rod, 1, wisp], 4 * (this.first[line]! + 2 * i));
            }
        });
        return new BufferAttribute(kind, 4);
    }

    /** Draw these lines, each segment as two triangles; returns the number of segments. */
    list(isSo: (line: number) => boolean, geometry: BufferGeometry): number {
        const count = this.points.reduce((sum, points, line) => sum + (isSo(line) ? Math.max(0, points - 1) : 0), 0);
        const index = new Uint32Array(6 * count);
        let k = 0;
        this.points.forEach((points, line) => {
            for (let i = 0; isSo(line) && i + 1 < points; i++) {
                const a = this.first[line]! + 2 * i;
                index[k++] = a;
                index[k++] = a + 1;
                index[k++] = a + 2;
                index[k++] = a + 1;
                index[k++] = a + 3;
                index[k++] = a + 2;
            }
        });
        geometry.setIndex(new BufferAttribute(index, 1));
        return count;
    }

    /** The same as lines of one pixel over `stride` segments each, in the shadow alone. */
    listCoarse(isSo: (line: number) => boolean, stride: number): number {
        const index: number[] = [];
        this.points.forEach((points, line) => {
            const first = this.first[line]!;
            for (let i = 0; isSo(line) && i + 1 < points; i += stride) {
                index.push(first + 2 * i, first + 2 * Math.min(i + stride, points - 1));
            }
        });
        this.shadow.setIndex(index);
        return index.length / 2;
    }

    place(xyz: Float32Array): void {
        const to = this.places.array as Float32Array;
        this.run.lines.forEach(([, first, count], line) => {
            const isBent = this.pieces > 1;
            if (isBent) {
                bend(xyz, first, count, this.pieces, this.path);
            }
            const from = isBent ? this.path : xyz;
            const a = 3 * this.first[line]!, b = a + 6 * this.points[line]! + 6;
            for (let j = isBent ? 0 : 3 * first, k = a + 6; k < b; j += 3, k += 6) {
                to[k] = to[k + 3] = from[j]!;
                to[k + 1] = to[k + 4] = from[j + 1]!;
                to[k + 2] = to[k + 5] = from[j + 2]!;
            }
            // ghosts: a line goes on as it ends
            to.copyWithin(a, a + 6, a + 12);
            to.copyWithin(b, b - 6, b);
        });
        this.places.needsUpdate = true;
    }

    /** Colours of the recorded points. */
    paint(colours: Uint32Array): void {
        const to = new Uint32Array(this.colours.array.buffer);
        const { pieces } = this;
        this.run.lines.forEach(([, first, count], line) => {
            for (let i = 0, v = this.first[line]!; i < count; i++) {
                const here = colours[first + i]!, next = colours[Math.min(first + i + 1, first + count - 1)]!;
                for (let s = 0; s < (i + 1 < count ? pieces : 1); s++, v += 2) {
                    to[v] = to[v + 1] = s === 0 || here === next ? here : mixed(here, next, s / pieces);
                }
            }
        });
        this.colours.needsUpdate = true;
    }
}

// of two colours of four bytes, byte by byte
function mixed(a: number, b: number, t: number): number {
    let sum = 0;
    for (let shift = 0; shift < 32; shift += 8) {
        const x = (a >>> shift) & 255, y = (b >>> shift) & 255;
        sum |= Math.round(x + t * (y - x)) << shift;
    }
    return sum >>> 0;
}
