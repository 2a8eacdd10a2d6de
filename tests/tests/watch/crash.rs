//! A watcher that stays subscribed through the daemon's crash.

use abide_client::protocol::record::RecordBody;
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};

#[tokio::test]
async fn a_watcher_resumes_by_itself_with_no_gap_and_no_repeat() {
    let mut world = World::start().await;
    let gate = Gate::new("the last reply");
    let script = [
        Turn::shell("echo one"),
        Turn::ask("Go on?"),
        Turn::say("Going ").gate(&gate).text("on."),
        Turn::done("Done."),
    ];
    let task = world.run("stays", script).await;
    let mut watcher = world.watch(task).await;
    watcher
        .facts_until(
            "the question",
            |f| matches!(f, abide_tests::watcher::Fact::Message(m) if m.question_id.is_some()),
        )
        .await;
    world.crash_and_restart().await;
    let back = watcher.reconnected().await;
    assert_eq!(back.inbox.len(), 1, "it is told what waits now");
    world.answer(task, Some("yes")).await;
    gate.reached().await;
    world.crash_and_restart().await;
    watcher.reconnected().await;
    gate.open();
    watcher.facts_until("the end", |f| matches!(f.body(), Some(RecordBody::TaskEnded(_)))).await;
    watcher.assert_agrees_with(&world.daemon, |line| line.conversation == task.conversation_id);
}
