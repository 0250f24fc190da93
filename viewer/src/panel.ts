// panel.ts - the switches: colours, what is shown, theme, and whether the panel itself is open.
import { FIELDS } from "./colours";
import { byId, check, make, slider } from "./dom";
import type { View } from "./view";
import { withUnit } from "./units";

const NARROW = "(max-width: 720px)";
const THEME_KEY = "filum-theme";

/** One button for each field that the run knows: a group of radio buttons, of which Tab finds the chosen one and the
    arrows choose another. */
export function colourButtons(known: string[], choose: (name: string) => void): (name: string) => void {
    const buttons = FIELDS.filter(({ name }) => name === "rod" || known.includes(name)).map((field) => {
        const button = make("button", { title: field.unit ? `${field.label}, ${field.unit}` : field.label }, field.label);
        button.setAttribute("role", "radio");
        button.dataset["field"] = field.name;
        button.addEventListener("click", () => choose(field.name));
        return button;
    });
    const go = (from: number, key: string): number | null => {
        const last = buttons.length - 1;
        switch (key) {
        case "ArrowRight":
        case "ArrowDown":
            return from < last ? from + 1 : 0;
        case "ArrowLeft":
        case "ArrowUp":
            return from > 0 ? from - 1 : last;
        case "Home":
            return 0;
        case "End":
            return last;
        default:
            return null;
        }
    };
    byId("colours").append(...buttons);
    byId("colours").addEventListener("keydown", (event) => {
        const to = go(buttons.indexOf(event.target as HTMLButtonElement), event.key);
        if (to !== null) {
            event.preventDefault();
            choose(buttons[to]!.dataset["field"]!);
            buttons[to]!.focus();
        }
    });
    return (name) => {
        for (const button of buttons) {
            const isChosen = button.dataset["field"] === name;
            button.setAttribute("aria-checked", String(isChosen));
            button.tabIndex = isChosen ? 0 : -1;
        }
    };
}

export interface Switches {
    contacts: HTMLInputElement;
    forces: HTMLInputElement;
}

/** The switches of what is shown; contacts at first only where there are few rods; `again` asks for the frame with other arrays. */
export function showPanel(view: View, few: boolean, again: () => void): Switches {
    const touch = (act: () => void) => {
        act();
        view.touch();
    };
    const setContacts = () => {
        view.showContacts = contacts.checked || forces.checked;
        view.contacts.dots = contacts.checked;
        view.contacts.arrows = forces.checked;
        view.contacts.group.visible = view.showContacts;
        again();
    };
    view.showContacts = view.contacts.group.visible = few;
    const contacts = check("Contact points", "Where bodies touch (C)", few, setContacts);
    const forces = check("Contact forces", "Arrows: the force of b on a (A)", few, setContacts);
    const arrows = slider("Length of arrows", "Metres per newton", { min: -2, max: 2, step: 0.1, value: 0 },
        (value) => `× ${Number((10 ** value).toPrecision(2))}`,
        (value) => touch(() => {
            view.contacts.length = 10 ** value;
            view.contacts.select(view.selectedContact, view.coneSize);
        }));
    const bodies = check("Bodies", "Obstacles and rigid bodies", true, (on) => touch(() => {
        view.solids.bodies = on;
        view.shadows = shadows.checked;
    }));
    const clear = check("See through bodies", "To see contacts behind them (X)", false, (on) => touch(() => (view.solids.clear = on)));
    const grid = check("Ground and grid", "The side of a square is a round number (G)", true, (on) => touch(() => (view.solids.grid = on)));
    const shadows = check("Shadows", "Cast by rods and bodies", true, (on) => (view.shadows = on));
    const stripes = check("Line of the material frame", "A stripe along thick rods shows their twist", false,
        (on) => touch(() => (view.rods.stripes = on)));
    const thick = slider("Thickness of rods", "1 is true", { min: 0, max: 1.5, step: 0.05, value: 0 },
        (value) => (value === 0 ? "true" : `× ${Number((10 ** value).toPrecision(2))}`),
        (value) => touch(() => {
            view.thickness = 10 ** value;
            view.rods.thickness = view.thickness;
            view.shadows = shadows.checked;
        }));
    byId("show").append(contacts.row, forces.row, arrows.row, bodies.row, clear.row, grid.row, shadows.row, stripes.row, thick.row);
    return { contacts, forces };
}

/** What the theme paints that style sheets cannot. */
export function paintScene(view: View | null): void {
    const style = getComputedStyle(document.documentElement);
    view?.solids.paint(style.getPropertyValue("--floor").trim(), style.getPropertyValue("--grid").trim());
    view?.setBack(style.getPropertyValue("--back-flat").trim());
}

export function startTheme(): void {
    let chosen: string | null = null;
    try {
        chosen = localStorage.getItem(THEME_KEY);
    } catch {
        // a browser may refuse to remember
    }
    const light = matchMedia("(prefers-color-scheme: light)");
    document.documentElement.dataset["theme"] = chosen ?? (light.matches ? "light" : "dark");
}

export function toggleTheme(): void {
    const theme = document.documentElement.dataset["theme"] === "light" ? "dark" : "light";
    document.documentElement.dataset["theme"] = theme;
    try {
        localStorage.setItem(THEME_KEY, theme);
    } catch {
        // not remembered, then
    }
}

export function openPanel(open: boolean): void {
    byId("panel").classList.toggle("closed", !open);
    document.body.classList.toggle("panel-open", open);
    byId("do-panel").setAttribute("aria-expanded", String(open));
}

export function startPanel(onOpen: () => void): () => void {
    const toggle = () => {
        openPanel(byId("panel").classList.contains("closed"));
        onOpen();
    };
    openPanel(!matchMedia(NARROW).matches);
    byId("do-panel").addEventListener("click", toggle);
    return toggle;
}

export function isNarrow(): boolean {
    return matchMedia(NARROW).matches;
}

/** "knot: 3 rods, 300 points" */
export function aboutText(run: { rods: unknown[]; pointCount: number; step: number; version: string }): string {
    const plural = (n: number, word: string) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
    return `${plural(run.rods.length, "rod")}, ${plural(run.pointCount, "point")}, steps of ${withUnit(run.step, "s")}. Filum ${run.version}`;
}
