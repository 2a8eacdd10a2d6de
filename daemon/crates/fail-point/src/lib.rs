//! Fail points, at which a test kills the daemon: right before and right after everything that it writes or
//! starts.
//!
//! `ABIDE_FAIL_POINT=NAME:COUNT` ends the process by SIGKILL when it passes the point for the COUNT-th time.
//! The variable is read once, and only in builds with debug assertions: in a release build [`pass`] is empty.
//! (Not a cargo feature: features of one build are unified, so a release built beside the tests would have
//! it.) Processes that the daemon starts do not inherit the variable.
//!
//! `ABIDE_SLOW_POINT=NAME:MS` makes each passing of a point take so long, as a slow disk does.

/// The name of the environment variable that kills.
pub const VARIABLE: &str = "ABIDE_FAIL_POINT";

/// The name of the environment variable that delays.
pub const SLOW_VARIABLE: &str = "ABIDE_SLOW_POINT";

/// A fail point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// A new database is complete, but does not have its name yet.
    DatabaseMade,
    /// The database has its name; the folder is not synced.
    DatabaseNamed,
    /// The schema is changed, but not committed.
    Migrating,
    /// An input is folded into memory, and nothing of it is committed.
    Append,
    /// All statements of a transaction are executed, but it is not committed.
    Commit,
    /// The transaction is committed, and nothing is published.
    Committed,
    /// The commit is published, and the callers have no reply.
    Published,
    /// The database's log (WAL) is about to be written back.
    WalWriteBack,
    /// It is written back.
    WalWrittenBack,
    /// A request is done, and its reply not sent.
    Acknowledge,
    /// A model is about to be asked; the records that led to it may not be committed yet.
    ModelCall,
    /// The model's reply is complete, and only in memory.
    ModelReplied,
    /// The start of a tool call is committed, and nothing has run.
    ToolStart,
    /// A command's helper runs, and its identity is not noted.
    HelperStarted,
    /// The helper's identity is noted, and it has no command yet.
    HelperNoted,
    /// The helper has its command, which may run.
    CommandOrdered,
    /// Some output of a command is kept.
    OutputKept,
    /// An edit's new content is written beside the file.
    EditWritten,
    /// The new content has replaced the file.
    EditDone,
    /// A tool's result is known, and only in memory.
    ToolFinished,
    /// A tool's result is committed, and its kept output not yet deleted.
    OutputDropped,
    /// The files of a work tree are kept as a commit, which no reference names yet.
    FilesSaved,
    /// The reference names it, and no record does.
    FilesReferred,
    /// An undo has kept the files as they are, and has changed none.
    UndoBegun,
    /// An undo has restored a file.
    FileRestored,
    /// An undo has restored all files, and no record says so.
    UndoDone,
    /// It is noted that a worktree will be made, and git has not begun.
    WorktreeNoted,
    /// Git has made the worktree, and the note does not say so.
    WorktreeMade,
    /// All parts of the daemon have ended, and the program that takes its place is about to be executed.
    HandOver,
}

impl Point {
    pub const ALL: [Self; 29] = [
        Self::DatabaseMade,
        Self::DatabaseNamed,
        Self::Migrating,
        Self::Append,
        Self::Commit,
        Self::Committed,
        Self::Published,
        Self::WalWriteBack,
        Self::WalWrittenBack,
        Self::Acknowledge,
        Self::ModelCall,
        Self::ModelReplied,
        Self::ToolStart,
        Self::HelperStarted,
        Self::HelperNoted,
        Self::CommandOrdered,
        Self::OutputKept,
        Self::EditWritten,
        Self::EditDone,
        Self::ToolFinished,
        Self::OutputDropped,
        Self::FilesSaved,
        Self::FilesReferred,
        Self::UndoBegun,
        Self::FileRestored,
        Self::UndoDone,
        Self::WorktreeNoted,
        Self::WorktreeMade,
        Self::HandOver,
    ];

    /// The name in [`VARIABLE`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DatabaseMade => "database-made",
            Self::DatabaseNamed => "database-named",
            Self::Migrating => "migrating",
            Self::Append => "append",
            Self::Commit => "commit",
            Self::Committed => "committed",
            Self::Published => "published",
            Self::WalWriteBack => "wal-write-back",
            Self::WalWrittenBack => "wal-written-back",
            Self::Acknowledge => "acknowledge",
            Self::ModelCall => "model-call",
            Self::ModelReplied => "model-replied",
            Self::ToolStart => "tool-start",
            Self::HelperStarted => "helper-started",
            Self::HelperNoted => "helper-noted",
            Self::CommandOrdered => "command-ordered",
            Self::OutputKept => "output-kept",
            Self::EditWritten => "edit-written",
            Self::EditDone => "edit-done",
            Self::ToolFinished => "tool-finished",
            Self::OutputDropped => "output-dropped",
            Self::FilesSaved => "files-saved",
            Self::FilesReferred => "files-referred",
            Self::UndoBegun => "undo-begun",
            Self::FileRestored => "file-restored",
            Self::UndoDone => "undo-done",
            Self::WorktreeNoted => "worktree-noted",
            Self::WorktreeMade => "worktree-made",
            Self::HandOver => "hand-over",
        }
    }
}

/// Passes a fail point: kills the daemon if [`VARIABLE`] names it, and takes time if [`SLOW_VARIABLE`] does.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub const fn pass(_: Point) {}

/// Passes a fail point: kills the daemon if [`VARIABLE`] names it, and takes time if [`SLOW_VARIABLE`] does.
#[cfg(debug_assertions)]
pub fn pass(point: Point) {
    armed::pass(point);
}

#[cfg(debug_assertions)]
mod armed {
    use super::{Point, SLOW_VARIABLE, VARIABLE};
    use std::{
        sync::{
            LazyLock,
            atomic::{AtomicU64, Ordering},
        },
        time::Duration,
    };

    /// A point and the passes left until the kill.
    static KILL: LazyLock<Option<(Point, AtomicU64)>> = LazyLock::new(|| {
        let (point, count) = read(&std::env::var(VARIABLE).ok()?)?;
        Some((point, AtomicU64::new(count)))
    });

    /// A point and how long each passing takes.
    static SLOW: LazyLock<Option<(Point, Duration)>> = LazyLock::new(|| {
        let (point, ms) = read(&std::env::var(SLOW_VARIABLE).ok()?)?;
        Some((point, Duration::from_millis(ms)))
    });

    #[expect(clippy::disallowed_methods, reason = "the time itself is what the test asks for")]
    pub(super) fn pass(point: Point) {
        if let Some((slow, time)) = &*SLOW
            && *slow == point
        {
            std::thread::sleep(*time);
        }
        if let Some((target, left)) = &*KILL
            && *target == point
            && left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            die();
        }
    }

    /// A variable's value: a point and a number.
    fn read(words: &str) -> Option<(Point, u64)> {
        let (name, number) = words.split_once(':')?;
        let point = Point::ALL.into_iter().find(|point| point.name() == name)?;
        Some((point, number.parse().ok()?))
    }

    /// Ends the process without flushing or dropping anything.
    fn die() -> ! {
        #[cfg(unix)]
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort()
    }

    #[cfg(test)]
    mod tests {
        use super::{Point, read};

        #[test]
        fn a_point_is_found_by_its_name_and_anything_else_is_none() {
            for point in Point::ALL {
                assert_eq!(read(&format!("{}:3", point.name())), Some((point, 3)));
            }
            for words in ["", "commit", "commit:", "commit:x", "no-such-point:1"] {
                assert!(read(words).is_none(), "{words}");
            }
        }
    }
}
