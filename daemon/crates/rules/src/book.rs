//! The rules that stand at one place, and their verdict.

use crate::{Plain, Rule, Script, inner::Inner, matching::Pattern, path::is_protected, rule::Matcher};
use std::sync::Arc;

/// What a rule does about the calls that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Deny,
    Ask,
    Allow,
}

/// Where a rule stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The configuration's `[policy]`: everywhere.
    Policy,
    /// Remembered for this workspace.
    Workspace,
}

#[derive(Debug, Clone)]
pub struct Standing {
    pub rule: Arc<Rule>,
    pub effect: Effect,
    pub source: Source,
}

/// The rules that stand at one place.
#[derive(Debug, Clone, Default)]
pub struct Book(Vec<Standing>);

/// The verdict on a command line.
#[derive(Debug, Clone)]
pub enum Verdict<'a> {
    Deny(&'a Standing),
    /// It may be one that this rule denies: that is known only when it runs, for this reason. A person
    /// decides, also where a task may do everything.
    MayDeny(&'a Standing, String),
    /// With the reason, if it only may match.
    Ask(&'a Standing, Option<String>),
    /// This command, executed directly.
    Allow(&'a Standing, Plain),
    /// No rule is about it.
    None,
}

/// The verdict on a path.
#[derive(Debug, Clone)]
pub enum PathVerdict<'a> {
    Deny(&'a Standing),
    Ask(&'a Standing),
    Allow(&'a Standing),
    None,
}

impl Book {
    #[must_use]
    pub const fn new(standing: Vec<Standing>) -> Self {
        Self(standing)
    }

    #[must_use]
    pub fn rules(&self) -> &[Standing] {
        &self.0
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The verdict on a command line of the shell tool.
    #[must_use]
    pub fn shell(&self, line: &str) -> Verdict<'_> {
        let is_shell = |s: &&Standing| matches!(s.rule.matcher, Matcher::Shell(_) | Matcher::ShellText(_));
        if !self.0.iter().any(|s| is_shell(&s)) {
            return Verdict::None;
        }
        let line = line.trim();
        let script = Script::parse(line).map_err(|unclear| unclear.to_string());
        let inner = match &script {
            Ok(script) => Ok(Inner::of(script)),
            Err(why) => Err(why.clone()),
        };
        let deny = self.cautious(Effect::Deny, line, inner.as_ref());
        match deny {
            Found::Yes(standing) => return Verdict::Deny(standing),
            Found::Maybe(standing, why) => return Verdict::MayDeny(standing, why),
            Found::No => {}
        }
        match self.cautious(Effect::Ask, line, inner.as_ref()) {
            Found::Yes(standing) => return Verdict::Ask(standing, None),
            Found::Maybe(standing, why) => return Verdict::Ask(standing, Some(why)),
            Found::No => {}
        }
        let Some(plain) = script.ok().as_ref().and_then(Plain::of) else { return Verdict::None };
        let allows = |(_, pattern): &(&Standing, &Pattern)| pattern.allows(&plain.words);
        let allowing = self.patterns(Effect::Allow).find(allows);
        allowing.map_or(Verdict::None, |(standing, _)| Verdict::Allow(standing, plain.clone()))
    }

    fn of(&self, effect: Effect) -> impl Iterator<Item = &Standing> {
        self.0.iter().filter(move |standing| standing.effect == effect)
    }

    fn patterns(&self, effect: Effect) -> impl Iterator<Item = (&Standing, &Pattern)> {
        self.of(effect).filter_map(|standing| match &standing.rule.matcher {
            Matcher::Shell(pattern) => Some((standing, pattern)),
            _ => None,
        })
    }

    /// A rule that denies or asks. Which comes first is of no importance: both have the same effect.
    fn cautious(&self, effect: Effect, line: &str, inner: Result<&Inner, &String>) -> Found<'_> {
        let is_found = |standing: &&Standing| match &standing.rule.matcher {
            Matcher::ShellText(regex) => regex.is_match(line),
            _ => false,
        };
        if let Some(standing) = self.of(effect).find(is_found) {
            return Found::Yes(standing);
        }
        let inner = match inner {
            Ok(inner) => inner,
            Err(why) => {
                let first = self.patterns(effect).next();
                return first.map_or(Found::No, |(standing, _)| Found::Maybe(standing, why.clone()));
            }
        };
        let any = |test: &dyn Fn(&Pattern, &[crate::Word]) -> bool| {
            self.patterns(effect).find(|(_, pattern)| inner.commands().any(|words| test(pattern, words)))
        };
        if let Some((standing, _)) = any(&|pattern, words| pattern.finds(words)) {
            return Found::Yes(standing);
        }
        if let Some((standing, _)) = any(&|pattern, words| pattern.may_find(words)) {
            return Found::Maybe(standing, "some of its words are known only when it runs".to_owned());
        }
        match (&inner.unclear, self.patterns(effect).next()) {
            (Some(why), Some((standing, _))) => Found::Maybe(standing, why.clone()),
            _ => Found::No,
        }
    }

    /// The verdict on reading or listing a file. `paths` are its names, the one without links last.
    #[must_use]
    pub fn read(&self, paths: &[&str]) -> PathVerdict<'_> {
        self.path(paths, |matcher| match matcher {
            Matcher::Read(pattern) => Some(pattern),
            _ => None,
        })
    }

    /// The verdict on changing a file, likewise.
    #[must_use]
    pub fn edit(&self, paths: &[&str]) -> PathVerdict<'_> {
        let verdict = self.path(paths, |matcher| match matcher {
            Matcher::Edit(pattern) => Some(pattern),
            _ => None,
        });
        match verdict {
            PathVerdict::Allow(_) if paths.iter().any(|path| is_protected(path)) => PathVerdict::None,
            verdict => verdict,
        }
    }

    /// A rule that denies or asks matches any of the names, one that allows the file itself.
    fn path(
        &self,
        paths: &[&str],
        pattern: fn(&Matcher) -> Option<&crate::path::PathPattern>,
    ) -> PathVerdict<'_> {
        let matching = |effect: Effect, paths: &[&str]| {
            self.of(effect).find(|standing| {
                pattern(&standing.rule.matcher)
                    .is_some_and(|pattern| paths.iter().any(|path| pattern.matches(path)))
            })
        };
        let real = paths.get(paths.len().saturating_sub(1)..).unwrap_or_default();
        if let Some(standing) = matching(Effect::Deny, paths) {
            PathVerdict::Deny(standing)
        } else if let Some(standing) = matching(Effect::Ask, paths) {
            PathVerdict::Ask(standing)
        } else if let Some(standing) = matching(Effect::Allow, real) {
            PathVerdict::Allow(standing)
        } else {
            PathVerdict::None
        }
    }
}

enum Found<'a> {
    Yes(&'a Standing),
    Maybe(&'a Standing, String),
    No,
}
