//! The parameters of a life, drawn from its seed: how often each fault occurs (once in this many; 0: never),
//! and how people and models behave.

use abide_engine::Mint;

#[derive(Debug, Clone, Copy)]
pub(super) struct Nature {
    pub(super) crashes: u64,
    pub(super) full_disks: u64,
    pub(super) holds: u64,
    pub(super) drains: u64,
    /// Appends that the store refuses.
    pub(super) refusals: u64,
    /// Appends at which the disk breaks.
    pub(super) broken_disks: u64,
    /// Outcomes that arrive twice.
    pub(super) doubles: u64,
    pub(super) model_failures: u64,
    pub(super) tool_failures: u64,
    /// Tools that start a sub-task.
    pub(super) forks: u64,
    /// Commands besides answers and new tasks: pause, resume, stop, archive, delete, late answers.
    pub(super) interventions: u64,
    /// A model that often repeats its calls.
    pub(super) stubborn: bool,
    /// No faults: every task must end.
    pub(super) calm: bool,
    pub(super) strict_limits: bool,
    /// From this many tokens of context on, tasks leave out what is old; 0: only after an overflow.
    pub(super) compact_at_tokens: u64,
    /// The longest duration of a model call or tool call, in ms.
    pub(super) pace: u64,
}

impl Nature {
    pub(super) fn new(dice: &mut Mint) -> Self {
        let mut one_of = |choices: &[u64]| {
            choices[usize::try_from(dice.random() % choices.len() as u64).expect("an index")]
        };
        Self {
            crashes: one_of(&[0, 15, 40, 100]),
            full_disks: one_of(&[0, 0, 30, 80]),
            holds: one_of(&[0, 0, 25]),
            drains: one_of(&[0, 0, 60]),
            refusals: one_of(&[0, 0, 20, 60]),
            broken_disks: one_of(&[0, 0, 0, 60]),
            doubles: one_of(&[0, 5, 20]),
            model_failures: one_of(&[0, 3, 8]),
            tool_failures: one_of(&[0, 4]),
            forks: one_of(&[0, 0, 4]),
            interventions: one_of(&[3, 8, 30]),
            stubborn: one_of(&[0, 0, 0, 1]) == 1,
            calm: false,
            strict_limits: one_of(&[0, 0, 1]) == 1,
            compact_at_tokens: one_of(&[0, 30, 60]),
            pace: one_of(&[30, 300, 3000]),
        }
    }

    pub(super) const fn calm() -> Self {
        Self {
            crashes: 0,
            full_disks: 0,
            holds: 0,
            drains: 0,
            refusals: 0,
            broken_disks: 0,
            doubles: 0,
            model_failures: 0,
            tool_failures: 0,
            forks: 0,
            interventions: 0,
            stubborn: false,
            calm: true,
            strict_limits: false,
            compact_at_tokens: 0,
            pace: 300,
        }
    }
}
