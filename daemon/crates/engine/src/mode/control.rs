//! Control tools: tools that the engine carries out itself.

use abide_protocol::{
    JsonText,
    limits::MAX_NOTE,
    transcript::{CallBlock, EffectClass, Risk, Tier, ToolSpec},
};
use serde::Deserialize;
use serde_json::json;
use std::borrow::Cow;

/// Ends the task.
pub const TASK_COMPLETE: &str = "task_complete";
/// Asks the user.
pub const ASK_USER: &str = "ask_user";
/// The same tool by another name.
pub const REQUEST_INPUT: &str = "request_input";
/// Tells the user something.
pub const SEND_UPDATE: &str = "send_update";

/// Starts a sub-task.
pub const FORK: &str = "fork";
/// Waits for sub-tasks.
pub const WAIT: &str = "wait";
/// Tells a sub-task or the parent something.
pub const TELL: &str = "tell";

/// Makes a note for later tasks. Offered only where the memory is in use.
pub const REMEMBER: &str = "remember";

/// Whether a tool of this name is carried out by the engine.
pub(crate) fn is_control(tool: &str) -> bool {
    matches!(tool, TASK_COMPLETE | ASK_USER | REQUEST_INPUT | SEND_UPDATE | FORK | WAIT | TELL | REMEMBER)
}

/// The tools that a task's model may call. A question may be asked by either of its names, whichever was
/// declared; declaring both would show the model two tools for one purpose.
#[must_use]
pub fn callable<'t>(declared: &'t [ToolSpec], calls: &[CallBlock]) -> Cow<'t, [ToolSpec]> {
    let is_declared = |name: &str| declared.iter().any(|spec| spec.name == name);
    let undeclared = calls.iter().map(|call| call.tool.as_str()).filter(|name| !is_declared(name));
    let mut tools = Cow::Borrowed(declared);
    for name in undeclared {
        let other = match name {
            ASK_USER => REQUEST_INPUT,
            REQUEST_INPUT => ASK_USER,
            _ => continue,
        };
        if let Some(spec) = declared.iter().find(|spec| spec.name == other) {
            tools.to_mut().push(ToolSpec { name: name.to_owned(), ..spec.clone() });
        }
    }
    tools
}

/// The control tool of this name.
pub(crate) fn spec_of(name: &str) -> Option<ToolSpec> {
    all().into_iter().find(|spec| spec.name == name)
}

/// The tool [`REMEMBER`].
#[must_use]
pub fn remember() -> ToolSpec {
    spec(
        REMEMBER,
        "Write a note that every later task in this workspace is given: a fact or a wish of the user that stays true, in a sentence or \
         two that make sense on their own. Not for what only this task needs. The user can see and erase it.",
        json!({
            "type": "object",
            "properties": { "text": { "type": "string", "minLength": 1, "maxLength": MAX_NOTE } },
            "required": ["text"],
            "additionalProperties": false
        }),
    )
}

fn all() -> Vec<ToolSpec> {
    let question = json!({
        "type": "object",
        "properties": {
            "question": { "type": "string", "minLength": 1, "description": "What you want to know." },
            "choices": { "type": "array", "items": { "type": "string" }, "maxItems": 9, "description": "Proposed answers, if there are obvious ones." }
        },
        "required": ["question"],
        "additionalProperties": false
    });
    vec![
        spec(
            TASK_COMPLETE,
            "End the task. Call it only when everything asked for is done, with a summary for the user.",
            json!({
                "type": "object",
                "properties": { "summary": { "type": "string", "minLength": 1, "description": "What was done and what the user should know." } },
                "required": ["summary"],
                "additionalProperties": false
            }),
        ),
        spec(
            ASK_USER,
            "Ask the user a question and wait for the answer. Ask when you would otherwise guess.",
            question.clone(),
        ),
        spec(
            REQUEST_INPUT,
            "Ask the user a question and wait for the answer. Ask when you would otherwise guess.",
            question,
        ),
        spec(
            SEND_UPDATE,
            "Tell the user how things stand, without waiting for an answer.",
            json!({
                "type": "object",
                "properties": { "message": { "type": "string", "minLength": 1 } },
                "required": ["message"],
                "additionalProperties": false
            }),
        ),
        spec(
            FORK,
            "Start a sub-task: another agent that works on a part by itself, at the same time. It knows nothing but your prompt and \
             works in the same folder, unless it gets a worktree. Returns its handle. Worth it for parts that do not depend on each other.",
            json!({
                "type": "object",
                "properties": {
                    "prompt": { "type": "string", "minLength": 1, "description": "All that it needs to know, and what it should report." },
                    "tools": { "type": "array", "items": { "type": "string" }, "description": "The tools it may use, if not all of yours." },
                    "worktree": { "type": "boolean", "description": "It works in a git worktree of its own, which begins with the last commit here, and commits to a branch of its own, which is returned too. For parts that change the same files at the same time." }
                },
                "required": ["prompt"],
                "additionalProperties": false
            }),
        ),
        spec(
            WAIT,
            "Wait until a sub-task has ended, and get its result. Without a handle: all of yours.",
            json!({
                "type": "object",
                "properties": { "handle": { "type": "string", "description": "What `fork` returned." } },
                "additionalProperties": false
            }),
        ),
        spec(
            TELL,
            "Tell a sub-task of yours something, or the agent that started you. It reads it before its next step.",
            json!({
                "type": "object",
                "properties": {
                    "handle": { "type": "string", "description": "What `fork` returned, or `parent`." },
                    "message": { "type": "string", "minLength": 1 }
                },
                "required": ["handle", "message"],
                "additionalProperties": false
            }),
        ),
    ]
}

