//! Migrations: numbered SQL files, each applied once, never edited after a release.

use crate::{
    backup::{self, Existing},
    disk::beside,
    error::OpenError,
};
use abide_fail_point::{Point, pass};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// The n-th migration leads from schema n-1 to schema n.
const MIGRATIONS: &[&str] =
    &[include_str!("../migrations/0001_first.sql"), include_str!("../migrations/0002_memory.sql")];

/// The newest schema.
pub(crate) const CURRENT: i64 = MIGRATIONS.len() as i64;

/// Marks a SQLite file as Abide's: "Abi1".
const APPLICATION_ID: i64 = 0x4162_6931;

/// The mark of builds before 0.1.0, whose schemas had other numbers: "Abid".
const BEFORE_FIRST_RELEASE: i64 = 0x4162_6964;

/// The suffix of the backup's name, for a backup made before the migration from `schema`.
pub(crate) fn backup_suffix(schema: i64) -> String {
    format!("-schema{schema}-backup")
}

/// The schema of a database. An error if the database is not Abide's, or of a newer version. Changes nothing.
pub(crate) fn identify(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let read =
        |pragma| connection.pragma_query_one::<i64>(None, pragma).map_err(|e| OpenError::sqlite(path, &e));
    match read("application_id")? {
        APPLICATION_ID => {}
        BEFORE_FIRST_RELEASE => return Err(OpenError::BeforeFirstRelease { path: path.to_owned() }),
        _ => return Err(OpenError::NotOurs { path: path.to_owned() }),
    }
    match read("user_version")? {
        found if found > CURRENT => Err(OpenError::Newer { path: path.to_owned(), found, known: CURRENT }),
        found => Ok(found),
    }
}

/// Migrates the database to the current schema, in one transaction. An existing database is backed up first.
pub(crate) fn run(connection: &mut Connection, path: &Path, from: i64) -> Result<(), OpenError> {
    to_newest(connection, path, MIGRATIONS, from)
}

fn to_newest(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
    from: i64,
) -> Result<(), OpenError> {
    let to = migrations.len() as i64;
    if from == to {
        return Ok(());
    }
    if from > 0 {
        let backup = beside(path, &backup_suffix(from));
        backup::write(connection, &backup, Existing::Replace).map_err(|e| OpenError::Backup {
            path: path.to_owned(),
            to: backup,
            reason: e.to_string(),
        })?;
    }
    steps(connection, migrations, from).map_err(|e| OpenError::Migration {
        path: path.to_owned(),
        from,
        to,
        reason: e.to_string(),
    })
}

fn steps(connection: &mut Connection, migrations: &[&str], from: i64) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let done = usize::try_from(from).unwrap_or(0);
    for sql in &migrations[done.min(migrations.len())..] {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    pass(Point::Migrating);
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;

    /// SHA-256 of each migration. A line is added with a migration and never changed after a release.
    const CHECKSUMS: &[&str] = &[
        "efc1a2c00ef522fbd92926f2dca3a4ac4edbaf249dd962d5d5c1485030e1fdc3",
        "a3c7a2c7079bbfeca4b0e91e21a56407f8bf55ac7480cb2ee5b983eed7c1012b",
    ];

    #[test]
    fn migrations_are_never_edited() {
        let found: Vec<String> = MIGRATIONS
            .iter()
            .map(|sql| {
                Sha256::digest(sql).iter().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                })
            })
            .collect();
        assert_eq!(found, CHECKSUMS);
    }

    /// By a further migration, as a later version may have one.
    #[test]
    fn an_older_database_is_backed_up_and_brought_to_the_newest_schema() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abide.db");
        let backup = folder.path().join("abide.db-schema2-backup");
        let mut connection = Connection::open(&path).unwrap();
        run(&mut connection, &path, 0).unwrap();
        assert!(!backup.exists(), "there was nothing to save");
        let schema = |connection: &Connection| identify(connection, &path).map_err(|e| e.to_string());
        for (third, is_done) in [("nonsense", false), ("ALTER TABLE read_marks ADD COLUMN at INTEGER", true)]
        {
            let migrated = to_newest(&mut connection, &path, &[MIGRATIONS[0], MIGRATIONS[1], third], 2);
            assert_eq!(migrated.is_ok(), is_done, "{migrated:?}");
            let words = migrated.map_err(|error| error.to_string()).err().unwrap_or_default();
            assert_eq!(words.contains("from schema 2 to 3"), !is_done, "{words}");
            assert_eq!(schema(&Connection::open(&backup).unwrap()), Ok(2));
            assert_eq!(connection.prepare("SELECT at FROM read_marks").is_ok(), is_done);
        }
        // This version takes the database for one of a newer version.
        assert!(schema(&connection).unwrap_err().contains("schema 3, this one knows 2"));
    }

    #[test]
    fn a_failed_migration_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        steps(&mut connection, &["CREATE TABLE a (x)"], 0).unwrap();
        steps(&mut connection, &["CREATE TABLE a (x)", "CREATE TABLE b (x)", "nonsense"], 1).unwrap_err();
        let version: i64 = connection.pragma_query_one(None, "user_version").unwrap();
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!((version, tables), (1, 1));
        steps(&mut connection, &["CREATE TABLE a (x)", "CREATE TABLE b (x)"], 1).unwrap();
        let version: i64 = connection.pragma_query_one(None, "user_version").unwrap();
        assert_eq!(version, 2);
    }
}
