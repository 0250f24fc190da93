// view.ts - the picture: rods, solids, contacts and light in one scene, drawn only when something changed.
import { Group, Scene, Vector2, Vector3, WebGLRenderer } from "three";
import { OrbitCamera } from "./camera";
import { fieldNamed, isDark, lutTexture, rangeOf, type Field } from "./colours";
import { Contacts, arrowMesh, contactOf, sameContact, type Contact } from "./contacts";
import { Pace } from "./pace";
import { pick, type Picked } from "./pick";
import type { ArrayName, Frame, Mesh as MeshData, RunInfo } from "./protocol";
import { Rods } from "./rods";
import { Shadow, light } from "./shade";
import { Solids } from "./solids";

// Without a graphics card, drawing takes a hundred times as long: strands by painter.ts, a smaller
// ground, and no more pixels than the window has. While things move, shadows are small, have hard edges
// and follow every fourth picture. Where that is still not enough, with or without a card, moving
// pictures get fewer pixels (pace.ts). What rests is drawn once more at full quality: smooth edges
// (where there is no card, four pixels are drawn for each that is shown), smooth curves, and shadows
// from a larger map.
function isSoftware(): boolean {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = info ? String(gl!.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    const told = new URLSearchParams(location.hash.slice(1)).get("card"); // 1 or 0: which way to draw
    return told ? told === "0" : /swiftshader|llvmpipe|software/i.test(name);
}

const STILL_MS = 250, COMING_MS = 500, STILL_TURNS = 4; // of the picture's loop without anything new: nothing moves
const FINE = 2, FINE_PIXELS = 6e6; // at rest without a card: pixels drawn for each shown, each way, and the most of them
const SHADOW_EVERY = 4;

export class View {
    readonly renderer: WebGLRenderer;
    readonly software: boolean;
    readonly camera: OrbitCamera;
    readonly rods: Rods;
    readonly solids: Solids;
    readonly contacts = new Contacts();
    readonly values: Float32Array; // of the field, by point
    field: Field = fieldNamed("rod");
    range: [number, number] = [0, 1];
    fixedRange = false;
    frame: Frame | null = null;
    centre = new Vector3();
    radius = 1;
    selectedContact: Contact | null = null;
    followed = -1;
    showContacts = true;
    thickness = 1;
    onDraw = (): void => {};
    drawMs = 0;
    private readonly scene = new Scene();
    private readonly shadow: Shadow;
    private readonly pull = new Group();
    private followedAt = new Vector3();
    private dirty = true;
    private newFrame = true;
    private fitted = false;
    sample: Frame[] = []; // frames from all over the run, to measure it by
    private low = new Vector3();
    private high = new Vector3();
    private readonly pace = new Pace();
    private coarse = false; // the picture on show is not the best
    private sinceShadow = 0;
    private coarseShadow = true;
    private frameGap = Infinity; // ms between the last two frames
    private frameAt = -Infinity;
    private turns = Infinity; // of the loop since the last new picture

    constructor(readonly canvas: HTMLCanvasElement, private readonly run: RunInfo, meshes: MeshData[]) {
        this.software = isSoftware();
        this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, alpha: !this.software, powerPreference: "high-performance" });
        this.renderer.setClearColor(0, 0);
        this.camera = new OrbitCamera(canvas);
        this.camera.onChange = () => this.touch();
        this.shadow = new Shadow(this.software ? 512 : 2048, this.software ? 2048 : 4096);
        this.rods = new Rods(run, lutTexture("rods", isDark()), this.software);
        this.solids = new Solids(run, meshes, this.software);
        this.values = new Float32Array(run.pointCount);
        this.scene.add(this.solids.group, this.rods.group, this.contacts.group, this.pull);
        this.resize();
    }

    /** The colour behind the scene where the picture is not laid over the page. */
    setBack(colour: string): void {
        if (this.software) {
            this.renderer.setClearColor(colour, 1);
        }
        this.rods.setLut(lutTexture(this.field.scale, isDark()));
        if (this.frame) {
            this.rods.show(this.frame, this.values);
        }
        this.touch();
    }

    touch(): void {
        this.dirty = true;
    }

    resize(): void {
        this.renderer.setSize(window.innerWidth, window.innerHeight, false);
        this.setScale(1, 1);
        this.touch();
    }

    private setScale(scale: number, fine: number): void {
        light.fine.value = fine;
        const ratio = scale * (this.software ? fine : Math.min(2, window.devicePixelRatio || 1));
        if (ratio !== this.renderer.getPixelRatio()) {
            this.renderer.setPixelRatio(ratio);
        }
    }

    /** The arrays that a frame must have for what is shown. */
    get needs(): ArrayName[] {
        const list: ArrayName[] = ["position", "rigids", "obstacles"];
        if (this.rods.needsFrames) {
            list.push("quaternion");
        }
        if (this.showContacts) {
            list.push("contacts");
        }
        return [...list, ...this.field.needs.filter((name) => !list.includes(name))];
    }

    setField(name: string): void {
        this.field = fieldNamed(name);
        this.fixedRange = false;
        this.rods.setLut(lutTexture(this.field.scale, isDark()));
        this.range = [NaN, NaN];
    }

    setRange(range: [number, number]): void {
        this.range = range;
        this.rods.setRange(...range);
        this.touch();
    }

    show(frame: Frame): void {
        this.frame = frame;
        this.field.fill(frame, this.values, this.run);
        if (!this.fixedRange) {
            const before = Number.isFinite(this.range[0]) ? this.range : null;
            this.setRange(rangeOf(this.field, this.values, this.field.scale === "size" || this.field.scale === "sign" ? before : null));
        }
        this.rods.show(frame, this.values);
        this.solids.place(frame);
        if (!this.fitted) {
            this.fitted = true;
            this.measure(this.sample.length > 0 ? this.sample : [frame]);
            this.solids.place(frame);
            this.fit();
        }
        this.contacts.show(frame, this.radius);
        if (this.selectedContact) {
            const now = sameContact(frame, this.selectedContact);
            this.contacts.select(now, this.coneSize);
            this.selectedContact = now ?? this.selectedContact;
        }
        this.sink(frame);
        this.keepFollowing();
        this.newFrame = true;
        this.frameGap = performance.now() - this.frameAt;
        this.frameAt = performance.now();
        this.touch();
    }

    /** What a cone is fitted into, m: the scene, or as much of it as is seen. */
    get coneSize(): { size: number; pixel: number } {
        const pixel = this.camera.pixelAt(this.camera.distance);
        return { size: Math.min(this.radius, 0.5 * window.innerHeight * pixel), pixel };
    }

    selectContact(index: number): Contact | null {
        this.selectedContact = index >= 0 && this.frame ? contactOf(this.frame, index) : null;
        this.contacts.select(this.selectedContact, this.coneSize);
        this.touch();
        return this.selectedContact;
    }

    /** Bounds of rods and bodies in some frames. */
    private bounds(frames: Frame[]): { low: Vector3; high: Vector3 } {
        const low = new Vector3().setScalar(Infinity), high = new Vector3().setScalar(-Infinity);
        const grow = (x: number, y: number, z: number, r: number) => {
            if (Number.isFinite(x + y + z)) {
                low.set(Math.min(low.x, x - r), Math.min(low.y, y - r), Math.min(low.z, z - r));
                high.set(Math.max(high.x, x + r), Math.max(high.y, y + r), Math.max(high.z, z + r));
            }
        };
        for (const { arrays } of frames) {
            const xyz = arrays.position ?? new Float32Array(0);
            for (let i = 0; i < xyz.length; i += 3) {
                grow(xyz[i]!, xyz[i + 1]!, xyz[i + 2]!, 0);
            }
            for (const { info, from, index, extent } of this.solids.placed) {
                const pose = arrays[from];
                if (pose && info.shape !== "plane") {
                    grow(pose[7 * index]!, pose[7 * index + 1]!, pose[7 * index + 2]!, extent);
                }
            }
        }
        if (!(high.x >= low.x)) {
            low.setScalar(-0.5);
            high.setScalar(0.5);
        }
        return { low, high };
    }

    /** Make the scene as large as these frames: ground, grid, shadows. */
    measure(frames: Frame[]): void {
        const { low, high } = this.bounds(frames);
        this.low = low;
        this.high = high;
        this.centre = low.clone().add(high).multiplyScalar(0.5);
        this.radius = Math.max(0.5 * low.distanceTo(high), 1e-5);
        this.solids.fit(this.centre, this.radius, low.z);
        this.newFrame = true;
        this.touch();
    }

    /** See all of the run, or of the frame on show if it has left that. */
    fit(): void {
        if (this.frame) {
            const { low, high } = this.bounds([this.frame]);
            this.low.min(low);
            this.high.max(high);
            this.solids.place(this.frame);
        }
        this.camera.fit(this.low, this.high);
    }

    private middleOf(rod: number): Vector3 {
        const info = this.run.rods[rod];
        const xyz = this.frame?.arrays.position;
        const sum = new Vector3();
        if (info && xyz) {
            for (let i = info.firstPoint; i < info.firstPoint + info.pointCount; i++) {
                sum.add(new Vector3().fromArray(xyz, 3 * i));
            }
            sum.divideScalar(Math.max(1, info.pointCount));
        }
        return sum;
    }

    follow(rod: number): void {
        this.followed = rod;
        if (rod >= 0) {
            this.followedAt = this.middleOf(rod);
        }
    }

    private keepFollowing(): void {
        if (this.followed >= 0) {
            const now = this.middleOf(this.followed);
            this.camera.target.add(now).sub(this.followedAt);
            this.followedAt = now;
        }
    }

    /** The arrow of a pull, from the rod to where the mouse is; null: none. */
    showPull(from: Vector3 | null, to: Vector3 | null): void {
        this.pull.clear();
        if (from && to) {
            const arrow = arrowMesh(to.clone().sub(from), 2.2 * this.camera.pixelAt(this.camera.distance), "#f5d142");
            arrow.position.copy(from);
            this.pull.add(arrow);
        }
        this.touch();
    }

    // what falls below the ground takes the ground along
    private sink(frame: Frame): void {
        const xyz = frame.arrays.position;
        let least = this.low.z;
        for (let i = 2; xyz && i < xyz.length; i += 3) {
            least = xyz[i]! < least ? xyz[i]! : least;
        }
        if (least < this.low.z - 0.01 * this.radius) {
            this.low.z = least;
            this.solids.fit(this.centre, this.radius, least);
        }
    }

    set shadows(on: boolean) {
        this.shadow.on = on;
        this.newFrame = true;
        this.touch();
    }

    pickAt(x: number, y: number, rodsOnly = false): Picked | null {
        if (!this.frame) {
            return null;
        }
        const { run, frame, camera, solids, canvas, thickness } = this;
        return pick({ run, frame, camera, solids, canvas, thickness, contacts: this.showContacts }, x, y, rodsOnly);
    }

    /** Whether the picture on show is the best there is. */
    get settled(): boolean {
        return !this.dirty && !this.coarse;
    }

    // how many pixels are drawn for each that is shown, each way, at rest
    private get finest(): number {
        const pixels = window.innerWidth * window.innerHeight;
        return this.software ? Math.max(1, Math.min(FINE, Math.sqrt(FINE_PIXELS / Math.max(1, pixels)))) : 1;
    }

    // a small map of all of the run while things move, a large one of this frame when they rest
    private drawShadow(moves: boolean): void {
        const late = moves && this.software && ++this.sinceShadow < SHADOW_EVERY;
        if (late || !(this.newFrame || (this.coarseShadow && !moves))) {
            return;
        }
        this.shadow.draw(this.renderer, this.scene, this, moves ? null : this.bounds([this.frame!]));
        this.newFrame = false;
        this.coarseShadow = moves;
        this.sinceShadow = 0;
    }

    /** Draw if anything changed, and once more, at full quality, when it rests. */
    draw(): boolean {
        const start = performance.now();
        const follows = ++this.turns < STILL_TURNS || start - this.pace.last < (this.frameGap < 1000 ? COMING_MS : STILL_MS);
        const moves = follows || (this.dirty && this.software); // an answer at once, and the best picture later
        if (!this.frame || !(this.dirty || (this.coarse && !moves))) {
            this.pace.rest();
            return false;
        }
        this.turns = this.dirty ? 0 : Infinity;
        this.dirty = false;
        if (follows) {
            this.pace.judge(start);
        }
        const fine = moves ? 1 : this.finest;
        this.setScale(moves ? this.pace.scale : 1, fine);
        light.shadowPlain.value = moves && this.software ? 1 : 0;
        this.camera.apply(this.renderer.getPixelRatio() / fine);
        this.rods.update(this.camera.camera);
        this.drawShadow(moves);
        this.coarse = moves && (this.software || this.pace.scale < 1 || this.coarseShadow);
        const size = this.renderer.getDrawingBufferSize(new Vector2());
        this.rods.paint(this.camera.camera, size.x, size.y, !moves);
        this.renderer.render(this.scene, this.camera.camera);
        this.drawMs = performance.now() - start;
        this.pace.note(start);
        this.onDraw();
        return true;
    }

    /** Milliseconds a picture takes until its pixels are there; `fresh`: with a new frame each time. */
    bench(count: number, fresh: boolean): number {
        const gl = this.renderer.getContext();
        const pixel = new Uint8Array(4);
        const start = performance.now();
        for (let i = 0; i < count; i++) {
            if (fresh && this.frame) {
                this.show(this.frame);
            }
            this.touch();
            this.draw();
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        }
        return (performance.now() - start) / count;
    }

    /** Of moving pictures: pixels each way, as a part of what the window has. */
    get quality(): number {
        return this.pace.scale;
    }

    /** Pictures a second over the last two seconds. */
    get fps(): number {
        return this.pace.fps;
    }
}
