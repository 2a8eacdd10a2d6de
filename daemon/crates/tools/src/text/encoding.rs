//! The encodings of text files: read from their bytes, and kept by edits.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::WINDOWS_1252;
use std::fmt;

/// How a file holds its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    form: Form,
    /// The file begins with a byte order mark, which is no part of its text.
    has_bom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// ISO-8859-1. The further characters of windows-1252 may not be meant.
    Latin1,
    Legacy(&'static encoding_rs::Encoding),
}

/// A file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
    /// Some bytes are invalid in the encoding. Each is U+FFFD in the text.
    pub(crate) is_damaged: bool,
}

/// The characters besides line ends that control a terminal or a printer and occur in text: tab, form feed,
/// escape, and the end of a file of DOS.
const CONTROLS: [char; 6] = ['\t', '\n', '\r', '\x0c', '\x1b', '\x1a'];

/// The text of a file; `None` if it is not text. Without a byte order mark an encoding other than UTF-8 is a
/// guess.
pub(crate) fn decode(bytes: &[u8]) -> Option<Decoded> {
    let of = |form: Form, has_bom: bool, bytes: &[u8]| {
        let encoding = Encoding { form, has_bom };
        let (text, is_damaged) = encoding.text(bytes);
        Decoded { text, encoding, is_damaged }
    };
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => Some(of(Form::Utf8, true, rest)).filter(Decoded::has_no_nul),
        [0xff, 0xfe, rest @ ..] => Some(of(Form::Utf16Le, true, rest)).filter(Decoded::is_text),
        [0xfe, 0xff, rest @ ..] => Some(of(Form::Utf16Be, true, rest)).filter(Decoded::is_text),
        _ if bytes.contains(&0) => None,
        _ if is_mostly_utf8(bytes) => Some(of(Form::Utf8, false, bytes)),
        _ => Some(of(guess(bytes), false, bytes)).filter(Decoded::is_text),
    }
}

/// Whether at most half of the pieces beyond ASCII are invalid as UTF-8. (In other encodings most are
/// invalid.)
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut whole, mut broken) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        whole += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    whole >= broken
}

fn guess(bytes: &[u8]) -> Form {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    match detector.guess(None, Utf8Detection::Deny) {
        found if found == WINDOWS_1252 && !bytes.iter().any(|byte| (0x80..0xa0).contains(byte)) => {
            Form::Latin1
        }
        found => Form::Legacy(found),
    }
}

impl Decoded {
    fn has_no_nul(&self) -> bool {
        !self.text.contains('\0')
    }

    /// Bytes are no text if they have control characters, or break the form that a mark at the start
    /// announces.
    fn is_text(&self) -> bool {
        let is_whole = !self.is_damaged || matches!(self.encoding.form, Form::Legacy(_));
        is_whole && !self.text.chars().any(|c| c.is_control() && !CONTROLS.contains(&c))
    }
}

impl Encoding {
    /// The encoding is UTF-8 without a byte order mark.
    pub(crate) fn is_plain(self) -> bool {
        self.form == Form::Utf8 && !self.has_bom
    }

    /// The encoding was guessed: nothing in the file names it.
    pub(crate) const fn is_guess(self) -> bool {
        matches!(self.form, Form::Latin1 | Form::Legacy(_))
    }

    pub(crate) const fn has_bom(self) -> bool {
        self.has_bom
    }

    /// The text of bytes without a byte order mark, and whether some of them are not of this encoding.
    pub(crate) fn text(self, bytes: &[u8]) -> (String, bool) {
        let utf16 = |unit: fn([u8; 2]) -> u16| {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let units: Vec<u16> = pairs.iter().copied().map(unit).collect();
            (String::from_utf16_lossy(&units), !rest.is_empty() || String::from_utf16(&units).is_err())
        };
        match self.form {
            Form::Utf8 => (String::from_utf8_lossy(bytes).into_owned(), str::from_utf8(bytes).is_err()),
            Form::Utf16Le => utf16(u16::from_le_bytes),
            Form::Utf16Be => utf16(u16::from_be_bytes),
            Form::Latin1 => (bytes.iter().copied().map(char::from).collect(), false),
            Form::Legacy(encoding) => {
                let (text, is_damaged) = encoding.decode_without_bom_handling(bytes);
                (text.into_owned(), is_damaged)
            }
        }
    }

