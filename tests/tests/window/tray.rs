//! The icon in the tray, also while no window is open.

use super::desk::Desk;
use abide_client::protocol::task::Status;
use abide_host::application;
use abide_tests::{
    bus::{Bus, Entry, Icon, Look, Tray},
    model_server::{Gate, Turn},
    seed::times,
    vitals::Vitals,
    wait,
};
use serde_json::json;

/// More clicks than any person makes; tests/nightly makes five times as many.
const FLOOD: usize = 2_000;
/// How much a flood may leave in memory, in KiB.
const FLOODED: u64 = 2 * 1024;
/// The window's background, in the light theme.
const GROUND: u32 = 0xfb_faf8;
/// The background of the settings' cards, and the least number of its pixels on that page when all is known.
const RAISED: u32 = 0xff_ffff;
const CARDS: usize = 575_000;
/// A window that shows all settings, and the positions of *shown* and *hidden* beside “Icon in the tray”.
const TALL: (usize, usize) = (1280, 1500);
const ON: (usize, usize) = (566, 895);
const OFF: (usize, usize) = (630, 895);
/// The colour of the picture's light while nothing is at work, while something is, and of what waits.
const DIM: [u8; 3] = [0x6d, 0x6f, 0x77];
const BLUE: [u8; 3] = [0x7a, 0xa2, 0xf7];
const AMBER: [u8; 3] = [0xe0, 0xa8, 0x4e];

/// The icon's process.
async fn process_of(desk: &Desk, icon: &Icon) -> u32 {
    desk.applications.pid(icon.name()).await
}

/// How many pixels of its largest picture have this colour.
fn count(look: &Look, colour: [u8; 3]) -> usize {
    let (.., bytes) = look.pixmaps.last().expect("a picture");
    bytes.chunks_exact(4).filter(|pixel| pixel[1..] == colour && pixel[0] == 255).count()
}

fn labels(menu: &[Entry]) -> Vec<&str> {
    menu.iter().map(|entry| entry.label.as_str()).collect()
}

/// Waits for a window with this title; prints the titles that it finds.
async fn shows(desk: &Desk, title: &str) {
    let mut before = Vec::new();
    wait::wait_until(&format!("a window with the title {title:?}"), async || {
        let titles = desk.screen.titles().await;
        let is_there = titles.iter().any(|found| found == title);
        if titles != before {
            println!("titles: {titles:?}");
            before = titles;
        }
        is_there
    })
    .await;
}

async fn one(tray: &Tray) -> Icon {
    tray.icons(1).await.remove(0)
}

#[tokio::test]
async fn the_icon_says_what_works_and_what_waits_and_stays_when_the_window_is_closed() {
    let name = "the_icon_says_what_works_and_what_waits_and_stays_when_the_window_is_closed";
    let Some(desk) = Desk::start(name).await else { return };
    let tray = desk.bus.tray().await;
    let window = desk.open().await;
    let icon = one(&tray).await;
    let look = tray.wait_look(&icon, "nothing at work", |look| look.status == "Active").await;
    assert_eq!((look.title.as_str(), look.words.as_str()), ("Abide", "Nothing is at work"));
    assert!(count(&look, DIM) > 50 && count(&look, BLUE) + count(&look, AMBER) == 0);
    for (width, height, bytes) in &look.pixmaps {
        assert!(width == height && i32::try_from(bytes.len()) == Ok(4 * width * height));
    }
    assert_eq!(labels(&tray.menu(&icon).await), ["Open Abide", "Inbox", "", "Quit this icon; tasks go on"]);

    // While work is under way the window is closed.
    let gate = Gate::new("before the question");
    let script = [
        Turn::say("Looking. ")
            .gate(&gate)
            .call("ask_user", json!({ "question": "Which\u{202e} file_name\n<b>now</b>?" })),
        Turn::done("Done."),
    ];
    let task = desk.world.run("asks", script).await;
    let look = tray.wait_look(&icon, "a task at work", |look| look.words == "1 task at work").await;
    assert!(look.status == "Active" && count(&look, BLUE) > 50 && count(&look, AMBER) == 0);
    window.press(&["alt+F4"]).await;
    window.wait_picture("the question whether to close", |p| p.count(GROUND) == 0).await;
    window.press(&["Return"]).await;
    assert!(window.ended().await.success());
    let home = desk.world.daemon.home();
    // The bus sees the end of the process a moment later than its parent.
    wait::wait_until("the window's name to be free", async || {
        desk.applications.window(&home).await.is_none()
    })
    .await;
    gate.open();
    desk.world.wait_status(task, Status::WaitingUser).await;
    let look = tray.wait_look(&icon, "what waits", |look| look.status == "NeedsAttention").await;
    assert_eq!(look.words, "1 needs you");
    assert!(count(&look, AMBER) > 50 && count(&look, BLUE) == 0);
    let menu = tray.menu(&icon).await;
    assert!(
        menu[0].label.contains("file__name") && menu[0].label.contains("Do what the script says"),
        "{menu:?}"
    );
    assert!(!menu[0].label.contains(['\u{202e}', '\n']), "{menu:?}");
    assert_eq!(labels(&menu)[1..], ["", "Open Abide", "Inbox (1)", "", "Quit this icon; tasks go on"]);

    // A click opens the window at the inbox.
    tray.click(&icon).await;
    wait::wait_until("a window", async || desk.applications.window(&home).await.is_some()).await;
    shows(&desk, "(1) Abide").await;
    // An entry brings it to its conversation.
    tray.choose(&icon, menu[0].id).await;
    shows(&desk, "(1) [k:asks] Do what the script says. – Abide").await;
    // An entry that is not there any more does not mean another one.
    desk.world.answer(task, Some("this one")).await;
    desk.world.wait_end(task).await;
    tray.wait_look(&icon, "nothing any more", |look| look.words == "Nothing is at work").await;
    tray.choose(&icon, menu[0].id).await;
    shows(&desk, "Abide").await;
    // The next window starts no second icon.
    assert_eq!(tray.icons(1).await, [icon]);
}

