//! A place in a text that moves on as the text is read.

use abide_protocol::spelling;

/// What has not been read yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn is_over(self) -> bool {
        self.rest.trim().is_empty()
    }

    pub(super) fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Passes this, if it comes next behind blanks.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Passes whichever of these comes next behind blanks.
    pub(super) fn eat_any(&mut self, tokens: &[&str]) -> bool {
        tokens.iter().any(|token| self.eat(token))
    }

    /// Reads something, or stays where it is.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut next = *self;
        let found = read(&mut next)?;
        *self = next;
        Some(found)
    }

    /// The text before the first of these, which is passed too.
    pub(super) fn until(&mut self, tokens: &[&str]) -> Option<&'a str> {
        let places = tokens.iter().filter_map(|token| Some((self.rest.find(token)?, token.len())));
        let (at, length) = places.min()?;
        let before = &self.rest[..at];
        self.rest = &self.rest[at + length..];
        Some(before)
    }

    /// A value between tags: it ends where `close` comes and then one of `next`, so that it may hold `close`
    /// itself. One newline at each end belongs to the tags.
    pub(super) fn value(&mut self, close: &str, next: &[&str]) -> Option<&'a str> {
        let ends = |at: usize| {
            let behind = self.rest[at + close.len()..].trim_start();
            next.iter().any(|next| behind.starts_with(next))
        };
        let (at, _) = self.rest.match_indices(close).find(|(at, _)| ends(*at))?;
        let value = &self.rest[..at];
        self.rest = &self.rest[at + close.len()..];
        let value = value.strip_prefix('\n').unwrap_or(value);
        Some(value.strip_suffix('\n').unwrap_or(value))
    }

    /// A name of letters, digits, `_`, `-` and `.`.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let start = self.rest.trim_start();
        let end =
            start.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c))).unwrap_or(start.len());
        self.rest = &start[end..];
        (end > 0).then(|| &start[..end])
    }

    /// An object or a list, as JSON.
    pub(super) fn json(&mut self) -> Option<String> {
        let (json, rest) = spelling::json(self.rest.trim_start())?;
        self.rest = rest;
        Some(json.into_owned())
    }
}
