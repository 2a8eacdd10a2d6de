//! A daemon killed while it creates its database, and a database written by a newer version.

use abide_fail_point::{Point, VARIABLE};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    wait,
    world::World,
};

#[tokio::test]
async fn a_database_half_created_at_a_kill_is_created_again() {
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
async fn a_database_of_a_newer_version_is_refused_and_not_changed() {
    let mut world = World::start().await;
    let task = world.run("newer", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    assert!(world.daemon.stop().await.success());
    let path = world.daemon.home().database();
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 999").unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    // Several times: a session manager that restarts an old binary must not change the database.
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