#[tokio::test]
async fn the_icon_comes_with_a_tray_and_outlives_it() {
    let Some(desk) = Desk::start("the_icon_comes_with_a_tray_and_outlives_it").await else { return };
    let window = desk.open().await;
    let name = format!("{}.Tray", application::bus_name(&desk.world.daemon.home()));
    assert_eq!(desk.applications.owner(&name).await, None, "without a tray there is no icon");
    let tray = desk.bus.tray().await;
    let icon = one(&tray).await;
    let pid = process_of(&desk, &icon).await;
    drop(tray);
    let tray = desk.bus.tray().await;
    assert_eq!(one(&tray).await, icon);
    assert_eq!(process_of(&desk, &icon).await, pid, "it is the same process");
    // Another start of the icon ends at once.
    let other = desk.screen.launch_with(&desk.world.daemon, &["--tray"]);
    assert!(other.ended().await.success());
    // The daemon goes and comes.
    tray.wait_look(&icon, "the daemon", |look| look.status == "Active").await;
    desk.world.daemon.cli().ok(&["daemon", "stop"]).await;
    let look = tray.wait_look(&icon, "no daemon", |look| look.status == "Passive").await;
    assert_eq!(look.words, "The daemon does not run");
    desk.world.daemon.cli().ok(&["daemon", "start"]).await;
    tray.wait_look(&icon, "the daemon again", |look| look.status == "Active").await;
    // The person wants it no more.
    let quit = tray.menu(&icon).await.pop().expect("an entry");
    tray.choose(&icon, quit.id).await;
    tray.wait_gone(&icon).await;
    desk.world.daemon.cli().ok(&["daemon", "stop"]).await;
    drop(window);
}

#[tokio::test]
async fn the_icon_ends_with_the_session() {
    let Some(mut desk) = Desk::start("the_icon_ends_with_the_session").await else { return };
    let tray = desk.bus.tray().await;
    let window = desk.open().await;
    one(&tray).await;
    drop(window);
    assert_eq!(desk.icons().len(), 1);
    let folder = tempfile::tempdir().unwrap();
    let other = Bus::start(folder.path()).await.expect("another session's bus");
    drop(std::mem::replace(&mut desk.bus, other));
    wait::wait_until("the icon to end", async || desk.icons().is_empty()).await;
}

#[tokio::test]
async fn a_flood_of_clicks_costs_the_icon_no_memory() {
    let Some(desk) = Desk::start("a_flood_of_clicks_costs_the_icon_no_memory").await else { return };
    let tray = desk.bus.tray().await;
    let window = desk.open().await;
    let icon = one(&tray).await;
    tray.wait_look(&icon, "the daemon", |look| look.status == "Active").await;
    let pid = process_of(&desk, &icon).await;
    let before = Vitals::of(pid).heap_kib;
    let clicks = times("ABIDE_TEST_CALLS", FLOOD);
    for n in (1000..).take(clicks) {
        tray.choose(&icon, n).await;
    }
    let after = Vitals::of(pid).heap_kib;
    println!("the icon's process: {before} KiB, after {clicks} clicks {after} KiB");
    assert!(after < before + FLOODED, "{before} KiB, then {after} KiB");
    window.wait_title("of the inbox", |title| title == "Abide").await;
}

#[tokio::test]
async fn no_icon_for_a_person_who_wants_none() {
    let Some(desk) = Desk::start("no_icon_for_a_person_who_wants_none").await else { return };
    let tray = desk.bus.tray().await;
    let window = desk.open().await;
    let icon = one(&tray).await;
    window.resize(TALL.0, TALL.1).await;
    window.press(&["ctrl+comma"]).await;
    window.wait_picture("the settings", |p| p.count(RAISED) > CARDS).await;
    window.keep_picture("settings-tray").await;
    window.click(OFF.0, OFF.1).await;
    tray.wait_gone(&icon).await;
    window.click(ON.0, ON.1).await;
    let icon = tray.icons(1).await.remove(0);
    tray.wait_look(&icon, "the daemon", |look| look.status == "Active").await;
}
