//! Calls for scripted replies, with their assessments.

use abide_engine::Reading;
use abide_protocol::{
    CallId,
    record::{CallAssessed, EditHashes, Permission},
    transcript::{Block, CallBlock, EffectClass, Reply, Risk, StopReason, TextBlock, Usage},
};
use serde_json::json;

/// A call without an id.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) effect: EffectClass,
    pub(crate) permission: Permission,
    pub(crate) for_task: bool,
}

fn plan(tool: &str, arguments: String, effect: EffectClass) -> Plan {
    Plan { tool: tool.to_owned(), arguments, effect, permission: Permission::Tier, for_task: false }
}

/// A pure call.
pub(crate) fn read(path: &str) -> Plan {
    plan("read", format!(r#"{{"path":"{path}"}}"#), EffectClass::Pure)
}

/// A verifiable call.
pub(crate) fn write(path: &str) -> Plan {
    plan("write", format!(r#"{{"path":"{path}"}}"#), EffectClass::Verifiable)
}

/// An unsafe call.
pub(crate) fn shell(command: &str) -> Plan {
    plan("shell", format!(r#"{{"command":"{command}"}}"#), EffectClass::Unsafe)
}

pub(crate) fn complete(summary: &str) -> Plan {
    plan("task_complete", format!(r#"{{"summary":"{summary}"}}"#), EffectClass::Control)
}

pub(crate) fn ask(question: &str) -> Plan {
    plan("ask_user", format!(r#"{{"question":"{question}","choices":["a","b"]}}"#), EffectClass::Control)
}

pub(crate) fn update(message: &str) -> Plan {
    plan("send_update", format!(r#"{{"message":"{message}"}}"#), EffectClass::Control)
}

pub(crate) fn fork(prompt: &str) -> Plan {
    plan("fork", format!(r#"{{"prompt":"{prompt}"}}"#), EffectClass::Control)
}

/// Waits for this sub-task, or for all.
pub(crate) fn wait(handle: Option<&str>) -> Plan {
    let arguments = handle.map_or_else(|| "{}".to_owned(), |handle| format!(r#"{{"handle":"{handle}"}}"#));
    plan("wait", arguments, EffectClass::Control)
}

pub(crate) fn tell(handle: &str, message: &str) -> Plan {
    plan("tell", format!(r#"{{"handle":"{handle}","message":"{message}"}}"#), EffectClass::Control)
}

pub(crate) fn remember(text: &str) -> Plan {
    plan("remember", json!({ "text": text }).to_string(), EffectClass::Control)
}

pub(crate) fn recall(query: &str) -> Plan {
    plan("recall", json!({ "query": query }).to_string(), EffectClass::Pure)
}

impl Plan {
    /// A person has to approve it.
    pub(crate) fn asking(self) -> Self {
        Self { permission: Permission::Ask, ..self }
    }

    /// It asks only because what it does could not be undone.
    pub(crate) fn without_undo(self) -> Self {
        Self { for_task: true, ..self.asking() }
    }

    pub(crate) fn denied(self, why: &str) -> Self {
        Self { permission: Permission::Denied(why.to_owned()), ..self }
    }

    /// `--yes` allows it.
    pub(crate) fn yes(self) -> Self {
        Self { permission: Permission::Yes, ..self }
    }

    /// It stays in the sandbox, so that nobody is asked.
    pub(crate) fn contained(self) -> Self {
        Self { permission: Permission::Sandbox, ..self }
    }

    pub(crate) fn arguments(self, arguments: &str) -> Self {
        Self { arguments: arguments.to_owned(), ..self }
    }

    pub(crate) fn block(&self, id: CallId) -> CallBlock {
        CallBlock {
            id,
            provider_id: format!("call_{}", id.short()),
            tool: self.tool.clone(),
            arguments: self.arguments.clone(),
            opaque: None,
        }
    }

    pub(crate) fn assessed(&self, call_id: CallId) -> CallAssessed {
        CallAssessed {
            call_id,
            tool: self.tool.clone(),
            arguments: self.arguments.clone(),
            summary: format!("{} {}", self.tool, self.arguments),
            effect: self.effect,
            risk: Risk::Low,
            preview: None,
            edit: (self.effect == EffectClass::Verifiable).then(|| EditHashes {
                path: self.arguments.clone(),
                before: None,
                after: String::new(),
                bytes: 1,
            }),
            digest: String::new(),
            permission: self.permission.clone(),
            sandbox: "none".to_owned(),
            rule: None,
            direct: None,
            wider: Vec::new(),
            why: None,
            in_passing: false,
            files: Vec::new(),
            only_once: None,
            for_task: self.for_task,
            notes: Vec::new(),
        }
    }
}

/// The assessment of a call that was read in a reply's text.
pub(crate) fn read_call(call: &CallBlock) -> CallAssessed {
    let effect = match call.tool.as_str() {
        "task_complete" | "ask_user" | "request_input" | "send_update" | "fork" | "wait" | "tell"
        | "remember" => EffectClass::Control,
        "read" | "recall" => EffectClass::Pure,
        "write" => EffectClass::Verifiable,
        _ => EffectClass::Unsafe,
    };
    plan(&call.tool, call.arguments.clone(), effect).assessed(call.id)
}

/// The assessments of a reply's calls: those of the plans, and those read in its text, which may be the same
/// plans.
pub(crate) fn assess_all(plans: &[Plan], ids: &[CallId], reading: &Reading) -> Vec<CallAssessed> {
    let mut listed = plans.iter();
    let of_read = |call: &CallBlock| {
        let plan = listed.as_slice().first().filter(|plan| plan.tool == call.tool);
        match plan {
            Some(plan) => {
                listed.next();
                CallAssessed { arguments: call.arguments.clone(), ..plan.assessed(call.id) }
            }
            None => read_call(call),
        }
    };
    let read: Vec<CallAssessed> = reading.calls.iter().map(of_read).collect();
    plans.iter().zip(ids).map(|(plan, id)| plan.assessed(*id)).chain(read).collect()
}

/// A finished reply with these calls and ids.
pub(crate) fn reply(
    stop_reason: StopReason,
    text: &str,
    calls: &[Plan],
    ids: &[CallId],
    tokens: u64,
) -> Reply {
    let said = (!text.is_empty()).then(|| Block::Text(TextBlock { text: text.to_owned(), opaque: None }));
    let blocks = calls.iter().zip(ids).map(|(plan, id)| Block::Call(plan.block(*id)));
    Reply {
        blocks: said.into_iter().chain(blocks).collect(),
        api: "scripted".to_owned(),
        model: "script".to_owned(),
        stop_reason,
        usage: Usage { output: tokens, ..Usage::default() },
    }
}
