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
import { withUnit } from "./units";
import type { View } from "./view";

const TWIST_STEP = Math.PI / 12;

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

    private vectorRow(label: string, unit: string, key: "gravity" | "wind"): HTMLElement {
        const inputs = ["x", "y", "z"].map((axis) => {
            const input = make("input", { type: "number", step: "any", value: "0", title: `${label} along ${axis}, ${unit}` });
            input.setAttribute("aria-label", `${label} along ${axis}`);
            input.addEventListener("change", () => {
                const value = inputs.map((each) => Number(each.value));
                if (value.every(Number.isFinite)) {
                    this.put(key, { do: key, value });
                }
            });
            return input;
        });
        this.setters.push((state) => {
            const value = state[key];
            inputs.forEach((input, k) => {
                if (value && document.activeElement !== input) {
                    input.value = String(Number(value[k]!.toPrecision(4)));
                }
            });
        });
        return make("div", { className: "row", title: `${label}, ${unit}` }, make("span", {}, `${label}, ${unit}`), make("div", { className: "triple" }, ...inputs));
    }

    private buildPanel(): void {
        const step = make("button", { title: "One step of the world (.)" }, "Step");
        const stop = make("button", { title: "End the run and write what is left" }, "End");
        this.pauseButton.addEventListener("click", () => this.toggle());
        step.addEventListener("click", () => this.step());
        stop.addEventListener("click", () => {
            if (window.confirm("End the run?")) {
                void this.send({ do: "stop" }).then(() => (this.ended = true));
            }
        });
        const friction = make("div");
        this.setters.push((state) => this.frictionRows(friction, state));
        const buttons = [this.pauseButton, step, stop];
        const hint = make("p", { className: "hint" });
        this.setters.push(({ growing }) => { // at the scene's end it may go on
            this.ended = !growing;
            buttons.forEach((button) => (button.disabled = this.ended));
            hint.textContent = this.ended
                ? "The run has ended. What it recorded can be played."
                : "Drag a rod to pull it; the wheel, or Q and E, twists it.";
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
    private sliders: { set(value: number): void }[] = [];

    private frictionRows(into: HTMLElement, state: State): void {
        const list = state.friction ?? [];
        const pairs = list.map(({ a, b }) => `${a}\n${b}`).join("\n\n");
        if (pairs !== this.pairs) {
            this.pairs = pairs;
            const made = list.map(({ a, b, mu }) => slider(
                a === b ? `Friction ${a}` : `Friction ${a} on ${b}`, "Coefficient of friction",
                { min: 0, max: Math.max(1.5, mu), step: 0.01, value: mu }, (value) => value.toFixed(2),
                (value) => this.put(`friction ${a} ${b}`, { do: "friction", a, b, mu: value })));
            this.sliders = made;
            into.replaceChildren(...made.map(({ row }) => row));
        }
        list.forEach(({ mu }, i) => this.sliders[i]?.set(mu));
    }

    update(state: State): void {
        this.setRunning(state.running);
        this.setters.forEach((set) => set(state));
        this.showForce(state.grab ?? null);
    }

    private showForce(grab: Grab | null): void {
        const note = byId("note");
        if (!this.holding) {
            return;
        }
        const at = this.view.camera.project(this.target.x, this.target.y, this.target.z);
        note.hidden = false;
        note.style.left = `${Math.min(at.x + 16, window.innerWidth - 150)}px`;
        note.style.top = `${Math.max(8, at.y - 48)}px`;
        const force = grab ? Math.hypot(...(grab.force as [number, number, number])) : 0;
        note.textContent = `force  ${withUnit(force, "N")}\ntorque ${withUnit(grab?.torque ?? 0, "N m")}`;
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
