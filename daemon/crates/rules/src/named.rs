//! The words of a command line that may name files.

use crate::{Redirect, Script, Simple, Target, Word, inner::Inner};
use std::iter;

/// What a command line names, as far as it shows that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Words of its commands, those of shells within it too, in the order of the line; values of variables;
    /// files that are read from. What a word means to its program is not known: it may be no file's name at
    /// all.
    pub words: Vec<String>,
    /// Why it may use what `words` do not name.
    pub unclear: Option<String>,
}

impl Named {
    #[must_use]
    pub fn of(line: &str) -> Self {
        let script = match Script::parse(line.trim()) {
            Ok(script) => script,
            Err(unclear) => return Self { words: Vec::new(), unclear: Some(unclear.to_string()) },
        };
        let Inner { scripts, unclear, .. } = Inner::of(&script);
        let mut named = Self { words: Vec::new(), unclear: None };
        for script in iter::once(&script).chain(&scripts) {
            named.add(script);
        }
        Self { unclear: named.unclear.or(unclear), ..named }
    }

    fn add(&mut self, script: &Script) {
        for Simple { assignments, words } in &script.commands {
            for word in assignments.iter().map(|(_, value)| value).chain(words) {
                match word {
                    Word::Literal(text) => self.words.push(text.clone()),
                    Word::Unknown => self.has_unknown(),
                }
            }
        }
        for Redirect { operator, target, .. } in &script.redirects {
            match target {
                Target::Named(name) if operator == "<" => self.words.push(name.clone()),
                Target::Unknown if !operator.ends_with('-') => self.has_unknown(),
                Target::Named(_) | Target::Unknown => {}
            }
        }
        if !script.is_flat {
            self.unclear.get_or_insert_with(|| "it is more than a list of plain commands".to_owned());
        }
    }

    fn has_unknown(&mut self) {
        self.unclear.get_or_insert_with(|| "not all of its words are known before it runs".to_owned());
    }
}
