//! Findings and repairs of `abide doctor`.

use abide_client::protocol::{method::task::StartTaskParams, task::Status};
use abide_tests::{
    daemon::{Config, TestDaemon},
    model_server::Turn,
    world::World,
};
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::{FileExt as _, MetadataExt as _, symlink},
    path::PathBuf,
};

fn health<'a>(findings: &'a Value, about: &str) -> &'a str {
    let of = |finding: &&Value| finding["about"] == about;
    findings.as_array().unwrap().iter().find(of).expect(about)["health"].as_str().unwrap()
}

#[tokio::test]
async fn doctor_checks_everything_beside_a_running_daemon() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    let findings = cli.json(&["doctor"]).await;
    for about in
        ["home", "daemon", "socket", "database", "disk", "config", "provider", "default model", "sandbox"]
    {
        assert_eq!(health(&findings, about), "good", "{about}: {findings}");
    }
    let text = cli.ok(&["doctor"]).await;
    assert!(text.contains("✓ database: sound"), "{text}");
}

#[tokio::test]
async fn a_reader_that_has_read_enough_is_no_failure() {
    let world = World::start().await;
    let cli = world.daemon.cli();
    for command in
        [&["doctor"][..], &["doctor", "--json"], &["prompts"], &["config", "reference"], &["ps", "--all"]]
    {
        let output = cli.run_unread(command).await;
        assert_eq!((output.code, &*output.stderr), (Some(0), ""), "{command:?}");
    }
}

#[tokio::test]
async fn a_rebuild_finds_no_difference_and_a_backup_is_complete() {
    let mut world = World::start().await;
    let first = [Turn::say("Well."), Turn::shell("true"), Turn::done("Done.")];
    let second = [Turn::shell("false"), Turn::ask("Well?")];
    let ended = world.run("twice", first.into_iter().chain(second).collect::<Vec<_>>()).await;
    world.wait_end(ended).await;
    let params = StartTaskParams { conversation_id: Some(ended.conversation_id), ..world.task("twice") };
    let waits = world.begin(params).await;
    world.wait_status(waits, Status::WaitingUser).await;
    let asks = world.run_asking("asks", [Turn::shell("true")]).await;
    world.wait_status(asks, Status::WaitingApproval).await;
    let cli = world.daemon.cli();
    // It waits for the record of the checkpoint; nothing is recorded after that.
    cli.run(&["diff", &asks.task_id.to_string()]).await;

    let copy = world.daemon.workspace().join("copy.db");
    cli.ok(&["doctor", "--backup", copy.to_str().unwrap()]).await;
    let running = cli.run(&["doctor", "--rebuild"]).await;
    assert_eq!(running.code, Some(1), "{running:?}");
    assert!(running.stderr.contains("abide daemon stop"), "{running:?}");

    let before = cli.json(&["ps", "--all"]).await;
    world.daemon.stop().await;
    let rebuilt = cli.json(&["doctor", "--rebuild"]).await;
    assert_eq!(rebuilt, serde_json::json!({ "conversations": 2, "different": [], "rulesDiffered": false }));
    world.daemon.up().await;
    assert_eq!(cli.json(&["ps", "--all"]).await, before);

    world.daemon.stop().await;
    fs::copy(&copy, world.daemon.home().database()).unwrap();
    world.daemon.up().await;
    assert_eq!(cli.json(&["ps", "--all"]).await, before, "the backup has it all");
}

#[tokio::test]
async fn before_the_first_start_there_is_nothing_to_copy_or_to_repair() {
    let daemon = TestDaemon::new(&Config::new());
    let (cli, copy) = (daemon.cli(), daemon.workspace().join("copy.db"));
    for command in [
        &["doctor", "--backup", copy.to_str().unwrap()][..],
        &["doctor", "--rebuild"],
        &["doctor", "--accept-loss", "--yes"],
    ] {
        let refused = cli.run(command).await;
        assert_eq!(refused.code, Some(1), "{command:?}: {refused:?}");
        assert!(refused.stderr.contains("there is no database"), "{command:?}: {refused:?}");
        assert!(refused.stderr.contains("the first start"), "{command:?}: {refused:?}");
        let in_json = cli.run(&[command, &["--json"]].concat()).await;
        let document: Value = serde_json::from_str(&in_json.stderr).unwrap();
        assert_eq!(document["error"]["kind"], "failed", "{command:?}: {in_json:?}");
    }
    let tables = cli.json(&["config", "reference"]).await;
    assert_eq!((&tables[0]["table"], &tables[0]["keys"][0]["name"]), (&"model".into(), &"default".into()));
    let checked = cli.json(&["config", "check"]).await;
    assert_eq!(
        (&checked["valid"], &checked["exists"]),
        (&Value::Bool(true), &Value::Bool(true)),
        "{checked}"
    );
    assert!(!copy.exists() && !daemon.home().data_dir.exists());
}

