use super::{Picture, Screen, pictures, said};
use crate::{daemon::TestDaemon, process, wait};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::{self, File},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use tokio::process::Child;

/// The window's background, dark and light. A banner about the connection, at the top, has another.
const GROUNDS: [u32; 2] = [0x14_1517, 0xfb_faf8];
/// A point where the window shows only its background.
const EMPTY: (usize, usize) = (640, 3);

/// How long the picture of a failed test's window may take.
const LAST_PICTURE: Duration = Duration::from_secs(10);

/// Numbers the windows.
static WINDOWS: AtomicUsize = AtomicUsize::new(0);
/// Numbers the copies to the clipboard.
static COPIES: AtomicUsize = AtomicUsize::new(0);

/// A program that will show a window; dropping it kills it.
pub struct Launched<'a> {
    screen: &'a Screen,
    child: Child,
    log: PathBuf,
}

impl<'a> Launched<'a> {
    /// Kills it.
    ///
    /// # Panics
    /// It cannot be killed.
    pub async fn kill(mut self) {
        let pid = self.child.id().expect("it runs").to_string();
        let ids = self.screen.ask("xdotool", &["search", "--pid", &pid]).await.unwrap_or_default();
        self.child.kill().await.expect("it can be killed");
        for id in ids.lines() {
            self.screen.cleared(id).await;
        }
    }

    pub(super) fn new(screen: &'a Screen, program: &str, daemon: &TestDaemon, arguments: &[&str]) -> Self {
        let log = daemon.root().join(format!("window-{}.out", WINDOWS.fetch_add(1, Ordering::Relaxed)));
        let output = File::create(&log).expect("the file of the window's log");
        let child = process::program(process::built(program))
            .args(arguments)
            .env_clear()
            .env("ABIDE_LOG", "abide_gui=debug")
            .envs(daemon.variables())
            .env("DISPLAY", &screen.display)
            .env("ICED_BACKEND", "tiny-skia")
            .current_dir(daemon.root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .spawn()
            .expect("it can be started");
        Self { screen, child, log }
    }

    /// What it has written to its log.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has ended by itself, without a window.
    ///
    /// # Panics
    /// It does not.
    pub async fn ended(mut self) -> ExitStatus {
        wait::within("the program to end", self.child.wait()).await.expect("it can be waited for")
    }

    /// Waits for its window, 1280 by 800 with the keyboard.
    ///
    /// # Panics
    /// There is no such window in time.
    pub async fn window(self) -> Window<'a> {
        let Self { screen, mut child, log } = self;
        let pid = child.id().expect("it runs").to_string();
        let id = wait::wait_seeing("the window", async || {
            let found = screen.ask("xdotool", &["search", "--onlyvisible", "--pid", &pid]).await;
            let found = found.and_then(|found| found.lines().last().map(str::to_owned));
            match found.filter(|id| !id.is_empty()) {
                Some(id) => Ok(id),
                None => {
                    let all = screen.ask("xdotool", &["search", "--pid", &pid]).await;
                    let said = fs::read_to_string(&log).unwrap_or_default();
                    Err(format!(
                        "ended: {:?}; windows, hidden ones too: {all:?}; its log:\n{said}",
                        child.try_wait()
                    ))
                }
            }
        })
        .await;
        let window = Window { screen, child, id, log };
        window.resize(1280, 800).await;
        window.activate().await;
        window
    }
}

/// The real window; dropped, it is killed.
pub struct Window<'a> {
    screen: &'a Screen,
    child: Child,
    /// As X names it.
    id: String,
    log: PathBuf,
}

