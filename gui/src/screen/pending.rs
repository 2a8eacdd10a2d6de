//! Cards for what waits for a person: the same in the timeline and in the inbox.

use crate::{
    effect::{Effect, field},
    font,
    keymap::Command,
    request::Request,
    theme::{size, space, style},
    widget::{Element, Look, action, calm::calm, code, key, prose, secondary},
    words,
};
use abide_client::{
    protocol::{
        ApprovalId, QuestionId, TaskId,
        inbox::{Approval, Decision, InboxItem, Pending, PendingId, Question, QuestionKind},
        transcript::Risk,
    },
    text::{visible, visible_line},
};
use iced::{
    Center, Fill,
    widget::{Column, Row, button, column, container, row, scrollable, text, text_input},
};
use std::collections::{BTreeMap, HashMap};

use super::conversation::diff;

/// What a person has begun to say, but not sent.
#[derive(Debug, Default)]
pub struct Cards {
    rejecting: Option<Rejecting>,
    answers: HashMap<QuestionId, String>,
    /// Sent: no second click while it is under way.
    sent: BTreeMap<PendingId, ()>,
}

/// A rejection that is being given its reason.
#[derive(Debug)]
struct Rejecting {
    approval: ApprovalId,
    decision: Decision,
    reason: String,
}

#[derive(Debug, Clone)]
pub enum Message {
    Allowed(ApprovalId, Decision),
    /// `reject_once` or `reject_always`.
    RejectPressed(ApprovalId, Decision),
    ReasonChanged(String),
    Rejected,
    RejectCancelled,
    Chosen(TaskId, QuestionId, String),
    AnswerChanged(QuestionId, String),
    Answered(TaskId, QuestionId),
    Declined(TaskId, QuestionId),
}

