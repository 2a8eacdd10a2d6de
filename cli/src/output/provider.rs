//! Providers: a list of them, and what setting up or removing one has done.

use crate::output::{
    measure,
    style::{BAD, FAINT, GOOD, PLAIN, STRONG, paint},
    table::{Cell, cell, table},
    text,
};
use abide_client::protocol::{
    method::{config::ConfigReply, daemon::SetKeyReply},
    provider::{KeyState, ProviderEntry, ProviderInfo},
};
use std::fmt::Write as _;

/// One line for each.
pub(crate) fn list(providers: &[ProviderInfo]) -> String {
    let row = |info: &ProviderInfo| {
        let (key, style) = match info.key {
            KeyState::NotNeeded => ("not needed", PLAIN),
            KeyState::Present => ("there", GOOD),
            KeyState::Missing => ("missing", BAD),
        };
        [
            cell(STRONG, &info.name),
            cell(style, key),
            cell(PLAIN, &info.source),
            cell(PLAIN, &info.api),
            cell(FAINT, &info.base_url),
        ]
    };
    let rows: Vec<_> = providers.iter().map(row).collect();
    table(["NAME", "KEY", "FROM", "API", "ADDRESS"], &rows, text::terminal_width())
}

/// A provider that can be set up.
pub(crate) struct Offer {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What is there of it already.
    pub(crate) state: String,
}

/// The most choices that are shown at once.
const MAX_CHOICES: usize = 20;

/// The providers to choose among, numbered from 1; the last number is any other one.
pub(crate) fn offers(offers: &[Offer]) -> String {
    let row = |(at, offer): (usize, &Offer)| {
        [number(at), cell(STRONG, offer.name), cell(PLAIN, offer.title), cell(GOOD, &offer.state)]
    };
    let mut rows: Vec<_> = offers.iter().enumerate().map(row).collect();
    let other = "a server that you name";
    rows.push([number(offers.len()), cell(STRONG, "other"), cell(PLAIN, other), cell(PLAIN, "")]);
    table(["", "", "", ""], &rows, text::terminal_width())
}

/// Names to choose among, numbered from 1.
pub(crate) fn choices(names: &[impl AsRef<str>]) -> String {
    let row = |(at, name): (usize, &_)| [number(at), cell(PLAIN, AsRef::<str>::as_ref(name))];
    let rows: Vec<_> = names.iter().enumerate().take(MAX_CHOICES).map(row).collect();
    let mut out = table(["", ""], &rows, text::terminal_width());
    if let Some(more) = names.len().checked_sub(MAX_CHOICES).filter(|more| *more > 0) {
        let _ = writeln!(out, "{}", paint(FAINT, &format!("and {more} more: type a part of a name")));
    }
    out
}

fn number(at: usize) -> Cell {
    cell(FAINT, &format!("{}.", at + 1))
}

/// `models`: how many it lists. `model`: the one that was chosen, as `provider/model`.
pub(crate) fn added(
    entry: &ProviderEntry,
    models: usize,
    model: Option<&str>,
    stored: Option<&SetKeyReply>,
    config: &ConfigReply,
) -> String {
    let name = text::one_line(&entry.name);
    let lists = match models {
        0 => String::new(),
        models => format!("; it lists {}", measure::counted(models as u64, "model")),
    };
    let mut out =
        format!("{} is set up in {}{lists}\n", paint(STRONG, &name), text::one_line(&config.file.path));
    if let Some(stored) = stored {
        let _ = writeln!(out, "key stored in {}", text::one_line(&stored.stored_in));
    }
    let default = &config.default.model;
    let is_default = default.split_once('/').is_some_and(|(provider, _)| provider == entry.name);
    let try_it = if is_default && model.is_none_or(|model| model == default) {
        let _ = writeln!(out, "default model: {}", text::one_line(default));
        "abide run \"hello\"".to_owned()
    } else {
        let any = format!("{}/MODEL", entry.name);
        format!("abide run --model {} \"hello\"", text::one_line(model.unwrap_or(&any)))
    };
    let _ = writeln!(out, "try it: {}", paint(STRONG, &try_it));
    out
}

pub(crate) fn removed(name: &str, was_default: bool, config: &ConfigReply, key: &SetKeyReply) -> String {
    let mut out = format!("{} is removed", text::one_line(name));
    if key.had_key {
        out.push_str(", and its stored key");
    }
    out.push('\n');
    if key.stored_in != "nowhere" {
        let _ = writeln!(out, "a key is still in {}", text::one_line(&key.stored_in));
    }
    if was_default {
        let _ =
            writeln!(out, "it had the default model; now it is {}", text::one_line(&config.default.model));
    }
    out
}
