//! Points at which a test makes the daemon die: right before and right after everything that it writes down or begins.
//!
//! `ABIDE_FAIL_POINT=NAME:COUNT` ends the process by SIGKILL when it passes the point for the COUNT-th time. The variable is read
//! once. Only a build with debug assertions looks at it: in a release [`pass`] is nothing at all, so no environment can make a
//! release die, and no branch is paid for. (Not a cargo feature: features of one build are unified, and a release that is built
//! beside the tests would have it.) The processes that the daemon starts do not inherit the variable.

/// The variable.
pub const VARIABLE: &str = "ABIDE_FAIL_POINT";

/// A moment in the daemon's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// A new database is complete, but does not have its name yet.
    DatabaseMade,
    /// It has its name; the folder is not synced.
    DatabaseNamed,
    /// The schema is changed, but not committed.
    Migrating,
    /// An input is folded into memory and nothing of it is stored.
    Append,
    /// All statements of a transaction are done, but for its commit.
    Commit,
    /// It is on disk, and nobody knows.
    Committed,
    /// Subscribers are told; whoever asked is not.
    Published,
    /// The log is about to be brought into the database.
    Checkpoint,
    /// It has been.
    Checkpointed,
    /// A request is done and its reply not sent.
    Acknowledge,
    /// A model is about to be asked; what leads to it may not be on disk yet.
    ModelCall,
    /// The model's reply is whole, and in memory alone.
    ModelReplied,
    /// A tool's start is on disk, and nothing has begun.
    ToolStart,
    /// A command's helper runs, and nobody has noted who it is.
    HelperStarted,
    /// It is noted, and does not know what to run.
    HelperNoted,
    /// It knows: the command may run.
    CommandOrdered,
    /// Some output of a command is kept.
    OutputKept,
    /// An edit's new content lies beside the file.
    EditWritten,
    /// It has taken the file's place.
    EditDone,
    /// A tool's result is known, and in memory alone.
    ToolFinished,
    /// A tool's result is on disk, and its kept output not yet dropped.
    OutputDropped,
}

impl Point {
    pub const ALL: [Self; 21] = [
        Self::DatabaseMade,
        Self::DatabaseNamed,
        Self::Migrating,
        Self::Append,
        Self::Commit,
        Self::Committed,
        Self::Published,
        Self::Checkpoint,
        Self::Checkpointed,
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
    ];

    /// As [`VARIABLE`] says it.
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
            Self::Checkpoint => "checkpoint",
            Self::Checkpointed => "checkpointed",
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
        }
    }
}

/// The daemon is at that point; it may be its last.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub const fn pass(_: Point) {}

/// The daemon is at that point; it may be its last.
#[cfg(debug_assertions)]
pub fn pass(point: Point) {
    armed::pass(point);
}

#[cfg(debug_assertions)]
mod armed {
    use super::{Point, VARIABLE};
    use std::sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    };

    static TARGET: OnceLock<Option<Target>> = OnceLock::new();

    struct Target {
        point: Point,
        /// How often it may still be passed.
        left: AtomicU64,
    }

    pub(super) fn pass(point: Point) {
        let target = TARGET.get_or_init(|| read(&std::env::var(VARIABLE).ok()?));
        if let Some(target) = target
            && target.point == point
            && target.left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            die();
        }
    }

    fn read(words: &str) -> Option<Target> {
        let (name, count) = words.split_once(':')?;
        let point = Point::ALL.into_iter().find(|point| point.name() == name)?;
        Some(Target { point, left: AtomicU64::new(count.parse().ok()?) })
    }

    /// Nothing is flushed, nothing is dropped.
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
                assert_eq!(read(&format!("{}:3", point.name())).map(|t| t.point), Some(point));
            }
            for words in ["", "commit", "commit:", "commit:x", "no-such-point:1"] {
                assert!(read(words).is_none(), "{words}");
            }
        }
    }
}
