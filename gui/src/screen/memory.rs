//! The page of the memory: what tasks recall, to search and to forget, notes, on and off. All of it is the
//! daemon's; the page shows its replies.

mod view;

use crate::{
    effect::Effect,
    request::{Reply, Request},
    screen::forgetting::{self, Forgetting},
};
use abide_client::protocol::{
    Seq,
    memory::{Note, Snippet},
    method::{
        config::UpdateConfigParams,
        memory::{
            AddNoteParams, GetMemoryParams, ListNotesParams, MemoryReply, SearchMemoryParams,
            SearchMemoryReply,
        },
    },
};

/// The page's state.
#[derive(Debug, Default)]
pub struct Screen {
    memory: Option<MemoryReply>,
    /// That of the page behind; `None`: it has none.
    workspace: Option<String>,
    /// What is searched, listed and noted is that of all workspaces.
    is_everywhere: bool,
    /// As it is typed.
    query: String,
    search: Search,
    notes: Option<Vec<Note>>,
    /// As it is typed.
    note: String,
    /// A new note is under way.
    is_adding: bool,
    pub forgetting: Forgetting,
}

/// What was searched.
#[derive(Debug, Default)]
enum Search {
    #[default]
    Nothing,
    Asked(SearchMemoryParams),
    Found(SearchMemoryReply),
}

#[derive(Debug, Clone)]
pub enum Message {
    Toggled(bool),
    /// Whether all workspaces are meant.
    ScopePicked(bool),
    QueryChanged(String),
    Searched,
    NoteChanged(String),
    NoteSubmitted,
    Forget(forgetting::Message),
    Closed,
}

impl Screen {
    /// Opens the page over one with this workspace.
    pub fn open(&mut self, workspace: Option<String>) -> Vec<Effect> {
        if self.workspace != workspace {
            *self = Self { workspace, note: std::mem::take(&mut self.note), ..Self::default() };
        }
        self.forgetting = Forgetting::default();
        // What was found may be forgotten since.
        let mut effects = self.search();
        effects.extend(self.asks());
        effects
    }

    /// Requests what the page shows.
    #[must_use]
    pub fn asks(&self) -> Vec<Effect> {
        let notes = Request::ListNotes(ListNotesParams { workspace: self.scope() });
        [Request::GetMemory(GetMemoryParams::default()), notes].map(Effect::Ask).into()
    }

    /// What Escape does here.
    #[must_use]
    pub const fn escape(&self) -> Message {
        if self.forgetting.asked().is_some() {
            Message::Forget(forgetting::Message::Kept)
        } else {
            Message::Closed
        }
    }

    fn scope(&self) -> Option<String> {
        self.workspace.clone().filter(|_| !self.is_everywhere)
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Toggled(wanted) => vec![Effect::Ask(Request::UpdateConfig(UpdateConfigParams {
                memory: Some(wanted),
                ..UpdateConfigParams::default()
            }))],
            Message::ScopePicked(is_everywhere) => {
                self.is_everywhere = is_everywhere;
                self.notes = None;
                let mut effects = self.search();
                effects.extend(self.asks());
                effects
            }
            Message::QueryChanged(query) => {
                self.query = query;
                Vec::new()
            }
            Message::Searched => self.search(),
            Message::NoteChanged(note) => {
                self.note = note;
                Vec::new()
            }
            Message::NoteSubmitted if self.is_adding || self.note.trim().is_empty() => Vec::new(),
            Message::NoteSubmitted => {
                self.is_adding = true;
                let text = self.note.trim().to_owned();
                vec![Effect::Ask(Request::AddNote(AddNoteParams { text, workspace: self.scope() }))]
            }
            Message::Forget(message) => self.forgetting.update(&message),
            Message::Closed => vec![Effect::Back],
        }
    }

    fn search(&mut self) -> Vec<Effect> {
        let query = self.query.trim().to_owned();
        if query.is_empty() {
            self.search = Search::Nothing;
            return Vec::new();
        }
        let asked = SearchMemoryParams { query, workspace: self.scope(), limit: None };
        self.search = Search::Asked(asked.clone());
        vec![Effect::Ask(Request::SearchMemory(asked))]
    }

    fn is_newest(&self, asked: &SearchMemoryParams) -> bool {
        matches!(&self.search, Search::Asked(newest) if newest == asked)
    }

    /// A request of this page was answered.
    pub fn answered(&mut self, request: &Request, reply: &Reply) -> Vec<Effect> {
        match (request, reply) {
            (_, Reply::GetMemory(memory)) => self.memory = Some(memory.clone()),
            (Request::UpdateConfig(UpdateConfigParams { memory: Some(_), .. }), _) => return self.asks(),
            (Request::ListNotes(asked), Reply::ListNotes(listed)) if asked.workspace == self.scope() => {
                self.notes = Some(listed.notes.clone());
            }
            (_, Reply::AddNote(_)) => {
                (self.is_adding, self.note) = (false, String::new());
                return self.asks();
            }
            (Request::SearchMemory(asked), Reply::SearchMemory(found)) if self.is_newest(asked) => {
                self.search = Search::Found(found.clone());
            }
            _ => {}
        }
        Vec::new()
    }

    /// A request of this page was not done.
    pub fn failed(&mut self, request: &Request) {
        match request {
            Request::AddNote(_) => self.is_adding = false,
            Request::SearchMemory(asked) if self.is_newest(asked) => self.search = Search::Nothing,
            _ => {}
        }
    }

    /// The memory no longer has what this record says.
    pub fn forget(&mut self, seq: Seq) {
        self.notes.iter_mut().for_each(|notes| notes.retain(|note| note.seq != seq));
        if let Search::Found(found) = &mut self.search {
            found.snippets.iter_mut().filter(|snippet| snippet.seq == seq).for_each(Snippet::blank);
        }
    }
}
