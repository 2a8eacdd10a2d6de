//! `abide daemon uninstall` takes back what install did, and nothing else.

use abide_host::login::SERVICE;
use abide_tests::{
    daemon::{Config, TestDaemon},
    systemd::Played,
};
use std::fs;

#[tokio::test]
async fn units_and_links_are_gone_and_the_data_stays() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = daemon.cli();
    cli.ok(&["daemon", "install"]).await;
    let units = daemon.user_home().join(".config/systemd/user");
    let others = units.join("default.target.wants/mine.service");
    fs::write(&others, "").unwrap();
    played.asked();
    let gone = cli.ok(&["daemon", "uninstall"]).await;
    assert_eq!(
        played.asked(),
        ["systemctl disable --now abided.socket abided.service", "systemctl daemon-reload"]
    );
    assert!(gone.contains("disabled abided.service and abided.socket"), "{gone}");
    let left: Vec<_> = fs::read_dir(&units).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("abided")), "{left:?}");
    assert!(others.exists() && daemon.home().database().exists());
    // This daemon is not systemd's, so it was left alone.
    cli.ok(&["daemon", "status"]).await;
    cli.ok(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn links_are_removed_where_systemd_is_gone() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = daemon.cli();
    cli.ok(&["daemon", "install"]).await;
    cli.ok(&["daemon", "stop"]).await;
    played.behave("no-bus");
    let gone = cli.run(&["daemon", "uninstall"]).await;
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert!(gone.stderr.contains("systemd was not told"), "{gone:?}");
    let units = daemon.user_home().join(".config/systemd/user");
    for link in ["default.target.wants/abided.service", "sockets.target.wants/abided.socket"] {
        assert!(fs::symlink_metadata(units.join(link)).is_err(), "{link}");
    }
}

#[tokio::test]
async fn what_starts_another_home_is_left_alone() {
    let mut daemon = TestDaemon::new(&Config::default());
    let _played = Played::for_daemon(&mut daemon);
    daemon.cli().ok(&["daemon", "install"]).await;
    let unit = daemon.user_home().join(".config/systemd/user").join(SERVICE);
    let before = fs::read_to_string(&unit).unwrap();

    let trial = daemon.root().join("t").display().to_string();
    let other = daemon.cli().env("ABIDE_HOME", &trial);
    let refused = other.run(&["daemon", "install"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("starts the daemon of another home"), "{refused:?}");
    let kept = other.run(&["daemon", "uninstall"]).await;
    assert!(kept.stderr.contains("which starts the daemon of another home"), "{kept:?}");
    assert_eq!(fs::read_to_string(&unit).unwrap(), before);
    let status = daemon.cli().json(&["daemon", "status"]).await;
    assert_eq!(status["start"]["atLogin"], serde_json::json!({ "systemd": unit }), "{status}");
    daemon.cli().ok(&["daemon", "stop"]).await;
}
