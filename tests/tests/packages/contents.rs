//! What is in the packages, and that the same programs give the same bytes.

use abide_tests::{packages, process};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

fn run(words: &[&dyn AsRef<OsStr>]) -> String {
    let mut command = process::blocking_program(words[0]);
    process::succeeds(command.args(&words[1..]))
}

/// The packages of this version with this end of their names, sorted.
fn found(end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(packages::built()).unwrap().map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.contains(packages::NOW) && name.ends_with(end)
    };
    let mut found: Vec<_> = entries.filter(is_wanted).collect();
    found.sort();
    found
}

/// The files beneath a folder with their digests, by their paths from there.
fn digests(folder: &Path) -> BTreeMap<String, String> {
    let script = r#"cd "$1" && find . -type f -printf '%P\0' | xargs --null sha256sum"#;
    let said = run(&[&"sh", &"-c", &script, &"sh", &folder]);
    said.lines().map(|line| (line[66..].to_owned(), line[..64].to_owned())).collect()
}

/// The files of the .deb packages.
fn unpacked() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for package in found(".deb") {
        run(&[&"dpkg-deb", &"--extract", &package, &folder.path()]);
    }
    folder
}

#[test]
fn two_builds_are_byte_equal() {
    let again = tempfile::tempdir().unwrap();
    packages::build(packages::NOW, again.path(), &[]);
    let first = digests(packages::built());
    let second = digests(again.path());
    assert_eq!(second.len(), 5, "two .deb, two .rpm, one .tar.gz: {second:?}");
    for (name, digest) in &second {
        assert_eq!(first.get(name), Some(digest), "{name} differs");
    }
}

#[test]
fn lintian_finds_no_error() {
    let [daemon, window] = &found(".deb")[..] else { panic!("two packages") };
    let said = run(&[&"lintian", &"--fail-on", &"error", &"--allow-root", daemon, window]);
    let warnings: Vec<_> =
        said.lines().filter(|line| !line.contains("initial-upload-closes-no-bugs")).collect();
    assert!(warnings.is_empty(), "only Debian itself has a bug for each new package: {warnings:#?}");
}

#[test]
fn the_menu_entry_and_the_data_for_software_centres_are_valid() {
    let folder = unpacked();
    let share = folder.path().join("usr/share");
    let entry = share.join("applications/dev.abide.Abide.desktop");
    assert_eq!(run(&[&"desktop-file-validate", &entry]), "", "neither errors nor warnings");
    let data = share.join("metainfo/dev.abide.Abide.metainfo.xml");
    run(&[&"appstreamcli", &"validate", &"--no-net", &data]);
    for file in [&entry, &data] {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("dev.abide.Abide"), "{text}");
    }
    for size in [16, 24, 32, 48, 64, 128, 256, 512] {
        let icon = share.join(format!("icons/hicolor/{size}x{size}/apps/dev.abide.Abide.png"));
        let png = fs::read(&icon).unwrap_or_else(|error| panic!("{}: {error}", icon.display()));
        // A PNG begins with its signature, a length and a type, then width and height.
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (size, size), "{}", icon.display());
    }
}

#[test]
fn nothing_is_left_to_fill_in() {
    let folder = unpacked();
    for path in digests(folder.path()).keys().filter(|path| !path.starts_with("usr/bin/")) {
        assert!(!path.ends_with(".in"), "{path}");
        let contents = fs::read(folder.path().join(path)).unwrap();
        let text = String::from_utf8_lossy(&contents);
        for name in ["@bindir@", "@share@", "@version@", "@date@", "@expat@"] {
            assert!(!text.contains(name), "{path} has {name}");
        }
    }
    let unit = fs::read_to_string(folder.path().join("usr/lib/systemd/user/abided.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/abided"), "{unit}");
}

