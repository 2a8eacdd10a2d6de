//! Three windows on one daemon show the same; one answers, and the question disappears from the others.

use abide_client::protocol::task::Status;
use abide_tests::{model_server::Turn, screen::Screen, world::World};
use serde_json::json;

/// The background of a card that needs a person, in the light theme.
const CARD: u32 = 0xfd_f3df;

#[tokio::test]
async fn an_answer_in_one_window_removes_the_card_from_all() {
    let world = World::start().await;
    let Some(screen) = Screen::start("an_answer_in_one_window_removes_the_card_from_all").await else {
        return;
    };
    let question = json!({ "question": "Tea or coffee?", "choices": ["tea", "coffee"] });
    let script = [Turn::new().call("ask_user", question), Turn::done("Tea it is.")];
    let task = world.run("drinks", script).await;
    world.wait_status(task, Status::WaitingUser).await;
    let mut windows = Vec::new();
    for _ in 0..3 {
        let window = screen.open(&world.daemon).await;
        window.press(&["ctrl+j"]).await;
        window.asks("Question for you: Tea or coffee?").await;
        window.wait_title("with what waits", |t| t.starts_with("(1) ")).await;
        windows.push(window);
    }
    windows[1].choose(1).await;
    world.wait_end(task).await;
    let mut texts = Vec::new();
    for window in &windows {
        window.wait_picture("no card any more", |p| p.count(CARD) == 0).await;
        window.wait_title("with nothing that waits", |t| !t.starts_with('(')).await;
        texts.push(window.reads("— completed").await);
    }
    assert_eq!(texts[0].matches("Tea it is.").count(), 1, "{}", texts[0]);
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:#?}");
}
