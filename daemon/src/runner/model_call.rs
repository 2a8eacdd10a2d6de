use super::{Gate, ModelJob, Runner, coalesce::Coalescer, traces};
use crate::{clock, rule_book};
use abide_engine::{
    Input, Mint, ModelFailure, Reading, Replied, Traces,
    compaction::{bytes, is_cut},
    control,
};
use abide_fail_point::{Point, pass};
use abide_model::{ModelError, ModelEvent, Window};
use abide_protocol::{
    CallId, RecordId, TaskId,
    inbox::Rule,
    measure::counted,
    notification::{DeltaItem, DeltaKind},
    record::{CallAssessed, ModelErrorKind, TaskStarted},
    transcript::{Block, CallBlock, Reply},
};
use abide_tools::{SandboxSettings, Scope};
use std::{collections::HashMap, sync::Arc};

/// One attempt: publishes deltas, and ends with the reply and the assessments of its calls, or with a
/// failure.
pub(super) async fn run(runner: &Runner, job: ModelJob, gate: Gate) -> Option<Input> {
    let ModelJob { conversation, task, item, attempt, head, turn, request, knows_cut } = job;
    let size = bytes(request.transcript.entries());
    let coalescer = Coalescer::new(runner.hub.clone(), conversation, task, DeltaItem::Reply(item), attempt);
    let events = coalescer.clone();
    // In a box, since each future around it would have room for it twice.
    let call = Box::pin(async {
        let models = runner.settings.recent().await.models().await;
        let (mut traces, mut block_filter) = (Traces::default(), turn.block_filter());
        let mut on_event = |event: ModelEvent| match event {
            ModelEvent::TextDelta(text) => events.push(DeltaKind::Text, &block_filter.push(&text)),
            ModelEvent::ReasoningDelta(text) => events.push(DeltaKind::Reasoning, &text),
            ModelEvent::ToolCallArgsDelta { text, .. } => events.push(DeltaKind::Arguments, &text),
            ModelEvent::ToolCallStarted { .. } | ModelEvent::ToolCallReady { .. } => {}
            ModelEvent::Waits(why) => tracing::debug!(%task, why, "a model call waits"),
            ModelEvent::Trace(trace) => traces::keep(&mut traces, trace),
        };
        pass(Point::ModelCall);
        let ended = models.complete(request, &mut on_event).await;
        (ended, traces)
    });
    let (ended, traces) = coalescer.drive(gate, call).await?;
    match ended {
        Ok(mut reply) => {
            pass(Point::ModelReplied);
            let mut mint = clock::mint();
            name_calls(&mut reply, &mut mint);
            let is_news = !knows_cut && is_cut(size, &reply.usage);
            let window = if is_news { window(runner, &head.model).await } else { None };
            let mut reading = turn.read(&mut reply, &mut mint);
            let noted = settle(&head, &mut reply, &mut reading);
            let calls = reply.calls().chain(&reading.calls).cloned().collect();
            let mut assessed = assess(runner, head, calls).await;
            for call in &mut assessed {
                call.notes = noted.get(&call.call_id).cloned().unwrap_or_default();
            }
            let replied = Replied { reply, reading, assessed, traces, window };
            Some(Input::Replied { task, item, replied: Box::new(replied) })
        }
        Err(error) => {
            tracing::info!(%task, attempt, kind = ?error.kind, "a model call failed");
            // A provider's message may quote the prompt.
            tracing::debug!(%task, "it failed because: {}", error.message);
            let failure = failure(error, runner.hub.shown(item));
            Some(Input::ModelFailed { task, item, failure, traces })
        }
    }
}

/// What the model's server says about its context window.
async fn window(runner: &Runner, model: &str) -> Option<String> {
    let models = runner.settings.recent().await.models().await;
    let Window { tokens, to_enlarge } = models.window(model).await?;
    let window = format!("The server reads at most {}.", counted(tokens, "token"));
    Some(to_enlarge.map_or(window.clone(), |advice| format!("{window} {advice}")))
}

/// Gives calls their ids; a provider's own are not unique enough.
fn name_calls(reply: &mut Reply, mint: &mut Mint) {
    for block in &mut reply.blocks {
        if let Block::Call(call) = block {
            call.id = CallId(mint.uuid());
        }
    }
}

/// Gives the calls the form in which they are recorded and carried out. Returns what of each was left out.
fn settle(head: &TaskStarted, reply: &mut Reply, reading: &mut Reading) -> HashMap<CallId, Vec<String>> {
    let all: Vec<CallBlock> = reply.calls().chain(&reading.calls).cloned().collect();
    let tools = control::callable(&head.tools, &all);
    let native = reply
        .blocks
        .iter_mut()
        .filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None });
    native.chain(&mut reading.calls).map(|call| (call.id, abide_tools::settle(&tools, call))).collect()
}

pub(super) async fn assess(
    runner: &Runner,
    head: Arc<TaskStarted>,
    calls: Vec<CallBlock>,
) -> Vec<CallAssessed> {
    if calls.is_empty() {
        return Vec::new();
    }
    let (tools, store) = (runner.tools.clone(), runner.store.clone());
    let catalog = runner.settings.recent().await;
    let (policy, rules_here) =
        (catalog.policy().to_vec(), rule_book::remembered(&store, &tools, &head.workspace));
    let sandbox = SandboxSettings {
        unreadable: rule_book::unreadable(&policy, &rules_here),
        ..catalog.config().sandbox_settings(tools.home())
    };
    let assessed = tokio::task::spawn_blocking(move || {
        let rules = rule_book::book(&policy, rules_here);
        let remembered = |rule: &Rule| store.rule(&rule.tool, rule.arguments.as_str(), &rule.workspace);
        let scope = Scope {
            workspace: &head.workspace,
            path: head.environment.get("PATH").map(String::as_str),
            allowed: &control::callable(&head.tools, &calls),
            approvals: head.approvals,
            remembered: &remembered,
            rules: &rules,
            sandbox: &sandbox,
        };
        tools.assess(&scope, &calls)
    });
    assessed.await.unwrap_or_else(|e| {
        tracing::error!("assessing calls failed: {e}");
        Vec::new()
    })
}

fn failure(error: ModelError, shown: String) -> ModelFailure {
    ModelFailure {
        kind: error.kind,
        message: error.message,
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
        sent: error.sent,
        shown,
    }
}

/// The task waits for an outcome, so a panic needs one too.
pub(super) fn panicked(runner: &Runner, task: TaskId, item: RecordId) -> Input {
    tracing::error!("a model call panicked; this is a defect");
    let failure = ModelFailure {
        kind: ModelErrorKind::Malformed,
        message: "The model's answer could not be processed; this is a fault in Abide.".to_owned(),
        retryable: false,
        retry_after_ms: None,
        sent: true,
        shown: runner.hub.shown(item),
    };
    Input::ModelFailed { task, item, failure, traces: Traces::default() }
}
