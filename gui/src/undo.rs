//! Earlier contents of a field, to go back to: iced's fields do not keep them.

/// The most contents kept.
const MOST: usize = 200;
/// Their total size, in bytes.
const ROOM: usize = 4 * 1024 * 1024;

/// The earlier and later contents of one field.
#[derive(Debug, Default)]
pub struct Undo {
    past: Vec<String>,
    future: Vec<String>,
    /// The last change was a letter of a word that may go on.
    is_in_word: bool,
}

impl Undo {
    /// Notes a change from `before` to `after`; letters typed one by one form one change for each word.
    pub fn changed(&mut self, before: &str, after: &str) {
        if before == after {
            return;
        }
        let is_in_word = is_letter_more(before, after);
        if !(is_in_word && self.is_in_word) {
            self.past.push(before.to_owned());
        }
        self.is_in_word = is_in_word;
        self.future.clear();
        while self.past.len() > MOST || self.past.iter().map(String::len).sum::<usize>() > ROOM {
            self.past.remove(0);
        }
    }

    /// The content before `now`.
    pub fn back(&mut self, now: &str) -> Option<String> {
        let before = self.past.pop()?;
        self.future.push(now.to_owned());
        self.is_in_word = false;
        Some(before)
    }

    /// The content after `now`, if the change was undone.
    pub fn forth(&mut self, now: &str) -> Option<String> {
        let after = self.future.pop()?;
        self.past.push(now.to_owned());
        self.is_in_word = false;
        Some(after)
    }
}

/// Whether exactly one letter was added, at any place.
fn is_letter_more(before: &str, after: &str) -> bool {
    let is_one_more = after.chars().count() == before.chars().count() + 1;
    let mut others = before.chars();
    let added = after.chars().find(|c| others.next() != Some(*c));
    is_one_more && added.is_some_and(|c| !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(undo: &mut Undo, text: &str) {
        for end in 1..=text.len() {
            undo.changed(&text[..end - 1], &text[..end]);
        }
    }

    #[test]
    fn words_are_taken_back_one_by_one_and_come_again() {
        let mut undo = Undo::default();
        typed(&mut undo, "one two");
        assert_eq!(undo.back("one two").as_deref(), Some("one "));
        assert_eq!(undo.back("one ").as_deref(), Some("one"));
        assert_eq!(undo.forth("one").as_deref(), Some("one "));
        assert_eq!(undo.back("one ").as_deref(), Some("one"));
        assert_eq!(undo.back("one").as_deref(), Some(""));
        assert_eq!(undo.back(""), None);
    }

    #[test]
    fn what_was_deleted_at_once_comes_back_at_once() {
        let mut undo = Undo::default();
        undo.changed("a long sentence", "");
        assert_eq!(undo.back("").as_deref(), Some("a long sentence"));
        undo.changed("a long sentence", "a");
        assert_eq!(undo.forth("a"), None, "another change has come between");
    }

    #[test]
    fn it_is_bounded() {
        let mut undo = Undo::default();
        let long = |n: usize| format!("{n}{}", "x".repeat(1024 * 1024));
        for n in 0..50 {
            undo.changed(&long(n), &long(n + 1));
        }
        assert!(undo.past.len() <= 4, "{}", undo.past.len());
    }
}
