//! A tool call: one quiet line, with its input and output on demand.

use super::{
    Message, diff,
    result::{of_sub_tasks, told, told_whole},
};
use crate::{
    ansi,
    effect::{Form, Reading},
    font,
    output::{cut, plain, tail},
    theme::{size, space, style},
    widget::{Element, Look, elide::elided, passage::code, press::press, scrolls, secondary, word, working},
    words,
};
use abide_client::protocol::{
    message::{CallOutcome, CallView},
    record::Permission,
    task::CallState,
    transcript::ToolResult,
};
use abide_host::text::{visible, visible_line};
use iced::{
    Center, Fill,
    widget::{Row, column, container, rule},
};

/// How many lines of live output are shown.
const TAIL: usize = 12;
/// How many lines of an opened result are shown; the rest can be read on its own.
const MAX_LINES: usize = 300;
const MAX_SAID: usize = 48;

/// The card. `live` is a running tool's output so far; `is_open` is the person's choice, if they made one.
pub fn view<'a>(
    call: &'a CallView,
    live: Option<&str>,
    is_open: Option<bool>,
    look: Look,
) -> Element<'a, Message> {
    let is_running = call.state == CallState::Running;
    let preview = call.preview.as_ref();
    let is_shown = is_open.unwrap_or_else(|| {
        // The reason for a rejection is always shown.
        call.outcome == Some(CallOutcome::Rejected)
            || (is_running && live.is_some())
            // Its lines were in view when it was cut off.
            || was_cut_off(call)
            || (preview.is_some() && did(call))
    });
    let tool = visible_line(&call.tool);
    let what = visible_line(words::what(&call.tool, &call.summary)).into_owned();
    let mut head = Row::new().spacing(space::M).align_y(Center);
    if is_running {
        head = head.push(working(look));
    }
    let is_file = matches!(&*call.tool, "read" | "write" | "patch" | "list" | "create_dir");
    let what = elided(what, size::CODE, font::CODE);
    let what = if is_file { what.from_left() } else { what };
    head = head.push(secondary(tool)).push(what).push(aside(call, look));
    let wanted = Message::CallToggled(call.call_id, !is_shown);
    let head = press(head).padding([space::S, space::M]).width(Fill).style(style::tool_head).on_press(wanted);
    let mut card = column![head];
    if is_shown {
        let is_whole = is_open == Some(true);
        let body =
            container(details(call, live, is_whole, look)).padding([space::S + 2.0, space::M]).width(Fill);
        card = card.push(rule::horizontal(1).style(style::line)).push(body.style(style::output));
    }
    container(card).padding(1).width(Fill).style(style::tool).into()
}

fn did(call: &CallView) -> bool {
    call.outcome == Some(CallOutcome::Done) && call.result.as_ref().is_some_and(|result| result.ok)
}

/// Whether it ran when the task or the daemon ended.
fn was_cut_off(call: &CallView) -> bool {
    call.started_at.is_some()
        && matches!(call.outcome, Some(CallOutcome::Cancelled | CallOutcome::Interrupted))
}

/// The message of a result, as far as it fits its line.
fn short(result: &ToolResult) -> String {
    visible_line(&words::first_line(&result.message, MAX_SAID)).into_owned()
}

/// At the right: the result, and how long the call took.
fn aside<'a>(call: &CallView, look: Look) -> Element<'a, Message> {
    let said = match (call.state, call.outcome) {
        (CallState::Queued, _) => "waits for its turn",
        (CallState::WaitingApproval, _) => "waits for approval",
        (CallState::WaitingUser, _) => "waits for you",
        (CallState::WaitingChildren, _) => "waits for sub-tasks",
        (CallState::Running, _) if !look.is_live => "running when last seen",
        (CallState::Running, _) => "running",
        (CallState::Finished, Some(CallOutcome::Refused)) => "refused",
        (CallState::Finished, Some(CallOutcome::Rejected)) => "rejected",
        (CallState::Finished, Some(CallOutcome::Cancelled)) => "cancelled",
        (CallState::Finished, Some(CallOutcome::Interrupted)) => "interrupted, effects unknown",
        (CallState::Finished, Some(CallOutcome::Done) | None) => "",
    };
    let took = match (call.started_at, call.ended_at) {
        // When it was interrupted is not known, only when that was found.
        (Some(_), Some(_)) if call.outcome == Some(CallOutcome::Interrupted) => None,
        (Some(from), Some(to)) => Some(words::took(to.since(from))),
        (Some(from), None) => Some(words::duration(look.now.since(from).max(1000))),
        _ => None,
    };
    let mut parts: Vec<String> = Vec::new();
    let mut row = Row::new().spacing(space::XS);
    let changed = call.preview.as_ref().filter(|_| did(call));
    match (&call.result, said) {
        (Some(result), said) if call.outcome == Some(CallOutcome::Refused) => {
            parts.push(format!("{said}: {}", short(result)));
        }
        (_, said) if !said.is_empty() => parts.push(said.to_owned()),
        _ if changed.is_some() => {}
        (Some(result), _) => parts.push(of_sub_tasks(call, result).unwrap_or_else(|| short(result))),
        _ => {}
    }
    parts.retain(|part| !part.is_empty());
    if let Some(preview) = changed {
        let changes: Vec<_> = diff::changes(preview).collect();
        let has_changes = !changes.is_empty();
        row = row.extend(changes);
        if has_changes && took.is_some() {
            row = row.push(secondary("·"));
        }
    }
    let by_rule = call.permission == Permission::Rule && call.started_at.is_some();
    parts.extend(by_rule.then(|| "allowed by a rule".to_owned()));
    parts.extend(took);
    let is_bad = call.state == CallState::Finished
        && (call.result.as_ref().is_some_and(|result| !result.ok) || call.outcome != Some(CallOutcome::Done))
        && call.outcome != Some(CallOutcome::Cancelled);
    let words = secondary(parts.join(" · "));
    row.push(if is_bad { words.style(style::bad) } else { words }).align_y(Center).into()
}

