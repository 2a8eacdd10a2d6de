//! Killed while it makes its database, and faced with one that a newer version has written.

use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    wait,
    world::World,
};

#[tokio::test]
async fn killed_while_the_database_is_made_it_is_made_again() {
    for point in [Point::DatabaseMade, Point::DatabaseNamed, Point::Migrating] {
        let mut daemon = TestDaemon::new(&Config::new());
        daemon.set_env_once(VARIABLE, &format!("{}:1", point.name()));
        daemon.launch();
        wait::wait_until("the daemon to come to the point", async || daemon.has_ended()).await;
        daemon.up().await;
        assert!(daemon.stop().await.success());
        let left: Vec<_> = std::fs::read_dir(daemon.home().data_dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with("-new") || name.contains("-journal"))
            .collect();
        assert_eq!(left, Vec::<String>::new(), "after {point:?}");
    }
}

#[tokio::test]
async fn what_a_newer_version_has_written_is_refused_and_left_alone() {
    let mut world = World::start().await;
    let task = world.run("newer", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    assert!(world.daemon.stop().await.success());
    let path = world.daemon.home().database();
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 999").unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    // Again and again: an old binary that is started by a session manager must not wear it down.
    for _ in 0..3 {
        world.daemon.launch();
        assert!(!world.daemon.ended().await.success());
        assert!(
            std::fs::read(&path).unwrap() == before,
            "the database was changed by a version that does not know it"
        );
    }
    let words = world.daemon.output();
    assert!(words.contains("newer Abide") && words.contains("install the newer version"), "{words}");
}
