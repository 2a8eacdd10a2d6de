use super::{Inserted, MAX_STREAM, Stream};

fn stream(pieces: &[(u64, &str)]) -> Stream {
    let mut stream = Stream::default();
    for (offset, text) in pieces {
        stream.insert(*offset, text);
    }
    stream
}

#[test]
fn overlapping_pieces_are_joined() {
    let table: &[(&[(u64, &str)], &str)] = &[
        (&[], ""),
        (&[(0, "")], ""),
        (&[(0, "abc"), (3, "def")], "abcdef"),
        (&[(3, "def"), (0, "abc")], "abcdef"),
        (&[(0, "abcd"), (2, "cdef")], "abcdef"),
        (&[(0, "abcdef"), (2, "cd")], "abcdef"),
        (&[(2, "cd"), (0, "abcdef")], "abcdef"),
        (&[(1, "b"), (3, "d"), (5, "f"), (0, "abcdefg")], "abcdefg"),
        (&[(0, "abc"), (5, "fg")], "abc…fg"),
        (&[(0, "abc"), (5, "fg"), (3, "de")], "abcdefg"),
        (&[(4, "efg")], "…efg"),
        (&[(0, "grü"), (2, "üße")], "grüße"),
        // Existing bytes stay.
        (&[(0, "abc"), (0, "xyz!")], "abc!"),
        // An overlap that splits a character adds nothing.
        (&[(0, "abc"), (2, "ü!")], "abc"),
        (&[(u64::MAX, "ab")], ""),
    ];
    for (pieces, expected) in table {
        let stream = stream(pieces);
        assert_eq!(stream.text(), *expected, "{pieces:?}");
        assert_eq!(stream.is_whole(), !expected.contains('…'), "{pieces:?}");
    }
}

#[test]
fn appended_text_is_reported() {
    let mut stream = Stream::default();
    let appended = |text: &str, gap| Inserted::Appended { text: text.to_owned(), gap };
    assert_eq!(stream.insert(0, "abc"), appended("abc", false));
    assert_eq!(stream.insert(1, "bc"), Inserted::Nothing);
    assert_eq!(stream.insert(1, "bcde"), appended("de", false));
    assert_eq!(stream.insert(7, "hi"), appended("hi", true));
    assert_eq!(stream.insert(5, "fg"), Inserted::Elsewhere);
    assert_eq!(stream.end(), 9);
}

#[test]
fn only_the_tail_of_a_long_stream_is_kept() {
    let mut stream = Stream::default();
    let chunk = "ü".repeat(500);
    let mut offset = 1;
    stream.insert(0, "x");
    for _ in 0..3000 {
        stream.insert(offset, &chunk);
        offset += 1000;
    }
    let text = stream.text();
    assert!(text.starts_with("…ü"));
    assert_eq!(u64::try_from(text.len()).unwrap() - 3, MAX_STREAM);
    drop(text);
    assert_eq!(stream.insert(5, "old"), Inserted::Elsewhere);
    assert_eq!(u64::try_from(stream.text().len()).unwrap() - 3, MAX_STREAM);
}
