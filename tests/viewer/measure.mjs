// measure.mjs - how fast the viewer is in Chromium: what docs/benchmarks.md says of it.
//
//   filum view RUN                                       (prints an address)
//   node measure.mjs ADDRESS [WIDTHxHEIGHT] [SPEED] [FLAGS OF CHROMIUM...]
//
// It runs in the folder that tests/viewer/run makes (build/browser/tests), which has playwright-core. Without
// flags Chromium draws in software; with a card for example --use-gl=angle --use-angle=gl-egl. Prints who
// draws, milliseconds for a picture until its pixels are there, of the same frame and of a new one, and
// four times the pictures a second over the last two, while the run plays again and again.
import { chromium } from "playwright-core";

const SOFTWARE = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const [url, size = "1280x720", speed = "1", ...flags] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--headless=new", "--ignore-gpu-blocklist", ...(flags.length > 0 ? flags : SOFTWARE)],
});
const page = await (await browser.newContext({ viewport: { width, height }, colorScheme: "dark" })).newPage();
await page.goto(url);
await page.waitForFunction(() => window.filum?.ready && window.filum.state().index >= 0);
console.log(await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    return gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL);
}));
for (const [name, fresh] of [["same frame", false], ["new frame", true]]) {
    console.log(name, (await page.evaluate((isFresh) => window.filum.bench(30, isFresh), fresh)).toFixed(1), "ms");
}
await page.selectOption("#speed", speed);
await page.locator("#view").press("l");
await page.click("#do-play");
for (let k = 0; k < 4; k++) {
    await page.waitForTimeout(2500);
    console.log(await page.evaluate(() => `${window.filum.fps().toFixed(1)} pictures/s, scale ${window.filum.quality()}`));
}
await browser.close();
