// overlays.ts - what lies flat on the picture: axes, scale bar, legend.
import { Vector3 } from "three";
import { STATE_COLOURS, colours, isDark } from "./colours";
import { byId, make } from "./dom";
import { prefixFor, roundDown, withUnit } from "./units";
import type { View } from "./view";

const AXES: [string, string, Vector3][] = [
    ["x", "#e5605e", new Vector3(1, 0, 0)],
    ["y", "#5fb870", new Vector3(0, 1, 0)],
    ["z", "#5b9df0", new Vector3(0, 0, 1)],
];

let drawnFor = ""; // the direction of view that the axes were drawn for

/** The directions of the axes, the nearest drawn last. */
export function drawAxes(view: View): void {
    const { azimuth, elevation } = view.camera;
    if (drawnFor === `${azimuth} ${elevation}`) {
        return;
    }
    drawnFor = `${azimuth} ${elevation}`;
    const canvas = byId<HTMLCanvasElement>("axes");
    const g = canvas.getContext("2d")!;
    const half = canvas.width / 2;
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.lineCap = "round";
    g.font = "600 22px system-ui, sans-serif";
    g.textAlign = "center";
    g.textBaseline = "middle";
    const turned = AXES.map(([name, colour, axis]) => ({
        name, colour, v: axis.clone().transformDirection(view.camera.camera.matrixWorldInverse),
    }));
    turned.sort((a, b) => a.v.z - b.v.z);
    for (const { name, colour, v } of turned) {
        const x = half + v.x * (half - 22), y = half - v.y * (half - 22);
        g.strokeStyle = g.fillStyle = colour;
        g.lineWidth = 5;
        g.beginPath();
        g.moveTo(half, half);
        g.lineTo(x, y);
        g.stroke();
        g.fillText(name, half + v.x * (half - 8), half - v.y * (half - 8));
    }
}

/** A round length that is 60 to 150 pixels long in the depth of the camera's target. */
export function drawScale(view: View): void {
    const pixel = view.camera.pixelAt(view.camera.distance);
    const length = roundDown(150 * pixel);
    const text = withUnit(length, "m"), wide = `${(length / pixel).toFixed(1)}px`;
    if (byId("scale-text").textContent !== text || byId("scale-bar").style.width !== wide) {
        byId("scale-text").textContent = text;
        byId("scale-bar").style.width = wide;
    }
}

const NAMES: [string, string][] = [
    [STATE_COLOURS.open, "free"], [STATE_COLOURS.stick, "sticks"], [STATE_COLOURS.slide, "slides"],
];

/** Three digits that can be typed again: 0.0123, 2.58e-5. */
function short(x: number): string {
    const size = Math.abs(x);
    return size !== 0 && (size < 1e-3 || size >= 1e5) ? String(Number(x.toPrecision(3)).toExponential()) : String(Number(x.toPrecision(3)));
}

export class Legend {
    private readonly low = byId<HTMLInputElement>("legend-low");
    private readonly high = byId<HTMLInputElement>("legend-high");
    onSize = (): void => {}; // it appeared or went
    private shown = "";
    private factor = 1; // of the unit's prefix: what is read and typed is in these

    constructor(private readonly view: View, again: () => void) {
        const take = () => {
            const low = Number(this.low.value) * this.factor, high = Number(this.high.value) * this.factor;
            if (Number.isFinite(low) && Number.isFinite(high) && high > low) {
                view.fixedRange = true;
                view.setRange([low, high]);
            }
            this.draw();
        };
        this.low.addEventListener("change", take);
        this.high.addEventListener("change", take);
        byId("legend-auto").addEventListener("click", () => {
            view.fixedRange = false;
            view.range = [NaN, NaN];
            again();
        });
        byId("legend-names").append(
            ...NAMES.map(([colour, name]) => {
                const dot = make("i", { className: "dot" });
                dot.style.background = colour;
                return make("span", {}, dot, name);
            }));
    }

    draw(): void {
        const { field, range, fixedRange } = this.view;
        const key = `${field.name} ${range} ${fixedRange} ${isDark()}`;
        if (key === this.shown) {
            return;
        }
        this.shown = key;
        const isName = field.scale === "states";
        const was = byId("legend").hidden;
        byId("legend").hidden = field.scale === "rods";
        byId("legend-names").hidden = !isName;
        byId("legend-bar").hidden = isName;
        byId("legend-auto").hidden = isName || !fixedRange;
        (this.low.parentElement as HTMLElement).hidden = isName;
        byId("legend-label").textContent = field.label;
        const { factor, prefix } = prefixFor(Math.max(Math.abs(range[0]), Math.abs(range[1])), field.unit);
        this.factor = factor;
        byId("legend-unit").textContent = prefix + field.unit;
        this.low.value = short(range[0] / factor);
        this.high.value = short(range[1] / factor);
        const bar = byId<HTMLCanvasElement>("legend-bar").getContext("2d")!;
        colours(field.scale, isDark()).forEach((rgb, i) => {
            bar.fillStyle = `rgb(${rgb.map(Math.round).join(",")})`;
            bar.fillRect(i, 0, 1, 1);
        });
        if (was !== byId("legend").hidden) {
            this.onSize();
        }
    }
}
