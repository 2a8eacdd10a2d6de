//! The query for passages that have to do with a text.

use crate::query::tokens;
use std::collections::HashSet;

/// Further words are left out: each costs about 3 ms where 100,000 chunks are indexed.
const MOST: usize = 24;

/// Words that say nothing about what a text is about. `porter` is for English, and so are they.
const STOP_WORDS: &str = "a about above after again against all also am an and any are as at be because been before being \
    below between both but by can could did do does doing don done down during each few for from further get \
    give go had has have having he her here hers him his how i if in into is it its itself just let like ll \
    make me more most my need no nor not now of off on once only or other our ours out over own please re \
    same say see she should so some such than that the their them then there these they this those through to \
    too under until up us use ve very want was way we were what when where which while who whom why will with \
    would you your yours";

/// The FTS5 query for passages with any of the words of these texts: the earlier a text, the surer its words
/// are in the query. `None`: none of the words says anything.
pub(crate) fn to_match(texts: &[&str]) -> Option<String> {
    let stop_words: HashSet<&str> = STOP_WORDS.split_whitespace().collect();
    let mut seen = HashSet::new();
    let mut query = String::new();
    let words = texts.iter().flat_map(|text| tokens(text).map(|at| text[at].to_lowercase()));
    for word in words {
        if seen.len() == MOST {
            break;
        }
        let says_something = word.chars().nth(1).is_some() && !stop_words.contains(word.as_str());
        if says_something && seen.insert(word.clone()) {
            let or = if query.is_empty() { "" } else { " OR " };
            query.push_str(&format!("{or}\"{word}\""));
        }
    }
    (!query.is_empty()).then_some(query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_word_that_says_something_is_looked_for() {
        let cases: [(&[&str], Option<&str>); 7] = [
            (&["Why does the deployment fail?"], Some(r#""deployment" OR "fail""#)),
            (
                &["fix `parse_header` in src/http.rs"],
                Some(r#""fix" OR "parse" OR "header" OR "src" OR "http" OR "rs""#),
            ),
            (&["the Deployment", "deployment of docs"], Some(r#""deployment" OR "docs""#)),
            (&[r#"say "no" OR NEAR(x) AND *"#], Some(r#""near""#)),
            (&["what is it?"], None),
            (&["\u{1}\u{0} \n -- ("], None),
            (&["", ""], None),
        ];
        for (texts, expected) in cases {
            assert_eq!(to_match(texts).as_deref(), expected, "{texts:?}");
        }
        let long: String = (0..1000).map(|n| format!("word{n} ")).collect();
        assert_eq!(to_match(&[&long]).unwrap().matches(" OR ").count(), MOST - 1);
    }
}
