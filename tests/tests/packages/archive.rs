//! The .tar.gz: used where it is unpacked, installed, moved, upgraded and removed, with the files of others
//! beside it.

use abide_tests::{packages, process, skip::skip};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// Archives, a prefix, and a home.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::Builder::new().prefix("abide-").tempdir_in("/tmp").unwrap());
        for folder in ["home", "prefix/bin", "prefix/share/applications"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        fs::write(place.path("prefix/bin/other"), "of somebody else").unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Unpacks the archive of a version; returns its folder.
    fn unpack(&self, version: &str) -> PathBuf {
        let name = format!("abide-{version}-linux-{}", std::env::consts::ARCH);
        let archive = packages::built().join(format!("{name}.tar.gz"));
        process::succeeds(self.command("tar").arg("-xzf").arg(archive).arg("-C").arg(self.0.path()));
        self.path(&name)
    }

    /// As [`Self::unpack`], with short texts for programs.
    fn unpack_small(&self, version: &str) -> PathBuf {
        let folder = self.unpack(version);
        for program in ["abide", "abided", "abide-gui"] {
            fs::write(folder.join("bin").join(program), format!("{program} {version}")).unwrap();
        }
        folder
    }

    /// A program with the environment of a person.
    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = process::blocking_program(program.as_ref());
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path("home")).current_dir("/");
        command.env("ABIDE_HOME", self.path("a"));
        command
    }

    /// `install.sh` of that folder.
    fn install(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = self.command(folder.join("install.sh"));
        command.arg("--prefix").arg(self.path("prefix")).args(arguments);
        command
    }

    fn demo(&self, bin: &Path) {
        let said = process::succeeds(self.command(bin.join("abide")).args(["demo", "--json"]));
        assert!(said.contains("completed"), "{said}");
        process::succeeds(self.command(bin.join("abide")).args(["daemon", "stop"]));
    }
}

/// Every file and folder beneath this one, with the mode and the checksum of each file. Folders end with `/`.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(open) = folders.pop() {
        found.insert(format!("{}/", open.strip_prefix(folder).unwrap().display()), "folder".to_owned());
        for entry in fs::read_dir(&open).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let (mode, content) =
                    (entry.metadata().unwrap().permissions().mode(), fs::read(&path).unwrap());
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, format!("{mode:o} {:08x}", crc32fast::hash(&content)));
            }
        }
    }
    found
}

/// Names what differs.
fn assert_same(now: &BTreeMap<String, String>, before: &BTreeMap<String, String>, what: &str) {
    let gone: Vec<_> = before.iter().filter(|(path, state)| now.get(*path) != Some(*state)).collect();
    let new: Vec<_> = now.iter().filter(|(path, state)| before.get(*path) != Some(*state)).collect();
    assert!(gone.is_empty() && new.is_empty(), "{what}: there was {gone:#?}, and there is {new:#?}");
}

fn refused(command: &mut Command) -> String {
    let output: Output = process::finished_blocking(command, abide_tests::wait::limit()).unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{said}");
    said
}

#[test]
fn the_archive_is_used_in_place_installed_moved_and_removed() {
    let place = Place::new();
    let folder = place.unpack(packages::NOW);
    place.demo(&folder.join("bin"));

    let prefix = place.path("prefix");
    let before = tree(&prefix);
    let said = process::succeeds(&mut place.install(&folder, &[]));
    assert!(
        said.contains(&format!("{}/bin/abide demo", prefix.display())),
        "how to begin, as it is not in PATH: {said}"
    );
    for file in ["share/systemd/user/abided.service", "share/applications/dev.abide.Abide.desktop"] {
        let text = fs::read_to_string(prefix.join(file)).unwrap();
        assert!(text.contains(&format!("{}/bin/abide", prefix.display())), "{file}: {text}");
    }
    fs::remove_dir_all(&folder).unwrap();
    let moved = place.path("moved");
    fs::rename(&prefix, &moved).unwrap();
    place.demo(&moved.join("bin"));
    assert!(
        refused(&mut place.command(moved.join("share/abide/install.sh"))).contains("can only --uninstall")
    );
    process::succeeds(place.command(moved.join("share/abide/install.sh")).arg("--uninstall"));
    assert_same(&tree(&moved), &before, "what was there before, and nothing else");
    assert!(place.path("a/data/abide.db").exists(), "data stays");
}

