// camera.ts - the eye: it looks at a target from an azimuth, an elevation and a distance, z up.
//
// One pointer turns, two (or the right or middle button, or shift) move the target in the plane of
// the picture, wheel and pinch change the distance towards what lies under the cursor. A press that
// hardly moves is a click. Whoever wants a drag for himself (pulling a rod) takes it by `claim`.
import { PerspectiveCamera, Vector2, Vector3 } from "three";
import { light } from "./shade";

const CLICK_PIXELS = 5;

export interface Drag {
    move(x: number, y: number): void;
    wheel(delta: number): void;
    end(): void;
}

interface Finger {
    x: number;
    y: number;
}

export class OrbitCamera {
    readonly camera = new PerspectiveCamera(32, 1, 0.01, 100);
    readonly target = new Vector3();
    azimuth = -0.9;
    elevation = 0.32;
    distance = 1;
    onChange = (): void => {};
    onClick = (_x: number, _y: number): void => {};
    onHover = (_x: number, _y: number): void => {};
    claim = (_x: number, _y: number): Drag | null => null;
    private readonly fingers = new Map<number, Finger>();
    private drag: Drag | null = null;
    private travelled = 0;
    private sceneRadius = 1;
    private inset = { top: 0, right: 0, bottom: 0 }; // pixels that panels cover
    private fitted: { low: Vector3; high: Vector3; target: Vector3; distance: number } | null = null;

