//! The simulated model and tools. The model checks every request; the tools count their executions.

use super::{
    code::Code,
    life::{Event, Life},
    script::End,
};
use crate::{
    audit::paired,
    plan::{self, reply},
};
use abide_engine::{
    Call, CallStage, EditState, Effect, Finding, History, Input, ModelFailure, Replied, Stage, Task, Traces,
    Turn, effects,
};
use abide_protocol::{
    CallId, RecordId, TaskId,
    checkpoint::{CheckpointState, SavedTree, TakenCheckpoint, UndoResult, UndoneFiles},
    memory::RECALL,
    message::CallOutcome,
    record::{CallAssessed, Intervened, NewRecord, RecordBody},
    task::EndReason,
    transcript::{EffectClass, Entry, ResultEntry, ToolResult, Usage},
};
use std::collections::{BTreeMap, BTreeSet};

/// Replaces the text of an elided result. No other part of a sent transcript may change.
const ELIDED: &str = "[This output was left out to fit the model's context.]";
/// Printed by a tool that had its effect.
const RAN: &str = "It ran";
/// Tokens used by each reply.
const TOKENS: u64 = 30;

#[derive(Default)]
pub(super) struct Outside {
    jobs: BTreeMap<u64, Job>,
    last: u64,
    /// The newest committed request of each transcript. The root tasks share one (`None`); each sub-task has
    /// its own.
    sent: BTreeMap<Option<TaskId>, (TaskId, Vec<Entry>)>,
    /// The attempts in which each call had its effect. Survives every daemon.
    acted: BTreeMap<CallId, Vec<u32>>,
    /// The output of each attempt, as kept on disk.
    outputs: BTreeMap<(CallId, u32), String>,
    /// Attempts whose helper is noted on disk. Survives every daemon.
    notes: BTreeSet<(CallId, u32)>,
    effects: BTreeMap<CallId, EffectClass>,
    /// For each inspected call, the output found of its last attempt.
    found_output: BTreeMap<CallId, String>,
    /// Edits that an inspection has found done.
    found_done: BTreeSet<CallId>,
    pub(super) code: Code,
    /// The text of each reply that the current daemon has shown.
    shown: BTreeMap<RecordId, String>,
}

struct Job {
    effect: Effect,
    state: State,
    work: Work,
}

#[derive(PartialEq, Eq)]
enum State {
    /// It waits at the gate: it shows and does nothing.
    Gated,
    Open,
    /// It has ended or was cancelled.
    Over,
}

#[expect(clippy::large_enum_variant, reason = "there are few at a time")]
enum Work {
    /// A checkpoint or an undo.
    Files,
    Model {
        entries: Vec<Entry>,
        turn: Turn,
        end: End,
        shown: String,
        over: bool,
    },
    /// `acts`: it will have its effect. `began`: the time of that has come.
    Tool {
        plan: CallAssessed,
        acts: bool,
        began: bool,
    },
}

/// The key of a task's transcript in [`Outside::sent`].
fn transcript_of(task: &Task) -> Option<TaskId> {
    task.head.parent_id.map(|_| task.id)
}

/// The start of a record's debug output.
pub(super) fn short(record: &NewRecord) -> String {
    let mut words = format!("{:?}", record.body);
    words.truncate(words.floor_char_boundary(90));
    words
}

impl Life {
    // The model.

    /// Sends a model request; nothing of it is shown before its gate opens.
    pub(super) fn ask_model(&mut self, effect: Effect, history: &History) -> u64 {
        let task = history.task(effect.task()).expect("the task is in the newest tree");
        let is_refusable = task.head.parent_id.is_none();
        let begun = self.disk.published.task(effect.task()).is_some() || !is_refusable;
        assert!(begun, "a request is sent before its task's start is committed, which the store may refuse");
        let entries = task.entries().to_vec();
        paired(&entries, false);
        assert!(
            !matches!(entries.last(), None | Some(Entry::Reply(_))),
            "a request ends with an entry that a model can answer"
        );
        self.outside.check_extends_previous(task, &entries);
        for entry in &entries {
            for result in entry.results() {
                self.outside.check_result(result);
            }
        }
        let turn = task.turn();
        let children: Vec<String> = task.children.iter().map(|child| child.short()).collect();
        let end = self.model_decides(turn, entries.len(), &children);
        let shown = self.pick(&["", "Half a"]).to_owned();
        let job = self.job(effect, State::Gated, Work::Model { entries, turn, end, shown, over: false });
        self.in_this_daemon(self.nature.pace, Event::ModelEnds(job));
        job
    }

