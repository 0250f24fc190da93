// plots.ts - curves on a canvas, small and quick.
//
// A plot has one x (time, or arc length) and some lines over it. What is wider than the canvas is
// drawn by its least and greatest value in each column, so a million steps cost a thousand strokes
// and no peak is lost. The cursor is where the frame on show is; a click says where to go. The cursor
// is an element of its own, so that playing moves it and draws no curve again.
import { make } from "./dom";
import { withUnit } from "./units";

export interface Curve {
    label: string;
    colour: string; // its name in the style sheet, which has one for each theme
    y: (i: number) => number;
}

export interface PlotData {
    count: number;
    x: (i: number) => number;
    curves: Curve[];
    unit: string;
    xUnit: string;
    log?: boolean;
}

const EDGE = { left: 52, right: 8, top: 6, bottom: 17 };

interface Tick {
    at: number; // on the axis: of a log axis, the power of ten
    text: string;
}

/** Multiples of `step` in a range, with the digits that tell them apart. */
function multiples(low: number, high: number, step: number, unit: string): Tick[] {
    const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
    const count = Math.max(3, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1);
    return Array.from({ length: Math.min(20, Math.max(0, last - first + 1)) }, (_, i) => {
        const at = (first + i) * step;
        return { at, text: withUnit(at, unit, Math.min(count, 12)) };
    });
}

/** About `wanted` ticks at 1, 2 or 5 times a power of ten, and never fewer than two: one alone says nothing. */
export function ticks(low: number, high: number, wanted: number, unit: string): Tick[] {
    const rough = (high - low) / wanted;
    if (!(rough > 0) || !Number.isFinite(rough)) {
        return [{ at: low, text: withUnit(low, unit) }];
    }
    const power = 10 ** Math.floor(Math.log10(rough));
    const coarse = [1, 2, 5, 10].find((k) => k * power >= rough) ?? 10;
    const steps = [10, 5, 2, 1, 0.5, 0.2, 0.1].filter((k) => k <= coarse).map((k) => k * power);
    const found = steps.map((step) => multiples(low, high, step, unit)).find((list) => list.length >= 2);
    return found ?? [low, high].map((at) => ({ at, text: withUnit(at, unit) }));
}

/** Of a log axis from 10^low to 10^high: whole powers; where they are too few, 2 and 5 times them, or the ends. */
export function logTicks(low: number, high: number, wanted: number): Tick[] {
    const every = Math.max(1, Math.ceil((high - low) / (wanted + 1)));
    const powers = (digits: number[], step: number): Tick[] => {
        const out: Tick[] = [];
        for (let k = Math.floor(low / step) * step; k <= high; k += step) {
            digits.forEach((d) => out.push({ at: k + Math.log10(d), text: `${d}e${k}` }));
        }
        return out.filter(({ at }) => at >= low && at <= high);
    };
    const found = [powers([1], every), powers([1], 1), powers([1, 2, 5], 1)].find((list) => list.length >= 2);
    return found ?? [low, high].map((at) => ({ at, text: (10 ** at).toExponential(1) }));
}

export class Plot {
    readonly canvas = document.createElement("canvas");
    private readonly needle = make("i", { className: "needle" });
    readonly box = make("div", { className: "plot-box" }, this.canvas, this.needle);
    onPick = (_x: number): void => {};
    private data: PlotData | null = null;
    private cursor: number | null = null;
    private hover: number | null = null;
    private xs: [number, number] = [0, 1];
    private ys: [number, number] = [0, 1];

    constructor(label: string, private readonly height = 96) {
        this.canvas.className = "plot";
        this.canvas.style.height = `${height}px`;
        this.canvas.setAttribute("role", "img");
        this.canvas.setAttribute("aria-label", label);
        const go = (event: PointerEvent) => {
            if (this.data && event.buttons & 1) {
                this.onPick(this.toX(event.offsetX));
            }
        };
        this.canvas.addEventListener("pointerdown", (event) => {
            this.canvas.setPointerCapture(event.pointerId);
            go(event);
        });
        this.canvas.addEventListener("pointermove", (event) => {
            this.hover = event.offsetX;
            go(event);
            this.draw();
        });
        this.canvas.addEventListener("pointerleave", () => {
            this.hover = null;
            this.draw();
        });
    }

