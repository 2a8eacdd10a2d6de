//! Templates: `{name}` is replaced by a value. Other braces stay, and a replaced text is not searched again.

/// A longer value is cut in a note, in characters: a note is sent with every later request.
const MAX_VALUE: usize = 4000;

/// A value for `{name}`.
#[derive(Debug, Clone, Copy)]
pub struct Value<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

/// Fills a phase's template. Long values are cut.
#[must_use]
pub fn fill(template: &str, values: &[Value<'_>]) -> String {
    replace(template.trim_end(), values, cut)
}

/// Fills a template with whole values.
#[must_use]
pub fn fill_whole(template: &str, values: &[Value<'_>]) -> String {
    replace(template, values, str::to_owned)
}

fn replace(template: &str, values: &[Value<'_>], text_of: impl Fn(&str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), template);
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        let known = values.iter().find_map(|value| {
            let after = inside.strip_prefix(value.name)?.strip_prefix('}')?;
            Some((value, after))
        });
        if let Some((value, after)) = known {
            out.push_str(&text_of(value.text));
            rest = after;
        } else {
            out.push('{');
            rest = inside;
        }
    }
    out.push_str(rest);
    out
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_replaced_once_and_all_other_braces_stay() {
        let values = [
            Value { name: "a", text: "{b}" },
            Value { name: "b", text: "B" },
            Value { name: "empty", text: "" },
        ];
        let table = [
            ("", ""),
            ("no names", "no names"),
            ("{a} and {b}", "{b} and B"),
            ("{unknown} {a", "{unknown} {a"),
            (r#"{"plan": "{b}"}"#, r#"{"plan": "B"}"#),
            ("{{b}}", "{B}"),
            ("[{empty}]", "[]"),
            ("é{b}é", "éBé"),
        ];
        for (template, filled) in table {
            assert_eq!(fill(template, &values), filled, "{template}");
        }
    }

    #[test]
    fn a_long_value_is_cut_in_a_note() {
        let long = "é".repeat(MAX_VALUE + 1);
        let values = [Value { name: "a", text: &long }];
        assert_eq!(fill("{a}", &values), format!("{}…", "é".repeat(MAX_VALUE)));
        assert_eq!(fill_whole("{a}", &values), long);
    }
}