impl Cards {
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Allowed(id, decision) => self.decide(id, decision, None),
            Message::RejectPressed(approval, decision) => {
                self.rejecting = Some(Rejecting { approval, decision, reason: String::new() });
                vec![Effect::Focus(field::REASON)]
            }
            Message::ReasonChanged(reason) => {
                if let Some(rejecting) = &mut self.rejecting {
                    rejecting.reason = reason;
                }
                Vec::new()
            }
            Message::Rejected => match self.rejecting.take() {
                None => Vec::new(),
                Some(Rejecting { approval, decision, reason }) => {
                    let note = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                    self.decide(approval, decision, note)
                }
            },
            Message::RejectCancelled => {
                self.rejecting = None;
                Vec::new()
            }
            Message::Chosen(task, question, choice) => self.answer(task, question, Some(choice)),
            Message::AnswerChanged(question, answer) => {
                self.answers.insert(question, answer);
                Vec::new()
            }
            Message::Answered(task, question) => {
                match self.answers.get(&question).map(|answer| answer.trim()).filter(|a| !a.is_empty()) {
                    None => Vec::new(),
                    Some(answer) => {
                        let answer = answer.to_owned();
                        self.answer(task, question, Some(answer))
                    }
                }
            }
            Message::Declined(task, question) => self.answer(task, question, None),
        }
    }

    fn decide(&mut self, id: ApprovalId, decision: Decision, note: Option<String>) -> Vec<Effect> {
        match self.sent.insert(PendingId::Approval(id), ()) {
            Some(()) => Vec::new(),
            None => vec![Effect::Ask(Request::Decide(id, decision, note))],
        }
    }

    /// Answers a question, once.
    pub fn answer(&mut self, task: TaskId, question: QuestionId, answer: Option<String>) -> Vec<Effect> {
        match self.sent.insert(PendingId::Question(question), ()) {
            Some(()) => Vec::new(),
            None => vec![Effect::Ask(Request::Answer(task, question, answer))],
        }
    }

    /// It failed: the person may try again.
    pub fn failed(&mut self, request: &Request) {
        match request {
            Request::Answer(_, question, _) => self.sent.remove(&PendingId::Question(*question)),
            Request::Decide(approval, ..) => self.sent.remove(&PendingId::Approval(*approval)),
            _ => None,
        };
    }

    #[must_use]
    pub const fn is_rejecting(&self) -> bool {
        self.rejecting.is_some()
    }

    fn is_sent(&self, id: PendingId) -> bool {
        self.sent.contains_key(&id)
    }

    /// The card of an item. `with_input` gives a question its own field (in the timeline, the composer is it).
    pub fn card<'a>(
        &'a self,
        task: TaskId,
        pending: &'a Pending,
        look: Look,
        with_input: bool,
    ) -> Element<'a, Message> {
        let content = match pending {
            Pending::Approval(approval) => self.approval(approval, look),
            Pending::Question(question) => self.question(task, question, with_input),
        };
        container(content.spacing(space::S + 2.0))
            .padding([space::M, 14.0])
            .width(Fill)
            .style(style::needs_you_card)
            .into()
    }

    fn approval<'a>(&'a self, approval: &'a Approval, look: Look) -> Column<'a, Message> {
        let risk = match approval.risk {
            Risk::Low => "",
            Risk::Medium => " · medium risk",
            Risk::High => " · high risk",
        };
        let title = format!("Approve {}?{risk}", visible_line(&approval.tool));
        let mut content = column![
            text(title).size(size::SECONDARY).font(font::STRONG).style(style::needs_you),
            container(exactly(approval)).padding([space::S, 10.0]).width(Fill).style(style::code),
        ];
        if let Some(preview) = &approval.preview {
            content = content.push(
                container(diff::view(preview, diff::ALL))
                    .padding([space::S, 10.0])
                    .width(Fill)
                    .style(style::code),
            );
        }
        let confined = match &*approval.sandbox {
            "none" => "without a sandbox: it can do all that you can".to_owned(),
            other => format!("in the sandbox {}", visible_line(other)),
        };
        let place = words::path(&visible_line(&approval.workspace), look.home);
        content = content.push(secondary(format!("Runs in {place}, {confined}.")));
        content = content.push(secondary(format!(
            "“Always” would remember: {} with exactly these arguments, in {}.",
            visible_line(&approval.rule.tool),
            words::path(&visible_line(&approval.rule.workspace), look.home)
        )));
        content.push(self.decisions(approval))
    }

    fn decisions<'a>(&'a self, approval: &'a Approval) -> Element<'a, Message> {
        let id = approval.id;
        if self.is_sent(PendingId::Approval(id)) {
            return secondary("Sent.").into();
        }
        if let Some(rejecting) = self.rejecting.as_ref().filter(|rejecting| rejecting.approval == id) {
            let label = match rejecting.decision {
                Decision::RejectAlways => "Always reject",
                _ => "Reject",
            };
            return row![
                calm(
                    text_input("Why not? The agent reads it.", &rejecting.reason)
                        .id(field::REASON)
                        .size(size::PROSE)
                        .padding([7.0, 10.0])
                        .style(style::field)
                        .on_input(Message::ReasonChanged)
                        .on_submit(Message::Rejected)
                ),
                action(label, Some(key("↵").style(style::key_bad)))
                    .style(style::danger)
                    .on_press(Message::Rejected),
                action("Cancel", None).style(style::quiet).on_press(Message::RejectCancelled),
            ]
            .spacing(space::S)
            .align_y(Center)
            .into();
        }
        row![
            action("Allow once", Some(key("A").style(style::key_on_accent)))
                .style(style::primary)
                .on_press(Message::Allowed(id, Decision::AllowOnce)),
            action("Always allow", Some(key("⇧A")))
                .style(style::secondary)
                .on_press(Message::Allowed(id, Decision::AllowAlways)),
            action("Reject…", Some(key("R")))
                .style(style::quiet)
                .on_press(Message::RejectPressed(id, Decision::RejectOnce)),
            action("Always reject…", Some(key("⇧R")))
                .style(style::quiet)
                .on_press(Message::RejectPressed(id, Decision::RejectAlways)),
        ]
        .spacing(space::S)
        .align_y(Center)
        .wrap()
        .into()
    }

    fn question<'a>(&'a self, task: TaskId, question: &'a Question, with_input: bool) -> Column<'a, Message> {
        let id = question.id;
        let mut content = column![
            text(who_asks(question.kind)).size(size::SECONDARY).font(font::STRONG).style(style::needs_you),
            prose(visible(&question.text)).font(font::MEDIUM),
        ];
        if self.is_sent(PendingId::Question(id)) {
            return content.push(secondary("Sent."));
        }
        let choices = question.choices.iter().enumerate().map(|(i, choice)| {
            let number = NUMBERS.get(i).map(|number| key(number));
            let label = text(visible_line(choice)).size(size::PROSE).font(font::MEDIUM);
            let label = match number {
                Some(number) => row![label, number].spacing(space::S).align_y(Center),
                None => row![label],
            };
            let chosen = Message::Chosen(task, id, choice.clone());
            button(label).padding([7.0, 14.0]).style(style::secondary).on_press(chosen).into()
        });
        let decline = action("Decline", None).style(style::quiet).on_press(Message::Declined(task, id));
        let buttons = Row::with_children(choices).push(decline).spacing(space::S);
        content = content.push(buttons.wrap());
        if with_input {
            let typed = self.answers.get(&id).map_or("", String::as_str);
            let reply = match abide_client::choice(question, typed) {
                Some(choice) => Message::Chosen(task, id, choice.to_owned()),
                None => Message::Answered(task, id),
            };
            content = content.push(
                row![
                    calm(
                        text_input("Type an answer", typed)
                            .size(size::PROSE)
                            .padding([7.0, 10.0])
                            .style(style::field)
                            .on_input(move |answer| Message::AnswerChanged(id, answer))
                            .on_submit(reply.clone())
                    ),
                    action("Reply", None).style(style::primary).on_press(reply),
                ]
                .spacing(space::S)
                .align_y(Center),
            );
        }
        content
    }
}

