// selected.ts - what was clicked: a rod with its numbers and curves along it, a contact with its laws, a body.
import { byId, facts, make } from "./dom";
import { Plot } from "./plots";
import { BODY_KINDS, type ArrayName, type Frame, type RunInfo } from "./protocol";
import { STATE_COLOURS } from "./colours";
import type { Contact } from "./contacts";
import { withUnit } from "./units";

interface Along {
    label: string;
    unit: string;
    needs: ArrayName;
    colour: string;
    value: (frame: Frame, i: number) => number;
}

const ALONG: Along[] = [
    { label: "Tension", unit: "N", needs: "tension", colour: "#e5776a", value: (f, i) => f.arrays.tension![i]! },
    { label: "Curvature", unit: "1/m", needs: "curvature", colour: "#4fae8a",
      value: (f, i) => Math.hypot(f.arrays.curvature![3 * i + 1]!, f.arrays.curvature![3 * i + 2]!) },
    { label: "Twist", unit: "1/m", needs: "curvature", colour: "#9a7fd6", value: (f, i) => f.arrays.curvature![3 * i]! },
    { label: "Contact force", unit: "N", needs: "force", colour: "#ef8a4a", value: (f, i) => f.arrays.force![i]! },
    { label: "Speed", unit: "m/s", needs: "velocity", colour: "#4f9de0",
      value: (f, i) => Math.hypot(f.arrays.velocity![3 * i]!, f.arrays.velocity![3 * i + 1]!, f.arrays.velocity![3 * i + 2]!) },
];

/** What a frame must have for the curves of a rod. */
export const ALONG_NEEDS: ArrayName[] = [...new Set(ALONG.map((along) => along.needs))];

const STATES: [string, string][] = [
    [STATE_COLOURS.open, "nothing presses"], [STATE_COLOURS.stick, "sticks"], [STATE_COLOURS.slide, "slides"],
];

export class Selected {
    rod = -1;
    onClose = (): void => {};
    private readonly section = byId<HTMLDetailsElement>("sec-selected");
    private readonly body = byId("selected");
    private plots: { along: Along; plot: Plot; title: HTMLElement }[] = [];
    private numbers: HTMLElement | null = null;
    private picked: number | null = null; // arc length of the click

    constructor(private readonly run: RunInfo, private readonly s: Float32Array) {}

    private head(name: string, colour?: string): HTMLElement {
        const close = make("button", { className: "small", title: "Select nothing (Esc)" }, "close");
        close.addEventListener("click", () => this.onClose());
        const head = make("div", { className: "head" }, make("span", { title: name }, name), close);
        if (colour) {
            const dot = make("i", { className: "dot" });
            dot.style.background = colour;
            head.prepend(dot);
        }
        return head;
    }

    clear(): void {
        this.rod = -1;
        this.section.hidden = true;
        this.body.replaceChildren();
        this.plots = [];
        this.numbers = null;
    }

    private open(): void {
        this.clear();
        this.section.hidden = false;
        this.section.open = true;
    }

    showRod(rod: number, frame: Frame, point: number): void {
        this.open();
        this.rod = rod;
        this.picked = this.s[point] ?? null;
        const info = this.run.rods[rod]!;
        this.numbers = make("div");
        this.body.append(this.head(info.name || `rod ${rod}`), this.numbers);
        this.plots = ALONG.map((along) => {
            const title = make("div", { className: "plot-title" }, make("b", {}, along.label), make("i", {}, "along the rod"));
            const plot = new Plot(`${along.label} along the rod`, 72);
            this.body.append(title, plot.box);
            return { along, plot, title };
        });
        this.update(frame);
    }

    update(frame: Frame): void {
        if (this.rod < 0 || !this.numbers) {
            return;
        }
        const info = this.run.rods[this.rod]!;
        const first = info.firstPoint, count = info.pointCount;
        const rows: [string, string][] = [
            ["model", info.model],
            ["length", withUnit(info.length, "m")],
            ["section", info.ribbon
                ? `${withUnit(info.ribbon.width, "m")} × ${withUnit(info.ribbon.thickness, "m")}`
                : `radius ${withUnit(info.radius, "m")}`],
            ["contact radius", withUnit(info.contactRadius, "m")],
            ["points", String(count)],
        ];
        for (const { along, plot, title } of this.plots) {
            const known = frame.arrays[along.needs] !== undefined;
            plot.box.hidden = title.hidden = !known;
            if (!known) {
                continue;
            }
            let most = 0;
            for (let i = 0; i < count; i++) {
                const value = along.value(frame, first + i);
                most = Math.abs(value) > Math.abs(most) ? value : most;
            }
            rows.push([`greatest ${along.label.toLowerCase()}`, withUnit(most, along.unit)]);
            const curve = { label: along.label, colour: along.colour, y: (i: number) => along.value(frame, first + i) };
            plot.set({ count, x: (i) => this.s[first + i]!, curves: [curve], unit: along.unit, xUnit: "m" }, this.picked);
        }
        this.numbers.replaceChildren(facts(rows));
    }

    private nameOf(body: Contact["a"]): string {
        const kind = BODY_KINDS[body.kind] ?? "body";
        const list = kind === "rod" ? this.run.rods : kind === "rigid" ? this.run.rigids : kind === "obstacle" ? this.run.obstacles : [];
        const name = list[body.index]?.name || (kind === "world" ? "the world" : `${kind} ${body.index}`);
        return kind === "rod" ? `${name} at ${withUnit(body.s, "m")}` : name;
    }

    showContact(contact: Contact, present = true): void {
        this.open();
        const normal = contact.force.dot(contact.normal);
        const tangent = contact.force.clone().addScaledVector(contact.normal, -normal).length();
        const [colour, text] = present ? STATES[contact.state] ?? STATES[0]! : [STATE_COLOURS.open, "not in this frame"];
        const angle = (x: number) => `${((Math.atan(x) * 180) / Math.PI).toFixed(1)}°`;
        this.body.append(this.head(`Contact: ${text}`, colour), facts([
            ["a", this.nameOf(contact.a)],
            ["b", this.nameOf(contact.b)],
            ["normal force", withUnit(normal, "N")],
            ["friction force", withUnit(tangent, "N")],
            ["friction / normal", normal > 0 ? `${(tangent / normal).toFixed(4)} (${angle(tangent / normal)})` : "-"],
            ["friction coefficient", `${contact.mu.toPrecision(3)} (${angle(contact.mu)})`],
            ["gap", withUnit(contact.gap, "m")],
            ["slip speed", withUnit(contact.slip, "m/s")],
        ]), make("p", { className: "hint" },
            "The cone holds the forces that friction allows: inside, the contact sticks; on its surface, it slides. The arrow is the force of b on a."));
    }

    showSolid(from: "rigids" | "obstacles", index: number): void {
        this.open();
        const info = this.run[from][index]!;
        const rows: [string, string][] = [["kind", from === "rigids" ? "rigid body" : "obstacle"], ["shape", info.shape]];
        if (info.shape === "box") {
            rows.push(["size", info.size.map((x) => withUnit(x, "m")).join(" × ")]);
        }
        if (["sphere", "capsule", "cylinder"].includes(info.shape)) {
            rows.push(["radius", withUnit(info.radius, "m")]);
        }
        if (["capsule", "cylinder"].includes(info.shape)) {
            rows.push(["length", withUnit(info.length, "m")]);
        }
        this.body.append(this.head(info.name || `${from === "rigids" ? "body" : "obstacle"} ${index}`), facts(rows));
    }
}
