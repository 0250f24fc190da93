// solids.ts - obstacles, rigid bodies and the ground.
//
// Every shape is placed by its pose: position and quaternion of a frame. Cylinders and capsules lie
// along their first axis. Octants are tinted in turn, so that one sees a ball roll. Planes, and the
// ground where there is none, are large discs with a grid in round lengths that fades away and
// takes the shadows.
import {
    BackSide, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CircleGeometry, Color, CylinderGeometry, DoubleSide, Group, Matrix4,
    Mesh, NoColorSpace, Quaternion, ShaderMaterial, SphereGeometry, Vector3,
} from "three";
import { isHair, numberColour } from "./colours";
import type { Frame, Mesh as MeshData, RunInfo, SolidInfo } from "./protocol";
import { LIGHT, SHADOW_LAYER, light } from "./shade";
import { roundDown } from "./units";

const VERTEX = /* glsl */ `
varying vec3 vPlace, vNormal, vOwn;
void main() {
    vec4 p = modelMatrix * vec4(position, 1.0);
    vPlace = p.xyz;
    vOwn = position;
    vNormal = mat3(modelMatrix) * normal;
    gl_Position = projectionMatrix * viewMatrix * p;
}
`;

const SOLID_FRAGMENT = /* glsl */ `
precision highp float;
${LIGHT}
uniform vec3 colour;
uniform float opacity;
varying vec3 vPlace, vNormal, vOwn;
void main() {
    vec3 n = normalize(vNormal), v = toEye(vPlace);
    if (!gl_FrontFacing) n = -n;
    float tint = vOwn.x * vOwn.y * vOwn.z > 0.0 ? 1.0 : 0.94;
    float shadow = litSurface(vPlace, n, 2.4, gl_FragCoord.xy);
    float edge = 1.0 - abs(dot(n, v));
    gl_FragColor = vec4(shade(colour * tint, n, v, shadow, 0.12), opacity + (1.0 - opacity) * edge * edge * 0.5);
}
`;

const FLOOR_FRAGMENT = /* glsl */ `
precision highp float;
${LIGHT}
uniform vec3 colour, lineColour;
uniform float spacing, fade, body;
varying vec3 vPlace, vNormal, vOwn;
float lines(vec2 p, float width) {
    vec2 d = fwidth(p);
    vec2 a = abs(fract(p - 0.5) - 0.5) / max(d, vec2(1e-9));
    float l = 1.0 - min(min(a.x, a.y) / width, 1.0);
    return l * clamp(0.7 - 1.4 * max(d.x, d.y), 0.0, 1.0);
}
void main() {
    float far = clamp(1.0 - length(vOwn.xy) / fade, 0.0, 1.0);
    far = far * far * (3.0 - 2.0 * far);
    float grid = max(0.45 * lines(vOwn.xy / spacing, fine), 0.9 * lines(vOwn.xy / (5.0 * spacing), 1.2 * fine));
    float shadow = far > 0.0 ? lit(vPlace, 3.5, gl_FragCoord.xy) : 1.0;
    float above = dot(vNormal, eye.xyz - eye.w * vPlace) > 0.0 ? 1.0 : 0.25;
    vec3 c = mix(colour, lineColour, grid);
    c *= mix(1.0, 0.62, (1.0 - shadow));
    float solid = mix(max(grid, 0.55 * (1.0 - shadow)), 1.0, body);
    gl_FragColor = vec4(c, solid * far * above);
}
`;

const DEPTH_FRAGMENT = "void main() { gl_FragColor = vec4(1.0); }";
const TURN_TO_X = new Matrix4().makeRotationZ(-Math.PI / 2);
// the colours of `filum render` (src/render/solids.c): stone, or skin where hair grows; bodies that move have hues of their own
const STONE = new Color(0.78, 0.76, 0.73), SKIN = new Color(0.62, 0.47, 0.38), CLAY = new Color(0.86, 0.76, 0.62);

// mixed in linear light, as shade.ts has it
function bodyColour(number: number): Color {
    const own = new Color(...(numberColour(number).map((c) => c / 255) as [number, number, number]));
    const mix = (a: number, b: number) => Math.sqrt(0.4 * a * a + 0.6 * b * b);
    return new Color(mix(CLAY.r, own.r), mix(CLAY.g, own.g), mix(CLAY.b, own.b));
}