fn details<'a>(call: &'a CallView, live: Option<&str>, is_whole: bool, look: Look) -> Element<'a, Message> {
    let mut content = column![].spacing(space::S);
    let mut buttons = Row::new().spacing(space::XS);
    if let Some(preview) = &call.preview {
        let (most, open) = if is_whole {
            (diff::ALL, Message::DiffRead(call.call_id))
        } else {
            (diff::SHORT, Message::CallToggled(call.call_id, true))
        };
        content = content.push(diff::view(preview, most, look, || open));
    }
    if is_whole && call.preview.is_none() {
        let arguments = arguments(&call.arguments);
        let is_empty = arguments.is_none() && live.is_none() && call.result.is_none();
        let is_over = call.state == CallState::Finished;
        let words = if is_over { "There is nothing more to it." } else { "There is nothing more to it yet." };
        content = content.push(arguments).push(is_empty.then(|| secondary(words)));
    }
    if let Some(live) = live.filter(|_| call.state == CallState::Running) {
        let (_, last) = tail(live, if is_whole { MAX_LINES } else { TAIL });
        content = content.push(output(last, look));
    }
    let is_rejected = call.outcome == Some(CallOutcome::Rejected);
    if let Some(result) = call.result.as_ref().filter(|_| is_whole || call.preview.is_none() || is_rejected) {
        let (message, all) = told(call, result, &head(call, result));
        // It is no line of the output.
        content = content.push(message.as_ref().map(|message| output(message, look)));
        let (before, last) = tail(&all, if was_cut_off(call) && !is_whole { TAIL } else { MAX_LINES });
        if before > 0 {
            let words = format!("… {} before", words::counted(before as u64, "line"));
            content = content.push(word(words, Message::ResultRead(call.call_id)));
        }
        if !last.is_empty() || message.is_none() {
            content = content.push(output(if last.is_empty() { "no output" } else { last }, look));
        }
        if last.contains('\n') {
            let is_cut = all.lines().any(|line| cut(line).is_some());
            let label = if is_cut { "Read what was kept" } else { "Read all" };
            buttons = buttons.push(word(label, Message::ResultRead(call.call_id)));
        }
        let whole = told_whole(call, result, &head(call, result));
        buttons = buttons.push(word("Copy", Message::Copied(plain(&whole))));
    }
    let scrolls = scrolls(content.width(Fill));
    // The newest output is wanted first.
    let scrolls = if call.preview.is_none() { scrolls.anchor_bottom() } else { scrolls };
    column![container(scrolls).max_height(look.half.max(space::OUTPUT)), buttons].spacing(space::XS).into()
}

/// The part of the result that the line shows.
fn head(call: &CallView, result: &ToolResult) -> String {
    if call.outcome == Some(CallOutcome::Done) { short(result) } else { String::new() }
}

/// A program's output.
fn output<'a>(text: &str, look: Look) -> Element<'a, Message> {
    ansi::output(text, look.tokens).width(Fill).into()
}

/// The call's whole result, to be read on its own.
pub(super) fn result_of(call: &CallView) -> Option<Reading> {
    let result = call.result.as_ref()?;
    let text = plain(&told_whole(call, result, &head(call, result)));
    Some(Reading { title: title(call), text, form: Form::Plain })
}

/// The call's whole diff.
pub(super) fn diff_of(call: &CallView) -> Option<Reading> {
    let text = call.preview.as_ref()?.diff.clone();
    Some(Reading { title: title(call), text, form: Form::Diff })
}

fn title(call: &CallView) -> String {
    format!("{} {}", call.tool, words::first_line(words::what(&call.tool, &call.summary), 90))
}

/// `None` if it has none.
fn arguments<'a>(raw: &str) -> Option<Element<'a, Message>> {
    let said = match serde_json::from_str(raw) {
        Ok(serde_json::Value::Object(fields)) => {
            let lines = fields.iter().map(|(name, value)| match value.as_str() {
                Some(text) => format!("{name}: {text}"),
                None => format!("{name}: {value}"),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => raw.to_owned(),
    };
    let said = tail(&said, MAX_LINES).1;
    (!said.is_empty()).then(|| code(visible(said).into_owned()).width(Fill).into())
}
