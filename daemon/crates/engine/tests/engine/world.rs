//! A conversation under test, with helpers that act as daemon, model, tools and people.

use crate::{
    audit::Audit,
    plan::{self, Plan, reply},
};
use abide_engine::{
    Call, CallStage, Command, EditState, Effect, Finding, Fork, History, Input, Intervention, Mint,
    ModelFailure, Refusal, Replied, Shown, Stage, Start, Task, Traces, accept, advance, effects, status,
    view, wake_at,
};
use abide_protocol::{
    CallId, ConversationId, JsonText, QuestionId, RecordId, TaskId, Timestamp,
    inbox::{Approval, Decision, Question},
    memory::MemoryUse,
    message::CallOutcome,
    record::{
        By, ClockMoved, ConversationCreated, Interruption, ModelErrorKind, NewRecord, RecordBody,
        TaskStarted, UserMessage, Via,
    },
    task::{AgentTask, EndReason, Limits, Mode, RestartPolicy, Status},
    transcript::{EffectClass, Entry, Risk, StopReason, Tier, ToolResult, ToolSpec},
};
use std::collections::BTreeMap;

/// One conversation, its records and the time.
pub(crate) struct World {
    pub(crate) history: History,
    pub(crate) records: Vec<NewRecord>,
    pub(crate) now: Timestamp,
    /// The task that the helpers use: the newest, unless a test sets another.
    pub(crate) id: TaskId,
    /// Tokens that each reply uses.
    pub(crate) tokens: u64,
    audit: Audit,
    entropy: u64,
}

/// Who answers and decides, where it does not matter.
pub(crate) fn somebody() -> By {
    By { via: Via::Socket, name: String::new() }
}

/// The start time of every world.
pub(crate) const DAWN: Timestamp = Timestamp(1_700_000_000_000);

impl World {
    /// A conversation without a task.
    pub(crate) fn new(seed: u64) -> Self {
        let id = TaskId(Mint::new(DAWN, seed).uuid());
        let (history, audit) = (History::default(), Audit::default());
        Self { history, records: Vec::new(), now: DAWN, id, tokens: 0, audit, entropy: seed }
    }

    /// An agent's task with its first model call running.
    pub(crate) fn started() -> Self {
        Self::started_with(|_| {})
    }

    pub(crate) fn started_with(change: impl FnOnce(&mut TaskStarted)) -> Self {
        let mut world = Self::new(1);
        let mut head = head();
        change(&mut head);
        world.start(head).expect("the first task starts");
        world
    }

    pub(crate) fn mint(&mut self) -> Mint {
        self.entropy = self.entropy.wrapping_add(0x5851_F42D_4C95_7F2D);
        Mint::new(self.now, self.entropy)
    }

    /// Handles an input as one append; a refusal changes nothing.
    pub(crate) fn attempt(&mut self, input: impl Into<Input>) -> Result<Vec<NewRecord>, Refusal> {
        self.attempt_shown(input, Shown::new())
    }

    /// The same for an input that cuts off what people were shown.
    fn attempt_shown(&mut self, input: impl Into<Input>, shown: Shown) -> Result<Vec<NewRecord>, Refusal> {
        let mut mint = self.mint();
        let mut records = accept(&self.history, input, shown, &mut mint)?;
        records.iter().for_each(|record| self.history.fold(record));
        records.append(&mut advance(&mut self.history, &mut mint));
        self.keep(&records);
        Ok(records)
    }

    fn keep(&mut self, records: &[NewRecord]) {
        self.audit.append(records, &self.history, true);
        self.records.extend_from_slice(records);
    }

    pub(crate) fn input(&mut self, input: impl Into<Input>) -> Vec<NewRecord> {
        self.input_shown(input, Shown::new())
    }

    pub(crate) fn input_shown(&mut self, input: impl Into<Input>, shown: Shown) -> Vec<NewRecord> {
        self.attempt_shown(input, shown).expect("the engine takes it")
    }

    pub(crate) fn start(&mut self, head: TaskStarted) -> Result<Vec<NewRecord>, Refusal> {
        let task = TaskId(self.mint().uuid());
        let appended = self.attempt(Command::Start(Box::new(Start {
            task,
            conversation: Some(facts()),
            head,
            imported: Vec::new(),
            recalled: None,
            setup: None,
        })))?;
        self.id = task;
        Ok(appended)
    }

