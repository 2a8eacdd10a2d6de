//! One window for each session and home: what others want shown comes to it over the session bus.

use super::desk::Desk;
use abide_client::protocol::{method, method::conversation::ConversationParams, task::Status};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    seed::times,
    vitals::Vitals,
    wait,
};

/// The background of an error message, in the light theme.
const BAD_CARD: u32 = 0xfb_eae8;
/// How many pixels of it an error message has at least.
const CARD: usize = 5_000;
/// More calls than any desktop makes; tests/nightly makes five times as many.
const FLOOD: usize = 2_000;
/// How much a flood may leave in the window's memory, in KiB.
const FLOODED: u64 = 4 * 1024;

/// The id of a conversation of this name, in which a task has ended.
async fn conversation(desk: &Desk, name: &str) -> String {
    let task = desk.world.run(name, [Turn::done(&format!("This is {name}."))]).await;
    desk.world.wait_end(task).await;
    task.conversation_id.to_string()
}

#[tokio::test]
async fn without_a_display_no_window_opens_and_the_reason_is_printed() {
    let daemon = TestDaemon::new(&Config::new());
    let (without, unreachable) = (daemon.cli(), daemon.cli().env("DISPLAY", ":59999"));
    for (cli, words) in [(without, "there is no display"), (unreachable, "cannot be reached")] {
        let refused = cli.run(&["gui"]).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(words) && !refused.stderr.contains("panicked"), "{refused:?}");
    }
}

#[tokio::test]
async fn a_second_start_hands_over_what_it_is_to_show_and_ends() {
    let Some(desk) = Desk::start("a_second_start_hands_over_what_it_is_to_show_and_ends").await else {
        return;
    };
    let (first, second) = (conversation(&desk, "first").await, conversation(&desk, "second").await);
    let window = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &first]).window().await;
    window.reads("This is first.").await;
    assert!(window.class().await.contains("dev.abide.Abide"), "{}", window.class().await);
    let owner = desk.applications.window(&desk.world.daemon.home()).await;
    assert!(owner.is_some(), "the window has its name");

    let other = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &second]);
    assert!(other.ended().await.success());
    window.reads("This is second.").await;
    let other = desk.screen.launch("abide-gui", &desk.world.daemon);
    assert!(other.ended().await.success());
    // By the command line, with a part of the id.
    let shown = desk.world.daemon.cli().run(&["gui", &first[28..]]).await;
    assert_eq!(shown.code, Some(0), "{shown:?}");
    window.reads("This is first.").await;
    let shown = desk.world.daemon.cli().run(&["gui", "ffffffff"]).await;
    assert_eq!(shown.code, Some(1), "{shown:?}");
    assert!(shown.stderr.contains("ffffffff"), "{shown:?}");
    let home = desk.world.daemon.home();
    assert_eq!(desk.applications.window(&home).await, owner, "no other window has the name");

    // The name is free again when the window ends.
    window.press(&["alt+F4"]).await;
    assert!(window.ended().await.success());
    let window = desk.open().await;
    window.reads("This is first.").await;

    // Another window of the same home, on request.
    let arguments = ["--new-window", "--conversation", &second];
    let other = desk.screen.launch_with(&desk.world.daemon, &arguments).window().await;
    other.reads("This is second.").await;
    window.reads("This is first.").await;
}

#[tokio::test]
async fn a_notification_brings_the_window_to_its_conversation() {
    let Some(desk) = Desk::start("a_notification_brings_the_window_to_its_conversation").await else {
        return;
    };
    let (first, second) = (conversation(&desk, "first").await, conversation(&desk, "second").await);
    let asks = desk.world.run("asks", [Turn::ask("Red or blue?"), Turn::done("Done.")]).await;
    desk.world.wait_status(asks, Status::WaitingUser).await;
    let window = desk.open().await;
    // Behind another window.
    let other = desk.screen.distract().await;
    assert!(!window.has_keyboard().await);
    desk.action("show", Some(&first)).await.expect("the window takes it");
    wait::wait_until("the window to come to the front", async || window.has_keyboard().await).await;
    window.reads("This is first.").await;
    assert!(!window.is_urgent().await, "the person is there");
    drop(other);
    // Minimized.
    window.minimize().await;
    desk.action("show", Some(&second)).await.expect("the window takes it");
    wait::wait_until("the window to come back", async || window.has_keyboard().await).await;
    window.reads("This is second.").await;
    // While something covers the page.
    window.press(&["Escape", "shift+question"]).await;
    desk.action("inbox", None).await.expect("the window takes it");
    window.wait_picture("the card of the question in the inbox", |p| p.has_card()).await;
    window.keep_picture("inbox-by-request").await;
    desk.action("show", Some(&asks.conversation_id.to_string())).await.expect("the window takes it");
    window.asks("Red or blue?").await;
    let home = desk.world.daemon.home();
    desk.applications.activate(&home).await.expect("the window takes it");
}

