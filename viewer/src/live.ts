// live.ts - a world that runs: pause it, change what acts on it, take hold of a rod.
//
// A drag that begins on a rod pulls the point under the cursor towards the cursor, in the plane
// through that point that faces the eye; the wheel (or Q and E) twists it. One order is under way at
// a time and the newest wins, so a slow world never gets a queue of old places. The force and torque
// that the hold takes come with the state of the server.
import { Vector3 } from "three";
import type { Drag } from "./camera";
import { byId, make, slider } from "./dom";
import type { Grab, Order, Server, State } from "./protocol";
import { compact, withUnit } from "./units";
import type { View } from "./view";

const TWIST_STEP = Math.PI / 12;
const PACE_OVER = 3000; // ms, over which the world's clock is held against ours

/** The newest of some orders, one under way at a time. */
class Newest {
    private next: Order | null = null;
    private busy = false;

    constructor(private readonly send: (order: Order) => Promise<void>) {}

    put(order: Order): void {
        this.next = order;
        void this.go();
    }

    private async go(): Promise<void> {
        while (!this.busy && this.next) {
            const order = this.next;
            this.next = null;
            this.busy = true;
            await this.send(order);
            this.busy = false;
        }
    }
}

export class Live {
    holding = false;
    onOrder = (): void => {};
    onError = (_error: unknown): void => {};
    private readonly orders: Map<string, Newest> = new Map();
    private twist = 0;
    private held: { rod: number; point: number; fraction: number; s: number } | null = null;
    private target = new Vector3();
    private readonly pauseButton = make("button", { title: "Pause or go on (space)" }, "Pause");
    private running = true;
    ended = false;
    private readonly setters: ((state: State) => void)[] = [];

    constructor(
        private readonly server: Server, private readonly view: View, private readonly s: Float32Array,
    ) {
        this.buildPanel();
    }

    private async send(order: Order): Promise<void> {
        try {
            await this.server.order(order);
            this.onOrder();
        } catch (error) {
            this.onError(error);
        }
    }

    private put(key: string, order: Order): void {
        let queue = this.orders.get(key);
        if (!queue) {
            queue = new Newest((next) => this.send(next));
            this.orders.set(key, queue);
        }
        queue.put(order);
    }

    toggle(): void {
        void this.send({ do: this.running ? "pause" : "resume" });
        this.setRunning(!this.running); // at once; the state says later whether it is so
    }

    step(): void {
        void this.send({ do: "step" });
    }

    private setRunning(on: boolean): void {
        this.running = on;
        this.pauseButton.textContent = on ? "Pause" : "Go on";
    }

    // A field shows what the world has, except while somebody types in it: what is emptied, no number,
    // or refused gives way to the world's. What was not typed is sent with all its digits.
    private vectorRow(label: string, unit: string, key: "gravity" | "wind"): HTMLElement {
        let world = [0, 0, 0];
        const fields = ["x", "y", "z"].map((axis) => {
            const input = make("input", { type: "number", step: "any", value: "0" });
            input.setAttribute("aria-label", `${label} along ${axis}`);
            return { input, axis, edits: 0, typing: false };
        });
        const show = () => fields.forEach(({ input, axis, typing }, k) => {
            const text = compact(world[k]!);
            if (!typing && input.value !== text) {
                input.value = text;
            }
            input.title = `${label} along ${axis}: ${world[k]} ${unit}`;
            input.disabled = this.ended;
        });
        fields.forEach((field, k) => {
            const { input } = field;
            const settle = (edits: number) => {
                field.typing &&= field.edits !== edits;
                show();
            };
            input.addEventListener("input", () => {
                field.typing = true;
                field.edits++;
            });
            input.addEventListener("blur", () => settle(field.edits));
            input.addEventListener("keydown", (event) => event.key === "Escape" && settle(field.edits));
            input.addEventListener("change", () => {
                const typed = input.value.trim() === "" ? NaN : Number(input.value);
                const edits = field.edits;
                if (Number.isFinite(typed) && field.typing) {
                    void this.send({ do: key, value: world.map((old, j) => (j === k ? typed : old)) }).then(() => settle(edits));
                } else {
                    settle(edits);
                }
            });
        });
        this.setters.push((state) => {
            world = state[key] ?? world;
            show();
        });
        return make("div", { className: "row" }, make("span", {}, `${label}, ${unit}`), make("div", { className: "triple" }, ...fields.map(({ input }) => input)));
    }

    private buildPanel(): void {
        const step = make("button", { title: "One step of the world (.)" }, "Step");
        const stop = make("button", { title: "End the run and save it" }, "End");
        this.pauseButton.addEventListener("click", () => this.toggle());
        step.addEventListener("click", () => this.step());
        stop.addEventListener("click", () => {
            if (window.confirm("End the run?")) {
                void this.send({ do: "stop" }).then(() => this.end());
            }
        });
        const friction = make("div");
        this.setters.push((state) => this.frictionRows(friction, state));
        const buttons = [this.pauseButton, step, stop];
        const hint = make("p", { className: "hint" });
        this.setters.unshift(({ growing }) => { // at the scene's end it may go on
            this.ended ||= !growing;
            buttons.forEach((button) => (button.disabled = this.ended));
            hint.textContent = this.ended
                ? "The run has ended. Its frames can still be played."
                : "Drag a rod to pull it. The wheel, or Q and E, twist it.";
        });
        byId("live").append(
            make("div", { className: "buttons" }, ...buttons),
            this.vectorRow("Gravity", "m/s²", "gravity"),
            this.vectorRow("Wind", "m/s", "wind"),
            friction,
            hint);
        byId("sec-live").hidden = false;
    }

