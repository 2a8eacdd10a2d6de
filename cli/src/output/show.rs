//! One task with everything known about it.

use crate::output::{
    call::{self, Extent},
    history, measure, pending, ps, retry,
    style::{BAD, FAINT, PLAIN, STRONG, paint},
    table::{cell, table},
    text,
};
use abide_client::protocol::{
    Timestamp,
    method::task::GetTaskReply,
    task::{AgentTask, Limits, Status},
};

/// The indentation below a title, in columns.
const INDENT: usize = 2;

/// `width` is the terminal's; `None` where there is none.
pub(crate) fn task(reply: &GetTaskReply, extent: Extent, now: Timestamp, width: Option<usize>) -> String {
    let task = &reply.task;
    let mut out = format!(
        "{} {}\n",
        paint(STRONG, &format!("Task {}", task.id.short())),
        text::one_line(&reply.conversation_title)
    );
    out.push_str(&facts(reply, now));
    section(&mut out, "Prompt", &text::indented(&task.original_prompt, 2));
    let room = width.map(|width| width.saturating_sub(INDENT));
    match &reply.history {
        // The history contains the calls.
        Some(happened) => {
            section(&mut out, "History", &indent(&history::history(reply, happened, extent, room)));
        }
        None => {
            let older = if reply.calls_cut { history::OLDER_CALLS } else { "" };
            let calls: String = reply.calls.iter().map(|c| call::rendered(c, extent, room)).collect();
            section(&mut out, "Calls", &indent(&(paint(FAINT, older) + &calls)));
        }
    }
    let notes: String = task.scratchpad.iter().map(|note| text::indented(note, 2)).collect();
    section(&mut out, "Scratchpad", &notes);
    for item in &task.pending {
        let how = paint(FAINT, &pending::how_to_answer(item));
        section(&mut out, "Waits for you", &indent(&format!("{}{how}\n", pending::pending(item, room))));
    }
    if task.status == Status::Paused && task.pending.is_empty() {
        section(&mut out, "To let it go on", &format!("  abide resume {}\n", task.id.short()));
    }
    section(&mut out, "Summary", &text::indented(task.summary.as_deref().unwrap_or_default(), 2));
    if let Some(error) = &task.error_message {
        section(&mut out, "Error", &paint(BAD, &text::indented(error, 2)));
    }
    out
}

/// Its own, and that of all of its tree.
fn usage(task: &AgentTask) -> String {
    let own = measure::usage(&task.usage);
    match &task.tree {
        None => own,
        Some(_) => format!("{own}; with its sub-tasks {}", measure::usage(&task.usage_of_all())),
    }
}

fn facts(reply: &GetTaskReply, now: Timestamp) -> String {
    let task = &reply.task;
    let (status, style) = ps::status(task);
    let mut rows = vec![
        [cell(FAINT, "status"), cell(style, &status)],
        [cell(FAINT, "conversation"), cell(PLAIN, &task.conversation_id.short())],
        [cell(FAINT, "mode"), cell(PLAIN, &format!("{}, {}", task.mode.name(), task.model))],
        [cell(FAINT, "workspace"), cell(PLAIN, &reply.workspace)],
        [cell(FAINT, "started"), cell(PLAIN, &started(task, now))],
        [cell(FAINT, "steps"), cell(PLAIN, &task.step_count.to_string())],
        [cell(FAINT, "usage"), cell(PLAIN, &usage(task))],
        [cell(FAINT, "limits"), cell(PLAIN, &limits(&task.limits))],
    ];
    if let Some(retry) = retry::whole(task, now) {
        rows.insert(1, [cell(FAINT, "model call"), cell(PLAIN, &retry)]);
    }
    if let Some(started) = &reply.started {
        if let Some(persona) = &started.persona {
            rows.push([cell(FAINT, "persona"), cell(PLAIN, persona)]);
        }
        if !started.instructions.is_empty() {
            rows.push([cell(FAINT, "notes"), cell(PLAIN, &history::notes(&started.instructions))]);
        }
    }
    if let Some(id) = &task.external_id {
        rows.push([cell(FAINT, "named"), cell(PLAIN, id)]);
    }
    if let Some(parent) = task.parent_id {
        rows.push([cell(FAINT, "parent"), cell(PLAIN, &parent.short())]);
        rows.push([cell(FAINT, "about"), cell(PLAIN, &task.title)]);
    }
    if !task.children.is_empty() {
        let children: Vec<_> = task.children.iter().map(abide_client::protocol::TaskId::short).collect();
        rows.push([cell(FAINT, "children"), cell(PLAIN, &children.join(" "))]);
    }
    indent(&table(["", ""], &rows, None))
}

