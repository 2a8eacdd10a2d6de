use super::{
    rebuild::story,
    support::{Home, append, begin, conversation, notice, options, record, reseal, uuid},
};
use abide_protocol::Seq;
use abide_store::{CopyError, Existing, Integrity, Loss, OpenError, ReadError, Store, TaskQuery, Unreadable};
use rusqlite::{Connection, ToSql};
use std::{
    fs,
    path::{Path, PathBuf},
};
use uuid::Uuid;

fn try_open(path: &Path) -> Result<Store, OpenError> {
    Store::open(options(path), Box::new(|_| {}))
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let home = Home::new();
    let options = abide_store::Options { reserve_bytes: 100_000, ..options(&home.path()) };
    let store = Store::open(options, Box::new(|_| {})).unwrap();
    begin(&store, 1, 1).await;
    Store::copy(&home.path(), &home.path().with_file_name("copy.db"), Existing::Keep).unwrap();
    let folder = home.path().parent().unwrap().to_owned();
    assert_eq!(mode(&folder), 0o700);
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["abide.db", "abide.db-newest", "abide.db-reserve", "abide.db-shm", "abide.db-wal", "copy.db"]
    );
    for name in names {
        assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
    }
    store.close().await;
    for open in [0o644, 0o640, 0o604] {
        fs::set_permissions(home.path(), fs::Permissions::from_mode(open)).unwrap();
        try_open(&home.path()).unwrap().close().await;
        assert_eq!(mode(&home.path()), 0o600, "{open:o}");
    }
}

#[tokio::test]
async fn acknowledged_appends_survive_without_a_close() {
    let home = Home::new();
    let store = home.open();
    let id = story(&store).await;
    let records = store.conversation_records(id).await.unwrap();
    // As after a kill: a copy of the files, with the log still open.
    let killed = Home::new();
    fs::create_dir(killed.path().parent().unwrap()).unwrap();
    for suffix in ["", "-wal"] {
        let name = format!("abide.db{suffix}");
        fs::copy(home.path().with_file_name(&name), killed.path().with_file_name(&name)).unwrap();
    }
    let store = killed.open();
    assert_eq!(store.conversation_records(id).await.unwrap(), records);
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
    drop(store);
    let store = killed.open();
    assert_eq!(store.conversation_records(id).await.unwrap(), records);
}

