//! Remembered decisions.

use crate::output::{
    measure,
    style::{BAD, FAINT, GOOD, PLAIN, STRONG},
    table::{cell, table},
    text,
};
use abide_client::protocol::{Timestamp, inbox::Rule, method::rule::RememberedRule};

const GONE: &str = "(deleted with its conversation; it still applies)";

pub(crate) fn rules(rules: &[RememberedRule], now: Timestamp, width: Option<usize>) -> String {
    let rows: Vec<_> = rules
        .iter()
        .map(|rule| {
            let (verb, style) = if rule.allow { ("allow", GOOD) } else { ("reject", BAD) };
            let (at, workspace) = rule.origin.as_ref().map_or_else(Default::default, |origin| {
                (measure::age(origin.at, now), origin.rule.workspace.clone())
            });
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

pub(crate) fn forgotten(rule: &RememberedRule) -> String {
    format!("{} forgotten, the same call asks again: {}\n", rule.short(), text::one_line(&about(rule)))
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
        RememberedRule { id: "00".repeat(28) + "beef0071", allow, origin: Some(origin) }
    }

    #[test]
    fn a_rule_is_listed_with_decision_age_folder_and_call() {
        let deleted = RememberedRule { origin: None, ..rule(false, "{}") };
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
             beef0071  reject                         (deleted with its conversation; it still applies)\n"
        );
        let mut code = rule(true, r#"{"code":"import os\nprint(1)"}"#);
        code.origin.as_mut().unwrap().rule.tool = "python".to_owned();
        let shown = anstream::adapter::strip_str(&rules(&[code], fixture::START, None)).to_string();
        assert!(shown.ends_with("/home/me/app  python import os print(1)\n"), "{shown}");
        let words = "beef0071 forgotten, the same call asks again: shell make\\x1b[2J\n";
        assert_eq!(forgotten(&all[0]), words);
    }
}
