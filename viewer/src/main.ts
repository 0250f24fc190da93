// main.ts - joins the server, the picture and the panels.
//
// Two loops. The picture's: the clock of the replay runs, a live world is asked for its newest shape,
// and what changed is drawn. The heartbeat's: the server's state is asked for four times a second; it
// brings new frames, the numbers of a live world and the news that it is gone. Whatever fails becomes
// a sentence in the banner; a lost connection is tried again until it is back.
import { drawAxes, drawScale, Legend } from "./overlays";
import { FrameStore } from "./frames";
import { byId, make, whole } from "./dom";
import { bindKeys } from "./keys";
import { Live } from "./live";
import { aboutText, colourButtons, isNarrow, openPanel, paintScene, showPanel, startPanel, startTheme, toggleTheme } from "./panel";
import { Player, SPEEDS } from "./player";
import { Lost, Refused, Renewed, Server, type ArrayName, type Frame, type RunInfo, type State } from "./protocol";
import { ALONG_NEEDS, Selected } from "./selected";
import { TimePlots } from "./timeplots";
import { View } from "./view";

const HEARTBEAT = 250; // ms
const HEARTBEAT_PULLING = 80;
// bytes of frames kept; #memory=MiB in the address asks for less
const MEMORY = (Number(new URLSearchParams(location.hash.slice(1)).get("memory")) || 384) * 1024 * 1024;
const MANY_RODS = 200; // contacts would hide them
const PLAY_ICON = "M6 4l10 6-10 6z";
const PAUSE_ICON = "M6 4h3v12H6zM12 4h3v12h-3z";