#[test]
fn a_newer_archive_replaces_what_the_older_one_had() {
    let place = Place::new();
    let (older, newer) = (place.unpack_small(packages::NOW), place.unpack_small(packages::NEXT));
    let prefix = place.path("prefix");
    let before = tree(&prefix);
    fs::create_dir(older.join("share/abide/sub")).unwrap();
    fs::write(older.join("share/abide/sub/old"), "not in the next version").unwrap();
    process::succeeds(&mut place.install(&older, &[]));
    assert!(prefix.join("share/abide/sub/old").exists());
    process::succeeds(&mut place.install(&newer, &[]));
    assert_eq!(fs::read_to_string(prefix.join("bin/abide")).unwrap(), format!("abide {}", packages::NEXT));
    assert!(!prefix.join("share/abide/sub/old").exists());
    let with_window = tree(&prefix);
    process::succeeds(&mut place.install(&newer, &[]));
    assert_same(&tree(&prefix), &with_window, "the same once more changes nothing");

    process::succeeds(&mut place.install(&newer, &["--without-window"]));
    let without_window = tree(&prefix);
    assert!(
        !without_window.keys().any(|path| path.contains("abide-gui") && !path.ends_with('/')),
        "{without_window:#?}"
    );
    assert!(prefix.join("bin/abided").exists());
    process::succeeds(&mut place.install(&newer, &["--uninstall"]));
    assert_same(&tree(&prefix), &before, "all is removed, and nothing else");
    assert!(refused(&mut place.install(&newer, &["--uninstall"])).contains("nothing is installed in"));
}

#[test]
fn what_others_have_written_is_neither_overwritten_nor_removed() {
    let place = Place::new();
    let folder = place.unpack_small(packages::NOW);
    let prefix = place.path("prefix");
    fs::write(prefix.join("bin/abide"), "another program of this name").unwrap();
    let before = tree(&prefix);
    let said = refused(&mut place.install(&folder, &[]));
    assert!(
        said.contains(&prefix.join("bin/abide").display().to_string()) && said.contains("Move them away"),
        "{said}"
    );
    assert_same(&tree(&prefix), &before, "nothing was changed");
    fs::remove_file(prefix.join("bin/abide")).unwrap();

    process::succeeds(&mut place.install(&folder, &[]));
    let unit = prefix.join("share/systemd/user/abided.service");
    fs::write(&unit, "edited by hand").unwrap();
    let edited = tree(&prefix);
    assert!(refused(&mut place.install(&folder, &[])).contains("abided.service"));
    assert_same(&tree(&prefix), &edited, "nothing was changed");
    let said = process::succeeds(&mut place.install(&folder, &["--uninstall"]));
    assert!(said.contains("Kept") && said.contains(&unit.display().to_string()), "{said}");
    assert_eq!(fs::read_to_string(unit).unwrap(), "edited by hand");
    assert!(!prefix.join("bin/abide").exists());

    // Nobody can make a folder there, root neither.
    let said = refused(place.command(folder.join("install.sh")).args(["--prefix", "/proc/abide"]));
    assert!(said.contains("/proc/abide cannot be written"), "{said}");
    let spaced = place.path("with space");
    let mut command = place.command(folder.join("install.sh"));
    let said = refused(command.arg("--prefix").arg(&spaced));
    assert!(said.contains("cannot name such a folder") && !spaced.exists(), "{said}");
}

/// A program that comes first in PATH, and does this instead of its work, at its calls whose number this
/// condition of test(1) is true for.
fn failing(place: &Place, program: &str, when: &str, instead: &str) -> String {
    let folder = place.path(&format!("{program}{}", when.replace(' ', "-")));
    fs::create_dir(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\necho >>\"$0.calls\"\n! [ \"$(wc -l <\"$0.calls\")\" {when} ] || {instead}\nexec /usr/bin/{program} \"$@\"\n"
    );
    process::write_program(&folder.join(program), process::input(&script), 0, 0o755);
    format!("{}:/usr/bin:/bin", folder.display())
}

const NO_ROOM: &str = "{ echo 'No space left on device' >&2; exit 1; }";

#[test]
fn a_failure_at_any_moment_leaves_the_installed_version() {
    let place = Place::new();
    let (older, newer) = (place.unpack_small(packages::NOW), place.unpack_small(packages::NEXT));
    let prefix = place.path("prefix");
    let empty = tree(&prefix);
    for (program, n) in [("mkdir", 30), ("cp", 5), ("sed", 3), ("mv", 1), ("mv", 40)] {
        let path = failing(&place, program, &format!("-eq {n}"), NO_ROOM);
        let said = refused(place.install(&older, &[]).env("PATH", path));
        assert!(
            said.contains("No space left") && said.contains("what was there before is as it was"),
            "{program}: {said}"
        );
        assert_same(&tree(&prefix), &empty, &format!("{program} {n}"));
    }
    process::succeeds(&mut place.install(&older, &[]));
    let installed = tree(&prefix);
    for (program, n) in [("cp", 6), ("ln", 20), ("mv", 2), ("mv", 41)] {
        let instead = if program == "ln" { "exec kill -TERM $PPID" } else { "exit 1" };
        let path = failing(&place, program, &format!("-eq {n}"), instead);
        refused(place.install(&newer, &[]).env("PATH", path));
        assert_same(&tree(&prefix), &installed, &format!("{program} {n}"));
    }
}

/// The files of the installed version, without its folders.
fn installed_files(prefix: &Path) -> usize {
    let manifest = fs::read_to_string(prefix.join("share/abide/manifest")).unwrap();
    manifest.lines().filter(|line| !line.starts_with("folder")).count()
}

