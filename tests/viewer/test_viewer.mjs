// test_viewer.mjs - the viewer in a real browser.
//
//   node test_viewer.mjs PAGE STAND_IN [PROGRAM SCENES] [--only WORDS]
//
// PAGE is the built page, STAND_IN the made-up server of viewer/dev. With a PROGRAM that can serve,
// the same page is tried on a real run and on a real live world. Nothing here waits for a time to
// pass: everything waits for what must happen.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { decodePng } from "./png.mjs";

const words = process.argv.slice(2);
const only = words.includes("--only") ? words.splice(words.indexOf("--only"), 2)[1] : "";
const [PAGE, STAND_IN, PROGRAM, SCENES] = words;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const PATIENCE = 60_000; // ms, for a machine that is busy with other things
const POINTS = 32; // of a strand of the stand-in

const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--headless=new", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
});

// ---- servers and pages

const children = [];

/** Start a server that prints its address; resolves to the address. */
function serve(command, args) {
    return new Promise((done, fail) => {
        const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
        children.push(child);
        let text = "", talk = "";
        child.stdout.on("data", (piece) => {
            text += piece;
            const url = text.match(/http:\/\/[\w.:]+\/\w+\//);
            if (url) {
                done({ url: url[0], child });
            }
        });
        child.stderr.on("data", (piece) => (talk += piece));
        child.on("exit", (code) => fail(new Error(`${command} ended with ${code}: ${talk}`)));
    });
}

const standIn = (...args) => serve(process.execPath, [STAND_IN, "--page", PAGE, ...args]);

function stop(child) {
    return new Promise((done) => {
        child.on("exit", done);
        child.kill("SIGINT");
    });
}

/** A page that must not complain, or ask anyone but its server for anything. */
async function open(url, options = {}) {
    const context = await browser.newContext({ viewport: { width: 900, height: 600 }, colorScheme: "dark", ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(error.message));
    page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
    page.on("request", (request) => {
        if (!request.url().startsWith(url.split("#")[0]) && !request.url().startsWith("data:")) {
            page.complaints.push(`asked for ${request.url()}`);
        }
    });
    if (options.page) {
        await page.route(url, (route) => route.fulfill({ contentType: "text/html", body: readFileSync(options.page) }));
    }
    await page.goto(url);
    return page;
}

const state = (page) => page.evaluate(() => window.filum.state());
const until = (page, test, value) => page.waitForFunction(test, value, { timeout: PATIENCE });

async function ready(url, options) {
    const page = await open(url, options);
    await until(page, () => window.filum?.ready && window.filum.state().index >= 0);
    await drawn(page);
    return page;
}

/** Two turns of the picture's loop, and full quality: what was asked for is on the screen. */
async function drawn(page) {
    await page.evaluate(() => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
    await until(page, () => window.filum.state().settled || window.filum.state().playing || window.filum.state().server.running);
}

async function shot(page) {
    await drawn(page);
    return decodePng(await page.screenshot());
}

const press = (page, key) => page.locator("#view").press(key);
const projected = (page, i) => page.evaluate((k) => window.filum.project(window.filum.point(k)), i);
const saturation = (rgb) => Math.max(...rgb) - Math.min(...rgb);

/** The most saturated pixel within 2 of a place: rods are coloured, ground and sky are grey. */
function vivid(picture, { x, y }) {
    let most = 0;
    for (let dx = -2; dx <= 2; dx++) {
        for (let dy = -2; dy <= 2; dy++) {
            const px = x + dx, py = y + dy;
            if (px >= 0 && py >= 0 && px < picture.width - 1 && py < picture.height - 1) {
                most = Math.max(most, saturation(picture.at(px, py)));
            }
        }
    }
    return most;
}

async function tidy(page) {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
}

// ---- the tests, as sentences

const run = only === "" || !only.startsWith("program") ? await standIn() : null;

async function theRodsAreWhereTheyShouldBe() {
    const page = await ready(run.url);
    const picture = await shot(page);
    let on = 0, off = 0;
    for (let strand = 0; strand < 40; strand++) {
        const p = await projected(page, strand * POINTS + 2);
        on += vivid(picture, p) > 60 ? 1 : 0;
        off += vivid(picture, { x: p.x - 220, y: p.y - 40 }) > 60 ? 1 : 0;
    }
    assert.ok(on >= 38, `${on} of 40 strands are where they are projected to`);
    assert.equal(off, 0, "and nothing is where nothing is");
    await tidy(page);
}

async function playingGoesThroughTheFramesAndEnds() {
    const page = await ready(run.url);
    assert.equal(await page.inputValue("#speed"), "0.25"); // 1.18 s in about 5, at no less than 8 frames a second
    await page.selectOption("#speed", "4");
    await page.click("#do-play");
    await until(page, () => window.filum.state().frame > 0);
    await until(page, () => !window.filum.state().playing && window.filum.state().frame === window.filum.state().frames - 1);
    assert.match(await page.textContent("#clock"), /60 \/ 60/);
    await tidy(page);
}

async function scrubbingAndSteppingShowTheFrame() {
    const page = await ready(run.url);
    const due = await page.evaluate(() => window.filum.times().map((t) => [window.filum.frameAt(t), window.filum.frameAt(t + 0.019)]));
    due.forEach((frames, k) => assert.deepEqual(frames, [k, k], "a frame is on show from its time until the next"));
    await page.locator("#scrub").fill("17");
    await until(page, () => window.filum.state().index === 17);
    assert.ok(Math.abs((await state(page)).time - 0.34) < 1e-9);
    await press(page, ".");
    await until(page, () => window.filum.state().index === 18);
    await press(page, ",");
    await until(page, () => window.filum.state().index === 17);
    await press(page, "End");
    await until(page, () => window.filum.state().index === 59);
    const plot = page.locator("#plots canvas").first();
    const box = await plot.boundingBox();
    await plot.click({ position: { x: 52 + (box.width - 60) / 2, y: 30 } });
    await until(page, () => Math.abs(window.filum.state().index - 29) <= 1);
    await tidy(page);
}

async function everyColourHasItsLegendAndChangesThePicture() {
    const page = await ready(run.url);
    const where = await projected(page, 5 * POINTS + 2);
    const seen = new Set();
    for (const [name, label] of [["tension", "Tension"], ["curvature", "Curvature"], ["twist", "Twist"], ["elastic", "Elastic energy"],
        ["speed", "Speed"], ["force", "Contact force"], ["state", "Stick or slide"]]) {
        await page.click(`#colours [data-field=${name}]`);
        await until(page, (n) => window.filum.state().colour === n && Number.isFinite(window.filum.state().range[0]), name);
        await drawn(page);
        assert.equal(await page.textContent("#legend-label"), label);
        assert.ok(await page.isVisible("#legend"));
        const [low, high] = (await state(page)).range;
        assert.ok(high > low);
        seen.add((await shot(page)).at(where.x, where.y).join());
    }
    assert.ok(seen.size >= 3, `${seen.size} different colours`);
    await page.click("#colours [data-field=tension]");
    await until(page, () => document.querySelector("#legend-unit").textContent === "mN");
    await page.locator("#legend-high").fill("0.5");
    await page.locator("#legend-high").press("Enter");
    await until(page, () => Math.abs(window.filum.state().range[1] - 0.5e-3) < 1e-12); // what is typed is in the unit shown
    await tidy(page);
}

/** What stands in the arrays of a frame, by the protocol, for each colour. */
const VALUES = {
    tension: ([t]) => t, elastic: ([e]) => e, force: ([f]) => f, state: ([s]) => s,
    curvature: ([, a, b]) => Math.hypot(a, b), twist: ([t]) => t, speed: ([x, y, z]) => Math.hypot(x, y, z),
};
const ARRAYS = { tension: 1, elastic: 1, force: 1, state: 1, curvature: 3, twist: 3, speed: 3 };
const FROM = { twist: "curvature", speed: "velocity" };

async function aColourIsTheNumberThatItSays() {
    const page = await ready(run.url);
    await page.evaluate(() => window.filum.goto(30));
    for (const [name, value] of Object.entries(VALUES)) {
        await page.click(`#colours [data-field=${name}]`);
        await until(page, ([n, from]) => window.filum.state().colour === n && window.filum.array(from).length > 0 && Number.isFinite(window.filum.state().range[0]),
            [name, FROM[name] ?? name]);
        const rows = await page.evaluate((from) => window.filum.array(from), FROM[name] ?? name);
        const shown = await page.evaluate(() => window.filum.values());
        const width = ARRAYS[name];
        shown.forEach((x, i) => assert.ok(Math.abs(x - value(rows.slice(width * i, width * i + width))) <= 1e-6 * Math.abs(x), `${name} of point ${i}`));
        const [low, high] = (await state(page)).range;
        if (name === "state") {
            continue;
        }
        const sorted = shown.slice().sort((a, b) => a - b);
        const top = Math.max(Math.abs(sorted[Math.floor(0.98 * shown.length)]), name === "tension" || name === "twist" ? Math.abs(sorted[Math.floor(0.02 * shown.length)]) : 0);
        const most = Math.max(Math.abs(sorted[0]), Math.abs(sorted.at(-1)));
        assert.ok(high >= 0.999 * top && high <= 1.001 * Math.max(most, 1e-9), `${name}: the scale ends at ${high}, of ${most}`);
        assert.equal(low, name === "tension" || name === "twist" ? -high : 0, `${name}: a sign is even about 0, a size begins there`);
        const typed = Number(await page.inputValue("#legend-high")), unit = await page.textContent("#legend-unit");
        const factor = { m: 1e-3, "µ": 1e-6 }[unit.length > 1 && "mµ".includes(unit[0]) && unit !== "m/s" ? unit[0] : ""] ?? 1;
        assert.ok(Math.abs(typed * factor - high) <= 0.006 * high, `${name}: ${typed} ${unit} stands for ${high}`);
    }
    await tidy(page);
}

async function blueSticksAndOrangeSlides() {
    const page = await ready(run.url);
    await page.click("#colours [data-field=state]");
    await until(page, () => window.filum.state().colour === "state" && window.filum.array("state").length > 0);
    const right = [0, 0, 0], wrong = [0, 0, 0];
    const hue = ([r, g, b]) => (b > r + 15 ? 1 : r > g + 15 && r > b + 15 ? 2 : 0);
    const note = (seen, wanted) => (seen === wanted ? right : wrong)[wanted]++;
    const dots = await page.evaluate(() => Array.from({ length: window.filum.state().contacts }, (_, i) => {
        const row = window.filum.contact(i), at = window.filum.project(row.slice(0, 3));
        return window.filum.pickAt(at.x, at.y)?.index === i ? { ...at, state: row[11] } : null;
    }).filter((dot) => dot !== null));
    await press(page, "a"); // arrows would hide the dots
    const dotted = await shot(page);
    await press(page, "c"); // dots would hide the rods
    const picture = await shot(page);
    const isSeen = ({ x, y }) => dotted.at(x, y).some((value, k) => Math.abs(value - picture.at(x, y)[k]) > 20);
    dots.filter(isSeen).forEach((dot) => note(hue(dotted.at(dot.x, dot.y)), dot.state));
    assert.ok(right[1] > wrong[1] && right[2] > wrong[2], `dots: ${right} are right, ${wrong} wrong`);
    right.fill(0);
    wrong.fill(0);
    const states = await page.evaluate(() => window.filum.array("state"));
    for (let i = 0; i < states.length; i++) {
        const picked = states[i] > 0 ? await page.evaluate((k) => {
            const at = window.filum.project(window.filum.point(k));
            const hit = window.filum.pickAt(at.x, at.y);
            return hit?.kind === "rod" && hit.rod === Math.floor(k / 32) ? at : null;
        }, i) : null;
        if (picked) {
            note(hue(picture.at(picked.x, picked.y)), states[i]);
        }
    }
    assert.ok(right[1] > wrong[1] && right[1] > 2, `${right[1]} points that stick are blue, ${wrong[1]} are not`);
    assert.ok(right[2] > wrong[2] && right[2] > 1, `${right[2]} points that slide are orange, ${wrong[2]} are not`);
    const names = await page.evaluate(() => [...document.querySelectorAll("#legend-names span")]
        .map((name) => [name.textContent, getComputedStyle(name.querySelector("i")).backgroundColor.match(/\d+/g).map(Number)]));
    assert.deepEqual(names.map(([name, colour]) => [name, hue(colour)]), [["free", 0], ["sticks", 1], ["slides", 2]]);
    await tidy(page);
}

/** How much darker a place is with shadows, in a picture's small neighbourhood. */
const dimmed = (without, withThem, { x, y }) => Math.max(...[-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) =>
    without.at(x + dx, y + dy)[0] - withThem.at(x + dx, y + dy)[0])));

const thinRodsCastShadows = () => shadowsOfThinRods("#card=0");
const theyDoWithACardToo = () => shadowsOfThinRods("#card=1");

async function shadowsOfThinRods(how) {
    const thin = await standIn("--strands", "4", "--radius", "6e-4");
    const page = await ready(thin.url + how, { colorScheme: "light" });
    const toggle = (name) => page.evaluate((label) => [...document.querySelectorAll("#show label")]
        .find((row) => row.textContent.startsWith(label)).querySelector("input").click(), name);
    await toggle("Bodies");
    await page.evaluate(() => window.filum.camera({ elevation: 1.1 }));
    const withThem = await shot(page);
    await toggle("Shadows");
    const without = await shot(page);
    const light = [0.35, -0.45, 0.82];
    for (let strand = 0; strand < 4; strand++) {
        const places = await page.evaluate(([first, l]) => Array.from({ length: 16 }, (_, k) => {
            const p = window.filum.point(first + 8 + k);
            return window.filum.project(p.map((x, i) => x - (p[2] * l[i]) / l[2]));
        }), [POINTS * strand, light]);
        const dark = places.filter((at) => dimmed(without, withThem, at) > 25).length;
        assert.ok(dark >= 8, `strand ${strand}: ${dark} of 16 places are in its shadow`);
    }
    await tidy(page);
    await stop(thin.child);
}

async function aRibbonIsFlatAndAsWideAsItIs() {
    const page = await ready(run.url);
    for (const azimuth of [1.0, 1.5, 2.0]) {
        await page.evaluate((a) => window.filum.camera({ azimuth: a, elevation: 0.1 }), azimuth);
        const picture = await shot(page);
        for (const j of [6, 10, 14, 18]) {
            const { a, b, middle } = await page.evaluate((i) => {
                const [w, x, y, z] = window.filum.array("quaternion").slice(4 * i, 4 * i + 4);
                const n1 = [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)];
                const p = window.filum.point(i);
                const at = (t) => window.filum.project(p.map((v, k) => v + t * n1[k]));
                return { a: at(-0.006), b: at(0.006), middle: at(0) };
            }, 40 * POINTS + j);
            const wide = Math.abs(b.x - a.x);
            const isOn = (x) => saturation(picture.at(x, middle.y)) > 40;
            let left = 0, right = 0;
            while (left < 60 && isOn(middle.x - left - 1)) {
                left++;
            }
            while (right < 60 && isOn(middle.x + right + 1)) {
                right++;
            }
            assert.ok(Math.abs(left + right + 1 - wide) <= 0.2 * wide + 3, `from ${azimuth}, point ${j}: ${left + right + 1} pixels, not ${wide}`);
        }
    }
    await tidy(page);
}