#[tokio::test]
async fn what_cannot_be_shown_is_said_in_words() {
    let Some(desk) = Desk::start("what_cannot_be_shown_is_said_in_words").await else { return };
    let (first, gone) = (conversation(&desk, "first").await, conversation(&desk, "gone").await);
    desk.world
        .client
        .call::<method::DeleteConversation>(ConversationParams { conversation_id: gone.clone() })
        .await
        .unwrap();
    let window = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &first]).window().await;
    window.reads("This is first.").await;
    for id in [gone.as_str(), "01a2012e-b391-7159-8253-976660a7166a"] {
        desk.action("show", Some(id)).await.expect("the window takes it");
        window.wait_picture("an error message", |p| p.count(BAD_CARD) > CARD).await;
        window.keep_picture("unknown-conversation").await;
        window.press(&["Escape"]).await;
        window.wait_picture("no error message", |p| p.count(BAD_CARD) == 0).await;
    }
    window.reads("This is first.").await;
    for (name, parameter, words) in [
        ("show", None, "needs a conversation's id"),
        ("show", Some("../../etc/passwd"), "is no conversation's id"),
        ("quit", None, "there is no action"),
    ] {
        let refused = desk.action(name, parameter).await.expect_err("it is refused");
        assert!(refused.contains("InvalidArgs") && refused.contains(words), "{refused}");
    }
    let refused = desk.applications.open(&desk.world.daemon.home(), "file:///etc/passwd").await;
    assert!(refused.expect_err("it is refused").contains("NotSupported"));
    // A window that starts for it.
    window.kill().await;
    let window = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &gone]).window().await;
    window.wait_picture("an error message", |p| p.count(BAD_CARD) > CARD).await;
}

#[tokio::test]
async fn a_flood_of_requests_costs_no_memory_and_the_last_one_counts() {
    let Some(desk) = Desk::start("a_flood_of_requests_costs_no_memory_and_the_last_one_counts").await else {
        return;
    };
    let (first, second) = (conversation(&desk, "first").await, conversation(&desk, "second").await);
    let window = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &first]).window().await;
    window.reads("This is first.").await;
    let home = desk.world.daemon.home();
    let before = Vitals::of(window.pid()).heap_kib;
    let calls = (0..times("ABIDE_TEST_CALLS", FLOOD)).map(|n| {
        let id = if n % 2 == 0 { &second } else { &first };
        desk.applications.action(&home, "show", Some(id))
    });
    for call in calls {
        call.await.expect("the window takes it");
    }
    desk.action("show", Some(&second)).await.expect("the window takes it");
    window.reads("This is second.").await;
    let after = Vitals::of(window.pid()).heap_kib;
    assert!(after < before + FLOODED, "{before} KiB, then {after} KiB");
}

#[tokio::test]
async fn two_homes_of_one_session_have_a_window_each() {
    let Some(desk) = Desk::start("two_homes_of_one_session_have_a_window_each").await else { return };
    let first = conversation(&desk, "first").await;
    let window = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &first]).window().await;
    let mut daemon = TestDaemon::new(&Config::new());
    daemon.set_env("DBUS_SESSION_BUS_ADDRESS", desk.bus.address());
    daemon.up().await;
    let other = desk.screen.open(&daemon).await;
    let owners = [
        desk.applications.window(&desk.world.daemon.home()).await,
        desk.applications.window(&daemon.home()).await,
    ];
    assert!(owners.iter().all(Option::is_some) && owners[0] != owners[1], "{owners:?}");
    desk.applications.action(&daemon.home(), "show", Some(&first)).await.expect("the window takes it");
    other.wait_picture("an error message: it is the other home's", |p| p.count(BAD_CARD) > CARD).await;
    window.reads("This is first.").await;

    // One that hangs does not keep another one from opening.
    window.hang();
    let another = desk.screen.launch_with(&desk.world.daemon, &["--conversation", &first]).window().await;
    another.reads("This is first.").await;
    window.kill().await;
}
