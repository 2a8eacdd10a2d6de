//! Cards for open items: the same in the timeline and in the inbox.

mod call;

use crate::{
    effect::{Effect, Form, Reading, field},
    font,
    guard::{Armed, Deed, Guard, Spot},
    keymap::Command,
    request::{self, Request},
    theme::{Tokens, size, space, style},
    widget::{
        Element, Look, action_of,
        elide::elided,
        field::field,
        key, label,
        press::{Press, press},
        prose,
        report::{self, sighted},
        scrolls, secondary, yielding,
    },
    words,
};
use abide_client::{
    condition, confined, is_made_by_daemon,
    protocol::{
        ApprovalId, ConversationId, QuestionId, TaskId, Timestamp,
        inbox::{Approval, Decision, InboxItem, Pending, PendingId, Question, QuestionKind},
        transcript::Risk,
    },
};
use abide_host::{
    parked,
    text::{visible, visible_line},
};
use call::exactly;
use iced::{
    Center, Fill,
    widget::{Column, Container, Row, Text, column, container, markdown, row},
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use super::{
    composer::ANSWER,
    conversation::{self, diff, documents::document},
};

/// What a person has typed or begun on cards, but not sent.
///
/// It is kept as long as the item is open, whatever page is shown.
#[derive(Debug, Default)]
pub struct Cards {
    begun: Option<Begun>,
    written: Written,
    /// The parsed text of questions.
    asked: HashMap<QuestionId, markdown::Content>,
    /// Items whose answer was sent: a second click does nothing while the request is under way.
    sent: BTreeSet<PendingId>,
    /// The waiting items that the person was notified of.
    announced: BTreeSet<PendingId>,
}

/// Text written for cards and not sent; it is stored, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Written {
    /// The unfinished reasons for rejections.
    reasons: HashMap<ApprovalId, String>,
    answers: HashMap<QuestionId, String>,
}

/// Where a question is answered in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// In a field of the card.
    Here,
    /// In the composer, where a choice is picked by its number.
    Below {
        /// The index of the picked choice.
        picked: Option<usize>,
        /// A digit would pick one now.
        takes_digit: bool,
    },
}

impl Reply {
    const fn takes_digit(self) -> bool {
        matches!(self, Self::Below { takes_digit: true, .. })
    }
}

/// A decision that takes a second act: a rejection has a field for its reason, and a lasting decision shows
/// first what it would remember.
#[derive(Debug)]
struct Begun {
    approval: ApprovalId,
    /// Any but `allow_once`.
    decision: Decision,
    /// The field for the reason has the keyboard.
    has_caret: bool,
    /// The card has been drawn since.
    is_drawn: bool,
    /// The text of the wider rule that would be remembered; absent: the very call.
    rule: Option<String>,
}

#[derive(Debug, Clone)]
pub enum Message {
    Allowed(ApprovalId, Decision),
    /// A lasting decision, `allow_always` or `allow_for_task`, which is confirmed.
    LastingPressed(ApprovalId, Decision),
    /// The rule that "always" would remember; `None` is the very call.
    RulePicked(Option<String>),
    /// `reject_once` or `reject_always`.
    RejectPressed(ApprovalId, Decision),
    ReasonChanged(ApprovalId, String),
    /// Whether the field for the reason has the keyboard.
    ReasonFocused(bool),
    Rejected(ApprovalId),
    /// Ends what was begun on a card.
    Cancelled,
    Chosen(TaskId, QuestionId, String),
    AnswerChanged(QuestionId, String),
    Answered(TaskId, QuestionId, String),
    Declined(TaskId, QuestionId),
    /// Opens the whole of an edit's diff.
    DiffRead(Box<Reading>),
    /// Scrolls this card on.
    ReadOnPressed(ApprovalId),
    /// Where the card is drawn.
    Seen(PendingId, Spot),
    Document(conversation::markdown::Message),
}

