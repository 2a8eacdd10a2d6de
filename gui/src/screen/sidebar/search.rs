//! The search box: its text, the query sent to the daemon, the results.

use super::Message;
use crate::{
    effect::{Effect, field},
    font, request,
    theme::{
        size, space,
        style::{self, RowState},
    },
    widget::{Element, Look, elide::elided, head, press::press, secondary},
    words,
};
use abide_client::{
    protocol::{
        ConversationId,
        method::search::{Excerpt, MessageHit, SearchReply, Span, TitleHit},
    },
    view::OverviewView,
};
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{Column, column, container, row},
};

/// Shorter queries only filter the list, in characters.
const SHORTEST: usize = 2;
/// How many characters of a line are shown before the match.
const BEFORE: usize = 10;

/// The search's state.
#[derive(Debug, Default)]
pub(super) struct Search {
    query: String,
    /// The query that the daemon searches for now: one request at a time, then the newest query.
    asked: Option<String>,
    /// Open the first result as soon as it comes.
    is_submitted: bool,
    found: Option<SearchReply>,
    /// What Enter opens: its place among all that is found.
    picked: usize,
}

impl Search {
    #[must_use]
    pub(super) fn query(&self) -> &str {
        self.query.trim()
    }

    #[must_use]
    pub(super) fn typed(&self) -> &str {
        &self.query
    }

    pub(super) fn set(&mut self, query: String) -> Vec<Effect> {
        self.query = query;
        self.is_submitted = false;
        self.picked = 0;
        self.ask()
    }

    /// Opens the first message found, when the reply comes.
    pub(super) const fn submit(&mut self) {
        self.is_submitted = self.asked.is_some();
    }

    /// Ends the search; returns whether there was one.
    pub(super) fn clear(&mut self) -> bool {
        self.found = None;
        self.picked = 0;
        !std::mem::take(&mut self.query).is_empty()
    }

    /// Searches again: there may be new results.
    pub(super) fn again(&mut self) -> Vec<Effect> {
        if self.is_submitted { Vec::new() } else { self.ask() }
    }

    /// Removes that conversation: it is deleted.
    pub(super) fn forget(&mut self, id: ConversationId) {
        if let Some(found) = &mut self.found {
            found.titles.retain(|hit| hit.conversation_id != id);
            found.messages.retain(|hit| hit.conversation_id != id);
        }
    }

    fn ask(&mut self) -> Vec<Effect> {
        if self.query().chars().count() < SHORTEST {
            self.found = None;
            return Vec::new();
        }
        if self.asked.is_some() {
            return Vec::new();
        }
        let query = self.query().to_owned();
        self.asked = Some(query.clone());
        vec![Effect::Ask(request::search(query))]
    }

    /// Handles the daemon's reply, or a failure.
    pub(super) fn answered(&mut self, reply: Option<&SearchReply>) -> Vec<Effect> {
        let asked = self.asked.take();
        if asked.as_deref() == Some(self.query()) {
            self.found = reply.cloned();
            let first = if std::mem::take(&mut self.is_submitted) { self.first() } else { None };
            return first.into_iter().collect();
        }
        self.ask()
    }

    fn first(&self) -> Option<Effect> {
        let hit = self.found.as_ref()?.messages.first()?;
        Some(Effect::GoTo(hit.conversation_id, hit.seq, hit.task_id, self.query().to_owned()))
    }

    /// The place of what Enter opens, among the conversations of the list and what the daemon has found.
    #[must_use]
    pub(super) const fn picked(&self) -> usize {
        self.picked
    }

    pub(super) const fn pick(&mut self, at: usize) {
        self.picked = at;
    }

    /// What opens each that the daemon has found, in the order shown.
    pub(super) fn openings(&self, overview: &OverviewView) -> impl Iterator<Item = Message> {
        let (archived, messages) = self.hits(overview);
        archived.into_iter().map(opens_title).chain(messages.iter().map(opens_message))
    }

    /// Archived conversations by title, and messages by text, in their current state.
    fn hits(&self, overview: &OverviewView) -> (Vec<&TitleHit>, &[MessageHit]) {
        let Some(found) = &self.found else { return (Vec::new(), &[]) };
        let is_archived = |hit: &&TitleHit| {
            overview.conversation(hit.conversation_id).map_or(hit.archived, |known| known.archived)
        };
        (found.titles.iter().filter(is_archived).collect(), &found.messages)
    }

    /// Draws them. `picked` is the place among them of what Enter opens.
    pub(super) fn view<'a>(
        &self,
        overview: &OverviewView,
        picked: Option<usize>,
        look: Look,
    ) -> Element<'a, Message> {
        let (archived, messages) = self.hits(overview);
        let is_picked = |at: usize| picked == Some(at);
        let first_message = archived.len();
        let archived = archived.into_iter().enumerate().map(|(at, hit)| title(hit, is_picked(at)));
        let messages = messages.iter().enumerate();
        let messages = messages.map(|(at, hit)| message(hit, overview, is_picked(first_message + at), look));
        let mut list = Column::new();
        for (name, lines) in [("ARCHIVED", archived.collect::<Vec<_>>()), ("MESSAGES", messages.collect())] {
            if !lines.is_empty() {
                list = list.push(container(head(name)).padding([space::S + 2.0, 10.0]));
                list = list.extend(lines);
            }
        }
        list.into()
    }

    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.found.as_ref().is_none_or(|found| found.messages.is_empty() && found.titles.is_empty())
    }

    /// Whether the query typed now is being searched.
    #[must_use]
    pub(super) const fn is_busy(&self) -> bool {
        self.asked.is_some()
    }
}

const fn opens_title(hit: &TitleHit) -> Message {
    Message::Selected(hit.conversation_id)
}