fn spec(name: &str, description: &str, parameters: serde_json::Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: JsonText::from(parameters),
        effect: EffectClass::Control,
        risk: Risk::Low,
        tier: Tier::Allow,
    }
}

/// A parsed control call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Complete { summary: String },
    Ask { question: String, choices: Vec<String> },
    Update { message: String },
    Fork { prompt: String, tools: Option<Vec<String>>, worktree: bool },
    Wait { handle: Option<String> },
    Tell { handle: String, message: String },
    Remember { text: String },
}

#[derive(Deserialize)]
struct Complete {
    summary: String,
}

#[derive(Deserialize)]
struct Ask {
    question: String,
    #[serde(default)]
    choices: Vec<String>,
}

#[derive(Deserialize)]
struct Update {
    message: String,
}

#[derive(Deserialize)]
struct Fork {
    prompt: String,
    tools: Option<Vec<String>>,
    #[serde(default)]
    worktree: bool,
}

#[derive(Deserialize)]
struct Wait {
    handle: Option<String>,
}

#[derive(Deserialize)]
struct Tell {
    handle: String,
    message: String,
}

#[derive(Deserialize)]
struct Remember {
    text: String,
}

impl Control {
    /// `None` if it is not a control tool or its schema does not allow the arguments.
    pub(crate) fn parse(tool: &str, arguments: &str) -> Option<Self> {
        match tool {
            TASK_COMPLETE => {
                serde_json::from_str(arguments).ok().map(|Complete { summary }| Self::Complete { summary })
            }
            ASK_USER | REQUEST_INPUT => serde_json::from_str(arguments)
                .ok()
                .map(|Ask { question, choices }| Self::Ask { question, choices }),
            SEND_UPDATE => {
                serde_json::from_str(arguments).ok().map(|Update { message }| Self::Update { message })
            }
            FORK => serde_json::from_str(arguments).ok().map(|Fork { prompt, tools, worktree }| Self::Fork {
                prompt,
                tools,
                worktree,
            }),
            WAIT => serde_json::from_str(arguments).ok().map(|Wait { handle }| Self::Wait { handle }),
            TELL => serde_json::from_str(arguments)
                .ok()
                .map(|Tell { handle, message }| Self::Tell { handle, message }),
            REMEMBER => serde_json::from_str(arguments).ok().map(|Remember { text }| Self::Remember { text }),
            _ => None,
        }
    }
}

/// The prompt and the tools of a sub-task for which a worktree is made; `None`: this is not a call that asks
/// for one.
#[must_use]
pub fn fork_apart(tool: &str, arguments: &str) -> Option<(String, Option<Vec<String>>)> {
    match Control::parse(tool, arguments) {
        Some(Control::Fork { prompt, tools, worktree: true }) => Some((prompt, tools)),
        _ => None,
    }
}

/// The summary in the arguments of a `task_complete`.
pub(crate) fn summary(arguments: &str) -> String {
    match Control::parse(TASK_COMPLETE, arguments) {
        Some(Control::Complete { summary }) => summary,
        _ => String::new(),
    }
}
