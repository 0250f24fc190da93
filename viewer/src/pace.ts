// pace.ts - how fast pictures come, and how many pixels they may have for it.
//
// Where moving pictures come too slowly they get fewer pixels. Only those that follow each other at once
// tell: who has nothing new to show waits. A stall (a shader that is compiled, a window that was hidden)
// looks like slowness at first, so more pixels are tried again after a while; each try that fails doubles
// that while, so that the picture does not flicker.
const SCALES = [1, 0.7]; // of the number of pixels each way
const SLOW_MS = 36; // between two pictures
const MANY = 8; // pictures that are judged together
const FIRST_WAIT = 4 * MANY, LONGEST_WAIT = 128 * MANY; // pictures with fewer pixels before more are tried

export class Pace {
    private drawn: number[] = []; // times of the pictures of the last two seconds
    private row: number[] = []; // of the last ones that followed each other at once
    private chosen = 0; // in SCALES
    private since = 0; // pictures judged since it was chosen
    private wait = FIRST_WAIT;

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

    /** A picture was drawn. */
    note(now: number): void {
        this.drawn = this.drawn.filter((time) => now - time < 2000);
        this.drawn.push(now);
        this.row = [...this.row.slice(1 - MANY), now];
    }

    /** There was time for a picture, and nothing new to show. */
    rest(): void {
        this.row = [];
    }

    /** Before a picture: fewer pixels or more, by the mean of the last ones. */
    judge(now: number): void {
        if (this.row.length < MANY || ++this.since < MANY) {
            return;
        }
        const isSlow = (now - this.row[0]!) / MANY > SLOW_MS;
        if (isSlow && this.chosen + 1 < SCALES.length) {
            this.wait = this.since < FIRST_WAIT ? Math.min(2 * this.wait, LONGEST_WAIT) : FIRST_WAIT; // a try that failed, or a new stall
            this.choose(this.chosen + 1);
        } else if (!isSlow && this.chosen > 0 && this.since >= this.wait) {
            this.choose(this.chosen - 1);
        }
    }

    private choose(scale: number): void {
        this.chosen = scale;
        this.since = 0;
        this.row = [];
    }
}
