// Prints what Khronos' validator says of a glTF file, as JSON:
//     node check_glb.mjs FOLDER_OF_NODE_MODULES FILE
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const validator = createRequire(`${process.argv[2]}/`)("gltf-validator");
const report = await validator.validateBytes(new Uint8Array(readFileSync(process.argv[3])));
console.log(JSON.stringify(report));
