//! Lists and finds remembered decisions.

use super::{Lookup, page_size, record::record_at};
use crate::{
    Store,
    column::{seq, seq_from_sql, seq_to_sql, text_rule},
    error::ReadError,
    rule_id::RuleId,
};
use abide_protocol::{
    MAX_CANDIDATES, Seq,
    inbox::TextRule,
    method::rule::{ListRulesReply, RememberedRule, RuleOrigin},
    record::{Record, RecordBody},
};
use rusqlite::{Connection, Row, params};

/// The size of arguments, in bytes, at which a page ends early.
const PAGE_BYTES: usize = 1024 * 1024;

const SELECT: &str = "SELECT r.seq, r.digest, r.allow, r.source, c.title, r.text, r.workspace, r.effect
    FROM rules r LEFT JOIN records s ON s.seq = r.source LEFT JOIN conversations c ON c.id = s.conversation";

fn remembered(connection: &Connection, row: &Row<'_>) -> Result<(Seq, RememberedRule), ReadError> {
    let (source, title): (Option<i64>, Option<String>) = (row.get(3)?, row.get(4)?);
    let origin = match source.zip(title) {
        Some((source, conversation_title)) => {
            record_at(connection, seq_from_sql(source))?.and_then(|r| origin(r, conversation_title))
        }
        None => None,
    };
    let id: RuleId = row.get(1)?;
    Ok((
        seq(row, 0)?,
        RememberedRule { id: id.to_string(), allow: row.get(2)?, origin, text: text_rule(row, 5)? },
    ))
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
            let sql = format!("{SELECT} WHERE r.seq < ?1 ORDER BY r.seq DESC");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![before.map_or(i64::MAX, seq_to_sql)])?;
            let (mut page, mut bytes, mut oldest) = (Vec::new(), 0, None);
            while let Some(row) = rows.next()? {
                if page.len() == limit || bytes > PAGE_BYTES {
                    return Ok(ListRulesReply { rules: page, before: oldest, policy: Vec::new() });
                }
                let (at, rule) = remembered(connection, row)?;
                bytes += rule.origin.as_ref().map_or(0, |o| o.rule.arguments.as_str().len());
                oldest = Some(at);
                page.push(rule);
            }
            Ok(ListRulesReply { rules: page, before: None, policy: Vec::new() })
        })
        .await
    }

    /// The rules that are remembered for a workspace.
    #[must_use]
    pub fn rules_of(&self, workspace: &str) -> Vec<TextRule> {
        self.rules.of_workspace(workspace)
    }

    /// The remembered decision with this id.
    pub async fn remembered_rule(&self, id: RuleId) -> Result<Option<RememberedRule>, ReadError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE r.digest = ?1"))?;
            let mut rows = statement.query([id])?;
            let row = rows.next()?;
            row.map(|row| remembered(connection, row).map(|(_, rule)| rule)).transpose()
        })
        .await
    }

    /// The remembered decision whose id begins or ends with this, or whose last eight digits begin with it,
    /// in any case.
    pub async fn find_rule(&self, typed: &str) -> Result<Lookup<RuleId>, ReadError> {
        let digits = typed.trim().to_ascii_uppercase();
        if !(1..=64).contains(&digits.len()) || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Ok(Lookup::None);
        }
        self.read(move |connection| {
            let sql = format!(
                "SELECT digest FROM rules
                 WHERE hex(digest) LIKE ?1 || '%' OR hex(digest) LIKE '%' || ?1 OR substr(hex(digest), -8) LIKE ?1 || '%'
                 ORDER BY seq DESC LIMIT {MAX_CANDIDATES}"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_map([digits], |row| row.get(0))?;
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
}
