// serve.mjs - a stand-in for the server of `filum view` and `filum run --live`, for work on the page and its tests.
//
//   node dev/serve.mjs [--strands N] [--radius R] [--points M] [--frames F] [--live] [--broken "sentence"] [--port P] [--token T] [--page FILE]
//
// It speaks the same protocol over made-up data: strands that sway, a ribbon, a ball, a box, a capsule,
// a cylinder and a floor, with contacts whose forces lie in their cones. A live world is the same,
// with its clock; a strand that is held bends towards the target, and the force grows with the way.
// It prints its address and nothing else.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const option = (name, otherwise) => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? otherwise : args[at + 1];
};
const STRANDS = Number(option("strands", 40));
const POINTS = Number(option("points", 32));
const FRAMES = Number(option("frames", 60));
const LIVE = args.includes("--live");
const BROKEN = option("broken", "");
const PAGE = option("page", join(here, "..", "dist", "index.html"));
const STEP = 0.001;
const EVERY = 0.02;
const LENGTH = 0.3;
const RADIUS = Number(option("radius", STRANDS > 200 ? 5e-5 : 2e-3));
const BALL = { at: [0, 0, 0.22], radius: 0.06 };

// ---- the world: strands in a disc above the ball, one ribbon beside them

const rods = [];
const lines = [];
const roots = [];
for (let i = 0; i < STRANDS; i++) {
    const r = 0.09 * Math.sqrt((i + 0.5) / STRANDS), angle = i * 2.399963;
    roots.push([r * Math.cos(angle), r * Math.sin(angle), 0.45]);
    addRod(`strand ${i}`, "der", RADIUS, null);
}
roots.push([0.2, 0, 0.4]);
addRod("ribbon", "clothoid", 5e-3, { width: 0.012, thickness: 0.0006 });

function addRod(name, model, radius, ribbon) {
    const firstPoint = rods.length * POINTS;
    lines.push([rods.length, firstPoint, POINTS, radius]);
    rods.push({ name, model, length: LENGTH, radius, contactRadius: radius, firstPoint, pointCount: POINTS, ribbon });
}

const pointCount = rods.length * POINTS;
const solid = (name, shape, more) => ({ name, shape, radius: 0, length: 0, size: [0, 0, 0], mesh: -1, ...more });
const rigids = [
    solid("box", "box", { size: [0.06, 0.05, 0.04] }),
    solid("capsule", "capsule", { radius: 0.02, length: 0.06 }),
    solid("tetrahedron", "mesh", { mesh: 0 }),
];
const obstacles = [
    solid("floor", "plane"), solid("ball", "sphere", { radius: BALL.radius }),
    solid("bar", "cylinder", { radius: 0.015, length: 0.2 }),
];
const run = {
    protocol: 1, version: "0.1.0", name: "stand-in", live: LIVE, step: STEP, pointCount,
    fields: ["rod", "tension", "curvature", "twist", "elastic", "speed", "force", "state"],
    rods, lines, rigids, obstacles, meshCount: 1, gravity: [0, 0, -9.81],
    look: "Made-up strands that sway about a ball.", materials: ["hair", "wood"],
};
const live = {
    time: 0, running: true, gravity: [0, 0, -9.81], wind: [0, 0, 0], friction: [{ a: "hair", b: "hair", mu: 0.3 }, { a: "hair", b: "wood", mu: 0.5 }],
    grab: null, stopped: false, at: performance.now(),
};

function advance() {
    const now = performance.now();
    if (LIVE && live.running) {
        live.time += Math.min(0.1, (now - live.at) / 1000);
    }
    live.at = now;
}

/** Place of a point at a time; the ball pushes it out. */
function place(rod, s, time) {
    const [x, y, z] = roots[rod];
    const u = s / LENGTH, phase = rod * 0.7;
    const sway = 0.06 * u * u;
    const wind = LIVE ? live.wind : [0, 0, 0];
    const p = [
        x + sway * Math.sin(5 * time + 0.15 * phase + 2 * u) + 0.02 * wind[0] * u * u,
        y + sway * Math.cos(4 * time + 0.2 * phase) + 0.01 * Math.sin(9 * u + phase) * u + 0.02 * wind[1] * u * u,
        z - s * 0.96,
    ];
    const off = p.map((v, k) => v - BALL.at[k]);
    const far = Math.hypot(...off), least = BALL.radius + rods[rod].radius;
    const touches = far < least;
    const out = touches ? p.map((_, k) => BALL.at[k] + (off[k] / far) * least) : p;
    if (LIVE && live.grab && live.grab.rod === rod) {
        const near = Math.exp(-(((s - live.grab.s) / 0.06) ** 2)) * Math.min(1, u * 3);
        const from = live.grab.from;
        for (let k = 0; k < 3; k++) {
            out[k] += 0.8 * near * (live.grab.target[k] - from[k]);
        }
    }
    return { p: out, touches, normal: off.map((v) => v / (far || 1)) };
}

