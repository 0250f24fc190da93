// Reads a USD file with tinyusdz and prints what it understood, as USD text:
//     node read_usda.mjs FOLDER_OF_NODE_MODULES FILE
// The package is built for browsers; here it gets its bytes from the disk.
import { copyFileSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = `${process.argv[2]}/tinyusdz`;
process.type = "renderer";
globalThis.window = globalThis;
copyFileSync(`${folder}/tinyusdz.js`, `${folder}/tinyusdz.mjs`); // Node 18 goes by the name
const start = (await import(pathToFileURL(`${folder}/tinyusdz.mjs`))).default;
const wasm = readFileSync(`${folder}/tinyusdz.wasm`);
const usd = await start({
    instantiateWasm(imports, done) {
        WebAssembly.instantiate(wasm, imports).then((it) => done(it.instance, it.module));
        return {};
    },
});
const bytes = new Uint8Array(readFileSync(process.argv[3]));
const stage = new usd.TinyUSDZLoaderNative();
const layer = new usd.TinyUSDZLoaderNative();
if (!stage.loadFromBinary(bytes, "run.usda") || !layer.loadAsLayerFromBinary(bytes, "run.usda")) {
    console.error(stage.error() || layer.error() || "it was not read");
    process.exit(1);
}
console.log(layer.layerToString());
