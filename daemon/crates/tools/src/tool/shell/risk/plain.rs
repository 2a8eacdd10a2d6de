//! Parses a command line into plain commands: words of literals and quotes, joined by `;`, `&&`, `||` and `|`. It refuses
//! whatever bash might read differently: an expansion, a glob, a comment, a control character, an unfinished quote.

/// One program and its words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// To `/dev/null`, or to the other output stream.
    Dropped,
    /// To this file.
    To(String),
}

/// The commands of a line; `None` if they are not plain.
pub(super) fn commands(line: &str) -> Option<Vec<Command>> {
    let mut rest = line;
    let mut commands = Vec::new();
    let mut command = Command::default();
    loop {
        rest = rest.trim_start_matches(' ');
        if rest.is_empty() {
            break;
        }
        if let Some(after) = dropped(rest) {
            rest = after;
            command.redirects.push(Redirect::Dropped);
        } else if let Some(after) = rest.strip_prefix(">>").or_else(|| rest.strip_prefix('>')) {
            let (file, after) = word(after.trim_start_matches(' '))?;
            rest = after;
            command.redirects.push(Redirect::To(file));
        } else if let Some(after) = separator(rest) {
            rest = after;
            // Words are needed on both sides of a separator.
            if command.words.is_empty() || rest.trim_matches(' ').is_empty() {
                return None;
            }
            commands.push(std::mem::take(&mut command));
        } else {
            let (word, after) = word(rest)?;
            rest = after;
            command.words.push(word);
        }
    }
    if command.words.is_empty() {
        return None;
    }
    commands.push(command);
    Some(commands)
}

/// The text after a redirect that writes no file.
fn dropped(rest: &str) -> Option<&str> {
    let after = ["2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null"]
        .into_iter()
        .find_map(|redirect| rest.strip_prefix(redirect))?;
    ends_a_word(after).then_some(after)
}

fn separator(rest: &str) -> Option<&str> {
    let after = ["&&", "||", ";", "|"].into_iter().find_map(|sign| rest.strip_prefix(sign))?;
    // In `;;`, `|&` and `|||` bash reads another operator.
    (!after.starts_with(['&', '|', ';'])).then_some(after)
}

fn ends_a_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', ';', '&', '|', '>'])
}

/// The next word, without its quotes, and the text after it.
fn word(rest: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut at = rest;
    let mut is_quoted = false;
    while !ends_a_word(at) {
        let c = at.chars().next()?;
        at = &at[c.len_utf8()..];
        if matches!(c, '\'' | '"') {
            is_quoted = true;
            let (inside, after) = at.split_once(c)?;
            // Letters of every script, but no character that is invisible or changes the direction of the text.
            let is_shown = |c: char| c.is_alphanumeric() || matches!(c, ' '..='~');
            let is_live = |inner: char| c == '"' && matches!(inner, '$' | '`' | '\\' | '!');
            if !inside.chars().all(|inner| is_shown(inner) && !is_live(inner)) {
                return None;
            }
            word.push_str(inside);
            at = after;
        } else if c.is_ascii_alphanumeric() || "-_./:,@%+=^".contains(c) {
            word.push(c);
        } else {
            return None;
        }
    }
    // A number before a redirect is a descriptor.
    let is_descriptor = at.starts_with('>') && word.bytes().all(|b| b.is_ascii_digit());
    ((is_quoted || !word.is_empty()) && !is_descriptor).then_some((word, at))
}
