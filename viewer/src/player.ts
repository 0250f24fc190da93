// player.ts - the clock of a replay.
//
// While it plays, time goes on by `speed` seconds of the run a second; the frame on show is the last
// one that is not later. A frame that has not come yet stops the clock until it is there, so a slow
// connection makes a slow film, not one with holes. On a machine that cannot draw as fast, frames are
// left out instead.
import type { FrameStore } from "./frames";
import { Lost, Refused, type Frame, type Server } from "./protocol";

export const SPEEDS = [16, 8, 4, 2, 1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
const WANTED_SECONDS = 10; // a run should last about this long at first, 5 to 20
const LEAST_FRAMES = 8; // a second: fewer are no film
const TIMES_AT_ONCE = 1_000_000;

export class Player {
    times = new Float64Array(0);
    current = 0; // frame on show
    playing = false;
    speed = 1;
    loop = false;
    onFrame = (_frame: Frame): void => {};
    onState = (): void => {};
    onError = (_error: unknown): void => {};
    private clock = 0; // s, of the run
    private last = 0; // ms, when it was looked at
    private wanted = -1; // frame that is waited for

    constructor(private readonly server: Server, private readonly store: FrameStore) {}

    get count(): number {
        return this.times.length;
    }

    /** Learn the times of frames that have come since. */
    async learn(count: number): Promise<void> {
        if (count < this.times.length) {
            this.times = this.times.slice(0, count); // the run was begun again
            this.store.clear();
        }
        while (this.times.length < count) {
            const more = await this.server.times(this.times.length);
            if (more.length === 0) {
                break;
            }
            const all = new Float64Array(this.times.length + Math.min(more.length, TIMES_AT_ONCE));
            all.set(this.times);
            all.set(more.subarray(0, TIMES_AT_ONCE), this.times.length);
            this.times = all;
        }
        this.onState();
    }

    /** A speed that makes the whole run last some seconds, as it was if it may, and is never a slide show. */
    chooseSpeed(): void {
        const length = this.count > 1 ? this.times[this.count - 1]! - this.times[0]! : 0;
        if (!(length > 0)) {
            return;
        }
        const smooth = SPEEDS.filter((s) => (s * (this.count - 1)) / length >= LEAST_FRAMES);
        const off = (s: number) => Math.abs(Math.log(length / s / WANTED_SECONDS));
        const best = smooth.reduce((a, b) => (off(b) < off(a) ? b : a), smooth[0] ?? SPEEDS[0]!);
        this.speed = smooth.includes(1) && off(1) <= Math.LN2 ? 1 : best;
    }

    /** The last frame that is not later than t. */
    frameAt(t: number): number {
        let low = 0, high = this.count - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            this.times[middle]! <= t + 1e-12 ? (low = middle) : (high = middle - 1);
        }
        return Math.max(0, low);
    }

    nearest(t: number): number {
        const k = this.frameAt(t);
        return k + 1 < this.count && this.times[k + 1]! - t < t - this.times[k]! ? k + 1 : k;
    }

    async goto(k: number): Promise<void> {
        if (this.count === 0) {
            return;
        }
        const index = Math.max(0, Math.min(this.count - 1, Math.round(k)));
        this.current = this.wanted = index;
        this.clock = this.times[index]!;
        this.onState();
        await this.fetch(index);
    }

    /** The frame on show again, with other arrays. */
    refresh(): Promise<void> {
        return this.goto(this.current);
    }

    private async fetch(index: number): Promise<void> {
        try {
            const frame = await this.store.get(index);
            if (this.wanted === index) {
                this.wanted = -1;
                this.onFrame(frame);
            }
        } catch (error) {
            if (error instanceof Lost || error instanceof Refused) {
                this.wanted = -1;
                this.onError(error);
            } else if (this.wanted === index && !(error instanceof DOMException)) {
                this.wanted = -1;
                this.onError(error);
            } else if (this.wanted === index) {
                await this.fetch(index); // cancelled for another, and wanted again
            }
        }
    }

    play(): void {
        if (this.count < 2) {
            return;
        }
        if (this.current >= this.count - 1) {
            this.clock = this.times[0]!;
            this.current = 0;
        }
        this.clock = this.times[this.current]!;
        this.playing = true;
        this.last = performance.now();
        this.onState();
    }

    pause(): void {
        this.playing = false;
        this.onState();
    }

    /** Once a picture: let the clock run, show what is due, ask for what comes. */
    tick(): void {
        const now = performance.now();
        const passed = Math.min(0.1, (now - this.last) / 1000);
        this.last = now;
        if (!this.playing) {
            return;
        }
        const due = this.frameAt(this.clock + passed * this.speed);
        const stride = Math.max(1, due - this.current);
        this.store.prefetch(this.current, stride, this.count);
        if (due !== this.current) {
            const frame = this.store.peek(due);
            if (!frame) {
                if (this.wanted !== due) {
                    this.wanted = due;
                    this.current = due;
                    void this.fetch(due);
                }
                return; // the clock waits
            }
            if (this.wanted >= 0) {
                return;
            }
            this.current = due;
            this.onFrame(frame);
            this.onState();
        } else if (this.wanted >= 0) {
            return;
        }
        this.clock += passed * this.speed;
        if (this.clock >= this.times[this.count - 1]!) {
            if (this.loop) {
                this.clock = this.times[0]!;
            } else {
                this.pause();
            }
        }
    }
}