impl Message {
    /// Its deed, if it cannot be undone.
    #[must_use]
    pub const fn deed(&self) -> Option<Deed> {
        Some(match self {
            Self::Allowed(id, _) | Self::LastingPressed(id, _) => Deed::Allow(*id),
            Self::RejectPressed(id, _) => Deed::OnCard(PendingId::Approval(*id)),
            Self::Chosen(_, id, _) | Self::Declined(_, id) => Deed::OnCard(PendingId::Question(*id)),
            Self::Answered(_, id, _) => Deed::Written(PendingId::Question(*id)),
            Self::Rejected(id) => Deed::Written(PendingId::Approval(*id)),
            Self::ReasonChanged(..)
            | Self::RulePicked(_)
            | Self::ReasonFocused(_)
            | Self::Cancelled
            | Self::AnswerChanged(..)
            | Self::DiffRead(_)
            | Self::Document(_)
            | Self::ReadOnPressed(_)
            | Self::Seen(..) => return None,
        })
    }

    /// The card on which it begins a lasting decision.
    #[must_use]
    pub const fn begins_lasting(&self) -> Option<PendingId> {
        match self {
            Self::LastingPressed(id, _) | Self::RejectPressed(id, Decision::RejectAlways) => {
                Some(PendingId::Approval(*id))
            }
            _ => None,
        }
    }
}

impl Cards {
    #[must_use]
    pub fn with_written(written: Written) -> Self {
        Self { written, ..Self::default() }
    }

