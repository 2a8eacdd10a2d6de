//! Opens the database file. Nothing is changed before all checks have passed.

use crate::{
    disk::{beside, create_folder, create_private, restrict, sync_folder},
    error::OpenError,
    high_water, migrate,
};
use abide_fail_point::{Point, pass};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{fs, path::Path, time::Duration};

/// Older versions can corrupt a database in WAL mode (<https://sqlite.org/wal.html#walresetbug>).
const NEEDED: (i32, &str) = (3_051_003, "3.51.3");

/// How long to wait for a lock of a reader or of another program.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// The writer's connection.
pub(crate) fn writer(path: &Path) -> Result<Connection, OpenError> {
    if !(NEEDED.0..).contains(&rusqlite::version_number()) {
        return Err(OpenError::OldSqlite { found: rusqlite::version(), needed: NEEDED.1 });
    }
    create_if_missing(path)?;
    let found = fs::metadata(path).map_err(|e| OpenError::inaccessible(path, &e))?;
    if found.len() == 0 {
        // A new database gets its name only when it is complete, so an empty file was emptied by somebody.
        return Err(OpenError::Damaged { path: path.to_owned(), reason: "it is empty".to_owned() });
    }
    let noted = high_water::noted(path);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let schema = migrate::identify(&connection, path)?;
    high_water::check_not_behind(path, &connection, noted)?;
    restrict(path).map_err(|e| OpenError::inaccessible(path, &e))?;
    configure(&connection, path)?;
    migrate::run(&mut connection, path, schema)?;
    Ok(connection)
}

/// A reader's connection. The writer's connection must be open.
pub(crate) fn reader(path: &Path) -> Result<Connection, OpenError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

pub(crate) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, OpenError> {
    let connect = || {
        let connection = Connection::open_with_flags(path, access.union(OpenFlags::SQLITE_OPEN_NO_MUTEX))?;
        connection.busy_timeout(BUSY)?;
        // Without this, closing would change a database that was refused.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // Without this, some statements are compiled again for each value bound to them.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;",
        )?;
        Ok(connection)
    };
    connect().map_err(|e| OpenError::sqlite(path, &e))
}

/// A connection to a copy that may be cut off. SQLite refuses a file that is shorter than its header says,
/// unless the schema can be written.
pub(crate) fn connect_lenient(copy: &Path) -> Result<Connection, OpenError> {
    let connect = || {
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let connection = Connection::open_with_flags(copy, access)?;
        connection.execute_batch("PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON;")?;
        Ok(connection)
    };
    connect().map_err(|e| OpenError::sqlite(copy, &e))
}

fn configure(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let set = |setting: &'static str, sql: &str, query: &str, wanted: &str| {
        // Some of these pragmas return a row, some do not.
        let mut statement = connection.prepare(sql)?;
        statement.query([])?.next()?;
        let found = connection.query_row(query, [], |row| {
            Ok(match row.get(0)? {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            })
        })?;
        if found == wanted {
            Ok(())
        } else {
            Err(Trouble::Setting(OpenError::Setting { path: path.to_owned(), setting, found }))
        }
    };
    let settings = || {
        if connection.is_readonly("main")? {
            let reason = "it is write-protected".to_owned();
            return Err(Trouble::Setting(OpenError::Inaccessible { path: path.to_owned(), reason }));
        }
        set("journal_mode=WAL", "PRAGMA journal_mode = WAL", "PRAGMA journal_mode", "wal")?;
        set("synchronous=FULL", "PRAGMA synchronous = FULL", "PRAGMA synchronous", "2")?;
        set("foreign_keys", "PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", "1")?;
        // Deleted content is overwritten.
        set("secure_delete", "PRAGMA secure_delete = ON", "PRAGMA secure_delete", "1")?;
        // The writer writes the log back: SQLite would not report the errors.
        set("wal_autocheckpoint", "PRAGMA wal_autocheckpoint = 0", "PRAGMA wal_autocheckpoint", "0")?;
        connection.execute_batch(
            "PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8192;
             PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
        )?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    settings().map_err(|trouble| match trouble {
        Trouble::Setting(error) => error,
        Trouble::Sqlite(error) => OpenError::sqlite(path, &error),
    })
}

enum Trouble {
    Setting(OpenError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Makes a new database under another name, and renames the complete database.
fn create_if_missing(path: &Path) -> Result<(), OpenError> {
    if path.try_exists().map_err(|e| OpenError::inaccessible(path, &e))? {
        return Ok(());
    }
    let wal = beside(path, "-wal");
    if fs::metadata(&wal).is_ok_and(|found| found.len() > 0) {
        return Err(OpenError::OrphanedLog { path: path.to_owned(), wal });
    }
    high_water::check_never_used(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_folder(folder).map_err(|source| OpenError::Folder { path: folder.to_owned(), source })?;
    let new = beside(path, "-new");
    create_private(&new).map_err(|source| OpenError::Create { path: new.clone(), source })?;
    let mut connection = connect(&new, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate::run(&mut connection, &new, 0)?;
    connection.close().map_err(|(_, e)| OpenError::sqlite(&new, &e))?;
    pass(Point::DatabaseMade);
    fs::rename(&new, path)
        .and_then(|()| {
            pass(Point::DatabaseNamed);
            sync_folder(folder)
        })
        .map_err(|source| OpenError::Create { path: path.to_owned(), source })
}