impl Window<'_> {
    /// Waits until no banner reports a lost connection.
    ///
    /// # Panics
    /// One does to the end.
    pub async fn wait_connected(&self) {
        self.wait_picture("the window to be connected", |picture| {
            picture.at(EMPTY.0, EMPTY.1).is_some_and(|colour| GROUNDS.contains(&colour))
        })
        .await;
    }

    /// Waits until a banner reports a lost connection.
    ///
    /// # Panics
    /// None does.
    pub async fn wait_disconnected(&self) {
        self.wait_picture("the window to say that it is not connected", |picture| {
            picture.at(EMPTY.0, EMPTY.1).is_some_and(|colour| !GROUNDS.contains(&colour))
        })
        .await;
    }

    /// The process.
    ///
    /// # Panics
    /// It has ended.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the window runs")
    }

    /// Gives it the keyboard.
    pub async fn activate(&self) {
        if self.has_keyboard().await {
            return;
        }
        // Once: activating a window again takes the keyboard away for a moment.
        self.screen.must("xdotool", &["windowactivate", &self.id]).await;
        wait::wait_until("the window to have the keyboard", async || self.has_keyboard().await).await;
    }

    /// Whether it is the active window, and keys go to it.
    pub async fn has_keyboard(&self) -> bool {
        let active = self.screen.ask("xdotool", &["getactivewindow"]).await;
        let focused = self.screen.ask("xdotool", &["getwindowfocus"]).await;
        [active, focused].iter().all(|id| id.as_deref() == Some(&*self.id))
    }

    /// In pixels.
    pub async fn resize(&self, width: usize, height: usize) {
        let (w, h) = (width.to_string(), height.to_string());
        self.screen.must("xdotool", &["windowsize", &self.id, &w, &h]).await;
        self.wait_picture("the window to have its size", |picture| picture.size() == (width, height)).await;
    }

    /// Presses keys one after the other, as xdotool names them: `Return`, `ctrl+n`.
    pub async fn press(&self, keys: &[&str]) {
        self.activate().await;
        self.screen.must("xdotool", &[&["key", "--delay", "20"], keys].concat()).await;
    }

    /// Writes on the keyboard.
    pub async fn type_text(&self, text: &str) {
        self.activate().await;
        self.screen.must("xdotool", &["type", "--delay", "8", text]).await;
    }

    /// Moves the keyboard from the input to the waiting card, and waits until the card accepts keys: it must
    /// have been wholly visible, selected and unmoved for half a second.
    ///
    /// # Panics
    /// It does not.
    pub async fn to_card(&self) {
        self.to_input().await;
        let takes_keys = "the selected card takes keys";
        let before = self.logged(takes_keys);
        self.press(&["Escape"]).await;
        wait::wait_until("the card to take keys", async || self.logged(takes_keys) > before).await;
    }

    /// Answers with the choice of this number, from 1: the digit picks it, Enter answers.
    pub async fn choose(&self, number: usize) {
        self.to_card().await;
        self.press(&[&number.to_string(), "Return"]).await;
    }

    /// Stops the task: one Escape leaves the input, two stop.
    pub async fn stop(&self) {
        self.leave_input().await;
        self.press_apart("Escape").await;
    }

    /// Types an answer and sends it; Enter works once the question has been shown for a moment.
    pub async fn reply(&self, text: &str) {
        self.type_text(text).await;
        self.press_until("Return", "asked of the daemon").await;
    }

    /// Declines to answer.
    pub async fn decline(&self) {
        self.press_apart("ctrl+d").await;
    }

    /// Ends the sub-task that is shown, by the key that arms it and Enter, which counts after a moment.
    pub async fn confirm(&self, key: &str) {
        self.press_until(key, "armed").await;
        self.press_until("Return", "asked of the daemon").await;
    }

    /// Takes back what the task has changed in files: one key shows it, then asks, and Enter confirms.
    pub async fn take_back(&self) {
        let said = "asked of the daemon";
        let before = self.logged(said);
        wait::wait_until("the undo to be asked for", async || {
            self.press(&["ctrl+shift+u", "Return"]).await;
            self.logged(said) > before
        })
        .await;
    }

    /// Presses a key twice, with the pause between them that makes the second one count.
    async fn press_apart(&self, key: &str) {
        let counts = "the second act counts";
        let before = self.logged(counts);
        self.press_until(key, "to be done by a second act, apart from the first").await;
        wait::wait_until(counts, async || self.logged(counts) > before).await;
        self.press(&[key]).await;
    }

    /// Presses a key again and again until the log says that it had its effect: a card ignores keys at first.
    async fn press_until(&self, key: &str, said: &str) {
        let before = self.logged(said);
        wait::wait_until(said, async || {
            self.press(&[key]).await;
            self.logged(said) > before
        })
        .await;
    }

    /// Moves the keyboard to the input, if no field has it. (Where one has it, the key would have no effect
    /// that can be waited for, and would bring the caret back after an Escape that follows at once.)
    async fn to_input(&self) {
        if !self.says_caret(true) {
            self.press(&["ctrl+l"]).await;
            self.wait_caret(true).await;
        }
    }

    /// Takes the keyboard away from the input, whether it is there or not.
    pub async fn leave_input(&self) {
        self.to_input().await;
        self.press(&["Escape"]).await;
        self.wait_caret(false).await;
    }

    /// Waits until a caret is drawn (a field has the keyboard), or until none is.
    ///
    /// # Panics
    /// It does not come, or go, in time.
    pub async fn wait_caret(&self, is_drawn: bool) {
        wait::wait_until("the caret to come or go", async || self.says_caret(is_drawn)).await;
    }

    /// Whether the log says that a caret is drawn, or that none is.
    fn says_caret(&self, is_drawn: bool) -> bool {
        let log = self.log();
        let last = log.lines().rev().find(|line| line.contains("the caret moved"));
        last.is_some_and(|line| line.contains(&format!("is_drawn={is_drawn}")))
    }

    /// Moves the pointer to this point of the window and presses its first button.
    pub async fn click(&self, x: usize, y: usize) {
        let (x, y) = (x.to_string(), y.to_string());
        self.screen.must("xdotool", &["mousemove", "--sync", "--window", &self.id, &x, &y]).await;
        self.screen.must("xdotool", &["click", "1"]).await;
    }

    /// Turns the wheel up over the middle of the window, so many clicks, 60 a second.
    pub async fn wheel_up(&self, clicks: usize) {
        let middle = ["mousemove", "--sync", "--window", &self.id, "800", "400"];
        self.screen.must("xdotool", &middle).await;
        let clicks = clicks.to_string();
        self.screen.must("xdotool", &["click", "--repeat", &clicks, "--delay", "16", "4"]).await;
    }

    pub async fn title(&self) -> String {
        said(&self.screen.must("xdotool", &["getwindowname", &self.id]).await)
    }

    /// Waits until its title satisfies `is_so`.
    ///
    /// # Panics
    /// It is not in time.
    pub async fn wait_title(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        wait::wait_for(&format!("a title {what}"), async || Some(self.title().await).filter(|t| is_so(t)))
            .await
    }

    /// Whether it asks the window manager for attention.
    pub async fn is_urgent(&self) -> bool {
        said(&self.screen.must("xprop", &["-id", &self.id, "WM_HINTS"]).await).contains("urgency")
    }

    /// Its pixels now.
    ///
    /// # Panics
    /// It is not there.
    pub async fn picture(&self) -> Picture {
        let ppm = self.screen.must("import", &["-silent", "-window", &self.id, "-depth", "8", "ppm:-"]).await;
        Picture::parse(&ppm).expect("a picture of the window")
    }

    /// Waits until its picture satisfies `is_so`.
    ///
    /// # Panics
    /// It does not in time.
    pub async fn wait_picture(&self, what: &str, is_so: impl Fn(&Picture) -> bool) {
        wait::wait_until(what, async || is_so(&self.picture().await)).await;
    }

    /// Saves a picture of it, for a person to look at.
    ///
    /// # Panics
    /// It cannot be written.
    pub async fn keep_picture(&self, name: &str) {
        fs::create_dir_all(pictures()).expect("the folder of pictures can be made");
        let file = pictures().join(format!("{name}.png")).display().to_string();
        self.screen.must("import", &["-silent", "-window", &self.id, &file]).await;
    }

    /// All that its conversation shows, as Ctrl Shift C copies it: row by row, with live output and open
    /// cards.
    ///
    /// # Panics
    /// It copies nothing.
    pub async fn text(&self) -> String {
        let mark = format!("nothing copied yet, {}", COPIES.fetch_add(1, Ordering::Relaxed));
        self.screen.set_clipboard(&mark).await;
        wait::wait_for("the window to copy its text", async || {
            self.press(&["ctrl+shift+c"]).await;
            self.screen.clipboard().await.filter(|text| *text != mark)
        })
        .await
    }

    /// Waits until its conversation shows `text`; returns all that it shows.
    ///
    /// # Panics
    /// It does not in time.
    pub async fn reads(&self, text: &str) -> String {
        wait::wait_seeing(&format!("{text:?} in the window"), async || {
            let all = self.text().await;
            if all.contains(text) { Ok(all) } else { Err(all) }
        })
        .await
    }

    /// Waits until a card that needs a person is drawn and contains `text`; returns all that the conversation
    /// shows.
    ///
    /// # Panics
    /// None does in time.
    pub async fn asks(&self, text: &str) -> String {
        let all = self.reads(text).await;
        self.wait_picture(&format!("the card that says {text:?}"), |picture| picture.has_card()).await;
        all
    }

    /// Allows the waiting call of this tool by its two keys, once its card is visible.
    ///
    /// # Panics
    /// None does in time.
    pub async fn approve(&self, tool: &str) {
        self.asks(&format!("Approve {tool}?")).await;
        self.to_card().await;
        self.press(&["a", "Return"]).await;
    }

    /// What it has written to its log.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// How often its log contains `text`.
    #[must_use]
    pub fn logged(&self, text: &str) -> usize {
        self.log().matches(text).count()
    }

    /// SIGKILL.
    ///
    /// # Panics
    /// It cannot be killed.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("the window can be killed");
        self.screen.cleared(&self.id).await;
    }

    /// Minimizes it, and waits until it is.
    pub async fn minimize(&self) {
        self.screen.must("xdotool", &["windowminimize", &self.id]).await;
        wait::wait_until("the window to be minimized", async || {
            said(&self.screen.must("xprop", &["-id", &self.id, "WM_STATE"]).await).contains("Iconic")
        })
        .await;
    }

    /// Its class, as the desktop knows it.
    pub async fn class(&self) -> String {
        said(&self.screen.must("xprop", &["-id", &self.id, "WM_CLASS"]).await)
    }

    /// Stops its process (SIGSTOP), as if it hung.
    ///
    /// # Panics
    /// It has ended.
    pub fn hang(&self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, Signal::STOP).expect("it can be stopped");
    }

    /// Waits until it has ended by itself.
    ///
    /// # Panics
    /// It does not.
    pub async fn ended(mut self) -> ExitStatus {
        wait::within("the window to end", self.child.wait()).await.expect("the window can be waited for")
    }
}

impl Drop for Window<'_> {
    /// Prints the window's log and picture if the test fails.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        if !matches!(self.child.try_wait(), Ok(None)) {
            // `import` of a window that is gone waits for a click on another one.
            return eprintln!(
                "--- the window had ended by itself, or with its daemon; its log ---\n{}",
                self.log()
            );
        }
        let file = pictures().join(format!("failed-{}.png", self.id));
        let mut import = process::blocking_program("import");
        import.args(["-silent", "-window", &self.id]).arg(&file).stdin(Stdio::null());
        let kept = fs::create_dir_all(pictures()).and_then(|()| {
            process::finished_blocking(import.env("DISPLAY", &self.screen.display), LAST_PICTURE)
        });
        let picture = match kept {
            Ok(output) if output.status.success() => file.display().to_string(),
            Ok(output) => format!("not to be had: {}", said(&output.stderr)),
            Err(words) => format!("not to be had: {words}"),
        };
        eprintln!("--- the window's picture: {picture}; its log ---\n{}", self.log());
    }
}
