//! When checkpoints are due, what they span, and what an undo has to wait for.

use crate::{
    plan::{shell, write},
    world::{World, facts, head},
};
use abide_engine::{Effect, History, Input, Mint, NoTrail, Refusal, Shown, Start, Trail, effects, handle};
use abide_protocol::{
    ConversationId, RecordId, Seq, TaskId, Timestamp,
    checkpoint::{
        ChangedBy, CheckpointState, Checkpointed, SavedTree, TakenCheckpoint, UndoEnded, UndoFrom,
        UndoResult, UndoneFiles,
    },
    inbox::Decision,
    record::{Record, RecordBody, TaskStarted},
    task::Approvals,
};
use uuid::Uuid;

const TASK: TaskId = TaskId(Uuid::from_u128(7));

fn saved(name: &str) -> SavedTree {
    SavedTree { commit: format!("commit of {name}"), tree: name.to_owned() }
}

fn record(task: TaskId, body: RecordBody) -> Record {
    let (id, conversation_id) = (RecordId(Uuid::nil()), ConversationId(Uuid::nil()));
    Record { seq: Seq(1), id, conversation_id, task_id: Some(task), at: Timestamp(1), body }
}

fn taken(number: u32, step: u32, others: Option<&str>, name: &str) -> Record {
    let taken = TakenCheckpoint { others: others.map(saved), saved: saved(name) };
    let state = CheckpointState::Taken(taken);
    record(TASK, RecordBody::Checkpointed(Checkpointed { number, step, state }))
}

fn undone(undone: TaskId, before: &str, after: &str) -> Record {
    let (undo, from) = (RecordId(Uuid::nil()), UndoFrom::Start);
    let done = UndoneFiles { before: saved(before), after: saved(after), restored: 1, kept: Vec::new() };
    let result = UndoResult::Done(done);
    // It belongs to the newest root task, which may be a later one.
    record(
        TaskId(Uuid::from_u128(8)),
        RecordBody::UndoEnded(UndoEnded { undo, undone, from, result, note: None }),
    )
}

#[test]
fn a_trail_has_the_states_of_one_task_in_order() {
    let records = [
        taken(0, 1, None, "base"),
        taken(1, 1, None, "one"),
        record(
            TASK,
            RecordBody::Checkpointed(Checkpointed { number: 2, step: 2, state: CheckpointState::Unchanged }),
        ),
        undone(TaskId(Uuid::from_u128(9)), "of another", "task"),
        taken(3, 4, Some("person"), "four"),
        undone(TASK, "four", "base"),
    ];
    let trail = Trail::of(TASK, &records).unwrap();
    assert_eq!(trail.chain.base, saved("base"));
    let links: Vec<_> = trail.chain.links.iter().map(|link| (link.by, link.to.tree.as_str())).collect();
    use ChangedBy::{Others, Step, Undo};
    assert_eq!(
        links,
        [(Step(1), "one"), (Others, "person"), (Step(4), "four"), (Others, "four"), (Undo, "base")]
    );
    assert_eq!(trail.steps(), [1, 4]);
    let first =
        [UndoFrom::Start, UndoFrom::Step(1), UndoFrom::Step(2), UndoFrom::Step(5), UndoFrom::LastUndo];
    assert_eq!(first.map(|from| trail.first(from)), [Some(0), Some(0), Some(2), None, Some(4)]);

    assert_eq!(Trail::of(TaskId(Uuid::nil()), &records), Err(NoTrail::NothingChanged));
    let words = "no repository".to_owned();
    let state = CheckpointState::Impossible(words.clone());
    let none = [record(TASK, RecordBody::Checkpointed(Checkpointed { number: 0, step: 1, state }))];
    assert_eq!(Trail::of(TASK, &none), Err(NoTrail::Impossible(words)));
}

#[test]
fn an_undo_waits_for_the_task_and_a_new_task_waits_for_the_undo() {
    let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
    let head = TaskStarted { checkpoints: true, ..head() };
    let start = |head| Start { task: TASK, conversation: Some(facts()), head, imported: Vec::new() };
    handle(&mut history, Input::Start(Box::new(start(head.clone()))), &mut mint).unwrap();
    let undo = RecordId(Uuid::from_u128(1));
    let begin = || Input::Undo { undo, undone: TASK, from: UndoFrom::Start, by: None };
    assert_eq!(handle(&mut history, begin(), &mut mint).unwrap_err(), Refusal::AtWork(TASK));
    handle(&mut history, Input::Stop { task: TASK, shown: Shown::new() }, &mut mint).unwrap();
    handle(&mut history, begin(), &mut mint).unwrap();
    assert_eq!(effects(&history), [Effect::Undo { task: TASK, undo }]);
    assert_eq!(handle(&mut history, begin(), &mut mint).unwrap_err(), Refusal::Undoing);
    let next = handle(&mut history, Input::Start(Box::new(start(head))), &mut mint);
    assert_eq!(next.unwrap_err(), Refusal::Undoing);
    let end = || Input::Undone { undo, result: UndoResult::Failed("no room".to_owned()) };
    handle(&mut history, end(), &mut mint).unwrap();
    assert_eq!(effects(&history), []);
    assert_eq!(handle(&mut history, end(), &mut mint).unwrap_err(), Refusal::Stale);
}

/// It was allowed to run unasked because what it does can be undone.
#[test]
fn a_call_that_turns_out_not_to_be_undoable_asks() {
    let start = |approvals| {
        World::started_with(|head| {
            head.checkpoints = true;
            head.approvals = approvals;
        })
    };
    let cannot = |w: &mut World| {
        let task = w.task().id;
        assert_eq!(effects(&w.history), [Effect::Checkpoint { task, number: 0 }]);
        let state = CheckpointState::Impossible("the disk is full".to_owned());
        w.input(Input::Checkpointed { task, number: 0, state });
    };
    let mut w = start(Approvals::Ask);
    let calls = w.reply("", &[shell("make").contained(), write("a").contained(), shell("ls")]);
    cannot(&mut w);
    assert_eq!((w.running(), w.task().approvals.len()), (vec![], 2));
    let why = w.approval(calls[0]).why.unwrap_or_default();
    assert_eq!(why, "what is done here could not be undone: the disk is full");
    w.decide(calls[1], Decision::RejectOnce);
    w.decide(calls[0], Decision::AllowOnce);
    assert_eq!(w.running(), [(calls[0], 1)]);
    w.finish(calls[0], true);
    w.finish(calls[2], true);
    // Nor is the next one.
    let next = w.reply("", &[write("b").contained()]);
    w.decide(next[0], Decision::AllowOnce);
    assert_eq!(w.running(), [(next[0], 1)]);

    for approvals in [Approvals::Allow, Approvals::AllowAll] {
        let mut w = start(approvals);
        let calls = w.reply("", &[shell("make").contained()]);
        cannot(&mut w);
        assert_eq!(w.running(), [(calls[0], 1)]);
    }
}
