use super::table;
use rustix::{param::page_size, process::Pid};
use std::{fs, io};

/// What processes use together.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub(crate) processes: usize,
    /// In bytes.
    pub(crate) memory: u64,
}

impl Usage {
    /// Of all descendants of `root`. Their memory is counted exactly, which takes longer, only if it may be more than `most`; otherwise it is
    /// less than what is said, because processes share it, or read files in it.
    pub(crate) fn beneath(root: Pid, most: u64) -> io::Result<Self> {
        let found = table::descendants(root)?;
        let sum = |of: fn(Pid) -> u64| found.iter().map(|process| of(process.pid)).sum();
        let roughly = sum(resident);
        let memory = if roughly > most { sum(own) } else { roughly };
        Ok(Self { processes: found.len(), memory })
    }
}

/// The memory that a process has, in bytes; 0 if it has ended.
fn resident(pid: Pid) -> u64 {
    let read = || {
        let line = fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_nonzero())).ok()?;
        let pages: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages * page_size() as u64)
    };
    read().unwrap_or(0)
}

/// As above, without what it has read of files, and its share of what it shares with others.
fn own(pid: Pid) -> u64 {
    let path = format!("/proc/{}/smaps_rollup", pid.as_raw_nonzero());
    // A process that does not let itself be looked into is counted whole.
    let Ok(text) = fs::read_to_string(path) else { return resident(pid) };
    let lines = text.lines().filter_map(|line| {
        let size = line.strip_prefix("Pss_Anon:").or_else(|| line.strip_prefix("Pss_Shmem:"))?;
        size.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    lines.sum::<u64>() * 1024
}
