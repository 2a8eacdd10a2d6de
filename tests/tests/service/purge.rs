//! `abide daemon uninstall --purge` deletes what Abide made, and nothing else.

use abide_client::protocol::task::Status;
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::{Gate, Turn},
    skip::skip,
    systemd::Played,
    terminal::Terminal,
    world::World,
};
use std::fs;

#[tokio::test]
async fn it_needs_a_yes_cuts_no_work_off_and_deletes_no_file_of_others() {
    let mut world = World::start().await;
    let _played = Played::for_daemon(&mut world.daemon);
    let gate = Gate::new("the rest of the reply");
    let task =
        world.run("busy", [Turn::say("Half").gate(&gate).text(" and half."), Turn::done("Done.")]).await;
    world.wait_status(task, Status::Thinking).await;
    let cli = world.daemon.cli();
    let refused = cli.run(&["daemon", "uninstall", "--purge", "--yes"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("1 task at work would be cut off; nothing was changed"), "{refused:?}");
    gate.open();
    world.wait_end(task).await;

    let asked = cli.run(&["daemon", "uninstall", "--purge"]).await;
    assert_eq!(asked.code, Some(4), "{asked:?}");
    assert!(asked.stderr.contains("there is no terminal") && asked.stderr.contains("--yes"), "{asked:?}");
    assert!(world.daemon.home().database().exists());

    let home = world.daemon.home();
    let mine = home.data_dir.join("mine.txt");
    fs::write(&mine, "precious").unwrap();
    let outside = world.daemon.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "precious").unwrap();
    fs::create_dir_all(home.scratch_dir()).unwrap();
    std::os::unix::fs::symlink(&outside, home.scratch_dir().join("link")).unwrap();

    let purged = cli.run(&["daemon", "uninstall", "--purge", "--yes"]).await;
    assert_eq!(purged.code, Some(0), "{purged:?}");
    assert!(world.daemon.ended().await.success());
    assert!(purged.stdout.contains("stopped the daemon"), "{purged:?}");
    assert!(purged.stderr.contains(&format!("kept {}", home.data_dir.display())), "{purged:?}");
    assert!(purged.stderr.contains("keyring"), "{purged:?}");
    let left: Vec<_> =
        fs::read_dir(&home.data_dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "precious", "a link is not followed");
    for folder in [&home.config_dir, &home.state_dir, &home.run_dir] {
        assert!(!folder.exists(), "{} has only what Abide made", folder.display());
    }
}

/// A mistyped ABIDE_HOME may name a folder of somebody else's, with files of the same names.
#[tokio::test]
async fn a_folder_that_no_daemon_has_used_is_left_alone() {
    let mut daemon = TestDaemon::new(&Config::default());
    let _played = Played::for_daemon(&mut daemon);
    let models = daemon.home().checkpoints_dir().join("model.bin");
    fs::create_dir_all(daemon.home().checkpoints_dir()).unwrap();
    fs::write(&models, "precious").unwrap();
    let refused = daemon.cli().run(&["daemon", "uninstall", "--purge", "--yes"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("no daemon has ever run with its data in"), "{refused:?}");
    assert_eq!(fs::read_to_string(&models).unwrap(), "precious");
    assert!(daemon.home().config_file().exists());
}

#[tokio::test]
async fn a_folder_that_is_a_link_is_left_alone() {
    let mut world = World::start().await;
    let _played = Played::for_daemon(&mut world.daemon);
    assert!(world.daemon.stop().await.success());
    let (config, dotfiles) = (world.daemon.home().config_dir, world.daemon.root().join("dotfiles"));
    fs::rename(&config, &dotfiles).unwrap();
    std::os::unix::fs::symlink(&dotfiles, &config).unwrap();
    let refused = world.daemon.cli().run(&["daemon", "uninstall", "--purge", "--yes"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("is a link to another folder"), "{refused:?}");
    assert!(dotfiles.join("config.toml").exists() && world.daemon.home().database().exists());
}

#[tokio::test]
async fn a_person_is_asked_with_folders_and_sizes() {
    if !Terminal::exists().await {
        return skip("a_person_is_asked_with_folders_and_sizes", "tmux is not installed");
    }
    let mut world = World::start().await;
    let _played = Played::for_daemon(&mut world.daemon);
    let terminal = Terminal::run(&world.daemon, "abide daemon uninstall --purge").await;
    let screen = terminal.shows("Delete all of this? [y/N]").await;
    assert!(screen.contains("This cannot be undone") && screen.contains("MiB"), "{screen}");
    for folder in [world.daemon.home().config_dir, world.daemon.home().data_dir] {
        assert!(screen.contains(&folder.display().to_string()), "{screen}");
    }
    terminal.press(&["Enter"]).await;
    assert_eq!(terminal.ended().await, 1);
    assert!(terminal.screen().await.contains("nothing was changed"));
    assert!(world.daemon.home().database().exists() && !world.daemon.has_ended());
}