async function twoFingersComeCloser() {
    const page = await ready(run.url, { viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true });
    const touch = await page.context().newCDPSession(page);
    const fingers = (type, half) => touch.send("Input.dispatchTouchEvent", {
        type, touchPoints: half === null ? [] : [{ x: 195 - half, y: 330, id: 0 }, { x: 195 + half, y: 330, id: 1 }],
    });
    const target = () => page.evaluate(() => window.filum.project(window.filum.target()));
    const before = await target();
    await fingers("touchStart", 40);
    for (const half of [50, 60, 70, 80]) {
        await fingers("touchMove", half);
    }
    await fingers("touchEnd", null);
    await drawn(page);
    const after = await target();
    assert.ok(Math.abs(before.depth / after.depth - 2) < 0.1, `twice as far apart, twice as near: ${before.depth / after.depth}`);
    assert.equal((await state(page)).selectedRod, -1, "and no click came of it");
    await tidy(page);
}

async function theScaleBarIsAsLongAsItSays() {
    const page = await ready(run.url);
    const [number, unit] = (await page.textContent("#scale-text")).split(" ");
    const length = Number(number) * { m: 1, mm: 1e-3, "µm": 1e-6 }[unit];
    const seen = await page.evaluate((l) => {
        const t = window.filum.target(), at = window.filum.project(t), up = window.filum.project([t[0], t[1], t[2] + 1e-3 * l]);
        return 1e3 * Math.hypot(up.x - at.x, up.y - at.y);
    }, length);
    const bar = (await page.locator("#scale-bar").boundingBox()).width;
    assert.ok(Math.abs(seen / Math.cos(0.32) - bar) < 0.02 * bar, `${bar} pixels for ${seen / Math.cos(0.32)}`); // the eye stands 0.32 rad high
    await tidy(page);
}

