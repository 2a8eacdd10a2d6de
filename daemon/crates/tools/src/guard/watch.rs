//! Notices at once when something changes in a folder from which a person's git would run something new.

use rustix::{
    event::{PollFd, PollFlags, poll},
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};
use std::{
    collections::HashMap,
    io::{self, PipeReader, PipeWriter},
    mem::MaybeUninit,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
};
use tokio::sync::Notify;

/// The watched folders of all commands that run. The commands share one instance of inotify, because a user
/// may have few instances, and one thread that reads its events. The first command starts the thread.
#[derive(Debug, Default)]
pub(crate) struct Watches(Mutex<Option<Running>>);

/// Dropping this value ends the thread.
#[derive(Debug)]
struct Running {
    shared: Arc<Shared>,
    _end: PipeWriter,
}

#[derive(Debug)]
struct Shared {
    inotify: OwnedFd,
    /// The commands that watch a folder, by the folder's inotify descriptor.
    by_folder: Mutex<HashMap<i32, Vec<Weak<Notify>>>>,
}

/// What one command watches.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    changed: Arc<Notify>,
    folders: Vec<i32>,
}

impl Watches {
    /// Watches these folders. A folder that cannot be watched is only looked at after the command.
    pub(crate) fn watch(&self, folders: &[PathBuf]) -> io::Result<Watch> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match &mut *running {
            Some(running) => running,
            none => none.insert(Running::start()?),
        };
        let mut watch =
            Watch { shared: Arc::clone(&running.shared), changed: Arc::default(), folders: Vec::new() };
        watch.extend(folders);
        Ok(watch)
    }
}

impl Running {
    fn start() -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let shared = Arc::new(Shared { inotify, by_folder: Mutex::default() });
        let (ends, end) = io::pipe()?;
        let reading = Arc::clone(&shared);
        thread::Builder::new().name("watches".to_owned()).spawn(move || reading.read_until(&ends))?;
        Ok(Self { shared, _end: end })
    }
}

impl Shared {
    /// Tells commands of changes until the pipe is closed.
    fn read_until(&self, ends: &PipeReader) {
        loop {
            let mut sources = [PollFd::new(&self.inotify, PollFlags::IN), PollFd::new(ends, PollFlags::IN)];
            match poll(&mut sources, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) if !sources[1].revents().is_empty() => return,
                Ok(_) => self.dispatch(),
            }
        }
    }

    /// Wakes the commands that watch a changed folder.
    fn dispatch(&self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.inotify, &mut buffer);
        while let Ok(event) = events.next() {
            let is_overflow = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            let by_folder = self.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
            let told = by_folder.iter().filter(|(folder, _)| is_overflow || **folder == event.wd());
            for command in told.flat_map(|(_, commands)| commands).filter_map(Weak::upgrade) {
                command.notify_one();
            }
        }
    }
}

impl Watch {
    /// Waits until something changes in one of the folders.
    pub(crate) async fn next(&self) {
        self.changed.notified().await;
    }

    /// Watches further folders, beside those that are watched already.
    pub(crate) fn extend(&mut self, folders: &[PathBuf]) {
        let flags = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR;
        let mut by_folder = self.shared.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
        for folder in folders {
            let Ok(watched) = inotify::add_watch(&self.shared.inotify, folder, flags) else { continue };
            if !self.folders.contains(&watched) {
                self.folders.push(watched);
                by_folder.entry(watched).or_default().push(Arc::downgrade(&self.changed));
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut by_folder = self.shared.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
        for folder in &self.folders {
            let Some(commands) = by_folder.get_mut(folder) else { continue };
            commands.retain(|command| command.as_ptr() != Arc::as_ptr(&self.changed));
            if commands.is_empty() {
                by_folder.remove(folder);
                let _ = inotify::remove_watch(&self.shared.inotify, *folder);
            }
        }
    }
}
