//! Completes the paths of files, named as `@src/main.rs`.

use abide_host::text::visible_line;
use rustyline::completion::Pair;
use std::{fs, path::Path};

/// The most entries of a folder that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// Where the name of a file begins in `typed`, which ends with it: after the `@`. `None`: it names none.
pub(super) fn beginning(typed: &str) -> Option<usize> {
    let word = typed.rsplit(char::is_whitespace).next()?;
    word.starts_with('@').then(|| typed.len() - word.len() + 1)
}

/// The paths beneath `folder` that begin with `typed`, in order. A folder ends with a slash.
pub(super) fn candidates(folder: &Path, typed: &str) -> Vec<Pair> {
    let (parent, name) = typed.rsplit_once('/').map_or(("", typed), |(parent, name)| (parent, name));
    let prefix = &typed[..typed.len() - name.len()];
    let searched = if prefix == "/" { Path::new("/").to_owned() } else { folder.join(parent) };
    let Ok(entries) = fs::read_dir(searched) else { return Vec::new() };
    let mut found: Vec<Pair> = entries
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let found = entry.file_name().into_string().ok()?;
            let is_meant = found.starts_with(name) && (name.starts_with('.') || !found.starts_with('.'));
            // Its name is written to the terminal. White space would end it.
            let is_plain = visible_line(&found) == found && !found.contains(char::is_whitespace);
            let is_folder = entry.path().is_dir();
            let end = if is_folder { "/" } else { " " };
            (is_meant && is_plain).then(|| Pair {
                display: format!("{found}{}", end.trim()),
                replacement: format!("{prefix}{found}{end}"),
            })
        })
        .collect();
    found.sort_by(|a, b| a.replacement.cmp(&b.replacement));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_completed_beneath_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["src/deep", ".git"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["src/main.rs", "src/map.rs", "setup", ".env", "two words", "se\u{1b}[2J"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let complete = |typed: &str| -> Vec<String> {
            candidates(dir.path(), typed).into_iter().map(|pair| pair.replacement).collect()
        };
        assert_eq!(complete(""), ["setup ", "src/"]);
        assert_eq!(complete("s"), ["setup ", "src/"]);
        assert_eq!(complete("src/ma"), ["src/main.rs ", "src/map.rs "]);
        assert_eq!(complete("src/d"), ["src/deep/"]);
        assert_eq!(complete("."), [".env ", ".git/"]);
        assert_eq!(complete("nothing/x"), [""; 0]);
        assert!(complete("/").contains(&"/tmp/".to_owned()));
    }

    #[test]
    fn a_name_begins_after_the_mark_of_its_word() {
        assert_eq!(beginning("look at @src/m"), Some(9));
        assert_eq!(beginning("@"), Some(1));
        assert_eq!(beginning("größer\u{3000}@a"), Some("größer\u{3000}@".len()));
        for none in ["", "me@example.org", "@a b", "plain"] {
            assert_eq!(beginning(none), None, "{none:?}");
        }
    }
}
