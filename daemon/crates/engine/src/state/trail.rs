//! The states of a task's files, from the records of its conversation.

use abide_protocol::{
    TaskId,
    checkpoint::{Chain, ChangedBy, CheckpointState, Link, SavedTree, UndoFrom, UndoResult, UndoneFiles},
    record::{Record, RecordBody},
};
use std::{collections::BTreeSet, iter};

/// A task's checkpoints, and the undos of its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trail {
    pub chain: Chain,
    /// The undos that can be taken back, in order. One that changed nothing is nothing to bring back, and
    /// what an earlier one took back still is.
    undos: Vec<InForce>,
}

/// An undo, or a redo that took back more than an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
struct InForce {
    link: usize,
    /// The undo that the redo took back. It is in force again when the redo is taken back.
    instead_of: Option<Box<Self>>,
}

/// Why there is no trail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTrail {
    #[error("it has changed nothing: no call of it that may change files has begun")]
    NothingChanged,
    #[error("no checkpoint of its files could be made: {0}")]
    Impossible(String),
}

/// The newest undo was taken back, by the link that is to be `here`.
fn redone(undos: &mut Vec<InForce>, chain: &Chain, here: usize, done: &UndoneFiles) {
    let by_step = |link: &Link| link.by.step().is_some();
    let took_more = undos.last().is_some_and(|undo| chain.links.iter().skip(undo.link).any(by_step));
    // What it has kept may be brought back later.
    let taken_back = if done.kept.is_empty() { undos.pop() } else { None };
    if took_more {
        undos.push(InForce { link: here, instead_of: taken_back.map(Box::new) });
    } else if let Some(again) = taken_back.and_then(|undo| undo.instead_of) {
        undos.push(*again);
    }
}

impl Trail {
    /// That of a root task. `records`: those of its conversation, in order; others than of checkpoints and
    /// undos are skipped.
    ///
    /// # Errors
    /// It has no checkpoint.
    pub fn of<'r>(task: TaskId, records: impl IntoIterator<Item = &'r Record>) -> Result<Self, NoTrail> {
        let mut chain: Option<Chain> = None;
        let mut undos = Vec::new();
        let mut why = NoTrail::NothingChanged;
        for record in records {
            match &record.body {
                RecordBody::Checkpointed(made) if record.task_id == Some(task) => {
                    match (&made.state, &mut chain) {
                        (CheckpointState::Taken(taken), None) => {
                            chain = Some(Chain { base: taken.saved.clone(), links: Vec::new() });
                        }
                        (CheckpointState::Taken(taken), Some(chain)) => {
                            let others = taken.others.clone().map(|to| Link { by: ChangedBy::Others, to });
                            chain.links.extend(others);
                            let by_step = |by, to: &SavedTree| Link { by, to: to.clone() };
                            match &taken.edits {
                                None => chain.links.push(by_step(ChangedBy::Step(made.step), &taken.saved)),
                                Some(edits) => chain.links.extend([
                                    by_step(ChangedBy::Step(made.step), edits),
                                    by_step(ChangedBy::Command(made.step), &taken.saved),
                                ]),
                            }
                        }
                        (CheckpointState::Impossible(words), None) => {
                            why = NoTrail::Impossible(words.clone());
                        }
                        (CheckpointState::Impossible(_) | CheckpointState::Unchanged, _) => {}
                    }
                }
                RecordBody::UndoEnded(ended) if ended.undone == task => {
                    if let (UndoResult::Done(done), Some(chain)) = (&ended.result, &mut chain) {
                        chain.links.push(Link { by: ChangedBy::Others, to: done.before.clone() });
                        let here = chain.links.len();
                        match ended.from {
                            _ if done.before.tree == done.after.tree => {}
                            UndoFrom::Start | UndoFrom::Step(_) => {
                                undos.push(InForce { link: here, instead_of: None });
                            }
                            UndoFrom::LastUndo => redone(&mut undos, chain, here, done),
                        }
                        chain.links.push(Link { by: ChangedBy::Undo, to: done.after.clone() });
                    }
                }
                _ => {}
            }
        }
        chain.map(|chain| Self { chain, undos }).ok_or(why)
    }

    /// The first link that an undo takes back. `None`: there is nothing to take back.
    #[must_use]
    pub fn first(&self, from: UndoFrom) -> Option<usize> {
        let links = &self.chain.links;
        match from {
            UndoFrom::Start => Some(0),
            UndoFrom::Step(step) => links.iter().position(|link| link.by.step().is_some_and(|of| of >= step)),
            UndoFrom::LastUndo => self.undos.last().map(|undo| undo.link),
        }
    }

    /// The steps that have changed files.
    #[must_use]
    pub fn steps(&self) -> Vec<u32> {
        let mut steps = BTreeSet::new();
        for (link, before) in self.chain.links.iter().zip(self.before()) {
            if let Some(step) = link.by.step()
                && link.to.tree != before.tree
            {
                steps.insert(step);
            }
        }
        steps.into_iter().collect()
    }

    /// The state before each link.
    fn before(&self) -> impl ExactSizeIterator<Item = &SavedTree> + DoubleEndedIterator {
        let states: Vec<&SavedTree> =
            iter::once(&self.chain.base).chain(self.chain.links.iter().map(|link| &link.to)).collect();
        states.into_iter()
    }
}