function meshGeometry(data: MeshData): BufferGeometry {
    const soup = new BufferGeometry();
    soup.setAttribute("position", new BufferAttribute(data.vertices, 3));
    soup.setIndex(new BufferAttribute(data.triangles, 1));
    const flat = soup.toNonIndexed();
    // creased: a corner takes the mean of the faces that meet there at less than about 40 degrees
    flat.computeVertexNormals();
    const face = flat.getAttribute("normal").array as Float32Array;
    const out = new Float32Array(face.length);
    const around = new Map<number, number[]>();
    data.triangles.forEach((vertex, corner) => {
        const list = around.get(vertex);
        if (list) {
            list.push(corner);
        } else {
            around.set(vertex, [corner]);
        }
    });
    for (const corners of around.values()) {
        for (const c of corners) {
            const n = new Vector3(face[3 * c], face[3 * c + 1], face[3 * c + 2]);
            const sum = new Vector3();
            for (const d of corners) {
                const m = new Vector3(face[3 * d], face[3 * d + 1], face[3 * d + 2]);
                if (n.dot(m) > 0.77) {
                    sum.add(m);
                }
            }
            sum.normalize().toArray(out, 3 * c);
        }
    }
    flat.setAttribute("normal", new BufferAttribute(out, 3));
    return flat;
}

function geometryOf(solid: SolidInfo, meshes: MeshData[], around: number): BufferGeometry | null {
    switch (solid.shape) {
        case "sphere":
            return new SphereGeometry(solid.radius, around, (5 * around) / 8);
        case "capsule":
            return new CapsuleGeometry(solid.radius, solid.length, around / 4, (3 * around) / 4).applyMatrix4(TURN_TO_X);
        case "cylinder":
            return new CylinderGeometry(solid.radius, solid.radius, solid.length, around).applyMatrix4(TURN_TO_X);
        case "box":
            return new BoxGeometry(...(solid.size as [number, number, number]));
        case "mesh":
            return meshes[solid.mesh] ? meshGeometry(meshes[solid.mesh]!) : null;
        default:
            return null; // a plane is a floor
    }
}

interface Placed {
    from: "rigids" | "obstacles";
    index: number;
    info: SolidInfo;
    objects: Mesh[];
    extent: number;
}

export class Solids {
    readonly group = new Group();
    readonly placed: Placed[] = [];
    private readonly floors: Mesh[] = [];
    private readonly ground: Mesh;
    private readonly floorUniforms = {
        ...light,
        colour: { value: new Color() },
        lineColour: { value: new Color() },
        spacing: { value: 0.1 },
        fade: { value: 1 },
    };
    private readonly solidMaterials: ShaderMaterial[] = [];
    private readonly hasHair: boolean; // it grows on the obstacles
    private readonly around: number; // corners of a circle
    private centre = new Vector3();
    spacing = 0.1;

    constructor(run: RunInfo, meshes: MeshData[], private readonly software: boolean) {
        this.hasHair = run.rods.some(isHair);
        this.around = software && run.rigids.length + run.obstacles.length > 30 ? 32 : software ? 48 : 64;
        run.rigids.forEach((info, index) => this.add("rigids", index, info, meshes));
        run.obstacles.forEach((info, index) => this.add("obstacles", index, info, meshes));
        this.ground = this.floor(false);
        this.ground.visible = this.floors.length === 0;
        this.group.add(this.ground);
    }