#[test]
fn a_failure_after_the_new_version_is_in_place_is_said_and_mended_by_the_same_once_more() {
    let place = Place::new();
    let (older, newer) = (place.unpack_small(packages::NOW), place.unpack_small(packages::NEXT));
    let prefix = place.path("prefix");
    let before = tree(&prefix);
    let old = prefix.join("share/abide/old");
    fs::write(older.join("share/abide/old"), "not in the next version").unwrap();
    process::succeeds(&mut place.install(&newer, &[]));
    let (only_newer, targets) = (tree(&prefix), installed_files(&prefix));
    process::succeeds(&mut place.install(&newer, &["--uninstall"]));
    // The old file's removal, and the last of the manifests: the first is put in place before all files.
    let last = format!("-eq {}", 1 + targets + 1);
    for (program, when, instead) in [("rm", "-le 1", "exec kill -TERM $PPID"), ("mv", last.as_str(), NO_ROOM)]
    {
        process::succeeds(&mut place.install(&older, &[]));
        let path = failing(&place, program, when, instead);
        let said = refused(place.install(&newer, &[]).env("PATH", path));
        assert!(said.contains("the new version is in place") && said.contains("run this again"), "{said}");
        let new = fs::read_to_string(prefix.join("bin/abide")).unwrap();
        assert_eq!(new, format!("abide {}", packages::NEXT), "{program} {when}");
        assert_eq!(old.exists(), program == "rm");
        process::succeeds(&mut place.install(&newer, &[]));
        assert_same(&tree(&prefix), &only_newer, &format!("{program} {when}, and the same once more"));
        process::succeeds(&mut place.install(&newer, &["--uninstall"]));
        assert_same(&tree(&prefix), &before, "all is removed, and nothing else");
    }
}

#[test]
fn what_cannot_be_put_back_is_named_and_kept() {
    let place = Place::new();
    let (older, newer) = (place.unpack_small(packages::NOW), place.unpack_small(packages::NEXT));
    let prefix = place.path("prefix");
    process::succeeds(&mut place.install(&older, &[]));
    // `bin/abide` is the first of all files, after the manifest.
    let path = failing(&place, "mv", "-ge 3", "{ echo 'Input/output error' >&2; exit 1; }");
    let said = refused(place.install(&newer, &[]).env("PATH", path));
    assert!(said.contains("could not be put back") && !said.contains("is as it was"), "{said}");
    let (program, kept) = (prefix.join("bin/abide"), prefix.join(".abide-install/old/bin/abide"));
    assert_eq!(fs::read_to_string(&program).unwrap(), format!("abide {}", packages::NEXT));
    assert_eq!(fs::read_to_string(&kept).unwrap(), format!("abide {}", packages::NOW));
    assert!(said.contains(&format!("  {}\n", program.display())), "{said}");
}

#[test]
fn an_installation_that_was_killed_can_be_repeated_and_removed() {
    let place = Place::new();
    let (older, newer) = (place.unpack_small(packages::NOW), place.unpack_small(packages::NEXT));
    let prefix = place.path("prefix");
    let before = tree(&prefix);
    process::succeeds(&mut place.install(&older, &[]));
    let path = failing(&place, "mv", "-eq 30", "kill -KILL $PPID");
    refused(place.install(&newer, &[]).env("PATH", path));
    let said = refused(&mut place.install(&newer, &[]));
    assert!(said.contains(".abide-install") && said.contains("remove it"), "{said}");
    fs::remove_dir_all(prefix.join(".abide-install")).unwrap();
    process::succeeds(&mut place.install(&newer, &[]));
    assert_eq!(fs::read_to_string(prefix.join("bin/abide")).unwrap(), format!("abide {}", packages::NEXT));
    process::succeeds(&mut place.install(&newer, &["--uninstall"]));
    assert_same(&tree(&prefix), &before, "all is removed, and nothing else");
}

#[test]
fn a_full_disk_leaves_the_installed_version() {
    let namespace = ["unshare", "--user", "--map-root-user", "--mount"];
    let tried = process::finished_blocking(
        process::blocking_program(namespace[0]).args(&namespace[1..]).arg("true"),
        abide_tests::wait::limit(),
    );
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("packages::archive", "this machine has no user namespaces to mount a small disk in");
    }
    let place = Place::new();
    let (older, newer) = (place.unpack(packages::NOW), place.unpack(packages::NEXT));
    // Room for the programs once and a half.
    let script = r#"
set -eu
size=$(du -sk "$2" | cut -f1)
mount -t tmpfs -o size=$((size + size / 2))k none "$1"
"$2/install.sh" --prefix "$1"
digests() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k2); }
digests "$1" >"$1.before"
if "$3/install.sh" --prefix "$1"; then echo "there was room" >&2; exit 1; fi
digests "$1" | cmp - "$1.before"
! [ -e "$1/.abide-install" ]
"$1/bin/abide" --version
"#;
    let mut command = place.command(namespace[0]);
    command
        .args(&namespace[1..])
        .args(["sh", "-c", script, "sh"])
        .arg(place.path("prefix"))
        .args([older, newer]);
    let output = process::finished_blocking(&mut command, 2 * abide_tests::wait::limit()).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("No space left on device") && said.contains("what was there before is as it was"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).ends_with(&format!("abide {}\n", packages::NOW)));
}