    pub(super) fn model_ends(&mut self, number: u64) {
        let Some(job) = self.outside.jobs.get_mut(&number) else { return };
        if let Work::Model { over, .. } = &mut job.work {
            *over = true;
        }
        if job.state == State::Open {
            self.deliver_model_outcome(number);
        }
    }

    fn deliver_model_outcome(&mut self, number: u64) {
        let job = self.outside.jobs.get_mut(&number).expect("the model call has ended");
        job.state = State::Over;
        let (effect, Work::Model { turn, end, .. }) = (job.effect, &job.work) else { return };
        let (turn, end) = (*turn, end.clone());
        let input = self.model_outcome(effect, turn, end);
        self.outcome(effect, input);
    }

    /// Opens the gate of a job, because the append that led to it is committed.
    pub(super) fn open_gate(&mut self, number: u64) {
        let job = self.outside.jobs.get_mut(&number).expect("it runs");
        if job.state != State::Gated {
            return;
        }
        job.state = State::Open;
        let effect = job.effect;
        match &job.work {
            Work::Model { entries, over, shown, .. } => {
                let over = *over;
                if let Effect::Model { item, .. } = effect {
                    self.outside.shown.insert(item, shown.clone());
                }
                let task = self.disk.published.task(effect.task()).expect("its request is on disk");
                self.outside.sent.insert(transcript_of(task), (task.id, entries.clone()));
                self.check_committed(effect);
                if over {
                    self.deliver_model_outcome(number);
                }
            }
            Work::Tool { .. } => {
                self.check_committed(effect);
                self.in_this_daemon(self.nature.pace, Event::ToolActs(number));
            }
            Work::Files => {
                self.check_committed(effect);
                self.in_this_daemon(self.nature.pace, Event::FilesEnd(number));
            }
        }
    }

    /// Drops the gate of a job, because the append that led to it has failed.
    pub(super) fn drop_gate(&mut self, number: u64) {
        if self.outside.jobs.get(&number).is_some_and(|job| job.state == State::Gated) {
            self.cancel(number);
        }
    }

    /// Checks that the shown text of a reply that was cut off is recorded: by a stop or the time limit, also
    /// while the next attempt is awaited, or by the failure of the last attempt.
    pub(super) fn check_stops(&mut self, records: &[NewRecord]) {
        for record in records {
            if let RecordBody::Intervened(Intervened { withdraws: Some(item), .. }) = &record.body {
                self.cover("a reply withdrawn");
                if let Some(shown) = self.outside.shown(*item) {
                    let kept = |other: &NewRecord| matches!(&other.body, RecordBody::PartialReply(p) if other.id == *item && p.text == shown);
                    assert!(
                        records.iter().any(kept),
                        "the shown text of a withdrawn reply is lost: {shown:?}"
                    );
                    self.cover("shown text of a withdrawn reply kept");
                }
            }
            let RecordBody::TaskEnded(end) = &record.body else { continue };
            let task = record.task_id.and_then(|id| self.disk.published.task(id));
            let (item, was_broken) = match task.map(|task| &task.stage) {
                Some(Stage::Thinking { item, .. }) => (*item, false),
                Some(Stage::Backoff { item, .. }) => (*item, true),
                _ => continue,
            };
            let Some(shown) = self.outside.shown(item) else { continue };
            let of_task = |other: &&NewRecord| other.task_id == record.task_id;
            // A new attempt shows its own text.
            let is_over = |other: &NewRecord| match &other.body {
                RecordBody::Reply(_) => other.id == item,
                RecordBody::ModelRequested(_) => true,
                _ => false,
            };
            let is_sub_task = task.is_some_and(|task| task.head.parent_id.is_some());
            let is_cut_off = is_sub_task
                || matches!(end.reason, EndReason::Stopped | EndReason::TimeLimit | EndReason::Error);
            if is_cut_off && !records.iter().filter(of_task).any(is_over) {
                let kept = |record: &NewRecord| matches!(&record.body, RecordBody::PartialReply(p) if record.id == item && p.text == shown);
                assert!(records.iter().any(kept), "the shown text of a cut-off reply is lost: {shown:?}");
                self.cover(&format!("shown text kept: {:?}, broken before: {was_broken}", end.reason));
            }
        }
    }

