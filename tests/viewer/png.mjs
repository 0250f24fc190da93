// png.mjs - the pixels of a screenshot: 8 bits a channel, not interlaced, which is what browsers write.
import { inflateSync } from "node:zlib";

export function decodePng(file) {
    const width = file.readUInt32BE(16), height = file.readUInt32BE(20);
    const channels = { 2: 3, 6: 4 }[file[25]];
    const parts = [];
    for (let at = 8; at < file.length; ) {
        const length = file.readUInt32BE(at);
        if (file.toString("latin1", at + 4, at + 8) === "IDAT") {
            parts.push(file.subarray(at + 8, at + 8 + length));
        }
        at += 12 + length;
    }
    const raw = inflateSync(Buffer.concat(parts));
    const row = width * channels;
    const data = Buffer.alloc(row * height);
    for (let y = 0; y < height; y++) {
        const filter = raw[y * (row + 1)];
        for (let x = 0; x < row; x++) {
            const at = y * row + x;
            const left = x >= channels ? data[at - channels] : 0;
            const up = y > 0 ? data[at - row] : 0;
            const corner = x >= channels && y > 0 ? data[at - row - channels] : 0;
            data[at] = raw[y * (row + 1) + 1 + x] + predict(filter, left, up, corner);
        }
    }
    return { width, height, at: (x, y) => [...data.subarray(Math.round(y) * row + Math.round(x) * channels).subarray(0, 3)] };
}

function predict(filter, left, up, corner) {
    switch (filter) {
        case 1: return left;
        case 2: return up;
        case 3: return (left + up) >> 1;
        case 4: {
            const p = left + up - corner;
            const a = Math.abs(p - left), b = Math.abs(p - up), c = Math.abs(p - corner);
            return a <= b && a <= c ? left : b <= c ? up : corner;
        }
        default: return 0;
    }
}
