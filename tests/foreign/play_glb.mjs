// Loads a glTF file with three.js, goes to a time of its animation, and prints as JSON where the
// vertices of each mesh are in the world then:
//     node play_glb.mjs FOLDER_OF_NODE_MODULES FILE SECONDS
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/three/`).href;
const { AnimationMixer, LoopOnce, Vector3 } = await import(`${folder}build/three.module.js`);
const { GLTFLoader } = await import(`${folder}examples/jsm/loaders/GLTFLoader.js`);

const bytes = readFileSync(process.argv[3]);
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const { scene, animations } = await new GLTFLoader().parseAsync(buffer, "");
if (animations.length > 0) {
    const mixer = new AnimationMixer(scene);
    const action = mixer.clipAction(animations[0]);
    action.setLoop(LoopOnce);
    action.clampWhenFinished = true;
    action.play();
    mixer.setTime(Number(process.argv[4]));
}
scene.updateMatrixWorld(true);
const places = {};
scene.traverse((thing) => {
    if (thing.isMesh) {
        places[thing.name] = Array.from({ length: thing.geometry.attributes.position.count }, (_, k) =>
            thing.localToWorld(thing.getVertexPosition(k, new Vector3())).toArray());
    }
});
console.log(JSON.stringify(places));
