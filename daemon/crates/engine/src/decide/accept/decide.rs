use crate::{
    decide::{draft::Draft, input::Refusal},
    mint::Mint,
    state::history::History,
};
use abide_protocol::{
    ApprovalId,
    inbox::{Approval, Decision},
    message::CallOutcome,
    record::{ApprovalDecided, By, NewRecord, RecordBody, RuleRemembered},
    transcript::ToolResult,
};

/// A person's decision about a call.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) decision: Decision,
    pub(super) note: Option<String>,
    /// The text of the wider rule to remember.
    pub(super) rule: Option<String>,
    pub(super) by: By,
}

/// The first decision counts; later ones are refused with the first.
pub(super) fn accept(
    history: &History,
    id: ApprovalId,
    Verdict { decision, note, rule, by }: Verdict,
    mint: &mut Mint,
) -> Result<Vec<NewRecord>, Refusal> {
    if let Some(first) = history.decision(id) {
        return Err(Refusal::Decided(first));
    }
    let (task, approval) =
        history.live().find_map(|t| t.approvals.get(&id).map(|a| (t, a))).ok_or(Refusal::NoApproval)?;
    if rule.as_ref().is_some_and(|text| approval.wider.iter().all(|wider| wider.text != *text)) {
        return Err(Refusal::NoSuchRule(approval.wider.iter().map(|wider| wider.text.clone()).collect()));
    }
    if let (Decision::AllowAlways, Some(why)) = (decision, &approval.only_once) {
        return Err(Refusal::OnlyOnce(why.clone()));
    }
    if decision == Decision::AllowForTask && !approval.for_task {
        return Err(Refusal::NotForTask);
    }
    let words = match note.as_deref().map(str::trim).filter(|n| !n.is_empty()) {
        Some(note) => format!("The user rejected this call and says: {note}"),
        None => "The user rejected this call.".to_owned(),
    };
    let call_id = approval.call_id;
    let mut others = Vec::new();
    if decision == Decision::AllowForTask {
        // What else waits for this decision.
        for other in history.live() {
            let waiting = other.approvals.values().filter(|waiting| waiting.for_task && waiting.id != id);
            for Approval { id, call_id, .. } in waiting {
                let (approval_id, call_id, by) = (*id, *call_id, by.clone());
                let mut draft = Draft::of(other, mint);
                draft.push(RecordBody::ApprovalDecided(ApprovalDecided {
                    approval_id,
                    call_id,
                    decision,
                    note: None,
                    by,
                }));
                others.append(&mut draft.records);
            }
        }
    }
    let mut draft = Draft::of(task, mint);
    draft.push(RecordBody::ApprovalDecided(ApprovalDecided { approval_id: id, call_id, decision, note, by }));
    if decision.is_always() {
        let remembered = RuleRemembered { rule: approval.rule.clone(), allow: decision.allows(), text: rule };
        draft.push(RecordBody::RuleRemembered(remembered));
    }
    if !decision.allows()
        && let Some(call) = task.call(call_id)
    {
        draft.finish_call(call, CallOutcome::Rejected, ToolResult::failure(words));
    }
    draft.records.append(&mut others);
    Ok(draft.records)
}
