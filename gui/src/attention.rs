//! The window's title and urgency hint, which are seen while the window is not.

use crate::words::plain_title;
use iced::{
    Task,
    window::{self, UserAttention},
};

/// `(2) Fix flaky login test – Abide`
#[must_use]
pub fn title(waiting: usize, conversation: Option<&str>) -> String {
    let count = if waiting > 0 { format!("({waiting}) ") } else { String::new() };
    match conversation.map(plain_title).filter(|title| !title.is_empty()) {
        Some(title) => format!("{count}{title} – Abide"),
        None => format!("{count}Abide"),
    }
}

/// Sets the urgency hint.
pub fn call<T>(window: Option<window::Id>) -> Task<T> {
    window.map_or_else(Task::none, |id| window::request_user_attention(id, Some(UserAttention::Critical)))
}

/// Brings the window to the front and gives it the keyboard, where the desktop allows that. (On Wayland no
/// window may raise itself, and winit takes no token for an open one.)
pub fn raise<T: 'static>(window: Option<window::Id>) -> Task<T> {
    window.map_or_else(Task::none, |id| Task::batch([window::minimize(id, false), window::gain_focus(id)]))
}

/// Clears it: the person has come.
pub fn calm<T>(window: Option<window::Id>) -> Task<T> {
    window.map_or_else(Task::none, |id| window::request_user_attention(id, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_says_what_waits() {
        assert_eq!(title(0, None), "Abide");
        assert_eq!(title(2, Some("Fix it")), "(2) Fix it – Abide");
        assert_eq!(title(1, Some("")), "(1) Abide");
        assert_eq!(title(0, Some("Fix **it**\u{1b}")), "Fix it\\x1b – Abide");
    }
}
