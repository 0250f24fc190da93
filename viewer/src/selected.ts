// selected.ts - what was clicked: a rod with its numbers and curves along it, a contact with its laws, a body.
import { byId, facts, make } from "./dom";
import { Plot } from "./plots";
import { BODY_KINDS, CONTACT, type ArrayName, type Frame, type RunInfo } from "./protocol";
import { STATE_COLOURS } from "./colours";
import type { Contact } from "./contacts";
import { prefixFor, withUnit } from "./units";

interface Along {
    label: string;
    unit: string;
    needs: ArrayName;
    colour: string;
    value: (frame: Frame, i: number) => number;
}

const ALONG: Along[] = [
    { label: "Tension", unit: "N", needs: "tension", colour: "--red", value: (f, i) => f.arrays.tension![i]! },
    { label: "Curvature", unit: "1/m", needs: "curvature", colour: "--sea",
      value: (f, i) => Math.hypot(f.arrays.curvature![3 * i + 1]!, f.arrays.curvature![3 * i + 2]!) },
    { label: "Twist", unit: "1/m", needs: "curvature", colour: "--violet", value: (f, i) => f.arrays.curvature![3 * i]! },
    { label: "Contact force", unit: "N", needs: "force", colour: "--orange", value: (f, i) => f.arrays.force![i]! },
    { label: "Speed", unit: "m/s", needs: "velocity", colour: "--blue",
      value: (f, i) => Math.hypot(f.arrays.velocity![3 * i]!, f.arrays.velocity![3 * i + 1]!, f.arrays.velocity![3 * i + 2]!) },
];

/** What a frame must have for the curves of a rod. */
export const ALONG_NEEDS: ArrayName[] = [...new Set(ALONG.map((along) => along.needs))];

const STATES: [string, string][] = [
    [STATE_COLOURS.open, "nothing presses"], [STATE_COLOURS.stick, "sticks"], [STATE_COLOURS.slide, "slides"],
];

const NOW_INDEX = 0xffffffff;

/** The contacts of one body: how many, how many of them press, and the sum of their forces on it, N. */
function contactsOn(rows: Float32Array, kind: number, index: number): { count: number; pressing: number; force: [number, number, number] } {
    const force: [number, number, number] = [0, 0, 0];
    let count = 0, pressing = 0;
    for (let i = 0; i < rows.length; i += CONTACT.width) {
        const isA = rows[i + CONTACT.aKind] === kind && rows[i + CONTACT.aIndex] === index;
        const isB = rows[i + CONTACT.bKind] === kind && rows[i + CONTACT.bIndex] === index;
        if (isA || isB) {
            count++;
            pressing += rows[i + CONTACT.state]! > 0 ? 1 : 0;
            force.forEach((_, k) => (force[k]! += ((isA ? 1 : 0) - (isB ? 1 : 0)) * rows[i + CONTACT.force + k]!));
        }
    }
    return { count, pressing, force };
}

export class Selected {
    rod = -1;
    onClose = (): void => {};
    private readonly section = byId<HTMLDetailsElement>("sec-selected");
    private readonly body = byId("selected");
    private plots: { along: Along; plot: Plot; title: HTMLElement }[] = [];
    private numbers: HTMLElement | null = null;
    solid: { from: "rigids" | "obstacles"; index: number } | null = null;
    private fixed: [string, string][] = []; // what does not change about it
    private before: Frame | null = null; // a live world's frame before the one on show
    private now: Frame | null = null;
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
        this.solid = this.before = this.now = null;
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
        this.numbers = make("div");
        this.fixed = rows;
        this.solid = { from, index };
        this.body.append(this.head(info.name || `${from === "rigids" ? "body" : "obstacle"} ${index}`), this.numbers);
    }

    /** Place, speed and contacts of the body in a frame; `other` is a frame beside it, null: the one shown before. */
    updateSolid(frame: Frame, other: Frame | null): void {
        if (!this.solid || !this.numbers) {
            return;
        }
        if (frame !== this.now) {
            this.before = this.now;
            this.now = frame;
        }
        const { from, index } = this.solid;
        const placeIn = (f: Frame | null) => f?.arrays[from]?.subarray(7 * index, 7 * index + 3);
        const beside = other ?? (frame.index === NOW_INDEX ? this.before : null);
        const place = placeIn(frame), then = placeIn(beside);
        const rows = [...this.fixed];
        if (place && this.run[from][index]!.shape !== "plane") {
            const size = Math.max(...place.map(Math.abs));
            const { factor, prefix } = prefixFor(size, "m");
            rows.push(["place", `${[...place].map((x) => Number((x / factor).toFixed(2))).join(", ")} ${prefix}m`]);
            const time = Math.abs(frame.time - (beside?.time ?? frame.time));
            const way = then ? Math.hypot(place[0]! - then[0]!, place[1]! - then[1]!, place[2]! - then[2]!) : NaN;
            const least = 1e-7 * size; // m: less cannot be told in the numbers of a frame
            rows.push(["speed", time > 0 ? withUnit(way > least ? way / time : 0, "m/s") : "-"]);
        }
        if (frame.arrays.contacts) {
            const { count, pressing, force } = contactsOn(frame.arrays.contacts, from === "rigids" ? 2 : 3, index);
            rows.push(["contacts", `${count}, ${pressing} press${pressing === 1 ? "es" : ""}`]);
            rows.push(["contact force on it", withUnit(Math.hypot(...force), "N")]);
        }
        this.numbers.replaceChildren(facts(rows));
    }
}
