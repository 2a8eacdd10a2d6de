//! The search within a conversation. The daemon searches all messages, including those that are not loaded;
//! the window steps from match to match, newest first.

use super::{Conversation, Goal, Message, Row, documents::source, marks::Phrases};
use crate::{
    effect::{Effect, field},
    rendered, request,
    theme::{size, space, style},
    widget::{
        Element, Look, beside,
        field::field,
        key,
        list::{CurrentMatch, Marking, WhichMatch},
        report::is_focused,
        word,
        wrap::{Inner, Wrap, wrapped},
    },
};
use abide_client::{
    protocol::{
        Seq,
        method::search::{MessageHit, SearchReply},
    },
    view::Entry,
};
use iced::{
    Center, Event, Fill,
    advanced::Shell,
    keyboard::{self, Key, key::Named},
    widget::{container, row},
};

/// Shorter queries would find too much, in characters.
const SHORTEST: usize = 2;

/// The search within this conversation.
#[derive(Debug, Default)]
pub(super) struct Find {
    query: String,
    /// The query that the daemon searches for now: one request at a time, then the newest query.
    asked: Option<String>,
    /// The query of the results.
    answered: String,
    /// Messages that match, newest first.
    hits: Vec<Seq>,
    /// There are older ones, which were not requested.
    has_more: bool,
    at: usize,
    /// The composer had the caret before.
    had_caret: bool,
}

/// The message at which the search is.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) seq: Seq,
    /// The row of it: a long reply has one for each block.
    block: usize,
    /// The blocks of a long reply with a match, and how many matches each has; none until it is loaded, or if
    /// it is not long.
    blocks: Vec<(usize, usize)>,
    /// Their matches are marked in it.
    phrases: Phrases,
    wanted: WhichMatch,
    /// The match at which the list is, once the message is shown.
    place: Option<CurrentMatch<Row>>,
}

impl Found {
    pub(super) fn row(&self) -> Row {
        if self.block == 0 { Row::Entry(self.seq) } else { Row::Block(self.seq, self.block) }
    }

    /// The number of the match in the message, counted from 0, and how many it has.
    fn within(&self) -> Option<(usize, usize)> {
        let CurrentMatch { at, of, .. } = self.place?;
        let others = |is_it: fn(&usize, &usize) -> bool| -> usize {
            self.blocks.iter().filter(|(block, _)| is_it(block, &self.block)).map(|(_, of)| of).sum()
        };
        let before = others(usize::lt);
        Some((before + at, before + of + others(usize::gt)))
    }
}

impl Find {
    fn query(&self) -> &str {
        self.query.trim()
    }

    /// The query to send now.
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

    fn found(&self, within: Option<(usize, usize)>) -> String {
        let within = within.filter(|(_, of)| *of > 1);
        let within = within.map_or_else(String::new, |(at, of)| format!(" · {} of {of} in it", of - at));
        let messages = if self.has_more { " or more" } else { "" };
        match (self.hits.is_empty(), self.asked.is_some()) {
            _ if self.query().chars().count() < SHORTEST => String::new(),
            (_, true) => "…".to_owned(),
            (true, false) => "no message has it".to_owned(),
            (false, false) => format!("{} of {}{messages}{within}", self.at + 1, self.hits.len()),
        }
    }
}

impl Conversation {
    /// Opens the search field.
    pub(super) fn begin_to_find(&mut self) -> Vec<Effect> {
        let had_caret = self.composer.has_caret();
        self.find.get_or_insert_with(|| Find { had_caret, ..Find::default() });
        vec![Effect::FocusText(field::FIND_HERE)]
    }

    pub(super) fn end_to_find(&mut self) -> Vec<Effect> {
        let had_caret = self.find.take().is_some_and(|find| find.had_caret);
        self.unmark();
        vec![if had_caret { Effect::Focus(field::COMPOSER) } else { Effect::GiveKeyboard }]
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
        query.map(|query| Effect::Ask(request::find(self.id, &query))).into_iter().collect()
    }

    /// Handles the daemon's results, or a failure.
    pub(super) fn found(&mut self, reply: Option<&SearchReply>) -> Vec<Effect> {
        let Some(find) = &mut self.find else { return Vec::new() };
        find.answered = find.asked.take().unwrap_or_default();
        // The daemon searches the sub-tasks too; their messages are in timelines of their own.
        let (view, of) = (&self.view, self.sub_task);
        let is_of_root = |id| view.task(id).is_none_or(|task| task.parent_id.is_none());
        let is_here = |hit: &&MessageHit| match of {
            Some(_) => hit.task_id == of,
            None => hit.task_id.is_none_or(is_of_root),
        };
        let hits = reply.into_iter().flat_map(|reply| &reply.messages).filter(is_here);
        find.hits = hits.map(|hit| hit.seq).collect();
        find.has_more = reply.is_some_and(|reply| reply.before.is_some());
        find.at = 0;
        let mut effects = self.ask_to_find();
        if effects.is_empty() {
            effects = self.step_to_found(0);
        }
        effects
    }

