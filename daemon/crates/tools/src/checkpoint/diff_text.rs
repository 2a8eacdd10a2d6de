//! The text of git's diff, whose lines are in the encodings of the files.

use crate::text::{Encoding, decode};

/// The diff, with each file decoded from its encoding. A line before the file names an encoding that is not
/// UTF-8.
pub(super) fn text(diff: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(diff) {
        return text.to_owned();
    }
    let mut files: Vec<Vec<&[u8]>> = Vec::new();
    for line in diff.split_inclusive(|byte| *byte == b'\n') {
        match files.last_mut() {
            // A line of a file has a sign before it.
            Some(file) if !line.starts_with(b"diff --git ") => file.push(line),
            _ => files.push(vec![line]),
        }
    }
    files.iter().map(|lines| of_file(lines)).collect()
}

fn of_file(lines: &[&[u8]]) -> String {
    let body = lines.iter().position(|line| line.starts_with(b"@@")).unwrap_or(lines.len());
    let (head, body) = lines.split_at(body);
    let (before, after) = (Side::of(body, b'-'), Side::of(body, b'+'));
    let mut text: String = head.iter().map(|line| String::from_utf8_lossy(line)).collect();
    text.push_str(&note(&before, &after));
    for line in body {
        let side = if line.starts_with(b"-") { &before } else { &after };
        match side.encoding {
            Some(encoding) => text.push_str(&encoding.text(line).0),
            None => text.push_str(&String::from_utf8_lossy(line)),
        }
    }
    text
}

/// The shown lines of a file, before or after.
struct Side {
    encoding: Option<Encoding>,
    /// All lines are ASCII, so any encoding would do.
    is_ascii: bool,
}

impl Side {
    fn of(body: &[&[u8]], sign: u8) -> Self {
        let of_side = |line: &&&[u8]| line.first().is_some_and(|first| *first == sign || *first == b' ');
        let shown: Vec<u8> = body.iter().filter(of_side).flat_map(|line| &line[1..]).copied().collect();
        Self { encoding: decode(&shown).map(|found| found.encoding), is_ascii: shown.is_ascii() }
    }
}

fn note(before: &Side, after: &Side) -> String {
    match (before.encoding, after.encoding) {
        (Some(was), Some(is)) if was != is && !before.is_ascii && !after.is_ascii => {
            format!("\\ The file was {was} and becomes {is}\n")
        }
        (was, is) => {
            let known = if after.is_ascii { was } else { is };
            let named = known.filter(|encoding| !encoding.is_plain());
            named.map(|encoding| format!("\\ The file is {encoding}\n")).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "diff --git a/f b/f\n--- a/f\n+++ b/f\n";

    #[test]
    fn each_file_is_read_in_its_encoding() {
        let latin1 = [HEAD.as_bytes(), b"@@ -1,2 +1,2 @@\n caf\xe9\n-a\n+\xfcber\n"].concat();
        let utf8 = format!("{HEAD}@@ -1 +1 @@\n-é\n+è\n");
        let shown = text(&[&latin1[..], utf8.as_bytes()].concat());
        let expected = format!("{HEAD}\\ The file is ISO-8859-1\n@@ -1,2 +1,2 @@\n café\n-a\n+über\n{utf8}");
        assert_eq!(shown, expected);
    }

    #[test]
    fn another_encoding_is_seen() {
        let converted = [HEAD.as_bytes(), b"@@ -1 +1 @@\n-caf\xe9\n+caf\xc3\xa9\n"].concat();
        let expected =
            format!("{HEAD}\\ The file was ISO-8859-1 and becomes UTF-8\n@@ -1 +1 @@\n-café\n+café\n");
        assert_eq!(text(&converted), expected);
        let first = [HEAD.as_bytes(), b"@@ -1 +1 @@\n-cafe\n+caf\xe9\n"].concat();
        assert!(text(&first).contains("\n\\ The file is ISO-8859-1\n"));
    }
}