#[test]
fn rpm_has_the_same_files_as_deb() {
    let folder = unpacked();
    let deb = digests(folder.path());
    let [daemon, window] = &found(".rpm")[..] else { panic!("two packages") };
    // With signatures and digests of header and payload.
    run(&[&"rpm", &"--checksig", daemon, window]);
    let listed = run(&[&"rpm", &"--query", &"--package", &"--dump", daemon, window]);
    let mut rpm = BTreeMap::new();
    for line in listed.lines() {
        let fields: Vec<_> = line.split(' ').collect();
        let is_folder = fields[4].starts_with("040");
        assert_eq!((fields[5], fields[6]), ("root", "root"), "{line}");
        if !is_folder {
            rpm.insert(fields[0].trim_start_matches('/').to_owned(), fields[3].to_owned());
        }
    }
    for (path, digest) in &deb {
        // Each system has places of its own for these.
        let own = ["doc/abide/copyright", "doc/abide-gui/copyright", "changelog.Debian.gz"];
        if own.iter().any(|end| path.ends_with(end)) {
            continue;
        }
        let path = path.replace("zsh/vendor-completions", "zsh/site-functions");
        assert_eq!(rpm.get(&path), Some(digest), "{path}");
    }
    assert!(rpm.contains_key("usr/share/doc/abide/LICENSE-MIT"), "{rpm:#?}");
    let payload = tempfile::tempdir().unwrap();
    let script = r#"cd "$1" && rpm2cpio "$2" | cpio --extract --make-directories --quiet"#;
    run(&[&"sh", &"-c", &script, &"sh", &payload.path(), daemon]);
    let program = "usr/bin/abided";
    assert_eq!(digests(payload.path()).get(program), deb.get(program), "the content, not only the list");
}

#[test]
fn the_licences_of_what_is_linked_are_there() {
    let folder = unpacked();
    let licences = |package: &str| {
        let file = folder.path().join(format!("usr/share/doc/{package}/third-party-licences.txt.gz"));
        run(&[&"zcat", &file])
    };
    let (daemon, window) = (licences("abide"), licences("abide-gui"));
    assert!(daemon.contains("\nrusqlite ") && daemon.contains("SQLite"), "the daemon's database");
    assert!(
        window.contains("\niced ") && window.contains("SIL OPEN FONT LICENSE"),
        "the window and its fonts"
    );
    assert!(!daemon.contains("\niced "), "each package names its own");
    for tests_only in ["\nproptest ", "\ninsta "] {
        assert!(!daemon.contains(tests_only) && !window.contains(tests_only), "{tests_only}");
    }
}

#[test]
fn each_program_and_command_has_a_page() {
    let folder = unpacked();
    let pages = folder.path().join("usr/share/man/man1");
    for name in ["abide", "abided", "abide-gui", "abide-run", "abide-daemon-status"] {
        let text = run(&[&"zcat", &pages.join(format!("{name}.1.gz"))]);
        assert!(text.contains(".SH SYNOPSIS") || text.contains(".SH DESCRIPTION"), "{name}: {text}");
    }
    for script in [
        "bash-completion/completions/abide",
        "zsh/vendor-completions/_abide",
        "fish/vendor_completions.d/abide.fish",
    ] {
        let text = fs::read_to_string(folder.path().join("usr/share").join(script)).unwrap();
        assert!(text.contains("abide"), "{script}: {text}");
    }
}

#[test]
fn a_build_that_cannot_be_done_says_why() {
    let refused = |arguments: &[&str]| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/build");
        let mut command = process::blocking_program(script);
        let output = process::finished_blocking(command.args(arguments), abide_tests::wait::limit()).unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let empty = tempfile::tempdir().unwrap();
    let (code, said) = refused(&["--programs", empty.path().to_str().unwrap(), "tar"]);
    assert!(code == Some(1) && said.contains("there is no program"), "{said}");
    let (code, said) = refused(&["--version", "next", "tar"]);
    assert!(code == Some(2) && said.contains("a version is like 0.2.0"), "{said}");
    let (code, said) = refused(&["zip"]);
    assert!(code == Some(2) && said.contains("zip is no option and no format"), "{said}");
}
