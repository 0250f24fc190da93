// build.mjs - src/ becomes dist/index.html: one page with script and style inside, and nothing to fetch.
//
// The page is served under a policy that allows inline script and style alone, so everything has to
// be in it. "</script" inside the bundle would end the script early; it is written as "<\/script".
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const source = (name) => join(here, "src", name);

async function bundle(entry, loader) {
    const result = await build({
        entryPoints: [source(entry)],
        bundle: true,
        minify: true,
        write: false,
        target: "es2022",
        format: "iife",
        legalComments: "none",
        loader,
        logLevel: "warning",
    });
    return result.outputFiles[0].text;
}

const script = (await bundle("main.ts")).replaceAll(/<\/(script)/gi, "<\\/$1");
const style = await bundle("style.css");
const page = (await readFile(source("index.html"), "utf8"))
    .replace("/*STYLE*/", () => style)
    .replace("/*SCRIPT*/", () => `/* three.js: MIT licence, (c) three.js authors */\n${script}`);
await mkdir(join(here, "dist"), { recursive: true });
await writeFile(join(here, "dist", "index.html"), page);
console.log(`dist/index.html: ${(page.length / 1024).toFixed(0)} KiB`);
