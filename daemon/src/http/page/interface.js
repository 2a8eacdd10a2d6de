
// ---- The interface (docs/http.md): requests, and the one stream

/** How long the page may be hidden before its stream is closed, in ms. */
const HIDDEN = 30_000;
/** How long a stream may say nothing before it is opened again, in ms. (A comment comes every 15 s.) */
const SILENCE = 45_000;

let token = localStorage.getItem("token");

/** Asks for something; throws what the daemon says if it refuses. */
async function ask(method, path, body, more) {
  const headers = { Authorization: `Bearer ${token}`, ...more?.headers };
  const sent = { ...more, method, headers, body: body && JSON.stringify(body) };
  const answer = await fetch(`/api/${path}`, sent);
  if (answer.ok) return more ? answer : answer.json();
  const { error } = await answer.json().catch(() => ({ error: `${answer.status} ${answer.statusText}` }));
  if (answer.status === 401) {
    token = null;
    localStorage.removeItem("token");
    route();
  }
  throw Object.assign(new Error(error), { status: answer.status });
}

/** The events of a stream; what is cut off in the middle of an event is dropped. */
async function* events(body, isAlive) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    isAlive();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      yield Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s)));
    }
  }
}

/** The one stream: of the inbox and the conversations, and of the conversation that is open. */
let stream = null;

async function follow() {
  stream?.abort();
  const own = (stream = new AbortController());
  const now = open;
  for (; !own.signal.aborted; await pause(2000)) {
    let cut = new AbortController();
    const abort = () => cut.abort();
    own.signal.addEventListener("abort", abort);
    let silence = setTimeout(abort, SILENCE);
    try {
      const headers = now?.cursor ? { "Last-Event-ID": now.cursor } : {};
      const path = now ? `stream?session=${now.id}` : "stream";
      const answer = await ask("GET", path, undefined, { headers, signal: cut.signal });
      await readLists();
      notice("");
      for await (const event of events(answer.body, () => {
        clearTimeout(silence);
        silence = setTimeout(abort, SILENCE);
      })) {
        if (own.signal.aborted) return;
        if (event.id && now) now.cursor = event.id;
        if (event.data) tell[event.event]?.(JSON.parse(event.data));
      }
    } catch (error) {
      if (!token || own.signal.aborted) return;
      if (now && error.status === 404) return location.replace("#");
      notice(`Not connected: ${error.message}. Trying again.`, 0);
    } finally {
      clearTimeout(silence);
      own.signal.removeEventListener("abort", abort);
    }
  }
}

let hiding;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) {
    hiding = setTimeout(() => {
      stream?.abort();
      stream = null;
    }, HIDDEN);
  } else if (!stream && token) follow();
});