#[tokio::test]
async fn closing_leaves_one_whole_file() {
    let home = Home::new();
    let store = home.open();
    begin(&store, 1, 1).await;
    store.close().await;
    let mut files: Vec<_> = fs::read_dir(home.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["abide.db", "abide.db-newest"], "the second is only a number");
    assert!(home.open().conversation(conversation(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_database_behind_its_mark_is_refused_until_the_loss_is_accepted() {
    let home = Home::new();
    let store = home.open();
    story(&store).await;
    begin(&store, 6, 600).await;
    let folder = home.path().parent().unwrap().to_owned();
    let copied = |damage: fn(&Path)| {
        // As after a kill: SQLite takes any damage in the log for its end.
        let killed = Home::new();
        fs::create_dir(killed.path().parent().unwrap()).unwrap();
        for name in ["abide.db", "abide.db-wal", "abide.db-newest"] {
            fs::copy(folder.join(name), killed.path().with_file_name(name)).unwrap();
        }
        damage(&killed.path().with_file_name("abide.db-wal"));
        killed
    };
    let whole = copied(|_| {});
    assert_eq!(Store::examine(&whole.path()).unwrap().integrity, Integrity::Sound);
    try_open(&whole.path()).unwrap().close().await;
    let damages: [fn(&Path); 3] = [
        |log| {
            let mut bytes = fs::read(log).unwrap();
            // Damage in the log's first page.
            bytes[200] ^= 1;
            fs::write(log, bytes).unwrap();
        },
        |log| {
            let half = fs::metadata(log).unwrap().len() / 2;
            fs::File::options().write(true).open(log).unwrap().set_len(half).unwrap();
        },
        |log| fs::remove_file(log).unwrap(),
    ];
    for damage in damages {
        let home = copied(damage);
        let looked_at = Store::examine(&home.path()).unwrap_err();
        let backup = home.path().with_file_name("backup.db");
        assert!(
            Store::copy(&home.path(), &backup, Existing::Keep).is_err(),
            "it is no backup of what was there"
        );
        assert!(!backup.exists());
        let error = try_open(&home.path()).unwrap_err();
        assert_eq!(error.to_string(), looked_at.to_string());
        let OpenError::Behind { newest, noted, .. } = error else { panic!("{error:?}") };
        assert!(newest < noted, "{newest:?} {noted:?}");
        let loss = Store::loss(&home.path()).unwrap().unwrap();
        assert_eq!(loss, Loss { newest, noted });
        assert_eq!(loss.at_most(), noted.0 - newest.0);
        assert!(try_open(&home.path()).is_err(), "looking at the loss does not accept it");
        Store::accept_loss(&home.path(), loss).unwrap();
        assert_eq!(Store::loss(&home.path()).unwrap(), None);
        let opened = try_open(&home.path()).unwrap();
        begin(&opened, 7, 700).await;
        opened.close().await;
        try_open(&home.path()).unwrap();
    }
}

/// Opens the story's database after `damage` and expects an error; no file may have changed.
async fn refuses(damage: impl FnOnce(&Path)) -> OpenError {
    let home = Home::new();
    let store = home.open();
    story(&store).await;
    store.close().await;
    damage(&home.path());
    let files = || {
        let mut files: Vec<_> = fs::read_dir(home.path().parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(&path).unwrap()))
            // Reading it in WAL mode leaves an empty log and its index.
            .filter(|(path, bytes)| {
                let name = path.to_string_lossy();
                !(name.ends_with("-shm") || name.ends_with("-wal") && bytes.is_empty())
            })
            .collect();
        files.sort();
        files
    };
    let before = files();
    let error = try_open(&home.path()).unwrap_err();
    assert!(files() == before, "refusing with {error} has changed the files");
    assert!(error.to_string().contains(&home.path().display().to_string()), "{error}");
    error
}

#[tokio::test]
async fn an_unreadable_database_is_refused_and_not_changed() {
    let error = refuses(|path| fs::write(path, "this is not a database, ".repeat(1000)).unwrap()).await;
    assert!(matches!(error, OpenError::NotOurs { .. }), "{error:?}");

    let error = refuses(|path| fs::write(path, "").unwrap()).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");

    let error = refuses(|path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    })
    .await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");

    let error = refuses(|path| {
        fs::remove_file(path).unwrap();
        let other = Connection::open(path).unwrap();
        other.execute_batch("CREATE TABLE somebody_elses (data)").unwrap();
    })
    .await;
    assert!(matches!(error, OpenError::NotOurs { .. }), "{error:?}");

    // Its schemas had other numbers.
    for schema in [1, 12, 999] {
        let sql = format!("PRAGMA application_id = 0x41626964; PRAGMA user_version = {schema}");
        let error = refuses(|path| Connection::open(path).unwrap().execute_batch(&sql).unwrap()).await;
        assert!(matches!(error, OpenError::BeforeFirstRelease { .. }), "{error:?}");
        let words = error.to_string();
        for part in ["of a build before 0.1.0", "abide messages ID", "/data away"] {
            assert!(words.contains(part), "{words}");
        }
    }

    let error = refuses(|path| {
        Connection::open(path).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
    })
    .await;
    assert!(matches!(error, OpenError::Newer { found: 999, known: 2, .. }), "{error:?}");

    // Also if the log has changes.
    let error = refuses(|path| {
        let newer = Connection::open(path).unwrap();
        newer.execute_batch("PRAGMA user_version = 999").unwrap();
        let wal = path.with_file_name("abide.db-wal");
        let left = [path, &wal].map(|path| fs::read(path).unwrap());
        assert!(!left[1].is_empty());
        drop(newer);
        fs::write(path, &left[0]).unwrap();
        fs::write(wal, &left[1]).unwrap();
    })
    .await;
    assert!(matches!(error, OpenError::Newer { found: 999, known: 2, .. }), "{error:?}");

    let error = refuses(|path| {
        fs::rename(path, path.with_file_name("elsewhere.db")).unwrap();
        fs::write(path.with_file_name("abide.db-wal"), "the newest records").unwrap();
    })
    .await;
    assert!(matches!(error, OpenError::OrphanedLog { .. }), "{error:?}");

    let error = refuses(|path| fs::rename(path, path.with_file_name("elsewhere.db")).unwrap()).await;
    assert!(matches!(error, OpenError::Missing { .. }), "{error:?}");
}

/// A daemon asks before it lets another program take its place.
#[tokio::test]
async fn whether_this_version_can_open_a_database_is_known_without_opening_it() {
    let home = Home::new();
    let checked = || Store::check_schema(&home.path());
    checked().unwrap();
    let store = home.open();
    checked().unwrap();
    story(&store).await;
    store.close().await;
    Connection::open(home.path()).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
    assert!(matches!(checked(), Err(OpenError::Newer { found: 999, .. })), "{:?}", checked());
    fs::remove_file(home.path()).unwrap();
    assert!(matches!(checked(), Err(OpenError::Missing { .. })), "{:?}", checked());
    fs::write(home.path(), "somebody else's file").unwrap();
    assert!(matches!(checked(), Err(OpenError::NotOurs { .. })), "{:?}", checked());
}

#[tokio::test]
async fn a_missing_database_is_created_again_once_its_loss_is_accepted() {
    let home = Home::new();
    let store = home.open();
    let id = story(&store).await;
    let noted = store.conversation_records(id).await.unwrap().last().unwrap().seq;
    store.close().await;
    assert_eq!(Store::loss(&home.path()).unwrap(), None);
    fs::remove_file(home.path()).unwrap();
    assert!(matches!(try_open(&home.path()), Err(OpenError::Missing { .. })));
    let loss = Store::loss(&home.path()).unwrap().unwrap();
    assert_eq!((loss, loss.at_most()), (Loss { newest: Seq(0), noted }, noted.0));
    Store::accept_loss(&home.path(), loss).unwrap();
    assert_eq!(try_open(&home.path()).unwrap().recorded_conversations().await.unwrap(), []);

    // Other errors are not a loss that can be accepted.
    fs::write(home.path(), "somebody else's file").unwrap();
    assert!(matches!(Store::loss(&home.path()), Err(OpenError::NotOurs { .. })));
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let home = Home::new();
    let file = home.folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = try_open(&file.join("data").join("abide.db")).unwrap_err();
    assert!(matches!(error, OpenError::Folder { .. } | OpenError::Inaccessible { .. }), "{error:?}");
    assert!(error.to_string().contains("file/data"), "{error}");

    let error = try_open(home.folder.path()).unwrap_err();
    assert!(error.to_string().contains(&home.folder.path().display().to_string()), "{error}");
}

#[tokio::test]
async fn an_unreadable_record_is_named() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    store.append(append(id, vec![record(2, None, notice("x"))])).await.unwrap();
    for (sql, kind, reason) in [
        ("UPDATE records SET body = '{}' WHERE seq = 2", "notice", "missing field"),
        ("UPDATE records SET version = 9 WHERE seq = 2", "notice", "newer"),
        ("UPDATE records SET kind = 'miracle' WHERE seq = 2", "miracle", "kind is unknown"),
    ] {
        // As another version would have stored it.
        let database = Connection::open(home.path()).unwrap();
        database.execute_batch(sql).unwrap();
        reseal(&database);
        match store.conversation_records(id).await {
            Err(ReadError::Record { seq, kind: found, reason: why }) => {
                assert_eq!((seq.0, found.as_str()), (2, kind));
                assert!(why.to_string().contains(reason), "{why}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_changed_record_is_reported_even_if_it_can_be_read() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let task = uuid(0x7a, 5);
    store.append(append(id, vec![record(2, Some(5), notice("paint it blue"))])).await.unwrap();
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
    let change = |column: &str, value: &dyn ToSql| {
        let sql = format!("UPDATE records SET {column} = ?1 WHERE seq = 2");
        Connection::open(home.path()).unwrap().execute(&sql, [value]).unwrap();
    };
    let changes: [(&str, &dyn ToSql, &dyn ToSql); 6] = [
        (
            "body",
            &r#"{"about":"stopped","text":"paint it glue"}"#,
            &r#"{"about":"stopped","text":"paint it blue"}"#,
        ),
        ("at", &3, &2),
        ("task", &None::<Uuid>, &task),
        ("task", &uuid(0x7a, 4), &task),
        ("id", &uuid(0x4e, 3), &uuid(0x4e, 2)),
        ("kind", &"partial_reply", &"notice"),
    ];
    for (column, changed, stored) in changes {
        change(column, changed);
        match store.conversation_records(id).await {
            Err(ReadError::Record { seq: Seq(2), reason: Unreadable::Checksum, .. }) => {}
            other => panic!("{column}: {other:?}"),
        }
        let Integrity::Damaged(found) = store.check().await.unwrap() else { panic!("{column}") };
        assert!(found.len() == 1 && found[0].contains("record 2"), "{found:?}");
        let Integrity::Damaged(found) = Store::examine(&home.path()).unwrap().integrity else {
            panic!("{column}")
        };
        assert!(found.len() == 1 && found[0].contains("record 2"), "{found:?}");
        change(column, stored);
        store.conversation_records(id).await.unwrap();
    }
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
}

#[tokio::test]
async fn a_check_names_twenty_damaged_records_at_most() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    store.append(append(id, (2..30).map(|n| record(n, None, notice("said"))).collect())).await.unwrap();
    Connection::open(home.path()).unwrap().execute_batch("UPDATE records SET at = at + 1").unwrap();
    let Integrity::Damaged(found) = store.check().await.unwrap() else { panic!() };
    assert_eq!(found.len(), 20, "{found:?}");
}

#[tokio::test]
async fn a_backup_is_a_whole_database_and_replaces_an_older_one_only_if_told_to() {
    let home = Home::new();
    let store = home.open();
    let id = story(&store).await;
    let to = home.folder.path().join("copy.db");
    fs::write(&to, "an older one").unwrap();
    let kept = Store::copy(&home.path(), &to, Existing::Keep);
    assert!(matches!(&kept, Err(CopyError::Exists { path }) if *path == to), "{kept:?}");
    assert_eq!(fs::read_to_string(&to).unwrap(), "an older one");
    Store::copy(&home.path(), &to, Existing::Replace).unwrap();
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
    let records = store.conversation_records(id).await.unwrap();
    assert_eq!(try_open(&to).unwrap().conversation_records(id).await.unwrap(), records);
    let nowhere = Store::copy(&home.path(), &home.folder.path().join("no").join("where"), Existing::Keep);
    assert!(matches!(nowhere, Err(CopyError::Write { .. })), "{nowhere:?}");
    let too_long = Store::copy(&home.path(), &home.folder.path().join("n".repeat(300)), Existing::Keep);
    assert!(matches!(too_long, Err(CopyError::Write { .. })), "{too_long:?}");
}

#[tokio::test]
async fn a_backup_under_a_bare_name_is_in_the_current_folder() {
    let home = Home::new();
    let store = home.open();
    let id = story(&store).await;
    let name = format!("backup-{}.db", std::process::id());
    Store::copy(&home.path(), Path::new(&name), Existing::Keep).unwrap();
    let moved = home.folder.path().join("moved.db");
    fs::copy(&name, &moved).unwrap();
    fs::remove_file(&name).unwrap();
    let records = store.conversation_records(id).await.unwrap();
    assert_eq!(try_open(&moved).unwrap().conversation_records(id).await.unwrap(), records);
}

#[tokio::test]
async fn a_database_is_examined_and_copied_while_it_is_used() {
    let home = Home::new();
    let store = home.open();
    let id = story(&store).await;
    let records = store.conversation_records(id).await.unwrap();
    let examined = Store::examine(&home.path()).unwrap();
    assert_eq!(
        (examined.conversations, examined.records),
        (1, records.len() as u64 + 1),
        "one record is hidden"
    );
    assert_eq!((examined.schema, examined.integrity), (examined.newest_schema, Integrity::Sound));

    let to = home.folder.path().join("copy.db");
    Store::copy(&home.path(), &to, Existing::Keep).unwrap();
    assert_eq!(try_open(&to).unwrap().conversation_records(id).await.unwrap(), records);
    begin(&store, 2, 1000).await;

    let nowhere = Store::examine(&home.folder.path().join("nowhere.db"));
    assert!(matches!(nowhere, Err(OpenError::Inaccessible { .. })), "{nowhere:?}");
    let other = home.folder.path().join("other.db");
    fs::write(&other, "no database").unwrap();
    let error = Store::copy(&other, &to, Existing::Replace).unwrap_err().to_string();
    assert!(error.contains("not a database of Abide"), "{error}");
}

/// Each release with a new schema has a database here, written by `write_fixture` before it: the first is
/// that of 0.1.0.
#[tokio::test]
async fn databases_of_every_schema_open() {
    let home = Home::new();
    let fresh = home.open();
    let id = story(&fresh).await;
    let newest = Store::examine(&home.path()).unwrap().newest_schema;
    for schema in 1..=newest {
        let old = Home::new();
        fs::create_dir(old.path().parent().unwrap()).unwrap();
        fs::copy(fixture(schema), old.path()).unwrap();
        let examined = Store::examine(&old.path()).unwrap();
        assert_eq!((examined.schema, examined.integrity), (schema, Integrity::Sound));
        let store = old.open();
        assert_eq!(
            store.conversation_records(id).await.unwrap(),
            fresh.conversation_records(id).await.unwrap()
        );
        assert_eq!(store.check().await.unwrap(), Integrity::Sound);
        assert_eq!(store.conversation(id).await.unwrap(), fresh.conversation(id).await.unwrap());
        let all = TaskQuery { with_ended: true, limit: 10, ..TaskQuery::default() };
        assert_eq!(store.tasks(all.clone()).await.unwrap(), fresh.tasks(all.clone()).await.unwrap());
        assert_eq!(
            store.messages(id, None, 100).await.unwrap(),
            fresh.messages(id, None, 100).await.unwrap()
        );
        assert_eq!(store.inbox(None).await.unwrap(), fresh.inbox(None).await.unwrap());
        assert_eq!((store.rule("shell", "{}", "/w"), store.replace_rules().await), (Some(true), Ok(false)));
        assert_eq!(store.needing_daemon().await.unwrap(), fresh.needing_daemon().await.unwrap());
        begin(&store, 2, 1000).await;
        let files = abide_store::files(&old.path());
        for entry in fs::read_dir(old.path().parent().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            assert!(files.contains(&path), "{} is not among {files:?}", path.display());
        }
        let backup = format!("abide.db-schema{schema}-backup");
        let is_backed_up = files.iter().any(|file| file.ends_with(&backup) && file.exists());
        assert_eq!(is_backed_up, schema < newest);
    }
}

/// As new ones do, see `memory::scope`.
#[tokio::test]
async fn conversations_from_before_the_memory_have_their_scope() {
    let private = format!("/home/me/scratch/{}", conversation(1));
    for (workspace, scope) in
        [("/w", "/w"), ("/home/me/scratch/another", "/home/me/scratch/another"), (&private, "")]
    {
        let old = Home::new();
        fs::create_dir(old.path().parent().unwrap()).unwrap();
        fs::copy(fixture(1), old.path()).unwrap();
        let database = Connection::open(old.path()).unwrap();
        database.execute("UPDATE conversations SET workspace = ?1", [workspace]).unwrap();
        let store = old.open();
        store.close().await;
        let found: (String, String) = database
            .query_row("SELECT scope, memory FROM conversations", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(found, (scope.to_owned(), "normal".to_owned()), "{workspace}");
    }
}

fn fixture(schema: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/schema{schema}.db"))
}

/// With statistics of a database that had one conversation, SQLite reads the records of all conversations for
/// each of them.
#[tokio::test]
async fn no_statistics_mislead_the_choice_of_an_index() {
    let home = Home::new();
    let store = home.open();
    story(&store).await;
    store.close().await;
    let database = Connection::open(home.path()).unwrap();
    let count = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'";
    let statistics: i64 = database.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(statistics, 0);
}

#[tokio::test]
#[ignore = "writes the fixture of the newest schema: run it by hand, once, before a release"]
async fn write_fixture() {
    let home = Home::new();
    let store = home.open();
    story(&store).await;
    let schema = Store::examine(&home.path()).unwrap().schema;
    Store::copy(&home.path(), &fixture(schema), Existing::Keep).unwrap();
}
