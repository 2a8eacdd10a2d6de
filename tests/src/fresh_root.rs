//! A Debian 12 as it is after its installation, in namespaces of its own: what happens in it ends and is gone
//! with it.

use crate::{daemon::CliOutput, packages, process, wait};
use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::LazyLock,
    time::Duration,
};
use tempfile::TempDir;

/// How long the installation of Debian may take.
const INSTALLATION: Duration = Duration::from_secs(600);

/// Installs Debian 12 into a folder, from the mirrors of this machine if they have it. It keeps packages that
/// ours need or recommend, so that a test does not need the network.
const INSTALL: &str = r#"
mirrors=$(apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | grep ' bookworm') ||
    mirrors='deb http://deb.debian.org/debian bookworm main'
trap '[ $? -eq 0 ] || rm -rf "$1"' EXIT
echo "$mirrors" | mmdebstrap --quiet --variant=minbase --skip=cleanup/apt --customize-hook='chroot "$1" apt-get install -qq --yes \
    --download-only ca-certificates git libwayland-client0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon-x11-0 libxkbcommon0 \
    >/dev/null' bookworm "$1" -
"#;

/// Makes the root of an own mount namespace from an installation, a layer in memory and the packages; prints
/// its process id, and ends with its standard input. (A chroot alone would not do: in it the kernel allows no
/// user namespaces.)
const ENTER: &str = r#"
set -eu
mount -t tmpfs -o size=700m none "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" none "$2/root"
mkdir "$2/root/packages" "$2/root/outside"
mount --bind "$3" "$2/root/packages"
mount --rbind /dev "$2/root/dev"
mount -t tmpfs -o mode=1777 none "$2/root/tmp"
read -r pid _ </proc/self/stat
mount -t proc none "$2/root/proc"
cd "$2/root"
pivot_root . outside
umount --lazy /outside
rmdir /outside
echo "$pid"
exec cat >/dev/null
"#;

static INSTALLED: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
    let mut hash = DefaultHasher::new();
    INSTALL.hash(&mut hash);
    let folder = packages::target().join(format!("debian-12-{:016x}", hash.finish()));
    if folder.exists() {
        return Ok(folder);
    }
    let unfinished = folder.with_extension(std::process::id().to_string());
    let mut command = process::blocking_program("sh");
    command.args(["-euc", INSTALL, "sh"]).arg(&unfinished).stdin(Stdio::null());
    let output = process::finished_blocking(&mut command, INSTALLATION).map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("Debian 12 cannot be installed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    // Another test may have been faster.
    fs::rename(&unfinished, &folder)
        .or_else(|error| if folder.exists() { Ok(()) } else { Err(error) })
        .map_err(|e| e.to_string())?;
    Ok(folder)
});

/// A system that runs nothing but what a test starts in it.
pub struct FreshRoot {
    holder: Child,
    process: String,
    _place: TempDir,
}

impl FreshRoot {
    /// With these files in its folder `/packages`.
    ///
    /// # Errors
    /// Why there cannot be one.
    ///
    /// # Panics
    /// There is no room for a temporary folder.
    pub fn enter(packages: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can install a system".to_owned());
        }
        let installed = INSTALLED.as_ref().map_err(Clone::clone)?;
        let place = tempfile::Builder::new().prefix("abide-").tempdir_in("/tmp").expect("a folder");
        let mut command = process::blocking_program("unshare");
        command.args(["--mount", "--pid", "--fork", "sh", "-c", ENTER, "sh"]);
        command.args([installed, place.path(), packages]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.spawn().map_err(|error| format!("cannot run `unshare`: {error}"))?;
        let mut process = String::new();
        BufReader::new(holder.stdout.take().expect("a pipe"))
            .read_line(&mut process)
            .expect("a pipe can be read");
        let root = Self { holder, process: process.trim().to_owned(), _place: place };
        if root.process.is_empty() {
            Err("this machine allows no mounts to make a root of".to_owned())
        } else {
            Ok(root)
        }
    }

    /// Runs a script as root.
    ///
    /// # Panics
    /// It does not end.
    #[must_use]
    pub fn run(&self, script: &str) -> CliOutput {
        self.carry_out(&["sh", "-c", script])
    }

    fn carry_out(&self, words: &[&str]) -> CliOutput {
        let mut command = process::blocking_program("nsenter");
        command.args(["--target", &self.process, "--mount", "--pid", "--root", "--wd", "env", "-i"]);
        command.args([
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG=C.UTF-8",
            "HOME=/root",
            "DEBIAN_FRONTEND=noninteractive",
        ]);
        command.args(words).stdin(Stdio::null());
        let output = process::finished_blocking(&mut command, 5 * wait::limit())
            .unwrap_or_else(|words| panic!("{words}"));
        CliOutput {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a script as this user, who logs in for it.
    ///
    /// # Panics
    /// It does not end.
    #[must_use]
    pub fn run_as(&self, user: &str, script: &str) -> CliOutput {
        self.carry_out(&["su", "--login", user, "--command", script])
    }

    /// [`Self::run`], which must succeed; returns the standard output.
    ///
    /// # Panics
    /// It fails.
    pub fn ok(&self, script: &str) -> String {
        success(script, self.run(script))
    }

    /// Waits until this script succeeds.
    ///
    /// # Panics
    /// It does not in time.
    pub fn wait_until(&self, what: &str, script: &str) {
        let mut last = None;
        let holds = process::wait_blocking(wait::limit(), || last.insert(self.run(script)).code == Some(0));
        assert!(holds, "waited {} s in vain for: {what}; {script}: {last:#?}", wait::limit().as_secs());
    }

    /// [`Self::run_as`], which must succeed; returns the standard output.
    ///
    /// # Panics
    /// It fails.
    pub fn ok_as(&self, user: &str, script: &str) -> String {
        success(script, self.run_as(user, script))
    }
}

fn success(script: &str, output: CliOutput) -> String {
    assert_eq!(output.code, Some(0), "{script}: {output:#?}");
    output.stdout
}

impl Drop for FreshRoot {
    fn drop(&mut self) {
        // The first process of the namespace ends, and the kernel ends all others.
        drop(self.holder.stdin.take());
        drop(self.holder.wait());
    }
}
