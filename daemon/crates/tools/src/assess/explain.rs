//! Says which rule decides about a command line, and why, as its assessment has it.

use super::ruling::{NotAllowed, Programs, line_offers, named};
use crate::{SandboxSettings, Tools, UnusablePath, workspace::Workspace};
use abide_protocol::{inbox::RuleEffect, method::rule::TestRuleReply, sandbox::SandboxLevel};
use abide_rules::{Book, Plain, Source, Standing, Verdict};
use std::sync::Arc;

/// A command line of the shell tool.
#[derive(Debug, Clone, Copy)]
pub struct RuleQuestion<'a> {
    pub command: &'a str,
    /// An absolute path.
    pub workspace: &'a str,
    /// The `PATH` of commands.
    pub path: Option<&'a str>,
    pub rules: &'a Book,
    pub sandbox: &'a SandboxSettings,
}

impl Tools {
    /// The verdict of the rules on a command line, where the program that it names is looked for too. Blocking; nothing runs.
    ///
    /// # Errors
    /// The workspace cannot be used.
    pub fn test_rules(&self, question: &RuleQuestion<'_>) -> Result<TestRuleReply, UnusablePath> {
        let RuleQuestion { command, workspace, path, rules, sandbox } = *question;
        let workspace = &Workspace::open(workspace, Arc::clone(&self.runner.closed)).map_err(UnusablePath)?;
        let programs = Programs { path, workspace, writable: &sandbox.writable };
        let is_confined = self.runner.sandbox_level().level > SandboxLevel::None;
        let must_leave = Some(command).filter(|_| is_confined).and_then(abide_rules::must_leave);
        let wider = if must_leave.is_none() { line_offers(command, &programs) } else { Vec::new() };
        Ok(TestRuleReply { wider, ..verdict(command, rules, &programs, must_leave) })
    }
}

fn verdict(
    command: &str,
    rules: &Book,
    programs: &Programs<'_>,
    must_leave: Option<String>,
) -> TestRuleReply {
    match rules.shell(command) {
        Verdict::Deny(standing) => by(standing, RuleEffect::Deny, matches(standing)),
        Verdict::MayDeny(standing, why) => {
            let why = format!(
                "the rule denies, and whether it matches is not known: {why}. It asks, also with --yes"
            );
            by(standing, RuleEffect::Ask, why)
        }
        Verdict::Ask(standing, None) => by(standing, RuleEffect::Ask, matches(standing)),
        Verdict::Ask(standing, Some(why)) => {
            by(standing, RuleEffect::Ask, format!("whether the rule matches is not known: {why}"))
        }
        Verdict::Allow(standing, _) if let Some(why) = must_leave => none(format!(
            "{} does not count: the command must leave the sandbox, for which no rule suffices: {why}",
            named(standing)
        )),
        Verdict::Allow(standing, plain) => match programs.allowed(&plain) {
            Ok(program) => {
                let why = format!("{}; it is executed without a shell, as {program}", matches(standing));
                by(standing, RuleEffect::Allow, why)
            }
            Err(why) => none(does_not_count(standing, &why)),
        },
        Verdict::None if rules.is_empty() => none("there are no rules for commands".to_owned()),
        Verdict::None if Plain::parse(command).is_some() => none("no rule matches it".to_owned()),
        Verdict::None => none(
            "no rule denies or asks, and a rule allows only one plain command: a program and its words, without variables, globs, pipes or \
             redirects to files"
                .to_owned(),
        ),
    }
}

fn matches(standing: &Standing) -> String {
    format!("the rule matches {}", standing.rule.matches())
}

/// Why a rule that allows a call does not decide.
pub(super) fn does_not_count(standing: &Standing, why: &NotAllowed) -> String {
    format!("{} does not count: {why}", named(standing))
}

fn by(standing: &Standing, effect: RuleEffect, why: String) -> TestRuleReply {
    TestRuleReply {
        effect: Some(effect),
        rule: Some(standing.rule.text().to_owned()),
        is_policy: standing.source == Source::Policy,
        why,
        wider: Vec::new(),
    }
}

const fn none(why: String) -> TestRuleReply {
    TestRuleReply { effect: None, rule: None, is_policy: false, why, wider: Vec::new() }
}
