//! Lists and finds remembered decisions.

use super::{Lookup, page_size, record::record_at};
use crate::{
    Store,
    column::{seq, seq_to_sql},
    error::ReadError,
};
use abide_protocol::{
    ConversationId, MAX_CANDIDATES, Seq,
    inbox::Rule,
    method::rule::{ListRulesReply, RememberedRule, RuleOrigin},
    record::{Record, RecordBody},
};
use rusqlite::{Connection, Row, params};
use std::fmt;

/// A page ends early when its arguments reach this size in bytes.
const PAGE_BYTES: usize = 1024 * 1024;

/// The id of a remembered decision: the digest of tool, workspace and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleId(pub(crate) [u8; 32]);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The newest decision on each call; it is the one that counts.
const SELECT: &str = "SELECT r.seq, r.digest, r.allow, c.title
    FROM rules r LEFT JOIN conversations c ON c.id = r.conversation
    WHERE r.seq = (SELECT max(seq) FROM rules WHERE digest = r.digest)";

fn remembered(connection: &Connection, row: &Row<'_>) -> Result<(Seq, RememberedRule), ReadError> {
    let at = seq(row, 0)?;
    let title: Option<String> = row.get(3)?;
    let origin = match title {
        Some(conversation_title) => record_at(connection, at)?.and_then(|r| origin(r, conversation_title)),
        None => None,
    };
    Ok((at, RememberedRule { id: RuleId(row.get(1)?).to_string(), allow: row.get(2)?, origin }))
}

fn origin(record: Record, conversation_title: String) -> Option<RuleOrigin> {
    let Record { conversation_id, at, body: RecordBody::RuleRemembered(made), .. } = record else {
        return None;
    };
    Some(RuleOrigin { rule: made.rule, at, conversation_id, conversation_title })
}

impl Store {
    /// Newest first. A page ends early if the arguments are long.
    pub async fn rules(&self, before: Option<Seq>, limit: u32) -> Result<ListRulesReply, ReadError> {
        let limit = page_size(limit);
        self.read(move |connection| {
            let sql = format!("{SELECT} AND r.seq < ?1 ORDER BY r.seq DESC");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![before.map_or(i64::MAX, seq_to_sql)])?;
            let (mut page, mut bytes, mut oldest) = (Vec::new(), 0, None);
            while let Some(row) = rows.next()? {
                if page.len() == limit || bytes > PAGE_BYTES {
                    return Ok(ListRulesReply { rules: page, before: oldest });
                }
                let (at, rule) = remembered(connection, row)?;
                bytes += rule.origin.as_ref().map_or(0, |o| o.rule.arguments.as_str().len());
                oldest = Some(at);
                page.push(rule);
            }
            Ok(ListRulesReply { rules: page, before: None })
        })
        .await
    }

    /// The remembered decision with this id.
    pub async fn remembered_rule(&self, id: RuleId) -> Result<Option<RememberedRule>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{SELECT} AND r.digest = ?1"))?;
            let mut rows = statement.query([id.0])?;
            let row = rows.next()?;
            row.map(|row| remembered(connection, row).map(|(_, rule)| rule)).transpose()
        })
        .await
    }

    /// The remembered decision whose id begins or ends with this, in any case.
    pub async fn find_rule(&self, typed: &str) -> Result<Lookup<RuleId>, ReadError> {
        let digits = typed.trim().to_ascii_uppercase();
        if !(1..=64).contains(&digits.len()) || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Ok(Lookup::None);
        }
        self.read(move |connection| {
            let sql = format!(
                "SELECT digest FROM rules WHERE hex(digest) LIKE ?1 || '%' OR hex(digest) LIKE '%' || ?1
                 GROUP BY digest ORDER BY max(seq) DESC LIMIT {MAX_CANDIDATES}"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_map([digits], |row| row.get(0).map(RuleId))?;
            let mut found = found.collect::<Result<Vec<_>, _>>()?;
            Ok(match (found.pop(), found.is_empty()) {
                (None, _) => Lookup::None,
                (Some(one), true) => Lookup::One(one),
                (Some(last), false) => {
                    found.push(last);
                    Lookup::Many(found)
                }
            })
        })
        .await
    }

    /// The conversations, not deleted, that remember a decision on this call, with the call.
    pub async fn rule_holders(&self, id: RuleId) -> Result<Vec<(ConversationId, Rule)>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT max(r.seq) FROM rules r JOIN conversations c ON c.id = r.conversation
                 WHERE r.digest = ?1 GROUP BY r.conversation",
            )?;
            let mut rows = statement.query([id.0])?;
            let mut holders = Vec::new();
            while let Some(row) = rows.next()? {
                let record = record_at(connection, seq(row, 0)?)?;
                if let Some(Record { conversation_id, body: RecordBody::RuleRemembered(made), .. }) = record {
                    holders.push((conversation_id, made.rule));
                }
            }
            Ok(holders)
        })
        .await
    }
}
