//! Remembered decisions.

use crate::output::{
    measure,
    style::{BAD, FAINT, GOOD, NEEDS_YOU, PLAIN, STRONG, paint},
    table::{cell, table},
    text,
};
use abide_client::protocol::{
    Timestamp,
    inbox::{Rule, RuleEffect, TextRule},
    method::rule::{PolicyRule, RememberedRule, TestRuleReply},
    record::Permission,
};
use anstyle::Style;
use std::fmt::Write as _;

const GONE: &str = "(deleted with its conversation; it still applies)";

pub(crate) fn rules(rules: &[RememberedRule], now: Timestamp, width: Option<usize>) -> String {
    let rows: Vec<_> = rules
        .iter()
        .map(|rule| {
            let (verb, style) = match (&rule.text, rule.allow) {
                (Some(text), _) => (text.effect.name(), style_of(text.effect)),
                (None, true) => ("allow", GOOD),
                (None, false) => ("reject", BAD),
            };
            let (at, mut workspace) = rule.origin.as_ref().map_or_else(Default::default, |origin| {
                (measure::age(origin.at, now), origin.rule.workspace.clone())
            });
            if let Some(text) = &rule.text {
                workspace.clone_from(&text.workspace);
            }
            [
                cell(STRONG, rule.short()),
                cell(style, verb),
                cell(PLAIN, &at),
                cell(FAINT, &workspace),
                cell(PLAIN, &about(rule)),
            ]
        })
        .collect();
    table(["RULE", "DECISION", "SINCE", "WORKSPACE", "CALL"], &rows, width)
}

/// The rules of the configuration.
pub(crate) fn policy(rules: &[PolicyRule]) -> String {
    let mut out = format!("{}\n", paint(FAINT, "Everywhere, from the configuration:"));
    for PolicyRule { text, effect } in rules {
        let _ = writeln!(out, "  {:5} {}", paint(style_of(*effect), effect.name()), text::one_line(text));
    }
    out
}

const fn style_of(effect: RuleEffect) -> Style {
    match effect {
        RuleEffect::Allow => GOOD,
        RuleEffect::Ask => NEEDS_YOU,
        RuleEffect::Deny => BAD,
    }
}

pub(crate) fn added(rule: &RememberedRule) -> String {
    let Some(TextRule { text, workspace, effect }) = &rule.text else { return String::new() };
    let (text, workspace) = (text::one_line(text), text::one_line(workspace));
    format!("{} remembered: {} {text} in {workspace}\n", rule.short(), effect.name())
}

/// The verdict of the rules on a command line.
pub(crate) fn tested(reply: &TestRuleReply) -> String {
    let TestRuleReply { effect, rule, is_policy, why, wider, permission, asks } = reply;
    let mut out = match (effect, rule) {
        (Some(effect), Some(rule)) => {
            let source = if *is_policy { "the configuration" } else { "this workspace" };
            let verdict = paint(style_of(*effect), effect.name());
            format!("{verdict}: {} ({source})\n", text::one_line(rule))
        }
        _ => "no rule decides\n".to_owned(),
    };
    let _ = writeln!(out, "  {}", text::one_line(why));
    if let Some(permission) = permission {
        let _ = writeln!(out, "{}", in_a_task(permission, asks.as_deref()));
    }
    if effect.is_none() && !wider.is_empty() {
        let _ = writeln!(out, "{}", paint(FAINT, "Rules that would allow it:"));
        for wider in wider {
            let _ = writeln!(
                out,
                "  {}  {}",
                text::one_line(&wider.text),
                paint(FAINT, &text::one_line(&wider.matches))
            );
        }
    }
    out
}

