//! Finding in the conversation. The daemon looks through all of it, also what is not loaded; the window goes from message to message,
//! the newest first, since it is at the end that one reads.

use super::{Conversation, Message};
use crate::{
    effect::{Effect, field},
    request::Request,
    theme::{size, space, style},
    widget::{
        Element, Look,
        field::field,
        key, secondary,
        told::is_focused,
        word,
        wrap::{Inner, Wrap, wrapped},
    },
};
use abide_client::protocol::{Seq, method::search::SearchReply};
use iced::{
    Center, Event, Fill,
    advanced::Shell,
    keyboard::{self, Key, key::Named},
    widget::{container, row, text_input},
};

/// Characters below which too much would be found.
const SHORTEST: usize = 2;

/// What is looked for here.
#[derive(Debug, Default)]
pub(super) struct Find {
    query: String,
    /// What the daemon is looking for: one at a time, the newest next.
    asked: Option<String>,
    /// What was found is of this query.
    answered: String,
    /// Messages, newest first.
    hits: Vec<Seq>,
    /// Older ones were not asked for.
    has_more: bool,
    at: usize,
}

impl Find {
    fn query(&self) -> &str {
        self.query.trim()
    }

    /// What has to be looked for now.
    fn next(&mut self) -> Option<String> {
        if self.query().chars().count() < SHORTEST {
            (self.hits, self.answered) = (Vec::new(), String::new());
            return None;
        }
        if self.asked.is_some() || self.answered == self.query() {
            return None;
        }
        self.asked = Some(self.query().to_owned());
        self.asked.clone()
    }

    fn found(&self) -> String {
        let place = || format!("{} of {}", self.at + 1, self.hits.len());
        match (self.hits.is_empty(), self.asked.is_some()) {
            _ if self.query().chars().count() < SHORTEST => String::new(),
            (_, true) => "…".to_owned(),
            (true, false) => "not found".to_owned(),
            (false, false) if self.has_more => format!("{} or more", place()),
            (false, false) => place(),
        }
    }
}

impl Conversation {
    /// A field for what is looked for.
    pub(super) fn begin_to_find(&mut self) -> Vec<Effect> {
        self.find.get_or_insert_default();
        vec![Effect::Focus(field::FIND_HERE)]
    }

    pub(super) fn end_to_find(&mut self) -> Vec<Effect> {
        self.find = None;
        self.unmark();
        vec![Effect::Focus(field::COMPOSER)]
    }

    pub(super) fn find(&mut self, query: String) -> Vec<Effect> {
        if let Some(find) = &mut self.find {
            find.query = query;
        }
        self.ask_to_find()
    }

    fn ask_to_find(&mut self) -> Vec<Effect> {
        let Some(find) = &mut self.find else { return Vec::new() };
        let query = find.next();
        if find.hits.is_empty() {
            self.unmark();
        }
        query.map(|query| Effect::Ask(Request::Find(self.id, query))).into_iter().collect()
    }

    /// The daemon has looked, or failed to.
    pub(super) fn found(&mut self, reply: Option<&SearchReply>) -> Vec<Effect> {
        let Some(find) = &mut self.find else { return Vec::new() };
        find.answered = find.asked.take().unwrap_or_default();
        find.hits = reply.map(|reply| reply.messages.iter().map(|hit| hit.seq).collect()).unwrap_or_default();
        find.has_more = reply.is_some_and(|reply| reply.before.is_some());
        find.at = 0;
        let mut effects = self.ask_to_find();
        if effects.is_empty() {
            effects = self.step_to_found(0);
        }
        effects
    }

    /// To an older message in which it is, or to a newer one, in a circle.
    pub(super) fn step_to_found(&mut self, by: isize) -> Vec<Effect> {
        let Some(find) = &mut self.find else { return Vec::new() };
        let Some(count) = isize::try_from(find.hits.len()).ok().filter(|count| *count > 0) else {
            return Vec::new();
        };
        let at = isize::try_from(find.at).unwrap_or_default();
        find.at = (at + by).rem_euclid(count).unsigned_abs();
        let (hit, query) = (find.hits[find.at], find.answered.clone());
        self.go_to(hit, &query)
    }

    fn unmark(&mut self) {
        (self.found, self.goal) = (None, None);
        self.marks.clear();
    }

    pub(super) fn find_bar(&self, look: Look) -> Option<Element<'_, Message>> {
        let find = self.find.as_ref()?;
        let input = text_input("Find in this conversation", &find.query)
            .id(field::FIND_HERE)
            .size(size::SECONDARY)
            .padding([4.0, 8.0])
            .style(style::field)
            .on_submit(Message::FoundStepped(1));
        let input = wrapped(field(input, &find.query, Message::FindChanged), Keys);
        let step = |label, name, by| {
            let name = (!look.is_low).then(|| key(name).into());
            row![word(label, Message::FoundStepped(by))].extend(name).align_y(Center)
        };
        let bar = row![
            input,
            secondary(find.found()),
            step("Older", "↵", 1),
            step("Newer", "⇧↵", -1),
            word("Close", Message::FindClosed),
        ];
        let bar = bar.spacing(space::S).align_y(Center);
        Some(container(bar).padding([space::XS, look.margin()]).width(Fill).style(style::panel).into())
    }
}

/// What the field has no keys for: Escape ends it at once, Shift and Enter goes to what is newer.
struct Keys;

impl Wrap<Message> for Keys {
    type State = ();

    fn state(&self) {}

    fn update(
        &mut self,
        (): &mut (),
        event: &Event,
        field: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        let meant = match event {
            Event::Keyboard(keyboard::Event::KeyPressed { key: Key::Named(key), modifiers, .. }) => {
                match (key, modifiers.shift()) {
                    (Named::Escape, _) => Some(Message::FindClosed),
                    (Named::Enter, true) | (Named::ArrowDown, _) => Some(Message::FoundStepped(-1)),
                    (Named::ArrowUp, _) => Some(Message::FoundStepped(1)),
                    _ => None,
                }
            }
            _ => None,
        };
        match meant {
            Some(message) if is_focused(field) => {
                shell.publish(message);
                shell.capture_event();
            }
            _ => field.update(event, shell),
        }
    }
}
