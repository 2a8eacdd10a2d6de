use super::EditError;
use crate::text::{Decoded, decode, escape, one_line};

/// The content of a file with its text changed, in the file's encoding.
///
/// # Errors
/// The file is not text, an edit would change more than was asked for, or the encoding cannot hold the new
/// text.
pub(crate) fn rewrite<E: From<EditError>>(
    path: &str,
    before: &[u8],
    change: impl FnOnce(&Decoded) -> Result<String, E>,
) -> Result<Vec<u8>, E> {
    let path = one_line(path, 200);
    let Some(decoded) = decode(before) else {
        return Err(EditError::NotText { path, bytes: before.len() }.into());
    };
    let encoding = decoded.encoding;
    if encoding.encode(&decoded.text).ok().as_deref() != Some(before) {
        return Err(EditError::Damaged { path, encoding }.into());
    }
    let after = change(&decoded)?;
    encoding.encode(&after).map_err(|c| {
        let line = after.split('\n').position(|line| line.contains(c)).unwrap_or_default() + 1;
        let character = format!("`{}` (U+{:04X})", escape(c.encode_utf8(&mut [0; 4])), u32::from(c));
        EditError::NotHeld { path, encoding, character, line }.into()
    })
}
