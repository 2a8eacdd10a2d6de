//! Folders to work in: those of conversations, and those that begin with what is typed.

use crate::words::{self, expanded};
use abide_client::protocol::conversation::Conversation;
use std::{collections::HashSet, fs};

/// The most folders shown: a line or two.
pub(super) const MOST: usize = 6;

/// The folders of conversations, newest first, as a person would type them, if they contain what is typed.
#[must_use]
pub(super) fn recent(conversations: &[&Conversation], typed: &str, home: Option<&str>) -> Vec<String> {
    let mut seen = HashSet::new();
    conversations
        .iter()
        .filter(|conversation| !words::is_made(&conversation.workspace))
        .map(|conversation| words::path(&conversation.workspace, home))
        .filter(|path| path.contains(typed.trim()) && path != typed.trim() && seen.insert(path.clone()))
        .take(MOST)
        .collect()
}

/// Folders whose path begins with what is typed, sorted. Blocking; empty if the folder cannot be read.
#[must_use]
pub fn beginning_with(typed: &str, home: Option<&str>) -> Vec<String> {
    let Some((parent, beginning)) = typed.rsplit_once('/') else { return Vec::new() };
    let folder = format!("{}/", expanded(parent, home));
    if !folder.starts_with('/') {
        // A relative path is refused: the daemon does not share this window's working folder.
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let is_wanted =
                name.starts_with(beginning) && (beginning.starts_with('.') || !name.starts_with('.'));
            // Links to folders count too.
            (is_wanted && fs::metadata(entry.path()).is_ok_and(|m| m.is_dir()))
                .then(|| format!("{parent}/{name}"))
        })
        .collect();
    found.sort_unstable();
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_goes_on() {
        let home = tempfile::tempdir().unwrap();
        for name in ["src/web", "src/wire", "src/.hidden", "src/api"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        fs::write(home.path().join("src/words.txt"), "").unwrap();
        let find = |typed: &str| beginning_with(typed, home.path().to_str());
        assert_eq!(find("~/src/w"), ["~/src/web", "~/src/wire"], "no files");
        assert_eq!(find("~/s"), ["~/src"]);
        assert_eq!(find("~/src/"), ["~/src/api", "~/src/web", "~/src/wire"], "hidden ones are not offered");
        assert_eq!(find("~/src/.h"), ["~/src/.hidden"]);
        for nothing in ["", "~", "src/w", "~/no/such"] {
            assert_eq!(find(nothing), Vec::<String>::new(), "{nothing}");
        }
    }

    #[test]
    fn a_tilde_is_the_home_only_where_a_shell_would_say_so() {
        assert_eq!(expanded("~/src", Some("/home/me")), "/home/me/src");
        assert_eq!(expanded("~", Some("/home/me")), "/home/me");
        assert_eq!(expanded("~other/src", Some("/home/me")), "~other/src");
        assert_eq!(expanded("/tmp/~", Some("/home/me")), "/tmp/~");
    }
}
