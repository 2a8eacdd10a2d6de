use super::Bus;
use crate::{process, screen::Screen, wait};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::Child;

/// dunst, a notification server of other people's, on a screen and a bus without another server; it ends when
/// it is dropped.
pub struct Dunst {
    address: String,
    /// Its menu of actions picks the line that has what this file says.
    pick: PathBuf,
    _server: Child,
}

impl Dunst {
    /// Starts it; `None` if it is not installed. Its files lie in `folder`.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub async fn start(bus: &Bus, screen: &Screen, folder: &Path) -> Option<Self> {
        let (config, menu, pick) = (folder.join("dunstrc"), folder.join("menu"), folder.join("pick"));
        fs::write(&config, format!("[global]\ndmenu = {}\n", menu.display())).expect("dunst's configuration");
        let script = format!("#!/bin/sh\ngrep -F -m 1 -f '{}'\n", pick.display());
        process::write_program(&menu, process::input(&script), 0, 0o755);
        let log = process::Log::new();
        let server = process::program("dunst")
            .arg("-config")
            .arg(&config)
            .env("DBUS_SESSION_BUS_ADDRESS", bus.address())
            .env("DISPLAY", screen.display())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.pipe())
            .spawn()
            .ok()?;
        let dunst = Self { address: bus.address().to_owned(), pick, _server: server };
        wait::wait_seeing("dunst", async || dunst.ask(&["is-paused"]).await.ok_or_else(|| log.text())).await;
        Some(dunst)
    }

    /// Waits until it shows so many notifications, and so many were closed.
    ///
    /// # Panics
    /// It does not in time.
    pub async fn has(&self, shown: usize, closed: usize) {
        let expected = [shown, closed].map(|count| Some(count.to_string()));
        wait::wait_seeing(&format!("dunst to show {shown} and to have closed {closed}"), async || {
            let has = [self.ask(&["count", "displayed"]).await, self.ask(&["count", "history"]).await];
            if has == expected { Ok(()) } else { Err(format!("{has:?}")) }
        })
        .await;
    }

    /// Invokes the default action of the notification at the top, as a click on it does.
    ///
    /// # Panics
    /// dunst refuses.
    pub async fn click(&self) {
        self.ask(&["action", "0"]).await.expect("dunst invokes the action");
    }

    /// Picks an action from its menu.
    ///
    /// # Panics
    /// dunst refuses.
    pub async fn pick(&self, label: &str) {
        fs::write(&self.pick, format!("#{label} ")).expect("what the menu picks");
        self.ask(&["context"]).await.expect("dunst opens its menu");
    }

    async fn ask(&self, arguments: &[&str]) -> Option<String> {
        let mut dunstctl = process::program("dunstctl");
        dunstctl.args(arguments).env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        let output = process::finished(&mut dunstctl).await.ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}
