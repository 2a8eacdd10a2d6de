//! `abided config edit`: a person's editor on a copy of the file, which takes the file's place once it is
//! understood. The copy is removed only when nothing in it could be missed.

use crate::{complain, failure, say};
use abide_daemon::{config::Config, instance::private_folder, settings};
use abide_host::home::Home;
use anyhow::{Context as _, bail};
use serde_json::json;
use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, IsTerminal as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::spawn_blocking,
};

pub(super) fn run(as_json: bool) -> ExitCode {
    edit(as_json).unwrap_or_else(|error| failure::failed(&format!("{error:#}"), as_json))
}

fn edit(as_json: bool) -> anyhow::Result<ExitCode> {
    let home = Home::from_env()?;
    let file = home.config_file();
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(env::var_os).find(|name| !name.is_empty());
    let editor = named.with_context(|| {
        format!("neither VISUAL nor EDITOR names an editor; set one, or edit {} by hand", file.display())
    })?;
    let before = Config::read(&file)?;
    for folder in [&home.config_dir, &home.state_dir] {
        private_folder(folder)?;
    }
    let copy = copy_in(&home.state_dir, before.as_deref().unwrap_or_default())
        .with_context(|| format!("cannot write into {}", home.state_dir.display()))?;
    let edit = Edit { file, before, copy, editor };
    let is_changed = edit.carry_out(!as_json && io::stdin().is_terminal());
    let kept = if is_changed.is_err() && edit.has_work() {
        format!(", and what you wrote is kept in {}", edit.copy.display())
    } else {
        // A copy that stays harms nobody.
        let _ = fs::remove_file(&edit.copy);
        String::new()
    };
    let is_changed =
        is_changed.map_err(|error| anyhow::anyhow!("{error:#}; nothing is put in place{kept}"))?;
    let words = match (as_json, is_changed) {
        (true, _) => json!({ "file": edit.file, "changed": is_changed }).to_string(),
        (false, true) => format!("{} is changed", edit.file.display()),
        (false, false) => format!("{} is unchanged", edit.file.display()),
    };
    Ok(say(&words))
}

/// A new file, beside those of earlier edits that were kept. Only this user can read it, as the configuration
/// may be private.
fn copy_in(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let path = folder.join(format!("config-edit.{number}.toml"));
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(e),
        }
    }
}

struct Edit {
    file: PathBuf,
    before: Option<String>,
    copy: PathBuf,
    /// A command line, as shells have it in `EDITOR`.
    editor: OsString,
}

impl Edit {
    /// Lets the person edit the copy until it is understood, and puts it in place. Returns whether the file
    /// has changed.
    fn carry_out(&self, asks: bool) -> anyhow::Result<bool> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let is_changed = runtime.block_on(async {
            // From here on Ctrl-C does not end this program, which has to say where the copy is.
            let mut interrupts = signal(SignalKind::interrupt())?;
            loop {
                let mut editing = spawn_blocking(self.editor());
                loop {
                    tokio::select! {
                        edited = &mut editing => break edited??,
                        // It is the editor's.
                        _ = interrupts.recv() => {}
                    }
                }
                let problem = match self.read() {
                    Ok(text) => return self.put_in_place(&text),
                    Err(problem) if asks => problem,
                    Err(problem) => return Err(problem),
                };
                complain(&format!("error: {problem}"));
                let again = tokio::select! {
                    again = spawn_blocking(goes_on) => again??,
                    _ = interrupts.recv() => false,
                };
                if !again {
                    bail!("it is not valid");
                }
            }
        });
        // A read of the terminal may still be under way.
        runtime.shutdown_background();
        is_changed
    }

    /// Runs the editor to its end.
    fn editor(&self) -> impl FnOnce() -> anyhow::Result<()> + Send + 'static {
        let shown = self.editor.display().to_string();
        let mut line = self.editor.clone();
        line.push(" \"$1\"");
        #[expect(
            clippy::disallowed_methods,
            reason = "a person works in it, and this program waits for its end"
        )]
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(line).arg("sh").arg(&self.copy);
        move || {
            let status = shell.status().with_context(|| format!("cannot run the editor ({shown})"))?;
            anyhow::ensure!(status.success(), "the editor ({shown}) failed: {status}");
            Ok(())
        }
    }

    /// Whether the copy differs from the file.
    fn has_work(&self) -> bool {
        let before = self.before.as_deref().unwrap_or_default();
        fs::read(&self.copy).is_ok_and(|now| now != before.as_bytes())
    }

    fn read(&self) -> anyhow::Result<String> {
        let text = Config::read(&self.copy)?.context("the editor has removed its file")?;
        Config::of_file(&self.file, Some(&text))?;
        Ok(text)
    }

    fn put_in_place(&self, text: &str) -> anyhow::Result<bool> {
        if self.before.as_deref().unwrap_or_default() == text {
            return Ok(false);
        }
        settings::replace(&self.file, self.before.as_deref(), text)?;
        Ok(true)
    }
}

/// Asks on the terminal; anything but a no is a yes.
#[expect(clippy::print_stdout, reason = "a question to the person at the terminal")]
fn goes_on() -> io::Result<bool> {
    print!("Edit it again? [Y/n] ");
    io::stdout().flush()?;
    let mut answer = String::new();
    let is_end = io::stdin().read_line(&mut answer)? == 0;
    Ok(!is_end && !["n", "no"].contains(&answer.trim().to_lowercase().as_str()))
}
