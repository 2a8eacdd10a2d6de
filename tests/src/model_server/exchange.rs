//! The state of the server's conversations.

use super::{
    Embeddings, Outcome, Script, Seen, Turn,
    check::check,
    view::{Part, Sent, View},
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::watch;

#[derive(Default)]
pub(super) struct Exchange {
    state: Mutex<State>,
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    scripts: BTreeMap<String, Script>,
    talks: BTreeMap<String, Talk>,
    seen: Vec<Seen>,
    violations: Vec<String>,
    /// The API key without which nothing is answered.
    api_key: Option<String>,
    embeddings: Embeddings,
}

/// A conversation.
#[derive(Default)]
struct Talk {
    /// The attempts of each reply, by its number.
    sent: Vec<Vec<Sent>>,
    /// How often each reply was requested, by its number.
    attempts: BTreeMap<usize, usize>,
    last_good: Option<Good>,
    /// Replies of another conversation, with which the requests begin.
    imported: Vec<Turn>,
}

/// An accepted request, and its index in `seen`.
struct Good {
    view: View,
    seen: usize,
}

/// An accepted request with its reply, and its ticket.
pub(super) struct Admitted {
    pub(super) turn: Turn,
    /// Unique to this attempt within the conversation.
    pub(super) id: String,
    pub(super) attempt: usize,
    pub(super) ticket: Ticket,
}

/// Identifies a request and its reply.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    seen: usize,
    key: String,
    number: usize,
    attempt: usize,
}

impl Exchange {
    pub(super) fn set_script(&self, key: &str, script: Script) {
        self.lock().scripts.insert(key.to_owned(), script);
    }

    pub(super) fn require_key(&self, key: &str) {
        self.lock().api_key = Some(key.to_owned());
    }

    pub(super) fn embeds(&self, embeddings: Embeddings) {
        self.lock().embeddings = embeddings;
    }

    pub(super) fn embeddings(&self) -> Embeddings {
        self.lock().embeddings
    }

    /// Whether a request with these headers may be answered.
    pub(super) fn lets_in(&self, headers: &[(String, String)]) -> bool {
        let Some(key) = self.lock().api_key.clone() else { return true };
        let bearer = format!("Bearer {key}");
        headers.iter().any(|(name, value)| {
            (name == "authorization" && *value == bearer) || (name == "x-api-key" && *value == key)
        })
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(super) fn seen<T>(&self, read: impl FnOnce(&[Seen]) -> T) -> T {
        read(&self.lock().seen)
    }

    pub(super) fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().violations)
    }

    /// Accepts a request and returns the reply, or what is wrong with the request.
    pub(super) fn admit(
        &self,
        view: Result<View, String>,
        body: &str,
        headers: Vec<(String, String)>,
        at: Instant,
        parts: impl FnOnce(&Turn, &str) -> Vec<Part>,
    ) -> Result<Admitted, String> {
        let admitted = self.lock().admit(view, body, headers, at, parts);
        self.changes.send_replace(());
        admitted
    }

    /// Marks replies of a script as given.
    pub(super) fn recall(&self, key: &str, replies: usize, parts: impl Fn(&Turn, &str) -> Vec<Part>) {
        let mut state = self.lock();
        let script = state.scripts.get(key).cloned().expect("a script for the key");
        let given = (0..replies).map(|number| {
            let turn = script.turn(number).expect("the script has that reply");
            let read_as = turn.manner.read_as.clone();
            vec![Sent { parts: parts(&turn, &format!("{number}x0")), is_complete: true, read_as }]
        });
        let given = given.collect();
        state.talks.entry(key.to_owned()).or_default().sent = given;
    }

    /// The conversation's requests begin with these replies.
    pub(super) fn import(&self, key: &str, replies: Vec<Turn>) {
        self.lock().talks.entry(key.to_owned()).or_default().imported = replies;
    }

    /// The reply was sent completely.
    pub(super) fn sent_whole(&self, ticket: &Ticket) {
        let mut state = self.lock();
        if let Some(sent) = state
            .talks
            .get_mut(&ticket.key)
            .and_then(|t| t.sent.get_mut(ticket.number)?.get_mut(ticket.attempt))
        {
            sent.is_complete = true;
        }
    }

    pub(super) fn ended(&self, ticket: &Ticket, outcome: Outcome) {
        if let Some(seen) = self.lock().seen.get_mut(ticket.seen) {
            seen.outcome = outcome;
        }
        self.changes.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn admit(
        &mut self,
        view: Result<View, String>,
        body: &str,
        headers: Vec<(String, String)>,
        at: Instant,
        parts: impl FnOnce(&Turn, &str) -> Vec<Part>,
    ) -> Result<Admitted, String> {
        let key = view.as_ref().ok().and_then(View::key).unwrap_or_default();
        let turn = view.as_ref().map_or(0, View::turn);
        let script = self.scripts.get(&key).or_else(|| self.scripts.get("")).cloned();
        let talk = self.talks.entry(key.clone()).or_default();
        let number = turn.saturating_sub(talk.imported.len());
        let place = self.seen.len();
        let checked = view.and_then(|view| {
            let before = talk.last_good.as_ref().map(|good| {
                // A request may be sent while the records it was made from are being committed. If the daemon
                // died in that moment, they are lost, the newest reply perhaps among them: the same reply is
                // requested again, or that one, and the entries after the reply before may differ.
                let holds = good.view.turn() < turn || self.seen[good.seen].outcome == Outcome::Failed;
                if holds { good.view.clone() } else { good.view.confirmed_by(turn) }
            });
            check(&view, &talk.imported, &talk.sent, before.as_ref())?;
            let script = script.ok_or_else(|| format!("there is no script for the conversation {key:?}"))?;
            let turn =
                script.turn(number).ok_or_else(|| format!("the script of {key:?} has no reply {number}"))?;
            talk.last_good = Some(Good { view, seen: place });
            Ok(turn)
        });
        let attempts = talk.attempts.entry(number).or_default();
        let attempt = *attempts;
        *attempts += usize::from(checked.is_ok());
        self.seen.push(Seen {
            key: key.clone(),
            turn: number,
            attempt,
            at,
            answered_at: Instant::now(),
            body: serde_json::from_str(body).unwrap_or(Value::Null),
            headers,
            outcome: if checked.is_ok() { Outcome::Answering } else { Outcome::Refused },
        });
        let turn = match checked {
            Ok(turn) => turn,
            Err(words) => {
                self.violations.push(format!("[k:{key}] reply {number}, attempt {attempt}: {words}"));
                return Err(words);
            }
        };
        let id = format!("{number}x{attempt}");
        if talk.sent.len() <= number {
            talk.sent.resize_with(number + 1, Vec::new);
        }
        talk.sent[number].push(Sent {
            parts: parts(&turn, &id),
            is_complete: false,
            read_as: turn.manner.read_as.clone(),
        });
        let ticket = Ticket { seen: self.seen.len() - 1, key, number, attempt };
        Ok(Admitted { turn, id, attempt, ticket })
    }
}
