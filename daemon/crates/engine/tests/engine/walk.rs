//! Random lives of a conversation: commands, outcomes (also late ones and the same one twice), time, and deaths of the daemon,
//! in any order. `audit` looks at every append.
//!
//! `ABIDE_SEED=n cargo test -p abide-engine walk` runs one seed and prints what happens.

use crate::{
    plan::{Plan, ask, complete, read, shell, update, write},
    world::{World, head},
};
use abide_engine::{
    EditState, Effect, Finding, Input, Mint, ModelFailure, Refusal, effects, status, wake_at,
};
use abide_protocol::{
    ApprovalId, QuestionId,
    inbox::{Decision, QuestionKind},
    message::CallOutcome,
    record::{ModelErrorKind, TaskStarted},
    task::{EndReason, Limits, Mode, PauseReason, RestartPolicy, Status},
    transcript::{StopReason, ToolResult},
};
use std::{collections::HashSet, panic};

const SEEDS: u64 = 3000;
const STEPS: usize = 80;

#[test]
fn random_lives_keep_every_promise() {
    if let Ok(seed) = std::env::var("ABIDE_SEED") {
        return Walk::new(seed.parse().expect("ABIDE_SEED is a number"), true).run();
    }
    let mut seen = HashSet::new();
    for seed in 0..SEEDS {
        let life = panic::catch_unwind(|| {
            let mut walk = Walk::new(seed, false);
            walk.run();
            walk.seen
        });
        match life {
            Ok(statuses) => seen.extend(statuses),
            Err(cause) => {
                eprintln!("run it again: ABIDE_SEED={seed} cargo test -p abide-engine walk -- --nocapture");
                panic::resume_unwind(cause);
            }
        }
    }
    let unseen: Vec<_> = everything().into_iter().filter(|name| !seen.contains(name)).collect();
    assert!(unseen.is_empty(), "the lives never get to {unseen:?}");
}

/// What the lives have to come by; otherwise they prove little.
fn everything() -> HashSet<String> {
    use EndReason as E;
    use QuestionKind as Q;
    let statuses =
        Status::ALL.into_iter().filter(|s| *s != Status::WaitingChildren).map(|s| format!("{s:?}"));
    let ends =
        [E::Completed, E::StepLimit, E::TimeLimit, E::Stopped, E::QuestionTimeout, E::Budget, E::Error];
    let pauses = [PauseReason::User, PauseReason::Budget, PauseReason::CrashLoop, PauseReason::Restart];
    let questions = [Q::Agent, Q::Loop, Q::Budget, Q::Interrupted, Q::Restart];
    let ends = ends.map(|e| format!("{e:?}")).into_iter();
    let pauses = pauses.map(|p| format!("{p:?}")).into_iter();
    statuses.chain(ends).chain(pauses).chain(questions.map(|q| format!("{q:?}"))).collect()
}

struct Walk {
    world: World,
    dice: Mint,
    talks: bool,
    /// A model that likes to do the same again.
    stubborn: bool,
    /// Everything that ever was under way, with questions and approvals that ever were open.
    effects: Vec<Effect>,
    questions: Vec<QuestionId>,
    approvals: Vec<ApprovalId>,
    seen: HashSet<String>,
}

impl Walk {
    fn new(seed: u64, talks: bool) -> Self {
        let mut world = World::new(seed);
        let dice = Mint::new(world.now, seed.wrapping_mul(0x9E37_79B9));
        world.tokens = 30;
        let (effects, questions, approvals, seen) = <_>::default();
        Self { world, dice, talks, stubborn: seed.is_multiple_of(4), effects, questions, approvals, seen }
    }

