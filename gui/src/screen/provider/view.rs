//! Draws the cards and the form.

use super::{ANOTHER, Asked, Form, Message, Setup};
use crate::{
    effect::field,
    font,
    theme::{size, space, style},
    widget::{Element, action, beside, field::field, press::press, prose, secondary, word},
    words,
};
use abide_client::protocol::{
    method::daemon::ListModelsReply,
    provider::{APIS, KNOWN, KnownProvider},
};
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{Column, Row, column, row, text},
};

/// The vendors that have a card.
const CARDS: [&str; 3] = ["anthropic", "openai", "openrouter"];
/// The most models that are offered at once.
const MOST: usize = 6;
const SHAPE: (f32, [f32; 2]) = (size::PROSE, [6.0, 10.0]);

impl Setup {
    /// The cards, or the form. `may_keep`: it can be stored without a model for new conversations.
    #[must_use]
    pub fn view<'a>(&'a self, models: &ListModelsReply, may_keep: bool) -> Element<'a, Message> {
        match self {
            Self::Closed | Self::Choosing => cards(models, self.is_open()),
            Self::Form(form) => form.view(may_keep),
        }
    }
}

fn cards<'a>(models: &ListModelsReply, can_close: bool) -> Element<'a, Message> {
    let vendors = KNOWN.iter().filter(|known| CARDS.contains(&known.name)).map(|known| (known, "with a key"));
    let found = KNOWN.iter().filter(|known| known.is_local()).filter_map(|known| {
        let there = models.providers.iter().find(|there| there.name == known.name)?;
        let what = if there.models.is_empty() { "has no model yet" } else { "on this computer" };
        Some((known, what))
    });
    let all: Vec<(&'static KnownProvider, &str)> = vendors.chain(found).collect();
    let is_here = all.iter().any(|(known, _)| known.is_local());
    let card = |title, what, message| {
        let words = column![text(title).size(size::PROSE).font(font::MEDIUM), secondary(what)];
        press(words)
            .padding([space::S, space::M])
            .width(space::OFFER)
            .style(style::secondary)
            .on_press(message)
    };
    let first = all.first().map(|(known, _)| known.name);
    let cards = all.into_iter().map(|(known, what)| {
        let card = card(known.title, what, Message::Chosen(Some(known)));
        if Some(known.name) == first { card.id(field::PROVIDER) } else { card }.into()
    });
    let other = card(ANOTHER, "any address", Message::Chosen(None));
    let cards = Row::with_children(cards).push(other).spacing(space::S).wrap().vertical_spacing(space::S);
    let look = (!is_here).then(|| {
        let words = beside("A model on this computer (Ollama, llama-server) is found when it runs.");
        row![words, word("Look again", Message::LookPressed)].align_y(Center).wrap().into()
    });
    let close = can_close.then(|| word("Cancel", Message::Cancelled).into());
    Column::new().push(cards).extend(look).extend(close).spacing(space::S).into()
}

impl Form {
    fn view(&self, may_keep: bool) -> Element<'_, Message> {
        let head = row![
            prose(visible_line(&self.title()).into_owned()).font(font::STRONG).width(Fill),
            word("Cancel", Message::Cancelled)
        ];
        let parts = [
            Some(head.align_y(Center).into()),
            (self.known.is_none() && self.there.is_none()).then(others),
            self.has_address().then(|| self.address()),
            self.keys_at(),
            Some(self.key()),
            self.said(),
            self.models.as_ref().map(|models| self.model(models)),
            may_keep.then(|| self.keep()),
        ];
        Column::with_children(parts.into_iter().flatten()).spacing(space::S).into()
    }

    fn address(&self) -> Element<'_, Message> {
        let hint = "https://llm.example/v1";
        let address = field(hint, SHAPE, &self.base_url, Message::AddressTyped, |input| {
            input.id(field::ADDRESS).on_submit(Message::TestPressed)
        });
        let apis = APIS.map(|api| {
            let style = if api == self.api { style::chosen } else { style::quiet };
            word(api, Message::ApiPicked(api)).style(style).into()
        });
        let apis = Row::new().extend(apis).spacing(space::XS).wrap().into();
        column![line("Address", address), line("API", apis)].spacing(space::S).into()
    }

    /// Where a key is made, as words: nothing here opens a browser.
    fn keys_at(&self) -> Option<Element<'_, Message>> {
        let at = self.known.map(|known| known.keys_at).filter(|at| !at.is_empty())?;
        Some(secondary(format!("Its keys are made at {at}.")).into())
    }

    fn key(&self) -> Element<'_, Message> {
        let hint = match (self.has_key, super::wants_key(&self.base_url)) {
            (true, _) => "A key is stored; paste another one to replace it",
            (false, true) => "Paste the key",
            (false, false) => "Paste the key, if it needs one",
        };
        let key = field(hint, SHAPE, &self.key, Message::KeyTyped, |input| {
            input.id(field::KEY).secure(true).on_submit(Message::TestPressed)
        });
        let test = action("Test", None).on_press(Message::TestPressed);
        let test = test.style(if self.models.is_none() { style::primary } else { style::secondary });
        line("Key", row![key, test].spacing(space::S).align_y(Center).into())
    }

    /// What the last test said, or what is being asked.
    fn said(&self) -> Option<Element<'_, Message>> {
        let asked = match self.asked {
            Some(Asked::List) => Some("Asking it for its models…".to_owned()),
            Some(Asked::Words) => Some(format!("Asking {} for a few words…", visible_line(&self.model))),
            Some(Asked::Store) => Some("Storing it…".to_owned()),
            None => None,
        };
        if let Some(words) = asked {
            return Some(secondary(words).into());
        }
        if let Some(failed) = &self.failed {
            let words = prose(visible_line(&failed.words).into_owned()).style(style::bad);
            let near = failed.near.as_ref().map(|near| {
                let words = beside(format!("{} answers.", visible_line(near)));
                row![words, word("Take that address", Message::NearPressed)].align_y(Center).wrap().into()
            });
            let anyway = failed.is_model.then(|| word("Use it all the same", Message::AnywayPressed).into());
            return Some(column![words].extend(near).extend(anyway).into());
        }
        let listed = self.models.as_ref()?.len();
        let words = format!("It answers: {}.", words::counted(listed as u64, "model"));
        Some(prose(words).style(style::ok).into())
    }

    /// Its models, of which those are offered that contain what is typed.
    fn model<'a>(&'a self, models: &'a [String]) -> Element<'a, Message> {
        let hint =
            if models.is_empty() { "the name of its model" } else { "type a part of its name, or click one" };
        let model = field(hint, SHAPE, &self.model, Message::ModelTyped, |input| {
            input.id(field::MODEL).on_submit(Message::UsePressed)
        });
        let used = action("Use it", None).style(style::primary).on_press(Message::UsePressed);
        let fitting = self.fitting(models);
        let more = fitting.len().saturating_sub(MOST);
        let offers =
            fitting.into_iter().filter(|model| *model != self.model.trim()).take(MOST).map(|model| {
                let message = Message::ModelPicked(model.to_owned());
                word(visible_line(model).into_owned(), message).into()
            });
        let more = (more > 0).then(|| beside(format!("and {more} more")).into());
        let offers = Row::new().extend(offers).extend(more).spacing(space::XS).align_y(Center);
        let model = line("Model", row![model, used].spacing(space::S).align_y(Center).into());
        column![model, offers.wrap().vertical_spacing(space::XS)].spacing(space::XS).into()
    }

    fn keep(&self) -> Element<'_, Message> {
        let remove = self
            .is_kept
            .then(|| action("Remove", None).style(style::danger).on_press(Message::RemovePressed).into());
        let keep = action("Save", None).style(style::secondary).on_press(Message::SavePressed);
        row![keep].extend(remove).spacing(space::S).into()
    }
}

/// Those that are known by name and have no card.
fn others<'a>() -> Element<'a, Message> {
    let others = KNOWN.iter().filter(|known| !CARDS.contains(&known.name) && !known.is_local());
    let others = others.map(|known| word(known.title, Message::Chosen(Some(known))).into());
    Row::new().push(beside("Known by name:")).extend(others).align_y(Center).wrap().into()
}

fn line<'a>(name: &'a str, content: Element<'a, Message>) -> Element<'a, Message> {
    row![beside(name).width(space::FORM), content].spacing(space::S).align_y(Center).into()
}
