
// ---- One conversation

/** The conversation that is shown, the cursor of its stream, its calls by id, and the reply under way. */
let open = null;

/** Changes the timeline; if its end was in view, it is afterwards. */
function grow(change) {
  const pane = $("timeline").parentElement;
  const wasAtEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 60;
  change($("timeline"));
  if (wasAtEnd) pane.scrollTop = pane.scrollHeight;
}

const add = (...entries) => grow((timeline) => timeline.append(...entries.flat()));
const note = (text) => make("p", "note", text);
const message = ({ role, text }) =>
  role === "system" ? note(text) : make("div", role === "user" ? "you" : "agent", ...prose(text));

/** A call, found again by its id when it ends. What is shown as a message or as the end is left out. */
function call({ callId, tool, summary, result, outcome }) {
  const isControl = ["ask_user", "request_input", "send_update", "task_complete"].includes(tool);
  if (isControl && outcome !== "refused") return [];
  const known = open.calls.get(callId);
  const made = known ?? make("details", "call", make("summary", ""), make("pre", ""));
  open.calls.set(callId, made);
  if (tool) made.dataset.tool = tool;
  if (summary) made.dataset.summary = summary.startsWith(tool) ? summary.slice(tool.length) : summary;
  const mark = outcome ? (result?.ok ? "✓" : `✗ ${outcome === "done" ? "" : outcome}`) : "…";
  made.firstChild.textContent = shown(`${mark} ${made.dataset.tool} ${made.dataset.summary ?? ""}`.trim());
  if (result) made.lastChild.textContent = shown(result.message);
  return known ? [] : [made];
}

/** The end of a task; one that ends with a reply has that as its summary. */
function ended({ reason, summary, error }, said) {
  const end = note([words(reason), error].filter(Boolean).join(": "));
  return summary && summary !== said ? [message({ role: "agent", text: summary }), end] : [end];
}

function event({ kind }, said) {
  if (kind.task_ended) return ended(kind.task_ended, said);
  if (kind.model_failed) return [note(kind.model_failed.message)];
  return [];
}

async function readPage(before) {
  const now = open;
  const page = await ask("GET", `sessions/${now.id}/messages?limit=50${before ? `&before=${before}` : ""}`);
  if (open !== now) return;
  const all = [...page.messages, ...page.calls, ...page.events].sort((a, b) => a.seq - b.seq);
  let said;
  const entries = all.flatMap((entry) => {
    if (entry.role) said = entry.text;
    return entry.role ? message(entry) : entry.callId ? call(entry) : event(entry, said);
  });
  if (!before && all.length) [now.cursor, now.said] = [String(all.at(-1).seq), said];
  if (page.before) {
    const earlier = button("Earlier", "quiet", async () => {
      await readPage(page.before);
      earlier.remove();
    });
    entries.unshift(earlier);
  }
  before ? $("timeline").prepend(...entries) : add(entries);
}

async function show(id) {
  // What still comes is of the conversation before.
  stream?.abort();
  open = { id, cursor: null, calls: new Map(), reply: null };
  $("timeline").replaceChildren();
  render();
  try {
    const { conversation } = await ask("GET", `sessions/${id}`);
    conversations.set(conversation.id, conversation);
    await readPage();
  } catch (error) {
    notice(error.message);
  }
  if (open?.id === id) follow();
}

/** A reply that counts from now on, or that is withdrawn. */
function endReply(isWithdrawn) {
  if (isWithdrawn) open.reply?.made.remove();
  else open.said = open.reply?.text ?? open.said;
  open.reply = null;
}

/** What is done with each event of the stream. */
const tell = {
  inbox_update({ added, removed }) {
    for (const pending of removed) inbox.delete(Object.values(pending)[0]);
    for (const item of added) inbox.set(idOf(item.pending), item);
    render();
  },
  conversation_update({ conversationId, conversation }) {
    if (conversation) conversations.set(conversationId, conversation);
    else conversations.delete(conversationId);
    render();
  },
  text_delta({ text }) {
    if (!open.reply) {
      open.reply = { text: "", made: make("div", "agent") };
      add(open.reply.made);
    }
    open.reply.text += text;
    grow(() => open.reply.made.replaceChildren(...prose(open.reply.text)));
  },
  completed({ final, endReason, summary }) {
    endReply(final);
    if (final) add(ended({ reason: endReason, summary }, open.said));
  },
  error: ({ message }) => add(note(message)),
  tool_call: (told) => add(call(told)),
  tool_result: (told) => add(call(told)),
  question: ({ text }) => add(message({ role: "agent", text })),
  question_answered: ({ response }) => add(message({ role: "user", text: response ?? "(declined)" })),
  state: ({ status, reason }) => add(note(status === "paused" ? `paused: ${words(reason)}` : status)),
  trace({ kind, data, taskId }) {
    if (kind === "call_assessed") return add(call(data));
    // Sub-tasks are left out; their questions and approvals come by the inbox.
    if (taskId && taskId !== conversations.get(open.id)?.task?.id) return;
    if (kind === "model_requested" || kind === "model_failed") endReply(true);
    if (kind === "model_failed") add(note(data.message));
    if (kind === "partial_reply") endReply(false);
    if (kind === "user_message") add(message({ role: "user", text: data.text }));
    if (kind === "agent_message") open.said = data.text;
    if (kind === "update" || kind === "agent_message") add(message({ role: "agent", text: data.text }));
    if (kind === "notice") add(note(data.text));
    if (kind === "intervened") add(message({ role: "user", text: data.content ?? data.comment }));
  },
};
