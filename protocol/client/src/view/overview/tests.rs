use super::OverviewView;
use crate::{
    Update,
    view::{Connection, OverviewChange},
};
use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    conversation::Conversation,
    memory::MemoryUse,
    notification::{ConversationUpdate, DaemonUpdate, Notification, Snapshot, TaskUpdate},
    task::{AgentTask, Limits, Mode, Status},
    transcript::Usage,
};

fn conversation(n: u128, updated_at: i64) -> Conversation {
    Conversation {
        id: ConversationId(uuid::Uuid::from_u128(n)),
        title: format!("number {n}"),
        workspace: "/w".to_owned(),
        mode: None,
        model: None,
        persona: None,
        created_at: Timestamp(0),
        updated_at: Timestamp(updated_at),
        archived: false,
        muted: false,
        memory: MemoryUse::Normal,
        unread: 0,
        task: None,
    }
}

fn task(n: u128, status: Status) -> AgentTask {
    AgentTask {
        id: TaskId(uuid::Uuid::from_u128(n)),
        conversation_id: ConversationId(uuid::Uuid::from_u128(1)),
        parent_id: None,
        mode: Mode::Chat,
        model: "demo/demo".to_owned(),
        status,
        end_reason: None,
        pause_reason: None,
        original_prompt: String::new(),
        scratchpad: Vec::new(),
        step_count: 0,
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
        work: crate::protocol::task::Work { ms: 0, since: None },
        external_id: None,
        title: String::new(),
        depth: 0,
        tree: None,
        data: None,
        approvals: abide_protocol::task::Approvals::Ask,
    }
}

const DAEMON: DaemonUpdate =
    DaemonUpdate { storage_full: false, storage_damaged: false, shutting_down: false, update: None };

fn view(conversations: Vec<Conversation>, tasks: Vec<AgentTask>) -> OverviewView {
    let mut view = OverviewView::default();
    let snapshot = Snapshot {
        seq: abide_protocol::Seq(1),
        conversations,
        tasks,
        inbox: Vec::new(),
        messages: Vec::new(),
        calls: Vec::new(),
        events: Vec::new(),
        partials: Vec::new(),
        daemon: DAEMON,
    };
    assert_eq!(view.apply(Update::Snapshot(Box::new(snapshot))), [OverviewChange::Reset]);
    view
}

fn set(
    view: &mut OverviewView,
    conversation_id: ConversationId,
    conversation: Option<Conversation>,
) -> usize {
    let update = ConversationUpdate { conversation_id, conversation };
    view.apply(Update::Notification(Notification::ConversationUpdate(update))).len()
}

#[test]
fn conversations_are_sorted_by_their_last_change() {
    let mut view = view(vec![conversation(1, 10), conversation(2, 20)], Vec::new());
    let titles = |view: &OverviewView| -> Vec<String> {
        view.conversations().iter().map(|c| c.title.clone()).collect()
    };
    assert_eq!(titles(&view), ["number 2", "number 1"]);
    let changed = conversation(1, 30);
    assert_eq!(set(&mut view, changed.id, Some(changed.clone())), 1);
    assert_eq!(set(&mut view, changed.id, Some(changed.clone())), 0, "the same word again changes nothing");
    assert_eq!(titles(&view), ["number 1", "number 2"]);
    assert_eq!(set(&mut view, changed.id, None), 1);
    assert_eq!(set(&mut view, changed.id, None), 0);
    assert_eq!(titles(&view), ["number 2"]);
}

#[test]
fn tasks_are_there_until_they_end() {
    let mut view = view(Vec::new(), vec![task(1, Status::Running), task(2, Status::Completed)]);
    assert_eq!(view.tasks().count(), 1);
    let mut tell = |task: AgentTask| {
        let update = TaskUpdate { task };
        view.apply(Update::Notification(Notification::TaskUpdate(update))).len()
    };
    assert_eq!(tell(task(1, Status::Thinking)), 1);
    assert_eq!(tell(task(1, Status::Thinking)), 0);
    assert_eq!(tell(task(1, Status::Error)), 1);
    assert_eq!(tell(task(1, Status::Error)), 0);
    assert_eq!(view.tasks().count(), 0);
}

#[test]
fn the_view_knows_whether_it_is_up_to_date() {
    let mut view = OverviewView::default();
    assert_eq!(view.connection(), &Connection::Opening);
    let lost = || Update::Disconnected { reason: "gone".to_owned() };
    assert_eq!(view.apply(lost()), [OverviewChange::Connection]);
    assert_eq!(view.apply(lost()), []);
    assert_eq!(view.connection(), &Connection::Lost { reason: "gone".to_owned() });
}
