//! The phases of one task, as recorded: their order in each mode, and what may be in them.

use abide_protocol::{
    record::{ControlBlock, ModelRequested, PhaseBegan, ReplyRecord, TaskStarted},
    task::{Mode, Phase},
    transcript::{CallBlock, EffectClass, StopReason},
};

#[derive(Default)]
pub(super) struct Phases {
    mode: Option<Mode>,
    has_tools: bool,
    /// The newest phase.
    phase: Option<Phase>,
    /// It has begun, and the model has not been asked yet.
    begun: Option<PhaseBegan>,
    /// The step's reason phase has found nothing left to do.
    finish: bool,
    /// Rounds of questions in mode `tree`.
    rounds: u32,
    /// A summary has asked.
    has_doubted: bool,
    /// New instructions have come since the newest phase began.
    is_modified: bool,
    step: u32,
    /// The calls of the newest reply were lost.
    has_lost_calls: bool,
}

impl Phases {
    pub(super) fn new(head: &TaskStarted) -> Self {
        let has_tools = head.tools.iter().any(|tool| tool.effect != EffectClass::Control);
        Self { mode: Some(head.mode), has_tools, ..Self::default() }
    }

    pub(super) fn mode(&self) -> Option<Mode> {
        self.mode
    }

    pub(super) fn step(&self) -> u32 {
        self.step
    }

    pub(super) fn began(&mut self, began: &PhaseBegan) {
        use Phase::{Act, Clarify, Inquire, Observe, Plan, Reason, Split, Summarize};
        assert_eq!(self.begun, None, "a phase begins before the one before has asked");
        let follows = match (self.mode, self.phase, began.phase) {
            (Some(Mode::Roa), None | Some(Observe), Reason) | (Some(Mode::Plan), None | Some(Plan), Plan) => {
                1
            }
            (Some(Mode::Roa), Some(Reason), Act) | (Some(Mode::Roa), Some(Act), Observe) => 0,
            // It goes on, since its calls were lost.
            (Some(Mode::Roa), Some(Act), Act) if began.text.is_none() => 0,
            (Some(Mode::Tree), Some(Split | Act), Act) => 1,
            (Some(Mode::Tree), None | Some(Clarify), Clarify)
            | (Some(Mode::Tree), Some(Clarify | Inquire), Inquire)
            | (Some(Mode::Tree), Some(Inquire | Split), Split)
            | (Some(Mode::Tree), Some(Act | Summarize), Summarize) => 0,
            other => panic!("this phase cannot follow: {other:?}"),
        };
        if matches!(began.phase, Clarify | Split) && self.phase == Some(began.phase) {
            assert!(self.is_modified, "only new instructions begin this phase again");
        }
        self.rounds += u32::from(began.phase == Inquire && !self.is_modified);
        assert!(self.rounds <= 3, "at most three rounds of questions");
        self.is_modified = false;
        assert_eq!(began.step, self.step + follows, "a step grows only with the phase that begins it");
        let skips = self.mode == Some(Mode::Roa) && began.phase == Act && (self.finish || !self.has_tools);
        assert_eq!(began.asks, !skips, "only an act phase without work makes no call");
        if began.phase == Reason {
            self.finish = false;
        }
        (self.phase, self.step) = (Some(began.phase), began.step);
        self.begun = Some(began.clone()).filter(|began| began.asks);
    }

    /// New instructions begin the pass anew. A step that has come to nothing is not counted.
    pub(super) fn modified(&mut self, was_asking: bool) {
        (self.begun, self.finish) = (None, false);
        if self.mode == Some(Mode::Tree) {
            self.step -= u32::from(was_asking && self.phase == Some(Phase::Act));
            self.is_modified = true;
            return;
        }
        let is_amid_step = matches!(self.phase, Some(Phase::Reason | Phase::Act));
        self.step -= u32::from(was_asking || is_amid_step);
        self.phase = None;
    }

    /// The first attempt of a model call.
    pub(super) fn requested(&mut self, r: &ModelRequested) {
        match self.begun.take() {
            Some(began) => assert_eq!((r.step, r.attempt, r.phase), (began.step, 1, Some(began.phase))),
            None => {
                assert_eq!((r.step, r.attempt, r.phase), (self.step + 1, 1, None), "steps count up");
                let phaseless = matches!(self.mode, Some(Mode::Chat | Mode::Agent | Mode::Auto));
                assert!(phaseless, "a request of {:?} outside of a phase", self.mode);
            }
        }
        self.step = r.step;
    }

    pub(super) fn replied(&mut self, r: &ReplyRecord) {
        self.has_lost_calls = r.reply.stop_reason == StopReason::LostCalls;
        assert_eq!(r.phase, self.phase, "a reply belongs to the newest phase");
        let forbids = !matches!(self.phase, None | Some(Phase::Act));
        assert!(!forbids || r.reply.calls().count() == 0, "a call in a phase without tools");
        let reads = |call: &CallBlock| match self.phase {
            Some(Phase::Plan) => true,
            Some(Phase::Clarify | Phase::Inquire | Phase::Summarize) => call.tool == "ask_user",
            Some(Phase::Split) => call.tool == "fork",
            _ => false,
        };
        assert!(
            r.calls.iter().all(reads),
            "the calls of {:?} are not read in text: {:?}",
            self.phase,
            r.calls
        );
        if let Some(ControlBlock::Reason(block)) = &r.control {
            self.finish = block.finish;
        }
    }

    /// The agent asks a person. (A call that a summary asks with may end before it does.)
    pub(super) fn asked(&mut self) {
        if self.mode == Some(Mode::Tree) && self.phase == Some(Phase::Summarize) {
            assert!(!self.has_doubted, "a summary asks once");
            self.has_doubted = true;
        }
    }

    pub(super) fn completed(&self) {
        let ends_roa =
            self.phase == Some(Phase::Observe) || self.phase == Some(Phase::Act) && self.has_lost_calls;
        assert!(self.mode != Some(Mode::Roa) || ends_roa, "observe ends the task, or lost calls");
        let ends_tree = matches!(self.phase, Some(Phase::Clarify | Phase::Inquire | Phase::Summarize));
        assert!(self.mode != Some(Mode::Tree) || ends_tree, "a declined question or summarize ends the task");
    }
}
