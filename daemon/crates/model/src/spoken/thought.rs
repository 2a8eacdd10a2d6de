//! Takes the reasoning off a text.

/// The tags of reasoning, with which a text begins.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
];

/// Tags of what is said, of which only the inside is text.
const SAID: &[(&str, &str)] =
    &[("<|channel|>commentary<|message|>", "<|end|>"), ("<|channel|>final<|message|>", "<|return|>")];

/// May stand before any tag of a channel.
const SPEAKER: &str = "<|start|>assistant";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) reasoning: String,
    pub(super) answer: String,
}

/// The reasoning that a text begins with, and the rest. Reasoning without an end is the whole text. `None`:
/// there is none.
pub(super) fn split(text: &str) -> Option<Split> {
    let (mut thoughts, mut said, mut rest) = (Vec::new(), Vec::new(), text);
    loop {
        let start = rest.trim_start();
        let start =
            start.strip_prefix(SPEAKER).filter(|rest| rest.starts_with("<|channel|>")).unwrap_or(start);
        if let Some((thought, after)) = inside(start, TAGS) {
            thoughts.push(thought.trim());
            rest = after;
        } else if let Some((words, after)) = inside(start, SAID) {
            said.push(words.trim());
            rest = after;
        } else {
            break;
        }
    }
    if thoughts.is_empty() && said.is_empty() {
        return lone_end(text);
    }
    said.push(rest.trim());
    Some(Split { reasoning: join(thoughts), answer: join(said) })
}

fn join(parts: Vec<&str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// What is within the tags that the text begins with, and what comes behind them.
fn inside<'t>(text: &'t str, tags: &[(&str, &str)]) -> Option<(&'t str, &'t str)> {
    let (inside, close) = tags.iter().find_map(|(open, close)| Some((text.strip_prefix(open)?, *close)))?;
    if !close.starts_with("<|") {
        return Some(inside.split_once(close).unwrap_or((inside, "")));
    }
    // The message of a channel ends with a token of its own, or where the next one begins.
    let ends = ["<|end|>", "<|return|>", "<|END_THINKING|>"].map(|end| (inside.find(end), end.len()));
    let nexts = [SPEAKER, "<|channel|>"].map(|next| (inside.find(next), 0));
    let first = ends.into_iter().chain(nexts).filter_map(|(at, length)| Some((at?, length))).min();
    let (at, length) = first.unwrap_or((inside.len(), 0));
    Some((&inside[..at], &inside[at + length..]))
}

/// A text with an end of reasoning, the beginning of which was in the prompt. The end stands at an end of its
/// line and not within code.
fn lone_end(text: &str) -> Option<Split> {
    let (at, (open, close)) = TAGS
        .iter()
        .filter_map(|tags| Some((text.find(tags.1)?, tags)))
        .filter(|(_, tags)| tags.1 != "<|end|>")
        .min()?;
    let (before, after) = (&text[..at], &text[at + close.len()..]);
    let ends_line = before.trim().is_empty()
        || after.is_empty()
        || after.starts_with(['\n', '\r'])
        || before.ends_with('\n');
    let quotes = |sign: &str, text: &str| text.matches(sign).count() % 2 == 1;
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_code = quotes("```", before) || quotes("`", line);
    (ends_line && !is_code && !before.contains(open)).then(|| {
        let rest = split(after);
        let (thought, answer) = rest
            .map_or_else(|| (String::new(), after.trim().to_owned()), |rest| (rest.reasoning, rest.answer));
        Split { reasoning: join(vec![before.trim(), &thought]), answer }
    })
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn reasoning_is_taken_off_where_a_text_begins_with_it() {
        for (text, expected) in [
            ("<think>a</think>b", Some(("a", "b"))),
            ("\n<think>\na\n</think>\n\nb", Some(("a", "b"))),
            ("<think>a</think><think>b</think>c", Some(("a\n\nb", "c"))),
            ("<think></think>\nb", Some(("", "b"))),
            ("<think>a, and so on", Some(("a, and so on", ""))),
            ("<thinking>a</thinking>b", Some(("a", "b"))),
            ("[THINK]a[/THINK]b", Some(("a", "b"))),
            ("a\n</think>\n\nb", Some(("a", "b"))),
            ("a.</think>\nb", Some(("a.", "b"))),
            ("a</think>", Some(("a", ""))),
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                Some(("a", "b")),
            ),
            ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", Some(("a", "b"))),
            ("</think>b", Some(("", "b"))),
            ("b", None),
            ("The tag <think> begins it, </think> ends it.", None),
            ("`</think>`\nends it.", None),
            ("```\na\n</think>\n```", None),
            ("It writes <think>\nand then\n</think>\nbefore it answers.", None),
        ] {
            let read = split(text);
            let read = read.as_ref().map(|split| (split.reasoning.as_str(), split.answer.as_str()));
            assert_eq!(read, expected, "{text:?}");
        }
    }
}
