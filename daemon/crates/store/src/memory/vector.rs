//! The vectors of chunks: what each means to one embedder, a byte a number.

use super::{chunk_id, index::pruned_to};
use abide_protocol::Seq;
use rusqlite::{Connection, params};

/// The cosine of the angle between two vectors: 1 for the same direction. `None`: they are not of the same
/// length, or one of them has no direction.
pub(crate) fn similarity(one: &[i8], other: &[u8]) -> Option<f32> {
    if one.len() != other.len() {
        return None;
    }
    let (mut product, mut squares, mut other_squares) = (0, 0, 0);
    for (a, b) in one.iter().zip(other) {
        let (a, b) = (i32::from(*a), i32::from(b.cast_signed()));
        product += a * b;
        squares += a * a;
        other_squares += b * b;
    }
    let lengths = f64::from(squares) * f64::from(other_squares);
    (lengths > 0.0).then(|| (f64::from(product) / lengths.sqrt()) as f32)
}

/// Whether the vectors are of this embedder.
pub(crate) fn are_of(connection: &Connection, embedder: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM embedder WHERE id = ?1")?.exists([embedder])
}

/// The first chunk that may have a vector. Of those before it, whose vectors were pruned, only notes may.
fn first(connection: &Connection) -> rusqlite::Result<i64> {
    Ok(chunk_id(Seq(pruned_to(connection, "vectors_pruned")?.0.saturating_add(1)), 0))
}

/// Keeps vectors of an embedder, which take the place of those of another one. A chunk that has gone, or was
/// pruned, gets none. Neither does one whose vector is not as long as the first.
pub(crate) fn keep(
    connection: &Connection,
    embedder: &str,
    vectors: &[(i64, Vec<i8>)],
) -> rusqlite::Result<()> {
    let Some(dimension) = vectors.first().map(|(_, vector)| vector.len()) else { return Ok(()) };
    let is_another = connection
        .prepare_cached("UPDATE embedder SET id = ?1, dimension = ?2 WHERE id <> ?1 OR dimension <> ?2")?
        .execute(params![embedder, i64::try_from(dimension).unwrap_or(i64::MAX)])?
        > 0;
    if is_another {
        connection.execute("DELETE FROM vectors", [])?;
    }
    let first = first(connection)?;
    for (id, vector) in vectors.iter().filter(|(_, vector)| vector.len() == dimension) {
        let bytes: Vec<u8> = vector.iter().map(|number| number.cast_unsigned()).collect();
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO vectors
                 SELECT id, ?2 FROM chunks WHERE id = ?1 AND (id >= ?3 OR source = 'note')",
            )?
            .execute(params![id, bytes, first])?;
    }
    Ok(())
}

/// The chunks that lack a vector of this embedder, from before this one on back.
pub(crate) fn missing(
    connection: &Connection,
    embedder: &str,
    before: i64,
    limit: u32,
) -> rusqlite::Result<Vec<i64>> {
    let lacking = if are_of(connection, embedder)? { "AND id NOT IN (SELECT id FROM vectors)" } else { "" };
    let sql = format!(
        "SELECT id FROM chunks WHERE id < ?1 AND (id >= ?3 OR source = 'note') {lacking}
         ORDER BY id DESC LIMIT ?2"
    );
    let parameters = params![before, limit, first(connection)?];
    connection.prepare_cached(&sql)?.query_map(parameters, |row| row.get(0))?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_the_cosine_and_refuses_what_is_no_vector() {
        let long = vec![-128; 4096];
        let cases: [(&[i8], &[i8], Option<f32>); 10] = [
            (&[3, 4], &[3, 4], Some(1.0)),
            (&[3, 4], &[30, 40], Some(1.0)),
            (&[3, 4], &[-3, -4], Some(-1.0)),
            (&[1, 0], &[0, 1], Some(0.0)),
            (&[1, 0], &[3, 4], Some(0.6)),
            (&long, &long, Some(1.0)),
            (&[0, 0], &[1, 0], None),
            (&[], &[], None),
            (&[1], &[1, 1], None),
            (&[1, 1], &[1], None),
        ];
        for (one, other, expected) in cases {
            let bytes: Vec<u8> = other.iter().map(|number| number.cast_unsigned()).collect();
            assert_eq!(similarity(one, &bytes), expected, "{one:?} {other:?}");
        }
    }
}
