//! The daemon never replaces data that it cannot read.

use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    world::World,
};
use std::os::unix::fs::FileExt as _;

#[tokio::test]
async fn a_file_that_is_no_database_stops_the_daemon_and_is_not_changed() {
    let mut world = World::start().await;
    let task = world.run("kept", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    assert!(world.daemon.stop().await.success());
    let database = world.daemon.home().database();
    std::fs::File::options().write(true).open(&database).unwrap().write_all_at(&[0x5a; 4096], 0).unwrap();
    let before = std::fs::read(&database).unwrap();
    world.daemon.launch();
    assert!(!world.daemon.ended().await.success());
    let words = world.daemon.output();
    assert!(words.contains(&database.display().to_string()), "names the file: {words}");
    assert_eq!(std::fs::read(&database).unwrap(), before, "the file is as it was");
}

/// There is no configuration that could stay in force.
#[tokio::test]
async fn a_wrong_configuration_stops_the_first_daemon_and_names_the_line() {
    let mut daemon = TestDaemon::new(&Config::new());
    let file = daemon.home().config_file();
    std::fs::write(&file, "[model]\ndefault = \"test/scripted-1\"\nsurprise = true\n").unwrap();
    daemon.launch();
    assert!(!daemon.ended().await.success());
    let words = daemon.output();
    assert!(words.contains(&file.display().to_string()) && words.contains("line 3"), "{words}");
}