const hundredsOfHairsAreWhereTheyShouldBe = () => hundredsOfHairs("");
const withACardToo = () => hundredsOfHairs("#card=1");

async function hundredsOfHairs(how) {
    const { url, child } = await standIn("--strands", "300");
    const page = await ready(url + how);
    const picture = await shot(page);
    let on = 0;
    for (let strand = 0; strand < 300; strand += 10) {
        on += vivid(picture, await projected(page, strand * POINTS + 2)) > 25 ? 1 : 0;
    }
    assert.ok(on >= 28, `${on} of 30 hairs are where they are projected to`);
    const tubes = async () => (await state(page)).tubes;
    assert.ok((await tubes()) <= 1, "from afar hairs are strands, and only the ribbon has its form");
    await page.evaluate((i) => window.filum.camera({ distance: 0.006, at: window.filum.point(i) }), 299 * POINTS + 4);
    await drawn(page);
    const near = await tubes();
    assert.ok(near >= 2 && near < 100, `who comes near sees tubes, of what he sees: ${near}`);
    await tidy(page);
    await stop(child);
}

async function whatRestsHasSmoothEdges() {
    const page = await ready(run.url);
    const pixels = () => page.evaluate(() => document.querySelector("#view").width / document.querySelector("#view").clientWidth);
    assert.ok((await pixels()) >= 1.9, "four pixels are drawn for each that is shown");
    await page.selectOption("#speed", "0.25");
    await page.click("#do-play");
    await until(page, () => window.filum.state().frame > 1);
    assert.ok((await pixels()) <= 1, "but not while it plays");
    await tidy(page);
}

async function theSelectedRodIsTheBrightest() {
    const page = await ready(run.url);
    await press(page, "a");
    await press(page, "c");
    const light = (picture, { x, y }) => Math.max(...[-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => picture.at(x + dx, y + dy).reduce((a, b) => a + b))));
    const places = await Promise.all([6, 8, 10].map((j) => projected(page, 40 * POINTS + j)));
    const others = await Promise.all(Array.from({ length: 40 }, (_, strand) => projected(page, strand * POINTS + 2)));
    const before = await shot(page);
    await page.locator("#view").click({ position: places[1] });
    await until(page, () => window.filum.state().selectedRod === 40);
    const after = await shot(page);
    places.forEach((at) => assert.ok(light(after, at) > light(before, at) + 20, `${light(after, at)} after ${light(before, at)}`));
    const dimmed = others.filter((at) => light(after, at) < light(before, at)).length;
    assert.ok(dimmed >= 30, `${dimmed} of 40 others are darker`);
    await tidy(page);
}

async function theLowEndOfAScaleIsSeenOnADarkPage() {
    const page = await ready(run.url);
    await page.click("#colours [data-field=force]");
    await until(page, () => window.filum.state().colour === "force" && !document.querySelector("#legend").hidden);
    const low = () => page.evaluate(() => [...document.querySelector("#legend-bar").getContext("2d").getImageData(0, 0, 1, 1).data].slice(0, 3));
    const dark = await low();
    assert.ok(Math.max(...dark) > 110, `${dark} on a dark page`);
    await press(page, "d");
    await until(page, (was) => document.querySelector("#legend-bar").getContext("2d").getImageData(0, 0, 1, 1).data[0] < was, dark[0]);
    assert.ok(Math.max(...(await low())) < 110, "as dark as in pictures on a light one");
    await tidy(page);
}

