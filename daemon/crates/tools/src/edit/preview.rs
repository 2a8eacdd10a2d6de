use super::Edit;
use crate::text::clip;
use abide_protocol::inbox::Preview;
use similar::TextDiff;
use std::time::Duration;

/// A diff is cut to this, in characters.
const MAX_DIFF: usize = 16_000;

/// After this the diff is good enough.
const TIMEOUT: Duration = Duration::from_millis(300);

/// What the edit would change, for people.
pub(crate) fn preview(edit: &Edit) -> Preview {
    let path = edit.spot.relative.to_string_lossy().into_owned();
    let before = edit.before.as_deref().unwrap_or_default();
    let diff = match (text(before), text(&edit.after)) {
        (Some(before), Some(after)) => {
            let old = if edit.before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
            let diff = TextDiff::configure().timeout(TIMEOUT).diff_lines(before, after);
            clip(&diff.unified_diff().header(&old, &format!("b/{path}")).to_string(), MAX_DIFF).into_owned()
        }
        _ => format!("(not text: {} bytes become {})", before.len(), edit.after.len()),
    };
    Preview { path, diff }
}

/// The content, if it is text.
fn text(content: &[u8]) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}