    // Tools.

    /// Prepares a call whose start may not be committed yet: it gets a helper, which is noted on disk, and
    /// does nothing else.
    pub(super) fn prepare_tool(&mut self, effect: Effect, history: &History) -> Option<u64> {
        let Effect::Tool { task, call: id, attempt } = effect else { return None };
        let plan = history.task(task)?.call(id)?.assessed.clone()?;
        self.outside.notes.insert((id, attempt));
        let acts = !self.one_in(self.nature.tool_failures);
        Some(self.job(effect, State::Gated, Work::Tool { plan, acts, began: false }))
    }

    /// Checks that the start of an attempt is on disk before it acts.
    fn check_committed(&mut self, effect: Effect) {
        let (task, id, attempt) = match effect {
            Effect::Tool { task, call, attempt } => (task, call, attempt),
            Effect::Checkpoint { .. } | Effect::Undo { .. } => {
                let is_wanted = effects(&self.disk.published).contains(&effect);
                assert!(is_wanted, "files are worked on before the reason for it is committed: {effect:?}");
                return;
            }
            Effect::Model { task, item, attempt } => {
                let stage = self.disk.published.task(task).map(|task| &task.stage);
                assert!(
                    matches!(stage, Some(Stage::Thinking { item: i, attempt: a, .. }) if (*i, *a) == (item, attempt)),
                    "a model's reply counts only after its request is committed"
                );
                return;
            }
        };
        let call =
            self.disk.published.task(task).and_then(|task| task.call(id)).expect("a running call is on disk");
        assert!(
            matches!(call.stage, CallStage::Started { attempt: on_disk, .. } if on_disk == attempt),
            "a tool acts only after its start is committed"
        );
        self.outside.effects.insert(id, call.effect());
    }

    /// Drops the notes of calls whose results are committed.
    pub(super) fn forget_notes(&mut self, calls: &[CallId]) {
        self.outside.notes.retain(|(call, _)| !calls.contains(call));
    }

    /// Drops the helper notes of calls that have a result or whose start was never committed, as a new daemon
    /// does.
    pub(super) fn drop_settled_notes(&mut self) {
        let open: BTreeSet<CallId> = self
            .disk
            .published
            .live()
            .flat_map(|task| task.calls())
            .filter(|c| !c.is_finished())
            .map(|c| c.block.id)
            .collect();
        let dropped = self.outside.notes.len();
        self.outside.notes.retain(|(call, _)| open.contains(call));
        if self.outside.notes.len() < dropped {
            self.cover("a helper note left by a crash");
        }
    }

    pub(super) fn tool_acts(&mut self, number: u64) {
        let Some(Job { state: State::Open, effect, work: Work::Tool { plan, acts, began } }) =
            self.outside.jobs.get_mut(&number)
        else {
            return;
        };
        if std::mem::replace(began, true) {
            return;
        }
        let Effect::Tool { task, call, attempt } = *effect else { return };
        let (class, acts) = (plan.effect, *acts);
        assert!(self.outside.notes.contains(&(call, attempt)), "a running tool's helper is noted on disk");
        if class == EffectClass::Unsafe {
            self.run_code(task, call, attempt);
        }
        let output = format!("output of {} {attempt}", call.short());
        self.outside.outputs.insert((call, attempt), output);
        // An edit applies only to the content that it was assessed with.
        let done_before = class == EffectClass::Verifiable && self.outside.acted.contains_key(&call);
        if acts && !done_before {
            assert!(
                self.disk.published.task(task).is_some_and(|t| !t.has_ended()),
                "a tool acts after its task has ended"
            );
            let attempts = self.outside.acted.entry(call).or_default();
            attempts.push(attempt);
            assert!(class == EffectClass::Pure || attempts.len() == 1, "{call} acts twice: {attempts:?}");
        }
        self.in_this_daemon(self.nature.pace, Event::ToolEnds(number));
    }

