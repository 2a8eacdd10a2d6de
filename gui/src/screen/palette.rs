//! The palette: every action with its key, found by a few letters; and models, personas, templates and tools
//! to choose from.

use crate::{
    effect::field,
    font,
    keymap::{self, Command, Entry},
    screen::composer::{Change, ModeChoice, ModelChoice, Offered},
    theme::{size, space, style},
    widget::{Element, elide::elided, field::field, key, press::press, prose, secondary},
};
use abide_client::protocol::task::Mode;
use iced::{
    Center, Fill,
    mouse::ScrollDelta,
    widget::{Column, column, container, mouse_area, row, scrollable},
};

/// The most rows drawn; the picked one is among them.
const ROWS: usize = 10;
/// The height of a row, in logical pixels.
const ROW: f32 = 33.0;
/// The height of the palette with all rows that it draws at once, in logical pixels.
const HEIGHT: f32 = 62.0 + 10.0 * ROW;

/// What it offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// The actions, and the modes of the next task; this one is the default.
    Commands(Mode),
    Models(Vec<ModelChoice>),
    /// Personas, templates and tools.
    Setup(Vec<Offered>),
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    offer: Offer,
    query: String,
    /// The row that Enter submits.
    at: usize,
    /// The first row that is drawn.
    first: usize,
}

#[derive(Debug, Clone)]
pub enum Message {
    QueryChanged(String),
    /// The picked row was submitted by Enter, or a row was clicked.
    Submitted,
    Pressed(Pick),
    /// The wheel was turned, by so many rows.
    Scrolled(isize),
}

/// The result of submitting a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    Command(Command),
    /// Goes to the card that this row's key would decide.
    Card,
    Model(ModelChoice),
    Mode(ModeChoice),
    Setup(Change),
}

/// A row.
struct Item {
    group: &'static str,
    what: String,
    keys: &'static str,
    /// Whether it is chosen now.
    is_so: bool,
    pick: Pick,
}

impl Palette {
    #[must_use]
    pub const fn of(offer: Offer) -> Self {
        Self { offer, query: String::new(), at: 0, first: 0 }
    }

    /// Replaces what is offered, if it is models or a setup; the picked row stays picked.
    pub fn renew(&mut self, models: Vec<ModelChoice>, setups: Vec<Offered>) {
        match &mut self.offer {
            Offer::Commands(_) => return,
            Offer::Models(known) => *known = models,
            Offer::Setup(known) => *known = setups,
        }
        self.step(0);
    }

    /// Returns what was picked, if something was.
    pub fn update(&mut self, message: Message) -> Option<Pick> {
        match message {
            Message::QueryChanged(query) => {
                (self.query, self.at, self.first) = (query, 0, 0);
                None
            }
            Message::Submitted => self.found().into_iter().nth(self.at).map(|item| item.pick),
            Message::Pressed(pick) => Some(pick),
            Message::Scrolled(by) => {
                self.scroll(by);
                None
            }
        }
    }

    /// Picks another row.
    pub fn step(&mut self, by: isize) {
        let last = self.found().len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
        self.first = self.first.clamp((self.at + 1).saturating_sub(ROWS), self.at);
    }

    /// Draws other rows; the picked one is among them.
    fn scroll(&mut self, by: isize) {
        let most = self.found().len().saturating_sub(ROWS);
        self.first = self.first.saturating_add_signed(by).min(most);
        self.at = self.at.clamp(self.first, self.first + ROWS - 1);
    }

    /// Rows that contain all words of the query. Rows in which each word begins a word come first.
    fn found(&self) -> Vec<Item> {
        let query = self.query.to_lowercase();
        let said = |item: &Item| format!("{} {}", item.group, item.what).to_lowercase();
        let fits = |item: &Item| query.split_whitespace().all(|word| said(item).contains(word));
        let begins = |item: &Item| query.split_whitespace().all(|word| begins_a_word(&said(item), word));
        let (mut found, rest): (Vec<_>, Vec<_>) = self.items().into_iter().filter(fits).partition(begins);
        found.extend(rest);
        found
    }

    fn items(&self) -> Vec<Item> {
        match &self.offer {
            Offer::Commands(default) => {
                let entries =
                    keymap::MAP.iter().flat_map(|(group, all)| all.iter().map(move |e| (*group, e)));
                let modes = Mode::ALL.iter().copied().map(ModeChoice).map(|mode| Item {
                    group: "Mode",
                    what: format!("{}{}", mode.line(), if mode.0 == *default { " (default)" } else { "" }),
                    keys: "",
                    is_so: false,
                    pick: Pick::Mode(mode),
                });
                entries.filter_map(|(group, entry)| item(group, entry)).chain(modes).collect()
            }
            Offer::Setup(offered) => offered
                .iter()
                .map(|offered| Item {
                    group: offered.group,
                    what: offered.what.clone(),
                    keys: "",
                    is_so: offered.is_so,
                    pick: Pick::Setup(offered.change.clone()),
                })
                .collect(),
            Offer::Models(models) => models
                .iter()
                .map(|model| Item {
                    group: "Model",
                    what: model.to_string(),
                    keys: "",
                    is_so: false,
                    pick: Pick::Model(model.clone()),
                })
                .collect(),
        }
    }

