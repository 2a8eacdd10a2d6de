//! Remembered decisions and rules in memory, so that assessing a call does not wait for a reader thread.

use crate::{canonical::rule_digest, column, rule_id::RuleId};
use abide_protocol::inbox::TextRule;
use rusqlite::Connection;
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

/// The remembered decisions and rules. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleBook(Arc<RwLock<Remembered>>);

#[derive(Debug, Default)]
struct Remembered {
    /// Whether the newest decision on a call allows it, by the call's digest.
    calls: HashMap<RuleId, bool>,
    /// Rules by workspace.
    texts: HashMap<String, Vec<TextRule>>,
}

impl RuleBook {
    /// Loads the table. The writer does this before it replies to the caller that changed the table.
    pub(crate) fn load(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement =
            connection.prepare_cached("SELECT digest, allow, text, workspace, effect FROM rules")?;
        let mut rows = statement.query([])?;
        let mut remembered = Remembered::default();
        while let Some(row) = rows.next()? {
            match column::text_rule(row, 2)? {
                Some(rule) => remembered.texts.entry(rule.workspace.clone()).or_default().push(rule),
                None => {
                    remembered.calls.insert(row.get(0)?, row.get(1)?);
                }
            }
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = remembered;
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Remembered> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn look_up(&self, tool: &str, arguments: &str, workspace: &str) -> Option<bool> {
        let remembered = self.read();
        if remembered.calls.is_empty() {
            return None;
        }
        remembered.calls.get(&rule_digest(tool, arguments, workspace)?).copied()
    }

    pub(crate) fn of_workspace(&self, workspace: &str) -> Vec<TextRule> {
        self.read().texts.get(workspace).cloned().unwrap_or_default()
    }
}