    #[must_use]
    pub const fn written(&self) -> &Written {
        &self.written
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Allowed(id, decision) => {
                let lasting = |begun: &&mut Begun| begun.approval == id && decision == begun.decision;
                let rule = self.begun.as_mut().filter(lasting).and_then(|begun| begun.rule.take());
                self.decide(id, decision, None, rule)
            }
            Message::RulePicked(rule) => {
                if let Some(begun) = &mut self.begun {
                    begun.rule = rule;
                }
                Vec::new()
            }
            Message::LastingPressed(approval, decision) => {
                self.begun = Some(Begun::new(approval, decision));
                vec![Effect::Unfocus]
            }
            Message::RejectPressed(approval, decision) => {
                self.begun = Some(Begun::new(approval, decision));
                vec![Effect::Focus(field::REASON)]
            }
            Message::ReasonChanged(approval, reason) => {
                self.written.reasons.insert(approval, reason);
                vec![Effect::Draft]
            }
            Message::ReasonFocused(has_caret) => {
                if let Some(begun) = &mut self.begun {
                    begun.has_caret = has_caret;
                }
                Vec::new()
            }
            Message::Rejected(_) => match self.begun.take() {
                None => Vec::new(),
                Some(Begun { approval, decision, rule, .. }) => {
                    let note = self.reason(approval).trim();
                    let note = (!note.is_empty()).then(|| note.to_owned());
                    self.decide(approval, decision, note, rule)
                }
            },
            Message::Cancelled => {
                self.begun = None;
                Vec::new()
            }
            Message::Chosen(task, question, choice) => self.answer(task, question, Some(choice)),
            Message::AnswerChanged(question, answer) => {
                self.written.answers.insert(question, answer);
                vec![Effect::Draft]
            }
            Message::Answered(task, question, answer) => match answer.trim() {
                "" => Vec::new(),
                answer => self.answer(task, question, Some(answer.to_owned())),
            },
            Message::Declined(task, question) => self.answer(task, question, None),
            Message::DiffRead(reading) => vec![Effect::Read(*reading)],
            Message::Document(conversation::markdown::Message::Copied(text)) => vec![Effect::Copy(text)],
            // The window handles them.
            Message::Seen(..) | Message::ReadOnPressed(_) => Vec::new(),
        }
    }

    /// Sends a decision, once.
    fn decide(
        &mut self,
        id: ApprovalId,
        decision: Decision,
        note: Option<String>,
        rule: Option<String>,
    ) -> Vec<Effect> {
        let is_new = self.sent.insert(PendingId::Approval(id));
        let decided = is_new.then(|| Effect::Ask(request::decide(id, decision, note, rule)));
        decided.into_iter().collect()
    }

    /// Answers a question, once.
    pub fn answer(&mut self, task: TaskId, question: QuestionId, answer: Option<String>) -> Vec<Effect> {
        let is_new = self.sent.insert(PendingId::Question(question));
        is_new.then_some(Effect::Ask(request::answer(task, question, answer))).into_iter().collect()
    }

    /// The request failed: the person may try again.
    pub fn failed(&mut self, request: &Request) {
        let pending = match request {
            Request::UserResponse(params) => {
                params.question_id.as_ref().and_then(|id| id.parse().ok()).map(PendingId::Question)
            }
            Request::DecideApproval(params) => params.approval_id.parse().ok().map(PendingId::Approval),
            _ => None,
        };
        if let Some(pending) = pending {
            self.sent.remove(&pending);
        }
    }

    /// The approval on this page for which a decision was begun.
    #[must_use]
    pub fn begun(&self, guard: &Guard) -> Option<PendingId> {
        let id = PendingId::Approval(self.begun.as_ref()?.approval);
        guard.offers(id).then_some(id)
    }

    /// A card is drawn at another place or in another size; returns whether that is the first time since a
    /// lasting decision was begun on it.
    pub fn is_drawn_anew(&mut self, id: PendingId) -> bool {
        let is_it = |begun: &&mut Begun| begun.is_lasting() && PendingId::Approval(begun.approval) == id;
        let begun = self.begun.as_mut().filter(is_it);
        begun.is_some_and(|begun| !std::mem::replace(&mut begun.is_drawn, true))
    }

    /// The decision that Enter confirms now. A rejection is confirmed in its field.
    #[must_use]
    pub fn confirmed(&self, guard: &Guard, now: Timestamp) -> Option<Message> {
        let begun = self.begun.as_ref().filter(|begun| begun.is_lasting() && begun.decision.allows())?;
        let is_in_hand = guard.in_hand(now) == Some(PendingId::Approval(begun.approval));
        is_in_hand.then_some(Message::Allowed(begun.approval, begun.decision))
    }

    fn reason(&self, id: ApprovalId) -> &str {
        self.written.reasons.get(&id).map_or("", String::as_str)
    }

    /// Whether its card has words of an answer.
    #[must_use]
    pub fn is_answering(&self, id: PendingId) -> bool {
        let written = self.written.answers.iter().find(|(question, _)| PendingId::Question(**question) == id);
        written.is_some_and(|(_, words)| !words.trim().is_empty())
    }

    fn is_sent(&self, id: PendingId) -> bool {
        self.sent.contains(&id)
    }

    /// Forgets what was begun on cards whose items are closed.
    pub fn keep(&mut self, items: &[InboxItem]) {
        let waiting: Vec<PendingId> = items.iter().map(|item| item.pending.id()).collect();
        self.asked.retain(|id, _| waiting.contains(&PendingId::Question(*id)));
        for item in items {
            if let Pending::Question(question) = &item.pending {
                self.asked.entry(question.id).or_insert_with(|| document(&question.text));
            }
        }
        let is_gone = |begun: &Begun| !waiting.contains(&PendingId::Approval(begun.approval));
        self.begun.take_if(|begun| is_gone(begun));
        let Written { reasons, answers } = &mut self.written;
        reasons.retain(|id, _| waiting.contains(&PendingId::Approval(*id)));
        answers.retain(|id, _| waiting.contains(&PendingId::Question(*id)));
        self.sent.retain(|id| waiting.contains(id));
    }

    /// The conversations of waiting items of which the person was not notified; from now on they count as
    /// notified.
    pub fn announce(&mut self, items: &[InboxItem]) -> Vec<ConversationId> {
        let is_new = |item: &&InboxItem| !self.announced.contains(&item.pending.id());
        let new = items.iter().filter(is_new).map(|item| item.conversation_id).collect();
        self.announced = items.iter().map(|item| item.pending.id()).collect();
        new
    }

    /// The card of an item.
    pub fn card<'a>(
        &'a self,
        task: TaskId,
        pending: &'a Pending,
        look: Look,
        guard: &Guard,
        reply: Reply,
    ) -> Element<'a, Message> {
        let id = pending.id();
        let mut hand = Hand::on(id, guard, look);
        hand.takes_keys &= self.begun(guard).is_none();
        let Parts { title, body, foot, is_asked_back } = match pending {
            Pending::Approval(approval) => self.approval(approval, look, hand),
            Pending::Question(question) => self.question(task, question, hand, reply, look.tokens),
        };
        // If there is no room for all of it, the body scrolls: title and buttons are always visible.
        let is_grave = matches!(pending, Pending::Approval(approval) if approval.risk == Risk::High);
        let ink = if is_grave { style::bad } else { style::needs_you };
        let title = elided(title, size::SECONDARY, font::STRONG).style(ink);
        let body = scrolls(body.spacing(space::S + 2.0));
        let body = if hand.is_chosen { body.id(field::CARD) } else { body };
        let body = container(body).max_height(look.half.max(space::CARD));
        // Another tree, so that it begins at its top.
        let body: Element<'a, Message> = if is_asked_back { column![body].into() } else { body.into() };
        let parts = [Some(title.into()), Some(body), foot];
        let (gap, padding) =
            if look.is_low { (space::XS, [space::XS, 10.0]) } else { (space::S + 2.0, [space::M, 14.0]) };
        let card = container(yielding::column(parts.into_iter().flatten(), 1, gap))
            .padding(padding)
            .width(Fill)
            .style(style::waiting_card(is_grave, hand.is_selected));
        sighted(card, guard.spot(id), move |spot| Message::Seen(id, spot))
    }

    fn approval<'a>(&'a self, approval: &'a Approval, look: Look, hand: Hand) -> Parts<'a> {
        let title = title(approval, hand.armed.is_some());
        // Where there is no room for the button that says it.
        let title = if hand.is_read || hand.has_room { title } else { format!("{READ_ON}. {title}") };
        let confined = match &*approval.sandbox {
            // The title says it.
            "none" if approval.risk == Risk::High || is_made_by_daemon(approval) => String::new(),
            "none" => format!(", {}", call::UNCONFINED),
            other => format!(", in the sandbox: {}", visible_line(confined(other))),
        };
        let place = words::path(&visible_line(&approval.workspace), look.home);
        let is_asked_back = self.begun_for(approval.id).is_some_and(Begun::is_lasting);
        let is_for_task =
            self.begun_for(approval.id).is_some_and(|begun| begun.decision == Decision::AllowForTask);
        let remembered = is_asked_back.then(|| {
            if is_for_task {
                return secondary(
                    "“For this task”: this, and all in this task and its sub-tasks that asks only because it could not be undone.",
                )
                .into();
            }
            let place = words::path(&visible_line(&approval.rule.workspace), look.home);
            let place = words::shortened(&place, if look.has_caps { MAX_PLACE } else { LEAST_PLACE });
            let tool = visible_line(&approval.rule.tool);
            let undo = if look.has_caps { " Settings (Ctrl ,) can forget it." } else { "" };
            let what = match self.begun_for(approval.id).and_then(|begun| begun.rule.as_deref()) {
                Some(rule) => visible_line(rule).into_owned(),
                None if approval.rule.arguments == approval.arguments => {
                    format!("{tool} with exactly these arguments")
                }
                None => format!("{tool} with this, whatever its reason"),
            };
            secondary(format!("“Always”: {what}, in {place}.{undo}")).into()
        });
        let why =
            approval.why.as_deref().map(|why| closed(&format!(" It asks because {}", visible_line(why))));
        let condition = condition(approval)
            .map(|so| format!(" It runs only if {}.", visible_line(&so)))
            .unwrap_or_default();
        let only_once = approval
            .only_once
            .as_deref()
            .map(|why| closed(&format!(" It can be allowed only once, because {}", visible_line(why))));
        let place = secondary(format!(
            "Runs in {place}{confined}.{}{condition}{}",
            why.unwrap_or_default(),
            only_once.unwrap_or_default()
        ));
        let code = |content| container(content).padding([space::S, 10.0]).width(Fill).style(style::code);
        let body = Column::new().extend(remembered).extend(self.offers(approval, hand));
        let body = match &approval.preview {
            None => body.push(code(exactly(approval))).push(place),
            Some(preview) => {
                let read = || {
                    let (title, text) = (preview.path.clone(), preview.diff.clone());
                    Message::DiffRead(Box::new(Reading { title, text, form: Form::Diff }))
                };
                let diff = diff::view(preview, diff::ALL, look, read);
                let edit = code(column![exactly(approval), diff].spacing(space::S).into());
                // The longest part comes last, if some of it is in view there.
                if look.half < MUCH { body.push(edit).push(place) } else { body.push(place).push(edit) }
            }
        };
        Parts { title: title.into(), body, foot: Some(self.decisions(approval, hand)), is_asked_back }
    }

    /// What "always" can remember, as buttons of which one is picked; none if there is no choice.
    fn offers<'a>(&self, approval: &'a Approval, hand: Hand) -> Option<Element<'a, Message>> {
        let begun = self.begun_for(approval.id).filter(|begun| begun.decision.is_always())?;
        if approval.wider.is_empty() {
            return None;
        }
        let offer = |words: String, matches: &'a str, rule: Option<&'a str>| {
            let is_picked = begun.rule.as_deref() == rule;
            let words = label(words);
            let button =
                hand.action_of(words, None).style(if is_picked { style::primary } else { style::secondary });
            let pick = hand.press(Message::RulePicked(rule.map(str::to_owned)));
            let matches = secondary(visible_line(matches).into_owned());
            row![button.on_press_maybe(pick).passed_by(), matches].spacing(space::S).align_y(Center)
        };
        let exactly = offer("Exactly this".to_owned(), "this very call", None);
        let wider = approval.wider.iter().map(|wider| {
            offer(visible_line(&wider.text).into_owned(), &wider.matches, Some(&wider.text)).wrap().into()
        });
        let rows = std::iter::once(exactly.into()).chain(wider);
        Some(Column::with_children(rows).spacing(space::XS).into())
    }

    fn decisions<'a>(&'a self, approval: &'a Approval, hand: Hand) -> Element<'a, Message> {
        let id = approval.id;
        if self.is_sent(PendingId::Approval(id)) {
            return secondary("Sent.").into();
        }
        match self.begun_for(id) {
            Some(begun) if begun.decision.allows() => return confirmation(begun, hand),
            Some(begun) => return self.rejection(begun, hand),
            None => {}
        }
        let is_armed = hand.armed == Some(Armed::Approval(id));
        let allowing = hand.allowing();
        // Both keys' names have the same width, so that no button moves when the first one is pressed.
        let once =
            if is_armed { key("↵").style(style::key_on_accent) } else { allowing.key_on_accent("A") };
        let once = once.center_x(space::CAP);
        let allow = if approval.risk == Risk::Low {
            hand.action("Allow once", Some(once))
        } else {
            hand.action_of(
                label(if is_armed { "Yes, allow" } else { "Allow once" }).width(space::ALLOW),
                Some(once),
            )
        };
        let allow = allow
            .style(style::primary)
            .on_press_maybe(allowing.press(Message::Allowed(id, Decision::AllowOnce)))
            .passed_by();
        let for_task = approval.for_task.then(|| {
            hand.action("For this task…", None)
                .style(style::secondary)
                .on_press_maybe(allowing.press(Message::LastingPressed(id, Decision::AllowForTask)))
                .passed_by()
                .into()
        });
        let always = approval.only_once.is_none().then(|| {
            hand.action("Always allow…", Some(allowing.key("⇧A")))
                .style(style::secondary)
                .on_press_maybe(allowing.press(Message::LastingPressed(id, Decision::AllowAlways)))
                .passed_by()
                .into()
        });
        let reject = hand
            .action("Reject…", Some(hand.key("R")))
            .style(style::quiet)
            .on_press_maybe(hand.press(Message::RejectPressed(id, Decision::RejectOnce)))
            .passed_by();
        let always_reject = hand
            .action("Always reject…", Some(hand.key("⇧R")))
            .style(style::quiet)
            .on_press_maybe(hand.press(Message::RejectPressed(id, Decision::RejectAlways)))
            .passed_by();
        let read_on = (!hand.is_read && hand.has_room).then(|| {
            hand.action(READ_ON, Some(hand.key("PgDn")))
                .style(style::quiet)
                .on_press(Message::ReadOnPressed(id))
        });
        row![allow]
            .extend(for_task)
            .extend(always)
            .push(reject)
            .push(always_reject)
            .extend(read_on.map(Element::from))
            .extend(
                approval
                    .preview
                    .as_ref()
                    .filter(|_| !hand.is_low)
                    .map(|preview| diff::summary(preview).into()),
            )
            .spacing(space::S)
            .align_y(Center)
            .wrap()
            .vertical_spacing(if hand.is_low { space::XS } else { space::S })
            .into()
    }

    fn begun_for(&self, id: ApprovalId) -> Option<&Begun> {
        self.begun.as_ref().filter(|begun| begun.approval == id)
    }

    /// The field for the reason of a rejection.
    fn rejection<'a>(&'a self, begun: &'a Begun, hand: Hand) -> Element<'a, Message> {
        let id = begun.approval;
        let label = if begun.decision.is_always() { "Always reject" } else { "Reject" };
        let input = field(
            "Why not? The agent reads it.",
            (size::PROSE, hand.field_padding()),
            self.reason(id),
            move |reason| Message::ReasonChanged(id, reason),
            |input| input.id(field::REASON).on_submit(Message::Rejected(id)),
        );
        let input = report::caret(input, begun.has_caret, Message::ReasonFocused);
        let enter = key("↵").style(if begun.has_caret { style::key_bad } else { style::key_off });
        let buttons = row![
            hand.action(label, Some(enter)).style(style::danger).on_press(Message::Rejected(id)).passed_by(),
            hand.action("Cancel", None).style(style::quiet).on_press(Message::Cancelled),
        ]
        .spacing(space::S);
        if hand.has_caps {
            row![input, buttons].spacing(space::S).align_y(Center).into()
        } else {
            column![input, buttons].spacing(space::XS).into()
        }
    }

    fn question<'a>(
        &'a self,
        task: TaskId,
        question: &'a Question,
        hand: Hand,
        reply: Reply,
        tokens: &'static Tokens,
    ) -> Parts<'a> {
        let id = question.id;
        let armed = match hand.armed {
            Some(Armed::Choice(_, number)) => Some(number),
            _ => None,
        };
        let title = match hand.armed {
            Some(Armed::Choice(_, number)) => format!("Enter answers with {number}. Esc: not yet.").into(),
            Some(Armed::Decline(_)) => "Ctrl D again: no answer from you. Esc: not yet.".into(),
            _ => match parked::question(question) {
                Some(until) => words::sentence(&until).into(),
                None => who_asks(question.kind).into(),
            },
        };
        let body = column![match self.asked.get(&id) {
            Some(document) => conversation::markdown::view(document, tokens).map(Message::Document),
            None => prose(visible(&question.text)).into(),
        }];
        if self.is_sent(PendingId::Question(id)) {
            let body = body.push(secondary("Sent."));
            return Parts { title, body, foot: None, is_asked_back: false };
        }
        let typed = self.written.answers.get(&id).map_or("", String::as_str);
        let picked = match (armed, reply) {
            (Some(number), _) => usize::from(number).checked_sub(1),
            (None, Reply::Here) => picked(question, typed),
            (None, Reply::Below { picked, .. }) => picked,
        };
        let digits = Hand { takes_keys: hand.takes_keys || reply.takes_digit(), ..hand };
        let choices = question.choices.iter().enumerate().map(|(i, choice)| {
            let is_picked = picked == Some(i);
            let number = if is_picked {
                Some(key("↵").style(style::key_on_accent))
            } else {
                NUMBERS.get(i).map(|number| digits.key(number))
            };
            let parts = [Some(label(visible_line(choice)).into()), number.map(Element::from)];
            let chosen = Message::Chosen(task, id, choice.clone());
            press(yielding::row(parts.into_iter().flatten(), 0, space::S))
                .padding(style::button_padding(hand.is_low))
                .style(if is_picked { style::primary } else { style::secondary })
                .on_press_maybe(hand.press(chosen))
                .passed_by()
                .into()
        });
        let decline = hand
            .action("Decline", None)
            .style(style::quiet)
            .on_press_maybe(hand.press(Message::Declined(task, id)))
            .passed_by();
        let buttons = Row::with_children(choices).push(decline).spacing(space::S);
        let body = body.push(buttons.wrap());
        let foot = (reply == Reply::Here).then(|| {
            let answered = || Message::Answered(task, id, meant(question, typed).to_owned());
            let can_reply = !typed.trim().is_empty();
            row![
                field(
                    ANSWER,
                    (size::PROSE, hand.field_padding()),
                    typed,
                    move |answer| Message::AnswerChanged(id, answer),
                    |input| {
                        let input = input.on_submit(answered());
                        if hand.is_chosen { input.id(field::ANSWER) } else { input }
                    },
                ),
                hand.action("Reply", None)
                    .style(style::primary)
                    .on_press_maybe(can_reply.then(answered))
                    .passed_by(),
            ]
            .spacing(space::S)
            .align_y(Center)
            .into()
        });
        Parts { title, body, foot, is_asked_back: false }
    }
}

