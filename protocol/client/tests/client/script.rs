//! A made-up run of a task as notifications: live output, records, and the snapshot at each point between.

use crate::things::{conversation, delta, id, sequenced, snapshot, task, task_id, task_update};
use abide_client::protocol::{
    CallId, RecordId, Seq,
    message::CallOutcome,
    notification::{DeltaItem, DeltaKind, Notification, Partial, Snapshot},
    record::{
        CallAssessed, CallFinished, CallStarted, Interruption, ModelErrorKind, ModelFailed, ModelRequested,
        Permission, RecordBody, ReplyRecord, Restarted, TaskEnded, UserMessage,
    },
    task::{EndReason, Status},
    transcript::{Block, EffectClass, Reply, Risk, StopReason, TextBlock, ToolResult, Usage},
};
use std::collections::BTreeMap;

/// One part of a run.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// The model replies with reasoning and text, either possibly empty.
    Say { reasoning: String, text: String },
    /// The model begins, and fails.
    Fail { text: String },
    /// A tool runs; with `restart`, a second time from the start.
    Run { output: String, restart: bool },
}

/// One notification, or live output that becomes several.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Live output as a whole: it may be sent in any pieces.
    Live { item: DeltaItem, attempt: u32, kind: DeltaKind, text: String },
    /// The notification of a record.
    Recorded(Notification),
    /// A task's current state.
    Stands(Notification),
}

/// Writes the steps of a run.
#[derive(Default)]
struct Writer {
    steps: Vec<Step>,
    seq: u64,
    ids: u64,
}

pub(crate) fn write(parts: &[Part]) -> Vec<Step> {
    let mut writer = Writer { ids: 0x100, ..Writer::default() };
    let hello = writer.id();
    writer.record(hello, RecordBody::UserMessage(UserMessage { text: "Go.".to_owned() }));
    for part in parts {
        writer.part(part);
    }
    let end = TaskEnded { summary: Some("Done.".to_owned()), ..TaskEnded::of(EndReason::Completed) };
    let last = writer.id();
    writer.record(last, RecordBody::TaskEnded(end));
    writer.steps
}

impl Writer {
    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(&mut self) -> T {
        self.ids += 1;
        id(self.ids)
    }

    fn record(&mut self, id: RecordId, body: RecordBody) {
        self.seq += 3;
        let notification = sequenced(self.seq, id, body);
        self.steps.push(Step::Recorded(notification));
        let steps = u32::try_from(self.seq).unwrap();
        self.steps.push(Step::Stands(task_update(task(Status::Running, steps))));
    }

    fn fact(&mut self, body: RecordBody) {
        let id = self.id();
        self.record(id, body);
    }

    fn live(&mut self, item: DeltaItem, attempt: u32, kind: DeltaKind, text: &str) {
        self.steps.push(Step::Live { item, attempt, kind, text: text.to_owned() });
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Say { reasoning, text } => {
                let item = self.ask();
                self.live(DeltaItem::Reply(item), 1, DeltaKind::Reasoning, reasoning);
                self.live(DeltaItem::Reply(item), 1, DeltaKind::Text, text);
                self.record(item, RecordBody::Reply(reply(reasoning, text)));
            }
            Part::Fail { text } => {
                let item = self.ask();
                self.live(DeltaItem::Reply(item), 1, DeltaKind::Text, text);
                self.fact(RecordBody::ModelFailed(ModelFailed {
                    item,
                    attempt: 1,
                    kind: ModelErrorKind::Network,
                    message: "cut".to_owned(),
                    retry_at: None,
                    sent: true,
                }));
            }
            Part::Run { output, restart } => self.run(output, *restart),
        }
    }

    fn ask(&mut self) -> RecordId {
        let item = self.id();
        self.fact(RecordBody::ModelRequested(ModelRequested { item, step: 1, attempt: 1, phase: None }));
        item
    }

    fn run(&mut self, output: &str, restart: bool) {
        let call_id: CallId = self.id();
        let item = DeltaItem::Call(call_id);
        let started =
            |attempt| RecordBody::CallStarted(CallStarted { call_id, attempt, sandbox: "none".to_owned() });
        self.fact(RecordBody::CallAssessed(assessed(call_id)));
        self.fact(started(1));
        let mut attempt = 1;
        if restart {
            self.live(item, 1, DeltaKind::Output, "from the first attempt");
            self.fact(RecordBody::Restarted(Restarted {
                without_progress: 1,
                cause: Interruption::DaemonRestarted,
                ran_until: None,
            }));
            self.fact(started(2));
            attempt = 2;
        }
        self.live(item, attempt, DeltaKind::Output, output);
        self.fact(RecordBody::CallFinished(CallFinished {
            call_id,
            attempt,
            outcome: CallOutcome::Done,
            result: ToolResult::success("done", None),
            duration_ms: 1,
            read_results: Vec::new(),
            usage: None,
        }));
    }
}