async function aClickedRodShowsItsNumbersAndCurves() {
    const page = await ready(run.url);
    const p = await projected(page, 40 * POINTS + 8); // the ribbon hangs apart
    assert.equal((await page.evaluate(({ x, y }) => window.filum.pickAt(x, y), p)).rod, 40);
    await page.locator("#view").click({ position: p });
    await until(page, () => window.filum.state().selectedRod === 40);
    const text = await page.textContent("#selected");
    assert.match(text, /ribbon/);
    assert.match(text, /300 mm/);
    assert.match(text, /12 mm × 600 µm/);
    await until(page, () => /greatest tension/.test(document.querySelector("#selected").textContent));
    assert.equal(await page.locator("#selected canvas").count(), 5);
    await press(page, "o");
    assert.equal((await state(page)).followed, 40);
    await press(page, "Escape");
    assert.equal((await state(page)).selectedRod, -1);
    assert.ok(!(await page.isVisible("#selected")));
    await tidy(page);
}

async function aClickedContactShowsItsCone() {
    const page = await ready(run.url);
    const hit = await page.evaluate(() => {
        for (let i = 0; i < window.filum.state().contacts; i++) {
            const row = window.filum.contact(i);
            const at = window.filum.project(row.slice(0, 3));
            if (row[11] === 2 && window.filum.pickAt(at.x, at.y)?.index === i) {
                return { x: at.x, y: at.y, i };
            }
        }
        return null;
    });
    const before = await shot(page);
    await page.locator("#view").click({ position: hit });
    await until(page, (i) => window.filum.state().selectedContact === i, hit.i);
    const text = await page.textContent("#selected");
    assert.match(text, /Contact: slides/);
    assert.match(text, /friction coefficient0\.500 \(26\.6°\)/);
    assert.match(text, /friction \/ normal0\.5000 \(26\.6°\)/); // a force that slides lies on the cone
    const { height, radius } = await page.evaluate(() => window.filum.cone());
    assert.ok(Math.abs(radius / height - 0.5) < 1e-6, "as wide as the coefficient says");
    const after = await shot(page);
    const rim = await page.evaluate(({ i, height, radius }) => {
        const row = window.filum.contact(i), p = row.slice(0, 3), n = row.slice(3, 6);
        const u = Math.abs(n[2]) < 0.9 ? [-n[1], n[0], 0] : [0, -n[2], n[1]], l = Math.hypot(...u);
        const e = u.map((v) => v / l), f = [n[1] * e[2] - n[2] * e[1], n[2] * e[0] - n[0] * e[2], n[0] * e[1] - n[1] * e[0]];
        const at = (h, r, t) => window.filum.project(p.map((v, k) => v + h * n[k] + r * (Math.cos(t) * e[k] + Math.sin(t) * f[k])));
        const inside = (side) => [0, 1, 2, 3, 4, 5].flatMap((k) => [0.5, 0.7, 0.9].map((h) => at(side * h * height, 0.8 * h * radius, k)));
        return { inside: inside(1), beyond: inside(-1), on: Array.from({ length: 48 }, (_, k) => at(height, radius, k / 7.64)), off: Array.from({ length: 48 }, (_, k) => at(-height, radius, k / 7.64)) };
    }, { i: hit.i, height, radius });
    const tinted = ({ x, y }) => before.at(x, y).some((value, k) => Math.abs(value - after.at(x, y)[k]) > 12);
    const filled = rim.inside.filter(tinted).length, empty = rim.beyond.filter(tinted).length;
    assert.ok(filled >= 9 && empty <= 4, `${filled} of 18 points inside are tinted, and ${empty} beyond its tip`);
    const changed = ({ x, y }) => [-1, 0, 1].some((dx) => [-1, 0, 1].some((dy) => {
        const a = before.at(x + dx, y + dy), b = after.at(x + dx, y + dy);
        return Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2]) > 24;
    }));
    const on = rim.on.filter(changed).length, off = rim.off.filter(changed).length;
    assert.ok(on >= 24, `${on} of 48 points of its rim are drawn`); // strands hide others
    assert.ok(off <= 12, `${off} of 48 points are drawn on the other side`);
    await tidy(page);
}

async function theCameraTurnsMovesComesCloserAndFits() {
    const page = await ready(run.url);
    const before = await projected(page, 0);
    const drag = async (dx, dy, button = "left") => {
        await page.mouse.move(120, 420);
        await page.mouse.down({ button });
        await page.mouse.move(120 + dx / 2, 420 + dy / 2);
        await page.mouse.move(120 + dx, 420 + dy);
        await page.mouse.up({ button });
        await drawn(page);
        return projected(page, 0);
    };
    const panned = await drag(40, 10, "right");
    assert.ok(Math.abs(panned.x - before.x - 40) < 8, "a point near the target moves with the mouse");
    const turned = await drag(80, 0);
    assert.ok(Math.hypot(turned.x - panned.x, turned.y - panned.y) > 1);
    await page.mouse.wheel(0, -240);
    await drawn(page);
    assert.ok((await projected(page, 0)).depth < turned.depth);
    await press(page, "f");
    await drawn(page);
    for (let i = 0; i < 41 * POINTS; i += 64) {
        const p = await projected(page, i);
        assert.ok(p.x > 0 && p.x < 900 && p.y > 0 && p.y < 600, "all points are in the window");
    }
    await tidy(page);
}

async function helpThemeAndSwitchesWork() {
    const page = await ready(run.url);
    await press(page, "?");
    assert.ok(await page.isVisible("#help"));
    await page.keyboard.press("Escape");
    assert.ok(!(await page.isVisible("#help")), "Esc closes the help");
    for (const [width, height] of [[390, 844], [800, 600]]) {
        await page.setViewportSize({ width, height });
        await page.click("#do-help");
        const close = await page.locator("#help button").boundingBox(), first = await page.locator("#help kbd").first().boundingBox();
        assert.ok(close.y >= 0 && close.y + close.height < height, "Close is in the window");
        assert.ok(first.y > close.y && first.y < close.y + 100, "the help begins at its top");
        await page.click("#help button");
    }
    await page.setViewportSize({ width: 900, height: 600 });
    await press(page, "l");
    assert.equal(await page.getAttribute("#do-loop", "aria-pressed"), "true", "that it plays again and again is seen");
    await press(page, "l");
    const few = await page.evaluate(() => [...document.querySelectorAll("canvas.plot")].map((plot) => plot.dataset.ticks)
        .filter((ticks) => ticks.split(" | ").some((axis) => axis.split(", ").length < 2)));
    assert.deepEqual(few, [], "every axis has two numbers or more");
    await press(page, "f");
    const dark = (await shot(page)).at(20, 300);
    await page.click("#do-theme");
    const light = (await shot(page)).at(20, 300);
    assert.ok(light[0] > dark[0] + 80);
    await page.click("#sec-show summary");
    for (const box of await page.locator("#show input[type=checkbox]").all()) {
        await box.click();
    }
    await drawn(page);
    for (const button of await page.locator("button").all()) {
        const name = (await button.getAttribute("aria-label")) || (await button.textContent());
        assert.ok(name.trim().length > 0, "every button has a name");
    }
    await tidy(page);
}

