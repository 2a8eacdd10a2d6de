use super::*;
use std::{collections::BTreeMap, fs};

/// A program whose path has what systemd or a desktop would replace.
const PROGRAM: &str = "/opt/my 100% `tools` $HOME; bin/abided";

fn at(dir: &Path) -> Home {
    Home::at(dir.join("a%\"b\\"))
}

#[test]
fn the_units_have_the_program_and_the_home() {
    let home = at(Path::new("/srv/x"));
    let Units { service, socket } = units(Path::new(PROGRAM), &home).unwrap();
    let lines: BTreeMap<&str, &str> =
        service.lines().chain(socket.lines()).filter_map(|line| line.split_once('=')).collect();
    assert_eq!(lines["ExecStart"], r#""/opt/my 100%% `tools` $HOME; bin/abided" --foreground"#);
    assert_eq!(lines["Environment"], r#""ABIDE_HOME=/srv/x/a%%\"b\\""#);
    assert_eq!(lines["ListenStream"], r#"/srv/x/a%%"b\/run/abide.sock"#);
    assert!(!format!("{service}{socket}").contains('@'), "nothing is left to replace:\n{service}{socket}");
}

#[test]
fn the_entry_is_quoted_twice() {
    let text = entry(Path::new(PROGRAM), &at(Path::new("/srv/x"))).unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("Exec=")).unwrap();
    assert_eq!(
        command,
        r#"env ABIDE_STARTED_BY=autostart "ABIDE_HOME=/srv/x/a%%\\"b\\\\" "/opt/my 100%% \\`tools\\` \\$HOME; bin/abided""#
    );
}

#[test]
fn a_path_that_systemd_or_a_desktop_would_not_take_is_refused() {
    for program in ["/opt/a\nExecStartPre=x/abided", "/opt/\"a\"/abided", "/opt/a\\/abided"] {
        let error = units(Path::new(program), &at(Path::new("/srv"))).unwrap_err();
        assert!(error.to_string().contains("control characters"), "{error}");
    }
    assert!(units(Path::new("/opt/abided"), &at(Path::new("/a\nb"))).is_err());
    assert!(entry(Path::new("/opt/a\nHidden=1/abided"), &at(Path::new("/srv"))).is_err());
}

#[test]
fn a_file_is_known_again_until_it_is_edited() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("abided.service");
    assert_eq!(Found::at(&path).unwrap(), Found::Nothing);
    let text = marked("[Unit]\n");
    fs::write(&path, &text).unwrap();
    assert_eq!(Found::at(&path).unwrap(), Found::Ours(text.clone()));
    fs::write(&path, format!("{text}# mine\n")).unwrap();
    assert_eq!(Found::at(&path).unwrap(), Found::Others);
    fs::write(&path, "[Unit]\n").unwrap();
    assert_eq!(Found::at(&path).unwrap(), Found::Others);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    assert_eq!(Found::at(&path).unwrap(), Found::Others, "masked");
}

#[test]
fn what_starts_another_home_does_not_start_this_one() {
    let dir = tempfile::tempdir().unwrap();
    let (home, other) = (at(dir.path()), Home::at(dir.path().join("other")));
    let places = Places::beneath(dir.path());
    assert_eq!(look(&places, &home), AtLogin::Nothing);

    let unit = places.units.join(SERVICE);
    fs::create_dir_all(places.units.join("default.target.wants")).unwrap();
    fs::write(&unit, units(Path::new("/bin/abided"), &home).unwrap().service).unwrap();
    assert_eq!(look(&places, &home), AtLogin::Nothing, "a unit that is not enabled");
    std::os::unix::fs::symlink(&unit, places.units.join("default.target.wants").join(SERVICE)).unwrap();
    assert_eq!(look(&places, &home), AtLogin::Systemd(unit.display().to_string()));
    assert_eq!(look(&places, &other), AtLogin::Nothing);

    fs::create_dir_all(places.entry.parent().unwrap()).unwrap();
    fs::write(&places.entry, entry(Path::new("/bin/abided"), &other).unwrap()).unwrap();
    assert_eq!(look(&places, &other), AtLogin::Autostart(places.entry.display().to_string()));
    fs::remove_file(&unit).unwrap();
    assert_eq!(look(&places, &home), AtLogin::Nothing, "a link to a unit that is gone");
}
