//! The card of a task that goes on only when a person resumes it.

use crate::{
    font,
    theme::{size, space, style},
    widget::{Element, elide::elided, prose},
    words,
};
use abide_client::protocol::task::PauseReason;
use iced::{
    Fill,
    widget::{column, container},
};

/// Why the task is paused, and what the person can do about it.
pub fn card<'a, Message: 'a>(reason: Option<PauseReason>, what_to_do: &'a str) -> Element<'a, Message> {
    let why = words::sentence(reason.map_or("paused", PauseReason::words));
    let why = elided(why, size::SECONDARY, font::STRONG).style(style::needs_you);
    let content = column![why, prose(what_to_do)].spacing(space::XS);
    container(content).padding([space::M, 14.0]).width(Fill).style(style::needs_you_card).into()
}
