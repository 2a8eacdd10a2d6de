//! One task, as recorded.

use super::{call::Seen, phase::Phases};
use abide_engine::Task;
use abide_protocol::{
    CallId, QuestionId, RecordId, Timestamp,
    inbox::QuestionKind,
    memory::RECALL,
    message::CallOutcome,
    record::{
        CallAssessed, CallFinished, CallStarted, ClockMoved, Compacted, Imported, Intervened, ModelRequested,
        NewRecord, NoticeKind, RecordBody, TaskStarted,
    },
    task::{EndReason, Limits, Mode, PauseReason},
    transcript::{CallBlock, EffectClass, Entry, Usage},
};
use std::{
    collections::{BTreeMap, HashMap},
    mem,
};

/// The most pure calls that run in parallel.
const SIDE_BY_SIDE: usize = 8;

#[derive(Default)]
pub(super) struct Run {
    head: Option<TaskStarted>,
    limits: Limits,
    paused: Option<PauseReason>,
    /// Questions that block the task.
    gates: HashMap<QuestionId, QuestionKind>,
    /// The number of replies in its transcript, those to earlier roots included.
    replies: usize,
    /// Of those, the replies to its own steps.
    step_replies: BTreeMap<u32, usize>,
    phases: Phases,
    /// It has begun a model call.
    has_asked: bool,
    /// It was given what other conversations said.
    has_recalled: bool,
    /// The running attempt of a model call.
    request: Option<(RecordId, u32)>,
    /// A failed attempt, and when the next one may start.
    failed: Option<(u32, Timestamp)>,
    tokens: u64,
    /// The calls of the newest reply, in order.
    calls: Vec<Seen>,
    append: Append,
}

/// Facts about the append being checked.
#[derive(Default)]
struct Append {
    restarted: bool,
    /// The request that the dead daemon left.
    dead: Option<(RecordId, u32)>,
    ended: bool,
    /// Interrupted calls that a person had approved, and calls that a person is asked about.
    interrupted: Vec<CallId>,
    asked: Vec<CallId>,
    cancelled: bool,
    /// A person has ended the task.
    by_person: bool,
    /// New instructions have come.
    modified: bool,
}

impl Run {
    /// `before`: replies to earlier roots.
    pub(super) fn new(head: TaskStarted, before: usize) -> Self {
        let phases = Phases::new(&head);
        Self { limits: head.limits, head: Some(head), replies: before, phases, ..Self::default() }
    }

    pub(super) fn begin_append(&mut self) {
        self.append = Append::default();
    }