    pub(super) fn tool_ends(&mut self, number: u64) {
        let Some(job @ Job { state: State::Open, .. }) = self.outside.jobs.get_mut(&number) else { return };
        job.state = State::Over;
        let effect = job.effect;
        let Effect::Tool { task, call, attempt } = effect else { return };
        let acted = self.outside.acted.get(&call).is_some_and(|attempts| attempts.contains(&attempt));
        let result = match (acted, self.one_in(self.nature.tool_failures)) {
            (true, false) => ToolResult::success(format!("{RAN}."), None),
            (true, true) => ToolResult::failure(format!("{RAN}, and broke.")),
            (false, _) => ToolResult::failure("It could not."),
        };
        let published = self.disk.published.task(task).and_then(|task| task.call(call));
        let tool = published.map(|call| call.block.tool.clone()).unwrap_or_default();
        if tool == RECALL {
            let recalled = if acted { self.recalled() } else { None };
            self.outcome(effect, Input::Recalled { task, call, attempt, recalled, duration_ms: 3 });
            return;
        }
        let (outcome, duration_ms) = (CallOutcome::Done, 3);
        let read_results = self.results_read(task, call);
        // Reading asks a model here.
        let usage = (acted && tool == "read").then(|| Usage { output: 1, ..Usage::default() });
        let ended =
            Input::CallFinished { task, call, attempt, outcome, result, duration_ms, read_results, usage };
        self.outcome(effect, ended);
    }

    // Files.

    pub(super) fn work_on_files(&mut self, effect: Effect) -> u64 {
        self.job(effect, State::Gated, Work::Files)
    }

    pub(super) fn files_end(&mut self, number: u64) {
        let Some(job @ Job { state: State::Open, .. }) = self.outside.jobs.get_mut(&number) else { return };
        job.state = State::Over;
        let effect = job.effect;
        let saved = SavedTree { commit: format!("{:x}", self.dice.random()), tree: "t".to_owned() };
        let input = match effect {
            Effect::Checkpoint { task, number } => {
                let state = match self.roll(6) {
                    0 => CheckpointState::Impossible("a repository of its own".to_owned()),
                    1 if number > 0 => CheckpointState::Unchanged,
                    _ => CheckpointState::Taken(TakenCheckpoint { others: None, edits: None, saved }),
                };
                if self.disk.published.root().is_some_and(Task::has_ended) {
                    self.cover("a checkpoint after its task's end");
                }
                self.cover("a checkpoint");
                Input::Checkpointed { task, number, state }
            }
            Effect::Undo { undo, .. } => {
                let result = match self.roll(3) {
                    0 => UndoResult::Failed("it cannot be done".to_owned()),
                    _ => {
                        let (before, after) = (saved.clone(), saved);
                        UndoResult::Done(UndoneFiles {
                            before,
                            after,
                            restored: 1,
                            kept: Vec::new(),
                            notes: Vec::new(),
                        })
                    }
                };
                if self.disk.published.root().is_some_and(|root| !root.has_ended()) {
                    self.cover("an undo of a paused task");
                }
                self.cover("an undo");
                Input::Undone { undo, result }
            }
            Effect::Model { .. } | Effect::Tool { .. } => return,
        };
        self.outcome(effect, input);
    }

    /// Inspects a call that had started and was interrupted.
    pub(super) fn inspect(&mut self, call: &Call) -> Finding {
        let (id, attempt) = (call.block.id, call.attempts);
        let edit = match call.effect() {
            EffectClass::Verifiable if self.one_in(6) => EditState::Unknown,
            EffectClass::Verifiable if self.outside.acted.contains_key(&id) => EditState::Done,
            EffectClass::Verifiable => EditState::NotDone,
            _ => EditState::NotAnEdit,
        };
        if edit == EditState::Done {
            self.outside.found_done.insert(id);
            self.cover("an edit found done");
        }
        let output = self.outside.outputs.get(&(id, attempt)).cloned().unwrap_or_default();
        self.outside.found_output.insert(id, output.clone());
        Finding { call: id, output, edit }
    }

    pub(super) fn check_starts(&self, records: &[NewRecord]) {
        for record in records {
            if let RecordBody::CallStarted(s) = &record.body {
                assert!(
                    !self.outside.found_done.contains(&s.call_id),
                    "an edit that was found done runs again"
                );
            }
        }
    }

    // Jobs.
    fn job(&mut self, effect: Effect, state: State, work: Work) -> u64 {
        self.outside.last += 1;
        self.outside.jobs.insert(self.outside.last, Job { effect, state, work });
        self.outside.last
    }

