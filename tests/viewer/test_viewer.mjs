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
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    await page.selectOption("#speed", "4");
    await page.click("#do-play");
    await until(page, () => window.filum.state().frame > 0);
    await until(page, () => !window.filum.state().playing && window.filum.state().frame === window.filum.state().frames - 1);
    assert.match(await page.textContent("#clock"), /60 \/ 60/);
    await tidy(page);
}

async function scrubbingAndSteppingShowTheFrame() {
    const page = await ready(run.url);
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
    await page.locator("#legend-high").fill("0.5");
    await page.locator("#legend-high").press("Enter");
    await until(page, () => window.filum.state().range[1] === 0.5);
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
    await page.locator("#view").click({ position: hit });
    await until(page, (i) => window.filum.state().selectedContact === i, hit.i);
    const text = await page.textContent("#selected");
    assert.match(text, /Contact: slides/);
    assert.match(text, /friction coefficient0\.500 \(26\.6°\)/);
    assert.match(text, /friction \/ normal0\.5000 \(26\.6°\)/); // a force that slides lies on the cone
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
    await page.click("#help button");
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

async function aPhoneHasRoomForTheRods() {
    const page = await ready(run.url, { viewport: { width: 390, height: 760 }, hasTouch: true, isMobile: true });
    assert.ok(!(await page.isVisible("#panel")), "the panel is closed at first");
    for (const id of ["#do-play", "#scrub", "#speed", "#do-panel", "#clock"]) {
        const box = await page.locator(id).boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 760, `${id} is in the window`);
    }
    await page.locator("#do-panel").tap();
    assert.ok(await page.isVisible("#panel"));
    await page.locator("#do-panel").tap();
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
    await pull(page, 40 * POINTS + 20);
    await page.locator("#live button", { hasText: "Go on" }).click();
    await until(page, () => window.filum.state().server.running);
    await page.locator("#scrub").fill("1");
    await until(page, () => !window.filum.state().atNow && window.filum.state().index === 1);
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
        duration: 0.04, step: "1 ms", materials: { hair: {} }, events: [{ time: 0.02, gravity: [0, 0, -1e12] }],
        rods: [{ model: "helix", elements: 5, material: "hair", length: "10 cm", radius: "0.1 mm", root: { at: [0, 0, 0], along: [1, 0, 0], held: "clamped" } }],
    }));
    const { url, child } = await serve(PROGRAM, ["run", scene, "--live", "--speed", "0", "--out", join(folder, "fails"), "--threads", "1"]);
    const page = await ready(url, { page: PAGE });
    await until(page, () => /leaves the range of numbers.*paused/.test(document.querySelector("#banner").textContent));
    await page.locator("[aria-label='Gravity along z']").fill("1e9");
    await page.locator("[aria-label='Gravity along z']").press("Enter");
    await until(page, () => /at most 100000/.test(document.querySelector("#banner").textContent));
    await page.locator("[aria-label='Gravity along z']").fill("-9.81");
    await page.locator("[aria-label='Gravity along z']").press("Enter");
    await page.locator("#live button", { hasText: "Go on" }).click();
    await until(page, () => /end of the scene/.test(document.querySelector("#told").textContent) && document.querySelector("#banner").hidden);
    await page.locator("#live button", { hasText: "Step" }).click();
    await until(page, () => window.filum.state().server.steps === 41);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.locator("#live button", { hasText: "End" }).click();
    await until(page, () => /has ended, and Filum with it/.test(document.querySelector("#banner").textContent));
    assert.equal(await ended(child), 0);
    await page.context().close();
}

/** The status that a program ends with. */
const ended = (child) => new Promise((done) => (child.exitCode !== null ? done(child.exitCode) : child.on("exit", done)));

const TESTS = [
    theRodsAreWhereTheyShouldBe, playingGoesThroughTheFramesAndEnds, scrubbingAndSteppingShowTheFrame,
    everyColourHasItsLegendAndChangesThePicture, aClickedRodShowsItsNumbersAndCurves, aClickedContactShowsItsCone,
    theCameraTurnsMovesComesCloserAndFits, helpThemeAndSwitchesWork, aBrokenRunIsAMessage, aLostConnectionShowsAndComesBack,
    aPhoneHasRoomForTheRods, aRunLargerThanMemoryStreams, aLiveWorldIsSteeredAndPulled,
];
if (PROGRAM && spawnSync(PROGRAM, ["view", "--help"]).status === 0) {
    TESTS.push(programShowsAFinishedRun, programIsSteeredAndPulled);
    TESTS.push(programPausesWhereItFailsAndAtItsEnd);
} else {
    console.log("skip the program: it has no view");
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