const fn opens_message(hit: &MessageHit) -> Message {
    Message::FoundPressed(hit.conversation_id, hit.seq, hit.task_id)
}

fn title<'a>(hit: &TitleHit, is_picked: bool) -> Element<'a, Message> {
    entry(marked(&hit.title), is_picked, opens_title(hit))
}

fn message<'a>(
    hit: &MessageHit,
    overview: &OverviewView,
    is_picked: bool,
    look: Look,
) -> Element<'a, Message> {
    let known = overview.conversation(hit.conversation_id);
    let title = words::title(known.map_or(&hit.conversation_title, |known| &known.title));
    let top = row![elided(title, size::PROSE, font::MEDIUM), secondary(words::age(hit.at, look.now))]
        .spacing(space::S)
        .align_y(Center);
    entry(column![top, marked(&hit.line)].into(), is_picked, opens_message(hit))
}

fn entry<'a>(content: Element<'a, Message>, is_picked: bool, message: Message) -> Element<'a, Message> {
    let row = press(content)
        .padding([space::S, 10.0])
        .width(Fill)
        .style(style::list_row(RowState { is_picked, ..RowState::default() }))
        .on_press(message);
    let row = container(row);
    if is_picked { row.id(field::PICKED).into() } else { row.into() }
}

/// A line with its matches marked.
fn marked<'a>(excerpt: &Excerpt) -> Element<'a, Message> {
    let mut line = String::new();
    let mut found = Vec::new();
    for (part, is_found) in parts(&bare(excerpt)) {
        if is_found {
            found.push(line.len()..line.len() + part.len());
        }
        line.push_str(&part);
    }
    elided(line, size::SECONDARY, font::PROSE).marking(found, font::STRONG).style(style::muted).into()
}

/// The line without marks of Markdown, and its matches where they are then.
fn bare(excerpt: &Excerpt) -> Excerpt {
    let gone: Vec<&str> = words::paired_marks(&excerpt.text).collect();
    let mut text = String::with_capacity(excerpt.text.len());
    // Where each byte is then; of a mark, where it would be.
    let mut places = Vec::with_capacity(excerpt.text.len() + 1);
    let mut rest = excerpt.text.as_str();
    if let Some(title) = rest.trim_start_matches('#').strip_prefix(' ').filter(|_| rest.starts_with('#')) {
        places.resize(rest.len() - title.len(), 0);
        rest = title;
    }
    while let Some(letter) = rest.chars().next() {
        let mark = gone.iter().find(|mark| rest.starts_with(**mark));
        let length = mark.map_or(letter.len_utf8(), |mark| mark.len());
        places.extend(std::iter::repeat_n(text.len(), length));
        if mark.is_none() {
            text.push(letter);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    places.push(text.len());
    let place = |at: u32| places.get(at as usize).and_then(|at| u32::try_from(*at).ok());
    let marks = excerpt
        .marks
        .iter()
        .filter_map(|mark| Some(Span { start: place(mark.start)?, end: place(mark.end)? }))
        .collect();
    Excerpt { text, marks }
}

/// The line cut so that the first match is visible, in parts: match or not.
fn parts(excerpt: &Excerpt) -> Vec<(String, bool)> {
    let text = excerpt.text.as_str();
    let first = excerpt.marks.first().map_or(0, |mark| mark.start as usize);
    let before = text.get(..first).unwrap_or_default();
    let mut at = before.char_indices().rev().nth(BEFORE).map_or(0, |(at, _)| at);
    let mut parts = Vec::new();
    if at > 0 {
        parts.push(("…".to_owned(), false));
    }
    for mark in &excerpt.marks {
        let (start, end) = (mark.start as usize, mark.end as usize);
        // Invalid marks are left out.
        if let (Some(before), Some(found)) = (text.get(at..start), text.get(start..end)) {
            parts.push((visible_line(before).into_owned(), false));
            parts.push((visible_line(found).into_owned(), true));
            at = end;
        }
    }
    parts.push((visible_line(text.get(at..).unwrap_or_default()).into_owned(), false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_client::protocol::Seq;

    fn reply() -> SearchReply {
        SearchReply { titles: Vec::new(), messages: Vec::new(), before: None, searched_to: Seq(1) }
    }

    fn asks(query: &str) -> Vec<Effect> {
        vec![Effect::Ask(request::search(query.to_owned()))]
    }

    #[test]
    fn one_request_at_a_time_and_the_newest_next() {
        let mut search = Search::default();
        assert_eq!(search.set("c".to_owned()), []);
        assert_eq!(search.set("ca".to_owned()), asks("ca"));
        assert_eq!(search.set("carg".to_owned()), [], "one is under way");
        assert_eq!(search.answered(Some(&reply())), asks("carg"));
        assert!(search.found.is_none(), "what nobody asks any more is not shown");
        assert_eq!(search.answered(Some(&reply())), []);
        assert!(search.found.is_some());
        assert!(search.clear() && search.found.is_none());
        assert_eq!(search.set("again".to_owned()), asks("again"));
        search.submit();
        assert_eq!(search.answered(None), [], "a failure is not asked again by itself");
    }

    #[test]
    fn what_was_found_is_in_view() {
        let line = "a long line in which far to the right there is a needle, see";
        let start = line.find("needle").unwrap() as u32;
        let marks = vec![Span { start, end: start + 6 }, Span { start: 3, end: 900 }];
        let parts = parts(&Excerpt { text: line.to_owned(), marks });
        let parts: Vec<_> = parts.iter().map(|(text, found)| (text.as_str(), *found)).collect();
        assert_eq!(parts, [("…", false), ("there is a ", false), ("needle", true), (", see", false)]);
    }
}
