//! A tool call: one quiet line, and on demand what went in and came out.

use super::{Message, diff};
use crate::{
    theme::{space, style},
    widget::{Element, Look, code, one_line, secondary, spinner::spinner, word},
    words,
};
use abide_client::{
    protocol::{
        message::{CallOutcome, CallView},
        task::CallState,
    },
    text::{visible, visible_line},
};
use iced::{
    Center, Fill,
    widget::{Row, button, column, container, row, rule, scrollable},
};

/// Lines of live output.
const TAIL: usize = 12;
/// Of a result that is opened.
const MAX_LINES: usize = 300;
const MAX_SAID: usize = 48;

/// The card. `live` is what a running tool has said so far; `is_open` what the person wants, if they said.
pub fn view<'a>(
    call: &'a CallView,
    live: Option<&str>,
    is_open: Option<bool>,
    look: Look,
) -> Element<'a, Message> {
    let is_running = call.state == CallState::Running;
    let preview = call.preview.as_ref();
    let is_shown =
        is_open.unwrap_or_else(|| (is_running && live.is_some()) || (preview.is_some() && did(call)));
    let tool = visible_line(&call.tool);
    let what = visible_line(words::what(&call.tool, &call.summary)).into_owned();
    let mut head = Row::new().spacing(space::M).align_y(Center);
    if is_running {
        head = head.push(spinner());
    }
    head = head.push(secondary(tool)).push(one_line(code(what))).push(aside(call, look));
    let wanted = Message::CallToggled(call.call_id, !is_shown);
    let head =
        button(head).padding([space::S, space::M]).width(Fill).style(style::tool_head).on_press(wanted);
    let mut card = column![head];
    if is_shown {
        let is_whole = is_open == Some(true);
        let body = container(details(call, live, is_whole)).padding([space::S + 2.0, space::M]).width(Fill);
        card = card.push(rule::horizontal(1).style(style::line)).push(body.style(style::output));
    }
    container(card).padding(1).width(Fill).style(style::tool).into()
}

fn did(call: &CallView) -> bool {
    call.outcome == Some(CallOutcome::Done) && call.result.as_ref().is_some_and(|result| result.ok)
}

/// At the right: what came of it, and how long it took.
fn aside<'a>(call: &CallView, look: Look) -> Element<'a, Message> {
    let said = match (call.state, call.outcome) {
        (CallState::Queued, _) => "queued",
        (CallState::WaitingApproval, _) => "waits for approval",
        (CallState::WaitingUser, _) => "waits for you",
        (CallState::Running, _) => "running",
        (CallState::Finished, Some(CallOutcome::Refused)) => "refused",
        (CallState::Finished, Some(CallOutcome::Rejected)) => "rejected",
        (CallState::Finished, Some(CallOutcome::Cancelled)) => "cancelled",
        (CallState::Finished, Some(CallOutcome::Interrupted)) => "interrupted, effects unknown",
        (CallState::Finished, Some(CallOutcome::Done) | None) => "",
    };
    let took = match (call.started_at, call.ended_at) {
        (Some(from), Some(to)) => Some(words::took(to.since(from))),
        (Some(from), None) => Some(words::duration(look.now.since(from).max(1000))),
        _ => None,
    };
    let mut parts: Vec<String> = Vec::new();
    let mut row = Row::new().spacing(space::XS);
    let counts = call.preview.as_ref().filter(|_| did(call)).map(diff::counts);
    match (&call.result, said) {
        (_, said) if !said.is_empty() => parts.push(said.to_owned()),
        _ if counts.is_some() => {}
        (Some(result), _) => {
            parts.push(visible_line(&words::first_line(&result.message, MAX_SAID)).into_owned());
        }
        _ => {}
    }
    parts.retain(|part| !part.is_empty());
    if let Some((added, removed)) = counts {
        if added > 0 {
            row = row.push(secondary(format!("+{added}")).style(style::ok));
        }
        if removed > 0 {
            row = row.push(secondary(format!("−{removed}")).style(style::bad));
        }
        if took.is_some() {
            row = row.push(secondary("·"));
        }
    }
    parts.extend(took);
    let is_bad = call.state == CallState::Finished
        && (call.result.as_ref().is_some_and(|result| !result.ok) || call.outcome != Some(CallOutcome::Done))
        && call.outcome != Some(CallOutcome::Cancelled);
    let words = secondary(parts.join(" · "));
    row.push(if is_bad { words.style(style::bad) } else { words }).align_y(Center).into()
}

fn details<'a>(call: &'a CallView, live: Option<&str>, is_whole: bool) -> Element<'a, Message> {
    let mut content = column![].spacing(space::S);
    if let Some(preview) = &call.preview {
        content = content.push(diff::view(preview, if is_whole { diff::ALL } else { diff::SHORT }));
    }
    if is_whole && call.preview.is_none() {
        content = content.push(arguments(&call.arguments));
    }
    if let Some(live) = live.filter(|_| call.state == CallState::Running) {
        let tail = tail(live, if is_whole { MAX_LINES } else { TAIL });
        content = content.push(code(visible(&tail).into_owned()).style(style::muted).width(Fill));
    }
    if let Some(result) = call.result.as_ref().filter(|_| is_whole || call.preview.is_none()) {
        let said = result.text();
        let lines = tail(&said, MAX_LINES);
        content = content
            .push(code(visible(&lines).into_owned()).style(style::muted).width(Fill))
            .push(row![word("Copy", Message::Copied(said))]);
    }
    let content: Element<'a, Message> = content.width(Fill).into();
    container(scrollable(content).style(style::bars)).max_height(space::OUTPUT).into()
}

fn arguments<'a>(raw: &str) -> Element<'a, Message> {
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
    code(visible(&tail(&said, MAX_LINES)).into_owned()).width(Fill).into()
}

/// The last lines, and that there are more.
fn tail(text: &str, max: usize) -> String {
    let text = text.trim_end();
    match text.rmatch_indices('\n').nth(max.saturating_sub(1)) {
        Some((at, _)) => format!("…\n{}", &text[at + 1..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines() {
        assert_eq!(tail("a\nb\nc\n", 2), "…\nb\nc");
        assert_eq!(tail("a\nb", 2), "a\nb");
        assert_eq!(tail("", 2), "");
    }
}