/// What a key decides: of the approval or question that waits longest.
#[must_use]
pub fn decision(items: &[InboxItem], command: Command) -> Option<Message> {
    let approval = items.iter().find_map(|item| match &item.pending {
        Pending::Approval(approval) => Some(approval.id),
        Pending::Question(_) => None,
    });
    let question = items.iter().find_map(|item| match &item.pending {
        Pending::Question(question) => Some((item.task_id, question)),
        Pending::Approval(_) => None,
    });
    Some(match (command, approval, question) {
        (Command::Approve, Some(id), _) => Message::Allowed(id, Decision::AllowOnce),
        (Command::ApproveAlways, Some(id), _) => Message::Allowed(id, Decision::AllowAlways),
        (Command::Reject, Some(id), _) => Message::RejectPressed(id, Decision::RejectOnce),
        (Command::RejectAlways, Some(id), _) => Message::RejectPressed(id, Decision::RejectAlways),
        (Command::Choose(n), _, Some((task, question))) => {
            let choice = question.choices.get(usize::from(n).checked_sub(1)?)?;
            Message::Chosen(task, question.id, choice.clone())
        }
        (Command::Decline, _, Some((task, question))) => Message::Declined(task, question.id),
        _ => return None,
    })
}

const NUMBERS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

const fn who_asks(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Agent => "Question for you",
        QuestionKind::Loop => "The agent repeats itself",
        QuestionKind::Budget => "A limit is reached",
        QuestionKind::Interrupted => "A tool call was interrupted",
        QuestionKind::Restart => "The daemon was restarted",
    }
}

/// Each argument, with all that a terminal would hide made visible. An edit's long texts are left to its diff.
fn exactly(approval: &Approval) -> Element<'_, Message> {
    let serde_json::Value::Object(fields) = approval.arguments.value() else {
        return code(visible(approval.arguments.as_str()).into_owned()).into();
    };
    if let [value] = fields.values().collect::<Vec<_>>()[..]
        && let Some(command) = value.as_str()
    {
        return bounded(code(visible(command).into_owned()).width(Fill).into());
    }
    let has_preview = approval.preview.is_some();
    let lines = fields.iter().map(|(name, value)| {
        let value = match value.as_str() {
            Some(long) if has_preview && long.contains('\n') => {
                words::counted(long.lines().count() as u64, "line") + ", below"
            }
            Some(said) => visible(said).into_owned(),
            None => visible(&value.to_string()).into_owned(),
        };
        row![code(visible_line(name).into_owned()).style(style::muted), code(value).width(Fill)]
            .spacing(space::S)
            .into()
    });
    bounded(Column::with_children(lines).into())
}

fn bounded(content: Element<'_, Message>) -> Element<'_, Message> {
    container(scrollable(content).style(style::bars)).max_height(space::OUTPUT).into()
}
