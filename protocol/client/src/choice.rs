//! Which of a question's choices a typed answer means. The daemon accepts only the choices' exact words.

use abide_protocol::inbox::{Question, QuestionKind};

/// The choice that was typed: its number, its words in any case, or yes or no where the daemon asks whether
/// to go on.
#[must_use]
pub fn choice<'q>(question: &'q Question, typed: &str) -> Option<&'q str> {
    let typed = typed.trim();
    let numbered = || question.choices.get(typed.parse::<usize>().ok()?.checked_sub(1)?);
    let named = question.choices.iter().find(|choice| choice.eq_ignore_ascii_case(typed));
    named.or_else(numbered).or_else(|| plain(question, typed)).map(String::as_str)
}

/// To a question whether to go on, yes is the first choice, no the second.
fn plain<'q>(question: &'q Question, typed: &str) -> Option<&'q String> {
    let asks_whether = matches!(
        question.kind,
        QuestionKind::Loop | QuestionKind::Budget | QuestionKind::Restart | QuestionKind::Parked
    );
    if !asks_whether {
        return None;
    }
    match typed.to_ascii_lowercase().as_str() {
        "y" | "yes" | "ok" | "continue" => question.choices.first(),
        "n" | "no" => question.choices.get(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::{QuestionId, Timestamp};
    use uuid::Uuid;

    fn question(kind: QuestionKind, choices: &[&str]) -> Question {
        Question {
            id: QuestionId(Uuid::nil()),
            kind,
            at: Timestamp(0),
            text: String::new(),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            call_id: None,
            expires_at: None,
        }
    }

    #[test]
    fn a_choice_is_typed_as_number_words_or_yes() {
        use QuestionKind as K;
        let go_on = &["go on", "stop"][..];
        let table: &[(K, &[&str], &str, Option<&str>)] = &[
            (K::Budget, go_on, "go on", Some("go on")),
            (K::Budget, go_on, " Go On\n", Some("go on")),
            (K::Budget, go_on, "1", Some("go on")),
            (K::Budget, go_on, "2", Some("stop")),
            (K::Budget, go_on, "0", None),
            (K::Budget, go_on, "3", None),
            (K::Budget, go_on, "y", Some("go on")),
            (K::Restart, go_on, "YES", Some("go on")),
            (K::Loop, go_on, "ok", Some("go on")),
            (K::Loop, go_on, "continue", Some("go on")),
            (K::Loop, go_on, "n", Some("stop")),
            (K::Loop, go_on, "No", Some("stop")),
            (K::Loop, go_on, "no, look at the log first", None),
            (K::Budget, go_on, "", None),
            (K::Budget, &[], "yes", None),
            (K::Interrupted, &["it happened", "it did not"], "yes", None),
            (K::Agent, &["red", "blue"], "yes", None),
            (K::Agent, &["red", "blue"], "RED", Some("red")),
            (K::Agent, &["2", "1"], "2", Some("2")),
            (K::Agent, &[], "1", None),
        ];
        for (kind, choices, typed, expected) in table {
            assert_eq!(choice(&question(*kind, choices), typed), *expected, "{kind:?} {choices:?} {typed:?}");
        }
    }
}
