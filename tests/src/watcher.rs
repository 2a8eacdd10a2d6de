//! A client that keeps every record it got.

use crate::{daemon::TestDaemon, ledger, wait};
use abide_client::{
    AtHome, Live, LiveOptions, Options, Update,
    protocol::{
        RecordId, Seq,
        message::Message,
        method::subscription::Scope,
        notification::{DeltaKind, Notification, Snapshot},
        record::{Record, RecordBody},
    },
};

/// A live subscription, and the records that came through it.
pub struct Watcher {
    live: Live,
    seen: Vec<(Seq, RecordId)>,
    since: Seq,
    /// The live text and output, in order.
    output: String,
}

/// A sequenced notification.
#[derive(Debug, Clone)]
pub enum Fact {
    Message(Message),
    Record(Box<Record>),
}

impl Fact {
    /// The record's body, if it is not a message.
    #[must_use]
    pub fn body(&self) -> Option<&RecordBody> {
        if let Self::Record(record) = self { Some(&record.body) } else { None }
    }
}

impl Watcher {
    /// Watches from now on, or from after `since`.
    ///
    /// # Panics
    /// There is no subscription to be had.
    pub async fn open(daemon: &TestDaemon, scope: Scope, since: Option<Seq>) -> Self {
        let usual = Options::new("abide-tests", "0");
        let options = Options { connect_timeout: wait::limit(), call_timeout: wait::limit(), ..usual };
        let connector = AtHome { home: daemon.home(), options, start: None };
        let mut live =
            Live::open(connector, scope, since, LiveOptions::default()).await.expect("a subscription");
        let Update::Snapshot(snapshot) = wait::within("the snapshot", live.next()).await else {
            panic!("a subscription begins with its snapshot");
        };
        Self { live, seen: Vec::new(), since: since.unwrap_or(snapshot.seq), output: live_so_far(&snapshot) }
    }

    /// The next update; a fact is kept.
    ///
    /// # Panics
    /// Nothing comes, or the subscription has ended.
    pub async fn next(&mut self) -> Update {
        let update = wait::within("an update of a subscription", self.live.next()).await;
        match &update {
            Update::Notification(Notification::TaskMessage(m)) => self.seen.push((m.seq, m.message.id)),
            Update::Notification(Notification::TaskEvent(e)) => self.seen.push((e.seq, e.record.id)),
            // A command's output often repeats words of its arguments, so those are left out.
            Update::Notification(Notification::TaskDelta(d)) if d.kind != DeltaKind::Arguments => {
                self.output.push_str(&d.text);
            }
            Update::Reconnected(snapshot) => self.output.push_str(&live_so_far(snapshot)),
            Update::Ended { reason } => panic!("the subscription ended: {reason}"),
            _ => {}
        }
        update
    }

    /// The next fact.
    ///
    /// # Panics
    /// None comes.
    pub async fn fact(&mut self) -> Fact {
        loop {
            match self.next().await {
                Update::Notification(Notification::TaskMessage(m)) => return Fact::Message(m.message),
                Update::Notification(Notification::TaskEvent(e)) => return Fact::Record(Box::new(e.record)),
                _ => {}
            }
        }
    }

    /// Facts up to and including the first that satisfies `is_it`.
    ///
    /// # Panics
    /// None is in time.
    pub async fn facts_until(&mut self, what: &str, is_it: impl Fn(&Fact) -> bool) -> Vec<Fact> {
        wait::within(what, async {
            let mut facts = Vec::new();
            loop {
                let fact = self.fact().await;
                let is_last = is_it(&fact);
                facts.push(fact);
                if is_last {
                    return facts;
                }
            }
        })
        .await
    }

    /// Waits until the live text and output contain `text`.
    ///
    /// # Panics
    /// They do not in time.
    pub async fn wait_output(&mut self, text: &str) {
        wait::within(&format!("live output with {text:?} in it"), async {
            while !self.output.contains(text) {
                self.next().await;
            }
        })
        .await;
    }

    /// The cursor to resume from.
    #[must_use]
    pub fn cursor(&self) -> Seq {
        self.seen.last().map_or(self.since, |(seq, _)| *seq)
    }

    /// Compares its records with those of the database in the same range: nothing missing, nothing twice,
    /// nothing that is not on disk, all in order.
    ///
    /// # Panics
    /// They differ.
    pub fn assert_agrees_with(&self, daemon: &TestDaemon, is_ours: impl Fn(&ledger::LedgerLine) -> bool) {
        let (from, to) = (self.since, self.cursor());
        let on_disk: Vec<_> = ledger::read(&daemon.home())
            .into_iter()
            .filter(|line| line.seq > from && line.seq <= to && is_ours(line))
            .map(|line| (line.seq, line.id))
            .collect();
        assert_eq!(self.seen, on_disk, "what was seen (left) is not what is on disk (right)");
    }
}

fn live_so_far(snapshot: &Snapshot) -> String {
    let partials = snapshot.partials.iter().filter(|p| p.kind != DeltaKind::Arguments);
    partials.map(|p| p.text.as_str()).collect()
}
