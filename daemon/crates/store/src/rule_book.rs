//! Remembered decisions in memory, so that assessing a call does not wait for a reader thread.

use crate::{canonical::rule_digest, rule_id::RuleId};
use rusqlite::Connection;
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

/// Whether the newest decision on a call allows it, by the call's digest. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleBook(Arc<RwLock<HashMap<RuleId, bool>>>);

impl RuleBook {
    /// Loads the table. The writer does this before it replies to the caller that changed the table.
    pub(crate) fn load(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached("SELECT digest, allow FROM rules")?;
        let rules = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rules = rules.collect::<rusqlite::Result<_>>()?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rules;
        Ok(())
    }

    pub(crate) fn look_up(&self, tool: &str, arguments: &str, workspace: &str) -> Option<bool> {
        let rules = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if rules.is_empty() {
            return None;
        }
        rules.get(&rule_digest(tool, arguments, workspace)?).copied()
    }
}
