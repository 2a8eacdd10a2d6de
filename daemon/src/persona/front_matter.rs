//! The front matter of a persona's file: lines of `key: value` between two lines of `---`. It is the part of
//! YAML that such files use: plain or quoted values, lists in brackets or as lines of `- item`, and comments.

use std::collections::BTreeMap;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Only the key is there.
    Blank,
    Text(String),
    List(Vec<String>),
}

/// Splits a file into its front matter and its body. A file without front matter is all body.
///
/// # Errors
/// What is wrong with the front matter, with its line.
pub(super) fn split(text: &str) -> Result<(BTreeMap<String, Value>, &str), String> {
    let text = text.trim_start_matches('\u{feff}');
    let Some(rest) =
        text.strip_prefix("---").and_then(|rest| rest.trim_start_matches([' ', '\r']).strip_prefix('\n'))
    else {
        return Ok((BTreeMap::new(), text));
    };
    let mut values: BTreeMap<String, Value> = BTreeMap::new();
    // The key that lines of `- item` belong to.
    let mut open: Option<String> = None;
    let (mut at, mut line_number) = (0, 1);
    for line in rest.split_inclusive('\n') {
        at += line.len();
        line_number += 1;
        let line = line.trim_end();
        if line == "---" {
            return Ok((values, &rest[at..]));
        }
        let wrong = |what: &str| Err(format!("line {line_number}: {what}"));
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Some(item) = trimmed.strip_prefix("- ") {
            match open.as_ref().and_then(|key| values.get_mut(key)) {
                Some(Value::List(items)) => items.push(scalar(item)),
                Some(blank) => *blank = Value::List(vec![scalar(item)]),
                None => return wrong("an item belongs below a key without a value"),
            }
            continue;
        }
        let Some((key, value)) = trimmed.split_once(':').filter(|_| trimmed.len() == line.len()) else {
            return wrong("it is not `key: value`");
        };
        let (key, value) = (key.trim_end().to_owned(), value.trim());
        open = value.is_empty().then(|| key.clone());
        let value = match value.strip_prefix('[').map(|list| list.strip_suffix(']')) {
            Some(Some(list)) => {
                Value::List(list.split(',').map(scalar).filter(|item| !item.is_empty()).collect())
            }
            Some(None) => return wrong("the list has no closing bracket"),
            None if value.is_empty() => Value::Blank,
            None => Value::Text(scalar(value)),
        };
        if values.insert(key.clone(), value).is_some() {
            return wrong(&format!("`{key}` is there twice"));
        }
    }
    Err("the front matter has no closing line of `---`".to_owned())
}

/// A value without the quotes around it, or without the comment after it.
fn scalar(text: &str) -> String {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner.to_owned();
        }
    }
    text.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    #[test]
    fn every_form_of_a_value_is_read_and_the_rest_is_the_body() {
        let text = "---\r\n# mine\ndescription: \"Reviews: all\"\nmode: plan # slow\ntools: [read, 'list']\ncontext:\n  - a.md\n  - \"b c.md\"\nnone: []\nmodel:\n---\n\nYou.\n---\n";
        let (values, body) = split(text).unwrap();
        assert_eq!(body, "\nYou.\n---\n");
        assert_eq!(values["description"], Value::Text("Reviews: all".to_owned()));
        assert_eq!(values["mode"], Value::Text("plan".to_owned()));
        assert_eq!(values["tools"], list(&["read", "list"]));
        assert_eq!(values["context"], list(&["a.md", "b c.md"]));
        assert_eq!(values["none"], list(&[]));
        assert_eq!(values["model"], Value::Blank);
    }

    #[test]
    fn a_file_without_front_matter_is_all_body() {
        for text in ["You review.", "", "--- x", "----\nx"] {
            assert_eq!(split(text).unwrap(), (BTreeMap::new(), text));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, says) in [
            ("---\nmode: plan\n", "no closing line"),
            ("---\nmode: plan\nmode: roa\n---\n", "line 3: `mode` is there twice"),
            ("---\n- x\n---\n", "line 2: an item"),
            ("---\nmode: plan\n- x\n---\n", "line 3: an item"),
            ("---\nwords\n---\n", "line 2: it is not"),
            ("---\n  deep: x\n---\n", "line 2: it is not"),
            ("---\ntools: [read\n---\n", "line 2: the list"),
        ] {
            assert!(split(text).unwrap_err().contains(says), "{text}");
        }
    }
}
