use abide_rules::{Book, Effect, Plain, Rule, Source, Standing, Verdict};
use std::sync::Arc;

/// Judges a command line. The first line of `text` is a rule, the rest the command: what a rule allows is one
/// plain command that it matches, what an approval offers would allow it, and nothing that names the denied
/// program plainly is allowed.
pub fn rules(text: &str) {
    let (rule, line) = text.split_once('\n').unwrap_or(("shell(echo *)", text));
    for effect in [Effect::Deny, Effect::Ask, Effect::Allow] {
        let Ok(rule) = Rule::parse(rule, effect) else { continue };
        let again = Rule::parse(rule.text(), effect).expect("the text of a rule is a rule");
        assert_eq!(again.text(), rule.text(), "the same text");
    }
    let standing = |(text, effect): (&str, Effect)| {
        let rule = Arc::new(Rule::parse(text, effect).ok()?);
        Some(Standing { rule, effect, source: Source::Workspace })
    };
    let book = |rules: Vec<(&str, Effect)>| Book::new(rules.into_iter().filter_map(standing).collect());
    let plain = Plain::parse(line);
    let program = plain.as_ref().map(|plain| plain.program().to_owned());

    let judged = book(vec![(rule, Effect::Allow), ("shell(rm *)", Effect::Deny)]);
    match judged.shell(line) {
        Verdict::Allow(_, allowed) => {
            assert_eq!(Some(&allowed), plain.as_ref(), "what is executed is what was read");
            assert_ne!(program.as_deref(), Some("rm"), "it is denied");
            assert!(allowed.words.iter().all(|word| !word.contains('\0')), "{:?}", allowed.words);
        }
        Verdict::None | Verdict::Ask(..) => assert_ne!(program.as_deref(), Some("rm"), "it is denied"),
        Verdict::Deny(_) | Verdict::MayDeny(..) => {}
    }
    for offer in abide_rules::wider(line) {
        let offered = book(vec![(&offer.text, Effect::Allow)]);
        assert!(matches!(offered.shell(line), Verdict::Allow(..)), "{} does not allow {line:?}", offer.text);
    }
}
