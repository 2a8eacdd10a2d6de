// As events.py, with npm's `eventsource`, which comes back by itself. Arguments after these two are the names of events.

import { createRequire } from "node:module";

const { EventSource } = createRequire(`${process.env.ABIDE_TEST_NPM}/`)("eventsource");
const [url, authorization, ...names] = process.argv.slice(2);

// What the library waits before it comes back, before and after the server has said how long.
const later = globalThis.setTimeout;
globalThis.setTimeout = (what, ms, ...more) => later(what, [2000, 3000].includes(ms) ? 10 : ms, ...more);

const withToken = (input, init) => fetch(input, { ...init, headers: { ...init.headers, authorization } });
const source = new EventSource(url, { fetch: withToken });

function say(event) {
    const data = JSON.parse(event.data);
    const name = event.type === "message" ? "" : event.type;
    process.stdout.write(`${JSON.stringify({ id: event.lastEventId, event: name, data })}\n`);
    if (data.type === "completed" && data.final) source.close();
}

// An event of the stream may have the name of those by which the library reports.
source.addEventListener("error", (event) => {
    if (event.data !== undefined) say(event);
    else if (event.code !== undefined && event.code !== 204) console.error(event.message);
});
for (const name of ["message", ...names.filter((name) => name !== "error")]) source.addEventListener(name, say);
