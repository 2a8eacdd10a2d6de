//! The corpus against the rules.

use crate::corpus::{benign, book, bypasses, daily, evasions, is_allowed, seeds};
use abide_rules::{Effect, Verdict};

#[test]
fn no_bypass_is_allowed() {
    let (seeds, bypasses) = (seeds(), bypasses());
    assert_eq!(seeds.rules().len(), 12);
    assert!(bypasses.len() >= 500, "only {} bypasses", bypasses.len());
    let through: Vec<&String> = bypasses.iter().filter(|line| is_allowed(&seeds.shell(line))).collect();
    assert!(through.is_empty(), "{} of {} are allowed: {through:#?}", through.len(), bypasses.len());
}

#[test]
fn what_people_allow_is_allowed() {
    let (seeds, benign) = (seeds(), benign());
    assert!(benign.len() >= 200, "only {} benign lines", benign.len());
    let asked: Vec<&String> = benign.iter().filter(|line| !is_allowed(&seeds.shell(line))).collect();
    assert!(
        asked.len() * 100 <= benign.len() * 5,
        "{} of {} are not allowed: {asked:#?}",
        asked.len(),
        benign.len()
    );
}

#[test]
fn nothing_evades_a_rule_that_denies() {
    let denying = book(&[("shell(rm *)", Effect::Deny)]);
    let evasions = evasions();
    let free: Vec<&String> = evasions
        .iter()
        .filter(|line| !matches!(denying.shell(line), Verdict::Deny(_) | Verdict::MayDeny(..)))
        .collect();
    assert!(free.is_empty(), "{} of {} evade: {free:#?}", free.len(), evasions.len());
}

#[test]
fn a_rule_that_denies_leaves_other_lines_alone() {
    let denying = book(&[("shell(rm *)", Effect::Deny), ("shell(git push *)", Effect::Ask)]);
    let lines: Vec<String> = benign().into_iter().chain(daily()).collect();
    let hit: Vec<(&String, String)> = lines
        .iter()
        .map(|line| (line, format!("{:?}", denying.shell(line))))
        .filter(|(_, verdict)| verdict != "None")
        .collect();
    assert!(hit.is_empty(), "{hit:#?}");
}
