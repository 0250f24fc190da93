// timeplots.ts - what happened over the whole run: energies by frame; contacts, iterations, residual and seconds by step.
//
// Rows are fetched once, in large pieces, and only the new ones while a run grows. A click or a drag
// on a plot goes to that time.
import { byId, make } from "./dom";
import { Plot, type Curve } from "./plots";
import type { Server } from "./protocol";

const PIECE = 100_000;

/** Rows of numbers that grow. */
class Table {
    count = 0;
    private rows = new Float64Array(0);

    constructor(readonly width: number, private readonly ask: (from: number, count: number) => Promise<Float64Array>) {}

    at(row: number, column: number): number {
        return this.rows[row * this.width + column]!;
    }

    async learn(count: number): Promise<boolean> {
        const before = this.count;
        if (count < this.count) {
            this.count = 0;
        }
        while (this.count < count) {
            const more = await this.ask(this.count, Math.min(PIECE, count - this.count));
            if (more.length < this.width) {
                break;
            }
            const used = this.count * this.width;
            if (used + more.length > this.rows.length) {
                const grown = new Float64Array(Math.max(2 * this.rows.length, used + more.length));
                grown.set(this.rows.subarray(0, used));
                this.rows = grown;
            }
            this.rows.set(more, used);
            this.count += Math.floor(more.length / this.width);
        }
        return this.count !== before;
    }
}

interface Spec {
    title: string;
    unit: string;
    table: "steps" | "energies";
    curves: [string, string, number][]; // label, colour in the style sheet, column
    log?: boolean;
}

const SPECS: Spec[] = [
    { title: "Energy", unit: "J", table: "energies", curves: [
        ["kinetic", "--blue", 1], ["bend", "--green", 2], ["twist", "--violet", 3], ["stretch", "--rose", 4], ["gravity", "--gold", 5]] },
    { title: "Contacts", unit: "", table: "steps", curves: [["found", "--steel", 1], ["pressing", "--orange", 2]] },
    { title: "Iterations", unit: "", table: "steps", curves: [["iterations", "--teal", 3]] },
    { title: "Residual", unit: "", table: "steps", curves: [["scaled", "--rose", 4]], log: true },
    { title: "Time per step", unit: "s", table: "steps", curves: [["seconds", "--green", 5]] },
];

export class TimePlots {
    onTime = (_t: number): void => {};
    private readonly tables: { steps: Table; energies: Table };
    private readonly plots: { spec: Spec; plot: Plot }[];
    private busy = false;

    constructor(server: Server) {
        this.tables = {
            steps: new Table(6, (from, count) => server.steps(from, count)),
            energies: new Table(7, (from, count) => server.energies(from, count)),
        };
        this.plots = SPECS.map((spec) => {
            const plot = new Plot(`${spec.title} over time`);
            plot.onPick = (t) => this.onTime(t);
            const title = make("div", { className: "plot-title" }, make("b", {}, spec.title));
            if (spec.curves.length > 1) {
                spec.curves.forEach(([label, colour]) => {
                    const name = make("i", {}, label);
                    name.style.color = `var(${colour})`;
                    title.append(name);
                });
            }
            byId("plots").append(title, plot.box);
            return { spec, plot };
        });
    }

    async learn(steps: number, frames: number): Promise<void> {
        if (this.busy) {
            return;
        }
        this.busy = true;
        try {
            const newSteps = await this.tables.steps.learn(steps);
            const newFrames = await this.tables.energies.learn(frames);
            if (newSteps || newFrames) {
                this.fill();
            }
        } finally {
            this.busy = false;
        }
    }

    private fill(): void {
        for (const { spec, plot } of this.plots) {
            const table = this.tables[spec.table];
            const curves: Curve[] = spec.curves.map(([label, colour, column]) => ({ label, colour, y: (i) => table.at(i, column) }));
            const first = spec.table === "energies" && curves.length > 1;
            plot.set({
                count: table.count, x: (i) => table.at(i, 0), unit: spec.unit, xUnit: "s",
                curves: first ? relative(curves, table.count) : curves, ...(spec.log ? { log: true } : {}),
            });
        }
    }

    move(time: number | null): void {
        this.plots.forEach(({ plot }) => plot.move(time));
    }

    redraw(): void {
        this.plots.forEach(({ plot }) => plot.draw());
    }
}

// the zero of gravity's energy is arbitrary: its least value, so that the others can be seen beside it
function relative(curves: Curve[], count: number): Curve[] {
    return curves.map((curve) => {
        if (curve.label !== "gravity") {
            return curve;
        }
        let least = Infinity;
        for (let i = 0; i < count; i++) {
            least = Math.min(least, curve.y(i));
        }
        return { ...curve, y: (i: number) => curve.y(i) - least };
    });
}
