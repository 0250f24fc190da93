// contacts.ts - where bodies touch, the forces there, and the friction cone of one of them.
//
// A contact is a dot of some pixels and an arrow, the force of b on a, both coloured by whether it
// sticks or slides. They are flat and turned to the eye, instances of a few triangles each, so ten
// thousand cost little. Lengths of arrows are a number of metres a newton, chosen so that the strongest
// of the first frame seen is a twelfth of the size of the scene.
//
// The cone of the clicked contact is |f_T| <= mu f_N about its normal; a force that slides lies in its
// surface, one that sticks inside.
import {
    BufferAttribute, Color, ConeGeometry, CylinderGeometry, DoubleSide, Group, InstancedBufferAttribute,
    InstancedBufferGeometry, Mesh, MeshBasicMaterial, NoColorSpace, Quaternion, ShaderMaterial, TorusGeometry, Vector3,
} from "three";
import { STATE_COLOURS } from "./colours";
import { CONTACT, type Frame } from "./protocol";
import { LIGHT, light } from "./shade";

const VERTEX = /* glsl */ `
${LIGHT}
uniform vec3 stick, slide, open_;
uniform float metresPerNewton, longest, dots, arrows, small;
attribute vec3 place, force;
attribute float state;
varying vec3 vColour;
varying vec2 vDot;
void main() {
    float size = pixelAt(place);
    vec3 v = toEye(place);
    vColour = state < 0.5 ? open_ : state < 1.5 ? stick : slide;
    vec3 p = place;
    if (position.z < 0.5) { // the dot
        vec3 right = normalize(cross(vec3(0.0, 0.0, 1.0), v) + vec3(1e-6));
        vec3 up = cross(v, right);
        vDot = position.xy;
        float r = dots * (state < 0.5 ? 1.3 : mix(2.8, 1.9, small)) * size;
        p += r * (position.x * right + position.y * up) + v * 3.0 * size;
    } else { // the arrow: x across in pixels, y along it
        float f = length(force);
        float l = min(f * metresPerNewton, longest) * arrows;
        vec3 along = force / max(f, 1e-30);
        vec3 side = normalize(cross(along, v) + vec3(1e-9));
        float head = min(mix(8.0, 5.5, small) * size, 0.5 * l);
        vDot = vec2(0.0);
        float y = position.y < 0.5 ? 0.0 : position.y < 1.5 ? l - head : l;
        float w = min(1.0, l / (6.0 * size)) * mix(0.8, 0.55, small);
        p += along * y + side * position.x * size * w + v * 3.0 * size;
    }
    gl_Position = projectionMatrix * viewMatrix * vec4(p, 1.0);
}
`;

const FRAGMENT = /* glsl */ `
precision highp float;
varying vec3 vColour;
varying vec2 vDot;
void main() {
    float r = dot(vDot, vDot);
    if (r > 1.0) discard;
    gl_FragColor = vec4(mix(vColour, vColour * 0.55, smoothstep(0.45, 0.9, r)), 1.0);
}
`;

// dot: z = 0; arrow: z = 1, y = 0 its foot, 1 the neck, 2 the point
const SHAPE = [
    [-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0],
    [-1, 0, 1], [1, 0, 1], [1, 1, 1], [-1, 1, 1], [-4, 1, 1], [4, 1, 1], [0, 2, 1],
];
const FACES = [0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7, 8, 9, 10];

/** One contact of a frame, by name. */
export interface Contact {
    index: number;
    point: Vector3;
    normal: Vector3;
    force: Vector3;
    mu: number;
    gap: number;
    state: number;
    a: { kind: number; index: number; s: number };
    b: { kind: number; index: number; s: number };
    slip: number;
}

export function contactOf(frame: Frame, index: number): Contact | null {
    const all = frame.arrays.contacts;
    const row = all?.subarray(CONTACT.width * index, CONTACT.width * (index + 1));
    if (!row || row.length < CONTACT.width) {
        return null;
    }
    const vector = (k: number) => new Vector3(row[k], row[k + 1], row[k + 2]);
    return {
        index,
        point: vector(CONTACT.point),
        normal: vector(CONTACT.normal),
        force: vector(CONTACT.force),
        mu: row[CONTACT.mu]!,
        gap: row[CONTACT.gap]!,
        state: row[CONTACT.state]!,
        a: { kind: row[CONTACT.aKind]!, index: row[CONTACT.aIndex]!, s: row[CONTACT.aS]! },
        b: { kind: row[CONTACT.bKind]!, index: row[CONTACT.bIndex]!, s: row[CONTACT.bS]! },
        slip: row[CONTACT.slip]!,
    };
}

