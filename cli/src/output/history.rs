//! A task's history, oldest first, each entry with the time since the task began.

use crate::output::{
    call::{self, Extent},
    measure, message, recalled,
    style::{BAD, FAINT, STRONG, paint},
    text,
};
use abide_client::protocol::{
    Seq, Timestamp,
    event::{Event, EventKind, ModelTracedEvent},
    method::task::{GetTaskReply, TaskHistory},
    record::InstructionFile,
};

/// Shown if the reply has only the newest calls.
pub(crate) const OLDER_CALLS: &str = "… older calls are left out\n";

/// `width` is the room for it.
pub(crate) fn history(
    reply: &GetTaskReply,
    history: &TaskHistory,
    extent: Extent,
    width: Option<usize>,
) -> String {
    let began = reply.task.started_at;
    let mut entries: Vec<(Timestamp, Seq, String)> = Vec::new();
    entries.extend(history.messages.iter().map(|m| (m.at, m.seq, entry(began, m.at, &message::aside(m)))));
    entries.extend(history.events.iter().filter_map(|event| {
        let words = happened(event)?;
        Some((event.at, event.seq, entry(began, event.at, &words)))
    }));
    // Calls older than the rest of a cut history are left out: entries between them are missing.
    let oldest = entries.iter().map(|(_, seq, _)| *seq).min().filter(|_| history.is_cut);
    let calls = reply.calls.iter().filter(|c| !c.is_control() && oldest.is_none_or(|seq| c.seq > seq));
    let calls: Vec<_> = calls
        .map(|c| {
            let at = c.started_at.or(c.ended_at).unwrap_or_else(|| newest_before(&entries, c.seq, began));
            (at, c.seq, entry(began, at, call::rendered(c, extent, width).trim_end()))
        })
        .collect();
    entries.extend(calls);
    // The number of a call is that of its assessment; several may be assessed before the first one starts.
    entries.sort_by_key(|(at, seq, _)| (*at, *seq));
    let cut = match (history.is_cut, reply.calls_cut) {
        (true, _) => paint(FAINT, "… what came before is left out\n"),
        (false, true) => paint(FAINT, OLDER_CALLS),
        (false, false) => String::new(),
    };
    entries.into_iter().fold(cut, |all, (_, _, entry)| all + &entry)
}

/// The time at which a call that has not started is listed: that of the newest entry before its assessment. (A
/// call that waits for an approval has no start.)
fn newest_before(entries: &[(Timestamp, Seq, String)], seq: Seq, began: Timestamp) -> Timestamp {
    entries.iter().filter(|(_, other, _)| *other < seq).map(|(at, ..)| *at).max().unwrap_or(began)
}

fn entry(began: Timestamp, at: Timestamp, words: &str) -> String {
    let time = format!("{:>12}", measure::duration(at.since(began)));
    let mut lines = words.lines();
    let mut out = format!("{}  {}\n", paint(FAINT, &time), lines.next().unwrap_or_default());
    for line in lines {
        out.push_str(&format!("{:>12}  {line}\n", ""));
    }
    out
}

