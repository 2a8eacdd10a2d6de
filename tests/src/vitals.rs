//! The cost of a process, from the kernel.

use std::fs;

/// The cost at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vitals {
    /// Its heap and its stacks, in KiB. Without its share of the program's pages: that grows when another
    /// process of the same program ends, as they do in a run of all scenarios.
    pub heap_kib: u64,
    pub descriptors: usize,
    pub threads: usize,
    /// Time on a CPU so far, in ticks (a hundredth of a second).
    pub cpu_ticks: u64,
    /// Bytes that it has caused to be written to disk so far.
    pub written: u64,
}

impl Vitals {
    /// # Panics
    /// There is no such process, or another user's.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let read =
            |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).expect("the process is there");
        let count =
            |name: &str| fs::read_dir(format!("/proc/{pid}/{name}")).expect("the process is there").count();
        let number = |text: &str, label: &str| {
            let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
            line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or_default()
        };
        let stat = read("stat");
        // The name, in parentheses, may contain spaces.
        let (_, fields) = stat.rsplit_once(')').expect("a stat line");
        let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
        Self {
            heap_kib: number(&read("smaps_rollup"), "Anonymous:"),
            descriptors: count("fd"),
            threads: count("task"),
            cpu_ticks: ticks,
            written: number(&read("io"), "write_bytes:"),
        }
    }
}
