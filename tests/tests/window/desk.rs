//! A screen with a session bus, for scenarios of the window on a desktop.

use abide_tests::{
    bus::{Applications, Bus},
    daemon::{Config, TestDaemon},
    model_server::ModelServer,
    process::Found,
    screen::{Screen, Window},
    skip::skip,
    world::World,
};

/// What is dropped first must be above what it needs.
pub(crate) struct Desk {
    pub(crate) screen: Screen,
    pub(crate) applications: Applications,
    pub(crate) bus: Bus,
    pub(crate) world: World,
}

impl Desk {
    /// `None`: the scenario was skipped, because this machine lacks a program.
    pub(crate) async fn start(scenario: &str) -> Option<Self> {
        let model = ModelServer::start().await;
        let mut daemon = TestDaemon::new(&Config::with(&model));
        let Some(bus) = Bus::start(daemon.root()).await else {
            skip(scenario, "dbus-daemon is not installed");
            return None;
        };
        daemon.set_env("DBUS_SESSION_BUS_ADDRESS", bus.address());
        let screen = Screen::start(scenario).await?;
        let applications = bus.applications().await;
        Some(Self { screen, applications, bus, world: World::of(model, daemon).await })
    }

    pub(crate) async fn open(&self) -> Window<'_> {
        self.screen.open(&self.world.daemon).await
    }

    /// The processes of the icon in the tray.
    pub(crate) fn icons(&self) -> Vec<Found> {
        self.processes("abide-gui --tray")
    }

    fn processes(&self, command: &str) -> Vec<Found> {
        let all = self.world.daemon.offspring();
        all.into_iter().filter(|found| found.command.contains(command)).collect()
    }

    /// Calls an action of the window.
    pub(crate) async fn action(&self, name: &str, parameter: Option<&str>) -> Result<(), String> {
        self.applications.action(&self.world.daemon.home(), name, parameter).await
    }
}

impl Drop for Desk {
    /// Ends the icon, then the windows, then (by its field) the daemon. An icon whose window ends before it
    /// has answered a click starts another window, and a window without a daemon starts one.
    fn drop(&mut self) {
        let icons = self.icons();
        icons.iter().for_each(Found::kill);
        self.processes("abide-gui").iter().for_each(Found::kill);
    }
}
