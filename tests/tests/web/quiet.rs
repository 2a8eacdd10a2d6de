//! A stream that has nothing to tell says so, for whatever ends connections that say nothing.

use super::open::{chat, device, session};
use abide_tests::{
    model_server::{Gate, Turn},
    world::World,
};
use std::time::{Duration, Instant};

/// How long a stream says nothing, and how much later a busy machine may say it.
const QUIET: Duration = Duration::from_secs(15);
const LATE: Duration = Duration::from_secs(10);

#[tokio::test]
async fn every_stream_says_a_comment_after_fifteen_seconds() {
    let world = World::start().await;
    let device = device(&world).await;
    let session = session(&world, &device).await;
    let gate = Gate::new("nobody opens it");
    for key in ["chat", "agent"] {
        world.model.script(key, [Turn::new().gate(&gate).text("Never.")]);
    }
    let (_, of_session) = chat(&device, &session, "chat").await;
    let of_agent = device.events("/agent/stream?prompt=%5Bk:agent%5D+Do+it.", None).await;
    let of_all = device.events(&format!("/api/stream?session={session}"), None).await;
    gate.reached_times(2).await;
    let asked = Instant::now();
    for mut stream in [of_session, of_agent, of_all] {
        stream.comment().await;
        let quiet = asked.elapsed();
        assert!(quiet > QUIET - Duration::from_secs(2) && quiet < QUIET + LATE, "{quiet:?}");
    }
}
