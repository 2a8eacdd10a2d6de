//! Opens a text in the person's editor: the one in `$VISUAL`, else the desktop's.

use abide_host::home::create_private_dir;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};
use tokio::sync::oneshot;

/// How long the file of an opened text is kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most characters of a title in its file's name.
const MAX_NAME: usize = 40;

/// Writes the text to a file in this folder, readable by this user only.
///
/// # Errors
/// The file cannot be written.
pub fn write(folder: &Path, title: &str, text: &str) -> io::Result<PathBuf> {
    create_private_dir(folder).map_err(io::Error::other)?;
    forget_old(folder);
    let file = folder.join(name(title));
    fs::write(&file, text)?;
    Ok(file)
}

fn name(title: &str) -> String {
    let letters = title.chars().map(|c| if c.is_alphanumeric() { c } else { '-' });
    let name: String = letters.take(MAX_NAME).collect();
    format!("{}.txt", name.trim_matches('-'))
}

/// Removes old files; those that cannot be examined stay.
fn forget_old(folder: &Path) {
    #[expect(clippy::disallowed_methods, reason = "compared with what the file system wrote")]
    let now = SystemTime::now();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = written.is_ok_and(|written| now.duration_since(written).is_ok_and(|age| age > KEPT));
        if is_old && let Err(error) = fs::remove_file(entry.path()) {
            tracing::debug!(%error, file = %entry.path().display(), "cannot remove a text that was shown");
        }
    }
}

/// Opens the file and returns when the editor ends, or with an error.
///
/// # Errors
/// For a person: which program could not be started, and what to do.
pub async fn open(file: PathBuf) -> Result<(), String> {
    let (tell, told) = oneshot::channel();
    // The editor may run longer than the window; the window does not wait for this thread to end.
    let started = std::thread::Builder::new().name("editor".to_owned()).spawn(move || {
        let visual = std::env::var("VISUAL").ok().filter(|visual| !visual.trim().is_empty());
        // An editor that needs a terminal fails here.
        let is_shown = visual.is_some_and(|visual| run(&visual, &file).is_ok_and(|is_ok| is_ok));
        let opened = if is_shown { Ok(true) } else { run(OPENER, &file) };
        let _ = tell.send(match opened {
            // On Windows this command reports failure even when it succeeds.
            Ok(is_ok) if is_ok || cfg!(windows) => Ok(()),
            Ok(_) => Err(format!("{OPENER} found no program for {}.", file.display())),
            Err(error) => Err(format!(
                "{OPENER} could not be started ({error}). Name an editor in VISUAL, or open {} yourself.",
                file.display()
            )),
        });
    });
    match started {
        Ok(_) => told.await.unwrap_or(Ok(())),
        Err(error) => Err(format!("The editor could not be started: {error}")),
    }
}

const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// Runs the program, given with its arguments; returns whether it succeeded.
fn run(program: &str, file: &Path) -> io::Result<bool> {
    let mut words = program.split_whitespace();
    #[expect(clippy::disallowed_methods, reason = "the person's own editor, at their wish")]
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_under_the_name_of_what_it_is() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("shown");
        let file = write(&folder, "shell ../../etc/passwd; rm -rf \u{202e}x", "words").unwrap();
        assert_eq!(file.parent(), Some(&*folder));
        assert_eq!(fs::read_to_string(&file).unwrap(), "words");
        assert_eq!(name("seq 5000"), "seq-5000.txt");
        assert!(name(&"long ".repeat(99)).len() < 50);
    }

    #[test]
    fn what_was_shown_yesterday_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let old = write(home.path(), "old", "words").unwrap();
        #[expect(clippy::disallowed_methods, reason = "compared with what the file system wrote")]
        let yesterday = SystemTime::now() - Duration::from_secs(25 * 60 * 60);
        fs::File::options().write(true).open(&old).unwrap().set_modified(yesterday).unwrap();
        let new = write(home.path(), "new", "words").unwrap();
        assert!(!old.exists() && new.exists());
    }
}
