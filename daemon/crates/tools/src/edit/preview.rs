use super::Edit;
use crate::text::clip;
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
    let before = edit.before.as_ref().map(|found| &*found.content).unwrap_or_default();
    let (diff, changed) = match (text(before), text(&edit.after)) {
        (Some(before), Some(after)) => {
            let old = if edit.before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
            let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
            let lines =
                |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
            let changed = Changed { added: lines(ChangeTag::Insert), removed: lines(ChangeTag::Delete) };
            let unified = diff.unified_diff().header(&old, &format!("b/{path}")).to_string();
            (clip(&unified, MAX_DIFF).into_owned(), Some(changed))
        }
        _ => (format!("(not text: {} bytes become {})", before.len(), edit.after.len()), None),
    };
    Preview { path, diff, changed }
}

/// The content, if it is text.
fn text(content: &[u8]) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}