    /// The text as a file, with the byte order mark; or the first character that the encoding cannot hold.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        let utf16 = |bytes: fn(u16) -> [u8; 2]| {
            let mark = self.has_bom.then_some(0xfeff);
            mark.into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()
        };
        Ok(match self.form {
            Form::Utf8 if self.has_bom => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            Form::Utf8 => text.as_bytes().to_vec(),
            Form::Utf16Le => utf16(u16::to_le_bytes),
            Form::Utf16Be => utf16(u16::to_be_bytes),
            Form::Latin1 => text.chars().map(latin1).collect::<Result<_, _>>()?,
            Form::Legacy(encoding) => legacy(encoding, text)?,
        })
    }
}

fn latin1(c: char) -> Result<u8, char> {
    u8::try_from(c).ok().filter(|byte| !(0x80..0xa0).contains(byte)).ok_or(c)
}

fn legacy(encoding: &'static encoding_rs::Encoding, text: &str) -> Result<Vec<u8>, char> {
    // The encoder writes some characters as look-alikes. Such characters count as not held.
    let held = |text: &str| {
        let (bytes, _, is_other) = encoding.encode(text);
        (!is_other && encoding.decode_without_bom_handling(&bytes).0 == text).then(|| bytes.into_owned())
    };
    held(text).ok_or_else(|| {
        let first = text.chars().find(|c| held(c.encode_utf8(&mut [0; 4])).is_none());
        first.unwrap_or(char::REPLACEMENT_CHARACTER)
    })
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.form {
            Form::Utf8 => "UTF-8",
            Form::Utf16Le => "UTF-16LE",
            Form::Utf16Be => "UTF-16BE",
            Form::Latin1 => "ISO-8859-1",
            Form::Legacy(encoding) => encoding.name(),
        })?;
        f.write_str(if self.has_bom { " with a byte order mark" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(bytes: &[u8]) -> Option<(String, String, bool)> {
        decode(bytes).map(|found| (found.text, found.encoding.to_string(), found.is_damaged))
    }

    fn is(text: &str, encoding: &str) -> Option<(String, String, bool)> {
        Some((text.to_owned(), encoding.to_owned(), false))
    }

    #[test]
    fn text_is_read_and_written_as_it_was() {
        for (bytes, text, encoding) in [
            (&b"plain"[..], "plain", "UTF-8"),
            ("é".as_bytes(), "é", "UTF-8"),
            (b"\xef\xbb\xbfa", "a", "UTF-8 with a byte order mark"),
            (b"\xff\xfea\0\x3d\xd8\x00\xde", "a😀", "UTF-16LE with a byte order mark"),
            (b"\xfe\xff\0a", "a", "UTF-16BE with a byte order mark"),
            (b"caf\xe9", "café", "ISO-8859-1"),
            (b"caf\xe9 \x80", "café €", "windows-1252"),
            (b"\x83\x65\x83\x58\x83\x67\r\n", "テスト\r\n", "Shift_JIS"),
            (b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет", "windows-1251"),
        ] {
            assert_eq!(known(bytes), is(text, encoding));
            assert_eq!(decode(bytes).unwrap().encoding.encode(text).unwrap(), bytes, "{encoding}");
        }
    }

    #[test]
    fn what_is_not_text_has_no_encoding() {
        for bytes in
            [&b"a\0b"[..], b"\xff\xfea", b"\xff\xfe\0\xd8", b"\x7fELF\x02\x01\xff\xe9", b"\xef\xbb\xbfa\0"]
        {
            assert_eq!(known(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn one_wrong_byte_is_not_another_encoding() {
        let found = decode(b"\xc3\xa9\xc3\xa9 \xff").unwrap();
        assert_eq!((found.text.as_str(), found.encoding.to_string()), ("éé \u{fffd}", "UTF-8".to_owned()));
        assert!(found.is_damaged);
    }

    #[test]
    fn a_character_that_is_not_held_is_named() {
        let encode = |bytes: &[u8], text| decode(bytes).unwrap().encoding.encode(text);
        assert_eq!(encode(b"caf\xe9", "ça €"), Err('€'));
        assert_eq!(encode(b"caf\xe9", "\u{85}"), Err('\u{85}'));
        assert_eq!(encode(b"\x83\x65\x83\x58\x83\x67", "日é"), Err('é'));
        // Its encoder would write a backslash.
        assert_eq!(encode(b"\x83\x65\x83\x58\x83\x67", "¥"), Err('¥'));
        assert_eq!(encode(b"\xef\xbb\xbfa", "日").unwrap(), "\u{feff}日".as_bytes());
    }
}
