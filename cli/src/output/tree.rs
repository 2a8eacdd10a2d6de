//! Tasks with their sub-tasks.

use crate::output::{
    measure, ps,
    style::{FAINT, STRONG, paint},
    text,
};
use abide_client::protocol::{TaskId, method::task::Agent};
use std::{collections::BTreeMap, fmt::Write as _};

/// `abide tree`: a line for each task, beneath that of its parent, in the order in which they were started.
/// `width` is the terminal's.
pub(crate) fn tree(agents: &BTreeMap<TaskId, Agent>, width: Option<usize>) -> String {
    if agents.is_empty() {
        return "No task is at work.\n  abide tree --all    ended ones too\n".to_owned();
    }
    let mut out = String::new();
    let is_top = |agent: &&Agent| agent.task.parent_id.is_none_or(|parent| !agents.contains_key(&parent));
    for agent in sorted(agents.values().filter(is_top)) {
        branch(&mut out, agents, agent, &Indent::default(), width);
    }
    let ended_below =
        agents.values().filter(is_top).filter_map(|agent| agent.task.tree.as_deref()).map(|tree| tree.ended);
    let shown = agents.values().filter(|agent| !is_top(agent) && agent.task.status.has_ended()).count();
    let hidden = u64::from(ended_below.sum::<u32>()).saturating_sub(shown as u64);
    if hidden > 0 {
        let are = if hidden == 1 { "is" } else { "are" };
        let words =
            format!("{} {are} not shown; --all shows them", measure::counted(hidden, "ended sub-task"));
        let _ = writeln!(out, "{}", paint(FAINT, &words));
    }
    out
}

/// What is before a task's id, and before those of its sub-tasks.
#[derive(Default)]
struct Indent {
    own: String,
    below: String,
}

fn branch(
    out: &mut String,
    agents: &BTreeMap<TaskId, Agent>,
    agent: &Agent,
    indent: &Indent,
    width: Option<usize>,
) {
    // The drawn lines alone would say nothing to a screen reader.
    let of = agent.task.parent_id.map(|parent| format!(" of {}", parent.short())).unwrap_or_default();
    let id = agent.task.id.short();
    let (status, style) = ps::own_status(&agent.task);
    let figures = figures(agent);
    let title = text::one_line(&agent.title);
    let used = text::width(&format!("{}{id}{of}  {status}  {figures}  ", indent.own));
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(used).max(8));
    let _ = writeln!(
        out,
        "{}{}{}  {}  {}  {}",
        paint(FAINT, &indent.own),
        paint(STRONG, &id),
        paint(FAINT, &of),
        paint(style, &status),
        paint(FAINT, &figures),
        text::fit(&title, room)
    );
    let mut below = sorted(agents.values().filter(|other| other.task.parent_id == Some(agent.task.id)));
    let last = below.pop();
    for child in below {
        let indent =
            Indent { own: format!("{}├─ ", indent.below), below: format!("{}│  ", indent.below) };
        branch(out, agents, child, &indent, width);
    }
    if let Some(child) = last {
        let indent =
            Indent { own: format!("{}└─ ", indent.below), below: format!("{}   ", indent.below) };
        branch(out, agents, child, &indent, width);
    }
}

/// By the time of their start.
fn sorted<'a>(agents: impl Iterator<Item = &'a Agent>) -> Vec<&'a Agent> {
    let mut agents: Vec<_> = agents.collect();
    agents.sort_by_key(|agent| (agent.task.started_at, agent.task.id));
    agents
}

/// `step 3/50 · 1,234 tokens`
fn figures(agent: &Agent) -> String {
    let steps = ps::steps(&agent.task);
    std::iter::once(format!("step {steps}"))
        .chain(measure::spent(&agent.task.usage))
        .collect::<Vec<_>>()
        .join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::task::{AgentTask, Status, Tree};
    use insta::assert_snapshot;
    use uuid::Uuid;

    fn id(n: u128) -> TaskId {
        TaskId(Uuid::from_u128(n))
    }

    fn agent(n: u128, parent: Option<u128>, status: Status, title: &str) -> (TaskId, Agent) {
        let parent_id = parent.map(id);
        let tree = Some(Box::new(Tree { live: 3, waiting: 1, ..Tree::default() }));
        let task = AgentTask { id: id(n), parent_id, status, tree, ..fixture::task() };
        let depth = u32::from(parent.is_some());
        let agent = Agent { task, title: title.to_owned(), depth, user_content: None, user_comment: None };
        (id(n), agent)
    }

    fn shown(agents: impl IntoIterator<Item = (TaskId, Agent)>, width: Option<usize>) -> String {
        anstream::adapter::strip_str(&tree(&agents.into_iter().collect(), width)).to_string()
    }

    #[test]
    fn each_task_is_beneath_its_parent() {
        let agents = [
            agent(1, None, Status::WaitingChildren, "Compare the options"),
            agent(2, Some(1), Status::WaitingUser, "Option A\u{1b}[31m"),
            agent(3, Some(1), Status::Thinking, "Option B"),
            agent(4, Some(2), Status::Running, "A detail of A"),
            agent(5, None, Status::Thinking, "Another task"),
            agent(6, Some(99), Status::Thinking, "Beneath a task that is not shown"),
        ];
        assert_snapshot!(shown(agents, None), @r"
        00000001  waits for 3  step 3/50 · 1,234 tokens  Compare the options
        ├─ 00000002 of 00000001  needs you: answer  step 3/50 · 1,234 tokens  Option A\x1b[31m
        │  └─ 00000004 of 00000002  running  step 3/50 · 1,234 tokens  A detail of A
        └─ 00000003 of 00000001  thinking  step 3/50 · 1,234 tokens  Option B
        00000005  thinking  step 3/50 · 1,234 tokens  Another task
        00000006 of 00000063  thinking  step 3/50 · 1,234 tokens  Beneath a task that is not shown
        ");
        assert_snapshot!(shown([], None), @r"
        No task is at work.
          abide tree --all    ended ones too
        ");
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let mut root = agent(1, None, Status::WaitingChildren, "Compare the options");
        root.1.task.tree = Some(Box::new(Tree { live: 1, ended: 3, ..Tree::default() }));
        let live = || agent(2, Some(1), Status::Thinking, "Option A");
        let out = shown([root.clone(), live()], None);
        assert!(out.ends_with("3 ended sub-tasks are not shown; --all shows them\n"), "{out}");
        let ended = |n| agent(n, Some(1), Status::Completed, "An option");
        let out = shown([root.clone(), live(), ended(3), ended(4)], None);
        assert!(out.ends_with("1 ended sub-task is not shown; --all shows them\n"), "{out}");
        let out = shown([root, live(), ended(3), ended(4), ended(5)], None);
        assert!(!out.contains("not shown"), "{out}");
    }

    #[test]
    fn titles_are_cut_at_the_width_of_the_terminal() {
        let out = shown([agent(1, None, Status::Thinking, &"long ".repeat(40))], Some(70));
        assert!(out.lines().all(|line| text::width(line) <= 70), "{out}");
    }
}
