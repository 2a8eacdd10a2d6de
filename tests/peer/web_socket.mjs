// As web_socket.py, with npm's `ws`.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { WebSocket } = createRequire(`${process.env.ABIDE_TEST_NPM}/`)("ws");
const [url, authorization, ...subprotocols] = process.argv.slice(2);
const headers = authorization === "-" ? {} : { Authorization: authorization };
const socket = new WebSocket(url, subprotocols, { headers, maxPayload: 0 });

const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

socket.on("unexpected-response", (request, response) => {
    let body = "";
    response.on("data", (data) => (body += data));
    response.on("end", () => {
        say({ refused: response.statusCode, body });
        process.exit();
    });
});
// What is wrong is said by what closes it.
socket.on("error", () => {});
socket.on("open", () => {
    say({ open: socket.protocol || null });
    const lines = createInterface({ input: process.stdin });
    lines.on("line", (line) => {
        const size = Number(line.slice(1));
        if (line[0] === "!") socket.send("x".repeat(size));
        else if (line[0] === "=") socket.send(Buffer.alloc(size, "x"));
        else if (line[0] === "?") for (let count = 0; count < size; count++) socket.ping();
        else socket.send(line);
    });
    lines.on("close", () => socket.close());
});
socket.on("message", (frame) => process.stdout.write(`${frame}\n`));
socket.on("close", (code, reason) => {
    say({ closed: code, reason: reason.toString() });
    process.exit();
});