/// The buttons that confirm or cancel *Always allow* or *Allow for this task*.
fn confirmation<'a>(begun: &Begun, hand: Hand) -> Element<'a, Message> {
    let (id, decision) = (begun.approval, begun.decision);
    let words = if decision == Decision::AllowForTask { "Allow for this task" } else { "Always allow" };
    let enter = key("↵").style(if hand.is_in_hand { style::key_on_accent } else { style::key_off_on_accent });
    row![
        hand.action(words, Some(enter))
            .style(style::primary)
            .on_press_maybe(hand.press(Message::Allowed(id, decision)))
            .passed_by(),
        // It comes where the first button was: a double click must not take it.
        hand.action("Cancel", None).style(style::quiet).on_press_maybe(hand.press(Message::Cancelled)),
    ]
    .spacing(space::S)
    .into()
}

impl Begun {
    /// It shows first for what it would hold.
    fn is_lasting(&self) -> bool {
        self.decision.is_always() || self.decision == Decision::AllowForTask
    }

    const fn new(approval: ApprovalId, decision: Decision) -> Self {
        Self { approval, decision, has_caret: false, is_drawn: false, rule: None }
    }
}

/// The parts of a card.
struct Parts<'a> {
    title: Cow<'a, str>,
    body: Column<'a, Message>,
    foot: Option<Element<'a, Message>>,
    /// A lasting decision was begun: the body begins with what it would remember.
    is_asked_back: bool,
}

