use super::*;
use crate::published;
use std::fs;

#[test]
fn a_file_that_is_not_what_was_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let mut whole = Vec::new();
    published::meaningless().write(&mut whole).unwrap();
    let header = header().len();
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let cases = [
        ("whole", whole.clone(), None),
        ("empty", vec![], Some("no embedding model of this version")),
        ("a text", b"not a model".to_vec(), Some("no embedding model of this version")),
        ("another form", changed(MAGIC.len()), Some("no embedding model of this version")),
        ("another model", changed(header - 1), Some("no embedding model of this version")),
        ("cut in its header", whole[..header - 1].to_vec(), Some("no embedding model of this version")),
        ("cut after its header", whole[..header].to_vec(), Some("is damaged")),
        ("cut", whole[..whole.len() - 1].to_vec(), Some("is damaged")),
        ("longer", [&whole[..], b"\n"].concat(), Some("is damaged")),
        ("another checksum", changed(header), Some("is damaged")),
        ("another number", changed(header + 1_000_003), Some("is damaged")),
        ("another vocabulary", changed(whole.len() - 1), Some("is damaged")),
    ];
    for (what, bytes, expected) in cases {
        fs::write(&path, bytes).unwrap();
        let refusal = Weights::read(&path).err().map(|error| error.to_string());
        match expected {
            None => assert_eq!(refusal, None, "{what}"),
            Some(expected) => {
                assert!(refusal.as_ref().is_some_and(|it| it.contains(expected)), "{what}: {refusal:?}");
            }
        }
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(Weights::read(&path), Err(OpenError::Read { .. })));
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    published::write_meaningless(&path);
    let (read, written) = (Weights::read(&path).unwrap(), published::meaningless());
    assert!(read.scales == written.scales && read.words == written.words && read.rows == written.rows);
    assert_eq!(read.vocabulary, written.vocabulary);
}
