//! The window follows the system's colour scheme, also when it changes.

use abide_tests::{
    bus::{Bus, Scheme},
    daemon::{Config, TestDaemon},
    model_server::ModelServer,
    screen::Screen,
    skip::skip,
    world::World,
};

const DARK: u32 = 0x14_1517;
const LIGHT: u32 = 0xfb_faf8;

async fn start() -> Option<(World, Bus)> {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model));
    let bus = Bus::start(daemon.root()).await?;
    daemon.set_env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    Some((World::of(model, daemon).await, bus))
}

#[tokio::test]
async fn the_window_follows_the_systems_scheme() {
    let Some((world, bus)) = start().await else {
        return skip("the_window_follows_the_systems_scheme", "dbus-daemon is not installed");
    };
    let portal = bus.portal(Scheme::Dark).await;
    let Some(screen) = Screen::start("the_window_follows_the_systems_scheme").await else { return };
    let window = screen.open(&world.daemon).await;
    window.wait_picture("the dark theme", |p| p.count(DARK) > 100_000 && p.count(LIGHT) == 0).await;
    window.keep_picture("first-run-dark").await;
    portal.change(Scheme::Light).await;
    window.wait_picture("the light theme", |p| p.count(LIGHT) > 100_000 && p.count(DARK) == 0).await;
    // A person's own choice overrides it.
    window.press(&["ctrl+shift+t"]).await;
    window
        .wait_picture("the dark theme, by choice", |p| p.count(DARK) > 100_000 && p.count(LIGHT) == 0)
        .await;
}
