//! Programs that stand in for systemd's.

use crate::{daemon::TestDaemon, process};
use std::{fs, path::PathBuf};
use tempfile::TempDir;

/// `systemctl` as far as `abide` uses it. `$PLAYED` has the log and, as files, how it behaves.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "systemctl $*" >>"$PLAYED/log"
units="${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"
for word; do
    case $word in
    show) [ ! -e "$PLAYED/no-bus" ] || { echo 'Failed to connect to bus: No medium found' >&2; exit 1; } ;;
    is-enabled) for unit in abided.service abided.socket; do
            ls "$units"/*.wants/"$unit" >/dev/null 2>&1 && echo enabled || echo disabled
        done ;;
    enable) [ ! -e "$PLAYED/no-enable" ] || { echo 'Failed to enable unit: Access denied' >&2; exit 1; }
        mkdir -p "$units/default.target.wants" "$units/sockets.target.wants"
        ln -sf "$units/abided.service" "$units/default.target.wants/abided.service"
        [ ! -e "$PLAYED/half-enable" ] || { echo 'Failed to enable unit: No space left on device' >&2; exit 1; }
        ln -sf "$units/abided.socket" "$units/sockets.target.wants/abided.socket" ;;
    disable) rm -f "$units"/*.wants/abided.* ;;
    esac
done
"#;

const LOGINCTL: &str = r#"#!/bin/sh
echo "loginctl $*" >>"$PLAYED/log"
case $* in
*show-user*) [ -e "$PLAYED/lingers" ] && echo yes || echo no ;;
*enable-linger*) [ ! -e "$PLAYED/no-linger" ] || { echo 'Could not enable linger: Access denied' >&2; exit 1; }
    touch "$PLAYED/lingers" ;;
*disable-linger*) rm "$PLAYED/lingers" ;;
esac
"#;

/// A daemon's home whose `systemctl` and `loginctl` are played.
pub struct Played {
    folder: TempDir,
}

impl Played {
    /// Puts them first in the `PATH` of the daemon's CLI. `XDG_RUNTIME_DIR` is set, as in a login session.
    ///
    /// # Panics
    /// They cannot be written.
    pub fn for_daemon(daemon: &mut TestDaemon) -> Self {
        let folder =
            tempfile::Builder::new().prefix("abide-").tempdir_in("/tmp").expect("a folder for the test");
        let played = Self { folder };
        fs::write(played.log_file(), "").expect("the log can be written");
        let programs = played.programs();
        fs::create_dir(&programs).expect("a folder for programs");
        for (name, text) in [("systemctl", SYSTEMCTL), ("loginctl", LOGINCTL)] {
            process::write_program(&programs.join(name), process::input(text), 0, 0o755);
        }
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        daemon.set_env("PATH", &format!("{}:{path}", programs.display()));
        daemon.set_env("PLAYED", &played.folder.path().display().to_string());
        daemon.set_env("XDG_RUNTIME_DIR", &played.folder.path().display().to_string());
        played
    }

    /// Makes it behave: `no-bus`, `no-enable`, `half-enable`, `no-linger`, `lingers`.
    ///
    /// # Panics
    /// It cannot be told.
    pub fn behave(&self, how: &str) {
        fs::write(self.folder.path().join(how), "").expect("a file can be written");
    }

    /// Whether it behaves so.
    #[must_use]
    pub fn behaves(&self, how: &str) -> bool {
        self.folder.path().join(how).exists()
    }

    /// What it was asked since the last call, without questions that change nothing.
    ///
    /// # Panics
    /// The log cannot be read.
    pub fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.log_file()).expect("the log can be read");
        fs::write(self.log_file(), "").expect("the log can be written");
        let changes =
            |line: &&str| !["show", "is-enabled", "reset-failed"].iter().any(|word| line.contains(word));
        let short = |line: &str| {
            line.replace("--user --no-pager --no-ask-password ", "").replace("--no-ask-password ", "")
        };
        text.lines().filter(changes).map(short).collect()
    }

    /// A folder without any program, for a `PATH` that has no systemd.
    ///
    /// # Panics
    /// It cannot be made.
    #[must_use]
    pub fn no_programs(&self) -> PathBuf {
        let folder = self.folder.path().join("none");
        fs::create_dir_all(&folder).expect("a folder for the test");
        folder
    }

    /// The folder of the programs.
    #[must_use]
    pub fn programs(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}
