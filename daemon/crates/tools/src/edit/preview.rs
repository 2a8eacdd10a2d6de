use super::{Edit, LineEnds};
use crate::text::{Decoded, clip, decode};
use abide_protocol::inbox::{Changed, Preview};
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// The longest diff, in characters: some hundred lines of new code.
const MAX_DIFF: usize = 48_000;

/// The diff is less exact after this time.
const TIMEOUT: Duration = Duration::from_millis(300);

/// The preview of an edit, for people.
pub(crate) fn preview(edit: &Edit) -> Preview {
    let path = edit.spot.relative.to_string_lossy().into_owned();
    let content = edit.before.as_ref().map(|found| &*found.content);
    let before = decode(content.unwrap_or_default());
    let (diff, changed) = match before.and_then(|before| Some((after(edit, &before)?, before))) {
        Some((after, before)) => {
            let old = if content.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
            let head = format!("--- {old}\n+++ b/{path}\n");
            let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(&before.text, &after.text);
            let lines =
                |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
            let changed = Changed { added: lines(ChangeTag::Insert), removed: lines(ChangeTag::Delete) };
            let notes = notes(content.map(|_| &before), &after);
            let hunks = diff.unified_diff().to_string();
            let is_nothing = hunks.is_empty() && content == Some(&*edit.after);
            let unified = if is_nothing { String::new() } else { format!("{head}{notes}{hunks}") };
            (clip(&unified, MAX_DIFF).into_owned(), Some(changed))
        }
        None => {
            let bytes = content.map_or(0, <[u8]>::len);
            (format!("(not text: {bytes} bytes become {})", edit.after.len()), None)
        }
    };
    Preview { path, diff, changed }
}

/// The text after the edit, decoded as it is written, because guessing again could give another encoding.
fn after(edit: &Edit, before: &Decoded) -> Option<Decoded> {
    let encoding = before.encoding;
    if !encoding.is_guess() {
        return decode(&edit.after);
    }
    let (text, is_damaged) = encoding.text(&edit.after);
    Some(Decoded { text, encoding, is_damaged })
}

/// What the lines of a diff do not show, in lines that a diff has for notes.
fn notes(before: Option<&Decoded>, after: &Decoded) -> String {
    let is = after.encoding;
    let encoding = match before.map(|before| before.encoding).filter(|was| *was != is) {
        Some(was) => Some(format!("\\ The file was {was} and becomes {is}\n")),
        None => (!is.is_plain()).then(|| format!("\\ The file is {is}\n")),
    };
    let was = before.map_or(LineEnds::None, |before| LineEnds::of(&before.text));
    let ends = match (was, LineEnds::of(&after.text)) {
        (LineEnds::None, _) | (_, LineEnds::None) => None,
        (was, is) if was == is => None,
        (was, is) => Some(format!("\\ The line ends were {} and become {}\n", was.name(), is.name())),
    };
    [encoding, ends].into_iter().flatten().collect()
}
