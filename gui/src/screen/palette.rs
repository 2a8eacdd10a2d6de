//! The palette: every action with its key, found by a few letters; and the models to choose from.

use crate::{
    effect::field,
    font,
    keymap::{self, Command, Entry},
    screen::composer::{ModeChoice, ModelChoice},
    theme::{size, space, style},
    widget::{Element, field::field, key, press::press, prose, secondary},
};
use abide_client::protocol::task::Mode;
use iced::{
    Center, Fill,
    widget::{Column, column, container, row, scrollable},
};

/// The most rows drawn; the picked one is among them.
const ROWS: usize = 10;

/// What it offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// The actions, and the modes of the next task; this one is the default.
    Commands(Mode),
    Models(Vec<ModelChoice>),
}

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    offer: Offer,
    query: String,
    /// The row that Enter submits.
    at: usize,
}

#[derive(Debug, Clone)]
pub enum Message {
    QueryChanged(String),
    /// The picked row was submitted by Enter, or a row was clicked.
    Submitted,
    Pressed(Pick),
}

/// The result of submitting a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    Command(Command),
    /// Goes to the card that this row's key would decide.
    Card,
    Model(ModelChoice),
    Mode(ModeChoice),
}

/// A row.
struct Item {
    group: &'static str,
    what: String,
    keys: &'static str,
    pick: Pick,
}

impl Palette {
    #[must_use]
    pub const fn of(offer: Offer) -> Self {
        Self { offer, query: String::new(), at: 0 }
    }

    /// Replaces the models, if models are offered; the picked row stays picked.
    pub fn renew(&mut self, models: Vec<ModelChoice>) {
        let Offer::Models(known) = &mut self.offer else { return };
        *known = models;
        self.step(0);
    }

    /// Returns what was picked, if something was.
    pub fn update(&mut self, message: Message) -> Option<Pick> {
        match message {
            Message::QueryChanged(query) => {
                (self.query, self.at) = (query, 0);
                None
            }
            Message::Submitted => self.found().into_iter().nth(self.at).map(|item| item.pick),
            Message::Pressed(pick) => Some(pick),
        }
    }

    /// Picks another row.
    pub fn step(&mut self, by: isize) {
        let last = self.found().len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
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
                    pick: Pick::Mode(mode),
                });
                entries.filter_map(|(group, entry)| item(group, entry)).chain(modes).collect()
            }
            Offer::Models(models) => models
                .iter()
                .map(|model| Item {
                    group: "Model",
                    what: model.to_string(),
                    keys: "",
                    pick: Pick::Model(model.clone()),
                })
                .collect(),
        }
    }

    #[must_use]
    pub fn view(&self) -> Element<'_, Message> {
        let hint = match self.offer {
            Offer::Commands(_) => "What to do",
            Offer::Models(_) => "Which model the next task has",
        };
        let input = field(hint, (size::PROSE, [9.0, 12.0]), &self.query, Message::QueryChanged, |input| {
            input.id(field::PALETTE).on_submit(Message::Submitted)
        });
        let found = self.found();
        let is_empty = found.is_empty();
        let first = (self.at + 1).saturating_sub(ROWS);
        let rows = found.into_iter().enumerate().skip(first).take(ROWS).map(|(at, item)| {
            let label = row![
                secondary(item.group).width(space::KEYS),
                prose(item.what).font(font::MEDIUM).width(Fill),
            ]
            .extend((!item.keys.is_empty()).then(|| key(item.keys).into()))
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
        let content =
            column![input, scrollable(list).style(style::bars),].spacing(space::S).padding(space::M);
        container(content).max_width(space::DIALOG).style(style::dialog).into()
    }
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
    Some(Item { group, what, keys: entry.keys, pick })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_letters_find_an_action() {
        let mut palette = Palette::of(Offer::Commands(Mode::Auto));
        assert_eq!(palette.update(Message::QueryChanged("conv archive".to_owned())), None);
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
            Pick::Model(_) => false,
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
