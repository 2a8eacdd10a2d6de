//! A real X display for a test: Xvfb, openbox, and simulated keyboard and pointer.

mod picture;
mod place;
mod window;

pub use picture::Picture;
pub use window::{Launched, Window};

use self::place::Place;
use crate::{daemon::TestDaemon, process, skip::skip, wait};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    env,
    ffi::OsString,
    path::PathBuf,
    process::{Output, Stdio},
    time::Duration,
};
use tokio::{
    process::{Child, Command},
    sync::{Mutex, Semaphore, SemaphorePermit},
};

/// The programs of a screen, and the Debian package of each.
const PROGRAMS: [(&str, &str); 6] = [
    ("Xvfb", "xvfb"),
    ("openbox", "openbox"),
    ("xdotool", "xdotool"),
    ("import", "imagemagick"),
    ("xprop", "x11-utils"),
    ("xclip", "xclip"),
];

/// The property of the root window that the window manager sets when it has started.
const MANAGED: &str = "ABIDE_TEST_MANAGED";

/// How long a display may take to end.
const GONE: Duration = Duration::from_secs(5);

/// One screen at a time: a window drawn without a GPU takes much of a small machine.
static TURN: Semaphore = Semaphore::const_new(1);

/// The display. It ends when it is dropped; drop it before the daemon whose windows it shows.
pub struct Screen {
    display: String,
    server: Child,
    _manager: Child,
    /// The places of killed windows.
    kept: Mutex<Vec<Place>>,
    _turn: SemaphorePermit<'static>,
}