#[tokio::test]
async fn a_backup_never_replaces_a_file_of_the_home() {
    let world = World::start().await;
    let task = world.run("kept", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    let (home, folder) = (world.daemon.home(), world.daemon.workspace());
    let (data, database) = (home.data_dir.clone(), home.database());
    fs::create_dir(folder.join("sub")).unwrap();
    symlink(&database, folder.join("link.db")).unwrap();
    symlink(&data, folder.join("data")).unwrap();
    fs::hard_link(&database, folder.join("hard.db")).unwrap();
    let mut places: Vec<PathBuf> = ["abide.db", "abide.db-wal", "abide.db-shm", "abide.db-newest"]
        .into_iter()
        .chain(["abide.db-reserve", "abide.lock", "a-new-name.db", "spool/copy.db"])
        .map(|name| data.join(name))
        .collect();
    places.extend([data.clone(), home.config_file(), home.key_file(), home.run_dir.join("abide.sock")]);
    places.extend([home.log_dir().join("copy.db"), home.state_dir.join("copy.db")]);
    // Other spellings, some relative to the command's working folder.
    places.extend(["link.db", "hard.db", "data/abide.db", "data/another.db"].map(PathBuf::from));
    places.extend(["sub/../../a/data/abide.db", "../a/data/../data/abide.db-wal"].map(PathBuf::from));
    let identity = || {
        ["abide.db", "abide.db-wal", "abide.db-newest", "abide.lock"].map(|name| {
            let found = fs::metadata(data.join(name)).unwrap();
            (found.dev(), found.ino())
        })
    };
    let before = (identity(), fs::read(home.config_file()).unwrap());
    let cli = world.daemon.cli();
    for place in &places {
        let refused = cli.run(&["doctor", "--backup", place.to_str().unwrap(), "--force"]).await;
        assert_eq!(refused.code, Some(1), "{place:?}: {refused:?}");
        assert!(refused.stderr.contains("part of Abide"), "{place:?}: {refused:?}");
        assert!(refused.stderr.contains("choose a place outside"), "{place:?}: {refused:?}");
    }
    assert_eq!((identity(), fs::read(home.config_file()).unwrap()), before);
    assert!(!data.join("a-new-name.db").exists() && !data.join("another.db").exists());
    assert_eq!(cli.json(&["ps", "--all"]).await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_backup_replaces_an_existing_file_only_if_forced() {
    let world = World::start().await;
    let (cli, folder) = (world.daemon.cli(), world.daemon.workspace());
    let copy = folder.join("copy.db");
    fs::write(&copy, "a precious file").unwrap();
    fs::write(folder.join("copy.db-partial"), "another").unwrap();
    let refused = cli.run(&["doctor", "--backup", "copy.db"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("copy.db") && refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), "a precious file");

    cli.ok(&["doctor", "--backup", "copy.db", "--force"]).await;
    assert!(fs::read(&copy).unwrap().starts_with(b"SQLite format 3\0"));
    assert_eq!(fs::read_to_string(folder.join("copy.db-partial")).unwrap(), "another");
    for (place, words) in
        [(".", "is a folder"), ("no/copy.db", "no such folder"), ("/dev/null", "is not a file")]
    {
        let refused = cli.run(&["doctor", "--backup", place, "--force"]).await;
        assert_eq!(refused.code, Some(1), "{place}: {refused:?}");
        assert!(refused.stderr.contains(words), "{place}: {refused:?}");
    }
    let usage = cli.run(&["doctor", "--force"]).await;
    assert_eq!(usage.code, Some(2), "{usage:?}");
}

/// Truncates a home's log, as a failing disk does: the database ends before the newest record.
async fn cut(world: &mut World) {
    let task = world.run("before", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    assert!(world.daemon.stop().await.success());
    world.daemon.up().await;
    world.client = world.daemon.client().await;
    let task = world.run("lost", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
    world.daemon.kill();
    fs::remove_file(world.daemon.home().data_dir.join("abide.db-wal")).unwrap();
}

#[tokio::test]
async fn a_truncated_database_is_refused_until_its_loss_is_accepted() {
    let mut world = World::start().await;
    let cli = world.daemon.cli();
    let running = cli.run(&["doctor", "--accept-loss", "--yes"]).await;
    assert_eq!(running.code, Some(1), "{running:?}");
    assert!(running.stderr.contains("abide daemon stop"), "{running:?}");
    cut(&mut world).await;

    world.daemon.launch();
    assert!(!world.daemon.ended().await.success());
    let words = world.daemon.output();
    assert!(words.contains("abide doctor --accept-loss"), "{words}");
    let sick = cli.run(&["doctor"]).await;
    assert!(sick.stdout.contains("✗ database:"), "{sick:?}");
    assert!(sick.stdout.contains("abide doctor --accept-loss"), "{sick:?}");

    // Without a terminal it cannot ask.
    let asked = cli.run(&["doctor", "--accept-loss"]).await;
    assert_eq!(asked.code, Some(4), "{asked:?}");
    for words in ["ends with record", "at most", "Tasks resume from", "may run again", "--yes"] {
        assert!(asked.stderr.contains(words), "{asked:?}");
    }
    world.daemon.launch();
    assert!(!world.daemon.ended().await.success(), "nothing was accepted yet");

    let accepted = cli.json(&["doctor", "--accept-loss", "--yes"]).await;
    assert_eq!(accepted["accepted"], true, "{accepted}");
    assert!(accepted["lost"]["first"].as_u64() < accepted["lost"]["last"].as_u64(), "{accepted}");
    world.daemon.up().await;
    assert_eq!(cli.json(&["ps", "--all"]).await.as_array().unwrap().len(), 1, "what is left");
    assert!(world.daemon.stop().await.success());
    let nothing = cli.ok(&["doctor", "--accept-loss"]).await;
    assert!(nothing.contains("nothing to accept"), "{nothing}");
}

#[tokio::test]
async fn problems_are_reported_with_a_remedy() {
    let mut world = World::start().await;
    world.daemon.stop().await;
    let cli = world.daemon.cli();
    let database = world.daemon.home().database();
    fs::write(&database, "this is not a database, but somebody may want to have it").unwrap();
    fs::write(world.daemon.home().config_file(), "[task]\nmax_stepps = 3\n").unwrap();
    let sick = cli.run(&["doctor"]).await;
    assert_eq!(sick.code, Some(1), "{sick:?}");
    assert!(sick.stdout.contains("✗ database:") && sick.stdout.contains("move it away"), "{sick:?}");
    assert!(sick.stdout.contains("✗ config:") && sick.stdout.contains("max_stepps"), "{sick:?}");
    assert!(fs::read_to_string(&database).unwrap().starts_with("this is not"), "it changes nothing");
}

/// Overwrites the first page of a table.
fn damage(world: &World, table: &str) {
    let database = world.daemon.home().database();
    let connection = rusqlite::Connection::open(&database).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: i64 = connection.query_row(sql, [table], |row| row.get(0)).unwrap();
    drop(connection);
    let file = fs::File::options().write(true).open(&database).unwrap();
    file.write_all_at(&[0xee; 4096], (page.cast_unsigned() - 1) * 4096).unwrap();
}

#[tokio::test]
async fn what_is_derived_is_repaired_by_a_start_and_by_a_rebuild() {
    let mut world = World::start().await;
    let first = world.run("first", [Turn::done("A needle.")]).await;
    world.wait_end(first).await;
    let cli = world.daemon.cli();
    for table in ["search_data", "tasks"] {
        world.daemon.stop().await;
        damage(&world, table);
        world.daemon.up().await;
        world.client = world.daemon.client().await;
        let again = world.run("again", [Turn::done("Done.")]).await;
        world.wait_end(again).await;
        assert!(cli.ok(&["search", "needle"]).await.contains("needle"), "{table}");
        let state = cli.json(&["daemon", "status"]).await;
        assert_eq!(state["daemon"]["storageDamaged"], false, "{table}: {state}");

        world.daemon.stop().await;
        damage(&world, table);
        cli.ok(&["doctor", "--rebuild"]).await;
        assert_eq!(health(&cli.json(&["doctor"]).await, "database"), "good", "{table}");
        world.daemon.up().await;
    }
    world.daemon.stop().await;
    let home = world.daemon.home();
    fs::remove_file(home.data_dir.join("abide.db-newest")).unwrap();
    assert_eq!(health(&cli.json(&["doctor"]).await, "database"), "noted");
    let whole = fs::read(home.database()).unwrap();
    fs::write(home.database(), &whole[..whole.len() / 4096 * 9 / 10 * 4096]).unwrap();
    let cut = fs::read(home.database()).unwrap();
    let salvaged = world.daemon.workspace().join("salvaged.db");
    let said = cli.ok(&["doctor", "--salvage", salvaged.to_str().unwrap()]).await;
    assert!(said.contains("nothing can be read from record"), "{said}");
    assert!(fs::read(home.database()).unwrap() == cut, "the damaged file is as it was");
    fs::rename(&salvaged, home.database()).unwrap();
    world.daemon.up().await;
    cli.ok(&["ps", "--all"]).await;
    assert_eq!(health(&cli.json(&["doctor"]).await, "database"), "good");
}