    /// How far from the window's top it begins, in logical pixels: as if it had all of its rows, so that it
    /// stays where it is while they become fewer.
    #[must_use]
    pub fn top(window: f32) -> f32 {
        ((window - HEIGHT) / 2.0).max(0.0)
    }

    #[must_use]
    pub fn view(&self) -> Element<'_, Message> {
        let hint = match self.offer {
            Offer::Commands(_) => "What to do",
            Offer::Models(_) => "Which model the next task has",
            Offer::Setup(_) => "Which persona, template and tools the next task has",
        };
        let input = field(hint, (size::PROSE, [9.0, 12.0]), &self.query, Message::QueryChanged, |input| {
            input.id(field::PALETTE).on_submit(Message::Submitted)
        });
        let found = self.found();
        let is_empty = found.is_empty();
        let rows = found.into_iter().enumerate().skip(self.first).take(ROWS).map(|(at, item)| {
            let state = (!item.keys.is_empty()).then(|| key(item.keys).into());
            let state = state.or_else(|| item.is_so.then(|| prose("✓").style(style::accent).into()));
            let label =
                row![secondary(item.group).width(space::KEYS), elided(item.what, size::PROSE, font::MEDIUM),]
                    .extend(state)
                    .spacing(space::S)
                    .align_y(Center);
            press(label)
                .padding([6.0, 10.0])
                .width(Fill)
                .style(style::palette_row(at == self.at))
                .on_press(Message::Pressed(item.pick))
                .into()
        });
        let mut list = Column::with_children(rows);
        if is_empty {
            list = list.push(container(secondary("Nothing is called that.")).padding([6.0, 10.0]));
        }
        // In a low window not even the drawn rows have room: then they scroll before others are drawn.
        let list = mouse_area(scrollable(list).style(style::bars));
        let list = list.on_scroll(|delta| Message::Scrolled(rows_of(delta)));
        let content = column![input, list].spacing(space::S).padding(space::M);
        container(content).max_width(space::DIALOG).style(style::dialog).into()
    }
}

/// By how many rows the list moves, down if positive.
fn rows_of(delta: ScrollDelta) -> isize {
    let rows = match delta {
        ScrollDelta::Lines { y, .. } => y,
        ScrollDelta::Pixels { y, .. } => y / ROW,
    };
    // A touchpad moves by less than a row.
    let by = rows.abs().ceil().min(100.0);
    #[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
    let by = by as isize;
    if rows > 0.0 { -by } else { by }
}

fn begins_a_word(said: &str, word: &str) -> bool {
    said.match_indices(word).any(|(at, _)| !said[..at].ends_with(char::is_alphanumeric))
}

/// An action and its key. A card is decided at the card, where it is visible.
fn item(group: &'static str, entry: &'static Entry) -> Option<Item> {
    let command = entry.command?;
    let (what, pick) = if command.decides() {
        (format!("to the card: {}", entry.what), Pick::Card)
    } else {
        (entry.what.to_owned(), Pick::Command(command))
    };
    Some(Item { group, what, keys: entry.keys, is_so: false, pick })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_letters_find_an_action() {
        let mut palette = Palette::of(Offer::Commands(Mode::Auto));
        assert_eq!(palette.update(Message::QueryChanged("order archive".to_owned())), None);
        assert_eq!(palette.update(Message::Submitted), Some(Pick::Command(Command::Archive)));
        palette.update(Message::QueryChanged("no such thing".to_owned()));
        assert_eq!(palette.update(Message::Submitted), None);
    }

    #[test]
    fn the_beginning_of_a_word_comes_before_its_middle() {
        let mut palette = Palette::of(Offer::Commands(Mode::Auto));
        palette.update(Message::QueryChanged("arch".to_owned()));
        let found = palette.found();
        let picks = |command| found.iter().position(|item| item.pick == Pick::Command(command));
        assert_eq!(picks(Command::Archive), Some(0));
        assert!(picks(Command::Search).is_some(), "it is found still");
    }

    #[test]
    fn nothing_that_waits_for_a_person_is_decided_here() {
        let palette = Palette::of(Offer::Commands(Mode::Auto));
        assert!(palette.found().iter().all(|item| match &item.pick {
            Pick::Command(command) => !command.decides() && *command != Command::Confirm,
            Pick::Card => true,
            Pick::Mode(_) => true,
            Pick::Model(_) | Pick::Setup(_) => false,
        }));
    }

    #[test]
    fn the_arrows_stay_among_the_rows() {
        let mut palette = Palette::of(Offer::Models(vec![
            ModelChoice::Named("a/1".to_owned()),
            ModelChoice::Named("a/2".to_owned()),
        ]));
        palette.step(-1);
        palette.step(5);
        let second = Pick::Model(ModelChoice::Named("a/2".to_owned()));
        assert_eq!(palette.update(Message::Submitted), Some(second));
    }
}