/// The state of a card's keys and buttons, for drawing.
#[derive(Debug, Clone, Copy)]
struct Hand {
    /// The card has the keyboard.
    is_selected: bool,
    /// It would have the keyboard if no field had it.
    is_chosen: bool,
    /// Keys can act on it now.
    is_in_hand: bool,
    /// The keys that are named on its buttons have an effect now.
    takes_keys: bool,
    /// It has been steady for long enough to be pressed.
    is_live: bool,
    /// All of it has been shown, to its end.
    is_read: bool,
    /// What Enter does.
    armed: Option<Armed>,
    /// Its buttons have to be small.
    is_low: bool,
    /// There is room for one more button.
    has_room: bool,
    /// There is room for the names of keys on them.
    has_caps: bool,
}

impl Hand {
    fn on(id: PendingId, guard: &Guard, look: Look) -> Self {
        let is_in_hand = guard.in_hand(look.now) == Some(id);
        Self {
            is_selected: guard.selected() == Some(id),
            is_chosen: guard.chosen() == Some(id),
            is_in_hand,
            takes_keys: is_in_hand,
            is_live: guard.allows(Deed::OnCard(id), look.now),
            is_read: guard.has_read(id),
            armed: guard.armed(look.now).filter(|armed| armed.card() == Some(id)),
            is_low: look.is_low,
            has_room: look.half >= MUCH,
            has_caps: look.has_caps,
        }
    }