    /// Starts a task with any head beneath another one, which no input does; the helpers use it from here on.
    pub(crate) fn fork(&mut self, parent: TaskId, change: impl FnOnce(&mut TaskStarted)) -> TaskId {
        let (mut mint, depth) = (self.mint(), self.history.task(parent).expect("a parent").head.depth + 1);
        let (task, mut head) =
            (TaskId(mint.uuid()), TaskStarted { parent_id: Some(parent), depth, ..head() });
        change(&mut head);
        let prompt = UserMessage { text: head.original_prompt.clone() };
        let bodies = [RecordBody::TaskStarted(Box::new(head)), RecordBody::UserMessage(prompt)];
        let record = |body| NewRecord { id: mint.record_id(), task_id: Some(task), at: self.now, body };
        let mut records: Vec<NewRecord> = bodies.into_iter().map(record).collect();
        records.iter().for_each(|record| self.history.fold(record));
        records.append(&mut advance(&mut self.history, &mut mint));
        self.keep(&records);
        self.id = task;
        task
    }

    /// The code of a call of this task asks for a sub-task.
    pub(crate) fn fork_by_line(
        &mut self,
        call: CallId,
        attempt: u32,
        index: u32,
    ) -> Result<Vec<NewRecord>, Refusal> {
        let (parent, task) = (self.id, TaskId(self.mint().uuid()));
        let prompt = "Look at a half.".to_owned();
        self.attempt(Input::Fork(Fork {
            parent,
            call,
            attempt,
            index,
            task,
            prompt,
            tools: None,
            place: None,
        }))
    }

    // State.

    pub(crate) fn task(&self) -> &Task {
        self.history.task(self.id).expect("the task is of the newest tree")
    }

    pub(crate) fn status(&self) -> Status {
        status(self.task())
    }

    pub(crate) fn end(&self) -> Option<EndReason> {
        match &self.task().stage {
            Stage::Ended { end, .. } => Some(end.reason),
            _ => None,
        }
    }

    pub(crate) fn summary(&self) -> Option<&str> {
        match &self.task().stage {
            Stage::Ended { end, .. } => end.summary.as_deref(),
            _ => None,
        }
    }

    pub(crate) fn wake_at(&self) -> Option<Timestamp> {
        wake_at(self.task())
    }

    /// The running attempt of a model call.
    pub(crate) fn item(&self) -> RecordId {
        match self.task().stage {
            Stage::Thinking { item, .. } => item,
            ref other => panic!("no model call is under way: {other:?}"),
        }
    }

    /// The task as clients see it.
    pub(crate) fn seen(&self) -> AgentTask {
        view(ConversationId(Mint::new(DAWN, 0).uuid()), &self.history, self.task())
    }

    pub(crate) fn is_thinking(&self) -> bool {
        matches!(self.task().stage, Stage::Thinking { .. })
    }

    /// Running calls, each with its attempt.
    pub(crate) fn running(&self) -> Vec<(CallId, u32)> {
        let tools = effects(&self.history).into_iter();
        tools
            .filter_map(
                |e| if let Effect::Tool { call, attempt, .. } = e { Some((call, attempt)) } else { None },
            )
            .collect()
    }

    /// The only open question.
    pub(crate) fn question(&self) -> Question {
        let open: Vec<_> = self.task().questions.values().collect();
        assert_eq!(open.len(), 1, "one question is open: {open:?}");
        open[0].clone()
    }

    /// The open approval of a call.
    pub(crate) fn approval(&self, call: CallId) -> Approval {
        let mut approvals = self.task().approvals.values();
        approvals.find(|a| a.call_id == call).expect("the call waits for approval").clone()
    }

    /// A call's result as the model reads it, once it is in the transcript.
    pub(crate) fn result(&self, call: CallId) -> Option<String> {
        self.task().entries().iter().find_map(|e| match e {
            Entry::Result(r) if r.call_id == call => Some(r.text.clone()),
            _ => None,
        })
    }

    pub(crate) fn outcome(&self, call: CallId) -> Option<CallOutcome> {
        self.records.iter().find_map(|r| match &r.body {
            RecordBody::CallFinished(f) if f.call_id == call => Some(f.outcome),
            _ => None,
        })
    }

    /// The number of attempts of a call.
    pub(crate) fn starts(&self, call: CallId) -> usize {
        self.count(|body| matches!(body, RecordBody::CallStarted(s) if s.call_id == call))
    }

    pub(crate) fn count(&self, is: impl Fn(&RecordBody) -> bool) -> usize {
        self.records.iter().filter(|r| is(&r.body)).count()
    }

    /// The text of the last notice.
    pub(crate) fn notice(&self) -> Option<&str> {
        self.records
            .iter()
            .rev()
            .find_map(|r| if let RecordBody::Notice(n) = &r.body { Some(n.text.as_str()) } else { None })
    }

    /// The transcript, one word for each entry: `user`, `note`, `partial`, `reply`, `read:ok`,
    /// `shell:failed`.
    pub(crate) fn transcript(&self) -> Vec<String> {
        let word = |entry: &Entry| match entry {
            Entry::User(_) => "user".to_owned(),
            Entry::Note(_) => "note".to_owned(),
            Entry::Partial(_) => "partial".to_owned(),
            Entry::Reply(_) => "reply".to_owned(),
            Entry::Result(r) => format!("{}:{}", r.tool, if r.ok { "ok" } else { "failed" }),
            Entry::Results(r) => format!("results:{}", r.len()),
        };
        self.task().transcript().entries().iter().map(word).collect()
    }