    constructor(private readonly canvas: HTMLCanvasElement) {
        this.camera.up.set(0, 0, 1);
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.up(event, true));
        canvas.addEventListener("pointercancel", (event) => this.up(event, false));
        canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    }

    private down(event: PointerEvent): void {
        this.canvas.setPointerCapture(event.pointerId);
        this.canvas.focus({ preventScroll: true });
        this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        this.travelled = this.fingers.size > 1 ? Infinity : 0;
        if (this.fingers.size > 1) {
            this.drag?.end();
            this.drag = null;
        } else if (event.button === 0 && !event.shiftKey) {
            this.drag = this.claim(event.offsetX, event.offsetY);
        }
    }

    private move(event: PointerEvent): void {
        const finger = this.fingers.get(event.pointerId);
        if (!finger) {
            this.onHover(event.offsetX, event.offsetY);
            return;
        }
        const dx = event.offsetX - finger.x;
        const dy = event.offsetY - finger.y;
        this.travelled += Math.abs(dx) + Math.abs(dy);
        if (this.drag) {
            this.drag.move(event.offsetX, event.offsetY);
        } else if (this.fingers.size === 2) {
            this.pinch(event, finger, dx, dy);
        } else if (event.buttons & 6 || event.shiftKey) {
            this.pan(dx, dy);
        } else if (this.travelled > CLICK_PIXELS) {
            this.turn(dx, dy);
        }
        finger.x = event.offsetX;
        finger.y = event.offsetY;
    }

    private up(event: PointerEvent, done: boolean): void {
        this.fingers.delete(event.pointerId);
        this.drag?.end();
        this.drag = null;
        if (done && this.fingers.size === 0 && this.travelled <= CLICK_PIXELS && event.button === 0) {
            this.onClick(event.offsetX, event.offsetY);
        }
    }

    private pinch(event: PointerEvent, finger: Finger, dx: number, dy: number): void {
        const other = [...this.fingers].find(([id]) => id !== event.pointerId)![1];
        const before = Math.hypot(finger.x - other.x, finger.y - other.y);
        const after = Math.hypot(event.offsetX - other.x, event.offsetY - other.y);
        this.pan(dx / 2, dy / 2);
        if (before > 10 && after > 10) {
            this.zoom(before / after, (event.offsetX + other.x) / 2, (event.offsetY + other.y) / 2);
        }
    }

    private wheel(event: WheelEvent): void {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 16 : 1;
        const delta = Math.max(-240, Math.min(240, event.deltaY * lines));
        if (this.drag) {
            this.drag.wheel(delta);
            return;
        }
        this.zoom(Math.exp(delta * 0.0015), event.offsetX, event.offsetY);
    }

    turn(dx: number, dy: number): void {
        this.azimuth -= dx * 0.006;
        this.elevation = Math.max(-1.55, Math.min(1.55, this.elevation + dy * 0.006));
        this.onChange();
    }

    /** Move the target so that what lies in its depth follows the cursor. */
    pan(dx: number, dy: number): void {
        const size = this.pixelAt(this.distance);
        const right = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
        const up = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
        this.target.addScaledVector(right, -dx * size).addScaledVector(up, dy * size);
        this.onChange();
    }

    /** Change the distance; the point under (x, y) in the target's depth stays there. */
    zoom(factor: number, x?: number, y?: number): void {
        const before = this.distance;
        this.distance = Math.max(1e-4 * this.sceneRadius, Math.min(60 * this.sceneRadius, before * factor));
        if (x !== undefined && y !== undefined) {
            const size = this.pixelAt(before) - this.pixelAt(this.distance);
            const right = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
            const up = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
            const centre = this.middle;
            this.target.addScaledVector(right, (x - centre.x) * size).addScaledVector(up, -(y - centre.y) * size);
        }
        this.onChange();
    }

    /** The height of a pixel at a distance, m. */
    pixelAt(distance: number): number {
        return (2 * Math.tan((this.camera.fov * Math.PI) / 360) * distance) / Math.max(1, this.canvas.clientHeight);
    }

    /** The middle of what panels leave free, pixels: where the target is seen. */
    private get middle(): Vector2 {
        const { top, right, bottom } = this.inset;
        return new Vector2((this.canvas.clientWidth - right) / 2, (this.canvas.clientHeight - bottom + top) / 2);
    }

    /** What panels cover now; who saw the whole of the scene goes on seeing it. */
    setInset(inset: { top: number; right: number; bottom: number }): void {
        const { top, right, bottom } = this.inset;
        if (inset.top === top && inset.right === right && inset.bottom === bottom) {
            return;
        }
        this.inset = inset;
        const all = this.fitted;
        if (all && all.distance === this.distance && all.target.equals(this.target)) {
            this.fit(all.low, all.high);
        }
        this.onChange();
    }

    /** See the whole of a box, from where the eye looks now: each corner asks for a distance. */
    fit(low: Vector3, high: Vector3): void {
        this.target.copy(low).add(high).multiplyScalar(0.5);
        this.sceneRadius = Math.max(0.5 * low.distanceTo(high), 1e-6);
        const tan = Math.tan((this.camera.fov * Math.PI) / 360);
        const { top, right, bottom } = this.inset;
        const tall = Math.max(1, this.canvas.clientHeight);
        const v = tan * Math.max(0.3, (tall - top - bottom) / tall);
        const h = tan * Math.max(0.3 * this.canvas.clientWidth, this.canvas.clientWidth - right) / tall;
        const flat = Math.cos(this.elevation);
        const back = new Vector3(Math.cos(this.azimuth) * flat, Math.sin(this.azimuth) * flat, Math.sin(this.elevation));
        const side = new Vector3(-Math.sin(this.azimuth), Math.cos(this.azimuth), 0);
        const up = back.clone().cross(side);
        let distance = 0.4 * this.sceneRadius;
        for (let corner = 0; corner < 8; corner++) {
            const p = new Vector3(corner & 1 ? low.x : high.x, corner & 2 ? low.y : high.y, corner & 4 ? low.z : high.z).sub(this.target);
            distance = Math.max(distance, p.dot(back) + Math.max(Math.abs(p.dot(side)) / h, Math.abs(p.dot(up)) / v));
        }
        this.distance = 1.14 * distance;
        this.fitted = { low: low.clone(), high: high.clone(), target: this.target.clone(), distance: this.distance };
        this.onChange();
    }

    /** Place three's camera and the light's eye; `ratio` is device pixels by CSS pixel. */
    apply(ratio: number): void {
        const camera = this.camera;
        const flat = Math.cos(this.elevation);
        camera.position.set(Math.cos(this.azimuth) * flat, Math.sin(this.azimuth) * flat, Math.sin(this.elevation))
            .multiplyScalar(this.distance).add(this.target);
        camera.aspect = this.canvas.clientWidth / Math.max(1, this.canvas.clientHeight);
        camera.near = Math.max(1e-3 * this.distance, this.distance - 3 * this.sceneRadius) * 0.5;
        camera.far = this.distance + 60 * this.sceneRadius;
        camera.lookAt(this.target);
        const { clientWidth: width, clientHeight: height } = this.canvas;
        const middle = this.middle;
        camera.setViewOffset(width, height, width / 2 - middle.x, height / 2 - middle.y, width, height);
        camera.updateProjectionMatrix();
        camera.updateMatrixWorld();
        light.eye.value.set(camera.position.x, camera.position.y, camera.position.z, 1);
        light.pixel.value = this.pixelAt(1) / ratio;
    }

    /** Pixels of a point, and its distance along the axis of view (negative: behind). */
    project(x: number, y: number, z: number): { x: number; y: number; depth: number } {
        const p = new Vector3(x, y, z).applyMatrix4(this.camera.matrixWorldInverse);
        const depth = -p.z;
        p.applyMatrix4(this.camera.projectionMatrix);
        return {
            x: (0.5 + 0.5 * p.x) * this.canvas.clientWidth,
            y: (0.5 - 0.5 * p.y) * this.canvas.clientHeight,
            depth,
        };
    }

    /** Where the ray through a pixel meets the plane through `point` that faces the eye. */
    onPlane(x: number, y: number, point: Vector3): Vector3 {
        const ndc = new Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
        const ray = new Vector3(ndc.x, ndc.y, 0.5).unproject(this.camera).sub(this.camera.position).normalize();
        const ahead = this.camera.getWorldDirection(new Vector3());
        const depth = point.clone().sub(this.camera.position).dot(ahead);
        return this.camera.position.clone().addScaledVector(ray, depth / Math.max(1e-9, ray.dot(ahead)));
    }
}