    /// The same for what allows: it takes a card that was shown to its end.
    const fn allowing(self) -> Self {
        Self { takes_keys: self.takes_keys && self.is_read, is_live: self.is_live && self.is_read, ..self }
    }

    /// The name of a key, bright while it has an effect. Its room is always kept, so that nothing moves.
    fn key<'a>(self, name: &'a str) -> Container<'a, Message> {
        key(name).style(if self.takes_keys { style::key } else { style::key_off })
    }

    /// The same on a button in the accent.
    fn key_on_accent<'a>(self, name: &'a str) -> Container<'a, Message> {
        key(name).style(if self.takes_keys { style::key_on_accent } else { style::key_off_on_accent })
    }

    fn action<'a>(self, words: &'a str, key: Option<Container<'a, Message>>) -> Press<'a, Message> {
        self.action_of(label(words), key)
    }

    fn action_of<'a>(self, label: Text<'a>, key: Option<Container<'a, Message>>) -> Press<'a, Message> {
        action_of(label, key.filter(|_| self.has_caps)).padding(style::button_padding(self.is_low))
    }

    const fn field_padding(self) -> [f32; 2] {
        if self.is_low { [3.0, 8.0] } else { [7.0, 10.0] }
    }

    fn press(self, message: Message) -> Option<Message> {
        self.is_live.then_some(message)
    }
}

