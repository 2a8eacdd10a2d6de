use abide_client::protocol::{
    ConversationId, RecordId, Seq, SubscriptionId, TaskId, Timestamp,
    message::{Message, MessageKind, Role},
    notification::{
        DaemonUpdate, DeltaItem, DeltaKind, Notification, Snapshot, TaskDelta, TaskEvent, TaskMessage,
        TaskUpdate,
    },
    record::{Record, RecordBody},
    task::{AgentTask, Limits, Mode, Status},
    transcript::Usage,
};
use std::str::FromStr;

pub(crate) fn id<T: FromStr<Err: std::fmt::Debug>>(n: u64) -> T {
    format!("0198c0de-0000-7000-8000-{n:012x}").parse().unwrap()
}

pub(crate) fn conversation() -> ConversationId {
    id(1)
}

pub(crate) fn task_id() -> TaskId {
    id(2)
}

pub(crate) fn snapshot(seq: u64) -> Snapshot {
    Snapshot {
        seq: Seq(seq),
        conversations: Vec::new(),
        tasks: Vec::new(),
        inbox: Vec::new(),
        messages: Vec::new(),
        calls: Vec::new(),
        events: Vec::new(),
        partials: Vec::new(),
        daemon: DaemonUpdate {
            storage_full: false,
            storage_damaged: false,
            shutting_down: false,
            update: None,
        },
    }
}

pub(crate) fn message(seq: u64, text: &str) -> Message {
    Message {
        id: id::<RecordId>(0x1000 + seq),
        seq: Seq(seq),
        conversation_id: conversation(),
        task_id: Some(task_id()),
        at: Timestamp(0),
        role: Role::Agent,
        kind: MessageKind::Text,
        text: text.to_owned(),
        reasoning: None,
        question_id: None,
    }
}

pub(crate) fn task_message(seq: u64) -> Notification {
    let message = message(seq, &format!("message {seq}"));
    Notification::TaskMessage(TaskMessage { subscription_id: SubscriptionId(1), seq: Seq(seq), message })
}

/// The notification of a record.
pub(crate) fn sequenced(seq: u64, id: RecordId, body: RecordBody) -> Notification {
    let record = Record {
        seq: Seq(seq),
        id,
        conversation_id: conversation(),
        task_id: Some(task_id()),
        at: Timestamp(i64::try_from(seq).unwrap()),
        body,
    };
    let (subscription_id, seq) = (SubscriptionId(1), record.seq);
    match record.message() {
        Some(message) => Notification::TaskMessage(TaskMessage { subscription_id, seq, message }),
        None => Notification::TaskEvent(TaskEvent { subscription_id, seq, record }),
    }
}

pub(crate) fn delta(item: DeltaItem, attempt: u32, kind: DeltaKind, offset: u64, text: &str) -> Notification {
    Notification::TaskDelta(TaskDelta {
        subscription_id: SubscriptionId(1),
        conversation_id: conversation(),
        task_id: task_id(),
        item,
        attempt,
        kind,
        offset,
        text: text.to_owned(),
    })
}

pub(crate) fn task(status: Status, steps: u32) -> AgentTask {
    AgentTask {
        id: task_id(),
        conversation_id: conversation(),
        parent_id: None,
        mode: Mode::Agent,
        model: "demo/demo".to_owned(),
        status,
        end_reason: None,
        pause_reason: None,
        original_prompt: String::new(),
        scratchpad: Vec::new(),
        step_count: steps,
        phase: None,
        started_at: Timestamp(0),
        ended_at: None,
        pending: Vec::new(),
        active_calls: Vec::new(),
        error_message: None,
        summary: None,
        usage: Usage::default(),
        limits: Limits::default(),
        metadata: None,
        children: Vec::new(),
        incomplete: None,
        retry: None,
        work: abide_client::protocol::task::Work { ms: 0, since: None },
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
        approvals: abide_protocol::task::Approvals::Ask,
    }
}

pub(crate) fn task_update(task: AgentTask) -> Notification {
    Notification::TaskUpdate(TaskUpdate { task })
}