function contactsOf(touching) {
    const rows = new Float32Array(20 * touching.length);
    touching.forEach(({ rod, s, p, normal }, i) => {
        const slide = i % 3 === 0, mu = 0.5;
        const side = Math.hypot(normal[0], normal[1]) > 1e-6 ? [-normal[1], normal[0], 0] : [1, 0, 0];
        const l = Math.hypot(...side), fn = 0.002 + 0.001 * Math.sin(i), ft = slide ? mu * fn : 0.4 * mu * fn;
        const force = normal.map((n, k) => fn * n + (ft * side[k]) / l);
        rows.set([...p, ...normal, ...force, mu, 0, slide ? 2 : 1, 1, rod, s, 3, 1, 0, slide ? 0.01 : 0, 0], 20 * i);
    });
    return rows;
}

const ORDER = ["position", "quaternion", "velocity", "curvature", "tension", "elastic", "force", "state", "rigids", "obstacles", "contacts"];

function arraysAt(time) {
    const a = {
        position: new Float32Array(3 * pointCount), quaternion: new Float32Array(4 * pointCount), velocity: new Float32Array(3 * pointCount),
        curvature: new Float32Array(3 * pointCount), tension: new Float32Array(pointCount), elastic: new Float32Array(pointCount),
        force: new Float32Array(pointCount), state: new Uint8Array(pointCount),
    };
    const touching = [];
    for (let rod = 0; rod < rods.length; rod++) {
        for (let j = 0; j < POINTS; j++) {
            const i = rod * POINTS + j, s = (LENGTH * j) / (POINTS - 1);
            const { p, touches, normal } = place(rod, s, time);
            const u = j / (POINTS - 1), turn = rods[rod].ribbon ? 4 * u + time : 0;
            a.position.set(p, 3 * i);
            // tangent -z, n1 in the plane of x and y: a turn about y by 90 degrees, then about z
            const c = Math.cos(turn / 2) * Math.SQRT1_2, d = Math.sin(turn / 2) * Math.SQRT1_2;
            a.quaternion.set([c, -d, c, d], 4 * i);
            a.velocity.set([0.3 * u * u * Math.cos(5 * time), -0.2 * u * u * Math.sin(4 * time), 0], 3 * i);
            a.curvature.set([rods[rod].ribbon ? 13 : 2 * Math.sin(6 * u + time), 4 * u * Math.sin(5 * time), 8 * (1 - u)], 3 * i);
            a.tension[i] = 0.004 * (1 - u) - 0.0008;
            a.elastic[i] = 1e-4 * (1 - u) ** 2;
            if (touches) {
                a.force[i] = 0.003;
                a.state[i] = touching.length % 3 === 0 ? 2 : 1;
                if (touching.length < 4000) {
                    touching.push({ rod, s, p, normal });
                }
            }
        }
    }
    const spin = (axis, angle) => [Math.cos(angle / 2), ...axis.map((v) => v * Math.sin(angle / 2))];
    a.rigids = new Float32Array([0.16, -0.1, 0.03 + 0.02 * Math.abs(Math.sin(4 * time)), ...spin([0, 0, 1], time),
        -0.15, 0.08, 0.02, ...spin([0, 0, 1], 0.6), 0.02, -0.2, 0, ...spin([0, 0, 1], 2 * time)]);
    a.obstacles = new Float32Array([0, 0, 0, 1, 0, 0, 0, ...BALL.at, ...spin([0, 0, 1], time), -0.2, -0.1, 0.2, ...spin([0, 0.7071, 0.7071], 0.4)]);
    a.contacts = contactsOf(touching);
    return { a, contacts: touching.length };
}

function frame(time, index, wanted) {
    const { a, contacts } = arraysAt(time);
    let mask = 0, size = 64;
    const list = [];
    ORDER.forEach((name, bit) => {
        if (!wanted || wanted.includes(name)) {
            mask |= 1 << bit;
            list.push([a[name], size]);
            size += (a[name].byteLength + 7) & ~7;
        }
    });
    const out = Buffer.alloc(size);
    out.write("FILF", 0, "latin1");
    out.writeUInt32LE(1, 4);
    out.writeDoubleLE(time, 8);
    out.writeDoubleLE(Math.round(time / STEP), 16);
    [pointCount, rigids.length, obstacles.length, contacts, mask, index >>> 0].forEach((value, k) => out.writeUInt32LE(value, 24 + 4 * k));
    for (const [array, at] of list) {
        Buffer.from(array.buffer, array.byteOffset, array.byteLength).copy(out, at);
    }
    return out;
}

// ---- answers

const bytes = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const stepCount = () => (LIVE ? Math.floor(live.time / STEP) : Math.round((EVERY * (FRAMES - 1)) / STEP));
const frameCount = () => (LIVE ? Math.floor(live.time / EVERY) + 1 : FRAMES);

function rows(from, count, all, row) {
    const n = Math.max(0, Math.min(count, all - from));
    return bytes(new Float64Array(Array.from({ length: n }, (_, i) => row(from + i)).flat()));
}

