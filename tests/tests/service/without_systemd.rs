//! `abide daemon install` where no user manager of systemd is.

use abide_tests::{
    daemon::{Cli, Config, TestDaemon},
    systemd::Played,
};
use serde_json::json;
use std::fs;

fn without(daemon: &TestDaemon, played: &Played) -> Cli {
    daemon.cli().env("PATH", &played.no_programs().display().to_string())
}

#[tokio::test]
async fn the_desktop_starts_the_daemon_at_login() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = without(&daemon, &played).env("XDG_CURRENT_DESKTOP", "Xfce");
    let installed = cli.run(&["daemon", "install"]).await;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert!(installed.stderr.contains("there is no systemctl here"), "{installed:?}");
    let entry = daemon.user_home().join(".config/autostart/abided.desktop");
    assert!(installed.stdout.contains(&format!("wrote {}", entry.display())), "{installed:?}");
    let again = cli.json(&["daemon", "install"]).await;
    assert_eq!(again["changed"], json!(false), "{again}");

    // The entry, as a desktop runs it.
    let text = fs::read_to_string(&entry).unwrap();
    let command = text.lines().find_map(|line| line.strip_prefix("Exec=")).unwrap();
    let mut shell = abide_tests::process::program("/bin/sh");
    shell
        .args(["-c", &format!("exec {command}")])
        .env_clear()
        .envs(daemon.variables())
        .env_remove("ABIDE_HOME");
    let mut started = shell.stdin(std::process::Stdio::null()).spawn().unwrap();
    let status = abide_tests::wait::wait_for("the daemon to answer", async || {
        let said = cli.run(&["daemon", "status", "--json"]).await;
        (said.code == Some(0)).then(|| serde_json::from_str::<serde_json::Value>(&said.stdout).unwrap())
    })
    .await;
    assert_eq!(status["start"], json!({ "by": "autostart", "atLogin": { "autostart": entry } }));

    let gone = cli.ok(&["daemon", "uninstall"]).await;
    assert!(gone.contains("removed") && !entry.exists(), "{gone}");
    cli.ok(&["daemon", "stop"]).await;
    started.wait().await.unwrap();
    let nothing = cli.json(&["daemon", "uninstall"]).await;
    assert_eq!(nothing["changed"], json!(false), "{nothing}");
}

#[tokio::test]
async fn an_entry_that_was_edited_is_kept() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = without(&daemon, &played).env("XDG_CURRENT_DESKTOP", "Xfce");
    cli.ok(&["daemon", "install"]).await;
    let entry = daemon.user_home().join(".config/autostart/abided.desktop");
    fs::write(&entry, fs::read_to_string(&entry).unwrap() + "Hidden=true\n").unwrap();
    for command in ["install", "uninstall"] {
        let said = cli.run(&["daemon", command]).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.stderr.contains(&format!("kept {}", entry.display())), "{said:?}");
        assert!(
            said.stderr.contains("nothing was changed: what starts at login is up to the file"),
            "{said:?}"
        );
        for wrong in ["installed already", "is here"] {
            assert!(!said.stderr.contains(wrong), "{said:?}");
        }
    }
    assert!(fs::read_to_string(&entry).unwrap().ends_with("Hidden=true\n"));
}

#[tokio::test]
async fn without_a_desktop_it_says_why_nothing_is_installed() {
    let mut daemon = TestDaemon::new(&Config::default());
    let played = Played::for_daemon(&mut daemon);
    let cli = without(&daemon, &played);
    played.behave("no-bus");
    let table = [
        (cli.clone(), "there is no systemctl here"),
        (daemon.cli(), "Failed to connect to bus: No medium found"),
        (daemon.cli().env("XDG_RUNTIME_DIR", ""), "XDG_RUNTIME_DIR is not set"),
        (cli.clone().env("container", "podman"), "in a container let `abided --foreground`"),
    ];
    for (cli, words) in table {
        let refused = cli.run(&["daemon", "install"]).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(
            refused.stderr.contains(words) && refused.stderr.contains("no desktop"),
            "{words}: {refused:?}"
        );
        assert!(refused.stderr.contains("nothing was changed"), "{refused:?}");
    }
    let lingers = cli.env("XDG_CURRENT_DESKTOP", "Xfce").run(&["daemon", "install", "--linger"]).await;
    assert!(lingers.stderr.contains("only systemd can"), "{lingers:?}");
    assert_eq!(lingers.code, Some(1));
    assert!(!daemon.user_home().join(".config").exists());
}
