// keys.ts - one table: what a key does, and what the help says about it.
import { byId, make } from "./dom";

export interface Key {
    keys: string[]; // as KeyboardEvent.key
    shown: string;
    text: string;
    run: () => void;
}

const MOUSE: [string, string][] = [
    ["drag", "rotate"],
    ["shift + drag, right drag", "pan"],
    ["wheel, pinch", "zoom"],
    ["click", "select a rod, a body or a contact"],
    ["live: drag a rod", "pull it; wheel or Q, E: twist it"],
];

const MOVES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

/** Whether an element makes something of a key itself, so that the table does not. */
function takes(at: HTMLElement, key: string): boolean {
    if (at instanceof HTMLSelectElement) {
        return true;
    }
    if (at instanceof HTMLInputElement && at.type === "range") {
        return MOVES.includes(key);
    }
    if (at instanceof HTMLInputElement) {
        return at.type !== "checkbox" || key === " ";
    }
    if (at.getAttribute("role") === "radio") {
        return MOVES.includes(key);
    }
    const isPressed = at instanceof HTMLButtonElement || at.tagName === "SUMMARY";
    return isPressed && (key === " " || key === "Enter");
}

/** After a click the keys are those of the table again: space plays. What Tab finds, space presses all the same. */
function giveFocusBack(event: MouseEvent): void {
    const at = (event.target as Element).closest<HTMLElement>("button, summary, label, input[type=checkbox]");
    const focused = at instanceof HTMLLabelElement ? at.control : at;
    if (event.detail > 0) { // 0: pressed by a key
        setTimeout(() => focused?.blur()); // a label gives the focus to its box after this
    }
}

/** `also` hears every key of the table, for those that stand for several. */
export function bindKeys(table: Key[], also: (key: string) => void): void {
    const body = byId("help-body");
    for (const [shown, text] of [...table.map((key) => [key.shown, key.text] as const), ...MOUSE]) {
        body.append(make("kbd", {}, shown), make("span", {}, text));
    }
    window.addEventListener("click", giveFocusBack);
    window.addEventListener("keydown", (event) => {
        const at = event.target as HTMLElement;
        if (takes(at, event.key) || event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        if (byId<HTMLDialogElement>("help").open && event.key !== "?" && event.key !== "h") {
            return; // its own: Esc closes it, arrows and space scroll it
        }
        const key = table.find(({ keys }) => keys.includes(event.key) || keys.includes(event.key.toLowerCase()));
        if (key) {
            event.preventDefault();
            key.run();
            also(event.key.toLowerCase());
        }
    });
}