    /// Cancels a job. A tool's effect may happen just before.
    pub(super) fn cancel(&mut self, number: u64) {
        if self.one_in(3) {
            self.tool_acts(number);
        }
        if let Some(job) = self.outside.jobs.get_mut(&number) {
            if let (State::Gated, Effect::Tool { call, attempt, .. }) = (&job.state, job.effect) {
                self.outside.notes.remove(&(call, attempt));
                self.covered.insert("a prepared call that never started".to_owned());
            }
            job.state = State::Over;
        }
    }

    /// The daemon has died, and the helpers kill the tools' processes.
    pub(super) fn kill_jobs(&mut self) {
        let open: Vec<u64> =
            self.outside.jobs.iter().filter(|(_, job)| job.state == State::Open).map(|(n, _)| *n).collect();
        for job in open {
            self.cancel(job);
        }
        self.outside.jobs.clear();
        self.outside.shown.clear();
    }

    fn model_outcome(&mut self, effect: Effect, turn: Turn, end: End) -> Input {
        let Effect::Model { task, item, .. } = effect else { panic!("not a model call: {effect:?}") };
        match end {
            End::Failed(failure) => {
                let shown = self.outside.shown(item).unwrap_or_default();
                let failure = ModelFailure { shown, ..failure };
                Input::ModelFailed { task, item, failure, traces: Traces::default() }
            }
            End::Replied { stop, text, plans, unassessed } => {
                let mut mint = self.mint();
                let ids: Vec<CallId> = plans.iter().map(|_| CallId(mint.uuid())).collect();
                let mut reply = reply(stop, &text, &plans, &ids, TOKENS);
                let reading = turn.read(&mut reply, &mut mint);
                let mut assessed = plan::assess_all(&plans, &ids, &reading);
                if unassessed {
                    assessed.clear();
                }
                let replied = Replied { reply, reading, assessed, traces: Traces::default(), window: None };
                Input::Replied { task, item, replied: Box::new(replied) }
            }
        }
    }
}

/// The entry is the one that was sent before, with its outputs or without.
fn is_kept(was: &Entry, is: &Entry) -> bool {
    let elided = was.results().len() == is.results().len()
        && !is.results().is_empty()
        && was.results().iter().zip(is.results()).all(|(was, is)| {
            was == is
                || was.call_id == is.call_id
                    && was.provider_id == is.provider_id
                    && was.ok == is.ok
                    && is.text == ELIDED
        });
    let recalled = matches!((was, is), (Entry::Note(was), Entry::Note(is))
        if was.starts_with("<recalled>") && is.starts_with("[What was recalled was left out"));
    was == is || elided || recalled
}

