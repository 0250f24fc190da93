// pick.ts - what lies under the cursor.
//
// Rods and contacts are found by projecting them all and taking distances in pixels: exact for tubes
// of any thickness, kind to fingers for hairs, and 64 000 segments take about 2 ms. A rod that covers
// the pixel wins over one that is only near; among those that cover it the nearest to the eye wins,
// unless a solid hides it.
import { Raycaster, Vector2, Vector3 } from "three";
import type { OrbitCamera } from "./camera";
import { isWisp } from "./colours";
import { CONTACT, type Frame, type RunInfo } from "./protocol";
import type { Solids } from "./solids";

export type Picked =
    | { kind: "rod"; rod: number; point: number; fraction: number; place: Vector3 }
    | { kind: "contact"; index: number }
    | { kind: "solid"; from: "rigids" | "obstacles"; index: number };

const NEAR = 7; // pixels

function solidUnder(x: number, y: number, camera: OrbitCamera, solids: Solids, canvas: HTMLCanvasElement) {
    const caster = new Raycaster();
    const ndc = new Vector2((2 * x) / canvas.clientWidth - 1, 1 - (2 * y) / canvas.clientHeight);
    caster.setFromCamera(ndc, camera.camera);
    const all = solids.pickable.filter(({ mesh }) => mesh.visible);
    all.forEach(({ mesh }) => mesh.updateMatrixWorld());
    const hit = caster.intersectObjects(all.map(({ mesh }) => mesh), false)[0];
    return hit ? { hit, placed: all.find(({ mesh }) => mesh === hit.object)!.placed } : null;
}

/** Pixels and depth of all points: x, y, depth in turn. */
function projectAll(xyz: Float32Array, camera: OrbitCamera, canvas: HTMLCanvasElement): Float32Array {
    const m = camera.camera.projectionMatrix.clone().multiply(camera.camera.matrixWorldInverse).elements;
    const w2 = canvas.clientWidth / 2, h2 = canvas.clientHeight / 2;
    const out = new Float32Array(xyz.length);
    for (let i = 0; i < xyz.length; i += 3) {
        const x = xyz[i]!, y = xyz[i + 1]!, z = xyz[i + 2]!;
        const w = m[3]! * x + m[7]! * y + m[11]! * z + m[15]!;
        out[i] = w2 + (w2 * (m[0]! * x + m[4]! * y + m[8]! * z + m[12]!)) / w;
        out[i + 1] = h2 - (h2 * (m[1]! * x + m[5]! * y + m[9]! * z + m[13]!)) / w;
        out[i + 2] = w;
    }
    return out;
}

function rodUnder(x: number, y: number, run: RunInfo, frame: Frame, at: Float32Array, camera: OrbitCamera, thickness: number) {
    const found = { score: Infinity, rod: -1, point: 0, fraction: 0, depth: Infinity };
    for (const [rod, first, count, thick] of run.lines) {
        const info = run.rods[rod]!;
        const radius = (info.ribbon ? info.ribbon.width / 2 : isWisp(info) ? 0.5 * info.contactRadius : thick) * thickness;
        for (let i = first; i + 1 < first + count; i++) {
            const j = 3 * i;
            const da = at[j + 2]!, db = at[j + 5]!;
            if (!(da > 0 && db > 0)) {
                continue;
            }
            const ax = at[j]!, ay = at[j + 1]!, bx = at[j + 3]! - ax, by = at[j + 4]! - ay;
            const l2 = bx * bx + by * by;
            const t = l2 > 0 ? Math.min(1, Math.max(0, ((x - ax) * bx + (y - ay) * by) / l2)) : 0;
            const off = Math.hypot(ax + t * bx - x, ay + t * by - y);
            const depth = da + t * (db - da);
            const covers = radius / camera.pixelAt(depth);
            if (off > Math.max(covers, NEAR)) {
                continue;
            }
            // covering ones by depth, below 0; near ones by pixels
            const score = off <= Math.max(covers, 1) ? -1 / depth : off;
            if (score < found.score) {
                Object.assign(found, { score, rod, point: i, fraction: t, depth });
            }
        }
    }
    if (found.rod < 0) {
        return null;
    }
    const xyz = frame.arrays.position!;
    const p = new Vector3().fromArray(xyz, 3 * found.point);
    p.lerp(new Vector3().fromArray(xyz, 3 * found.point + 3), found.fraction);
    return { ...found, place: p };
}

function contactUnder(x: number, y: number, frame: Frame, camera: OrbitCamera): number {
    let best = -1;
    let least = NEAR + 2;
    const rows = frame.arrays.contacts;
    for (let i = 0; rows && i < frame.contactCount; i++) {
        const j = CONTACT.width * i;
        const p = camera.project(rows[j]!, rows[j + 1]!, rows[j + 2]!);
        const off = Math.hypot(p.x - x, p.y - y);
        if (p.depth > 0 && off < least) {
            least = off;
            best = i;
        }
    }
    return best;
}

export interface PickScene {
    run: RunInfo;
    frame: Frame;
    camera: OrbitCamera;
    solids: Solids;
    canvas: HTMLCanvasElement;
    thickness: number;
    contacts: boolean; // whether they are shown
}

export function pick(scene: PickScene, x: number, y: number, rodsOnly = false): Picked | null {
    const { run, frame, camera, solids, canvas } = scene;
    if (scene.contacts && !rodsOnly) {
        const index = contactUnder(x, y, frame, camera);
        if (index >= 0) {
            return { kind: "contact", index };
        }
    }
    const solid = solidUnder(x, y, camera, solids, canvas);
    const at = frame.arrays.position ? projectAll(frame.arrays.position, camera, canvas) : new Float32Array(0);
    const rod = at.length ? rodUnder(x, y, run, frame, at, camera, scene.thickness) : null;
    if (rod && !(solid && rod.place.distanceTo(camera.camera.position) > solid.hit.distance + Math.max(4 * run.rods[rod.rod]!.radius, 1.5 * run.rods[rod.rod]!.contactRadius))) {
        return { kind: "rod", rod: rod.rod, point: rod.point, fraction: rod.fraction, place: rod.place };
    }
    return solid && !rodsOnly ? { kind: "solid", from: solid.placed.from, index: solid.placed.index } : null;
}