    // Events.

    pub(crate) fn reply(&mut self, text: &str, calls: &[Plan]) -> Vec<CallId> {
        let stop = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls };
        self.reply_as(stop, text, calls)
    }

    pub(crate) fn reply_as(&mut self, stop: StopReason, text: &str, calls: &[Plan]) -> Vec<CallId> {
        let (input, ids) = self.replied(self.item(), stop, text, calls);
        self.input(input);
        ids
    }

    /// The outcome of a model call, and the ids of its calls.
    pub(crate) fn replied(
        &mut self,
        item: RecordId,
        stop_reason: StopReason,
        text: &str,
        calls: &[Plan],
    ) -> (Input, Vec<CallId>) {
        let mut mint = self.mint();
        let ids: Vec<CallId> = calls.iter().map(|_| CallId(mint.uuid())).collect();
        let mut reply = reply(stop_reason, text, calls, &ids, self.tokens);
        let reading = self.task().turn().read(&mut reply, &mut mint);
        let assessed = plan::assess_all(calls, &ids, &reading);
        let ids = ids.into_iter().chain(reading.calls.iter().map(|call| call.id)).collect();
        let replied = Replied { reply, reading, assessed, traces: Traces::default(), window: None };
        (Input::Replied { task: self.id, item, replied: Box::new(replied) }, ids)
    }

    pub(crate) fn fail(
        &mut self,
        kind: ModelErrorKind,
        retryable: bool,
        retry_after_ms: Option<u64>,
    ) -> Vec<NewRecord> {
        let failure = ModelFailure {
            kind,
            message: format!("it failed: {kind:?}"),
            retryable,
            retry_after_ms,
            sent: kind != ModelErrorKind::Unreachable,
            shown: String::new(),
        };
        let traces = Traces::default();
        self.input(Input::ModelFailed { task: self.id, item: self.item(), failure, traces })
    }

    /// The outcome of a call's attempt.
    pub(crate) fn finished(&self, call: CallId, attempt: u32, ok: bool) -> Input {
        let result = if ok { ToolResult::success("fine", None) } else { ToolResult::failure("it broke") };
        Input::CallFinished {
            task: self.id,
            call,
            attempt,
            outcome: CallOutcome::Done,
            result,
            duration_ms: 1,
            read_results: Vec::new(),
            usage: None,
        }
    }

    /// Ends the running attempt of a call.
    pub(crate) fn finish(&mut self, call: CallId, ok: bool) {
        let attempt = self.running().iter().find(|(c, _)| *c == call).expect("the call is under way").1;
        self.input(self.finished(call, attempt, ok));
    }

    pub(crate) fn answer(
        &mut self,
        question: QuestionId,
        response: Option<&str>,
    ) -> Result<Vec<NewRecord>, Refusal> {
        self.attempt(Command::Answer {
            task: self.id,
            question,
            response: response.map(str::to_owned),
            by: None,
        })
    }

    pub(crate) fn decide(&mut self, call: CallId, decision: Decision) -> Vec<NewRecord> {
        let approval = self.approval(call).id;
        self.input(Command::Decide { approval, decision, note: None, rule: None, by: somebody() })
    }

    pub(crate) fn pause(&mut self) {
        self.input(Command::Pause { task: self.id });
    }

    pub(crate) fn resume(&mut self) {
        self.input(Command::Resume { task: self.id, by: None });
    }

    pub(crate) fn stop(&mut self, shown: &str) {
        let shown = self.shown(shown);
        self.input_shown(Command::Stop { task: self.id }, shown);
    }

    /// A person changes the course of the task; `shown` is what clients saw of its reply.
    pub(crate) fn intervene(
        &mut self,
        intervention: Intervention,
        shown: &str,
    ) -> Result<Vec<NewRecord>, Refusal> {
        let by = By { via: Via::Socket, name: "test".to_owned() };
        let shown = self.shown(shown);
        self.attempt_shown(Command::Intervene { task: self.id, intervention, by }, shown)
    }

    /// This text, as shown of the reply that is under way, if there is one.
    fn shown(&self, text: &str) -> Shown {
        match self.task().stage {
            Stage::Thinking { item, .. } | Stage::Backoff { item, .. } => {
                Shown::from([(item, text.to_owned())])
            }
            _ => Shown::new(),
        }
    }

    /// The machine sleeps, or the clock is set; the record of it.
    pub(crate) fn clock_moves(&mut self, slept_ms: u64, set_by_ms: i64) {
        self.now = self.now.plus(slept_ms).moved_by(set_by_ms);
        let body = RecordBody::ClockMoved(ClockMoved { slept_ms, set_by_ms });
        let id = Mint::new(self.now, 7).record_id();
        let record = NewRecord { id, task_id: Some(self.id), at: self.now, body };
        self.history.fold(&record);
        self.keep(&[record]);
    }

    pub(crate) fn pass(&mut self, ms: u64) {
        self.now = self.now.plus(ms);
    }

    /// Advances the time to the task's wake-up time, and wakes it.
    pub(crate) fn sleep(&mut self) -> Vec<NewRecord> {
        self.now = self.now.max(self.wake_at().expect("the task has a moment to wait for"));
        self.wake()
    }

    pub(crate) fn wake(&mut self) -> Vec<NewRecord> {
        self.input(Input::Wake)
    }

    /// The daemon dies; a minute later another one loads the records. The findings know of no edit.
    pub(crate) fn restart(&mut self) {
        self.restart_finding(EditState::Unknown, "");
    }

    /// The same, with this finding for each interrupted call.
    pub(crate) fn restart_finding(&mut self, edit: EditState, output: &str) {
        self.restart_with(|call| Finding { call, output: output.to_owned(), edit });
    }

    pub(crate) fn restart_with(&mut self, mut finding: impl FnMut(CallId) -> Finding) {
        self.pass(60_000);
        self.history = self.replayed();
        let is_started = |call: &&Call| matches!(call.stage, CallStage::Started { .. });
        let started = self.history.live().flat_map(|task| task.calls().iter().filter(is_started));
        let findings = started.map(|call| finding(call.block.id)).collect();
        self.input(Input::Interrupted { cause: Interruption::DaemonRestarted, findings, ran_until: None });
    }

    /// An interruption without findings.
    pub(crate) fn interrupted(&self, cause: Interruption) -> Input {
        Input::Interrupted { cause, findings: Vec::new(), ran_until: None }
    }

    /// The state folded from all records; from a snapshot on, it is the same.
    pub(crate) fn replayed(&self) -> History {
        let folded = |mut history: History, records: &[NewRecord]| {
            records.iter().for_each(|record| history.fold(record));
            history
        };
        let whole = folded(History::default(), &self.records);
        if let Some(snapshot) = whole.snapshot() {
            let begins = |record: &NewRecord| {
                matches!(record.body, RecordBody::TaskStarted(_)) && record.task_id == Some(snapshot.root)
            };
            let from = self.records.iter().position(begins).expect("its root is recorded");
            let encoded = snapshot.encode().expect("it can be encoded");
            let resumed = History::from_snapshot(&encoded).expect("it was encoded");
            assert_eq!(folded(resumed, &self.records[from..]), whole, "a snapshot leads to the same state");
        }
        whole
    }
}

