//! The whole life of an installation with a real user manager of systemd.

use abide_host::login::{SERVICE, SOCKET};
use abide_tests::{skip::skip, systemd::UserManager, wait};
use serde_json::{Value, json};

async fn status(manager: &UserManager) -> Value {
    let said = manager.abide(&["daemon", "status", "--json"]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    serde_json::from_str(&said.stdout).unwrap()
}

async fn inbox(manager: &UserManager) -> usize {
    let said = manager.abide(&["inbox", "--json"]).await;
    serde_json::from_str::<Vec<Value>>(&said.stdout).map_or(0, |items| items.len())
}

async fn is_active(manager: &UserManager, unit: &str) -> bool {
    manager.systemctl(&["is-active", "--quiet", unit]).await.code == Some(0)
}

#[tokio::test]
async fn systemd_runs_the_daemon_from_install_to_uninstall() {
    let Some(mut manager) = UserManager::start().await else {
        return skip(
            "systemd_runs_the_daemon_from_install_to_uninstall",
            "no user manager can be started here",
        );
    };
    // A daemon runs before, started by a client, and a question is open.
    let task = manager.abide(&["run", "--detach", "--model", "demo/demo", "Show me."]).await;
    assert_eq!(task.code, Some(0), "{task:?}");
    wait::wait_until("the question", async || inbox(&manager).await == 1).await;
    let before = status(&manager).await;
    assert_eq!(before["start"], json!({ "by": "client", "atLogin": "nothing" }));

    let installed = manager.abide(&["daemon", "install"]).await;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    for words in ["stopped the daemon that ran", "enabled abided.service", "started abided.service"] {
        assert!(installed.stdout.contains(words), "{words}: {installed:?}");
    }
    let unit = manager.home().join(".config/systemd/user").join(SERVICE);
    let now = status(&manager).await;
    assert_eq!(now["start"]["by"], json!({ "systemd": { "unit": SERVICE, "socket": true } }));
    assert_eq!(now["start"]["atLogin"], json!({ "systemd": unit }));
    assert_ne!(now["pid"], before["pid"]);
    assert_eq!(inbox(&manager).await, 1, "the question is still open");

    let again = manager.abide(&["daemon", "install", "--json"]).await;
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&again["changed"], &again["done"]), (&json!(false), &json!([])), "{again}");

    // The socket outlives the daemon, asking whether it runs does not start it, and the next client does.
    let stopped = manager.abide(&["daemon", "stop"]).await;
    assert!(stopped.stderr.contains("the next client starts it again"), "{stopped:?}");
    let down = manager.abide(&["daemon", "status"]).await;
    assert_eq!(down.code, Some(3), "{down:?}");
    // The daemon's lock is free a moment before systemd sees the end of its process.
    wait::wait_until("systemd to see the end", async || !is_active(&manager, SERVICE).await).await;
    assert!(is_active(&manager, SOCKET).await);
    // This bus would look for a notification server for longer than a test waits.
    let config = manager.home().join(".config/abide/config.toml");
    std::fs::write(config, "[notify]\nenabled = false\n").unwrap();
    let doctor = manager.abide(&["doctor"]).await;
    assert!(doctor.stdout.contains("systemd listens there"), "{doctor:?}");
    assert!(!is_active(&manager, SERVICE).await, "asking starts nothing");
    assert_eq!(manager.abide(&["ps"]).await.code, Some(0));
    assert_eq!(
        status(&manager).await["start"]["by"],
        json!({ "systemd": { "unit": SERVICE, "socket": true } })
    );
    let restarted = manager.abide(&["daemon", "restart", "--json"]).await;
    let restarted: Value = serde_json::from_str(&restarted.stdout).unwrap();
    assert_eq!(restarted["start"]["by"]["systemd"]["unit"], json!(SERVICE), "{restarted}");

    // After a logout nothing runs; at the next login systemd starts the daemon before anybody asks.
    manager.log_out_and_in().await;
    wait::wait_until("the daemon to run", async || is_active(&manager, SERVICE).await).await;
    wait::wait_until("the daemon to answer", async || {
        manager.abide(&["daemon", "status"]).await.code == Some(0)
    })
    .await;
    assert_eq!(status(&manager).await["start"]["by"]["systemd"]["unit"], json!(SERVICE));
    assert_eq!(inbox(&manager).await, 1, "the question is still open");

    let gone = manager.abide(&["daemon", "uninstall"]).await;
    assert_eq!(gone.code, Some(0), "{gone:?}");
    assert!(gone.stdout.contains("stopped the daemon") && !unit.exists(), "{gone:?}");
    assert!(!is_active(&manager, SOCKET).await && !is_active(&manager, SERVICE).await);
    assert!(!manager.runtime().join("abide/v1/abide.sock").exists());
    assert_eq!(inbox(&manager).await, 1, "the data stays");
    assert_eq!(status(&manager).await["start"], json!({ "by": "client", "atLogin": "nothing" }));
    manager.abide(&["daemon", "stop"]).await;
}

#[tokio::test]
async fn a_daemon_that_cannot_start_is_explained_although_systemd_holds_its_socket() {
    let Some(manager) = UserManager::start().await else {
        return skip(
            "a_daemon_that_cannot_start_is_explained_although_systemd_holds_its_socket",
            "no user manager can be started here",
        );
    };
    assert_eq!(manager.abide(&["daemon", "install"]).await.code, Some(0));
    assert_eq!(manager.abide(&["daemon", "stop"]).await.code, Some(0));
    // The text that was understood before is gone, too, so there is none to go on with.
    std::fs::remove_dir_all(manager.home().join(".local/state/abide")).unwrap();
    let config = manager.home().join(".config/abide/config.toml");
    std::fs::write(&config, "[task]\nmax_stepps = 3\n").unwrap();
    let refused = manager.abide(&["ps"]).await;
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(refused.stderr.contains("max_stepps"), "{refused:?}");
    std::fs::remove_file(&config).unwrap();
    assert_eq!(manager.abide(&["daemon", "start"]).await.code, Some(0));
    assert_eq!(status(&manager).await["start"]["by"]["systemd"]["unit"], json!(SERVICE));
}
