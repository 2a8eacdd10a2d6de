
// ---- Cards: what waits for a person

/** How long a card has to stand still before its buttons work, in ms. */
const STILL = 600;

/** Shows these items; those that are shown stay as they are, with what is written in them. */
function arrange(place, items) {
  const cards = new Map([...place.children].map((card) => [card.dataset.id, card]));
  for (const item of items) {
    const id = idOf(item.pending);
    const made = cards.get(id) ?? card(item);
    made.classList.toggle("open", item.conversationId === open?.id);
    if (!cards.delete(id)) place.append(made);
  }
  for (const gone of cards.values()) gone.remove();
  settle();
}

/** Notes which cards have moved: a press that was meant for what stood there before has no effect. */
function settle() {
  for (const card of document.querySelectorAll(".card")) {
    const { left, top, width, height } = card.getBoundingClientRect();
    const place = [left, top + (card.closest(".pane, footer")?.scrollTop ?? 0), width, height].join();
    if (card.dataset.place !== place) {
      card.dataset.place = place;
      moved(card);
    }
  }
}

function moved(card) {
  card.classList.add("moving");
  clearTimeout(card.stilling);
  card.stilling = setTimeout(() => card.classList.remove("moving"), STILL);
}

document.addEventListener("click", (event) => {
  settle();
  if (event.target.closest("button")?.closest(".moving")) {
    event.preventDefault();
    event.stopPropagation();
  }
}, true);
const resized = new ResizeObserver(settle);
for (const place of [document.querySelector("main"), $("inbox"), $("here")]) resized.observe(place);

function card(item) {
  const [[kind, asked]] = Object.entries(item.pending);
  const sub = item.rootId ? ` · ${item.title}` : "";
  const where = make("a", "where muted", `${item.conversationTitle}${sub}`);
  where.href = `#c/${item.conversationId}`;
  const made = make("article", "card", where, ...(kind === "approval" ? approval(asked) : question(asked)));
  made.dataset.id = asked.id;
  const foot = make("div", "foot");
  made.append(foot);
  const offer = () => replace(foot, ...(kind === "approval" ? decisions : answers)(item, asked, foot, offer));
  offer();
  return made;
}

/** Replaces what can be pressed. */
function replace(foot, ...children) {
  foot.replaceChildren(...children);
  if (foot.parentElement) moved(foot.parentElement);
}

async function send(item, foot, offer, path, body) {
  replace(foot, make("p", "muted", "Sent."));
  try {
    const { won } = await ask("POST", `sessions/${item.conversationId}/${path}`, body);
    if (!won) notice("It was decided before, elsewhere.");
  } catch (error) {
    offer();
    foot.append(make("p", "bad", error.message));
  }
}

const SANDBOX = {
  none: "none: it can do all that you can",
  full: "it writes to the workspace only, sees no keys, and has no network",
  "full, network": "it writes to the workspace only and sees no keys, but has the network",
  landlock: "it writes to the workspace only, also to what other programs run, and has no network",
  "landlock, network":
    "it writes to the workspace only, also to what other programs run, and has the network",
};

/** What a decision is about, all of it. */
function approval({ tool, risk, summary, arguments: given, workspace, sandbox, why, files, preview }) {
  const isByDaemon = preview || tool === "create_dir";
  const isFree = sandbox === "none" && !isByDaemon;
  const title = risk === "high" && isFree
    ? `Runs outside the sandbox, with all your rights · ${tool}` : `Approve ${tool}?`;
  const facts = make("dl", "");
  const fact = (name, text) => facts.append(make("dt", "", name), make("dd", "", text));
  const isObject = given && typeof given === "object" && !Array.isArray(given);
  for (const [name, value] of isObject ? Object.entries(given) : [["arguments", given]]) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const isMultiline = text.includes("\n");
    const isElsewhere = text === summary || (isMultiline && preview) || (name === "outside" && isFree) ||
      (name === "reason" && why?.endsWith(`\u201c${text.trim()}\u201d`));
    if (!isElsewhere) fact(name, isMultiline ? make("pre", "", text) : text);
  }
  fact("in", workspace);
  if (!isByDaemon) fact("sandbox", SANDBOX[sandbox] ?? sandbox);
  if (why) fact("asks", why);
  for (const { path, bytes, sha256 } of files) {
    fact("only if", `${path} (${bytes} bytes, sha256 ${sha256.slice(0, 12)}) is unchanged`);
  }
  const head = risk === "low" ? title : `${title} · ${risk} risk`;
  const parts = [make("h3", "", head), make("pre", "", summary), facts];
  if (preview?.diff.trim()) {
    // The first two lines name the file.
    const look = (line, at) => (at > 1 && { "+": "added", "-": "removed" }[line[0]]) || "muted";
    const lines = preview.diff.trimEnd().split("\n");
    parts.push(make("pre", "", ...lines.map((line, at) => make("span", look(line, at), `${line}\n`))));
  }
  return parts;
}

function decisions(item, asked, foot, offer) {
  const decide = (body) => send(item, foot, offer, `approvals/${asked.callId}`, body);
  const cancel = button("Cancel", "quiet", offer);
  const allow = button("Allow once", "primary", () => {
    if (asked.risk === "high" && !allow.isArmed) {
      allow.isArmed = true;
      allow.textContent = "Yes, allow";
      return moved(foot.parentElement);
    }
    decide({ approved: true });
  });
  const always = button("Always allow…", "", () => {
    const what = `It would remember: ${asked.rule.tool} with exactly this, in ${asked.rule.workspace}.`;
    const yes = button("Always allow", "primary", () => decide({ approved: true, remember: true }));
    replace(foot, make("p", "muted", what), make("div", "row", cancel, yes));
  });
  const reject = button("Reject…", "quiet", () => {
    const note = make("textarea", "");
    note.placeholder = "Why not? The agent reads it.";
    const no = (remember) => decide({ approved: false, remember, note: note.value.trim() || null });
    const once = button("Reject", "bad", () => no(false));
    const ever = button("Always reject", "quiet bad", () => no(true));
    replace(foot, note, make("div", "row", cancel, once, ever));
    note.focus();
  });
  return [make("div", "row", allow, ...(asked.onlyOnce ? [] : [always]), reject)];
}

const WHO_ASKS = {
  agent: "Question for you",
  loop: "The agent repeats itself",
  budget: "A limit is reached",
  interrupted: "A tool call was interrupted",
  restart: "The daemon was restarted",
  parked: "The model cannot be asked now",
};

function question({ kind, text, expiresAt }) {
  const until = expiresAt ? ` · until ${new Date(expiresAt).toLocaleString()}` : "";
  return [make("h3", "", `${WHO_ASKS[kind] ?? "Question"}${until}`), ...prose(text)];
}

function answers(item, asked, foot, offer) {
  const answer = (response) => send(item, foot, offer, `answers/${asked.id}`, { response });
  const choices = asked.choices.map((choice) => button(choice, "", () => answer(choice)));
  const row = make("div", "row", ...choices, button("Decline", "quiet", () => answer(null)));
  if (!["agent", "loop", "interrupted"].includes(asked.kind)) return [row];
  const form = make("form", "say", make("textarea", ""), make("button", "primary", "Reply"));
  const [field] = form.elements;
  Object.assign(field, { placeholder: "Answer", required: true, rows: 1 });
  form.onsubmit = (event) => {
    event.preventDefault();
    answer(field.value.trim());
  };
  return [row, form];
}