/** The contact of the same two bodies nearest to an old one, in another frame. */
export function sameContact(frame: Frame, old: Contact): Contact | null {
    let best: Contact | null = null;
    let least = Infinity;
    for (let i = 0; i < frame.contactCount; i++) {
        const row = (frame.arrays.contacts ?? []).slice(CONTACT.width * i + CONTACT.aKind, CONTACT.width * i + CONTACT.slip);
        if (row[0] !== old.a.kind || row[1] !== old.a.index || row[3] !== old.b.kind || row[4] !== old.b.index) {
            continue;
        }
        const off = Math.abs(row[2]! - old.a.s) + Math.abs(row[5]! - old.b.s);
        if (off < least) {
            least = off;
            best = contactOf(frame, i);
        }
    }
    return best;
}

const MANY = 60; // contacts, from which on they are drawn smaller

const paint = (hex: string) => new Color().setStyle(hex, NoColorSpace);

export class Contacts {
    readonly group = new Group();
    metresPerNewton = 0;
    factor = 1; // of the user's, on top of the chosen length
    private longest = 1;
    private room = 0;
    private readonly mesh: Mesh;
    private readonly cone = new Group();
    shape: { height: number; radius: number } | null = null; // of the cone, m
    private readonly uniforms = {
        ...light,
        stick: { value: paint(STATE_COLOURS.stick) },
        slide: { value: paint(STATE_COLOURS.slide) },
        open_: { value: paint(STATE_COLOURS.open) },
        metresPerNewton: { value: 0 },
        longest: { value: 1 },
        dots: { value: 1 },
        arrows: { value: 1 },
        small: { value: 0 },
    };

    constructor() {
        const material = new ShaderMaterial({
            uniforms: this.uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: DoubleSide,
        });
        this.mesh = new Mesh(new InstancedBufferGeometry(), material);
        this.mesh.frustumCulled = false;
        this.cone.visible = false;
        this.group.add(this.mesh, this.cone);
    }

    private makeRoom(count: number): InstancedBufferGeometry {
        let geometry = this.mesh.geometry as InstancedBufferGeometry;
        if (count > this.room || this.room === 0) {
            geometry.dispose();
            this.room = Math.max(64, Math.ceil(1.5 * count));
            geometry = new InstancedBufferGeometry();
            geometry.setAttribute("position", new BufferAttribute(new Float32Array(SHAPE.flat()), 3));
            geometry.setIndex(FACES);
            for (const [name, width] of [["place", 3], ["force", 3], ["state", 1]] as const) {
                geometry.setAttribute(name, new InstancedBufferAttribute(new Float32Array(width * this.room), width));
            }
            this.mesh.geometry = geometry;
        }
        return geometry;
    }

    /** `extent` is the radius of the scene, m. */
    show(frame: Frame, extent: number): void {
        const rows = frame.arrays.contacts;
        const count = rows ? frame.contactCount : 0;
        const geometry = this.makeRoom(count);
        const [place, force, state] = ["place", "force", "state"].map((name) => {
            const attribute = geometry.getAttribute(name) as InstancedBufferAttribute;
            attribute.needsUpdate = true;
            return attribute.array as Float32Array;
        }) as [Float32Array, Float32Array, Float32Array];
        for (let i = 0, j = 0; i < count; i++, j += CONTACT.width) {
            for (let k = 0; k < 3; k++) {
                place[3 * i + k] = rows![j + CONTACT.point + k]!;
                force[3 * i + k] = rows![j + CONTACT.force + k]!;
            }
            state[i] = rows![j + CONTACT.state]!;
        }
        geometry.instanceCount = count;
        this.mesh.visible = count > 0;
        if (this.metresPerNewton === 0) {
            this.choose(force, count, extent);
        }
        this.uniforms.small.value = count > MANY ? 1 : 0;
        this.longest = 0.5 * extent;
        this.scale();
    }

