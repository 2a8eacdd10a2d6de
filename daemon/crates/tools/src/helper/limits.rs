//! The limits of a command. The kernel bounds the memory of a process tree only in a control group, which few
//! users may make, and bounds no folder. So the helper measures from time to time what the command uses, more
//! often when little is left.

use crate::{
    CommandLimits,
    process::Usage,
    sandbox::{Confinement, taken},
};
use rustix::process::getpid;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The longest time between two looks. Hardly any program fills a machine's memory in less.
const LONGEST: Duration = Duration::from_secs(1);

/// The shortest time between two looks, and the time until the first look.
const SHORTEST: Duration = Duration::from_millis(100);

/// The time between two looks is at least this many times the time of a look, so that looking costs little.
const TIMES: u32 = 20;

const MIB: u64 = 1 << 20;

/// The limits of a command that runs, and its next look.
pub(super) struct Limited {
    limits: CommandLimits,
    /// The temporary folders, as the helper finds them.
    temporary: Vec<PathBuf>,
    /// Other writable folders, which may lie in the temporary folders.
    others: Vec<PathBuf>,
    due: Instant,
    /// When the temporary folders are measured again, which takes long if much is in them.
    measure: Instant,
}

impl Limited {
    /// The limits of a command that begins now; `None` if it has none.
    pub(super) fn of(confinement: &Confinement) -> Option<Self> {
        let (view, has_mounts) = match confinement {
            Confinement::None => return None,
            Confinement::Landlock(view) => (view, false),
            Confinement::Full(view) => (view, true),
        };
        let temporary = view.private.iter();
        let temporary = temporary.map(|private| if has_mounts { &private.at } else { &private.folder });
        let due = Instant::now() + SHORTEST;
        Some(Self {
            limits: view.limits?,
            temporary: temporary.cloned().collect(),
            others: view.writable_places().map(Path::to_owned).collect(),
            due,
            measure: due,
        })
    }

    pub(super) const fn due(&self) -> Instant {
        self.due
    }

    /// Measures what this process's descendants use. Returns words about what is too much.
    pub(super) fn look(&mut self) -> Option<String> {
        let CommandLimits { processes, memory, tmp } = self.limits;
        let began = Instant::now();
        let usage = Usage::beneath(getpid(), memory).unwrap_or_default();
        let exceeded = if usage.processes > processes as usize {
            Some(format!("it had more than {processes} processes, the limit of `[sandbox] max_processes`"))
        } else if usage.memory > memory {
            let memory = memory / MIB;
            Some(format!("it used more than {memory} MiB of memory, the limit of `[sandbox] max_memory`"))
        } else if self.temporary_files() > tmp {
            let tmp = tmp / MIB;
            Some(format!(
                "its temporary folders hold more than {tmp} MiB, the limit of `[sandbox] max_tmp`; remove in them what is no longer needed"
            ))
        } else {
            None
        };
        let left = memory.saturating_sub(usage.memory) as f64 / memory.max(1) as f64;
        let pause = LONGEST.mul_f64(left).max(SHORTEST).max(began.elapsed() * TIMES).min(LONGEST);
        self.due = Instant::now() + pause;
        exceeded
    }

    /// The size of the temporary folders, in bytes; 0 if they were measured just now.
    fn temporary_files(&mut self) -> u64 {
        let began = Instant::now();
        if began < self.measure {
            return 0;
        }
        let is_other = |path: &Path| self.others.iter().any(|other| other == path);
        let taken = taken(&self.temporary, self.limits.tmp, is_other);
        self.measure = began + began.elapsed() * TIMES;
        taken
    }
}
