//! `abide daemon install` with played programs of systemd, which note what they are asked and can fail.

use abide_client::protocol::task::Status;
use abide_host::login::{SERVICE, SOCKET};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Gate, Turn},
    process,
    skip::skip,
    systemd::Played,
    world::World,
};
use serde_json::json;
use std::{fs, path::PathBuf};

/// What install asks systemd, in order.
const ASKED: [&str; 3] = [
    "systemctl daemon-reload",
    "systemctl enable abided.service abided.socket",
    "systemctl start abided.service",
];

fn units(daemon: &TestDaemon) -> PathBuf {
    daemon.user_home().join(".config/systemd/user")
}

#[tokio::test]
async fn the_units_are_written_enabled_and_started() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = daemon.cli();
    let installed = cli.run(&["daemon", "install"]).await;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert_eq!(played.asked(), ASKED);
    let units = units(&daemon);
    for unit in [SERVICE, SOCKET] {
        assert!(installed.stdout.contains(&format!("wrote {}", units.join(unit).display())), "{installed:?}");
    }
    let service = fs::read_to_string(units.join(SERVICE)).unwrap();
    let home = format!("Environment=\"ABIDE_HOME={}\"", daemon.abide_home().display());
    assert!(service.contains(&home), "{service}");
    assert!(installed.stderr.contains("--linger"), "{installed:?}");

    // The played systemd starts nothing, so the command did: nobody is left without a daemon.
    let status = cli.json(&["daemon", "status"]).await;
    assert_eq!(status["start"]["by"], json!("client"), "{status}");
    assert_eq!(status["start"]["atLogin"], json!({ "systemd": units.join(SERVICE) }), "{status}");
    let words = cli.ok(&["daemon", "status"]).await;
    assert!(words.contains("by a client that needed it"), "{words}");
    let doctor = cli.ok(&["doctor"]).await;
    assert!(doctor.contains("a client started it; at login systemd starts it"), "{doctor}");
    cli.ok(&["daemon", "stop"]).await;
    let down = cli.run(&["daemon", "status"]).await;
    assert_eq!(down.code, Some(3), "{down:?}");
    assert!(down.stderr.contains("at login: started by systemd"), "{down:?}");
}

#[tokio::test]
async fn a_daemon_with_work_goes_on_and_a_second_install_changes_nothing() {
    let mut world = World::start().await;
    let played = Played::for_daemon(&mut world.daemon);
    let gate = Gate::new("the rest of the reply");
    let task =
        world.run("busy", [Turn::say("Half").gate(&gate).text(" and half."), Turn::done("Done.")]).await;
    world.wait_status(task, Status::Thinking).await;
    let cli = world.daemon.cli();
    let first = cli.run(&["daemon", "install"]).await;
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stderr.contains("1 task at work and goes on"), "{first:?}");
    assert_eq!(played.asked(), ASKED[..2]);

    let second = cli.json(&["daemon", "install"]).await;
    assert_eq!((&second["changed"], &second["done"]), (&json!(false), &json!([])), "{second}");
    assert!(second["notes"].to_string().contains("installed already"), "{second}");
    assert_eq!(played.asked(), Vec::<String>::new());
    gate.open();
    world.wait_end(task).await;
    assert!(world.daemon.is_up());
}

#[tokio::test]
async fn a_unit_that_was_edited_is_kept() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = daemon.cli();
    cli.ok(&["daemon", "install"]).await;
    let (service, socket) = (units(&daemon).join(SERVICE), units(&daemon).join(SOCKET));
    let edited = fs::read_to_string(&service).unwrap().replace("TimeoutStopSec=15", "TimeoutStopSec=60");
    fs::write(&service, &edited).unwrap();
    // One of an older version, say: as it was written, but not what is written now.
    fs::write(&socket, abide_host::login::marked("[Socket]\nListenStream=/old\n")).unwrap();
    let again = cli.run(&["daemon", "install"]).await;
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(again.stderr.contains(&format!("kept {}", service.display())), "{again:?}");
    assert!(again.stdout.contains(&format!("replaced {}", socket.display())), "{again:?}");
    assert_eq!(fs::read_to_string(&service).unwrap(), edited);
    assert!(!fs::read_to_string(&socket).unwrap().contains("/old"));

    let gone = cli.run(&["daemon", "uninstall"]).await;
    assert!(gone.stderr.contains(&format!("kept {}", service.display())), "{gone:?}");
    assert_eq!(fs::read_to_string(&service).unwrap(), edited);
    assert!(!socket.exists());
    drop(played);
    cli.ok(&["daemon", "stop"]).await;
}