    /// One of `0..n`.
    fn roll(&mut self, n: usize) -> usize {
        usize::try_from(self.dice.random() % n as u64).expect("a small number")
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.roll(from.len())])
    }

    fn run(&mut self) {
        self.start();
        for _ in 0..STEPS {
            if self.roll(4) > 0 {
                let ms = self.roll(2000) as u64;
                self.world.pass(ms);
            }
            self.step();
            self.look();
        }
        self.world.stop_if_live();
        assert_eq!(self.world.replayed(), self.world.history);
    }

    fn step(&mut self) {
        match self.roll(100) {
            0..55 => self.outcome_under_way(),
            55..62 => self.outcome_of_any_time(),
            62..75 => self.person(),
            75..80 => self.wake(),
            80..84 => {
                let task = self.world.id;
                self.input(Input::Pause { task });
            }
            84..91 => {
                let task = self.world.id;
                self.input(Input::Resume { task });
            }
            91..96 => self.restart(),
            96 => {
                let (task, shown) = (self.world.id, ["", "Half a"][self.roll(2)].to_owned());
                self.input(Input::Stop { task, shown });
            }
            _ => self.start(),
        }
    }

    fn look(&mut self) {
        let task = self.world.task();
        self.seen.insert(format!("{:?}", status(task)));
        self.seen.extend(self.world.end().map(|end| format!("{end:?}")));
        self.seen.extend(task.paused.map(|pause| format!("{pause:?}")));
        self.seen.extend(task.questions.values().map(|q| format!("{:?}", q.kind)));
        self.questions.extend(task.questions.keys());
        self.approvals.extend(task.approvals.keys());
        self.effects.extend(effects(&self.world.history));
    }

    /// A refusal changes nothing: the audit compares the state with the records.
    fn input(&mut self, input: Input) -> Option<Refusal> {
        if self.talks {
            eprintln!("{:?}: {input:?}", self.world.now);
        }
        let refusal = self.world.attempt(input).err();
        if self.talks {
            eprintln!(
                "    {}",
                refusal.as_ref().map_or_else(|| format!("{:?}", self.world.status()), ToString::to_string)
            );
        }
        refusal
    }

    fn start(&mut self) {
        let live = self.world.history.live().count();
        let limit = |walk: &mut Self, n: u64| if walk.one_in(3) { n } else { 0 };
        let limits = Limits {
            max_steps: u32::try_from(limit(self, 12)).expect("small"),
            max_duration_secs: limit(self, 40),
            step_delay_ms: limit(self, 700),
            max_tokens: limit(self, 200),
            max_cost_micros: 0,
            question_timeout_secs: limit(self, 9),
        };
        let restart =
            [RestartPolicy::Resume, RestartPolicy::Resume, RestartPolicy::Ask, RestartPolicy::Pause]
                [self.roll(4)];
        let mode = if self.one_in(8) { Mode::Chat } else { Mode::Agent };
        let refused = self.world.start(TaskStarted { mode, limits, restart, ..head() }).err();
        assert_eq!(refused.is_some(), live > 0, "one task at a time: {refused:?}");
    }

    fn outcome_under_way(&mut self) {
        let under_way = effects(&self.world.history);
        match self.pick(&under_way) {
            Some(effect) => assert_eq!(self.outcome(effect), None, "an outcome of what is under way counts"),
            None => self.wake(),
        }
    }

    fn outcome_of_any_time(&mut self) {
        let effects = self.effects.clone();
        let Some(effect) = self.pick(&effects) else { return };
        let counts = abide_engine::effects(&self.world.history).contains(&effect);
        assert_eq!(self.outcome(effect).is_none(), counts, "exactly the outcomes of what is under way count");
    }

    fn outcome(&mut self, effect: Effect) -> Option<Refusal> {
        let task = effect.task();
        let input = match effect {
            Effect::Tool { call, attempt, .. } => {
                let result =
                    if self.one_in(4) { ToolResult::failure("no") } else { ToolResult::success("yes", None) };
                Input::CallFinished {
                    task,
                    call,
                    attempt,
                    outcome: CallOutcome::Done,
                    result,
                    duration_ms: 3,
                }
            }
            Effect::Model { item, .. } if self.one_in(5) => {
                use ModelErrorKind as K;
                let kind = [K::Network, K::RateLimited, K::ContextOverflow, K::Auth][self.roll(4)];
                let retryable = matches!(kind, K::Network | K::RateLimited);
                let retry_after_ms = (kind == K::RateLimited).then_some(5000);
                Input::ModelFailed {
                    task,
                    item,
                    failure: ModelFailure { kind, message: "no".to_owned(), retryable, retry_after_ms },
                }
            }
            Effect::Model { item, .. } => {
                let calls: Vec<Plan> = (0..self.roll(5)).map(|_| self.plan()).collect();
                let stop = match self.roll(20) {
                    0 => StopReason::Length,
                    1 => StopReason::Refusal,
                    _ => [StopReason::EndTurn, StopReason::ToolCalls][usize::from(!calls.is_empty())],
                };
                let text = ["", "Some words."][self.roll(2)];
                match self.world.replied(item, stop, text, &calls).0 {
                    Input::Replied { item, reply, mut plans, .. } => {
                        if self.one_in(30) {
                            plans.pop();
                        }
                        Input::Replied { task, item, reply, plans }
                    }
                    other => other,
                }
            }
        };
        self.input(input)
    }

    fn plan(&mut self) -> Plan {
        if self.stubborn && !self.one_in(8) {
            return read("1");
        }
        let what = ["1", "2"][self.roll(2)];
        let plan = match self.roll(12) {
            0..4 => read(what),
            4..6 => write(what),
            6..8 => shell(what),
            8 => complete(what),
            9 => ask(what),
            10 => update(what),
            _ => return ask(what).arguments("{"),
        };
        match self.roll(8) {
            0..2 => plan.asking(),
            2 => plan.denied("no"),
            3 => plan.yes(),
            _ => plan,
        }
    }

    /// Answers or decides something, open or not.
    fn person(&mut self) {
        let (questions, approvals) = (self.questions.clone(), self.approvals.clone());
        if self.one_in(2) {
            let Some(approval) = self.pick(&approvals) else { return };
            let open = self.world.history.live().any(|t| t.approvals.contains_key(&approval));
            use Decision as D;
            let decision =
                [D::AllowOnce, D::AllowOnce, D::AllowAlways, D::RejectOnce, D::RejectAlways][self.roll(5)];
            let refused = self.input(Input::Decide { approval, decision, note: None });
            assert_eq!(refused.is_none(), open, "{refused:?}");
        } else {
            let Some(question) = self.pick(&questions) else { return };
            let kind = self.world.history.live().find_map(|t| t.questions.get(&question)).map(|q| q.kind);
            let response = [None, Some("go on"), Some("go on"), Some("stop"), Some("words")][self.roll(5)];
            let refused = self.input(Input::Answer {
                task: self.world.id,
                question,
                response: response.map(str::to_owned),
            });
            let picky = matches!(kind, Some(QuestionKind::Budget | QuestionKind::Restart))
                && response == Some("words");
            assert_eq!(refused.is_none(), kind.is_some() && !picky, "{refused:?}");
        }
    }

    /// At the moment a task wants, or at any. It never wants to be woken for a moment that has passed.
    fn wake(&mut self) {
        if let Some(at) = self.world.history.live().filter_map(wake_at).min()
            && !self.one_in(4)
        {
            self.world.now = self.world.now.max(at);
        }
        assert_eq!(self.input(Input::Wake), None);
        let next = self.world.history.live().filter_map(wake_at).min();
        assert!(
            next.is_none_or(|at| at > self.world.now),
            "a wake that changes nothing would be asked for again: {next:?}"
        );
    }

    fn restart(&mut self) {
        if self.talks {
            eprintln!("{:?}: the daemon dies", self.world.now);
        }
        let edits = [EditState::NotAnEdit, EditState::NotDone, EditState::Done, EditState::Unknown];
        let edit = edits[self.roll(edits.len())];
        let deaths = if self.one_in(4) { 4 } else { 1 };
        for _ in 0..deaths {
            self.world.restart_with(|call| Finding { call, output: String::new(), edit });
        }
    }
}