async function colourButtonsAreRadioButtonsForTheKeyboard() {
    const page = await ready(run.url);
    const isChosen = (name) => until(page, (n) => window.filum.state().colour === n
        && document.querySelector(`#colours [data-field=${n}]`).getAttribute("aria-checked") === "true", name);
    const focused = () => page.evaluate(() => document.activeElement.dataset.field);
    const tabbed = () => page.locator("#colours [tabindex='0']").count();
    const frame = (await state(page)).frame;
    await page.locator("#colours [data-field=rod]").focus();
    for (const [key, name] of [["ArrowRight", "tension"], ["ArrowDown", "curvature"], ["ArrowLeft", "tension"], ["ArrowUp", "rod"],
        ["ArrowLeft", "state"], ["ArrowRight", "rod"], ["End", "state"], ["Home", "rod"]]) {
        await page.keyboard.press(key);
        await isChosen(name);
        assert.equal(await focused(), name);
        assert.equal(await tabbed(), 1, "Tab finds one of them");
    }
    assert.equal((await state(page)).frame, frame, "no arrow went to another frame");
    await tidy(page);
}

async function spacePlaysAfterAClickAndPressesWhatTabFinds() {
    const page = await ready(run.url);
    const plays = async (on) => until(page, (want) => window.filum.state().playing === want, on);
    await page.click("#colours [data-field=speed]");
    for (const on of [true, false]) {
        await page.keyboard.press(" ");
        await plays(on);
    }
    await page.click("#sec-show summary");
    await page.locator("#show label", { hasText: "Shadows" }).click();
    await page.waitForFunction(() => document.activeElement === document.body);
    for (const on of [true, false]) {
        await page.keyboard.press(" ");
        await plays(on);
    }
    const box = page.locator("#show label", { hasText: "Shadows" }).locator("input");
    assert.equal(await box.isChecked(), false);
    await box.focus();
    await page.keyboard.press(" ");
    assert.equal(await box.isChecked(), true, "space presses the box that has the focus");
    await page.locator("#do-loop").focus();
    await page.keyboard.press(" ");
    assert.equal(await page.getAttribute("#do-loop", "aria-pressed"), "true");
    assert.equal((await state(page)).playing, false);
    await tidy(page);
}

/** WCAG's contrast of two colours, each [red, green, blue]. */
function contrast(a, b) {
    const light = (rgb) => {
        const [r, g, bl] = rgb.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
    };
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
}

async function namesOfCurvesCanBeReadInBothThemes() {
    const page = await ready(run.url);
    const p = await projected(page, 40 * POINTS + 8);
    await page.locator("#view").click({ position: p });
    await until(page, () => window.filum.state().selectedRod === 40);
    for (const theme of ["dark", "light"]) {
        await until(page, (want) => document.documentElement.dataset.theme === want, theme);
        const picture = await shot(page);
        const panel = await page.locator("#panel").boundingBox();
        const back = [...picture.at(Math.round(panel.x) + 6, Math.round(panel.y + panel.height) - 8)].slice(0, 3);
        const texts = await page.evaluate(() => [...document.querySelectorAll(".plot-title b, .plot-title i, .facts dt, #about")]
            .map((at) => [at.textContent, getComputedStyle(at).color.match(/\d+/g).map(Number).slice(0, 3)]));
        assert.ok(texts.length > 15, `${texts.length} texts`);
        for (const [text, colour] of texts) {
            assert.ok(contrast(colour, back) >= 4.5, `${text}: ${contrast(colour, back).toFixed(1)}:1 in the ${theme} theme`);
        }
        const curve = await page.evaluate(() => {
            const plot = document.querySelector("#plots canvas"), g = plot.getContext("2d");
            const { data } = g.getImageData(60, 0, plot.width - 70, plot.height - 20);
            const wanted = getComputedStyle(document.querySelector("#plots .plot-title i")).color.match(/\d+/g).map(Number);
            let like = 0;
            for (let i = 0; i < data.length; i += 4) {
                like += data[i + 3] > 200 && [0, 1, 2].every((k) => Math.abs(data[i + k] - wanted[k]) < 24) ? 1 : 0;
            }
            return like;
        });
        assert.ok(curve > 20, `${curve} pixels of a curve have the colour of its name in the ${theme} theme`);
        await press(page, "d");
    }
    await tidy(page);
}

async function aBrokenRunIsAMessage() {
    const words = "knot/result.h5 ends in the middle of a frame; it was cut off at byte 4096.";
    const { url, child } = await standIn("--broken", words);
    const page = await open(url);
    await until(page, (text) => document.querySelector("#banner").textContent === text, words);
    assert.ok(await page.isVisible("#banner"));
    await page.context().close();
    await stop(child);
}

async function aLostConnectionShowsAndComesBack() {
    const first = await standIn("--token", "again");
    const page = await ready(first.url);
    await stop(first.child);
    await until(page, () => window.filum.state().lost);
    assert.match(await page.textContent("#banner"), /lost.*again/);
    const port = new URL(first.url).port;
    const second = await standIn("--token", "again", "--port", port);
    await until(page, () => !window.filum.state().lost && document.querySelector("#banner").hidden);
    await press(page, "End");
    await until(page, () => window.filum.state().index === 59);
    await page.context().close();
    await stop(second.child);
}

async function aHangingServerIsLostAndComesBack() {
    const { url, child } = await standIn();
    const page = await ready(url);
    child.kill("SIGSTOP");
    await until(page, () => window.filum.state().lost);
    assert.match(await page.textContent("#banner"), /connection.*lost/);
    await page.click("#banner-close");
    assert.ok(!(await page.isVisible("#banner")), "who has read it can close it");
    child.kill("SIGCONT");
    await until(page, () => !window.filum.state().lost);
    await page.context().close();
    await stop(child);
}

async function aServerStartedAnewHasAnotherAddress() {
    const first = await standIn("--token", "one");
    const page = await ready(first.url);
    await stop(first.child);
    const second = await standIn("--token", "two", "--port", new URL(first.url).port);
    await until(page, () => /started anew: open the address/.test(document.querySelector("#banner").textContent));
    await page.setViewportSize({ width: 390, height: 844 });
    const banner = await page.locator("#banner").boundingBox();
    for (const id of ["#tools", "#bar", "#panel"]) {
        const box = await page.locator(id).boundingBox();
        assert.ok(banner.y >= box.y + box.height || banner.y + banner.height <= box.y, `the banner does not cover ${id}`);
    }
    await page.context().close();
    await stop(second.child);
}

async function aClickedBodyShowsWhereItIsAndWhatPressesOnIt() {
    const page = await ready(run.url);
    await page.evaluate(() => window.filum.goto(10));
    const hit = await page.evaluate(() => {
        const at = window.filum.project(window.filum.array("rigids").slice(0, 3));
        return window.filum.pickAt(at.x, at.y)?.from === "rigids" ? at : null;
    });
    await page.locator("#view").click({ position: hit });
    await until(page, () => /place160, -100, .* mmspeed[\d.]+ m?m\/scontacts0, 0 presscontact force on it0 N/.test(document.querySelector("#selected").textContent));
    await tidy(page);
}

