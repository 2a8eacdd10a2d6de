#!/usr/bin/env node
// Abide in a terminal, over its HTTP interface: a session with live text, approvals and questions.
// Also an example of such a client; docs/http.md has all routes and events. Node 18 or later, no packages.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const USAGE = `node server-client.mjs [--base URL] [--workspace FOLDER] [--provider NAME] [--model NAME]
                      [--session ID] [--token-file FILE]

Without --token-file the token is in ABIDE_HTTP_TOKEN ("abide token add NAME" makes one).
A line starts a task, decides, or answers; /stop ends the task, /quit leaves it at work.`;

/** How long a stream may say nothing before it is opened again, in ms. (A comment comes every 15 s.) */
const SILENCE = 45_000;

const word = { type: "string" };
const OPTIONS = {
    ...{ base: word, workspace: word, provider: word, model: word, session: word, "token-file": word },
    help: { type: "boolean" },
};
let given;
let token = process.env.ABIDE_HTTP_TOKEN;
try {
    given = parseArgs({ options: OPTIONS }).values;
    if (given["token-file"]) token = readFileSync(given["token-file"], "utf8");
} catch (error) {
    leave(2, `${error.message}\n\n${USAGE}`);
}
if (given.help) leave(0, USAGE);
if (!token?.trim()) leave(2, `There is no token.\n\n${USAGE}`);
const base = (given.base ?? "http://localhost:5000").replace(/\/+$/, "");
const headers = { Authorization: `Bearer ${token.trim()}` };

// ---- The interface

/** Asks for something; throws what the daemon says if it refuses. */
async function ask(method, path, body) {
    const sent = { method, headers, body: body && JSON.stringify(body) };
    const answer = await fetch(base + path, sent).catch((error) => {
        throw new Error(`${base} cannot be reached (${error.cause?.code ?? error.message})`);
    });
    const reply = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(reply.error ?? `${answer.status} ${answer.statusText}`);
    return reply;
}

/** The events of a text/event-stream; what is cut off in the middle of an event is dropped. */
async function* parse(body) {
    let rest = "";
    let event = {};
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        for (const line of lines) {
            const [field, value] = line.match(/^([^:]*):? ?(.*?)\r?$/s).slice(1);
            if (field === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
            else if (field) event[field] = value;
            else if (line.trim() === "") {
                yield event;
                event = {};
            } else yield {}; // A comment: the stream is alive.
        }
    }
}

/** What happens in a session after this id: over any number of connections, without a gap or a repeat. */
async function* events(session, cursor) {
    let retry = 2000;
    for (;; await sleep(retry)) {
        const silent = new AbortController();
        const watch = setTimeout(() => silent.abort(), SILENCE);
        try {
            const resumed = cursor ? { ...headers, "Last-Event-ID": cursor } : headers;
            const path = `${base}/api/sessions/${session}/stream`;
            const answer = await fetch(path, { headers: resumed, signal: silent.signal });
            if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
                leave(1, (await answer.json()).error);
            }
            if (!answer.ok) continue;
            for await (const event of parse(answer.body)) {
                watch.refresh();
                cursor = event.id ?? cursor;
                retry = Number(event.retry ?? retry);
                if (event.data) yield JSON.parse(event.data);
            }
        } catch {
            // It was cut: the next connection goes on after the last id.
        } finally {
            clearTimeout(watch);
        }
    }
}

// ---- What is shown

/** On a terminal text is shown as it comes; elsewhere, where it cannot be taken back, once it counts. */
const isLive = process.stdout.isTTY;
const isTyped = process.stdin.isTTY;

/** Without characters that would steer the terminal, or reorder or hide what a person reads. */
function shown(text) {
    const code = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
    return text.replace(/(?![\n\t\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu, code);
}

function note(text) {
    if (reply && isLive) process.stdout.write("\n");
    process.stderr.write(`${shown(text)}\n`);
}

/** The session's task that has not ended: its id, or "begins". */
let task = null;
/** The text of the reply under way, and of the one before it. */
let reply = "";
let said = "";
/** What waits for a person, by its id. */
const waiting = new Map();

/** Shows what waits, and has the next line taken for it. */
function wait(id, card, take) {
    const words = card.join("\n");
    waiting.set(id, { words, take });
    note(words);
}

function prompt() {
    if (isTyped) process.stderr.write("> ");
}

function endReply() {
    if (reply) process.stdout.write(isLive ? "\n" : `${shown(reply)}\n`);
    [said, reply] = [reply, ""];
}

function withdrawReply(why) {
    if (reply && isLive) note(`(${why}: this text does not count)`);
    reply = "";
}

/** Tools whose calls come as other events, too. */
const CONTROL = ["ask_user", "request_input", "send_update", "task_complete"];

/** How an event is shown, by its type. */
const tell = {
    text_delta({ text }) {
        reply += text;
        if (isLive) process.stdout.write(shown(text));
    },
    tool_call({ tool, argsJson }) {
        if (!CONTROL.includes(tool)) note(`· ${tool} ${argsJson}`);
    },
    tool_result({ tool, result }) {
        if (!CONTROL.includes(tool)) note(`· ${tool}: ${result.message || (result.ok ? "done" : "failed")}`);
    },
    approval_required(approval) {
        const { callId, tool, risk, summary, argsJson, reason, preview, onlyOnce } = approval;
        const how = risk === "low" ? "" : `, ${risk} risk`;
        const card = [`Approve ${tool}${how}?`, `  ${summary}`, `  ${argsJson}`];
        if (reason !== summary) card.push(`  asks: ${reason}`);
        if (preview) card.push(preview.diff.replace(/^/gm, "    "));
        card.push(`  y, n${onlyOnce ? "" : ", always"}; after it a note for the agent`);
        wait(callId, card, (line) => decide(callId, line));
    },
    approval_decided({ callId, decision, by }) {
        waiting.delete(callId);
        note(`· ${decision} (${by.name})`);
    },
    question({ questionId, text, choices }) {
        const card = [text, ...choices.map((choice, at) => `  ${at + 1}. ${choice}`)];
        wait(questionId, card, (line) => answer(questionId, choices[Number(line) - 1] ?? line));
    },
    question_answered({ questionId, response, by }) {
        waiting.delete(questionId);
        note(`· answered${by ? ` by ${by.name}` : ""}: ${response ?? "declined"}`);
    },
    completed(end) {
        if (!end.final) return endReply();
        withdrawReply("the task has ended");
        // A task that ends with a reply has that as its summary.
        note(`· ${end.endReason}${end.summary && end.summary !== said ? `: ${end.summary}` : ""}`);
        process.exitCode = end.status === "completed" ? 0 : 1;
        waiting.clear();
        task = null;
        prompt();
    },
    error: ({ message }) => note(`· error: ${message}`),
    state: ({ status, reason }) => note(`· ${status} (${reason})`),
    trace({ kind, data, taskId }) {
        if (kind === "task_started" && !data.parentId) task = taskId;
        if (taskId !== task) return; // A sub-task's.
        if (kind === "model_requested") withdrawReply("the model is asked again");
        if (kind === "model_failed") withdrawReply("the model failed");
        if (kind === "partial_reply") endReply();
        if (kind === "update") note(`· ${data.text}`);
        if (kind === "agent_message") {
            tell.text_delta(data);
            endReply();
        }
    },
};

async function follow(cursor) {
    for await (const event of events(session, cursor)) {
        tell[event.type]?.(event);
        await turn();
    }
}

// ---- What is typed

/** Lines whose turn has not come. */
const lines = [];
let hasEnded = false;
let isTaking = false;

async function decide(callId, line) {
    const [, word, text] = line.match(/^(\S*)\s*(.*)$/s);
    const meant = { y: [true, false], n: [false, false], always: [true, true] }[word];
    if (!meant) throw new Error("Say y, n or always; a note may follow.");
    const [approved, remember] = meant;
    const decision = { approved, remember, note: text || null };
    const { won } = await ask("POST", `/api/sessions/${session}/approvals/${callId}`, decision);
    waiting.delete(callId);
    return won;
}

async function answer(questionId, response) {
    const { won } = await ask("POST", `/api/sessions/${session}/answers/${questionId}`, { response });
    waiting.delete(questionId);
    return won;
}

async function start(message) {
    task = "begins";
    try {
        const { taskId } = await ask("POST", `/api/sessions/${session}/chat`, { message });
        // The stream may have told its beginning, and even its end.
        if (task === "begins") task = taskId;
    } catch (error) {
        task = null;
        note(error.message);
        prompt();
    }
}

/** Takes the lines whose turn it is: the first thing that waits gets one, else it starts a task. */
async function turn() {
    if (isTaking) return;
    isTaking = true;
    while (lines.length > 0 && (waiting.size > 0 || !task)) {
        const line = lines.shift();
        const [first] = waiting.values();
        if (!first) {
            await start(line);
            continue;
        }
        const won = await first.take(line).catch((error) => note(error.message));
        // Decided by somebody else before: a script means its line for what is asked next.
        if (won === false && !isTyped) lines.unshift(line);
        const [next] = waiting.values();
        if (isTyped && next) note(next.words);
    }
    isTaking = false;
    if (hasEnded && lines.length === 0 && !task) leave(process.exitCode);
}

async function typed(line) {
    const words = line.trim();
    if (words === "/quit") leave(process.exitCode);
    if (words === "/stop") {
        await ask("POST", `/api/sessions/${session}/stop`).catch((error) => note(error.message));
    } else if (isTyped && task && waiting.size === 0) {
        // What is typed before a card is there is not meant for it. A script has nobody who looks.
        note("A task is at work: /stop ends it, /quit leaves it at work.");
    } else if (words) {
        lines.push(words);
        await turn();
    }
}

function leave(code, words) {
    if (words) process.stderr.write(`${words}\n`);
    process.exit(code);
}

// ---- The session

let session = given.session;
let cursor;
try {
    const { workspace: workspacePath, provider, model } = given;
    const settings = { workspacePath, provider, model };
    if (session) {
        const path = `/api/sessions/${encodeURIComponent(session)}`;
        const resumed = await ask("POST", `${path}/resume`, settings);
        const { conversation } = await ask("GET", path);
        session = resumed.sessionId;
        // A task that has not ended is told from its beginning.
        if (conversation.task && !conversation.task.endReason) task = conversation.task.id;
        else cursor = resumed.lastEventId;
    } else {
        settings.workspacePath ??= process.cwd();
        const made = await ask("POST", "/api/sessions", settings);
        [session, cursor] = [made.sessionId, made.lastEventId];
    }
} catch (error) {
    leave(1, error.message);
}
note(`session ${session}`);
follow(cursor);
createInterface({ input: process.stdin })
    .on("line", typed)
    .on("close", () => {
        hasEnded = true;
        turn();
    });
if (!task) prompt();
