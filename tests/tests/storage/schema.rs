//! A daemon killed while it creates its database, and a database that another version has written.

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
async fn a_database_of_a_newer_version_or_of_none_is_refused_and_not_changed() {
    let cases: [(&str, &[&str]); 2] = [
        ("user_version = 999", &["newer Abide", "install the newer version"]),
        // The mark of builds before 0.1.0.
        (
            "application_id = 0x41626964",
            &["of a build before 0.1.0", "abide messages ID --limit 1000 --json", "move", "away"],
        ),
    ];
    for (mark, says) in cases {
        let mut world = World::start().await;
        let task = world.run("kept", [Turn::done("Done.")]).await;
        world.wait_end(task).await;
        assert!(world.daemon.stop().await.success());
        let path = world.daemon.home().database();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch(&format!("PRAGMA journal_mode = DELETE; PRAGMA {mark}")).unwrap();
        drop(other);
        let before = std::fs::read(&path).unwrap();
        // Several times: a session manager that restarts another version's binary must not change the
        // database.
        for _ in 0..3 {
            world.daemon.launch();
            assert!(!world.daemon.ended().await.success());
            assert!(
                std::fs::read(&path).unwrap() == before,
                "the database was changed by a version that does not know it"
            );
        }
        let doctor = world.daemon.cli().run(&["doctor"]).await;
        for words in says {
            assert!(world.daemon.output().contains(words), "{}", world.daemon.output());
            assert!(doctor.stdout.contains(words), "{doctor:?}");
        }
    }
}
