//! What a task is given of other conversations: as much as fits, the best first.

use crate::{
    mint::Mint,
    mode::rules::Recalls,
    state::{
        recalled::{FORM, entry_of, is_read, text},
        scratchpad::one_line,
        task::Task,
    },
};
use abide_protocol::{
    CallId,
    memory::{RECALL, RecallWay, Snippet, Source},
    record::{CallAssessed, Permission, Recalled},
    transcript::{EffectClass, Risk},
};
use serde_json::json;

/// The most that snippets may take of a task's context when it starts or its model asks, in bytes: about 1,200
/// tokens.
const BUDGET: usize = 4_800;
/// The most that they may take before a step: about 400 tokens.
const OF_STEP: usize = 1_600;
/// The most that notes may take.
const OF_NOTES: usize = 2_400;

/// The record of what was found for a task. `None`: nothing was found, and nothing went wrong.
#[must_use]
pub fn recalled(how: RecallWay, found: Vec<Snippet>, problem: Option<String>) -> Option<Recalled> {
    within(BUDGET, Recalled { form: FORM, how, snippets: found, problem })
}

/// What a task's model has not read yet, as much as it may be given before a step.
pub(crate) fn new_for(task: &Task, mut found: Recalled) -> Option<Recalled> {
    found.snippets.retain(|snippet| !is_read(task, snippet));
    within(OF_STEP, found)
}

fn within(budget: usize, mut found: Recalled) -> Option<Recalled> {
    let (mut left, mut of_notes) = (budget.saturating_sub(text(&[]).len()), OF_NOTES);
    found.snippets.retain(|snippet| {
        let length = entry_of(1, snippet).len();
        let is_note = snippet.source == Source::Note;
        // A shorter one behind it may still fit.
        let fits = length <= left && (!is_note || length <= of_notes);
        if fits {
            left -= length;
            of_notes -= if is_note { length } else { 0 };
        }
        fits
    });
    let is_empty = found.snippets.is_empty() && found.problem.is_none();
    (!is_empty).then_some(found)
}

/// The call of `recall` that comes before the task's next step: it looks for what the newest reply and the
/// newest results are about. `None`: none comes, or it has come.
///
/// A sub-task makes none, and neither does the first step: the task recalls when it starts.
pub(crate) fn before_step(task: &Task, mint: &mut Mint) -> Option<CallAssessed> {
    let step = task.step + 1;
    let has_tool = || task.head.tools.iter().any(|tool| tool.name == RECALL);
    let recalls = task.table().recalls == Recalls::EachStep && task.head.parent_id.is_none() && has_tool();
    if !recalls || task.step == 0 || task.recalled_before == step {
        return None;
    }
    let said = one_line(&task.shown);
    let texts: Vec<&str> =
        std::iter::once(said.as_str()).chain(task.results.iter().map(String::as_str)).collect();
    let query = texts.join("\n");
    (!query.trim().is_empty()).then(|| CallAssessed {
        call_id: CallId(mint.uuid()),
        tool: RECALL.to_owned(),
        arguments: json!({ "query": query }).to_string(),
        summary: format!("recall before step {step}"),
        effect: EffectClass::Pure,
        risk: Risk::Low,
        preview: None,
        edit: None,
        digest: String::new(),
        permission: Permission::Tier,
        sandbox: "none".to_owned(),
        rule: None,
        direct: None,
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
        notes: Vec::new(),
    })
}
