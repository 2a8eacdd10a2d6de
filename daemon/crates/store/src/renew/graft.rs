//! A database may be cut off within its schema. Then its first page is replaced by a page whose schema has
//! only the table of records, at the page where a new database has this table: the first migration makes the
//! table.

use super::{RenewError, create};
use rusqlite::Connection;
use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    path::Path,
};

/// Where the header has the number of pages, as a big-endian number. See
/// <https://www.sqlite.org/fileformat2.html#the_database_header>.
const PAGES: std::ops::Range<usize> = 28..32;

/// Gives the copy of a damaged database a schema that finds its records. `scratch`: an empty folder for
/// files.
///
/// # Errors
/// A file cannot be written.
pub(super) fn schema(copy: &Path, scratch: &Path) -> Result<(), RenewError> {
    let whole = create(&scratch.join("schema.db"))?;
    let setting = |name: &str| whole.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (page_size, id, version) =
        (setting("page_size")?, setting("application_id")?, setting("user_version")?);
    // Without constraints, which would need indices.
    let columns: String = whole.query_row(
        "SELECT group_concat(name || CASE pk WHEN 0 THEN '' ELSE ' INTEGER PRIMARY KEY' END) FROM pragma_table_info('records')",
        [],
        |row| row.get(0),
    )?;
    let root: i64 =
        whole.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'records'", [], |row| row.get(0))?;
    let first = scratch.join("first-page.db");
    let records_only = Connection::open(&first)?;
    records_only.execute_batch(&format!(
        "PRAGMA page_size = {page_size}; PRAGMA application_id = {id}; PRAGMA user_version = {version};
         CREATE TABLE records ({columns}); PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = {root};"
    ))?;
    records_only.close().map_err(|(_, error)| error)?;
    replace_first_page(copy, &first, page_size)
        .map_err(|source| RenewError::File { path: copy.to_owned(), source })
}

fn replace_first_page(copy: &Path, first: &Path, page_size: i64) -> io::Result<()> {
    let size = usize::try_from(page_size).map_err(io::Error::other)?;
    let mut page = vec![0; size];
    File::open(first)?.read_exact(&mut page)?;
    let mut file = File::options().write(true).open(copy)?;
    let pages = file.metadata()?.len() / u64::try_from(size).map_err(io::Error::other)?;
    page[PAGES].copy_from_slice(&u32::try_from(pages).map_err(io::Error::other)?.to_be_bytes());
    file.rewind()?;
    file.write_all(&page)
}
