//! The first run: no daemon, no model, no conversation; with pointer clicks.

use abide_client::protocol::task::Status;
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::ModelServer,
    screen::Screen,
    wait,
    world::World,
};

/// The position of "Try a scripted demo" in a window of 1280 by 800.
const DEMO: (usize, usize) = (482, 234);
/// The position of "Start it", at the right of the banner.
const START: (usize, usize) = (1232, 17);

/// The background of the composer and of the card about models, and the number of pixels that only both
/// together have.
const RAISED: u32 = 0xff_ffff;
const CARD: usize = 150_000;

#[tokio::test]
async fn the_window_starts_the_daemon_and_a_click_plays_the_demo() {
    let name = "the_window_starts_the_daemon_and_a_click_plays_the_demo";
    let Some(screen) = Screen::start(name).await else { return };
    let daemon = TestDaemon::new(&Config::new());
    std::fs::remove_dir_all(daemon.abide_home()).expect("the home can be emptied");
    let window = screen.open(&daemon).await;
    let client = wait::wait_for("the window to start the daemon", async || daemon.try_client().await).await;
    window.wait_picture("what to do without a model", |p| p.count(RAISED) > CARD).await;
    window.keep_picture("first-run").await;
    window.click(DEMO.0, DEMO.1).await;
    let world = World { client, daemon, model: ModelServer::start().await };
    // It must be dropped before the daemon, which ends everything that belongs to its home.
    let window = window;
    let task = world.begun("Show me what you can do.").await;
    world.wait_status(task, Status::WaitingUser).await;
    window.asks("Question for you:").await;
    window.choose(2).await;
    world.wait_status(task, Status::WaitingApproval).await;
    window.approve("shell").await;
    world.wait_end(task).await;
    window.reads("— completed").await;

    world.daemon.cli().ok(&["daemon", "stop"]).await;
    window.wait_disconnected().await;
    window.keep_picture("daemon-stopped").await;
    // Only the button starts it, not the requests that a key leads to.
    window.press(&["ctrl+i", "Escape"]).await;
    wait::wait_until("a request to fail", async || {
        window.log().contains("a request without consequence failed")
    })
    .await;
    assert_eq!(world.daemon.cli().run(&["daemon", "status"]).await.code, Some(3), "it is stopped");
    window.click(START.0, START.1).await;
    window.wait_connected().await;
    window.reads("— completed").await;
    window.press(&["alt+F4"]).await;
    assert!(window.ended().await.success());
    world.daemon.cli().ok(&["daemon", "stop"]).await;
}