    /// Moves to an older match, or to a newer one if negative: in the message, or in another one, in a
    /// circle.
    pub(super) fn step_to_found(&mut self, by: isize) -> Vec<Effect> {
        if let Some(found) = &mut self.found
            && let Some(CurrentMatch { at, of, .. }) = found.place
            && let Some(next) = at.checked_add_signed(-by).filter(|next| by != 0 && *next < of)
        {
            found.wanted = WhichMatch::At(next);
            let row = found.row();
            self.went = self.went.wrapping_add(1);
            let window = self.rows.get(self.window.clone()).unwrap_or_default();
            self.goal = (!window.contains(&row)).then_some(Goal::Row(row));
            return self.seek();
        }
        if let Some(block) = self.found.as_ref().filter(|_| by != 0).and_then(|found| {
            let mut others = found.blocks.iter().map(|(block, _)| *block);
            if by > 0 { others.rfind(|n| *n < found.block) } else { others.find(|n| *n > found.block) }
        }) {
            return self.go_to_block(block, if by < 0 { WhichMatch::First } else { WhichMatch::Last });
        }
        let Some(find) = &mut self.find else { return Vec::new() };
        let Some(count) = isize::try_from(find.hits.len()).ok().filter(|count| *count > 0) else {
            return Vec::new();
        };
        let at = isize::try_from(find.at).unwrap_or_default();
        find.at = (at + by).rem_euclid(count).unsigned_abs();
        let (hit, phrases) = (find.hits[find.at], Phrases::in_order(&find.answered));
        self.go_to_found(hit, phrases, if by < 0 { WhichMatch::First } else { WhichMatch::Last })
    }

    /// Goes to that match of the message, once it is loaded.
    pub(super) fn go_to_found(&mut self, seq: Seq, phrases: Phrases, wanted: WhichMatch) -> Vec<Effect> {
        self.found = Some(Found { seq, block: 0, blocks: Vec::new(), phrases, wanted, place: None });
        self.went = self.went.wrapping_add(1);
        self.goal = Some(Goal::Row(Row::Entry(seq)));
        let effects = self.seek();
        self.find_block();
        effects
    }

    /// Goes on to the block of a long reply that has the match, once the reply is loaded.
    pub(super) fn find_block(&mut self) {
        let Some(found) = self.found.as_ref().filter(|found| found.blocks.is_empty()) else { return };
        let blocks = self.blocks_with(found.seq, &found.phrases);
        let block = if found.wanted == WhichMatch::First { blocks.first() } else { blocks.last() };
        let (block, wanted) = (block.map_or(0, |(block, _)| *block), found.wanted);
        if let Some(found) = &mut self.found {
            found.blocks = blocks;
        }
        if block > 0 {
            drop(self.go_to_block(block, wanted));
        }
    }

    fn go_to_block(&mut self, block: usize, wanted: WhichMatch) -> Vec<Effect> {
        let Some(found) = &mut self.found else { return Vec::new() };
        (found.block, found.wanted, found.place) = (block, wanted, None);
        self.goal = Some(Goal::Row(found.row()));
        self.went = self.went.wrapping_add(1);
        self.seek()
    }

    /// The blocks of a long reply with a match, and how many each has; none if it is not long.
    fn blocks_with(&self, seq: Seq, phrases: &Phrases) -> Vec<(usize, usize)> {
        let Some(Entry::Message(message)) = self.view.entry(seq) else { return Vec::new() };
        if self.rows_of(message).is_none() {
            return Vec::new();
        }
        let blocks = rendered::blocks(&source(&message.text));
        let counts = blocks.iter().map(|block| phrases.find(block).len());
        counts.enumerate().filter(|(_, count)| *count > 0).collect()
    }

    pub(super) fn be_at(&mut self, place: CurrentMatch<Row>) -> Vec<Effect> {
        if let Some(found) = self.found.as_mut().filter(|found| found.row() == place.row) {
            found.place = Some(place);
        }
        Vec::new()
    }

    /// The matches that the list marks.
    pub(super) fn marking(&self) -> Option<Marking<'_, Row, Message>> {
        let found = self.found.as_ref()?;
        let Found { phrases, wanted, .. } = found;
        Some(Marking {
            row: found.row(),
            find: Box::new(move |text: &str| phrases.find(text)),
            wanted: *wanted,
            act: self.went,
            on_place: Message::FoundAt,
        })
    }

    /// The search in the list is over: what it had found here is no longer marked.
    pub fn end_search(&mut self) {
        if self.find.is_none() {
            self.unmark();
        }
    }

    fn unmark(&mut self) {
        (self.found, self.goal) = (None, None);
    }

    pub(super) fn find_bar(&self, look: Look) -> Option<Element<'_, Message>> {
        let find = self.find.as_ref()?;
        let shape = (size::SECONDARY, [4.0, 8.0]);
        let input = field(
            "Find in the messages of this conversation",
            shape,
            &find.query,
            Message::FindChanged,
            |input| input.id(field::FIND_HERE).on_submit(Message::FoundStepped(1)),
        );
        let input = wrapped(input, Keys);
        let step = |label, name, by| {
            let name = (!look.is_low).then(|| key(name).into());
            row![word(label, Message::FoundStepped(by))].extend(name).align_y(Center)
        };
        let bar = row![
            input,
            beside(find.found(self.found.as_ref().and_then(Found::within))),
            step("Older", "↵", 1),
            step("Newer", "⇧↵", -1),
            word("Close", Message::FindClosed),
        ];
        let bar = bar.spacing(space::S).align_y(Center);
        Some(container(bar).padding([space::XS, look.margin()]).width(Fill).style(style::panel).into())
    }
}

/// Keys that the field lacks: Escape closes it at once, Shift Enter goes to a newer match.
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
