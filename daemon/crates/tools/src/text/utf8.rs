/// Decodes UTF-8 that comes in pieces; invalid bytes become U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    /// The first bytes of an incomplete character: at most 3.
    begun: Vec<u8>,
}

impl Utf8 {
    /// The characters that are complete with `bytes`.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let input = std::mem::take(&mut self.begun);
        let mut text = String::with_capacity(input.len());
        for chunk in input.utf8_chunks() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            let at_the_end = invalid.as_ptr_range().end == input.as_ptr_range().end;
            let unfinished = std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if at_the_end && unfinished {
                self.begun = invalid.to_vec();
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// The replacement for an incomplete character at the end.
    pub(crate) fn finish(&mut self) -> &'static str {
        if std::mem::take(&mut self.begun).is_empty() { "" } else { "\u{fffd}" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cut_gives_the_same_text() {
        let whole = "aé€😀 \u{301}z".as_bytes();
        for cut in 0..=whole.len() {
            let mut utf8 = Utf8::default();
            let text = utf8.decode(&whole[..cut]) + &utf8.decode(&whole[cut..]) + utf8.finish();
            assert_eq!(text.as_bytes(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn byte_by_byte_is_as_lossy_as_at_once() {
        for bytes in [&b"a\xff\xfeb"[..], b"\xf0\x9f\x98", b"\xe2\x28\xa1", b"\xc3", b"\xed\xa0\x80x"] {
            let mut utf8 = Utf8::default();
            let mut text: String = bytes.iter().map(|b| utf8.decode(&[*b])).collect();
            text.push_str(utf8.finish());
            assert_eq!(text, String::from_utf8_lossy(bytes));
        }
    }
}
