//! Says which rule decides about a command line, and why.

use super::ruling::{NotAllowed, Programs, line_offers, named};
use crate::{Scope, Tools, UnusablePath, workspace::Workspace};
use abide_protocol::{
    CallId,
    inbox::RuleEffect,
    method::rule::TestRuleReply,
    record::{CallAssessed, Permission},
    sandbox::SandboxLevel,
    transcript::CallBlock,
};
use abide_rules::{Book, Plain, Source, Standing, Verdict};
use std::sync::Arc;

impl Tools {
    /// The verdict of the rules on a command line of the shell tool, and the assessment that such a call
    /// would get. The program is looked for, too. Blocking; nothing runs.
    ///
    /// # Errors
    /// The workspace cannot be used.
    pub fn test_rules(&self, scope: &Scope<'_>, command: &str) -> Result<TestRuleReply, UnusablePath> {
        let workspace =
            &Workspace::open(scope.workspace, Arc::clone(&self.runner.closed)).map_err(UnusablePath)?;
        let programs = Programs { path: scope.path, workspace, writable: &scope.sandbox.writable };
        let call = CallBlock {
            // This call is recorded nowhere.
            id: CallId(Default::default()),
            provider_id: String::new(),
            tool: "shell".to_owned(),
            arguments: serde_json::json!({ "command": command }).to_string(),
            opaque: None,
        };
        let assessed = self.assess(scope, &[call]).pop();
        let (permission, asks) = assessed.map_or((None, None), |CallAssessed { permission, why, .. }| {
            let asks = why.filter(|_| permission == Permission::Ask);
            (Some(permission), asks)
        });
        let is_confined = self.runner.sandbox_level().level > SandboxLevel::None;
        let must_leave = Some(command).filter(|_| is_confined).and_then(abide_rules::must_leave);
        let wider = if must_leave.is_none() { line_offers(command, &programs) } else { Vec::new() };
        let verdict = verdict(command, scope.rules, &programs, must_leave);
        Ok(TestRuleReply { wider, permission, asks, ..verdict })
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
        ..none(why)
    }
}

const fn none(why: String) -> TestRuleReply {
    TestRuleReply {
        effect: None,
        rule: None,
        is_policy: false,
        why,
        wider: Vec::new(),
        permission: None,
        asks: None,
    }
}
