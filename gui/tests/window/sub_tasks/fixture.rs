//! Trees of tasks, as a daemon would send them.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, NOW, TASK, call, empty, history, question},
};
use abide_client::protocol::{
    JsonText, TaskId, Timestamp,
    inbox::{InboxItem, Pending},
    notification::Snapshot,
    task::{AgentTask, EndReason, Status, Tree, Work},
    transcript::{ToolResult, Usage},
};

/// The sub-task of this number.
pub(super) const fn child(n: u128) -> TaskId {
    TaskId(uuid::Uuid::from_u128(1000 + n))
}

/// A task of a tree.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) id: TaskId,
    parent: Option<TaskId>,
    pub(super) status: Status,
    title: String,
    /// The `fork` that began it, by its place in the timeline.
    fork: Option<u64>,
}

impl Node {
    pub(super) fn root(status: Status) -> Self {
        Self { id: TASK, parent: None, status, title: String::new(), fork: None }
    }

    pub(super) fn new(n: u128, parent: TaskId, status: Status, title: &str) -> Self {
        Self { id: child(n), parent: Some(parent), status, title: title.into(), fork: None }
    }

    pub(super) fn forked_by(&mut self, seq: u64) {
        self.fork = Some(seq);
    }

    /// What it waits for.
    fn pending(&self) -> Option<Pending> {
        match self.status {
            Status::WaitingUser => Some(Pending::Question(question())),
            Status::WaitingApproval => Some(preset::approval()),
            _ => None,
        }
    }
}

fn depth(nodes: &[Node], node: &Node) -> u32 {
    let parent = |node: &Node| nodes.iter().find(|other| Some(other.id) == node.parent);
    std::iter::successors(parent(node), |node| parent(node)).count() as u32
}

fn is_below(nodes: &[Node], node: &Node, top: TaskId) -> bool {
    let parent = |node: &Node| nodes.iter().find(|other| Some(other.id) == node.parent);
    std::iter::successors(parent(node), |node| parent(node)).any(|node| node.id == top)
}

/// The tasks as the daemon sends them.
pub(super) fn tree(nodes: &[Node]) -> Vec<AgentTask> {
    let task = |(n, node): (usize, &Node)| {
        let below: Vec<&Node> = nodes.iter().filter(|other| is_below(nodes, other, node.id)).collect();
        let live = below.iter().filter(|other| !other.status.has_ended()).count() as u32;
        let waiting = below.iter().filter(|other| other.pending().is_some()).count() as u32;
        let works = |node: &Node| matches!(node.status, Status::Thinking | Status::ToolExecuting);
        let is_at_work = works(node) || below.iter().any(|other| works(other));
        let began = Timestamp(NOW.0 - 90_000 + n as i64);
        let tree = Tree { live, ended: below.len() as u32 - live, waiting, usage: Usage::default() };
        AgentTask {
            id: node.id,
            parent_id: node.parent,
            title: node.title.clone(),
            depth: depth(nodes, node),
            step_count: 3,
            started_at: began,
            usage: Usage { input: 1000, output: 234, model_calls: 3, ..Usage::default() },
            pending: node.pending().into_iter().collect(),
            children: nodes.iter().filter(|o| o.parent == Some(node.id)).map(|o| o.id).collect(),
            tree: (!below.is_empty()).then(|| Box::new(tree)),
            end_reason: match node.status {
                Status::Cancelled => Some(EndReason::Deleted),
                status => status.has_ended().then_some(EndReason::Completed),
            },
            ended_at: node.status.has_ended().then_some(NOW),
            work: Work { ms: 60_000, since: is_at_work.then_some(began) },
            ..preset::task(node.status)
        }
    };
    nodes.iter().enumerate().map(task).collect()
}

fn inbox(nodes: &[Node]) -> Vec<InboxItem> {
    let item = |node: &Node| {
        Some(InboxItem {
            task_id: node.id,
            conversation_id: CONVERSATION,
            conversation_title: "Fix flaky login test".into(),
            pending: node.pending()?,
            root_id: node.parent.map(|_| TASK),
            title: node.title.clone(),
            depth: depth(nodes, node),
        })
    };
    nodes.iter().filter_map(item).collect()
}

/// All conversations: only the root is among the tasks.
pub(super) fn overview(nodes: &[Node]) -> Snapshot {
    let tasks = vec![tree(nodes).remove(0)];
    Snapshot { conversations: vec![preset::conversation(&tasks[0])], tasks, inbox: inbox(nodes), ..empty() }
}

/// The conversation with the whole tree.
pub(super) fn snapshot(nodes: &[Node]) -> Snapshot {
    let tasks = tree(nodes);
    let mut history = history();
    for (seq, node) in nodes.iter().filter_map(|node| Some((node.fork?, node))) {
        let mut fork = call(seq, "fork", &format!("fork: {}", node.title));
        let handle = format!("{{\"handle\":\"{}\"}}", node.id.short());
        fork.result = Some(ToolResult::success(handle.clone(), JsonText::parse(&handle).ok()));
        history.calls.push(fork);
    }
    Snapshot { conversations: vec![preset::conversation(&tasks[0])], tasks, inbox: inbox(nodes), ..history }
}

/// A person who has opened the conversation.
pub(super) fn opened(nodes: &[Node]) -> Person {
    let mut person = Person::before(overview(nodes));
    person.open(CONVERSATION, snapshot(nodes));
    person
}