/// Nor does systemd go on with units that are not there any more.
#[tokio::test]
async fn what_systemd_refuses_leaves_nothing_behind() {
    for (behaviour, words) in
        [("no-enable", "Failed to enable unit: Access denied"), ("half-enable", "No space left on device")]
    {
        let mut daemon = TestDaemon::new(&Config::default());
        let played = Played::for_daemon(&mut daemon);
        played.behave(behaviour);
        let refused = daemon.cli().run(&["daemon", "install"]).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(
            refused.stderr.contains(words) && refused.stderr.contains("nothing was installed"),
            "{refused:?}"
        );
        assert_eq!(played.asked(), [ASKED[0], ASKED[1], ASKED[0]], "it reads the units again");
        let units = units(&daemon);
        for left in
            [SERVICE, SOCKET, "default.target.wants/abided.service", "sockets.target.wants/abided.socket"]
        {
            assert!(fs::symlink_metadata(units.join(left)).is_err(), "{left} is left: {refused:?}");
        }
        assert!(!daemon.home().data_dir.exists(), "no daemon was started");
    }
}

#[tokio::test]
async fn a_full_disk_leaves_nothing_behind() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let units = units(&daemon);
    fs::create_dir_all(&units).unwrap();
    // Room for the first unit, not for the second.
    let script =
        "mount -t tmpfs -o size=4k none \"$1\" && shift && \"$@\"; code=$?; ls \"$UNITS\"; exit $code";
    let mut inside = process::program("unshare");
    inside.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(&units);
    inside
        .arg(abide_tests::daemon::program().with_file_name("abide"))
        .args(["daemon", "install"])
        .env_clear()
        .envs(daemon.variables());
    let output = process::finished(inside.env("UNITS", &units)).await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("unshare failed") {
        return skip("a_full_disk_leaves_nothing_behind", "this machine has no user namespaces");
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("No space left on device") && said.contains("nothing was installed"), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("wrote") && printed.contains("removed"),
        "the first was written, and taken back: {printed}"
    );
    assert!(!printed.lines().any(|line| line.starts_with("abided.")), "{printed}");
    assert_eq!(played.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn units_of_a_package_are_used_if_they_run_the_same_program() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let share = daemon.root().join("share");
    let packaged = share.join("systemd/user");
    fs::create_dir_all(&packaged).unwrap();
    let home = daemon.home();
    let units_of = |program: &str| abide_host::login::units(program.as_ref(), &home).unwrap();
    let write = |program: &str| {
        fs::write(packaged.join(SERVICE), units_of(program).service).unwrap();
        fs::write(packaged.join(SOCKET), units_of(program).socket).unwrap();
    };
    daemon.set_env("XDG_DATA_DIRS", &share.display().to_string());
    let cli = daemon.cli();
    write(&daemon.variables()["ABIDE_DAEMON"]);
    let installed = cli.run(&["daemon", "install"]).await;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert!(!installed.stdout.contains("wrote"), "{installed:?}");
    assert!(installed.stdout.contains(&packaged.join(SERVICE).display().to_string()), "{installed:?}");
    assert_eq!(played.asked(), ASKED[1..]);
    cli.ok(&["daemon", "uninstall"]).await;
    assert_eq!(played.asked(), ["systemctl disable --now abided.socket abided.service"]);
    assert!(packaged.join(SERVICE).exists(), "it is the package's");

    write("/usr/bin/another");
    let installed = cli.run(&["daemon", "install"]).await;
    assert!(installed.stderr.contains("takes the place of"), "{installed:?}");
    assert!(units(&daemon).join(SERVICE).exists());
    cli.ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn lingering_is_taken_back_only_if_install_enabled_it_and_its_refusal_is_said() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = daemon.cli();
    let on = cli.run(&["daemon", "install", "--linger"]).await;
    assert_eq!(on.code, Some(0), "{on:?}");
    assert!(on.stdout.contains("enabled lingering") && played.behaves("lingers"), "{on:?}");
    assert!(!on.stderr.contains("--linger"), "{on:?}");
    let off = cli.ok(&["daemon", "uninstall"]).await;
    assert!(off.contains("disabled lingering") && !played.behaves("lingers"), "{off}");

    played.behave("lingers");
    cli.ok(&["daemon", "install", "--linger"]).await;
    cli.ok(&["daemon", "uninstall"]).await;
    assert!(played.behaves("lingers"), "it was on before");
    cli.ok(&["daemon", "stop"]).await;

    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    played.behave("no-linger");
    let cli = daemon.cli();
    let refused = cli.run(&["daemon", "install", "--linger"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for words in
        ["the daemon is installed", "Could not enable linger: Access denied", "loginctl enable-linger"]
    {
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    assert!(units(&daemon).join(SERVICE).exists(), "the rest stays installed");
    cli.ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn what_cannot_start_is_not_installed() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    fs::write(daemon.home().config_file(), "[task]\nmax_stepps = 3\n").unwrap();
    let refused = daemon.cli().run(&["daemon", "install"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("max_stepps"), "{refused:?}");
    assert!(refused.stderr.contains("nothing was installed"), "{refused:?}");
    assert_eq!(played.asked(), Vec::<String>::new());
    assert!(!units(&daemon).exists());
}
