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
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_records.sql"),
    include_str!("../migrations/0002_search.sql"),
    include_str!("../migrations/0003_checksum.sql"),
    include_str!("../migrations/0004_rules.sql"),
    include_str!("../migrations/0005_timeline.sql"),
    include_str!("../migrations/0006_needs_daemon.sql"),
    include_str!("../migrations/0007_checkpoints.sql"),
    include_str!("../migrations/0008_hidden.sql"),
    include_str!("../migrations/0009_no_statistics.sql"),
    include_str!("../migrations/0010_external_ids.sql"),
    include_str!("../migrations/0011_text_rules.sql"),
    include_str!("../migrations/0012_muted.sql"),
];

/// The first schema in which a record may have a checksum.
pub(crate) const CHECKSUMS_SINCE: i64 = 3;

/// The newest schema.
pub(crate) const CURRENT: i64 = MIGRATIONS.len() as i64;

/// Marks a SQLite file as Abide's: "Abid".
const APPLICATION_ID: i64 = 0x4162_6964;

/// The suffix of the backup's name, for a backup made before the migration from `schema`.
pub(crate) fn backup_suffix(schema: i64) -> String {
    format!("-schema{schema}-backup")
}

/// The schema of a database. An error if the database is not Abide's, or of a newer version. Changes nothing.
pub(crate) fn identify(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let read =
        |pragma| connection.pragma_query_one::<i64>(None, pragma).map_err(|e| OpenError::sqlite(path, &e));
    if read("application_id")? != APPLICATION_ID {
        return Err(OpenError::NotOurs { path: path.to_owned() });
    }
    match read("user_version")? {
        found if found > CURRENT => Err(OpenError::Newer { path: path.to_owned(), found, known: CURRENT }),
        found => Ok(found),
    }
}

/// Migrates the database to the current schema, in one transaction. An existing database is backed up first.
pub(crate) fn run(connection: &mut Connection, path: &Path, from: i64) -> Result<(), OpenError> {
    if from == CURRENT {
        return Ok(());
    }
    if from > 0 {
        let to = beside(path, &backup_suffix(from));
        backup::write(connection, &to, Existing::Replace).map_err(|e| OpenError::Backup {
            path: path.to_owned(),
            to,
            reason: e.to_string(),
        })?;
    }
    steps(connection, MIGRATIONS, from).map_err(|e| OpenError::Migration {
        path: path.to_owned(),
        from,
        to: CURRENT,
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
        "0aad4d130a982e0c41756a5e069b83fa194930c4dd33945d9d10b95ce32cd92a",
        "ccc18f59110a73d1d0d038875c51a288cd9d094888fc764072b7cdf098321c01",
        "dbb807467859fdf5d34564643a2129a4837eeecc7c4e4ceec029ea9344b2c2d9",
        "dc91c790550c047a08a9bfc44170a7f7bb1f9986a7013739e9abc044deaeee60",
        "c6b7db8a2d42da2f2f0f55f3744d1ebac515a47b171ca978b35b76a290a088f4",
        "6af6747b20b309b07be01546652fb762574c9a285489a6e4a1dbb0387344559a",
        "d63693548cfd573d07a620fe23b41208bc2800fcc926c14db5d7825f4c13a299",
        "d02defccfde304547c10091b02d362d76e12df7322c209445c38126fb08d6f37",
        "85efb47897cbc694bd8fa31b087666b789f9fb6029c6d440dc74ef41bbf9631e",
        "c41115b62562960a3fc86c51461f72cfc9792690cf0930fdfeff3c75b91534d8",
        "86ca4381010743f668b4d80062cafe81cab0097dd4964eb2406c9282fa6fa406",
        "634bec9b59fb03d3faed9446cbafca8c1cd100ba65d92aa83b2bd49c1afc7bc7",
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