function stateNow() {
    const base = { frames: frameCount(), steps: stepCount(), growing: LIVE && !live.stopped, finished: !LIVE || live.stopped, error: null, time: live.time, running: LIVE && live.running };
    if (!LIVE) {
        return { ...base, time: EVERY * (FRAMES - 1) };
    }
    const grab = live.grab && {
        rod: live.grab.rod, s: live.grab.s, target: live.grab.target, torque: 1e-5 * live.grab.twist,
        force: live.grab.target.map((v, k) => 0.5 * (v - live.grab.from[k])),
    };
    return { ...base, gravity: live.gravity, wind: live.wind, friction: live.friction, grab };
}

function act(order) {
    switch (order.do) {
        case "pause": live.running = false; break;
        case "resume": live.running = true; break;
        case "step": live.running = false; live.time += STEP; break;
        case "gravity": case "wind": live[order.do] = order.value; break;
        case "friction": live.friction.find(({ a, b }) => a === order.a && b === order.b).mu = order.mu; break;
        case "grab": {
            const same = live.grab && live.grab.rod === order.rod && live.grab.s === order.s;
            const from = same ? live.grab.from : place(order.rod, order.s, live.time).p;
            live.grab = { ...order, from };
            break;
        }
        case "release": live.grab = null; break;
        case "stop": live.running = false; live.stopped = true; break;
        default: throw new Error(`do is "${order.do}"; it must be one of the orders`);
    }
}

const tetrahedron = Buffer.concat([
    bytes(new Uint32Array([4, 4])),
    bytes(new Float32Array([0.04, 0, 0, -0.02, 0.035, 0, -0.02, -0.035, 0, 0, 0, 0.06])),
    bytes(new Uint32Array([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3])),
]);

function answer(path, query) {
    const from = Number(query.get("from") ?? 0), count = Number(query.get("count") ?? 1e5);
    const wanted = query.get("with")?.split(",");
    const known = path.match(/^api\/frame\/(\d+)$/);
    if (known) {
        const k = Number(known[1]);
        return k < frameCount() ? frame(k * EVERY, k, wanted) : null;
    }
    switch (path) {
        case "": return readFileSync(PAGE);
        case "api/run": return run;
        case "api/state": return stateNow();
        case "api/points": return Buffer.concat([
            bytes(Float32Array.from({ length: pointCount }, (_, i) => (LENGTH * (i % POINTS)) / (POINTS - 1))),
            bytes(Int32Array.from({ length: pointCount }, (_, i) => Math.floor(i / POINTS)))]);
        case "api/mesh/0": return tetrahedron;
        case "api/times": return rows(from, 1e6, frameCount(), (k) => [k * EVERY]);
        case "api/now": return LIVE ? frame(live.time, 0xffffffff, wanted) : null;
        case "api/steps": return rows(from, count, stepCount(), (k) => {
            const t = (k + 1) * STEP;
            return [t, 400 + Math.round(60 * Math.sin(4 * t)), 300 + Math.round(80 * Math.sin(4 * t)), 20 + (k % 7), 1e-9 * (2 + Math.sin(k)), 0.004 + 0.001 * Math.sin(9 * t)];
        });
        case "api/energies": return rows(from, count, frameCount(), (k) => {
            const t = k * EVERY;
            return [t, 0.01 * Math.sin(5 * t) ** 2, 0.02, 0.004 * Math.cos(t) ** 2, 0.001, 0.03 * Math.cos(5 * t) ** 2, 0];
        });
        default: return null;
    }
}

const token = option("token", randomBytes(16).toString("hex"));
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data: blob:";

function send(response, status, body) {
    const isJson = !(body instanceof Uint8Array);
    const isPage = !isJson && body.subarray(0, 9).toString("latin1") === "<!doctype";
    response.writeHead(status, {
        "Content-Type": isPage ? "text/html; charset=utf-8" : isJson ? "application/json" : "application/octet-stream",
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...(isPage ? { "Content-Security-Policy": POLICY } : {}),
    });
    response.end(isJson ? JSON.stringify(body) : body);
}

const server = createServer((request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    if (!url.pathname.startsWith(`/${token}/`)) {
        send(response, 404, { error: "There is nothing here." });
        return;
    }
    advance();
    const path = url.pathname.slice(token.length + 2);
    if (BROKEN && path.startsWith("api/")) {
        send(response, 500, { error: BROKEN });
        return;
    }
    if (path === "api/do" && request.method === "POST") {
        let text = "";
        request.on("data", (piece) => (text += piece));
        request.on("end", () => {
            try {
                if (!LIVE) {
                    send(response, 409, { error: "This run is not live; nothing can be changed." });
                    return;
                }
                act(JSON.parse(text));
                send(response, 200, { ok: true });
            } catch (error) {
                send(response, 400, { error: error.message });
            }
        });
        return;
    }
    const body = answer(path, url.searchParams);
    body === null ? send(response, 404, { error: `There is no ${path}.` }) : send(response, 200, body);
});
server.listen(Number(option("port", 0)), "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${server.address().port}/${token}/`);
});