    pub(super) const fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) const fn replies(&self) -> usize {
        self.replies
    }

    pub(super) const fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// It waits for the next attempt of a model call.
    pub(super) fn backs_off(&self, at: Timestamp) -> bool {
        self.failed.is_some_and(|(_, until)| until > at)
    }

    /// The tasks beneath it are held.
    pub(super) fn holds(&self) -> bool {
        self.is_paused() || self.gates.values().any(|kind| *kind == QuestionKind::Restart)
    }

    /// Checks that the transcript has the replies of this task.
    pub(super) fn is_own(&self, entries: &[Entry]) {
        let replies = entries.iter().filter(|entry| matches!(entry, Entry::Reply(_))).count();
        assert_eq!(replies, self.replies, "a transcript has the replies of its own task");
    }

    pub(super) fn end_append(&self) {
        let append = &self.append;
        assert!(
            !append.cancelled || append.ended || append.modified,
            "calls are cancelled only when their task ends"
        );
        if append.ended {
            return;
        }
        assert_eq!(
            append.interrupted, append.asked,
            "a person is asked about exactly the interrupted calls that a person approved"
        );
        if append.restarted {
            let dead = append.dead.is_some() && self.request == append.dead;
            assert!(!dead, "a dead daemon's request counts as running");
            let lost = self.calls.iter().find(|c| c.cut && c.is_unsafe() && !c.is_finished());
            assert!(lost.is_none(), "an interrupted unsafe call has no result: {lost:?}");
        }
    }

    /// Checks that the frozen start of the model's requests has not changed.
    pub(super) fn is_frozen(&self, task: &Task) {
        assert_eq!(Some(&*task.head), self.head.as_ref());
    }

    pub(super) fn record(&mut self, record: &NewRecord) {
        match &record.body {
            RecordBody::ModelRequested(r) => {
                self.has_asked = true;
                self.requested(r, record.at);
            }
            RecordBody::ModelFailed(f) => {
                assert_eq!(self.request.take(), Some((f.item, f.attempt)), "the failed attempt was running");
                self.failed = f.retry_at.map(|at| (f.attempt, at));
            }
            RecordBody::Reply(r) => {
                assert_eq!(
                    self.request.take(),
                    Some((record.id, r.attempt)),
                    "the reply is to the running request"
                );
                self.tokens += r.reply.usage.tokens();
                self.phases.replied(r);
                self.calls = r.calls().map(Seen::new).collect();
                self.replies += 1;
                *self.step_replies.entry(r.step).or_default() += 1;
            }
            RecordBody::PhaseBegan(began) => {
                self.nothing_holds_it();
                self.phases.began(began);
            }
            RecordBody::Imported(imported) => {
                assert!(!self.has_asked, "an earlier conversation comes before the first request");
                self.replies += usize::from(matches!(imported, Imported::Assistant(_)));
            }
            RecordBody::Recalled(_) if self.has_asked => {
                let by_call = self.calls.iter().any(|call| call.running && call.tool == RECALL);
                assert!(by_call, "what is recalled comes before the first request, or by a call");
            }
            RecordBody::Recalled(_) => {
                assert!(!mem::replace(&mut self.has_recalled, true), "a task recalls once");
            }
            RecordBody::Compacted(compacted) => self.compacted(compacted),
            RecordBody::Intervened(Intervened { withdraws, content: Some(_), .. }) => {
                self.modified(*withdraws);
            }
            RecordBody::CallAssessed(p) => {
                // Before the first request it is the task's setup, and later what the engine recalls before a step.
                if !self.has_asked {
                    assert!(self.calls.is_empty(), "a task has one setup");
                    self.calls.push(without_reply(p));
                } else if p.tool == RECALL && self.calls.iter().all(|call| call.id != p.call_id) {
                    self.nothing_holds_it();
                    assert!(self.calls.iter().all(Seen::is_finished), "the calls before are finished");
                    self.calls.push(without_reply(p));
                }
                self.call(p.call_id).assess(p);
            }
            RecordBody::ApprovalRequested(a) => self.call(a.call_id).request_approval(a.id),
            RecordBody::ApprovalDecided(d) => self.call(d.call_id).decide(d.approval_id, d.decision),
            RecordBody::CallStarted(s) => self.started(s),
            RecordBody::CallFinished(f) => self.finished(f),
            RecordBody::QuestionAsked(q) => match q.kind {
                QuestionKind::Agent => {
                    self.phases.asked();
                    let early = self.calls.iter().find(|c| !c.comes_last() && !c.is_finished());
                    assert!(
                        early.is_none() || self.asks_first(),
                        "a question is asked before {early:?} is finished"
                    );
                }
                kind => {
                    let _ = self.gates.insert(q.id, kind);
                    self.append.asked.extend(q.call_id.filter(|_| kind == QuestionKind::Interrupted));
                }
            },
            RecordBody::QuestionAnswered(a) => {
                self.gates.remove(&a.question_id);
            }
            RecordBody::Paused(p) => {
                assert_eq!(self.paused.replace(p.reason), None, "a paused task is not paused again");
            }
            RecordBody::Resumed(r) => {
                assert_eq!(self.paused.take(), Some(r.was));
                self.failed = self.failed.map(|(attempt, at)| (attempt, at.min(record.at)));
            }
            RecordBody::LimitsRaised(l) => self.limits = l.limits,
            RecordBody::Restarted(_) => {
                self.append.restarted = true;
                self.append.dead = self.request;
                self.calls.iter_mut().for_each(Seen::cut);
            }
            RecordBody::Notice(notice) => self.append.by_person |= notice.about == NoticeKind::Stopped,
            RecordBody::TaskEnded(end) => {
                if matches!(end.reason, EndReason::Completed | EndReason::Declined) && !self.append.by_person
                {
                    self.phases.completed();
                }
                let open = self.calls.iter().find(|c| !c.is_finished());
                assert!(open.is_none(), "every call has its result before the end: {open:?}");
                self.append.ended = true;
            }
            _ => {}
        }
    }

    fn finished(&mut self, finished: &CallFinished) {
        self.tokens += finished.usage.as_ref().map_or(0, Usage::tokens);
        let call = self.call(finished.call_id);
        call.finish(finished);
        let asks = finished.outcome == CallOutcome::Interrupted && call.by_person();
        self.append.interrupted.extend(asks.then_some(finished.call_id));
        self.append.cancelled |= finished.outcome == CallOutcome::Cancelled;
        self.completes(finished.call_id);
    }

    fn compacted(&mut self, compacted: &Compacted) {
        for shortened in &compacted.steps {
            let newer = self.step_replies.range(shortened.step + 1..).count();
            assert!(newer >= 2, "the newest steps stay whole");
            let replies = self.step_replies.remove(&shortened.step);
            self.replies -= replies.expect("a step is shortened once");
        }
    }

    /// New instructions withdraw the running request or the awaited one: no reply to it counts any more.
    fn modified(&mut self, withdraws: Option<RecordId>) {
        self.append.modified = true;
        let running = self.request.take().map(|(item, _)| item);
        let was_asking = running.is_some() || self.failed.take().is_some();
        assert_eq!(withdraws.is_some(), was_asking, "a request that is under way is withdrawn");
        assert!(running.is_none() || running == withdraws);
        let step = self.phases.step();
        self.phases.modified(was_asking);
        if self.phases.step() < step {
            let replies = self.step_replies.remove(&step).unwrap_or_default();
            *self.step_replies.entry(step - 1).or_default() += replies;
        }
        let waits = self.calls.iter().find(|call| !call.is_finished() && !call.running && !call.cut);
        assert!(waits.is_none(), "what does not run has its result: {waits:?}");
    }

    pub(super) fn clock_moved(&mut self, moved: ClockMoved) {
        self.failed = self.failed.map(|(attempt, at)| (attempt, at.moved_by(moved.set_by_ms)));
    }

    /// The call may start a sub-task: it runs, or it is a control tool's.
    pub(super) fn may_fork(&self, id: CallId) -> bool {
        let may = |c: &Seen| c.running || c.effect() == EffectClass::Control && !c.is_finished();
        self.calls.iter().any(|c| c.id == id && may(c))
    }

    fn call(&mut self, id: CallId) -> &mut Seen {
        self.calls.iter_mut().find(|c| c.id == id).expect("the call is of the newest reply")
    }

    fn nothing_holds_it(&self) {
        assert_eq!(self.paused, None, "nothing starts during a pause");
        assert!(self.gates.is_empty(), "nothing starts before a blocking question is answered");
    }

    fn requested(&mut self, r: &ModelRequested, at: Timestamp) {
        self.nothing_holds_it();
        let open = self.calls.iter().find(|c| !c.is_finished());
        assert!(open.is_none(), "every call has its result before the next request: {open:?}");
        assert_eq!(self.request, None, "one request at a time");
        match self.failed.take() {
            Some((attempt, retry_at)) => {
                assert_eq!((r.step, r.attempt), (self.phases.step(), attempt + 1), "attempts count up");
                assert!(at >= retry_at, "{at:?} is before {retry_at:?}");
            }
            None => {
                self.phases.requested(r);
                assert!(self.limits.max_steps == 0 || r.step <= self.limits.max_steps, "a step too many");
            }
        }
        self.request = Some((r.item, r.attempt));
    }

    /// `pure` calls run in parallel; every other call runs alone, after all calls before it.
    fn started(&mut self, &CallStarted { call_id: id, attempt, ref sandbox }: &CallStarted) {
        self.nothing_holds_it();
        let place = self.calls.iter().position(|c| c.id == id).expect("the call is of the newest reply");
        let pure = self.calls[place].effect() == EffectClass::Pure;
        let before = self.calls[..place].iter().filter(|c| !c.comes_last() && !c.is_finished());
        for call in before {
            let beside = pure && call.effect() == EffectClass::Pure && call.running;
            assert!(beside, "{id} starts before {call:?} has finished");
        }
        let running: Vec<&Seen> = self.calls.iter().filter(|c| c.running).collect();
        assert!(running.len() < SIDE_BY_SIDE, "too many at once");
        assert!(
            running.iter().all(|c| pure && c.effect() == EffectClass::Pure),
            "{id} starts beside {running:?}"
        );
        let asks = self.calls.iter().find(|c| c.asks() && !c.is_finished());
        assert!(asks.is_none() || !self.asks_first(), "{id} starts before {asks:?} is answered");
        self.calls[place].start(attempt, sandbox);
    }

    fn asks_first(&self) -> bool {
        self.phases.mode() == Some(Mode::Plan)
    }

    /// A task is complete only if no call of the same reply failed.
    fn completes(&self, id: CallId) {
        let completes = self.calls.iter().any(|c| c.id == id && c.completes());
        let fine = self.calls.iter().all(|c| c.went_well() || c.is_complete());
        assert!(!completes || fine, "a task is complete although another call of the reply failed");
    }
}

fn without_reply(assessed: &CallAssessed) -> Seen {
    Seen::new(&CallBlock {
        id: assessed.call_id,
        provider_id: String::new(),
        tool: assessed.tool.clone(),
        arguments: assessed.arguments.clone(),
        opaque: None,
    })
}