    set(data: PlotData, cursor: number | null = this.cursor): void {
        this.data = data;
        this.cursor = cursor;
        this.measure();
        this.draw();
    }

    move(cursor: number | null): void {
        if (cursor !== this.cursor) {
            this.cursor = cursor;
            this.drawCursor();
        }
    }

    private drawCursor(): void {
        const { cursor, xs, needle } = this;
        const width = this.canvas.clientWidth - EDGE.left - EDGE.right;
        const isIn = cursor !== null && cursor >= xs[0] && cursor <= xs[1] && width > 20;
        needle.hidden = !isIn;
        if (isIn) {
            needle.style.transform = `translateX(${(EDGE.left + (width * (cursor - xs[0])) / (xs[1] - xs[0])).toFixed(1)}px)`;
        }
    }

    private toX(pixel: number): number {
        const width = this.canvas.clientWidth - EDGE.left - EDGE.right;
        const t = Math.min(1, Math.max(0, (pixel - EDGE.left) / Math.max(1, width)));
        return this.xs[0] + t * (this.xs[1] - this.xs[0]);
    }

    private measure(): void {
        const data = this.data!;
        let low = Infinity, high = -Infinity;
        for (const curve of data.curves) {
            for (let i = 0; i < data.count; i++) {
                const y = data.log ? Math.log10(Math.max(curve.y(i), 1e-17)) : curve.y(i);
                if (Number.isFinite(y) && !(data.log && curve.y(i) <= 0)) {
                    low = Math.min(low, y);
                    high = Math.max(high, y);
                }
            }
        }
        if (!(high >= low)) {
            [low, high] = [0, 1];
        }
        if (!data.log && low > 0 && low < 0.6 * high) {
            low = 0;
        }
        const isFlat = !(high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high)));
        const pad = !isFlat ? 0.04 * (high - low) : data.log ? 1 : 0.5 * Math.abs(high) || 1;
        this.ys = [low === 0 ? 0 : low - pad, high + pad];
        this.xs = data.count > 0 ? [data.x(0), data.x(data.count - 1)] : [0, 1];
        if (!(this.xs[1] > this.xs[0])) {
            this.xs = [this.xs[0], this.xs[0] + 1];
        }
    }

    draw(): void {
        const data = this.data;
        const width = this.canvas.clientWidth;
        const ratio = window.devicePixelRatio || 1;
        if (!data || width < EDGE.left + 20) {
            return;
        }
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(this.height * ratio);
        }
        const g = this.canvas.getContext("2d")!;
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        g.clearRect(0, 0, width, this.height);
        const style = getComputedStyle(this.canvas);
        const faint = style.getPropertyValue("--line"), text = style.getPropertyValue("--soft");
        const w = width - EDGE.left - EDGE.right, h = this.height - EDGE.top - EDGE.bottom;
        const px = (x: number) => EDGE.left + (w * (x - this.xs[0])) / (this.xs[1] - this.xs[0]);
        const py = (y: number) => EDGE.top + h - (h * ((data.log ? Math.log10(Math.max(y, 1e-17)) : y) - this.ys[0])) / (this.ys[1] - this.ys[0]);
        this.axes(g, { w, h, px, faint, text });
        g.save();
        g.beginPath();
        g.rect(EDGE.left, EDGE.top - 2, w, h + 4);
        g.clip();
        for (const curve of data.curves) {
            g.strokeStyle = style.getPropertyValue(curve.colour);
            this.stroke(g, curve, px, py, w);
        }
        g.restore();
        this.marks(g, px, py, text);
        this.drawCursor();
    }

    private axes(g: CanvasRenderingContext2D, at: { w: number; h: number; px: (x: number) => number; faint: string; text: string }): void {
        const data = this.data!;
        g.font = "10px system-ui, sans-serif";
        g.strokeStyle = at.faint;
        g.fillStyle = at.text;
        g.lineWidth = 1;
        g.textAlign = "right";
        g.textBaseline = "middle";
        const up = data.log ? logTicks(this.ys[0], this.ys[1], 3) : ticks(this.ys[0], this.ys[1], 3, data.unit);
        for (const { at: value, text } of up) {
            const y = EDGE.top + at.h - (at.h * (value - this.ys[0])) / (this.ys[1] - this.ys[0]);
            g.beginPath();
            g.moveTo(EDGE.left, Math.round(y) + 0.5);
            g.lineTo(EDGE.left + at.w, Math.round(y) + 0.5);
            g.stroke();
            g.fillText(text, EDGE.left - 5, y);
        }
        g.textBaseline = "top";
        const across = ticks(this.xs[0], this.xs[1], Math.max(2, at.w / 90), data.xUnit);
        across.forEach(({ at: value, text }) => {
            const x = at.px(value);
            g.textAlign = x > EDGE.left + at.w - 20 ? "right" : x < EDGE.left + 16 ? "left" : "center";
            g.fillText(text, x, EDGE.top + at.h + 4);
        });
        this.canvas.dataset["ticks"] = `${up.map(({ text }) => text).join(", ")} | ${across.map(({ text }) => text).join(", ")}`;
    }

    private stroke(g: CanvasRenderingContext2D, curve: Curve, px: (x: number) => number, py: (y: number) => number, w: number): void {
        const data = this.data!;
        g.lineWidth = 1.5;
        g.lineJoin = "round";
        g.beginPath();
        const dense = data.count > 2 * w;
        let column = -1, low = 0, high = 0, started = false;
        for (let i = 0; i < data.count; i++) {
            const y = curve.y(i);
            if (!Number.isFinite(y) || (data.log && y <= 0)) {
                started = false;
                continue;
            }
            const x = px(data.x(i));
            if (!dense) {
                started ? g.lineTo(x, py(y)) : g.moveTo(x, py(y));
                started = true;
                continue;
            }
            if (Math.round(x) !== column) {
                if (column >= 0) {
                    started ? g.lineTo(column, py(low)) : g.moveTo(column, py(low));
                    g.lineTo(column, py(high));
                    started = true;
                }
                column = Math.round(x);
                low = high = y;
            }
            low = Math.min(low, y);
            high = Math.max(high, y);
        }
        g.stroke();
    }

    private nearest(x: number): number {
        const data = this.data!;
        let low = 0, high = data.count - 1;
        while (low < high) {
            const middle = (low + high) >> 1;
            data.x(middle) < x ? (low = middle + 1) : (high = middle);
        }
        return low > 0 && x - data.x(low - 1) < data.x(low) - x ? low - 1 : low;
    }

    // the values under the mouse
    private marks(g: CanvasRenderingContext2D, px: (x: number) => number, py: (y: number) => number, text: string): void {
        const data = this.data!;
        if (this.hover === null || data.count === 0) {
            return;
        }
        const i = this.nearest(this.toX(this.hover));
        const x = px(data.x(i));
        const words = data.curves.map((curve) => `${data.curves.length > 1 ? `${curve.label} ` : ""}${withUnit(curve.y(i), data.unit)}`);
        words.unshift(withUnit(data.x(i), data.xUnit));
        g.font = "11px system-ui, sans-serif";
        const wide = Math.max(...words.map((word) => g.measureText(word).width)) + 12;
        const left = x + wide + 10 > this.canvas.clientWidth ? x - wide - 8 : x + 8;
        const style = getComputedStyle(this.canvas);
        g.fillStyle = style.getPropertyValue("--panel-solid");
        g.strokeStyle = style.getPropertyValue("--line");
        g.beginPath();
        g.roundRect(left, 2, wide, 14 * words.length + 6, 4);
        g.fill();
        g.stroke();
        g.textAlign = "left";
        g.textBaseline = "top";
        words.forEach((word, k) => {
            g.fillStyle = k === 0 ? text : style.getPropertyValue(data.curves[k - 1]!.colour);
            g.fillText(word, left + 6, 5 + 14 * k);
        });
        data.curves.forEach((curve) => {
            g.fillStyle = style.getPropertyValue(curve.colour);
            g.beginPath();
            g.arc(x, py(curve.y(i)), 2.5, 0, 7);
            g.fill();
        });
    }
}