fn reply(reasoning: &str, text: &str) -> ReplyRecord {
    let block = |text: &str| TextBlock { text: text.to_owned(), opaque: None };
    let reply = Reply {
        blocks: vec![Block::Reasoning(block(reasoning)), Block::Text(block(text))],
        api: "scripted".to_owned(),
        model: "demo".to_owned(),
        stop_reason: StopReason::EndTurn,
        usage: Usage::default(),
    };
    ReplyRecord::new(1, 1, reply)
}

pub(crate) fn assessed(call_id: CallId) -> CallAssessed {
    CallAssessed {
        call_id,
        tool: "shell".to_owned(),
        arguments: "{}".to_owned(),
        digest: String::new(),
        summary: "run it".to_owned(),
        effect: EffectClass::Pure,
        risk: Risk::Low,
        preview: None,
        edit: None,
        permission: Permission::Tier,
        sandbox: "none".to_owned(),
        rule: None,
        direct: None,
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
        notes: Vec::new(),
    }
}

/// The reply to `subscribe` after these steps.
pub(crate) fn snapshot_after(steps: &[Step], since: Seq) -> Snapshot {
    let mut live: BTreeMap<(DeltaItem, DeltaKind), Partial> = BTreeMap::new();
    let mut tasks = Vec::new();
    for step in steps {
        match step {
            Step::Live { item, attempt, kind, text } => {
                live.retain(|(other, _), partial| other != item || partial.attempt == *attempt);
                let partial = Partial {
                    conversation_id: conversation(),
                    task_id: task_id(),
                    item: *item,
                    attempt: *attempt,
                    kind: *kind,
                    offset: 0,
                    text: text.clone(),
                };
                live.insert((*item, *kind), partial);
            }
            Step::Stands(Notification::TaskUpdate(update)) => tasks = vec![update.task.clone()],
            Step::Recorded(notification) => live.retain(|(item, _), _| !ends(notification, *item)),
            Step::Stands(_) => {}
        }
    }
    Snapshot { tasks, partials: live.into_values().collect(), ..snapshot(since.0) }
}

/// Whether this record ends the item's live output.
fn ends(notification: &Notification, item: DeltaItem) -> bool {
    match notification {
        Notification::TaskMessage(n) => item == DeltaItem::Reply(n.message.id),
        Notification::TaskEvent(n) => match &n.record.body {
            RecordBody::Reply(_) => item == DeltaItem::Reply(n.record.id),
            RecordBody::ModelFailed(failed) => item == DeltaItem::Reply(failed.item),
            RecordBody::CallFinished(finished) => item == DeltaItem::Call(finished.call_id),
            RecordBody::CallStarted(started) => {
                started.attempt > 1 && item == DeltaItem::Call(started.call_id)
            }
            RecordBody::TaskEnded(_) => true,
            _ => false,
        },
        _ => false,
    }
}

/// A part of a live step, as a delta.
pub(crate) fn piece(step: &Step, from: usize, to: usize) -> Notification {
    let Step::Live { item, attempt, kind, text } = step else { panic!("not live: {step:?}") };
    let (from, to) = (text.floor_char_boundary(from), text.ceil_char_boundary(to));
    delta(*item, *attempt, *kind, u64::try_from(from).unwrap(), &text[from..to])
}
