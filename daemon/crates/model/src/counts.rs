//! The token counts of a reply, as servers write them: whole numbers, floats (`12.0`) or texts (`"12"`).

use crate::assembly::{Assembly, Fault};
use serde_json::{Value, value::RawValue};

/// No reply has more tokens.
const MOST: f64 = 1e9;

/// The object with the counts.
pub(crate) struct Counts {
    given: Value,
    /// A count was left out, since no reply can have it.
    has_nonsense: bool,
}

impl Counts {
    /// `None`: it is no object, and nothing is counted.
    pub(crate) fn read(given: &RawValue) -> Option<Self> {
        let given: Value = serde_json::from_str(given.get()).ok()?;
        given.is_object().then_some(Self { given, has_nonsense: false })
    }

    /// The count at this JSON pointer. `None`: it is absent, or left out.
    pub(crate) fn at(&mut self, pointer: &str) -> Option<u64> {
        let given = self.given.pointer(pointer).filter(|given| !given.is_null())?;
        let count = count(given);
        self.has_nonsense |= count.is_none();
        count
    }

    /// Keeps a trace of the event if it had counts that were left out.
    pub(crate) fn trace_nonsense(&self, reply: &mut Assembly<'_>, event: &str) -> Result<(), Fault> {
        if self.has_nonsense {
            reply.trace("usage with a count that no reply can have", event)
        } else {
            Ok(())
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a sane, positive number"
)]
fn count(given: &Value) -> Option<u64> {
    let number = match given {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }?;
    (0.0..=MOST).contains(&number).then(|| number.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_in_any_form_are_counted_and_absurd_ones_are_not() {
        for (given, expected) in [
            (json!(12), Some(12)),
            (json!(12.0), Some(12)),
            (json!("12"), Some(12)),
            (json!(" 12.0 "), Some(12)),
            (json!(0), Some(0)),
            (json!(1_000_000_000), Some(1_000_000_000)),
            (json!(1_000_000_001), None),
            (json!(-1), None),
            (json!("-1"), None),
            (json!("NaN"), None),
            (json!("inf"), None),
            (json!(u64::MAX), None),
            (json!(1e300), None),
            (json!("many"), None),
            (json!([1]), None),
            (json!(true), None),
        ] {
            assert_eq!(count(&given), expected, "{given}");
        }
    }
}
