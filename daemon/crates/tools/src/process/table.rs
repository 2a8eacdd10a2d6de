use rustix::{
    process::Pid,
    thread::{Timespec, nanosleep},
};
use std::{
    collections::{HashMap, HashSet},
    fs, io,
    str::SplitAsciiWhitespace,
    time::{Duration, Instant},
};

/// How long a look at the table waits for a process that is just executing a program.
const EXECUTION: Duration = Duration::from_millis(100);
/// `PF_KTHREAD` of the flags in /proc/PID/stat, include/linux/sched.h.
const KERNEL_THREAD: u32 = 0x0020_0000;
/// The pause between two looks at such a process.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000 };

/// A process when the table was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: Pid,
    /// Ticks since boot; with the pid it identifies one process.
    pub(super) start: u64,
}

/// `pid`'s parent and start time.
pub(super) fn stat(pid: Pid) -> io::Result<(i32, u64)> {
    let line = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero()))?;
    parse_stat(&line).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unreadable /proc/PID/stat"))
}

/// The fields of /proc/PID/stat from the third on. They follow the last parenthesis, because the command's
/// name in parentheses may contain parentheses and spaces.
fn fields(line: &[u8]) -> Option<SplitAsciiWhitespace<'_>> {
    let end = line.iter().rposition(|b| *b == b')')?;
    Some(str::from_utf8(line.get(end + 1..)?).ok()?.split_ascii_whitespace())
}

fn parse_stat(line: &[u8]) -> Option<(i32, u64)> {
    let mut fields = fields(line)?;
    // Fields 3 (state), 4 (parent), …, 22 (start time).
    let parent = fields.nth(1)?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some((parent, start))
}

/// Whether a process runs, or waits for a processor or a disk.
pub(super) fn is_busy(process: &Process) -> bool {
    let read = || {
        let line = fs::read(format!("/proc/{}/stat", process.pid.as_raw_nonzero())).ok()?;
        let (_, start) = parse_stat(&line)?;
        Some(start == process.start && matches!(fields(&line)?.next()?, "R" | "D"))
    };
    read().unwrap_or(false)
}

/// All process ids.
pub(super) fn all() -> io::Result<impl Iterator<Item = Pid>> {
    let pid = |entry: io::Result<fs::DirEntry>| {
        entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)
    };
    Ok(fs::read_dir("/proc")?.filter_map(pid))
}

/// All descendants of `root`, without itself.
pub(super) fn descendants(root: Pid) -> io::Result<Vec<Process>> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for pid in all()? {
        // A process that has ended meanwhile is left out.
        if let Ok((parent, start)) = stat(pid) {
            children.entry(parent).or_default().push(Process { pid, start });
        }
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut roots = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = roots.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if seen.insert(child.pid) {
                roots.push(child.pid.as_raw_nonzero().get());
                found.push(*child);
            }
        }
    }
    Ok(found)
}

/// All processes whose environment has `name` set to `value`, of those that started at `since` or later
/// (ticks since boot).
///
/// While a process executes a program, the kernel shows no environment or only its beginning, and the process
/// would be missed. So the environment is read again until it is complete, but not for long: a process may
/// have an empty environment.
pub(super) fn marked(name: &str, value: &str, since: u64) -> io::Result<Vec<Process>> {
    let mark = format!("{name}={value}");
    // The start time is read first. If the pid is reused in between, the descriptor will not match the start
    // time.
    let process = |pid: Pid| {
        let (_, start) = stat(pid).ok().filter(|(_, start)| *start >= since)?;
        let deadline = Instant::now() + EXECUTION;
        let environment = loop {
            let read = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).ok()?;
            let is_complete = environment_length(pid)? == read.len() && !read.is_empty();
            if is_complete || Instant::now() >= deadline {
                break read;
            }
            let _ = nanosleep(&LOOK_AGAIN);
        };
        let is_marked = environment.split(|b| *b == 0).any(|entry| entry == mark.as_bytes());
        is_marked.then_some(Process { pid, start })
    };
    Ok(all()?.filter_map(process).collect())
}

/// The length of a process's environment, in bytes. `None`: the process has ended, or is a thread of the
/// kernel. (proc_pid_stat(5): `env_start` and `env_end` are equal while a program is being executed.)
fn environment_length(pid: Pid) -> Option<usize> {
    let line = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let mut fields = fields(&line)?;
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let flags: u32 = fields.nth(5)?.parse().ok()?;
    let (from, to): (usize, usize) = (fields.nth(40)?.parse().ok()?, fields.next()?.parse().ok()?);
    (flags & KERNEL_THREAD == 0).then(|| to.saturating_sub(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// About one look in fifty meets the process while it executes a program.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the process under test")]
    fn a_process_that_executes_all_the_time_is_never_missed() {
        // Another run of the tests on this machine has such a process, too.
        let mark = format!("executes-{}", std::process::id());
        let mut child = std::process::Command::new("sh")
            .args(["-c", r#"exec sh -c "$AGAIN""#])
            .env("AGAIN", r#"exec sh -c "$AGAIN""#)
            .env("ABIDE_TEST_MARK", &mark)
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&child);
        let (_, since) = stat(pid).unwrap();
        let looks = (0..500).map(|_| marked("ABIDE_TEST_MARK", &mark, since).unwrap());
        let missed = looks.filter(|found| found.is_empty()).count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(missed, 0);
        assert_eq!(marked("ABIDE_TEST_MARK", &mark, since).unwrap(), []);
    }

    #[test]
    fn a_hostile_name_does_not_shift_the_fields() {
        let line = b"42 (a) R 1 (b c) S 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        assert_eq!(parse_stat(line), Some((7, 12345)));
        assert_eq!(parse_stat(b"42 (x"), None);
        assert_eq!(parse_stat(b""), None);
    }
}