    private add(from: Placed["from"], index: number, info: SolidInfo, meshes: MeshData[]): void {
        if (info.shape === "plane") {
            const floor = this.floor(true);
            this.floors.push(floor);
            this.group.add(floor);
            this.placed.push({ from, index, info, objects: [floor], extent: 0 });
            return;
        }
        const geometry = geometryOf(info, meshes, this.around);
        if (!geometry) {
            return;
        }
        geometry.computeBoundingSphere();
        const colour = from === "rigids" ? bodyColour(index) : this.hasHair ? SKIN : STONE;
        const material = new ShaderMaterial({
            uniforms: { ...light, colour: { value: colour }, opacity: { value: 1 } },
            vertexShader: VERTEX, fragmentShader: SOLID_FRAGMENT, side: DoubleSide,
        });
        this.solidMaterials.push(material);
        const mesh = new Mesh(geometry, material);
        const shadow = new Mesh(geometry, new ShaderMaterial({
            vertexShader: VERTEX, fragmentShader: DEPTH_FRAGMENT, side: info.shape === "mesh" ? DoubleSide : BackSide,
        }));
        shadow.layers.set(SHADOW_LAYER);
        const extent = geometry.boundingSphere!.radius + geometry.boundingSphere!.center.length();
        this.placed.push({ from, index, info, objects: [mesh, shadow], extent });
        this.group.add(mesh, shadow);
    }

    private floor(body: boolean): Mesh {
        const material = new ShaderMaterial({
            uniforms: { ...this.floorUniforms, body: { value: body ? 1 : 0 } },
            vertexShader: VERTEX, fragmentShader: FLOOR_FRAGMENT, transparent: true, side: DoubleSide, depthWrite: body,
        });
        const mesh = new Mesh(new CircleGeometry(1, 64), material);
        mesh.frustumCulled = false;
        mesh.renderOrder = body ? -1 : -2;
        return mesh;
    }

    /** The size of floors and of their squares, from that of the scene. */
    fit(centre: Vector3, radius: number, lowest: number): void {
        this.centre = centre.clone();
        this.spacing = roundDown(Math.max(radius, 1e-6) / 4);
        this.floorUniforms.spacing.value = this.spacing;
        const reach = (this.software ? 4 : 7) * radius;
        this.floorUniforms.fade.value = reach;
        for (const floor of [...this.floors, this.ground]) {
            floor.geometry.dispose();
            floor.geometry = new CircleGeometry(reach, 64);
        }
        this.ground.position.set(centre.x, centre.y, lowest - 1e-3 * radius);
        this.snap(this.ground.position);
    }

    // so that lines of the grid go through the world's origin
    private snap(p: Vector3): void {
        const step = 5 * this.spacing;
        p.x = Math.round(p.x / step) * step;
        p.y = Math.round(p.y / step) * step;
    }

    place(frame: Frame): void {
        for (const { from, index, info, objects } of this.placed) {
            const pose = frame.arrays[from]?.subarray(7 * index, 7 * index + 7);
            if (!pose || pose.length < 7) {
                continue;
            }
            const position = new Vector3(pose[0], pose[1], pose[2]);
            const turn = new Quaternion(pose[4], pose[5], pose[6], pose[3]).normalize();
            if (info.shape === "plane") {
                // anywhere in the plane will do: next to the scene
                const normal = new Vector3(0, 0, 1).applyQuaternion(turn);
                const height = this.centre.clone().sub(position).dot(normal);
                position.copy(this.centre).addScaledVector(normal, -height);
                if (normal.z > 0.999) {
                    this.snap(position);
                }
            }
            for (const object of objects) {
                object.position.copy(position);
                object.quaternion.copy(turn);
            }
        }
    }

    /** Which solid lies under a ray, and how far; the floor does not count. */
    get pickable(): { mesh: Mesh; placed: Placed }[] {
        return this.placed.filter(({ info }) => info.shape !== "plane").map((placed) => ({ mesh: placed.objects[0]!, placed }));
    }

    set bodies(on: boolean) {
        for (const { info, objects } of this.placed) {
            objects.forEach((object) => (object.visible = info.shape === "plane" ? object.visible : on));
        }
    }

    set grid(on: boolean) {
        this.ground.visible = on && this.floors.length === 0;
        this.floors.forEach((floor) => (floor.visible = on));
    }

    set clear(on: boolean) {
        for (const material of this.solidMaterials) {
            material.transparent = on;
            material.depthWrite = !on;
            material.uniforms["opacity"]!.value = on ? 0.22 : 1;
            material.needsUpdate = true;
        }
    }

    paint(floor: string, line: string): void {
        this.floorUniforms.colour.value.setStyle(floor, NoColorSpace);
        this.floorUniforms.lineColour.value.setStyle(line, NoColorSpace);
    }
}
