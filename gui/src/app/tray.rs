//! The icon in the tray, whose process the window starts and ends.

use super::{App, Message};
#[cfg(target_os = "linux")]
use crate::tray::keeper;
use iced::{Subscription, Task};

impl App {
    /// Whether the desktop has a tray, while an icon is wanted in it.
    #[cfg(target_os = "linux")]
    pub(super) fn trays(&self) -> Option<Subscription<Message>> {
        let bus = self.bus.as_ref().filter(|_| self.settings.tray)?;
        Some(Subscription::run_with(bus.clone(), keeper::trays).map(|()| Message::TrayFound))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn start_tray(&self) -> Task<Message> {
        let bus = self.bus.clone().filter(|_| self.settings.tray);
        let start = bus.map(|bus| keeper::start(bus, self.daemon.home().clone()));
        start.map_or_else(Task::none, |start| Task::future(start).discard())
    }

    #[cfg(target_os = "linux")]
    fn end_tray(&self) -> Task<Message> {
        let end = self.bus.clone().map(|bus| keeper::end(bus, self.daemon.home().clone()));
        end.map_or_else(Task::none, |end| Task::future(end).discard())
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn trays(&self) -> Option<Subscription<Message>> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn start_tray(&self) -> Task<Message> {
        Task::none()
    }

    #[cfg(not(target_os = "linux"))]
    fn end_tray(&self) -> Task<Message> {
        Task::none()
    }

    /// The person wants the icon, or does not. Where there is a tray, it is started by [`Self::trays`].
    pub(super) fn show_tray(&mut self, wanted: bool) -> Task<Message> {
        self.settings.tray = wanted;
        self.local.keep_settings(&self.settings);
        if wanted { Task::none() } else { self.end_tray() }
    }
}
