//! A reply of 300 KB: what a frame costs while the conversation opens, pages and is searched.

use super::{REST, fill, log_of, settled_view, trace};
use abide_client::protocol::record::{AgentMessage, RecordBody, UserMessage};
use abide_tests::{
    daemon::{Config, TestDaemon},
    screen::{Screen, Window},
};
use std::{fs, time::Duration};

/// How often a key that scrolls by a page is pressed.
const PAGES: usize = 12;
/// A key has had its effect when nothing was built for so long.
const QUIET: Duration = Duration::from_millis(400);

pub(super) async fn measure(screen: &Screen) {
    for (name, text) in replies() {
        println!("== a reply of {} KB: {name}", text.len() / 1024);
        let mut daemon = TestDaemon::new(&Config::new());
        trace(&mut daemon);
        let said = |text: &str| RecordBody::UserMessage(UserMessage { text: text.to_owned() });
        let reply = RecordBody::AgentMessage(AgentMessage { text });
        fill(&daemon, name, [said("Tell me all."), reply, said("Thanks.")]).await;
        daemon.up().await;
        let window = screen.open(&daemon).await;
        settled_view(&window, REST).await;
        report("opened", &[(main_thread(window.pid()), log_of(&window, 0))]);
        press(&window, "a page up", &["Prior"; PAGES]).await;
        press(&window, "to the start", &["ctrl+Home"]).await;
        press(&window, "a page down", &["Next"; PAGES]).await;
        press(&window, "to the end", &["ctrl+End"]).await;
        press(&window, "to the start again", &["ctrl+Home"]).await;
        press(&window, "the search", &["ctrl+f"]).await;
        press(&window, "a letter of the query", &["n", "e", "e", "d", "l", "e"]).await;
        press(&window, "an older match", &["Return"; 6]).await;
        press(&window, "a newer match", &["shift+Return"; 6]).await;
        window.kill().await;
    }
}

/// Paragraphs, one paragraph, a block of code, a table. Each has three needles.
fn replies() -> [(&'static str, String); 4] {
    let needle = |n: usize, of: usize| if [5, of / 2, of - 5].contains(&n) { "a needle" } else { "a clock" };
    let sentence = |n: usize| {
        format!(
            "The session reads {} twice, and `expiry` is compared with **the first** of both. ",
            needle(n, 3600)
        )
    };
    let paragraphs = (0..3600).map(|n| sentence(n) + if n % 60 == 59 { "\n\n" } else { "" }).collect();
    let line = |n| format!("    let value_{n} = compute(\"{n}\"); // {} of them\n", needle(n, 6000));
    let code: String = (0..6000).map(line).collect();
    let row = |n| format!("| src/session-{n}.rs | {} is read twice | mended |\n", needle(n, 5500));
    let table: String = (0..5500).map(row).collect();
    [
        ("paragraphs", paragraphs),
        ("one paragraph", (0..3600).map(sentence).collect()),
        ("a block of code", format!("See:\n\n```rust\n{code}```\n")),
        ("a table", format!("| file | why | state |\n|---|---|---|\n{table}")),
    ]
}

/// Presses the keys one by one, each when all of the one before is done.
async fn press(window: &Window<'_>, what: &str, keys: &[&str]) {
    let mut presses = Vec::new();
    for key in keys {
        let (before, at) = (main_thread(window.pid()), window.log().len());
        window.press(&[key]).await;
        settled_view(window, QUIET).await;
        presses.push((main_thread(window.pid()) - before, log_of(window, at)));
    }
    report(what, &presses);
}

/// Prints what the frames cost, with their pixels and all: the thread that draws, of all frames and of the
/// dearest press; and the dearest view and drawing by themselves.
fn report(what: &str, presses: &[(f64, String)]) {
    let frames = |log: &str| log.lines().filter(|line| line.contains("drawn")).count().max(1);
    let each = |(ms, log): &(f64, String)| (ms / frames(log) as f64, *ms, frames(log));
    let all = presses.iter().map(each).fold((0.0, 0), |(ms, n), (_, more, frames)| (ms + more, n + frames));
    let most =
        presses.iter().map(each).fold((0.0, 0.0, 0), |most, one| if one.1 > most.1 { one } else { most });
    let dearest = |word: &str| {
        let lines = presses.iter().flat_map(|(_, log)| log.lines()).filter(|line| line.contains(word));
        let times = lines.filter_map(|line| line.rsplit_once("us=")?.1.trim().parse::<u32>().ok());
        f64::from(times.max().unwrap_or_default()) / 1000.0
    };
    println!(
        "  {what}: {:.1} ms a frame ({} frames); the dearest press {:.1} ms in {} frames; a view at most {:.1} ms, a drawing {:.1} ms",
        all.0 / f64::from(u32::try_from(all.1).unwrap_or(1)),
        all.1,
        most.1,
        most.2,
        dearest("built"),
        dearest("drawn")
    );
}

/// Processor time of the thread that draws, in ms.
fn main_thread(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let ns: f64 = stat.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or_default();
    ns / 1_000_000.0
}
