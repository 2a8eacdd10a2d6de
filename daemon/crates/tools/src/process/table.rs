use rustix::process::Pid;
use std::{
    collections::{HashMap, HashSet},
    fs, io,
};

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

/// The command's name is in parentheses and may contain parentheses and spaces, so the fields are read after the last one.
fn parse_stat(line: &[u8]) -> Option<(i32, u64)> {
    let end = line.iter().rposition(|b| *b == b')')?;
    let mut fields = std::str::from_utf8(&line[end + 1..]).ok()?.split_ascii_whitespace();
    // Fields 3 (state), 4 (parent), …, 22 (start time).
    let parent = fields.nth(1)?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some((parent, start))
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
        // One that has ended meanwhile is left out.
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

/// All processes whose environment has `name` set to `value`.
pub(super) fn marked(name: &str, value: &str) -> io::Result<Vec<Process>> {
    let mark = format!("{name}={value}");
    let is_marked = |pid: &Pid| {
        fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
            .is_ok_and(|all| all.split(|b| *b == 0).any(|entry| entry == mark.as_bytes()))
    };
    // The start time is read first: if the pid is reused in between, the descriptor will not match it.
    let process = |pid: Pid| {
        let (_, start) = stat(pid).ok()?;
        is_marked(&pid).then_some(Process { pid, start })
    };
    Ok(all()?.filter_map(process).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_does_not_shift_the_fields() {
        let line = b"42 (a) R 1 (b c) S 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        assert_eq!(parse_stat(line), Some((7, 12345)));
        assert_eq!(parse_stat(b"42 (x"), None);
        assert_eq!(parse_stat(b""), None);
    }
}
