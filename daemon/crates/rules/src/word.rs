//! The text that a word of a command line stands for.

use tree_sitter::Node;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    Literal(String),
    /// Its text is known only when it runs: it has an expansion, a glob or a substitution. It may become
    /// several words, or none.
    Unknown,
}

impl Word {
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Unknown => None,
        }
    }

    /// The word at a node, without its quotes.
    pub(crate) fn at(node: Node<'_>, line: &str) -> Self {
        let node = match node.kind() {
            "command_name" => node.child(0).unwrap_or(node),
            _ => node,
        };
        if node.kind() == "concatenation" {
            let mut cursor = node.walk();
            let pieces: Vec<Node<'_>> = node.children(&mut cursor).collect();
            // Between pieces there is nothing, or the parser has skipped something.
            let are_adjacent = pieces.windows(2).all(|pair| pair[0].end_byte() == pair[1].start_byte());
            return Self::of(&pieces, line, are_adjacent);
        }
        Self::of(&[node], line, true)
    }

    fn of(pieces: &[Node<'_>], line: &str, are_adjacent: bool) -> Self {
        let whole: String = pieces.iter().filter_map(|piece| line.get(piece.byte_range())).collect();
        if whole == "{}" {
            return Self::Literal(whole);
        }
        let mut text = String::new();
        for (at, piece) in pieces.iter().enumerate() {
            let decoded = line.get(piece.byte_range()).and_then(|raw| decode(*piece, raw, at == 0));
            let Some(decoded) = decoded.filter(|_| are_adjacent) else { return Self::Unknown };
            text.push_str(&decoded);
        }
        Self::Literal(text)
    }
}

/// The text of a piece of a word; `None` if it is not known before it runs.
fn decode(piece: Node<'_>, raw: &str, is_first: bool) -> Option<String> {
    match piece.kind() {
        "word" | "number" | "variable_name" => bare(raw, is_first),
        "raw_string" => Some(raw.strip_prefix('\'')?.strip_suffix('\'')?.to_owned()),
        "string" => {
            let mut cursor = piece.walk();
            let is_text =
                piece.children(&mut cursor).all(|child| matches!(child.kind(), "\"" | "string_content"));
            let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
            if is_text { quoted(inside) } else { None }
        }
        _ => None,
    }
}

/// Text outside of quotes.
fn bare(raw: &str, is_first: bool) -> Option<String> {
    let mut text = String::new();
    let mut chars = raw.chars();
    let mut before = if is_first { None } else { Some('x') };
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\n' => continue,
                escaped => text.push(escaped),
            },
            '*' | '?' | '[' | '{' | '}' | '$' | '`' | '(' | ')' | '<' | '>' | '|' | '&' | ';' | '"'
            | '\'' => {
                return None;
            }
            '~' if matches!(before, None | Some('=' | ':')) => return None,
            c if c.is_whitespace() => return None,
            c => text.push(c),
        }
        before = Some(c);
    }
    Some(text)
}

/// Text in double quotes.
fn quoted(raw: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            '$' | '`' | '"' => return None,
            c => text.push(c),
        }
    }
    Some(text)
}
