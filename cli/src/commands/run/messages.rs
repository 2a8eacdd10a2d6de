//! The file of `--messages`.

use crate::error::CommandError;
use abide_client::protocol::{hello::MAX_FRAME, method::task::ImportMessage};
use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

const FORM: &str =
    r#"the file is a list: [{"role": "user", "text": "…"}, {"role": "assistant", "text": "…"}]"#;

/// Reads the messages of an earlier conversation.
pub(super) fn read(path: &Path) -> Result<Vec<ImportMessage>, CommandError> {
    let fail = |why: String| CommandError::usage(format!("the messages in {} {why}", path.display()));
    let mut bytes = Vec::new();
    let read = |file: File| file.take(MAX_FRAME as u64 + 1).read_to_end(&mut bytes);
    File::open(path).and_then(read).map_err(|e: io::Error| fail(format!("cannot be read: {e}")))?;
    if bytes.len() > MAX_FRAME {
        return Err(fail(format!("are more than {MAX_FRAME} bytes")).hinted("leave out the oldest"));
    }
    serde_json::from_slice(&bytes).map_err(|e| fail(format!("make no sense: {e}")).hinted(FORM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_a_list_of_messages_or_refused_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("earlier.json");
        fs::write(&file, r#"[{"role": "user", "text": "Hello."}, {"role": "assistant", "text": "Yes?"}]"#)
            .unwrap();
        assert_eq!(read(&file).unwrap().len(), 2);
        for (text, says) in [
            ("", "make no sense"),
            (r#"{"role": "user"}"#, "make no sense"),
            (r#"[{"role": "tool", "text": "x"}]"#, "unknown variant `tool`"),
            ("[\u{ff}", "make no sense"),
        ] {
            fs::write(&file, text).unwrap();
            let error = read(&file).expect_err(text).to_string();
            assert!(error.contains(says) && error.contains("earlier.json"), "{error}");
        }
        File::create(&file).unwrap().set_len(1 << 30).unwrap();
        assert!(read(&file).expect_err("1 GiB").to_string().contains("are more than"));
        assert!(read(dir.path()).expect_err("a folder").to_string().contains("cannot be read"));
    }
}
