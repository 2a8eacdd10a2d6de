//! What people were shown.

use abide_protocol::{CallId, RecordId};
use std::collections::BTreeMap;

/// What people were shown of attempts that are cut off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The text of replies that are not recorded, by the item of the model call.
    pub(crate) replies: BTreeMap<RecordId, String>,
    /// The output of calls that have not ended.
    outputs: BTreeMap<CallId, String>,
}

impl Shown {
    #[must_use]
    pub const fn new() -> Self {
        Self { replies: BTreeMap::new(), outputs: BTreeMap::new() }
    }

    /// Adds the output of calls.
    #[must_use]
    pub fn with_outputs(self, outputs: impl IntoIterator<Item = (CallId, String)>) -> Self {
        Self { outputs: outputs.into_iter().collect(), ..self }
    }

    /// What became of a call that an end has cut off: these words, and its output, if it gave any.
    pub(crate) fn cut_off(&mut self, call: CallId, words: &str) -> String {
        let output = self.outputs.remove(&call).unwrap_or_default();
        match output.trim_end() {
            "" => words.to_owned(),
            output => format!("{words} Its output so far:\n{output}"),
        }
    }
}

impl FromIterator<(RecordId, String)> for Shown {
    fn from_iter<T: IntoIterator<Item = (RecordId, String)>>(replies: T) -> Self {
        Self { replies: replies.into_iter().collect(), ..Self::new() }
    }
}

impl<const N: usize> From<[(RecordId, String); N]> for Shown {
    fn from(replies: [(RecordId, String); N]) -> Self {
        replies.into_iter().collect()
    }
}
