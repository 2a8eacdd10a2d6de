//! Benchmarks: what durability costs. Most figures have a floor, the time of the least work that any
//! implementation must do, measured in the same run.
//!
//! `cargo build --release --bins && cargo run --release -p abide-tests --bin bench -- [--markdown] [GROUP...]`
//!
//! No benchmark fails for being slow. `BENCHMARKS.md` explains the figures.

#![expect(clippy::expect_used, reason = "a benchmark that cannot run says why and ends")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints figures")]

mod beside;
mod checkpoint;
mod fanout;
mod floor;
mod gate;
mod memory;
mod model;
mod modes;
mod open;
mod recall;
mod records;
mod sandbox;
mod setup;
mod start;
mod step;
mod table;
mod tree;
mod verdict;
mod waiting;
mod web;

use std::{env, fs, pin::Pin};
use table::Figure;

type Group = fn() -> Pin<Box<dyn Future<Output = Vec<Figure>>>>;

/// The groups of figures, in the order in which they run.
const GROUPS: [(&str, Group); 15] = [
    ("step", || Box::pin(step::figures())),
    ("long", || Box::pin(step::long_figures())),
    ("modes", || Box::pin(modes::figures())),
    ("sandbox", || Box::pin(sandbox::figures())),
    ("verdict", || Box::pin(verdict::figures())),
    ("tree", || Box::pin(tree::figures())),
    ("checkpoint", || Box::pin(checkpoint::figures())),
    ("start", || Box::pin(start::figures())),
    ("open", || Box::pin(open::figures())),
    ("memory", || Box::pin(memory::figures())),
    ("waiting", || Box::pin(waiting::figures())),
    ("records", || Box::pin(records::figures())),
    ("recall", || Box::pin(recall::figures())),
    ("fanout", || Box::pin(fanout::figures())),
    ("web", || Box::pin(web::figures())),
];

#[tokio::main(worker_threads = 1)]
async fn main() {
    let (flags, wanted): (Vec<String>, Vec<String>) = env::args().skip(1).partition(|a| a.starts_with("--"));
    let known: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
    let is_wrong =
        flags.iter().any(|f| f != "--markdown") || wanted.iter().any(|w| !known.contains(&w.as_str()));
    assert!(!is_wrong, "usage: bench [--markdown] [GROUP...]; groups: {}", known.join(", "));
    let mut figures = Vec::new();
    for (name, group) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            eprintln!("{name} …");
            figures.append(&mut group().await);
        }
    }
    println!("{}", machine());
    print!("{}", if flags.is_empty() { table::plain(&figures) } else { table::markdown(&figures) });
}

/// The machine's processor, kernel and load average.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = read("/proc/cpuinfo");
    let cpu =
        cpu.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": ")).map_or("", |(_, name)| name);
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    format!("{cores} cores ({cpu}), Linux {}, load average at the end {load}\n", kernel.trim())
}
