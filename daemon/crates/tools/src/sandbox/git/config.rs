//! The syntax of git's configuration files (git-config(1), "Syntax"), as git reads it.

use std::{iter::Peekable, ops::Range, str::CharIndices};

/// A setting, and its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// In lower case, as the key.
    pub(crate) section: String,
    pub(crate) subsection: Option<String>,
    pub(crate) key: String,
    /// `None` for a key alone, which means true.
    pub(crate) value: Option<String>,
    /// The place from the key to the end of the last line, in bytes.
    pub(crate) at: Range<usize>,
}

impl Setting {
    /// `section.subsection.key`
    pub(crate) fn name(&self) -> String {
        let Self { section, subsection, key, .. } = self;
        match subsection {
            Some(subsection) => format!("{section}.{subsection}.{key}"),
            None => format!("{section}.{key}"),
        }
    }

    /// The setting's value; empty for a key alone.
    pub(crate) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or_default()
    }
}

/// The settings of a file; `None` if git would refuse the file.
pub(crate) fn parse(text: &str) -> Option<Vec<Setting>> {
    let text_at = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - text_at.len();
    let mut reader = Reader { letters: text_at.char_indices().peekable(), end: text_at.len() };
    let mut found = Vec::new();
    let mut section = None;
    while let Some((at, letter)) = reader.next() {
        match letter {
            '#' | ';' => reader.skip_line(),
            '[' => section = Some(reader.section()?),
            letter if is_blank(letter) => {}
            letter if letter.is_ascii_alphabetic() => {
                let (section, subsection) = section.clone()?;
                let (key, value) = reader.setting(letter)?;
                let at = at + skipped..reader.at() + skipped;
                found.push(Setting { section, subsection, key, value, at });
            }
            _ => return None,
        }
    }
    Some(found)
}

/// Blanks of the C locale.
const fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

const fn is_of_key(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-'
}

struct Reader<'t> {
    letters: Peekable<CharIndices<'t>>,
    end: usize,
}

impl Reader<'_> {
    /// The next letter. A carriage return before a line break is skipped.
    fn next(&mut self) -> Option<(usize, char)> {
        let (at, letter) = self.letters.next()?;
        if letter == '\r'
            && let Some(line_break) = self.letters.next_if(|(_, next)| *next == '\n')
        {
            return Some(line_break);
        }
        Some((at, letter))
    }

    fn peek(&mut self) -> Option<char> {
        self.letters.peek().map(|(_, letter)| *letter)
    }

    /// The place of the next letter.
    fn at(&mut self) -> usize {
        self.letters.peek().map_or(self.end, |(at, _)| *at)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|(_, letter)| letter != '\n') {}
    }

    /// The section after `[`, perhaps with a subsection, in either of the two forms.
    fn section(&mut self) -> Option<(String, Option<String>)> {
        let mut name = String::new();
        loop {
            match self.next()?.1 {
                ']' => break,
                letter if is_blank(letter) => return Some((name, Some(self.subsection()?))),
                letter if is_of_key(letter) || letter == '.' => name.push(letter.to_ascii_lowercase()),
                _ => return None,
            }
        }
        Some(match name.split_once('.') {
            Some((section, subsection)) => (section.to_owned(), Some(subsection.to_owned())),
            None => (name, None),
        })
    }

    /// A subsection in quotes, up to the closing bracket.
    fn subsection(&mut self) -> Option<String> {
        let mut letter = self.next()?.1;
        while letter != '\n' && is_blank(letter) {
            letter = self.next()?.1;
        }
        if letter != '"' {
            return None;
        }
        let mut name = String::new();
        loop {
            match self.next()?.1 {
                '"' => break,
                '\n' => return None,
                '\\' => name.push(self.next().map(|(_, letter)| letter).filter(|letter| *letter != '\n')?),
                letter => name.push(letter),
            }
        }
        (self.next()?.1 == ']').then_some(name)
    }

    /// A key, of which the first letter has been read, and its value.
    fn setting(&mut self, first: char) -> Option<(String, Option<String>)> {
        let mut key = String::from(first.to_ascii_lowercase());
        while let Some(letter) = self.peek().filter(|letter| is_of_key(*letter)) {
            key.push(letter.to_ascii_lowercase());
            self.next();
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.next();
        }
        match self.next() {
            None | Some((_, '\n')) => Some((key, None)),
            Some((_, '=')) => Some((key, Some(self.value()?))),
            Some(_) => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let (mut value, mut kept) = (String::new(), 0);
        let mut is_quoted = false;
        loop {
            match self.next().map_or('\n', |(_, letter)| letter) {
                '\n' if is_quoted => return None,
                '\n' => break,
                letter if is_blank(letter) && !is_quoted => {
                    if !value.is_empty() {
                        value.push(letter);
                    }
                    continue;
                }
                '#' | ';' if !is_quoted => {
                    self.skip_line();
                    break;
                }
                '"' => is_quoted = !is_quoted,
                '\\' => match self.next()?.1 {
                    // The value goes on in the next line.
                    '\n' => continue,
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    'n' => value.push('\n'),
                    letter @ ('\\' | '"') => value.push(letter),
                    _ => return None,
                },
                letter => value.push(letter),
            }
            kept = value.len();
        }
        value.truncate(kept);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, Option<String>)>> {
        Some(parse(text)?.into_iter().map(|setting| (setting.name(), setting.value)).collect())
    }

    #[test]
    fn a_configuration_is_read_as_git_reads_it() {
        for (text, name, value) in [
            ("[core]\n\thooksPath = .husky/_\n", "core.hookspath", Some(".husky/_")),
            ("[CORE]\nHOOKSPATH=\"a b\"", "core.hookspath", Some("a b")),
            ("[core] hooksPath = x", "core.hookspath", Some("x")),
            ("[core]\nhooksPath = x y # of ours\n", "core.hookspath", Some("x y")),
            ("[core]\nhooksPath = \"y;z\" ; too", "core.hookspath", Some("y;z")),
            ("[core]\nhooksPath = a\\\n/b", "core.hookspath", Some("a/b")),
            ("[core]\nhooksPath = a\\\\b \r\n", "core.hookspath", Some("a\\b")),
            ("\u{feff}# [x]\n[core]\nbare\n", "core.bare", None),
            ("[core]\n# x = y\\\nhooksPath = z", "core.hookspath", Some("z")),
            ("[filter \"a]b \\\"c\\\\\"]clean=x", "filter.a]b \"c\\.clean", Some("x")),
            ("[filter.A.b]clean=x", "filter.a.b.clean", Some("x")),
            ("[alias]\nst = \"!echo \\\"a\\\" ;\" b", "alias.st", Some("!echo \"a\" ; b")),
        ] {
            let expected = vec![(name.to_owned(), value.map(str::to_owned))];
            assert_eq!(read(text), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn what_git_refuses_is_refused() {
        for text in [
            "x = y",
            "[core\nbare",
            "[core]\nx y",
            "[core]\nx = \"y",
            "[core]\nx = \\y",
            "[a b]\nx",
            "[core]\n=x",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_setting_stands_where_it_says() {
        let text = "[core] a = 1\n\tb = 2 \\\n 3 ; c\n[x]\n\tc\n";
        let found: Vec<&str> = parse(text).unwrap().into_iter().map(|setting| &text[setting.at]).collect();
        assert_eq!(found, ["a = 1\n", "b = 2 \\\n 3 ; c\n", "c\n"]);
    }
}
