// protocol.ts - what the server says, and how to ask for it.
//
// Small things are JSON, large ones little-endian arrays that become typed arrays without a copy.
// Every failure is an Error with one sentence to show: `Refused` when the server answered with an
// error of its own, `Lost` when it did not answer at all.

export interface RodInfo {
    name: string;
    model: string;
    length: number; // m
    radius: number; // m
    contactRadius: number; // m
    firstPoint: number;
    pointCount: number;
    ribbon: null | { width: number; thickness: number }; // m, along n1 and n2
}

export interface SolidInfo {
    name: string;
    shape: string;
    radius: number; // m
    length: number; // m
    size: number[]; // m
    mesh: number; // -1: none
}

export interface RunInfo {
    protocol: number;
    version: string;
    name: string;
    live: boolean;
    step: number; // s
    pointCount: number;
    fields: string[];
    rods: RodInfo[];
    lines: [number, number, number, number][]; // rod, first point, number of points, radius (m)
    rigids: SolidInfo[];
    obstacles: SolidInfo[];
    meshCount: number;
    gravity: number[] | null; // m/s^2
    look: string;
    materials: string[];
}

export interface Grab {
    rod: number;
    s: number; // m
    target: number[]; // m
    force: number[]; // N
    torque: number; // N m
    most_force: number; // N, the largest there is
    most_torque: number; // N m
}

export interface State {
    frames: number;
    steps: number;
    growing: boolean; // more may come
    finished: boolean; // the end that was planned is reached
    until?: number | null; // s, that end
    error: string | null;
    note?: string | null; // what there is to know about its end
    time: number; // s
    running: boolean;
    gravity?: number[];
    wind?: number[];
    friction?: { a: string; b: string; mu: number }[];
    grab?: Grab | null;
}

export interface Mesh {
    vertices: Float32Array;
    triangles: Uint32Array;
}

export type Order =
    | { do: "pause" | "resume" | "step" | "release" | "stop" }
    | { do: "gravity" | "wind"; value: number[] }
    | { do: "friction"; a: string; b: string; mu: number }
    | { do: "grab"; rod: number; s: number; target: number[]; twist: number };

// The arrays of a frame in the order of their bits. `count` names the number in the header, `width`
// the numbers in a row.
const ARRAYS = [
    { name: "position", count: "points", width: 3 },
    { name: "quaternion", count: "points", width: 4 },
    { name: "velocity", count: "points", width: 3 },
    { name: "curvature", count: "points", width: 3 },
    { name: "tension", count: "points", width: 1 },
    { name: "elastic", count: "points", width: 1 },
    { name: "force", count: "points", width: 1 },
    { name: "state", count: "points", width: 1 },
    { name: "rigids", count: "rigids", width: 7 },
    { name: "obstacles", count: "obstacles", width: 7 },
    { name: "contacts", count: "contactCount", width: 20 },
] as const;
export type ArrayName = (typeof ARRAYS)[number]["name"];

export interface Frame {
    index: number; // 0xffffffff: the world as it is now
    time: number; // s
    step: number;
    points: number;
    rigids: number;
    obstacles: number;
    contactCount: number;
    bytes: number;
    asked: Set<ArrayName>; // what is here, or is known to be nowhere
    arrays: Partial<Record<Exclude<ArrayName, "state">, Float32Array>> & { state?: Uint8Array };
}

/** Columns of a row of contacts. */
export const CONTACT = {
    width: 20, point: 0, normal: 3, force: 6, mu: 9, gap: 10, state: 11,
    aKind: 12, aIndex: 13, aS: 14, bKind: 15, bIndex: 16, bS: 17, slip: 18,
} as const;
export const BODY_KINDS = ["world", "rod", "rigid", "obstacle"];

export class Refused extends Error {
    constructor(readonly status: number, text: string) {
        super(text);
    }
}
export class Lost extends Error {}
export class Renewed extends Error {} // it answers, but does not know this page's address any more

const HEADER = 64;
const NOW = "now";
const PATIENCE = 30_000; // ms, for an answer, which may be large
const PATIENCE_HEART = 5_000; // and for one that is small

