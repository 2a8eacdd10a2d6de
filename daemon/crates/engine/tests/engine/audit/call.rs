//! One call, as recorded.

use abide_protocol::{
    ApprovalId, CallId,
    inbox::Decision,
    message::CallOutcome,
    record::{CallAssessed, CallFinished, Permission},
    transcript::{CallBlock, EffectClass},
};

#[derive(Debug)]
pub(super) struct Seen {
    pub(super) id: CallId,
    pub(super) tool: String,
    assessed: Option<CallAssessed>,
    approval: Option<(ApprovalId, Option<Decision>)>,
    attempts: u32,
    pub(super) running: bool,
    /// A daemon died while it ran.
    pub(super) cut: bool,
    finished: Option<(CallOutcome, bool)>,
}

impl Seen {
    pub(super) fn new(block: &CallBlock) -> Self {
        Self {
            id: block.id,
            tool: block.tool.clone(),
            assessed: None,
            approval: None,
            attempts: 0,
            running: false,
            cut: false,
            finished: None,
        }
    }

    pub(super) fn assess(&mut self, assessed: &CallAssessed) {
        assert!(self.assessed.replace(assessed.clone()).is_none(), "a call is assessed once");
    }

    pub(super) fn request_approval(&mut self, id: ApprovalId) {
        // The audit of files checks that one in the sandbox is asked about only where it cannot be undone.
        let asks = |permission: &Permission| matches!(permission, Permission::Ask | Permission::Sandbox);
        let asks = self.assessed.as_ref().is_some_and(|call| asks(&call.permission));
        assert!(asks && self.finished.is_none(), "no approval is needed for {self:?}");
        assert!(self.approval.replace((id, None)).is_none(), "a person is asked once");
    }

    pub(super) fn decide(&mut self, id: ApprovalId, decision: Decision) {
        assert_eq!(self.approval, Some((id, None)), "the approval is open");
        self.approval = Some((id, Some(decision)));
    }

    pub(super) fn by_person(&self) -> bool {
        matches!(self.approval, Some((_, Some(decision))) if decision.allows())
    }

    pub(super) fn start(&mut self, attempt: u32, sandbox: &str) {
        let assessed = self.assessed.as_ref().expect("a call is assessed before it starts");
        assert_eq!(sandbox, assessed.sandbox, "it runs in the sandbox that it was assessed for");
        assert!(self.finished.is_none(), "a finished call does not start");
        assert!(!self.running, "it is not running yet");
        assert_eq!(attempt, self.attempts + 1, "attempts count up");
        assert!(attempt == 1 || assessed.effect != EffectClass::Unsafe, "an unsafe call starts once");
        assert_ne!(assessed.effect, EffectClass::Control, "control calls are the engine's own");
        match assessed.permission {
            // The audit of files checks what is allowed for the whole task.
            Permission::Ask => {
                assert!(self.by_person() || assessed.for_task, "a person was asked, and has to allow it");
            }
            Permission::Denied(_) => panic!("a denied call started"),
            Permission::Tier | Permission::Rule | Permission::Yes | Permission::Sandbox => {}
        }
        self.attempts = attempt;
        self.running = true;
        self.cut = false;
    }

    /// The daemon that ran it has died.
    pub(super) fn cut(&mut self) {
        self.cut |= std::mem::take(&mut self.running);
    }

    pub(super) fn finish(&mut self, f: &CallFinished) {
        let first = self.finished.replace((f.outcome, f.result.ok));
        assert_eq!(first, None, "one result for each call: {f:?}");
        assert_eq!(f.attempt, self.attempts, "the outcome is of the current attempt");
        let control = self.effect() == EffectClass::Control;
        match f.outcome {
            CallOutcome::Done => {
                let known = self.running || (self.cut && self.effect() == EffectClass::Verifiable);
                assert!(known || control, "a call that did not run is done: {self:?}");
            }
            CallOutcome::Interrupted => {
                assert!(self.cut && !f.result.ok, "a call that was not interrupted is: {self:?}");
                assert!(f.result.message.contains("effects are unknown"), "{:?}", f.result);
            }
            CallOutcome::Refused | CallOutcome::Rejected => {
                assert!(self.attempts == 0 && !f.result.ok, "a call that ran is refused: {self:?}");
            }
            CallOutcome::Cancelled => {
                assert_eq!(f.result.message.contains("effects are unknown"), self.running, "{:?}", f.result);
            }
        }
        self.running = false;
    }

    pub(super) fn effect(&self) -> EffectClass {
        self.assessed.as_ref().map_or(EffectClass::Unsafe, |p| p.effect)
    }

    pub(super) fn is_unsafe(&self) -> bool {
        self.effect() == EffectClass::Unsafe
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    pub(super) const fn went_well(&self) -> bool {
        matches!(self.finished, Some((_, true)))
    }

    /// The call that ends a task.
    pub(super) fn is_complete(&self) -> bool {
        self.tool == "task_complete"
    }

    pub(super) fn completes(&self) -> bool {
        self.is_complete() && self.finished == Some((CallOutcome::Done, true))
    }

    /// `ask_user` and `task_complete` come after the ordinary calls.
    pub(super) fn comes_last(&self) -> bool {
        self.asks() || self.tool == "task_complete" && self.effect() == EffectClass::Control
    }

    /// It asks a person.
    pub(super) fn asks(&self) -> bool {
        matches!(self.tool.as_str(), "ask_user" | "request_input") && self.effect() == EffectClass::Control
    }
}
