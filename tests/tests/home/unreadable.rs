//! The daemon never starts clean over someone's data.

use abide_tests::{model_server::Turn, world::World};
use std::os::unix::fs::FileExt as _;

#[tokio::test]
async fn a_database_that_is_none_stops_it_with_the_path_and_stays_as_it_is() {
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

#[tokio::test]
async fn a_wrong_configuration_stops_it_with_the_line() {
    let mut world = World::start().await;
    world.daemon.stop().await;
    let file = world.daemon.home().config_file();
    std::fs::write(&file, "[model]\ndefault = \"test/scripted-1\"\nsurprise = true\n").unwrap();
    world.daemon.launch();
    assert!(!world.daemon.ended().await.success());
    let words = world.daemon.output();
    assert!(words.contains(&file.display().to_string()) && words.contains("line 3"), "{words}");
}
