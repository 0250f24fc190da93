// frames.ts - frames of a run that may be larger than memory.
//
// Frames are kept up to a budget of bytes; the one looked at longest ago goes first (a Map keeps the
// order of insertion, so taking a frame out and putting it back makes it the newest). While it
// plays, the frames ahead are asked for before they are needed, a few at a time; what has fallen
// behind is no longer worth waiting for and is cancelled. A frame that lacks an array (a new colour
// was chosen) is asked for that array alone.
import { mergeFrames, type ArrayName, type Frame, type Server } from "./protocol";

const AT_ONCE = 4; // requests under way
const AHEAD = 12; // frames asked for beyond the one shown

interface Request {
    promise: Promise<Frame>;
    abort: AbortController;
}

export class FrameStore {
    private readonly kept = new Map<number, Frame>();
    private readonly asked = new Map<number, Request>();
    private want: ArrayName[] = ["position"];
    bytes = 0;

    constructor(private readonly server: Server, private readonly budget: number) {}

    get keptCount(): number {
        return this.kept.size;
    }

    /** The arrays that frames must have from now on. */
    need(want: ArrayName[]): void {
        this.want = want;
    }

    private missing(frame: Frame | undefined): ArrayName[] {
        return this.want.filter((name) => !frame?.asked.has(name));
    }

    /** The frame if it is here with all that is needed. */
    peek(k: number): Frame | undefined {
        const frame = this.kept.get(k);
        if (frame === undefined || this.missing(frame).length > 0) {
            return undefined;
        }
        this.kept.delete(k);
        this.kept.set(k, frame);
        return frame;
    }

    async get(k: number): Promise<Frame> {
        for (;;) {
            const frame = this.peek(k);
            if (frame) {
                return frame;
            }
            await this.request(k).promise; // may lack an array that was needed only since
        }
    }

    private request(k: number): Request {
        const known = this.asked.get(k);
        if (known) {
            return known;
        }
        const abort = new AbortController();
        const before = this.kept.get(k);
        const promise = this.server.frame(k, this.missing(before), abort.signal).then(
            (frame) => {
                this.asked.delete(k);
                return this.keep(k, before ? mergeFrames(before, frame) : frame);
            },
            (reason) => {
                this.asked.delete(k);
                throw reason;
            },
        );
        const request = { promise, abort };
        this.asked.set(k, request);
        return request;
    }

    private keep(k: number, frame: Frame): Frame {
        this.bytes += frame.bytes - (this.kept.get(k)?.bytes ?? 0);
        this.kept.delete(k);
        this.kept.set(k, frame);
        for (const [oldest, old] of this.kept) {
            if (this.bytes <= this.budget || oldest === k) {
                break;
            }
            this.kept.delete(oldest);
            this.bytes -= old.bytes;
        }
        return frame;
    }

    /** Ask for what comes next when going on from k in steps of `stride`; `count` frames in all. */
    prefetch(k: number, stride: number, count: number): void {
        const size = this.kept.size > 0 ? this.bytes / this.kept.size : 0;
        const room = size > 0 ? Math.max(1, Math.floor(this.budget / size / 2)) : AHEAD;
        const last = Math.min(AHEAD, room);
        for (const [other, request] of this.asked) {
            if ((other - k) * stride < 0 || Math.abs(other - k) > Math.abs(stride) * last) {
                request.abort.abort();
            }
        }
        for (let i = 1; i <= last && this.asked.size < AT_ONCE; i++) {
            const next = k + i * stride;
            if (next < 0 || next >= count) {
                break;
            }
            if (this.peek(next) === undefined) {
                this.request(next).promise.catch(() => {}); // asked again when it is needed
            }
        }
    }

    /** Forget all: the run on the other side has changed. */
    clear(): void {
        for (const request of this.asked.values()) {
            request.abort.abort();
        }
        this.asked.clear();
        this.kept.clear();
        this.bytes = 0;
    }
}