impl Screen {
    /// Starts it for this scenario; if the machine lacks a program, the scenario is skipped.
    ///
    /// # Panics
    /// It does not start, although no program is missing.
    pub async fn start(scenario: &str) -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let missing = PROGRAMS
            .iter()
            .find(|(program, _)| !env::split_paths(&path).any(|dir| dir.join(program).is_file()));
        if let Some((program, package)) = missing {
            skip(scenario, &format!("{program} is not installed (package {package})"));
            return None;
        }
        let turn = TURN.acquire().await.expect("nobody closes it");
        let log = process::Log::new();
        let mut server = process::program("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "2600x1600x24", "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.pipe())
            .spawn()
            .expect("Xvfb can be started");
        let number = log.first_line("the number of the display", &mut server).await;
        let display = format!(":{number}");
        // Before it has started it may lose a window's request to be shown, so it says when it has.
        let manager = process::program("openbox")
            .args(["--startup", &format!("xprop -root -format {MANAGED} 8s -set {MANAGED} yes")])
            .env("DISPLAY", &display)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.pipe())
            .spawn()
            .expect("openbox can be started");
        let screen = Self { display, server, _manager: manager, kept: Mutex::default(), _turn: turn };
        wait::wait_seeing("the window manager", async || {
            let check = screen.ask("xprop", &["-root", MANAGED]).await;
            check.filter(|said| said.contains("yes")).ok_or_else(|| log.text())
        })
        .await;
        screen.first_key().await;
        Some(screen)
    }

    /// Presses a key without an effect. At the first key of a display the window manager binds its own keys
    /// (as Alt F4) anew, and one that is pressed meanwhile goes to the window. It does what it is asked in
    /// turn, so the keys are bound when it has done what it is asked after this.
    async fn first_key(&self) {
        self.must("xdotool", &["key", "shift"]).await;
        self.must("xdotool", &["set_num_desktops", "1"]).await;
        wait::wait_until("the only desktop", async || {
            self.ask("xdotool", &["get_num_desktops"]).await.is_some_and(|said| said.trim() == "1")
        })
        .await;
    }

    /// Starts a program that was built with the tests, with the daemon's environment; does not wait for its
    /// window.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn launch(&self, program: &str, daemon: &TestDaemon) -> Launched<'_> {
        Launched::new(self, program, daemon, &[])
    }

    /// [`Self::launch`] of `abide-gui` with arguments.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn launch_with(&self, daemon: &TestDaemon, arguments: &[&str]) -> Launched<'_> {
        Launched::new(self, "abide-gui", daemon, arguments)
    }

    /// For `DISPLAY`.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.display
    }

    /// Opens the real `abide-gui` on this daemon's home, 1280 by 800, and waits until it has the keyboard and
    /// is connected.
    ///
    /// # Panics
    /// It does not come so far.
    pub async fn open(&self, daemon: &TestDaemon) -> Window<'_> {
        let window = self.launch("abide-gui", daemon).window().await;
        window.wait_connected().await;
        window
    }

    /// The titles of all windows that are shown.
    pub async fn titles(&self) -> Vec<String> {
        let ids = self.ask("xdotool", &["search", "--onlyvisible", "--name", "."]).await.unwrap_or_default();
        let mut titles = Vec::new();
        for id in ids.lines() {
            // It may be gone by now.
            titles.extend(self.ask("xdotool", &["getwindowname", id]).await);
        }
        titles
    }

    /// Opens another program's window, which takes the keyboard.
    ///
    /// # Panics
    /// It does not open.
    pub async fn distract(&self) -> Child {
        let other = self.command("xev", &["-name", "other"]).spawn().expect("xev can be started");
        wait::wait_until("another window to have the keyboard", async || {
            let id = self.ask("xdotool", &["search", "--onlyvisible", "--name", "^other$"]).await;
            let active = self.ask("xdotool", &["getactivewindow"]).await;
            id.is_some_and(|id| Some(id) == active)
        })
        .await;
        other
    }

    /// Waits until the window manager has forgotten a window that was killed, and keeps its id from other
    /// clients. The display would give it to the next window, which the manager may take for the dead one and
    /// never show.
    async fn cleared(&self, window: &str) {
        let id: u32 = window.parse().expect("a window's id");
        let name = format!("0x{id:x}");
        wait::wait_until("the window manager to let go of the window", async || {
            let managed = said(&self.must("xprop", &["-root", "_NET_CLIENT_LIST"]).await);
            !managed.split([' ', ',']).any(|one| one == name)
        })
        .await;
        // The display may not have noticed yet that the window's program is gone. The places that it gives
        // meanwhile are given back.
        let mut others = Vec::new();
        wait::wait_until("the place of the killed window", async || {
            let mut kept = self.kept.lock().await;
            if kept.iter().any(|place| place.has(id)) {
                return true;
            }
            let place = Place::take(&self.display).await.expect("the display takes a client");
            let is_meant = place.has(id);
            if is_meant {
                kept.push(place);
            } else {
                others.push(place);
            }
            is_meant
        })
        .await;
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = process::program(program);
        command.args(arguments).env("DISPLAY", &self.display);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    async fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let output = process::finished(&mut self.command(program, arguments)).await;
        output.unwrap_or_else(|e| panic!("{program} cannot be run: {e}"))
    }

    /// A program's output, if it succeeds.
    async fn ask(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = self.run(program, arguments).await;
        output.status.success().then(|| said(&output.stdout))
    }

    /// [`Self::run`], which must succeed.
    async fn must(&self, program: &str, arguments: &[&str]) -> Vec<u8> {
        let output = self.run(program, arguments).await;
        let words = || format!("`{program} {}` failed: {}", arguments.join(" "), said(&output.stderr));
        assert!(output.status.success(), "{}", words());
        output.stdout
    }

    async fn set_clipboard(&self, text: &str) {
        let mut xclip = self.command("xclip", &["-selection", "clipboard", "-in"]);
        let output = process::finished(xclip.stdin(process::input(text))).await;
        assert!(output.expect("xclip can be run").status.success(), "xclip does not take the clipboard");
    }

    async fn clipboard(&self) -> Option<String> {
        self.ask("xclip", &["-selection", "clipboard", "-out"]).await
    }
}

fn said(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end_matches('\n').to_owned()
}

/// The folder for pictures of windows: `ABIDE_TEST_PICTURES`, or `pictures` in the target folder.
fn pictures() -> PathBuf {
    let asked: Option<OsString> = env::var_os("ABIDE_TEST_PICTURES");
    asked.map_or_else(
        || {
            let program = process::built("abide-gui");
            program.ancestors().nth(2).expect("TARGET/PROFILE/abide-gui").join("pictures")
        },
        PathBuf::from,
    )
}

impl Drop for Screen {
    /// Xvfb removes its lock and its socket only if it ends by itself.
    fn drop(&mut self) {
        let pid = self.server.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended already.
            let _ = kill_process(pid, Signal::TERM);
        }
        let server = std::cell::RefCell::new(&mut self.server);
        process::wait_blocking(GONE, || !matches!(server.borrow_mut().try_wait(), Ok(None)));
    }
}
