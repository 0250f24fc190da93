// dom.ts - elements in one line each.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
    return document.getElementById(id) as T;
}

type Child = Node | string;

export function make<K extends keyof HTMLElementTagNameMap>(
    tag: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
}

/** A table of names and values. */
export function facts(rows: [string, string][]): HTMLElement {
    return make("dl", { className: "facts" }, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** A line with a check box. */
export function check(label: string, title: string, on: boolean, change: (on: boolean) => void): HTMLInputElement & { row: HTMLElement } {
    const box = make("input", { type: "checkbox", checked: on });
    box.addEventListener("change", () => change(box.checked));
    const row = make("label", { className: "row", title }, make("span", {}, label), box);
    return Object.assign(box, { row });
}

/** A line with a slider; `text` writes its value. */
export function slider(
    label: string, title: string, limits: { min: number; max: number; step: number; value: number },
    text: (value: number) => string, change: (value: number) => void,
): { row: HTMLElement; set(value: number): void; input: HTMLInputElement } {
    const input = make("input", { type: "range" });
    Object.assign(input, { min: String(limits.min), max: String(limits.max), step: String(limits.step) });
    input.value = String(limits.value);
    input.setAttribute("aria-label", label);
    const output = make("output", {}, text(limits.value));
    let moving = false; // a hand is on it
    input.addEventListener("change", () => (moving = false));
    input.addEventListener("input", () => {
        moving = true;
        output.textContent = text(Number(input.value));
        change(Number(input.value));
    });
    return {
        row: make("div", { className: "row", title }, make("span", {}, label), input, output),
        input,
        set(value: number) {
            if (!moving) {
                input.value = String(value);
                output.textContent = text(value);
            }
        },
    };
}

/** Text in which words with hyphens in front, options of the program, do not break: it can be copied as it is. */
export function whole(text: string): Child[] {
    return text.split(/(\S*--\S+)/).map((part, i) => (i % 2 === 1 ? make("span", { className: "whole" }, part) : part));
}
