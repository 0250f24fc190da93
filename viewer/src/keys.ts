// keys.ts - one table: what a key does, and what the help says about it.
import { byId, make } from "./dom";

export interface Key {
    keys: string[]; // as KeyboardEvent.key
    shown: string;
    text: string;
    run: () => void;
}

const MOUSE: [string, string][] = [
    ["drag", "turn"],
    ["shift + drag, right drag", "move"],
    ["wheel, pinch", "come closer or go away"],
    ["click", "ask about a rod, a body or a contact"],
    ["live: drag a rod", "pull it; wheel or Q, E: twist it"],
];

/** `also` hears every key of the table, for those that stand for several. */
export function bindKeys(table: Key[], also: (key: string) => void): void {
    const body = byId("help-body");
    for (const [shown, text] of [...table.map((key) => [key.shown, key.text] as const), ...MOUSE]) {
        body.append(make("kbd", {}, shown), make("span", {}, text));
    }
    window.addEventListener("keydown", (event) => {
        const at = event.target as HTMLElement;
        const typing = at instanceof HTMLInputElement && at.type !== "range" && at.type !== "checkbox";
        const pressing = at instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter");
        if (typing || pressing || at instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) {
            return;
        }
        if (byId<HTMLDialogElement>("help").open && event.key !== "?" && event.key !== "h") {
            return; // its own: Esc closes it, arrows and space scroll it
        }
        if (at.id === "scrub" && event.key.startsWith("Arrow")) {
            return;
        }
        const key = table.find(({ keys }) => keys.includes(event.key) || keys.includes(event.key.toLowerCase()));
        if (key) {
            event.preventDefault();
            key.run();
            also(event.key.toLowerCase());
        }
    });
}