async function aPhoneHasRoomForTheRods() {
    const page = await ready(run.url, { viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true });
    assert.ok(!(await page.isVisible("#panel")), "the panel is closed at first");
    for (const id of ["#do-play", "#scrub", "#speed", "#do-panel", "#clock"]) {
        const box = await page.locator(id).boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 760, `${id} is in the window`);
    }
    await page.evaluate(() => window.filum.setColour("tension"));
    await page.locator("#do-panel").tap();
    assert.ok(await page.isVisible("#panel"));
    await drawn(page);
    const panel = await page.locator("#panel").boundingBox(), legend = await page.locator("#legend").boundingBox();
    assert.ok(panel.height <= 0.45 * 760 + 1, `the panel takes ${panel.height} of 760`);
    assert.ok(legend.y + legend.height <= panel.y, "the legend stays above it");
    for (let i = 0; i < 41 * POINTS; i += 64) {
        const { x, y } = await projected(page, i);
        assert.ok(x > 0 && x < 390 && y > 0 && y < panel.y, "and so do the rods");
    }
    const [clock, speed] = [await page.locator("#clock").boundingBox(), await page.locator("#speed").boundingBox()];
    assert.ok(clock.y >= speed.y + speed.height || clock.x + clock.width <= speed.x, "the clock is clear of the speed");
    await page.locator("#do-panel").tap();
    await drawn(page);
    const p = await projected(page, 40 * POINTS + 8);
    await page.touchscreen.tap(p.x, p.y);
    await until(page, () => window.filum.state().selectedRod === 40);
    await tidy(page);
}

async function aRunLargerThanMemoryStreams() {
    const { url, child } = await standIn("--strands", "300");
    const page = await ready(`${url}#memory=2`);
    await page.selectOption("#speed", "4");
    await page.click("#do-play");
    await until(page, () => window.filum.state().frame === 59);
    const { bytes, kept } = await state(page);
    assert.ok(bytes < 4 * 1024 * 1024 && kept < 20, `${bytes} bytes of ${kept} frames are kept`);
    await tidy(page);
    await stop(child);
}

async function arrowsMoveTheSliderThatHasTheFocus() {
    const { url, child } = await standIn("--live");
    const page = await ready(url);
    await until(page, () => window.filum.state().server.running && document.querySelector("[aria-label='Friction hair on wood']"));
    const slider = page.locator("[aria-label='Friction hair on wood']");
    await slider.focus();
    const mu = () => page.evaluate(() => window.filum.state().server.friction[1].mu);
    const was = await mu();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowUp");
    await until(page, (value) => Math.abs(window.filum.state().server.friction[1].mu - value) < 1e-9, was + 0.02);
    await page.keyboard.press("ArrowLeft");
    await until(page, (value) => Math.abs(window.filum.state().server.friction[1].mu - value) < 1e-9, was + 0.01);
    await page.keyboard.press("Home");
    await until(page, () => window.filum.state().server.friction[1].mu === 0);
    const { server, atNow } = await state(page);
    assert.ok(server.running && atNow, "the world runs on, and is shown as it is");
    await tidy(page);
    await stop(child);
}

async function aLiveWorldIsSteeredAndPulled() {
    const { url, child } = await standIn("--live");
    const page = await ready(url);
    const server = async () => (await state(page)).server;
    await until(page, () => window.filum.state().atNow && window.filum.state().time > 0.05);
    await page.locator("#live button", { hasText: "Pause" }).click();
    await until(page, () => window.filum.state().server.running === false);
    const { time } = await server();
    await page.locator("#live button", { hasText: "Step" }).click();
    await until(page, (t) => window.filum.state().server.time > t, time);
    await page.locator("[aria-label='Gravity along z']").fill("-1.6");
    await page.locator("[aria-label='Gravity along z']").press("Enter");
    await page.locator("[aria-label='Wind along x']").fill("3");
    await page.locator("[aria-label='Wind along x']").press("Enter");
    await page.locator("[aria-label='Friction hair on wood']").fill("0.8");
    await until(page, () => {
        const s = window.filum.state().server;
        return s.gravity[2] === -1.6 && s.wind[0] === 3 && s.friction[1].mu === 0.8;
    });
    const z = page.locator("[aria-label='Gravity along z']");
    await z.fill("");
    await z.press("Enter");
    assert.equal(await z.inputValue(), "-1.6", "what was emptied comes back");
    await z.fill("-1e12");
    await z.press("Enter");
    await until(page, () => window.filum.state().server.gravity[2] === -1e12 && document.querySelector("[aria-label='Gravity along z']").value === "-1e12");
    await pull(page, 40 * POINTS + 20, () => until(page, () => /paused: it moves when you go on/.test(document.querySelector("#note").textContent)));
    await page.locator("#live button", { hasText: "Go on" }).click();
    await until(page, () => window.filum.state().server.running);
    await page.locator("#scrub").fill("1");
    await until(page, () => !window.filum.state().atNow && window.filum.state().index === 1);
    const count = () => page.evaluate(() => Number(document.querySelector("#clock").textContent.split(" / ")[1]));
    const seen = await count();
    await until(page, (n) => Number(document.querySelector("#clock").textContent.split(" / ")[1]) > n, seen); // it keeps up
    await page.click("#do-now");
    await until(page, () => window.filum.state().atNow && window.filum.state().index === 0xffffffff);
    await tidy(page);
    await stop(child);
}

/** Take hold of a point of a world that rests, pull it aside, let the world go on by `onward`, twist, let go. */
async function pull(page, point, onward = async () => {}) {
    const p = await projected(page, point);
    await page.mouse.move(p.x, p.y);
    await page.mouse.down();
    await page.mouse.move(p.x + 20, p.y);
    await page.mouse.move(p.x + 70, p.y - 15);
    await onward();
    await until(page, () => Math.hypot(...(window.filum.state().server.grab?.force ?? [0])) > 0);
    await page.mouse.wheel(0, 100);
    await until(page, () => Math.abs(window.filum.state().server.grab?.torque ?? 0) > 0);
    assert.match(await page.textContent("#note"), /force .*N\ntorque .*N m/);
    await page.mouse.up();
    await until(page, () => window.filum.state().server.grab === null);
    assert.ok(!(await page.isVisible("#note")));
}

// ---- the same page on the real program

const folder = mkdtempSync(join(tmpdir(), "filum-viewer-"));