/// What follows from a call of high risk, the tool and its risk; then what confirms it, or how long a long
/// command or code is, which may not fit its card.
fn title(approval: &Approval, is_armed: bool) -> String {
    let risk = match approval.risk {
        Risk::Low => "",
        Risk::Medium => "Medium risk",
        Risk::High => "High risk",
    };
    if is_armed {
        let also = if approval.risk == Risk::High { " or another click" } else { "" };
        return format!("{risk}: Enter{also} allows it once. Esc: not yet.");
    }
    let risk = Some(risk.to_lowercase()).filter(|risk| !risk.is_empty());
    let asked = match call::consequence(approval) {
        Some(consequence) => format!("{consequence} · {}", visible_line(&approval.tool)),
        None => format!("Approve {}?", visible_line(&approval.tool)),
    };
    let parts = [Some(asked), risk, length(approval)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A sentence with its full stop, which a quote at its end may have.
fn closed(sentence: &str) -> String {
    let has_end = sentence.trim_end_matches('\u{201d}').ends_with(['.', '!', '?', '…']);
    format!("{sentence}{}", if has_end { "" } else { "." })
}

/// How long a command or code is, if it is long.
fn length(approval: &Approval) -> Option<String> {
    let arguments = approval.arguments.value();
    let text = arguments.get("command").or_else(|| arguments.get("code"))?.as_str()?;
    let (lines, characters) = (text.lines().count(), text.chars().count());
    if lines > LONG.0 {
        Some(words::counted(lines as u64, "line"))
    } else {
        (characters > LONG.1).then(|| words::counted(characters as u64, "character"))
    }
}

/// The sub-task that asks and what it is a part of; `None`: the root asks.
#[must_use]
pub fn sub_task(item: &InboxItem) -> Option<String> {
    let (_, title) = item.sub_task()?;
    let named = |title: &str| format!("“{}”", words::title(&words::first_line(title, MAX_TITLE)));
    // The tasks between are known by their number alone.
    let of = if item.depth > 1 { "a sub-task within sub-tasks of" } else { "a sub-task of" };
    Some(format!("{}, {of} {}", named(title), named(&item.conversation_title)))
}

/// The message of a command that decides this item.
#[must_use]
pub fn decision(item: &InboxItem, command: Command) -> Option<Message> {
    Some(match (&item.pending, command) {
        (Pending::Approval(approval), Command::Approve) => Message::Allowed(approval.id, Decision::AllowOnce),
        (Pending::Approval(approval), Command::ApproveAlways) if approval.only_once.is_none() => {
            Message::LastingPressed(approval.id, Decision::AllowAlways)
        }
        (Pending::Approval(approval), Command::Reject) => {
            Message::RejectPressed(approval.id, Decision::RejectOnce)
        }
        (Pending::Approval(approval), Command::RejectAlways) => {
            Message::RejectPressed(approval.id, Decision::RejectAlways)
        }
        (Pending::Question(question), Command::Choose(n)) => {
            let choice = question.choices.get(usize::from(n).checked_sub(1)?)?;
            Message::Chosen(item.task_id, question.id, choice.clone())
        }
        (Pending::Question(question), Command::Decline) => Message::Declined(item.task_id, question.id),
        _ => return None,
    })
}

/// The index of the choice that these words mean, as on the command line: its number, or a plain yes or no.
#[must_use]
pub fn picked(question: &Question, words: &str) -> Option<usize> {
    let meant = abide_client::choice(question, words)?;
    question.choices.iter().position(|choice| choice == meant)
}

/// The text of the answer that these words mean.
#[must_use]
pub fn meant<'a>(question: &'a Question, words: &'a str) -> &'a str {
    abide_client::choice(question, words).unwrap_or(words)
}

/// A command or code of more lines or characters is long.
const LONG: (usize, usize) = (5, 400);

/// Why a call cannot be allowed yet.
const READ_ON: &str = "Scroll to the end to allow";

/// If half of the window is lower, in logical pixels, a card has little room.
const MUCH: f32 = 240.0;

/// The most characters of a folder in what a lasting decision would remember: all of it is said of the call
/// itself.
const MAX_PLACE: usize = 40;
/// The same in a narrow window.
const LEAST_PLACE: usize = 16;

/// The most characters of a sub-task's title above its card.
const MAX_TITLE: usize = 90;

const NUMBERS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

const fn who_asks(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Agent => "Question for you",
        QuestionKind::Loop => "The agent repeats itself",
        QuestionKind::Budget => "A limit is reached",
        QuestionKind::Interrupted => "A tool call was interrupted",
        QuestionKind::Restart => "The daemon was restarted",
        QuestionKind::Parked => "The model cannot be asked now",
    }
}
