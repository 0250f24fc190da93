// pace.ts - how fast pictures come, and how many pixels they may have for it.
//
// Where moving pictures come too slowly they get fewer pixels. A stall (a shader that is compiled, a
// window that was hidden) looks the same at first, so more pixels are tried again once pictures come
// quickly; each try that fails doubles the wait for the next, so that the picture does not flicker.
const SCALES = [1, 0.7]; // of the number of pixels each way
const SLOW_MS = 36, QUICK_MS = 25; // between two pictures; a screen of 60 Hz gives one in 17
const MANY = 8; // pictures that are judged together
const LONGEST_WAIT = 1024; // pictures

export class Pace {
    private drawn: number[] = []; // times of the pictures of the last two seconds
    private chosen = 0; // in SCALES
    private since = 0; // pictures since it was chosen
    private wait = 2 * MANY; // pictures with fewer pixels before more are tried

    /** When the last picture was drawn, ms. */
    get last(): number {
        return this.drawn[this.drawn.length - 1] ?? -Infinity;
    }

    /** Pixels each way of moving pictures, as a part of what the window has. */
    get scale(): number {
        return SCALES[this.chosen]!;
    }

    /** Pictures a second over the last two seconds. */
    get fps(): number {
        const n = this.drawn.length;
        return n > 1 ? (1000 * (n - 1)) / (this.last - this.drawn[0]!) : 0;
    }

    note(now: number): void {
        this.drawn = this.drawn.filter((time) => now - time < 2000);
        this.drawn.push(now);
    }

    /** Before a picture that follows others: fewer pixels or more, by the mean of the last ones. */
    judge(now: number): void {
        const many = this.drawn.slice(-MANY);
        if (many.length < MANY || ++this.since < MANY) {
            return;
        }
        const mean = (now - many[0]!) / MANY;
        if (mean > SLOW_MS && this.chosen + 1 < SCALES.length) {
            this.choose(this.chosen + 1);
            this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
        } else if (mean < QUICK_MS && this.chosen > 0 && this.since >= this.wait) {
            this.choose(this.chosen - 1);
        }
    }

    private choose(scale: number): void {
        this.chosen = scale;
        this.since = 0;
    }
}