const server = new Server(document.baseURI.replace(/[^/]*([?#].*)?$/, ""));

let dismissed: string | null = null; // what was read, and closed

function say(text: string | null, isError = false): void {
    const banner = byId("banner");
    dismissed = text === dismissed ? dismissed : null;
    banner.hidden = text === null || text === dismissed;
    if (byId("banner-text").textContent !== text) {
        byId("banner-text").replaceChildren(...whole(text ?? ""));
    }
    banner.classList.toggle("error", isError);
}

byId("banner-close").addEventListener("click", () => {
    dismissed = byId("banner-text").textContent;
    byId("banner").hidden = true;
});

function sentence(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

class App {
    readonly store = new FrameStore(server, MEMORY);
    readonly player = new Player(server, this.store);
    readonly view: View;
    readonly selected: Selected;
    readonly plots = new TimePlots(server);
    readonly live: Live | null;
    readonly legend: Legend;
    state: State | null = null;
    atNow: boolean; // a live world is shown as it is
    lost = false;
    private refused = false; // the banner says why an order was not taken
    private asking = false;
    private speedChosen = false; // by hand
    private nowTime = NaN;
    private readonly markColour: (name: string) => void;

    constructor(readonly run: RunInfo, s: Float32Array, meshes: Awaited<ReturnType<Server["mesh"]>>[]) {
        this.view = new View(byId<HTMLCanvasElement>("view"), run, meshes);
        document.body.classList.toggle("software", this.view.software);
        this.selected = new Selected(run, s);
        this.legend = new Legend(this.view, () => this.refresh());
        this.atNow = run.live;
        this.live = run.live ? new Live(server, this.view, s) : null;
        this.markColour = colourButtons(run.fields, (name) => this.setColour(name));
        this.markColour("rod");
        document.title = `${run.name || "run"} - Filum`;
        byId("name").textContent = run.name || "Filum";
        byId("look").replaceChildren(...whole(run.look));
        byId("sec-colour").hidden = run.rods.length === 0; // nothing to colour
        byId("about").textContent = aboutText(run);
        this.bindPlayer();
        this.bindView();
        this.bindKeys();
        this.store.need(this.needs);
    }

    get needs(): ArrayName[] {
        const more: ArrayName[] = this.selected.rod >= 0 ? ALONG_NEEDS : this.selected.solid ? ["contacts"] : [];
        return [...new Set([...this.view.needs, ...more])];
    }

    /** The frame on show again, with what is needed now. */
    refresh(): void {
        this.store.need(this.needs);
        if (this.atNow) {
            this.nowTime = NaN;
        } else {
            void this.player.refresh();
        }
    }

    private show(frame: Frame): void {
        this.view.show(frame);
        this.legend.draw();
        this.selected.update(frame);
        this.showSolid(frame);
        if (this.view.selectedContact) {
            const there = frame.arrays.contacts !== undefined && this.view.contacts.group.children[1]!.visible;
            this.selected.showContact(this.view.selectedContact, there);
        }
        this.plots.move(frame.time);
        this.live?.drawPull();
        this.showClock(frame);
    }

    // the speed of a body is that between this frame and the one beside it
    private showSolid(frame: Frame): void {
        if (!this.selected.solid) {
            return;
        }
        if (this.atNow) {
            this.selected.updateSolid(frame, null);
            return;
        }
        const k = frame.index > 0 ? frame.index - 1 : 1;
        const known = k < this.player.count ? this.store.peek(k) : undefined;
        this.selected.updateSolid(frame, known ?? null);
        if (!known && k < this.player.count && !this.player.playing) {
            void this.store.get(k).then((other) => this.view.frame === frame && this.selected.updateSolid(frame, other), () => {});
        }
    }

    private showClock(frame: Frame): void {
        const end = this.player.count > 0 ? this.player.times[this.player.count - 1]! : 0;
        const digits = Math.max(0, Math.min(5, 3 - Math.floor(Math.log10(Math.max(end, frame.time, 1e-3)))));
        const slow = this.live && this.live.pace < 0.9 ? `, ${Number(this.live.pace.toPrecision(2))}×` : "";
        const place = this.atNow ? `step ${frame.step}${slow}` : `${this.player.current + 1} / ${this.player.count}`;
        byId("clock").replaceChildren(`${frame.time.toFixed(digits)} s`, make("small", {}, place));
    }

    private bindPlayer(): void {
        const { player } = this;
        player.onFrame = (frame) => {
            if (!this.atNow) {
                this.show(frame);
            }
        };
        player.onError = (error) => this.fail(error);
        player.onState = () => this.showPlayer();
        const scrub = byId<HTMLInputElement>("scrub");
        scrub.addEventListener("input", () => {
            const frame = Number(scrub.value); // pausing writes the frame on show into it
            player.pause();
            void this.goto(frame);
        });
        const speed = byId<HTMLSelectElement>("speed");
        speed.append(...SPEEDS.map((s) => make("option", { value: String(s) }, s >= 1 ? `${s}×` : `1/${Math.round(1 / s)}×`)));
        speed.addEventListener("change", () => this.setSpeed(Number(speed.value)));
        byId("do-loop").addEventListener("click", () => this.toggleLoop());
        byId("do-play").addEventListener("click", () => this.playOrPause());
        byId("do-back").addEventListener("click", () => this.step(-1));
        byId("do-next").addEventListener("click", () => this.step(1));
        byId("do-now").addEventListener("click", () => this.goNow());
        this.plots.onTime = (t) => {
            player.pause();
            void this.goto(player.nearest(t));
        };
    }

    private showPlayer(): void {
        const { player } = this;
        const running = this.atNow ? (this.state?.running ?? true) && !this.live?.ended : player.playing;
        byId("play-icon").setAttribute("d", running ? PAUSE_ICON : PLAY_ICON);
        byId("do-play").setAttribute("aria-label", running ? "Pause" : "Play");
        const scrub = byId<HTMLInputElement>("scrub");
        scrub.max = String(Math.max(0, player.count - 1));
        scrub.value = String(this.atNow ? Math.max(0, player.count - 1) : player.current);
        byId<HTMLSelectElement>("speed").value = String(player.speed);
        byId<HTMLSelectElement>("speed").disabled = this.atNow; // it is that of a replay
        byId("do-now").hidden = !this.run.live;
        byId("do-now").setAttribute("aria-pressed", String(this.atNow));
        byId("do-loop").setAttribute("aria-pressed", String(player.loop));
    }

    private setSpeed(speed: number): void {
        this.player.speed = speed;
        this.speedChosen = true;
        this.showPlayer();
    }

    private toggleLoop(): void {
        this.player.loop = !this.player.loop;
        this.showPlayer();
    }

    playOrPause(): void {
        if (this.atNow && this.live && !this.live.ended) {
            this.live.toggle();
        } else {
            this.atNow = false;
            this.player.playing ? this.player.pause() : this.player.play();
        }
    }

    step(by: number): void {
        if (this.atNow && this.live && !this.live.ended && by > 0) {
            this.live.step();
            return;
        }
        this.player.pause();
        void this.goto((this.atNow ? this.player.count : this.player.current) + by);
    }

    goto(k: number): Promise<void> {
        this.atNow = false;
        return this.player.goto(k);
    }

    goNow(): void {
        if (this.run.live) {
            this.player.pause();
            this.atNow = true;
            this.nowTime = NaN;
            this.showPlayer();
        }
    }

    setColour(name: string): void {
        this.view.setField(name);
        this.markColour(name);
        this.refresh();
    }

    private bindView(): void {
        const { view, selected } = this;
        const camera = view.camera;
        camera.onClick = (x, y) => this.click(x, y);
        camera.onHover = (x, y) => {
            const many = this.run.pointCount > 20_000; // a cursor is not worth a search through hair
            view.canvas.classList.toggle("point", !many && view.pickAt(x, y) !== null);
        };
        if (this.live) {
            camera.claim = (x, y) => (this.atNow ? this.live!.claim(x, y) : null);
            this.live.onError = (error) => {
                dismissed = null; // a new order, a new answer
                this.fail(error);
            };
            this.live.onOrder = () => {
                this.showPlayer();
                if (this.refused) { // what was refused before is of no interest any more
                    this.refused = false;
                    say(this.state?.error ?? null);
                }
            };
        }
        view.onDraw = () => {
            drawAxes(view);
            drawScale(view);
            this.legend.draw();
        };
        selected.onClose = () => this.select(null);
        showPanel(view, this.run.rods.length <= MANY_RODS, () => this.refresh());
        window.addEventListener("resize", () => view.resize());
        view.canvas.addEventListener("webglcontextlost", (event) => {
            event.preventDefault();
            say("The browser stopped the graphics (WebGL). Reload the page to restart them.");
        });
    }

    click(x: number, y: number): void {
        this.select(this.view.pickAt(x, y));
    }

    select(hit: ReturnType<View["pickAt"]>): void {
        const { view, selected } = this;
        selected.clear();
        view.selectContact(-1);
        view.rods.selected = -1;
        this.follow(-1);
        view.touch();
        if (!hit || !view.frame) {
            return;
        }
        if (isNarrow()) {
            openPanel(true);
        }
        if (hit.kind === "rod") {
            view.rods.selected = hit.rod;
            selected.showRod(hit.rod, view.frame, hit.point + (hit.fraction > 0.5 ? 1 : 0));
            this.refresh();
        } else if (hit.kind === "contact") {
            const contact = view.selectContact(hit.index);
            if (contact) {
                selected.showContact(contact);
            }
        } else {
            selected.showSolid(hit.from, hit.index);
            this.showSolid(view.frame);
            this.refresh();
        }
        byId("sec-selected").scrollIntoView({ block: "nearest" });
    }

    follow(rod: number): void {
        this.view.follow(rod);
        byId("do-follow").setAttribute("aria-pressed", String(rod >= 0));
    }

    private bindKeys(): void {
        const { view } = this;
        const flip = (label: string) => [...document.querySelectorAll<HTMLLabelElement>("#show label")]
            .find((row) => row.textContent === label)?.querySelector("input")?.click();
        const fit = () => view.fit();
        const follow = () => this.follow(view.followed >= 0 ? -1 : this.selected.rod >= 0 ? this.selected.rod : this.run.rods.length > 0 ? 0 : -1);
        const theme = () => {
            toggleTheme();
            paintScene(view);
            this.plots.redraw();
            if (view.frame) {
                this.selected.update(view.frame);
            }
        };
        const help = () => {
            const dialog = byId<HTMLDialogElement>("help");
            dialog.open ? dialog.close() : dialog.showModal();
            byId("help-body").scrollTop = 0;
        };
        const room = () => {
            this.plots.redraw();
            const panel = byId("panel"), bar = byId("bar").offsetHeight;
            const beside = isNarrow() || panel.classList.contains("closed") ? 0 : panel.offsetWidth + 14;
            const below = isNarrow() && panel.offsetHeight > 0 ? panel.offsetHeight + 6 : 0; // a phone has it under the picture
            const legend = isNarrow() ? byId("legend").offsetHeight : 0; // 0 where there is none
            document.body.style.setProperty("--bar", `${bar}px`);
            document.body.style.setProperty("--under", `${bar + below}px`);
            view.camera.setInset({ top: isNarrow() ? 50 : 20, right: beside, bottom: bar + below + 14 + 0.6 * legend });
        };
        this.legend.onSize = room;
        const panel = startPanel(room);
        room();
        const sizes = new ResizeObserver(room);
        sizes.observe(byId("panel"));
        sizes.observe(byId("bar"));
        window.addEventListener("resize", room);
        byId("do-fit").addEventListener("click", fit);
        byId("do-follow").addEventListener("click", follow);
        byId("do-theme").addEventListener("click", theme);
        byId("do-help").addEventListener("click", help);
        paintScene(view);
        const names = ["rod", ...this.run.fields.filter((name) => name !== "rod")];
        bindKeys([
            { keys: [" "], shown: "space", text: "play or pause", run: () => this.playOrPause() },
            { keys: [",", "ArrowLeft"], shown: ", ←", text: "one frame back", run: () => this.step(-1) },
            { keys: [".", "ArrowRight"], shown: ". →", text: "one frame on", run: () => this.step(1) },
            { keys: ["Home"], shown: "Home", text: "first frame", run: () => void this.goto(0) },
            { keys: ["End"], shown: "End", text: "last frame", run: () => void this.goto(this.player.count - 1) },
            { keys: ["[", "]"], shown: "[ ]", text: "slower, faster", run: () => {} },
            { keys: ["1", "2", "3", "4", "5", "6", "7", "8"], shown: "1 - 8", text: "colour by", run: () => {} },
            { keys: ["l"], shown: "L", text: "loop", run: () => this.toggleLoop() },
            { keys: ["f"], shown: "F", text: "show all", run: fit },
            { keys: ["o"], shown: "O", text: "follow the selected rod", run: follow },
            { keys: ["c"], shown: "C", text: "contact points", run: () => flip("Contact points") },
            { keys: ["a"], shown: "A", text: "contact forces", run: () => flip("Contact forces") },
            { keys: ["x"], shown: "X", text: "see through bodies", run: () => flip("See through bodies") },
            { keys: ["g"], shown: "G", text: "ground and grid", run: () => flip("Ground and grid") },
            { keys: ["n"], shown: "N", text: "live: show the running world", run: () => this.goNow() },
            { keys: ["q", "e"], shown: "Q E", text: "live: twist the rod that is held", run: () => {} },
            { keys: ["d"], shown: "D", text: "dark or light", run: theme },
            { keys: ["p"], shown: "P", text: "panel", run: panel },
            { keys: ["Escape"], shown: "Esc", text: "deselect", run: () => this.select(null) },
            { keys: ["?", "h"], shown: "?", text: "this help", run: help },
        ], (key) => {
            const digit = Number(key);
            if (digit >= 1 && names[digit - 1] && this.run.rods.length > 0) {
                this.setColour(names[digit - 1]!);
            }
            if (key === "[" || key === "]") {
                const at = SPEEDS.indexOf(this.player.speed) + (key === "[" ? 1 : -1);
                this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]!);
            }
            if (key === "q" || key === "e") {
                this.live?.turn(key === "q" ? -Math.PI / 12 : Math.PI / 12);
            }
        });
    }

    fail(error: unknown): void {
        if (error instanceof Lost) {
            this.lost = true;
            say(this.live?.ended ? "The run has ended, and so has Filum. filum view shows its result."
                : "The connection to Filum is lost. Trying again...");
        } else if (error instanceof Renewed) {
            this.lost = true;
            say(error.message);
        } else {
            this.refused = true;
            say(sentence(error));
        }
    }

    /** Ask for the newest shape of a live world, one question at a time. */
    private async askNow(): Promise<void> {
        const stale = this.state?.running || this.state?.time !== this.nowTime || Number.isNaN(this.nowTime);
        if (this.asking || this.lost || !stale) {
            return;
        }
        this.asking = true;
        try {
            const frame = await server.now(this.needs);
            this.nowTime = frame.time;
            if (this.atNow) {
                this.show(frame);
            }
        } catch (error) {
            this.fail(error);
        } finally {
            this.asking = false;
        }
    }

    async beat(): Promise<void> {
        const before = this.state;
        this.state = await server.state();
        if (this.lost) {
            this.lost = false;
            say(null);
            this.refresh();
        }
        if (this.state.error !== before?.error) {
            say(this.state.error);
        }
        const first = this.player.count === 0;
        const atEnd = !this.atNow && !this.player.playing && !first && this.player.current === this.player.count - 1;
        const known = this.player.count;
        await this.player.learn(this.state.frames);
        if (this.player.count !== known && !this.player.playing && !this.speedChosen) {
            this.player.chooseSpeed();
        }
        if (this.player.count !== known && this.view.frame) {
            this.showClock(this.view.frame);
        }
        if (first && this.player.count > 0 && !this.atNow) {
            await this.sample();
            await this.goto(0);
        } else if (atEnd && this.state.growing && this.player.current < this.player.count - 1) {
            await this.goto(this.player.count - 1);
        }
        this.live?.update(this.state);
        byId("told").textContent = this.state.note ?? "";
        this.showPlayer();
        await this.plots.learn(this.state.steps, this.state.frames);
    }

    // some frames from all over the run say how large it is
    private async sample(): Promise<void> {
        const last = this.player.count - 1;
        const few = [...new Set([0, 0.25, 0.5, 0.75, 1].map((t) => Math.round(t * last)))];
        this.view.sample = await Promise.all(few.map((k) => server.frame(k, ["position", "rigids", "obstacles"])));
    }

    async heart(): Promise<never> {
        for (;;) {
            try {
                await this.beat();
            } catch (error) {
                this.fail(error);
            }
            await wait(this.live?.holding ? HEARTBEAT_PULLING : this.lost ? 1000 : HEARTBEAT);
        }
    }

    picture = (): void => {
        requestAnimationFrame(this.picture);
        this.player.tick();
        if (this.atNow) {
            void this.askNow();
        }
        this.view.draw();
    };
}

/** What tests drive. */
function hook(app: App): void {
    const { view } = app;
    Object.assign(window, {
        filum: {
            ready: true,
            state: () => ({
                frame: app.player.current, frames: app.player.count, playing: app.player.playing, atNow: app.atNow,
                time: view.frame?.time ?? NaN, index: view.frame?.index ?? -1, colour: view.field.name, range: [...view.range],
                selectedRod: app.selected.rod, selectedContact: view.selectedContact?.index ?? -1, contacts: view.frame?.contactCount ?? 0,
                lost: app.lost, server: app.state, tubes: view.rods.tubeCount, kept: app.store.keptCount, bytes: app.store.bytes,
                uploadMs: view.rods.uploadMs, drawMs: view.drawMs, followed: view.followed, settled: view.settled,
            }),
            goto: async (k: number) => {
                app.player.pause();
                await app.goto(k);
                view.draw();
            },
            setColour: (name: string) => app.setColour(name),
            project: (point: [number, number, number]) => view.camera.project(...point),
            point: (i: number) => [...(view.frame?.arrays.position?.subarray(3 * i, 3 * i + 3) ?? [])],
            array: (name: ArrayName) => [...(view.frame?.arrays[name] ?? [])],
            values: () => [...view.values],
            times: () => [...app.player.times],
            frameAt: (t: number) => app.player.frameAt(t),
            cone: () => view.contacts.shape,
            target: () => view.camera.target.toArray(),
            contact: (i: number) => [...(view.frame?.arrays.contacts?.subarray(20 * i, 20 * i + 20) ?? [])],
            pickAt: (x: number, y: number) => view.pickAt(x, y),
            camera: ({ at, ...set }: Partial<{ azimuth: number; elevation: number; distance: number; at: [number, number, number] }>) => {
                Object.assign(view.camera, set);
                view.camera.target.set(...(at ?? view.camera.target.toArray()));
                view.touch();
            },
            bench: (count: number, fresh: boolean) => view.bench(count, fresh),
            fps: () => view.fps,
            quality: () => view.quality,
        },
    });
}

async function start(): Promise<void> {
    startTheme();
    for (;;) {
        try {
            const run = await server.run();
            const { s } = await server.points(run.pointCount);
            const meshes = await Promise.all(Array.from({ length: run.meshCount }, (_, k) => server.mesh(k)));
            say(null);
            const app = new App(run, s, meshes);
            await app.beat().catch((error: unknown) => app.fail(error));
            hook(app);
            app.picture();
            void app.heart();
            return;
        } catch (error) {
            if (!(error instanceof Lost)) {
                say(sentence(error), true);
                if (!(error instanceof Refused && error.status >= 500)) {
                    return;
                }
            } else {
                say("Filum does not answer. Trying again...");
            }
            await wait(1000);
        }
    }
}

void start();
