//! Prepares Markdown for the parser: bare addresses become links, text that looks like HTML, which the parser
//! would drop, stays text, and what would be one very large block becomes several, since only whole blocks
//! are laid out.

/// A paragraph that is longer is continued as another one, in bytes.
const LONG: usize = 2048;
/// A table with more rows is continued as another one, with the same head.
const ROWS: usize = 20;

/// The text with `<…>` around each bare address, and a backslash before each `<` that begins no link.
#[must_use]
pub(super) fn linked(markdown: &str) -> String {
    if markdown.len() <= LONG && !markdown.contains("://") && !markdown.contains(['<', '|']) {
        return markdown.to_owned();
    }
    let mut linked = String::with_capacity(markdown.len() + 16);
    let mut linker = Linker::default();
    for line in markdown.split_inclusive('\n') {
        linker.line(line, &mut linked);
    }
    linked
}

/// Processes line by line and tracks code blocks, and how large the paragraph or the table is.
#[derive(Debug, Clone, Default)]
pub(super) struct Linker {
    fence: Option<char>,
    /// Of the paragraph, in bytes.
    length: usize,
    /// The last line, if it may be the head of a table.
    before: String,
    table: Option<Table>,
}

/// A table under way.
#[derive(Debug, Clone)]
struct Table {
    head: String,
    rows: usize,
}

impl Linker {
    /// Appends the next line, with its line break, to `linked`.
    pub(super) fn line(&mut self, line: &str, linked: &mut String) {
        let begun = line.trim_start();
        let mark = begun.chars().next().filter(|c| begun.starts_with(&c.to_string().repeat(3)));
        let mark = mark.filter(|c| matches!(c, '`' | '~'));
        let is_code =
            self.fence.is_some() || mark.is_some() || line.starts_with("    ") || line.starts_with('\t');
        match (self.fence, mark) {
            (None, Some(mark)) => self.fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => self.fence = None,
            _ => {}
        }
        if is_code {
            linked.push_str(line);
            (self.length, self.table) = (0, None);
            self.before.clear();
            return;
        }
        self.in_table(line, linked);
        let is_prose = line.len() == begun.len()
            && !begun.starts_with(|c: char| c.is_ascii_digit() || "|>-*+#=".contains(c));
        if !is_prose || self.table.is_some() {
            self.length = 0;
            in_line(line, linked);
            return;
        }
        if self.length > LONG {
            linked.push('\n');
            self.length = 0;
        }
        let mut rest = line;
        while let Some(end) = end_of_part(rest, LONG.saturating_sub(self.length)) {
            let (part, more) = rest.split_at(end);
            in_line(part, linked);
            linked.push_str("\n\n");
            (rest, self.length) = (more, 0);
        }
        self.length += rest.len();
        in_line(rest, linked);
    }

    /// Begins the table anew if it has very many rows.
    fn in_table(&mut self, line: &str, linked: &mut String) {
        let is_rule = line.contains('-') && line.trim().chars().all(|c| "|-: ".contains(c));
        match &mut self.table {
            _ if !line.contains('|') => self.table = None,
            None if is_rule && self.before.contains('|') => {
                self.table = Some(Table { head: format!("{}{line}", self.before), rows: 0 });
            }
            Some(table) if table.rows == ROWS => {
                linked.push('\n');
                linked.push_str(&table.head);
                table.rows = 1;
            }
            Some(table) => table.rows += 1,
            None => {}
        }
        self.before.clear();
        if line.len() < LONG && line.contains('|') {
            self.before.push_str(line);
        }
    }
}

/// Where this line of a paragraph is cut, which may take so many bytes more: after a space that stands in no
/// code, if there is one.
fn end_of_part(line: &str, room: usize) -> Option<usize> {
    let least = line.ceil_char_boundary(room);
    let most = line.ceil_char_boundary(room + LONG);
    if least >= line.len() {
        return None;
    }
    let mut is_in_code = line[..least].matches('`').count() % 2 == 1;
    let mut spaces = line[least..most].char_indices().filter(|(_, c)| {
        is_in_code ^= *c == '`';
        *c == ' ' && !is_in_code
    });
    let end = spaces.next().map(|(at, _)| least + at + 1).or((most < line.len()).then_some(most))?;
    (end < line.trim_end().len()).then_some(end)
}