    private pairs = "";
    private sliders: { set(value: number): void; input: HTMLInputElement }[] = [];

    private frictionRows(into: HTMLElement, state: State): void {
        const list = state.friction ?? [];
        const pairs = list.map(({ a, b }) => `${a}\n${b}`).join("\n\n");
        if (pairs !== this.pairs) {
            this.pairs = pairs;
            const made = list.map(({ a, b, mu }) => slider(
                a === b ? `Friction ${a}` : `Friction ${a} on ${b}`, "Coefficient of friction",
                { min: 0, max: Math.max(1.5, mu), step: 0.01, value: mu }, compact,
                (value) => this.put(`friction ${a} ${b}`, { do: "friction", a, b, mu: value })));
            this.sliders = made;
            into.replaceChildren(...made.map(({ row }) => row));
        }
        list.forEach(({ mu }, i) => this.sliders[i]?.set(mu));
        this.sliders.forEach(({ input }) => (input.disabled = this.ended));
    }

    update(state: State): void {
        this.last = state;
        this.setters.forEach((set) => set(state));
        this.setRunning(state.running && !this.ended);
        this.showPace(state);
        this.showForce(state.grab ?? null);
    }

    /** The run is over: nothing can be changed any more. */
    end(): void {
        this.ended = true;
        if (this.last) {
            this.update({ ...this.last, growing: false, running: false });
        }
        this.onOrder();
    }

    private last: State | null = null;
    private paces: { clock: number; time: number }[] = [];
    private paceText = "";
    pace = 1; // seconds of the world in one of ours

    // how fast the world's clock runs, over the last seconds in which it ran
    private showPace(state: State): void {
        const clock = performance.now();
        this.paces = this.running ? this.paces.filter((at) => clock - at.clock <= PACE_OVER) : [];
        const first = this.paces[0];
        if (first && clock - first.clock > 0.3 * PACE_OVER) {
            const pace = (1000 * (state.time - first.time)) / (clock - first.clock);
            this.paceText = pace > 0 ? `${Number(pace.toPrecision(2))}× real time` : "a step takes long";
            this.pace = pace;
        } else if (!this.running) {
            this.pace = 1;
            this.paceText = this.ended ? "ended" : "paused";
        }
        if (this.running) {
            this.paces.push({ clock, time: state.time });
        }
        byId("pace").textContent = this.paceText;
    }

    private showForce(grab: Grab | null): void {
        const note = byId("note");
        if (!this.holding) {
            return;
        }
        const at = this.view.camera.project(this.target.x, this.target.y, this.target.z);
        note.hidden = false;
        const force = grab ? Math.hypot(...(grab.force as [number, number, number])) : 0;
        const most = grab ? ` of at most ${withUnit(grab.most_force, "N")}` : "";
        const slips = grab !== null && force > 0.999 * grab.most_force;
        note.textContent = `force  ${withUnit(force, "N")}${most}\ntorque ${withUnit(grab?.torque ?? 0, "N m")}`
            + (slips ? "\nthe rod slips: the hand pulls no harder" : "")
            + (this.running ? "" : "\npaused: it moves when you go on");
        note.style.left = `${Math.max(8, Math.min(at.x + 16, window.innerWidth - note.offsetWidth - 8))}px`;
        note.style.top = `${Math.max(8, at.y - 8 - note.offsetHeight)}px`;
    }

    /** A drag that begins here pulls, if there is a rod. */
    claim(x: number, y: number): Drag | null {
        const hit = this.view.pickAt(x, y, true);
        if (this.ended || hit?.kind !== "rod") {
            return null;
        }
        const s = this.s[hit.point]! * (1 - hit.fraction) + this.s[hit.point + 1]! * hit.fraction;
        this.held = { rod: hit.rod, point: hit.point, fraction: hit.fraction, s };
        const plane = hit.place.clone();
        this.twist = 0;
        let moved = false;
        return {
            move: (px, py) => {
                moved ||= Math.hypot(px - x, py - y) > 3;
                if (moved) {
                    this.holding = true;
                    this.target = this.view.camera.onPlane(px, py, plane);
                    this.grab();
                }
            },
            wheel: (delta) => {
                this.holding = true;
                this.target = moved ? this.target : plane.clone();
                this.turn(Math.sign(delta) * TWIST_STEP);
            },
            end: () => this.release(),
        };
    }

    turn(by: number): void {
        if (this.holding) {
            this.twist += by;
            this.grab();
        }
    }

    private grab(): void {
        const { rod, s } = this.held!;
        this.put("grab", { do: "grab", rod, s, target: this.target.toArray(), twist: this.twist });
        this.drawPull();
        this.showForce(null);
    }

    /** The arrow from the rod to the target, again for every frame. */
    drawPull(): void {
        const xyz = this.view.frame?.arrays.position;
        if (!this.holding || !this.held || !xyz) {
            return;
        }
        const from = new Vector3().fromArray(xyz, 3 * this.held.point);
        from.lerp(new Vector3().fromArray(xyz, 3 * this.held.point + 3), this.held.fraction);
        this.view.showPull(from, this.target);
    }

    private release(): void {
        if (this.holding) {
            this.put("grab", { do: "release" });
        }
        this.holding = false;
        this.held = null;
        this.view.showPull(null, null);
        byId("note").hidden = true;
    }
}
