//! Files that are not plain UTF-8 with LF: what is read is their text, and an edit changes only what it
//! names.

use crate::ground::{Ground, data};
use abide_protocol::{inbox::Changed, record::Permission};
use serde_json::json;
use std::fs;

/// `日本語` three times, so that the guess is certain.
const SHIFT_JIS: &[u8] = b"\x93\xfa\x96{\x8c\xea\x82\xcc\x83e\x83L\x83X\x83g\n\x88\xea\x8ds\x96\xda\n";

fn utf16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_in_its_encoding_which_is_said() {
    let ground = Ground::new();
    let guess = |name| format!("nothing in the file says that it is {name}; write and patch keep it so");
    for (bytes, text, message, note) in [
        (&b"caf\xe9\n"[..], "café\n", "f (ISO-8859-1), 1 line", Some(guess("ISO-8859-1"))),
        (SHIFT_JIS, "日本語のテキスト\n一行目\n", "f (Shift_JIS), 2 lines", Some(guess("Shift_JIS"))),
        (&utf16("é\n"), "é\n", "f (UTF-16LE with a byte order mark), 1 line", None),
        (b"\xef\xbb\xbfa\n", "a\n", "f (UTF-8 with a byte order mark), 1 line", None),
        (
            b"\xc3\xa9\xc3\xa9\xff\n",
            "éé\u{fffd}\n",
            "f (UTF-8), 1 line",
            Some("bytes that are not UTF-8 are shown as U+FFFD; write and patch refuse this file".to_owned()),
        ),
        ("é\r\n".as_bytes(), "é\r\n", "f, 1 line", None),
    ] {
        fs::write(ground.path("f"), bytes).unwrap();
        let read = ground.call("read", json!({"path": "f"})).await;
        assert_eq!(data(&read)["content"], text);
        assert_eq!((read.result.message.as_str(), read.result.diagnostics.first()), (message, note.as_ref()));
    }
    fs::write(ground.path("f"), "a\0").unwrap();
    let read = ground.call("read", json!({"path": "f"})).await;
    assert_eq!(read.result.message, "f is not text: a binary file of 2 bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_keeps_the_encoding_the_mark_and_the_line_ends() {
    let ground = Ground::new();
    let write = |content: &str| ("write", json!({"path": "f", "content": content}));
    let patch = |old: &str, new: &str| ("patch", json!({"path": "f", "old": old, "new": new}));
    for (before, call, after) in [
        (&b"caf\xe9\nx\n"[..], patch("x", "ü"), &b"caf\xe9\n\xfc\n"[..]),
        (b"caf\xe9\n", write("thé\n"), b"th\xe9\n"),
        (SHIFT_JIS, patch("一行目", "目\n行"), &[&SHIFT_JIS[..17], b"\x96\xda\n\x8ds\n"].concat()),
        (&utf16("a\r\nb\r\n"), patch("b", "é\n"), &utf16("a\r\né\r\n\r\n")),
        (&utf16("a\n"), write("\u{feff}b"), &utf16("b")),
        (b"\xef\xbb\xbfa\r\n", write("a\nb\n"), b"\xef\xbb\xbfa\r\nb\r\n"),
        (b"\xef\xbb\xbfa\n", patch("a\n", "b\n"), b"\xef\xbb\xbfb\n"),
        (b"a\r\nb\n", write("c\nd\r\n"), b"c\nd\r\n"),
        (b"a\r\nb\nc\r\n", patch("a\nb\nc", "a\nB\nc"), b"a\r\nB\nc\r\n"),
        (b"a\n", write("\u{feff}a\n"), b"\xef\xbb\xbfa\n"),
    ] {
        fs::write(ground.path("f"), before).unwrap();
        let done = ground.call(call.0, call.1.clone()).await;
        assert!(done.result.ok, "{}", done.result.message);
        assert_eq!(fs::read(ground.path("f")).unwrap(), after, "{call:?}");
    }
}

#[test]
fn what_an_edit_would_destroy_is_refused() {
    let ground = Ground::new();
    for (bytes, content, why) in [
        (
            &b"caf\xe9 x\n"[..],
            "café\n5 €",
            "f is ISO-8859-1, which cannot hold `€` (U+20AC) in line 2; nothing was written. Use other characters, or convert the file with a command first",
        ),
        (
            b"\xc3\xa9 x\xc3\xa9\xff",
            "x",
            "f has bytes that are not UTF-8 or that an edit would not keep; nothing was written. Change it with a command",
        ),
        (
            b"\x7fELF x\0",
            "x",
            "f is not text: a binary file of 7 bytes. Only text is edited; to replace the file, remove it first",
        ),
    ] {
        fs::write(ground.path("f"), bytes).unwrap();
        for (tool, arguments) in [
            ("write", json!({"path": "f", "content": content})),
            ("patch", json!({"path": "f", "old": " x", "new": format!(" {content}")})),
        ] {
            let denied = ground.assess_one(tool, arguments).permission;
            assert_eq!(denied, Permission::Denied(why.to_owned()), "{tool}");
        }
    }
}

#[test]
fn an_approval_shows_text_and_what_else_changes() {
    let ground = Ground::new();
    for (before, content, shown) in [
        (&b"caf\xe9\n"[..], "th\u{e9}\n", "\\ The file is ISO-8859-1\n@@ -1 +1 @@\n-café\n+thé\n"),
        (&utf16("a\n"), "é\n", "\\ The file is UTF-16LE with a byte order mark\n@@ -1 +1 @@\n-a\n+é\n"),
        (b"a\n", "\u{feff}a\n", "\\ The file was UTF-8 and becomes UTF-8 with a byte order mark\n"),
        (
            b"a\r\nb\n",
            "a\nb\n",
            "\\ The line ends were LF and CRLF and become LF\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n",
        ),
    ] {
        fs::write(ground.path("f"), before).unwrap();
        let preview = ground.assess_one("write", json!({"path": "f", "content": content})).preview.unwrap();
        assert_eq!(preview.diff, format!("--- a/f\n+++ b/f\n{shown}"));
        assert!(preview.changed.is_some_and(|Changed { added, removed }| added == removed));
    }
}