fn started(task: &AgentTask, now: Timestamp) -> String {
    let ago = measure::ago(task.started_at, now);
    match task.ended_at {
        Some(ended) => format!("{ago}, ended after {}", measure::duration(ended.since(task.started_at))),
        None => ago,
    }
}

fn limits(limits: &Limits) -> String {
    let mut words = Vec::new();
    if limits.max_steps > 0 {
        words.push(measure::counted(u64::from(limits.max_steps), "step"));
    }
    if limits.max_duration_secs > 0 {
        words.push(format!("{} of work", measure::duration(limits.max_duration_secs.saturating_mul(1000))));
    }
    if limits.max_tokens > 0 {
        words.push(measure::counted(limits.max_tokens, "token"));
    }
    if limits.max_cost_micros > 0 {
        words.push(measure::money(limits.max_cost_micros));
    }
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn section(out: &mut String, title: &str, body: &str) {
    if !body.trim().is_empty() {
        out.push_str(&format!("\n{}\n{body}", paint(STRONG, title)));
    }
}

fn indent(rendered: &str) -> String {
    let margin = " ".repeat(INDENT);
    rendered.lines().map(|line| format!("{}{line}\n", if line.is_empty() { "" } else { &margin })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        event::StartedEvent,
        inbox::Pending,
        record::InstructionFile,
        task::{Mode, Tree},
        transcript::Usage,
    };
    use insta::assert_snapshot;

    #[test]
    fn a_task_is_shown_whole() {
        let reply = GetTaskReply {
            task: AgentTask {
                original_prompt: "tidy\nup".into(),
                status: Status::WaitingUser,
                pending: vec![Pending::Question(fixture::question())],
                summary: Some("did \u{1b}[2Jthings".into()),
                tree: Some(Box::new(Tree {
                    ended: 1,
                    usage: Usage { output: 766, model_calls: 2, ..Usage::default() },
                    ..Tree::default()
                })),
                ..fixture::task()
            },
            conversation_title: "Tidy up".into(),
            workspace: "/home/me/app".into(),
            calls: vec![fixture::call()],
            history: None,
            calls_cut: true,
            started: Some(Box::new(StartedEvent {
                parent_id: None,
                mode: Mode::Agent,
                model: "demo/demo".into(),
                persona: Some("reviewer".into()),
                instructions: vec![InstructionFile {
                    path: "near\n/AGENTS.md".into(),
                    bytes: 2048,
                    sha256: String::new(),
                }],
            })),
        };
        let shown =
            anstream::adapter::strip_str(&task(&reply, Extent::Tail, fixture::START.plus(60_000), None))
                .to_string();
        assert_snapshot!(shown, @r"
        Task 00000001 Tidy up
          status        needs you: answer
          conversation  00000002
          mode          agent, demo/demo
          workspace     /home/me/app
          started       1 min ago
          steps         3
          usage         1,234 tokens in 3 model calls; with its sub-tasks 2,000 tokens in 5 model calls
          limits        50 steps, 30 min of work
          persona       reviewer
          notes         near /AGENTS.md (2 KiB)

        Prompt
          tidy
          up

        Calls
          … older calls are left out
          ✓ read src/main.rs → 120 lines (12 ms)

        Waits for you
          The agent asks
            Which colour?
            1. red
            2. blue
          abide answer 00000004 TEXT  or  abide answer 00000004 --decline

        Summary
          did \x1b[2Jthings
        ");
    }
}
