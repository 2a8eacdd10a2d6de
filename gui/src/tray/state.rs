//! What the icon says.

use super::icon::{self, Pixmap};
use crate::words;
use abide_client::{
    protocol::{
        ConversationId,
        inbox::{InboxItem, Pending, PendingId},
        measure::counted,
        task::{AgentTask, PauseReason, Status},
    },
    view::{Connection, OverviewView},
};
use abide_host::text::visible_line;
use uuid::Uuid;

/// How many waiting items the menu has.
const LISTED: usize = 5;
/// The most characters of each part of a line.
const MAX_PART: usize = 48;

/// What works and what waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TrayState {
    /// Whether the daemon is connected; if it is not, nothing is known.
    pub(super) is_live: bool,
    pub(super) working: usize,
    pub(super) waiting: usize,
    /// The oldest of what waits.
    pub(super) lines: Vec<WaitingItem>,
}

/// Something that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaitingItem {
    /// Names it in the menu: a click on an older menu never means another item.
    pub(super) id: i32,
    pub(super) conversation: ConversationId,
    pub(super) label: String,
}

/// What the icon looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// The daemon does not run, so there is nothing to show.
    Away,
    Idle,
    Working,
    /// So much waits for the person.
    Waiting(usize),
}

impl TrayState {
    pub(super) fn of(overview: &OverviewView) -> Self {
        if *overview.connection() != Connection::Live {
            return Self::default();
        }
        let is_at_work = |task: &&AgentTask| {
            task.parent_id.is_none() && !task.status.needs_person() && task.status != Status::Paused
        };
        let held = overview.held().map(|task| {
            let title = overview.conversation(task.conversation_id).map_or("", |c| &c.title);
            let why = task.pause_reason.map_or("paused", PauseReason::words);
            WaitingItem::new(task.id.0, task.conversation_id, &words::sentence(why), title)
        });
        let lines = overview.inbox().items().iter().map(WaitingItem::of).chain(held).take(LISTED).collect();
        let working = overview.tasks().filter(is_at_work).count();
        Self { is_live: true, working, waiting: overview.waiting(), lines }
    }

    pub(super) const fn mood(&self) -> Mood {
        match self {
            Self { is_live: false, .. } => Mood::Away,
            Self { waiting: 0, working: 0, .. } => Mood::Idle,
            Self { waiting: 0, .. } => Mood::Working,
            Self { waiting, .. } => Mood::Waiting(*waiting),
        }
    }

    /// In words, without any text of a model.
    pub(super) fn words(&self) -> String {
        let working = || format!("{} at work", counted(self.working as u64, "task"));
        let waiting = || words::need_you(self.waiting as u64);
        match (self.mood(), self.working) {
            (Mood::Away, _) => "The daemon does not run".to_owned(),
            (Mood::Idle, _) => "Nothing is at work".to_owned(),
            (Mood::Working, _) => working(),
            (Mood::Waiting(_), 0) => waiting(),
            (Mood::Waiting(_), _) => format!("{}, {}", waiting(), working()),
        }
    }
}

impl WaitingItem {
    fn of(item: &InboxItem) -> Self {
        let (id, what) = match &item.pending {
            Pending::Question(question) => (PendingId::Question(question.id), question.text.clone()),
            Pending::Approval(approval) => {
                let what = format!("Approve {}? {}", approval.tool, approval.summary);
                (PendingId::Approval(approval.id), what)
            }
        };
        let id = match id {
            PendingId::Question(id) => id.0,
            PendingId::Approval(id) => id.0,
        };
        Self::new(id, item.conversation_id, &what, &item.conversation_title)
    }

    fn new(id: Uuid, conversation: ConversationId, what: &str, title: &str) -> Self {
        let part = |text: &str| words::first_line(&visible_line(text), MAX_PART);
        let label = if title.is_empty() { part(what) } else { format!("{} – {}", part(what), part(title)) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "any part of an id will do"
        )]
        let id = (id.as_u128() as u32 >> 2) as i32 + Self::FIRST;
        Self { id, conversation, label }
    }

    /// The least id of a line; those of the menu's own entries are less.
    pub(super) const FIRST: i32 = 1000;
}

/// What is on the bus.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) state: TrayState,
    pub(super) pixmaps: Vec<Pixmap>,
    /// Increased with each change.
    pub(super) revision: u32,
}

impl Shown {
    /// Returns whether anything changed.
    pub(super) fn change(&mut self, state: TrayState) -> bool {
        if self.state == state && !self.pixmaps.is_empty() {
            return false;
        }
        if self.state.mood() != state.mood() || self.pixmaps.is_empty() {
            self.pixmaps = icon::pixmaps(state.mood());
        }
        self.state = state;
        self.revision += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(working: usize, waiting: usize) -> TrayState {
        TrayState { is_live: true, working, waiting, lines: Vec::new() }
    }

    #[test]
    fn the_words_say_what_works_and_what_waits() {
        let table = [
            (TrayState::default(), Mood::Away, "The daemon does not run"),
            (state(0, 0), Mood::Idle, "Nothing is at work"),
            (state(1, 0), Mood::Working, "1 task at work"),
            (state(0, 1), Mood::Waiting(1), "1 needs you"),
            (state(2, 12), Mood::Waiting(12), "12 need you, 2 tasks at work"),
        ];
        for (state, mood, words) in table {
            assert_eq!((state.mood(), state.words().as_str()), (mood, words));
        }
    }

    #[test]
    fn a_line_is_short_and_shows_what_is_hidden() {
        let conversation = ConversationId(Uuid::from_u128(1));
        let line = WaitingItem::new(
            Uuid::from_u128(2),
            conversation,
            &format!("a\u{202e}b\n{}", "long ".repeat(99)),
            "title",
        );
        assert!(line.label.starts_with("a\\u{202e}b"), "{}", line.label);
        assert!(
            line.label.ends_with(" – title") && line.label.chars().count() < 2 * MAX_PART,
            "{}",
            line.label
        );
        assert_eq!(WaitingItem::new(Uuid::from_u128(2), conversation, "what", "").label, "what");
    }

    #[test]
    fn each_item_has_an_id_of_its_own() {
        let conversation = ConversationId(Uuid::from_u128(1));
        let ids = [u128::MAX, 0x01a2_012e_b391_7159_8253_9766_60a7_166a, 0]
            .map(|id| WaitingItem::new(Uuid::from_u128(id), conversation, "", "").id);
        assert!(ids.iter().all(|id| *id >= WaitingItem::FIRST), "{ids:?}");
        assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    }

    #[test]
    fn only_a_change_is_told() {
        let mut shown = Shown::default();
        assert!(shown.change(TrayState::default()), "the first picture");
        assert!(!shown.change(TrayState::default()));
        assert!(shown.change(state(1, 0)));
        assert_eq!(shown.revision, 2);
    }
}