pub(crate) fn facts() -> ConversationCreated {
    ConversationCreated {
        title: "A title".to_owned(),
        workspace: "/w".to_owned(),
        mode: None,
        model: None,
        persona: None,
        memory: MemoryUse::Normal,
    }
}

/// A mode's built-in templates.
pub(crate) fn prompts(mode: Mode) -> BTreeMap<String, String> {
    let templates = abide_engine::prompt::templates(mode).into_iter();
    templates.map(|(note, text)| (note.name().to_owned(), text.to_owned())).collect()
}

/// A tool that is not a control tool.
pub(crate) fn tool() -> ToolSpec {
    ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file.".to_owned(),
        parameters: JsonText::empty(),
        effect: EffectClass::Pure,
        risk: Risk::Low,
        tier: Tier::Allow,
    }
}

/// An agent's task without limits.
pub(crate) fn head() -> TaskStarted {
    TaskStarted {
        parent_id: None,
        mode: Mode::Agent,
        model: "scripted/script".to_owned(),
        system_prompt: String::new(),
        tools: Vec::new(),
        workspace: "/w".to_owned(),
        environment: BTreeMap::new(),
        limits: Limits {
            max_steps: 0,
            max_duration_secs: 0,
            step_delay_ms: 0,
            max_tokens: 0,
            max_cost_micros: 0,
            question_timeout_secs: 0,
            ..Limits::default()
        },
        approvals: abide_protocol::task::Approvals::Ask,
        restart: RestartPolicy::Resume,
        original_prompt: "Do it.".to_owned(),
        metadata: None,
        client_message: None,
        depth: 0,
        by: None,
        prompts: BTreeMap::new(),
        persona: None,
        instructions: Vec::new(),
        compact_at_tokens: 0,
        external_id: None,
        files: Vec::new(),
        checkpoints: false,
        parks: true,
        title: String::new(),
        forked_by: None,
        child_system_prompt: None,
    }
}
