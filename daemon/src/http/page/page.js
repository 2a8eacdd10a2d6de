
// ---- The lists, and what a person does

const inbox = new Map();
const conversations = new Map();
const idOf = (pending) => Object.values(pending)[0].id;

async function readLists() {
  const [waiting, listed] = await Promise.all([ask("GET", "inbox"), ask("GET", "sessions?limit=50")]);
  inbox.clear();
  for (const item of waiting.items) inbox.set(idOf(item.pending), item);
  for (const conversation of listed.conversations) conversations.set(conversation.id, conversation);
  render();
}

/** Where a task stands, in words. */
const standing = (task) => (task ? words(task.endReason ?? task.status) : "");

function render() {
  const items = [...inbox.values()];
  $("count").textContent = items.length || "";
  $("calm").hidden = items.length > 0;
  document.title = items.length ? `(${items.length}) Abide` : "Abide";
  arrange($("inbox"), items);
  arrange($("here"), items.filter((item) => item.conversationId === open?.id));
  const newest = [...conversations.values()].filter((conversation) => !conversation.archived);
  newest.sort((a, b) => b.updatedAt - a.updatedAt);
  $("list").replaceChildren(...newest.map(({ id, title, task, updatedAt }) => {
    const look = standing(task).startsWith("needs you") ? "waits" : "";
    const below = make("span", "muted", make("span", look, standing(task)), age(updatedAt));
    const link = make("a", "", make("span", "", title), below);
    link.href = `#c/${id}`;
    if (id === open?.id) link.ariaCurrent = "page";
    return make("li", "", link);
  }));
  const folders = [...new Set(newest.map(({ workspace }) => workspace))];
  $("folders").replaceChildren(...folders.map((value) => Object.assign(make("option", ""), { value })));
  $("start").folder.placeholder = folders[0] ?? "";
  if (open) renderHead();
}
setInterval(() => document.hidden || render(), 30_000);

function renderHead() {
  const conversation = conversations.get(open.id);
  const isAtWork = Boolean(conversation?.task && !conversation.task.endReason);
  $("title").textContent = shown(conversation?.title ?? "");
  const about = [standing(conversation?.task), conversation?.workspace].filter(Boolean);
  $("status").textContent = shown(about.join(" · "));
  $("stop").hidden = !isAtWork;
  const [field, send] = $("say").elements;
  field.placeholder = isAtWork ? "A comment for the agent" : "Go on with another task";
  send.textContent = isAtWork ? "Comment" : "Send";
}

/** Sends a form; what is written in it stays if that fails. */
function submits(form, done) {
  form.onsubmit = async (event) => {
    event.preventDefault();
    const send = form.querySelector(".primary");
    send.disabled = true;
    try {
      await done(form);
      form.reset();
    } catch (error) {
      notice(error.message);
    }
    send.disabled = false;
  };
}

submits($("say"), async (form) => {
  const text = form.elements[0].value.trim();
  const task = conversations.get(open.id)?.task;
  if (task && !task.endReason) await ask("POST", `sessions/${open.id}/comment`, { comment: text });
  else await ask("POST", `sessions/${open.id}/chat`, { message: text });
});

submits($("start"), async (form) => {
  const workspacePath = form.folder.value.trim() || form.folder.placeholder || null;
  const { sessionId } = await ask("POST", "sessions", { workspacePath });
  await ask("POST", `sessions/${sessionId}/chat`, { message: form.message.value.trim() });
  location.hash = `c/${sessionId}`;
});

submits($("enter"), async (form) => {
  token = form.token.value.trim();
  await ask("GET", "inbox");
  localStorage.setItem("token", token);
  route();
});

$("stop").onclick = () => ask("POST", `sessions/${open.id}/stop`).catch((error) => notice(error.message));

function route() {
  const given = location.hash.match(/^#token=(\w+)$/);
  if (given) {
    token = given[1];
    localStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
  }
  const [, id] = location.hash.match(/^#c\/([\w-]+)$/) ?? [];
  const view = !token ? "door" : id ? "conversation" : location.hash === "#new" ? "new" : "home";
  document.body.dataset.view = view;
  if (!token) {
    stream?.abort();
    open = null;
  } else if (view === "conversation") {
    if (open?.id !== id) show(id);
  } else if (open || !stream) {
    open = null;
    follow();
  }
  render();
}

addEventListener("hashchange", route);
if (location.protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)) {
  $("plain").hidden = false;
}
route();
