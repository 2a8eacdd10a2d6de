//! Events of the window itself: focus, closing, keys.

use super::{App, Dialog, Message, Page, SIZE};
use crate::{attention, effect::Effect, keymap};
use iced::{Event, Size, Task, event, keyboard, window};

/// The window, as the system has it.
#[derive(Debug)]
pub(super) struct WindowState {
    pub(super) id: Option<window::Id>,
    /// In logical pixels.
    pub(super) size: Size,
    /// Whether this window has the keyboard. It has not until the system says so, since a window may open
    /// behind another one.
    pub(super) is_focused: bool,
    /// The desktop's colours are dark.
    pub(super) is_dark: bool,
}

impl Default for WindowState {
    fn default() -> Self {
        Self { id: None, size: SIZE, is_focused: false, is_dark: false }
    }
}

/// What happens to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowEvent {
    /// With this size, in logical pixels.
    Opened(Size<u32>),
    Focused,
    Unfocused,
    CloseRequested,
    /// To this size, in logical pixels.
    Resized(Size<u32>),
}

impl App {
    pub(super) fn on_window(&mut self, id: window::Id, event: WindowEvent) -> Task<Message> {
        self.window.id = Some(id);
        match event {
            WindowEvent::Resized(size) => {
                self.resized(size);
                Task::none()
            }
            WindowEvent::Opened(size) => {
                self.resized(size);
                let keyboard = self.give_keyboard();
                Task::batch([keyboard, fit(id, self.window.size)])
            }
            WindowEvent::Focused => {
                self.window.is_focused = true;
                self.guard.came_back(self.now);
                let read = self.mark_read();
                let known = self.look_again();
                Task::batch([attention::calm(self.window.id), self.tell_focus(), read, known])
            }
            WindowEvent::Unfocused => {
                self.window.is_focused = false;
                self.keep_draft();
                self.tell_focus()
            }
            WindowEvent::CloseRequested => {
                let goes_on = self.overview.tasks().next().is_some();
                if goes_on && !self.settings.knows_closing && self.overlay.dialog != Dialog::Closing {
                    self.show_dialog(Dialog::Closing);
                    return self.perform_one(Effect::Unfocus);
                }
                self.close()
            }
        }
    }

    /// The configuration may have changed while the person was elsewhere: the daemon reads it when asked.
    pub(super) fn look_again(&mut self) -> Task<Message> {
        let effects = match self.page {
            Page::Settings => self.preferences.opened(),
            Page::Memory => self.memory.asks(),
            Page::NewConversation | Page::Conversation | Page::Inbox => return self.ask_what_is_configured(),
        };
        self.perform(effects)
    }

    /// The person knows now that closing stops nothing.
    pub(super) fn close_knowing(&mut self) -> Task<Message> {
        self.settings.knows_closing = true;
        self.local.keep_settings(&self.settings);
        self.close()
    }

    pub(super) fn close(&mut self) -> Task<Message> {
        self.keep_draft();
        iced::exit()
    }
}

/// Maximizes a window that is as large as its screen: its title bar and the bars of the desktop would push an
/// edge out of reach. Where no window manager does that, it is at least not larger than the screen.
fn fit(id: window::Id, size: Size) -> Task<Message> {
    window::monitor_size(id).and_then(move |screen| {
        if size.width < screen.width && size.height < screen.height {
            return Task::none();
        }
        let fitting = Size::new(size.width.min(screen.width), size.height.min(screen.height));
        window::resize(id, fitting).chain(window::maximize(id, true))
    })
}

/// Keys that no field has taken, and events of the window.
#[must_use]
pub fn heard(event: Event, status: event::Status, window: window::Id) -> Option<Message> {
    match event {
        Event::Keyboard(keyboard::Event::KeyPressed {
            key,
            modified_key,
            physical_key,
            modifiers,
            repeat,
            text,
            ..
        }) if status == event::Status::Ignored => {
            let command = keymap::command(&keymap::meant(&key, physical_key), modifiers)
                .or_else(|| keymap::command(&modified_key, modifiers))
                .or_else(|| keymap::typed(&key, modifiers))
                .filter(|command| !repeat || command.repeats())?;
            let letter = text.filter(|text| command.writes() && !text.contains(is_no_letter));
            Some(letter.map_or(Message::Key(command), |letter| Message::Letter(letter.into(), command)))
        }
        Event::Window(window::Event::FileDropped(path)) => Some(Message::FileDropped(path)),
        Event::Window(event) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels of a window")]
            let whole = |size: Size| Size::new(size.width.round() as u32, size.height.round() as u32);
            let event = match event {
                window::Event::Resized(size) => WindowEvent::Resized(whole(size)),
                window::Event::Opened { size, .. } => WindowEvent::Opened(whole(size)),
                window::Event::Focused => WindowEvent::Focused,
                window::Event::Unfocused => WindowEvent::Unfocused,
                window::Event::CloseRequested => WindowEvent::CloseRequested,
                _ => return None,
            };
            Some(Message::Window(window, event))
        }
        _ => None,
    }
}

/// A letter that may begin a text is none of these.
fn is_no_letter(c: char) -> bool {
    c.is_control() || c.is_whitespace()
}