    // the longest arrow is a twelfth of the size of the scene
    private choose(force: Float32Array, count: number, extent: number): void {
        let most = 0;
        for (let i = 0; i < count; i++) {
            const f = Math.hypot(force[3 * i]!, force[3 * i + 1]!, force[3 * i + 2]!);
            most = f > most ? f : most;
        }
        this.metresPerNewton = most > 0 ? (0.16 * extent) / most : 0;
    }

    private scale(): void {
        this.uniforms.metresPerNewton.value = this.metresPerNewton * this.factor;
        this.uniforms.longest.value = this.longest;
    }

    set length(factor: number) {
        this.factor = factor;
        this.scale();
    }

    set dots(on: boolean) {
        this.uniforms.dots.value = on ? 1 : 0;
    }

    set arrows(on: boolean) {
        this.uniforms.arrows.value = on ? 1 : 0;
    }

    /** The friction cone of a contact with its force, or none; `size`: of what is seen, `pixel`: one of it, m. */
    select(contact: Contact | null, { size, pixel }: { size: number; pixel: number }): void {
        this.cone.clear();
        this.cone.visible = contact !== null;
        if (!contact) {
            this.shape = null;
            return;
        }
        const normal = Math.max(0, contact.force.dot(contact.normal));
        const mu = Math.min(Math.max(contact.mu, 0), 20);
        // as high as its force is long, but with a mouth that can be looked into
        const shown = normal * this.metresPerNewton * this.factor;
        const height = Math.min(0.6 * size, (0.8 * size) / Math.max(mu, 1e-9), Math.max(shown, 0.25 * size, (22 * pixel) / Math.max(mu, 1e-9)));
        const radius = mu * height;
        this.shape = { height, radius };
        const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), contact.normal.clone().normalize());
        const geometry = new ConeGeometry(Math.max(radius, 1e-9), height, 64, 1, true);
        geometry.rotateX(Math.PI).translate(0, height / 2, 0); // the point at the contact
        const colour = paint(contact.state > 1.5 ? STATE_COLOURS.slide : contact.state > 0.5 ? STATE_COLOURS.stick : STATE_COLOURS.open);
        const over = { color: colour, transparent: true, depthTest: false, depthWrite: false };
        const surface = new Mesh(geometry, new MeshBasicMaterial({ ...over, opacity: 0.32, side: DoubleSide }));
        const line = Math.min(0.9 * pixel, 0.1 * Math.max(radius, 1e-9)); // half the width of lines
        const rim = new Mesh(new TorusGeometry(radius, line, 6, 96).rotateX(Math.PI / 2).translate(0, height, 0), new MeshBasicMaterial(over));
        const axis = new Mesh(new CylinderGeometry(0.6 * line, 0.6 * line, height, 6).translate(0, height / 2, 0),
            new MeshBasicMaterial({ ...over, opacity: 0.7 }));
        // the force ends in the plane of the mouth: on the rim it slides, inside it sticks; thin enough to tell
        const thin = Math.max(0.4 * pixel, Math.min(1.1 * pixel, 0.05 * radius));
        const arrow = arrowMesh(contact.force.clone().multiplyScalar(normal > 0 ? height / normal : 0), thin, "#f5d142", 2);
        for (const object of [surface, rim, axis]) {
            object.quaternion.copy(turn);
        }
        this.cone.add(surface, rim, axis, arrow);
        this.cone.position.copy(contact.point);
        [surface, axis, rim].forEach((object, k) => (object.renderOrder = 5 + 0.1 * k));
    }
}

/** A round arrow from the origin along a vector. */
export function arrowMesh(vector: Vector3, thickness: number, colour = "#f5d142", wide = 2.6): Group {
    const group = new Group();
    const length = vector.length();
    if (!(length > 0)) {
        return group;
    }
    const head = Math.min(0.35 * length, 7 * thickness);
    const material = new MeshBasicMaterial({ color: paint(colour), depthTest: false, transparent: true });
    const shaft = new CylinderGeometry(thickness, thickness, length - head, 12).translate(0, (length - head) / 2, 0);
    const point = new ConeGeometry(wide * thickness, head, 16, 1).translate(0, length - head / 2, 0);
    group.add(new Mesh(shaft, material), new Mesh(point, material));
    group.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), vector.clone().normalize());
    group.traverse((object) => (object.renderOrder = 6));
    return group;
}
