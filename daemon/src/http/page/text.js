// The page's script begins here. Text and elements: whatever the daemon tells is shown as text only.

const $ = (id) => document.getElementById(id);
const pause = (ms) => new Promise((go) => setTimeout(go, ms));

/** Characters that steer, hide or reorder text; not those that choose the look of an emoji. */
const UNSEEN = /(?![\n\t\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

function shown(text) {
  return String(text).replace(UNSEEN, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** An element; strings among its children become text. */
function make(tag, look, ...children) {
  const made = document.createElement(tag);
  made.className = look;
  made.append(...children.map((child) => (child instanceof Node ? child : shown(child))));
  return made;
}

function button(words, look, press) {
  const made = make("button", look, words);
  made.type = "button";
  made.onclick = press;
  return made;
}

/** Prose, and code where it is fenced. */
function prose(text) {
  const parts = text.split(/^ *```.*\n?/m).map((part, at) => make(at % 2 ? "pre" : "p", "", part.trim()));
  return parts.filter((part) => part.textContent);
}

/** Statuses and reasons of an end, where their words are not their names. */
const WORDS = {
  tool_executing: "runs a tool",
  waiting_user: "needs you: answer",
  waiting_approval: "needs you: approval",
  waiting_children: "waits for sub-tasks",
  step_limit: "step limit reached",
  time_limit: "time limit reached",
  stopped: "cancelled: stopped",
  deleted: "cancelled: deleted",
  question_timeout: "cancelled: no answer",
  budget: "cancelled: budget",
  parent_ended: "cancelled: the task above it ended",
  declined: "completed: its question was declined",
};
const words = (name) => WORDS[name] ?? name.replaceAll("_", " ");

function age(at) {
  const s = Math.max(0, Math.floor((Date.now() - at) / 1000));
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const unit = units.find(([seconds]) => s >= seconds);
  return unit ? `${Math.floor(s / unit[0])} ${unit[1]}` : "now";
}

let noticed;
function notice(text, ms = 6000) {
  $("notice").textContent = shown(text);
  $("notice").hidden = !text;
  clearTimeout(noticed);
  if (text && ms) noticed = setTimeout(notice, ms, "");
  settle();
}
