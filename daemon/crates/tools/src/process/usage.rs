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
    /// The usage of all descendants of `root`. Memory is counted exactly, which takes longer, only if it may
    /// exceed `most`. Otherwise the figure is too high, because processes share memory and map files.
    pub(crate) fn beneath(root: Pid, most: u64) -> io::Result<Self> {
        let found = table::descendants(root)?;
        let sum = |of: fn(Pid) -> u64| found.iter().map(|process| of(process.pid)).sum();
        let roughly = sum(resident);
        let memory = if roughly > most { sum(own) } else { roughly };
        Ok(Self { processes: found.len(), memory })
    }
}

/// The memory of a process, in bytes; 0 if the process has ended.
fn resident(pid: Pid) -> u64 {
    let read = || {
        let line = fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_nonzero())).ok()?;
        let pages: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages * page_size() as u64)
    };
    read().unwrap_or(0)
}

/// The same without mapped files, and with only its share of shared memory.
fn own(pid: Pid) -> u64 {
    let path = format!("/proc/{}/smaps_rollup", pid.as_raw_nonzero());
    // A process that cannot be looked into is counted whole.
    let Ok(text) = fs::read_to_string(path) else { return resident(pid) };
    let lines = text.lines().filter_map(|line| {
        let size = line.strip_prefix("Pss_Anon:").or_else(|| line.strip_prefix("Pss_Shmem:"))?;
        size.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    lines.sum::<u64>() * 1024
}