async function programShowsAFinishedRun() {
    const out = join(folder, "knot");
    const made = spawnSync(PROGRAM, ["run", join(SCENES, "knot.json"), "--until", "0.1", "--out", out, "--threads", "1"], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    const { url, child } = await serve(PROGRAM, ["view", out]);
    const page = await ready(url, { page: PAGE });
    const { frames } = await state(page);
    assert.ok(frames > 2);
    await page.evaluate((k) => window.filum.goto(k), frames - 1);
    await until(page, (k) => window.filum.state().index === k, frames - 1);
    const picture = await shot(page);
    let on = 0;
    for (let i = 10; i < 90; i += 10) {
        on += vivid(picture, await projected(page, i)) > 60 ? 1 : 0;
    }
    assert.ok(on >= 7, `${on} of 8 points of the knot are on the screen`);
    for (const name of (await page.evaluate(() => [...document.querySelectorAll("#colours button")].map((b) => b.dataset.field)))) {
        await page.click(`#colours [data-field=${name}]`);
        await until(page, (n) => window.filum.state().colour === n && Number.isFinite(window.filum.state().range[1]), name);
    }
    const p = await projected(page, 20);
    await page.locator("#view").click({ position: p });
    await until(page, () => window.filum.state().selectedRod === 0);
    await tidy(page);
    await stop(child);
}

async function programIsSteeredAndPulled() {
    const out = join(folder, "live");
    const { url, child } = await serve(PROGRAM, ["run", join(SCENES, "lock.json"), "--live", "--until", "100000", "--out", out, "--threads", "1"]);
    const page = await ready(url, { page: PAGE });
    await until(page, () => window.filum.state().server.steps > 2);
    await page.locator("#live button", { hasText: "Pause" }).click();
    await until(page, () => {
        const { server, index, time } = window.filum.state();
        return !server.running && index === 0xffffffff && time === server.time;
    });
    await drawn(page);
    const { lines } = await page.evaluate(async () => (await fetch("api/run")).json());
    await pull(page, lines[0][1] + Math.floor(lines[0][2] * 0.8), () => press(page, " "));
    await tidy(page);
    await stop(child);
}

/** Too much for the world comes with an event; the page says so, gives gravity back, goes on beyond the end, and ends it. */
async function programPausesWhereItFailsAndAtItsEnd() {
    const scene = join(folder, "fails.json");
    writeFileSync(scene, JSON.stringify({
        duration: 0.04, step: "1 ms", materials: { hair: {} }, events: [{ time: 0.02, gravity: [0, 0, -1e200] }],
        rods: [{ model: "helix", elements: 5, material: "hair", length: "10 cm", radius: "0.1 mm", root: { at: [0, 0, 0], along: [1, 0, 0], held: "free" } }],
    }));
    const { url, child } = await serve(PROGRAM, ["run", scene, "--live", "--speed", "0", "--out", join(folder, "fails"), "--threads", "1"]);
    const page = await ready(url, { page: PAGE });
    await until(page, () => /leaves the range of numbers.*paused/.test(document.querySelector("#banner").textContent));
    await page.locator("[aria-label='Gravity along z']").fill("1e9");
    await page.locator("[aria-label='Gravity along z']").press("Enter");
    await until(page, () => /at most 100000/.test(document.querySelector("#banner").textContent));
    await until(page, () => document.querySelector("[aria-label='Gravity along z']").value === "-1e200"); // what the world has
    await page.locator("[aria-label='Gravity along z']").fill("-9.81");
    await page.locator("[aria-label='Gravity along z']").press("Enter");
    await page.locator("#live button", { hasText: "Go on" }).click();
    await until(page, () => /The scene has ended/.test(document.querySelector("#told").textContent) && document.querySelector("#banner").hidden);
    await page.locator("#live button", { hasText: "Step" }).click();
    await until(page, () => window.filum.state().server.steps === 41);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.locator("#live button", { hasText: "End" }).click();
    await until(page, () => /has ended, and so has Filum/.test(document.querySelector("#banner").textContent));
    assert.ok(await page.locator("[aria-label='Gravity along z']").isDisabled(), "nothing is left to be changed");
    assert.equal(await page.getAttribute("#do-play", "aria-label"), "Play");
    assert.equal(await ended(child), 0);
    await page.context().close();
}

/** The status that a program ends with. */
const ended = (child) => new Promise((done) => (child.exitCode !== null ? done(child.exitCode) : child.on("exit", done)));

/** A file of viewer/src that stands alone, without a browser. */
async function moduleOf(name) {
    const viewer = join(dirname(STAND_IN), "..");
    const { transformSync } = createRequire(join(viewer, "package.json"))("esbuild");
    const { code } = transformSync(readFileSync(join(viewer, "src", name), "utf8"), { loader: "ts", format: "esm" });
    return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

const newPace = async () => new (await moduleOf("pace.ts")).Pace();

/** So many pictures, `gap(scale)` ms apart; the scales that they had. */
function pictures(pace, count, gap) {
    return Array.from({ length: count }, () => {
        const now = Math.max(pace.last, 0) + gap(pace.scale);
        pace.judge(now);
        pace.note(now);
        return pace.scale;
    });
}

async function aStallCostsPixelsOnlyForAWhile() {
    for (const rate of [60, 30]) { // of screens; a saver of batteries may have the latter
        const pace = await newPace();
        const onTime = () => 1000 / rate;
        assert.ok(pictures(pace, 100, onTime).every((scale) => scale === 1));
        assert.ok(Math.abs(pace.fps - rate) < 1e-6, `${pace.fps} pictures/s at ${rate} Hz`);
        for (let stall = 0; stall < 8; stall++) {
            assert.ok(pictures(pace, 1, () => 900)[0] < 1, "a stall is taken for slowness");
            assert.equal(pictures(pace, 60, onTime).at(-1), 1, `stall ${stall}: soon all pixels are back`);
            assert.ok(pictures(pace, 400, onTime).every((scale) => scale === 1));
        }
    }
}

async function slowPicturesKeepFewerPixels() {
    const pace = await newPace();
    const scales = pictures(pace, 10_000, (scale) => (scale < 1 ? 20 : 40)); // quick enough with few, too slow with all
    const changes = scales.filter((scale, k) => k > 0 && scale !== scales[k - 1]).length;
    assert.ok(changes <= 40, `${changes} changes in three minutes`);
    assert.ok(scales.slice(2000).filter((scale) => scale < 1).length > 7800, "nearly always at the quick scale");
    for (const gap of [80, 900]) {
        const slowest = pictures(await newPace(), 100, () => gap);
        assert.ok(slowest.slice(20).every((scale) => scale < 1), `no pixels are added where even few take ${gap} ms`);
    }
}

async function fewFramesDoNotCostPixels() {
    const pace = await newPace();
    for (let k = 0; k < 100; k++) {
        pictures(pace, 1, () => 120);
        pace.rest();
    }
    assert.equal(pace.scale, 1, "eight frames a second are shown with all pixels");
}

async function curvesGoThroughTheirPointsWithoutCorners() {
    const { bend } = await moduleOf("curve.ts");
    const count = 9, pieces = 4;
    const circle = Float32Array.from({ length: 3 * (count + 1) }, (_, k) => [Math.cos, Math.sin, () => 2][k % 3](0.3 * Math.floor(k / 3)));
    const path = new Float32Array(3 * ((count - 1) * pieces + 1));
    bend(circle, 1, count, pieces, path);
    const radius = (k) => Math.hypot(path[3 * k], path[3 * k + 1]);
    for (let k = 0; k < path.length / 3; k++) {
        const isEnd = k < pieces || k > path.length / 3 - 1 - pieces; // there a line goes on straight
        assert.ok(Math.abs(radius(k) - 1) < (isEnd ? 0.012 : 1e-3), `piece ${k} of a circle is ${radius(k)} from its middle`);
        assert.ok(Math.abs(path[3 * k + 2] - 2) < 1e-6);
    }
    for (let i = 0; i < count; i++) {
        assert.deepEqual([...path.subarray(3 * pieces * i, 3 * pieces * i + 3)], [...circle.subarray(3 * i + 3, 3 * i + 6)]);
    }
    const point = new Float32Array(3);
    bend(circle, 2, 1, pieces, point);
    assert.deepEqual([...point], [...circle.subarray(6, 9)]);
}

/** viewer/src/painter.ts as it is, without a browser. */
async function painterParts() {
    const viewer = join(dirname(STAND_IN), "..");
    const { buildSync } = createRequire(join(viewer, "package.json"))("esbuild");
    const contents = 'export { PerspectiveCamera } from "three"; export { Painter } from "./painter"; export { light } from "./shade";';
    const { outputFiles } = buildSync({ stdin: { contents, resolveDir: join(viewer, "src") }, bundle: true, write: false, format: "esm" });
    return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** What it draws of lines in 64 x 64 pixels, seen along y: the colour at a pixel, counted from the lower left. */
function painted({ PerspectiveCamera, Painter, light }, lines) {
    const camera = new PerspectiveCamera(90, 1, 0.1, 10);
    camera.position.set(0, -1, 0);
    camera.up.set(0, 0, 1);
    camera.lookAt(0, 0, 0);
    camera.updateMatrixWorld();
    light.eye.value.set(0, -1, 0, 1);
    light.pixel.value = 2 / 64;
    const rod = (line) => ({ radius: line.radius, contactRadius: line.radius, ribbon: null });
    const painter = new Painter({ rods: lines.map(rod), lines: lines.map((line, k) => [k, 2 * k, 2, line.radius]) });
    const xyz = Float32Array.from(lines.flatMap(({ from, to }) => [...from, ...to]));
    const colours = Uint32Array.from(lines.flatMap(({ colour }) => [colour, colour]));
    painter.paint({ xyz, colours, isDrawn: () => true, selected: -1, thickness: 1, smooth: false, most: 1 }, camera, 64, 64);
    const { data } = painter.mesh.material.uniforms.colours.value.image;
    return (x, y) => [...data.subarray(4 * (64 * y + x), 4 * (64 * y + x) + 3)];
}

async function withoutAGraphicsCardTheNearerStrandIsInFront() {
    const parts = await painterParts();
    for (const radius of [1e-3, 0.1]) { // a pixel wide, and wider
        const red = { from: [-0.5, 0, 0], to: [0.5, -0.6, 0], colour: 0x2020ff, radius };
        const blue = { from: [0, 0.1, -0.5], to: [0, 0.1, 0.5], colour: 0xff2020, radius };
        for (const lines of [[red, blue], [blue, red]]) {
            const at = painted(parts, lines);
            const [r, , b] = at(32, 32), [r2, , b2] = at(32, 24);
            assert.ok(r > b && b2 > r2, `whichever is drawn first: ${at(32, 32)} where they cross, ${at(32, 24)} beside it`);
        }
    }
}

async function withoutAGraphicsCardTheSideTowardsTheLightIsBright() {
    const parts = await painterParts();
    const sum = (rgb) => rgb.reduce((a, b) => a + b);
    for (const [x, z] of [[0.5, 0], [-0.5, 0], [0, 0.5], [0, -0.5], [0.4, 0.3], [-0.3, 0.4]]) { // light comes from above, and from the right
        const at = painted(parts, [{ from: [-x, 0, -z], to: [x, 0, z], colour: 0x808080, radius: 0.2 }]);
        const [dx, dy] = Math.abs(z) > Math.abs(x) ? [4, 0] : [0, 4];
        const bright = sum(at(32 + dx, 32 + dy)), dark = sum(at(31 - dx, 31 - dy));
        assert.ok(bright > dark + 30, `along ${x}, ${z}: ${bright} on the side of the light, ${dark} on the other`);
    }
}

const TESTS = [
    curvesGoThroughTheirPointsWithoutCorners, aStallCostsPixelsOnlyForAWhile, slowPicturesKeepFewerPixels, fewFramesDoNotCostPixels,
    withoutAGraphicsCardTheNearerStrandIsInFront, withoutAGraphicsCardTheSideTowardsTheLightIsBright,
    theRodsAreWhereTheyShouldBe, playingGoesThroughTheFramesAndEnds, scrubbingAndSteppingShowTheFrame,
    hundredsOfHairsAreWhereTheyShouldBe, withACardToo, everyColourHasItsLegendAndChangesThePicture, aColourIsTheNumberThatItSays,
    blueSticksAndOrangeSlides, thinRodsCastShadows, theyDoWithACardToo, aRibbonIsFlatAndAsWideAsItIs, twoFingersComeCloser, theScaleBarIsAsLongAsItSays, aClickedRodShowsItsNumbersAndCurves, aClickedContactShowsItsCone,
    whatRestsHasSmoothEdges, theSelectedRodIsTheBrightest, theLowEndOfAScaleIsSeenOnADarkPage,
    theCameraTurnsMovesComesCloserAndFits, helpThemeAndSwitchesWork, aBrokenRunIsAMessage, aLostConnectionShowsAndComesBack,
    aHangingServerIsLostAndComesBack, aServerStartedAnewHasAnotherAddress, aClickedBodyShowsWhereItIsAndWhatPressesOnIt,
    aPhoneHasRoomForTheRods, aRunLargerThanMemoryStreams, aLiveWorldIsSteeredAndPulled,
    colourButtonsAreRadioButtonsForTheKeyboard, spacePlaysAfterAClickAndPressesWhatTabFinds, namesOfCurvesCanBeReadInBothThemes,
    arrowsMoveTheSliderThatHasTheFocus,
];
if (PROGRAM && !String(spawnSync(PROGRAM, ["--version"]).stdout).includes("no viewer")) {
    TESTS.push(programShowsAFinishedRun, programIsSteeredAndPulled);
    TESTS.push(programPausesWhereItFailsAndAtItsEnd);
} else {
    console.log("skip the program: it was built without its page");
}

let failed = 0, passed = 0;
for (const test of TESTS.filter(({ name }) => name.startsWith(only))) {
    const name = test.name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    try {
        await test();
        passed++;
        console.log(`ok   ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAIL ${name}\n${error.stack}`);
    }
}
console.log(`${passed} passed, ${failed} failed`);
await browser.close();
children.filter((child) => child.exitCode === null).forEach((child) => child.kill("SIGKILL"));
rmSync(folder, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);