/// What is left of a step in a transcript.
fn is_step_line(entry: &Entry) -> bool {
    let Entry::Note(text) = entry else { return false };
    let number = text.strip_prefix("Step ").and_then(|rest| rest.split_once(": "));
    number.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

const fn said(entry: &Entry) -> bool {
    matches!(entry, Entry::User(_))
}

impl Outside {
    /// Whether the job may still act or show output.
    pub(super) fn is_alive(&self, job: u64) -> bool {
        self.jobs.get(&job).is_some_and(|job| job.state != State::Over)
    }

    /// The shown text of a reply.
    pub(super) fn shown(&self, item: RecordId) -> Option<String> {
        self.shown.get(&item).filter(|text| !text.is_empty()).cloned()
    }

    /// The conversation was deleted.
    pub(super) fn forget(&mut self) {
        *self = Self { last: self.last, ..Self::default() };
    }

    /// Checks that each request extends the one before; only outputs and what was recalled may be elided, and old
    /// steps be replaced by lines.
    fn check_extends_previous(&self, task: &Task, entries: &[Entry]) {
        let own = transcript_of(task);
        if own.is_some() {
            let prompt = Entry::User(task.head.original_prompt.clone());
            assert_eq!(entries.first(), Some(&prompt), "a sub-task's transcript begins with its own prompt");
        }
        let Some((before_task, before)) = self.sent.get(&own) else { return };
        let same = before.iter().zip(entries).take_while(|(was, is)| is_kept(was, is)).count();
        let (before, entries) = (&before[same..], &entries[same..]);
        let lines = entries.iter().take_while(|entry| is_step_line(entry) || said(entry)).count();
        let (lines, rest) = entries.split_at(if before.is_empty() { 0 } else { lines });
        let extends = |whole: &[Entry]| {
            rest.len() >= whole.len() && whole.iter().zip(rest).all(|(was, is)| is_kept(was, is))
        };
        let shortened = (0..=before.len()).find(|steps| extends(&before[*steps..]));
        let shortened =
            shortened.unwrap_or_else(|| panic!("sent entries changed: {before:?} became {entries:?}"));
        let words =
            |entries: &[Entry]| entries.iter().filter(|entry| said(entry)).cloned().collect::<Vec<_>>();
        assert_eq!(words(&before[..shortened]), words(lines), "a person's words are never left out");
        assert_eq!(
            shortened > 0,
            lines.iter().any(is_step_line),
            "old steps are replaced by lines about them"
        );
        let whole = rest.iter().filter(|entry| matches!(entry, Entry::Reply(_))).count();
        assert!(shortened == 0 || whole >= 2, "the newest steps stay whole");
        assert!(
            *before_task == task.id || rest.len() > before.len() - shortened,
            "a root task adds its prompt to the transcript"
        );
    }

    /// Checks that a result agrees with what the tool did.
    fn check_result(&self, result: &ResultEntry) {
        let Some(class) = self.effects.get(&result.call_id) else {
            assert!(!self.acted.contains_key(&result.call_id));
            assert!(!result.text.contains(RAN), "the result of a call that never ran: {result:?}");
            return;
        };
        if result.text == ELIDED || result.tool == RECALL {
            return;
        }
        let acted = self.acted.get(&result.call_id);
        let done = result.text.contains("found the file as it should be");
        let unknown = result.text.contains("effects are unknown");
        if result.text.contains(RAN) || done {
            assert!(acted.is_some(), "the result says that the call ran, and it did not: {result:?}");
        }
        if acted.is_some() && *class != EffectClass::Pure {
            assert!(
                result.text.contains(RAN) || done || unknown,
                "the call ran, and its result does not say so: {result:?}"
            );
        }
        assert_eq!(
            result.ok && *class != EffectClass::Control,
            (result.text.contains(RAN) && result.ok) || done
        );
        if result.text.contains("Interrupted: ") {
            assert!(unknown && !result.ok, "{result:?}");
            let found_output = self.found_output.get(&result.call_id).expect("the call was inspected");
            assert!(result.text.contains(found_output.as_str()), "{result:?}");
        }
    }

    pub(super) fn check_at_end(&self, disk: &super::disk::Disk) {
        let entries = disk.published.root().map(Task::entries).unwrap_or_default();
        let mut answered: BTreeSet<CallId> = BTreeSet::new();
        for entry in entries {
            for result in entry.results() {
                self.check_result(result);
                answered.insert(result.call_id);
            }
        }
        // A sub-task's transcript is dropped at its end, and shortened steps have no results in it: those are
        // looked up in the records.
        let is_shortened = |task: TaskId| {
            disk.records.iter().any(|record| {
                record.task_id == Some(task)
                    && matches!(&record.body, RecordBody::Compacted(compacted) if !compacted.steps.is_empty())
            })
        };
        let left_out: BTreeSet<TaskId> = disk
            .records
            .iter()
            .filter_map(|record| record.task_id)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter(|task| disk.is_sub_task(*task) || is_shortened(*task))
            .collect();
        // The model reads what was recalled before a step, and no result.
        let recalls: BTreeSet<CallId> = disk
            .records
            .iter()
            .filter_map(|record| match &record.body {
                RecordBody::CallAssessed(call) if call.tool == RECALL => Some(call.call_id),
                _ => None,
            })
            .collect();
        answered.extend(disk.records.iter().filter_map(|record| match &record.body {
            RecordBody::CallFinished(f) if recalls.contains(&f.call_id) => Some(f.call_id),
            RecordBody::CallFinished(f) if record.task_id.is_some_and(|id| left_out.contains(&id)) => {
                Some(f.call_id)
            }
            _ => None,
        }));
        assert!(self.acted.keys().all(|call| answered.contains(call)), "every call that ran has a result");
        assert!(
            self.notes.iter().all(|(call, _)| answered.contains(call)),
            "a helper note is left of a call that never started"
        );
    }
}