fn in_line(line: &str, linked: &mut String) {
    let mut at = 0;
    let mut is_in_code = false;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(length) = address(rest).filter(|_| !is_in_code && stands_alone(&line[..at])) {
            linked.push('<');
            linked.push_str(&rest[..length]);
            linked.push('>');
            at += length;
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        is_in_code ^= c == '`';
        if c == '<' && !is_in_code && !line[..at].ends_with('\\') && !is_link(rest) {
            linked.push('\\');
        }
        linked.push(c);
        at += c.len_utf8();
    }
}

/// `<https://…>` or `<name@…>`.
fn is_link(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(inner, _)| inner);
    inner.is_some_and(|inner| {
        !inner.contains(char::is_whitespace)
            && (inner.contains("://") || inner.contains('@') || inner.starts_with("mailto:"))
    })
}

/// Whether it is neither within a word nor part of a link.
fn stands_alone(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '<' | '[' | '"' | '\'' | '=' | '/'))
        && !before.ends_with("](")
        && !before.ends_with("]: ")
}

/// The length in bytes of the address that begins here, without punctuation that ends the sentence or a
/// bracket around it.
fn address(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let is_part =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '<' | '>' | '"' | '`' | '|' | '\\');
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let mut address = &text[..text.len() - rest.len() + length];
    loop {
        let is_closed = |open, close| address.matches(open).count() >= address.matches(close).count();
        let is_beside = match address.chars().last()? {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' => true,
            ')' => !is_closed('(', ')'),
            ']' => !is_closed('[', ']'),
            _ => false,
        };
        if !is_beside {
            break;
        }
        address = &address[..address.len() - 1];
    }
    (address.len() > text.len() - rest.len()).then_some(address.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_alone_is_a_link() {
        for (markdown, expected) in [
            ("see https://a.org/b?c=d#e.", "see <https://a.org/b?c=d#e>."),
            ("(http://a.org)", "(<http://a.org>)"),
            ("https://a.org/x_(y)", "<https://a.org/x_(y)>"),
            ("**https://a.org**", "**<https://a.org>**"),
            ("https://a.org, https://b.org", "<https://a.org>, <https://b.org>"),
        ] {
            assert_eq!(linked(markdown), expected);
        }
    }

    #[test]
    fn what_looks_like_html_are_words() {
        for (markdown, expected) in [
            ("a Vec<String> of <name>", "a Vec\\<String> of \\<name>"),
            ("<details>\nmore\n</details>", "\\<details>\nmore\n\\</details>"),
            ("if a < b && c \\< d", "if a \\< b && c \\< d"),
            ("`Vec<String>` <https://a.org> <me@a.org>", "`Vec<String>` <https://a.org> <me@a.org>"),
            ("<a href=\"https://a.org\">", "\\<a href=\"https://a.org\">"),
            ("```\n<p>\n```\n    <p>", "```\n<p>\n```\n    <p>"),
        ] {
            assert_eq!(linked(markdown), expected);
        }
    }

    #[test]
    fn what_is_very_large_becomes_several_blocks() {
        let sentence = "It is so, and `not otherwise at all`. ";
        let table = format!("| a | b |\n|---|---|\n{}", "| 1 | 2 |\n".repeat(3 * ROWS));
        for (markdown, blocks, lost) in [
            (sentence.repeat(1000), 19, ""),
            (format!("{}\n", sentence.trim_end()).repeat(1000), 19, ""),
            ("x".repeat(40_000), 10, ""),
            (table, 3, "| a | b |\n|---|---|\n"),
            (sentence.repeat(50), 1, ""),
            (format!("```\n{}```\n", sentence.repeat(1000)), 1, ""),
        ] {
            let split = linked(&markdown);
            let parts: Vec<&str> = split.split("\n\n").filter(|part| !part.trim().is_empty()).collect();
            assert_eq!(parts.len(), blocks, "{}", &markdown[..40]);
            let bare = |text: &str| text.replace('\n', "");
            assert_eq!(bare(&split).len(), bare(&markdown).len() + (blocks - 1) * bare(lost).len());
            assert!(parts.iter().all(|part| part.matches('`').count() % 2 == 0), "code is not cut");
        }
    }

    #[test]
    fn what_is_a_link_or_code_already_stays() {
        for markdown in [
            "[a](https://a.org)",
            "[https://a.org](https://a.org)",
            "<https://a.org>",
            "[a]: https://a.org",
            "`curl https://a.org`",
            "```\nhttps://a.org\n```",
            "~~~\nhttps://a.org\n~~~",
            "    https://a.org",
            "xhttps://a.org",
            "https://",
            "no address",
        ] {
            assert_eq!(linked(markdown), markdown);
        }
    }
}
