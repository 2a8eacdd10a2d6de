//! The timeline as plain text for copying, row by row as on the screen.

use super::{
    Conversation, Row,
    result::told_whole,
    timeline::{failed, happened},
};
use crate::{output::plain, words};
use abide_client::{
    protocol::{
        inbox::Pending,
        message::{Message, Role},
        notification::DeltaKind,
        task::AgentTask,
    },
    view::{Entry, Stream},
};
use abide_host::text::{visible, visible_line};

impl Conversation {
    /// All loaded rows as text, with all steps.
    #[must_use]
    pub fn as_text(&self) -> String {
        let now = self.rows.get(self.settled..).unwrap_or_default();
        let (rows, _) = self.unfolded_rows();
        let rows = rows.iter().chain(now);
        let parts: Vec<String> = rows.filter_map(|row| self.row_as_text(*row)).collect();
        parts.join("\n\n") + "\n"
    }

    pub(super) fn row_as_text(&self, row: Row) -> Option<String> {
        let part = match row {
            Row::Older => "… older messages".to_owned(),
            Row::Entry(seq) => match self.fold().entry(seq)? {
                Entry::Message(message) => said(message),
                Entry::Call(call) => {
                    let result = call
                        .result
                        .as_ref()
                        .map(|r| format!("\n{}", visible(&plain(&told_whole(call, r, "")))));
                    let head = format!("[{}] {}", visible_line(&call.tool), visible_line(&call.summary));
                    head + &result.unwrap_or_default()
                }
                Entry::Event(event) => happened(event),
            },
            Row::Child(id) => self.child_as_text(id)?,
            Row::Phase(seq) => self.phase_name(seq).to_owned(),
            Row::Failed { last, times } => match self.fold().entry(last)? {
                Entry::Event(event) => failed(event, times),
                Entry::Message(_) | Entry::Call(_) => return None,
            },
            Row::Card(id) => {
                let item = self.fold().inbox().get(id)?;
                let asks = self.asks_elsewhere(item).map(|words| format!("{words}\n")).unwrap_or_default();
                asks + &match &item.pending {
                    Pending::Question(question) => format!("Question for you: {}", visible(&question.text)),
                    Pending::Approval(approval) => {
                        let (tool, what) = (visible_line(&approval.tool), visible_line(&approval.summary));
                        format!("Approve {tool}? {what}")
                    }
                }
            }
            // The first row has all of the text.
            Row::Live(_, 1..) | Row::Block(..) => return None,
            Row::Live(item, _) => {
                let text = self.fold().live_item(item)?.stream(DeltaKind::Text).map(Stream::text)?;
                format!("Agent:\n{}", visible(&text))
            }
            Row::End(id) => {
                let task = self.task(id)?;
                end(task, self.has_said_summary(id, task))
            }
            Row::Worked(id) => self.worked_words(id),
            Row::Indicator(_) => return None,
        };
        Some(part)
    }
}

fn said(message: &Message) -> String {
    let who = match message.role {
        Role::User => "You",
        Role::Agent => "Agent",
        Role::System => "—",
    };
    format!("{who}:\n{}", visible(&message.text))
}

fn end(task: &AgentTask, has_said_summary: bool) -> String {
    let head = format!("— {}", words::doing(task));
    let summary = task.summary.as_ref().filter(|_| !has_said_summary);
    let more = summary.or(task.error_message.as_ref());
    more.map_or_else(|| head.clone(), |more| format!("{head}\n{}", visible(&words::here(more))))
}