/// `None`: a message or the task itself shows it.
fn happened(event: &Event) -> Option<String> {
    Some(match &event.kind {
        EventKind::TaskStarted(started) => {
            let mut words = format!("started: {}, {}", started.mode.name(), text::one_line(&started.model));
            if let Some(persona) = &started.persona {
                words.push_str(&format!(", {}", text::one_line(persona)));
            }
            if !started.instructions.is_empty() {
                words.push_str(&format!("\nnotes of the repository: {}", notes(&started.instructions)));
            }
            words
        }
        EventKind::StepBegan(step) => paint(STRONG, &format!("step {}", step.step)),
        EventKind::PhaseBegan(began) => {
            let phase = began.phase.name();
            match began.step {
                // Before the first step.
                0 => paint(FAINT, phase),
                step => paint(STRONG, &format!("step {step}: ")) + &paint(FAINT, phase),
            }
        }
        EventKind::Undone(undone) => text::one_line(&undone.words()),
        EventKind::Recalled(recalled) => recalled::recalled(recalled),
        EventKind::Noted(noted) => recalled::noted(event.seq, &noted.text),
        EventKind::ModelFailed(failed) => {
            let again = failed
                .retry_at
                .map(|at| format!("; tried again after {}", measure::duration(at.since(event.at))))
                .unwrap_or_default();
            format!("{} {}{again}", paint(BAD, "model failed:"), text::one_line(&failed.message))
        }
        EventKind::ModelTraced(traced) => self::traced(traced),
        EventKind::Paused(reason) => format!("paused: {}", reason.name().replace('_', " ")),
        EventKind::Resumed(_) => "goes on".to_owned(),
        EventKind::LimitsRaised(limits) => format!("limits raised: {} steps", limits.max_steps),
        EventKind::Compacted(compacted) => compacted.words(),
        EventKind::RuleRemembered(remembered) => {
            let verb = if remembered.allow { "allowed" } else { "refused" };
            let what = remembered.text.as_ref().unwrap_or(&remembered.rule.tool);
            format!("remembered: {} is {verb}", text::one_line(what))
        }
        EventKind::Restarted => "the daemon was restarted; the task was found unfinished".to_owned(),
        EventKind::TaskEnded(ended) => format!("ended: {}", ended.reason.name().replace('_', " ")),
    })
}

/// The repository's notes for agents.
pub(crate) fn notes(files: &[InstructionFile]) -> String {
    let note =
        |file: &InstructionFile| format!("{} ({})", text::one_line(&file.path), measure::bytes(file.bytes));
    files.iter().map(note).collect::<Vec<_>>().join(", ")
}

/// The parts of a stream that the reply leaves out, as received.
fn traced(traced: &ModelTracedEvent) -> String {
    let what = measure::counted(traced.count, "part");
    let mut words = format!("{} of what the model sent left out (attempt {}):", what, traced.attempt);
    for trace in &traced.traces {
        words.push_str(&format!(
            "\n  {}: {}",
            text::one_line(&trace.what),
            paint(FAINT, &text::one_line(&trace.raw))
        ));
    }
    let kept = traced.traces.len() as u64;
    if traced.count > kept {
        words.push_str(&format!("\n  and {} more, not kept", traced.count - kept));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        event::{ModelFailedEvent, StepEvent},
        record::{ModelErrorKind, Trace},
    };
    use insta::assert_snapshot;

    fn event(seq: u64, after: u64, kind: EventKind) -> Event {
        let at = fixture::START.plus(after);
        Event { seq: Seq(seq), task_id: Some(fixture::task().id), at, kind }
    }

    fn reply() -> GetTaskReply {
        let task = fixture::task();
        let failed = EventKind::ModelFailed(ModelFailedEvent {
            kind: ModelErrorKind::Overloaded,
            message: "p: it is overloaded (503)".into(),
            retry_at: Some(fixture::START.plus(3_000)),
        });
        let traced = EventKind::ModelTraced(ModelTracedEvent {
            attempt: 1,
            traces: vec![Trace {
                what: "an event of an unknown kind".into(),
                raw: "{\"a\":\"\u{1b}[2J\"}".into(),
            }],
            count: 3,
        });
        let events = vec![
            event(2, 0, EventKind::StepBegan(StepEvent { step: 1 })),
            event(4, 2_000, traced),
            event(5, 2_000, failed),
        ];
        GetTaskReply {
            task,
            conversation_title: "Tidy up".into(),
            workspace: "/home/me/app".into(),
            calls: vec![fixture::call()],
            history: Some(TaskHistory { messages: vec![], events, is_cut: false }),
            calls_cut: false,
            started: None,
        }
    }

    #[test]
    fn the_history_is_oldest_first_with_traces_of_the_stream() {
        let reply = reply();
        let shown = history(&reply, reply.history.as_ref().unwrap(), Extent::Tail, None);
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert_snapshot!(shown, @r#"
        0 ms  step 1
        0 ms  ✓ read src/main.rs → 120 lines (12 ms)
         2 s  3 parts of what the model sent left out (attempt 1):
                an event of an unknown kind: {"a":"\x1b[2J"}
                and 2 more, not kept
         2 s  model failed: p: it is overloaded (503); tried again after 1 s
        "#);
    }
}