/** A frame out of the bytes of an answer; `asked` is what the request named. */
export function decodeFrame(buffer: ArrayBuffer, asked: readonly ArrayName[]): Frame {
    const view = new DataView(buffer);
    if (buffer.byteLength < HEADER || view.getUint32(0, false) !== 0x46494c46) {
        throw new Error("The server sent something that is not a frame.");
    }
    if (view.getUint32(4, true) !== 1) {
        throw new Error(`The server sent a frame of version ${view.getUint32(4, true)}; this page knows version 1.`);
    }
    const frame: Frame = {
        time: view.getFloat64(8, true),
        step: view.getFloat64(16, true),
        points: view.getUint32(24, true),
        rigids: view.getUint32(28, true),
        obstacles: view.getUint32(32, true),
        contactCount: view.getUint32(36, true),
        index: view.getUint32(44, true),
        bytes: buffer.byteLength,
        asked: new Set(asked),
        arrays: {},
    };
    const mask = view.getUint32(40, true);
    let offset = HEADER;
    ARRAYS.forEach(({ name, count, width }, bit) => {
        if ((mask & (1 << bit)) === 0) {
            return;
        }
        const length = frame[count] * width;
        const bytes = name === "state" ? length : 4 * length;
        if (offset + bytes > buffer.byteLength) {
            throw new Error(`The server sent a frame that ends inside its ${name}.`);
        }
        if (name === "state") {
            frame.arrays.state = new Uint8Array(buffer, offset, length);
        } else {
            frame.arrays[name] = new Float32Array(buffer, offset, length);
        }
        frame.asked.add(name);
        offset += (bytes + 7) & ~7;
    });
    return frame;
}

/** The arrays of `more` join those of `frame`. */
export function mergeFrames(frame: Frame, more: Frame): Frame {
    return {
        ...frame,
        bytes: frame.bytes + more.bytes,
        asked: new Set([...frame.asked, ...more.asked]),
        arrays: { ...frame.arrays, ...more.arrays },
    };
}

export class Server {
    constructor(private readonly base: string) {}

    /** Ask, and read the whole answer; a server that is silent for longer than `patience` ms is lost. */
    private async ask<T>(path: string, read: (response: Response) => Promise<T>, init: RequestInit = {}, patience = PATIENCE): Promise<T> {
        const limit = new AbortController();
        const stop = () => limit.abort();
        const timer = setTimeout(stop, patience);
        init.signal?.addEventListener("abort", stop);
        try {
            const response = await fetch(this.base + path, { cache: "no-store", ...init, signal: limit.signal });
            if (!response.ok) {
                const text = await response.json().then((body) => String(body.error ?? ""), () => "");
                throw new Refused(response.status, text || `The server answered ${response.status} to ${path}.`);
            }
            return await read(response);
        } catch (reason) {
            if (reason instanceof Refused || init.signal?.aborted) {
                throw reason;
            }
            throw new Lost("The connection to Filum is lost.");
        } finally {
            clearTimeout(timer);
            init.signal?.removeEventListener("abort", stop);
        }
    }

    private bytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
        return this.ask(path, (response) => response.arrayBuffer(), signal ? { signal } : {});
    }

    async run(): Promise<RunInfo> {
        const run: RunInfo = await this.ask("api/run", (response) => response.json());
        if (run.protocol !== 1) {
            throw new Error(`The server speaks version ${run.protocol} of the protocol; this page knows version 1.`);
        }
        return run;
    }

    state(): Promise<State> {
        return this.ask<State>("api/state", (response) => response.json(), {}, PATIENCE_HEART).catch((reason: unknown) => {
            throw reason instanceof Refused && reason.status === 404
                ? new Renewed("Filum was started anew: open the address that it printed.") : reason;
        });
    }

    /** Arc length and rod of each point. */
    async points(count: number): Promise<{ s: Float32Array; rod: Int32Array }> {
        const buffer = await this.bytes("api/points");
        if (buffer.byteLength < 8 * count) {
            throw new Error("The server sent too few points.");
        }
        return { s: new Float32Array(buffer, 0, count), rod: new Int32Array(buffer, 4 * count, count) };
    }

    async mesh(k: number): Promise<Mesh> {
        const buffer = await this.bytes(`api/mesh/${k}`);
        const [vertices = 0, triangles = 0] = new Uint32Array(buffer, 0, 2);
        return {
            vertices: new Float32Array(buffer, 8, 3 * vertices),
            triangles: new Uint32Array(buffer, 8 + 12 * vertices, 3 * triangles),
        };
    }

    async times(from: number): Promise<Float64Array> {
        return new Float64Array(await this.bytes(`api/times?from=${from}`));
    }

    async frame(k: number, want: readonly ArrayName[], signal?: AbortSignal): Promise<Frame> {
        return decodeFrame(await this.bytes(`api/frame/${k}?with=${want.join(",")}`, signal), want);
    }

    async now(want: readonly ArrayName[]): Promise<Frame> {
        return decodeFrame(await this.bytes(`api/${NOW}?with=${want.join(",")}`), want);
    }

    async steps(from: number, count: number): Promise<Float64Array> {
        return new Float64Array(await this.bytes(`api/steps?from=${from}&count=${count}`));
    }

    async energies(from: number, count: number): Promise<Float64Array> {
        return new Float64Array(await this.bytes(`api/energies?from=${from}&count=${count}`));
    }

    async order(order: Order): Promise<void> {
        await this.ask("api/do", (response) => response.text(), {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(order),
        });
    }
}