/// What becomes of the call.
fn in_a_task(permission: &Permission, asks: Option<&str>) -> String {
    let (verb, words) = match permission {
        Permission::Ask => (paint(NEEDS_YOU, "asks"), asks.map(text::one_line).unwrap_or_default()),
        Permission::Denied(why) => (paint(BAD, "is refused"), text::one_line(why)),
        Permission::Rule => (paint(GOOD, "runs"), "a rule or a remembered decision allows it".into()),
        Permission::Sandbox => {
            (paint(GOOD, "runs"), "it stays in the sandbox, and what it does can be undone".into())
        }
        Permission::Tier | Permission::Yes => (paint(GOOD, "runs"), "nothing asks about it".into()),
    };
    let colon = if words.is_empty() { "" } else { ": " };
    format!("in a task without --yes it {verb}{colon}{words}")
}

pub(crate) fn forgotten(rule: &RememberedRule) -> String {
    format!("{} forgotten, it decides no call any more: {}\n", rule.short(), text::one_line(&about(rule)))
}

/// Said where a conversation is deleted, if `count` remembered decisions were made in it.
pub(crate) fn left_behind(count: usize) -> Option<String> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let verb = if count == 1 { "stays" } else { "stay" };
    let words = measure::counted(count, "remembered decision");
    (count > 0).then(|| {
        format!("{words} of it {verb} in force, without the text of the call; `abide rules` lists and forgets them")
    })
}

pub(crate) fn about(rule: &RememberedRule) -> String {
    if let Some(rule) = &rule.text {
        return rule.text.clone();
    }
    rule.origin.as_ref().map_or_else(|| GONE.to_owned(), |origin| call(&origin.rule))
}

/// A call whose one argument is a command or code as that text; any other call with its arguments.
fn call(rule: &Rule) -> String {
    let arguments = rule.arguments.value();
    let fields = arguments.as_object().filter(|fields| fields.len() == 1);
    let text = fields.and_then(|fields| fields.get("command").or_else(|| fields.get("code"))?.as_str());
    format!("{} {}", rule.tool, text.unwrap_or(rule.arguments.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{JsonText, method::rule::RuleOrigin};

    fn rule(allow: bool, arguments: &str) -> RememberedRule {
        let rule = Rule {
            tool: "shell".to_owned(),
            arguments: JsonText::parse(arguments).unwrap(),
            workspace: "/home/me/app".to_owned(),
        };
        let origin = RuleOrigin {
            rule,
            at: fixture::START,
            conversation_id: fixture::conversation().id,
            conversation_title: "Tidy up".to_owned(),
        };
        RememberedRule { id: "00".repeat(28) + "beef0071", allow, text: None, origin: Some(origin) }
    }

    #[test]
    fn a_rule_is_listed_with_decision_age_folder_and_call() {
        let deleted = RememberedRule { text: None, origin: None, ..rule(false, "{}") };
        let all = [
            rule(true, r#"{"command":"make\u001b[2J"}"#),
            rule(false, r#"{"command":"x","cwd":"y"}"#),
            deleted,
        ];
        let shown = rules(&all, fixture::START.plus(120_000), None);
        assert_eq!(
            anstream::adapter::strip_str(&shown).to_string(),
            "RULE      DECISION  SINCE  WORKSPACE     CALL\n\
             beef0071  allow     2 min  /home/me/app  shell make\\x1b[2J\n\
             beef0071  reject    2 min  /home/me/app  shell {\"command\":\"x\",\"cwd\":\"y\"}\n\
             beef0071  reject    -      -             (deleted with its conversation; it still applies)\n"
        );
        let mut code = rule(true, r#"{"code":"import os\nprint(1)"}"#);
        code.origin.as_mut().unwrap().rule.tool = "python".to_owned();
        let shown = anstream::adapter::strip_str(&rules(&[code], fixture::START, None)).to_string();
        assert!(shown.ends_with("/home/me/app  python import os print(1)\n"), "{shown}");
        let words = "beef0071 forgotten, it decides no call any more: shell make\\x1b[2J\n";
        assert_eq!(forgotten(&all[0]), words);
    }
}
