//! When checkpoints are due, what they span, and what an undo has to wait for.

use crate::{
    plan::{complete, read, shell, write},
    world::{World, facts, head, somebody},
};
use abide_engine::{
    Command, Effect, History, Input, Mint, NoTrail, Refusal, Start, Trail, Window, effects, handle, project,
    works_on_files,
};
use abide_protocol::{
    ConversationId, RecordId, Seq, TaskId, Timestamp,
    checkpoint::{
        ChangedBy, CheckpointState, Checkpointed, KeptFile, SavedTree, TakenCheckpoint, UndoBegun, UndoEnded,
        UndoFrom, UndoResult, UndoneFiles,
    },
    inbox::Decision,
    record::{Interruption, NewRecord, Record, RecordBody, TaskStarted},
    task::{Approvals, Status},
    transcript::Entry,
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
    let taken = TakenCheckpoint { others: others.map(saved), edits: None, saved: saved(name) };
    let state = CheckpointState::Taken(taken);
    record(TASK, RecordBody::Checkpointed(Checkpointed { number, step, state }))
}

fn undo_of(undo: RecordId, undone: TaskId, from: UndoFrom) -> Command {
    Command::Undo(UndoBegun { undo, undone, from, all: false, files: Vec::new(), hunk: None, by: somebody() })
}

/// The newest checkpoint, and when calls ran since.
fn newest(w: &World) -> Option<(SavedTree, Option<Window>)> {
    w.history.newest_checkpoint().map(|(saved, ran)| (saved, ran.map(|ran| ran.window)))
}

fn undone(undone: TaskId, before: &str, after: &str) -> Record {
    undone_from(UndoFrom::Start, undone, before, after)
}

fn undone_from(from: UndoFrom, undone: TaskId, before: &str, after: &str) -> Record {
    let undo = RecordId(Uuid::nil());
    let done = UndoneFiles {
        before: saved(before),
        after: saved(after),
        restored: 1,
        kept: Vec::new(),
        notes: Vec::new(),
    };
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
        // There was nothing left to take back.
        undone(TASK, "base", "base"),
    ];
    let trail = Trail::of(TASK, &records).unwrap();
    assert_eq!(trail.chain.base, saved("base"));
    let links: Vec<_> = trail.chain.links.iter().map(|link| (link.by, link.to.tree.as_str())).collect();
    use ChangedBy::{Others, Step, Undo};
    assert_eq!(
        links,
        [
            (Step(1), "one"),
            (Others, "person"),
            (Step(4), "four"),
            (Others, "four"),
            (Undo, "base"),
            (Others, "base"),
            (Undo, "base")
        ]
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
fn what_was_brought_back_is_not_brought_back_again() {
    let start = |before, after| undone(TASK, before, after);
    let step = |before, after| undone_from(UndoFrom::Step(2), TASK, before, after);
    let redo = |before, after| undone_from(UndoFrom::LastUndo, TASK, before, after);
    let of = |undos: &[Record]| {
        let steps = [taken(0, 1, None, "base"), taken(1, 1, None, "one"), taken(2, 2, None, "two")];
        Trail::of(TASK, steps.iter().chain(undos)).unwrap().first(UndoFrom::LastUndo)
    };
    assert_eq!(of(&[]), None);
    let mut undos = vec![step("two", "one"), start("one", "base")];
    assert_eq!(of(&undos), Some(5));
    undos.push(redo("base", "one"));
    assert_eq!(of(&undos), Some(3), "the undo before");
    undos.push(redo("one", "two"));
    assert_eq!(of(&undos), None, "not the redo");
    undos.push(start("two", "base"));
    assert_eq!(of(&undos), Some(11));
    // It brought nothing back.
    undos.push(redo("base", "base"));
    assert_eq!(of(&undos), Some(11));
    // It has kept a file, which may be brought back later.
    let mut kept = redo("base", "one");
    if let RecordBody::UndoEnded(UndoEnded { result: UndoResult::Done(done), .. }) = &mut kept.body {
        done.kept.push(KeptFile::because("a", "it was changed"));
    }
    undos.push(kept);
    assert_eq!(of(&undos), Some(11));
    undos.push(redo("one", "two"));
    assert_eq!(of(&undos), None);
}

/// The steps after an undo are taken back with it.
#[test]
fn what_a_redo_has_taken_back_can_be_brought_back() {
    let redo = |before, after| undone_from(UndoFrom::LastUndo, TASK, before, after);
    let mut records = vec![
        taken(0, 1, None, "base"),
        taken(1, 1, None, "one"),
        undone(TASK, "one", "base"),
        taken(2, 2, None, "two"),
    ];
    let of = |records: &[Record]| Trail::of(TASK, records).unwrap().first(UndoFrom::LastUndo);
    assert_eq!(of(&records), Some(2));
    records.push(redo("two", "one"));
    assert_eq!(of(&records), Some(5), "step 2 is gone");
    records.push(redo("one", "two"));
    assert_eq!(of(&records), Some(2), "step 1 is gone again");
    records.push(redo("two", "one"));
    records.push(redo("one", "two"));
    assert_eq!(of(&records), Some(2));
}

#[test]
fn an_undo_waits_for_the_task_and_a_new_task_waits_for_the_undo() {
    let (mut history, mut mint) = (History::default(), Mint::new(Timestamp(1), 1));
    let head = TaskStarted { checkpoints: true, ..head() };
    let start = |head| Start {
        task: TASK,
        conversation: Some(facts()),
        head,
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    handle(&mut history, Command::Start(Box::new(start(head.clone()))), &mut mint).unwrap();
    let undo = RecordId(Uuid::from_u128(1));
    let begin = || undo_of(undo, TASK, UndoFrom::Start);
    assert_eq!(handle(&mut history, begin(), &mut mint).unwrap_err(), Refusal::AtWork(TASK));
    handle(&mut history, Command::Stop { task: TASK }, &mut mint).unwrap();
    handle(&mut history, begin(), &mut mint).unwrap();
    assert_eq!(effects(&history), [Effect::Undo { task: TASK, undo }]);
    assert_eq!(handle(&mut history, begin(), &mut mint).unwrap_err(), Refusal::Undoing);
    let next = handle(&mut history, Command::Start(Box::new(start(head))), &mut mint);
    assert_eq!(next.unwrap_err(), Refusal::Undoing);
    let end = || Input::Undone { undo, result: UndoResult::Failed("no room".to_owned()) };
    handle(&mut history, end(), &mut mint).unwrap();
    assert_eq!(effects(&history), []);
    assert_eq!(handle(&mut history, end(), &mut mint).unwrap_err(), Refusal::Stale);
}

fn with_checkpoints() -> World {
    World::started_with(|head| head.checkpoints = true)
}

/// The number of the checkpoint that is due.
fn due(w: &World) -> Option<u32> {
    assert_eq!(works_on_files(&w.history), w.history.undo().is_some() || numbers(w).next().is_some());
    numbers(w).next()
}

fn numbers(w: &World) -> impl Iterator<Item = u32> {
    let number = |effect| if let Effect::Checkpoint { number, .. } = effect { Some(number) } else { None };
    effects(&w.history).into_iter().filter_map(number)
}

fn checkpointed(w: &mut World, number: u32, state: CheckpointState) {
    let task = w.id;
    w.input(Input::Checkpointed { task, number, state });
}

fn took(name: &str) -> CheckpointState {
    CheckpointState::Taken(TakenCheckpoint { others: None, edits: None, saved: saved(name) })
}

/// What is between two checkpoints and changed while such calls ran, the task has changed; all else somebody
/// else has.
#[test]
fn a_checkpoint_spans_the_calls_that_may_have_changed_something() {
    let mut w = with_checkpoints();
    let first = w.reply("", &[read("a")])[0];
    assert_eq!((due(&w), w.running()), (None, vec![(first, 1)]), "reading changes nothing");
    w.finish(first, true);
    assert_eq!(newest(&w), None);

    let [looks, one] = w.reply("", &[read("b"), shell("one")])[..] else { panic!() };
    assert_eq!((due(&w), w.running()), (Some(0), vec![(looks, 1)]), "what may change something waits");
    w.finish(looks, true);
    checkpointed(&mut w, 0, took("base"));
    let from = w.now;
    assert_eq!(w.running(), [(one, 1)]);
    assert_eq!(newest(&w), Some((saved("base"), Some(Window { from, until: from }))));
    assert_eq!(due(&w), None, "it runs");
    w.pass(10);
    w.finish(one, false);
    let until = from.plus(10);
    assert_eq!(due(&w), Some(1), "one that failed may have changed something too");
    assert_eq!(newest(&w), Some((saved("base"), Some(Window { from, until }))));
    checkpointed(&mut w, 1, CheckpointState::Impossible("no room".to_owned()));
    let spans = Some((saved("base"), Some(Window { from, until })));
    assert_eq!((due(&w), newest(&w)), (None, spans), "the next one spans these calls too");

    let looks = w.reply("", &[read("c")])[0];
    w.pass(5);
    w.finish(looks, true);
    let spans = Some((saved("base"), Some(Window { from, until })));
    assert_eq!((due(&w), newest(&w)), (None, spans), "reading is no part of it");
    let third = w.reply("", &[write("d")])[0];
    w.pass(5);
    w.finish(third, true);
    let until = w.now;
    assert_eq!(newest(&w), Some((saved("base"), Some(Window { from, until }))));
    checkpointed(&mut w, 2, took("later"));
    assert_eq!((due(&w), newest(&w)), (None, Some((saved("later"), None))));

    let looks = w.reply("", &[read("e")])[0];
    assert_eq!(newest(&w), Some((saved("later"), None)), "reading changes nothing");
    w.finish(looks, true);
    let fourth = w.reply("", &[shell("three")])[0];
    w.finish(fourth, true);
    checkpointed(&mut w, 3, CheckpointState::Unchanged);
    assert_eq!((due(&w), newest(&w)), (None, Some((saved("later"), None))));
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn what_edits_wrote_is_told_from_what_changed_while_commands_ran() {
    let record = |others: Option<&str>, edits: Option<&str>, name: &str| {
        let taken =
            TakenCheckpoint { others: others.map(saved), edits: edits.map(saved), saved: saved(name) };
        let state = CheckpointState::Taken(taken);
        record(TASK, RecordBody::Checkpointed(Checkpointed { number: 0, step: 2, state }))
    };
    let records = [record(None, None, "base"), record(Some("o"), Some("e"), "s")];
    let trail = Trail::of(TASK, &records).unwrap();
    let links: Vec<_> = trail.chain.links.iter().map(|link| (link.by, link.to.tree.as_str())).collect();
    assert_eq!(links, [(ChangedBy::Others, "o"), (ChangedBy::Step(2), "e"), (ChangedBy::Command(2), "s")]);
    assert_eq!((trail.steps(), trail.first(UndoFrom::Step(2))), (vec![2], Some(1)));

    let mut w = with_checkpoints();
    let [edit, command] = w.reply("", &[write("a"), shell("one")])[..] else { panic!() };
    checkpointed(&mut w, 0, took("base"));
    let ran = |w: &World| {
        let ran = w.history.newest_checkpoint().and_then(|(_, ran)| ran).unwrap();
        (ran.edits.len(), ran.commands)
    };
    assert_eq!(ran(&w), (1, false));
    w.finish(edit, true);
    assert_eq!(ran(&w), (1, false));
    checkpointed(&mut w, 1, CheckpointState::Impossible("no room".to_owned()));
    assert_eq!(w.running(), [(command, 1)]);
    assert_eq!(ran(&w), (1, true));
}

/// The model is asked for the next step while the checkpoint is made.
#[test]
fn a_checkpoint_is_of_the_step_whose_calls_it_spans() {
    let mut w = with_checkpoints();
    let mut steps = Vec::new();
    for number in 0..4 {
        let call = w.reply("", &[shell("one")])[0];
        if number == 0 {
            checkpointed(&mut w, 0, took("base"));
        }
        assert_eq!(w.running(), [(call, 1)]);
        w.finish(call, true);
        let state = if number == 1 { CheckpointState::Unchanged } else { took("more") };
        let step = |record: &NewRecord| match &record.body {
            RecordBody::Checkpointed(made) => Some((made.number, made.step)),
            _ => None,
        };
        let task = w.id;
        let records = w.input(Input::Checkpointed { task, number: number + 1, state });
        steps.extend(records.iter().find_map(step));
    }
    assert_eq!(steps, [(1, 1), (2, 2), (3, 3), (4, 4)]);
    assert_eq!(w.replayed(), w.history);
}

/// It is looked then what others have removed. Later the task itself may have.
#[test]
fn only_the_first_call_after_a_checkpoint_is_told_of_it() {
    let before = |w: &World, call| {
        let call = w.history.task(w.id).and_then(|task| task.call(call)).unwrap();
        let before = w.history.checkpoint_before(call)?;
        assert_eq!((before.root, before.started_at), (w.id, w.now));
        Some(before.saved)
    };
    let mut w = with_checkpoints();
    let [looks, one, two] = w.reply("", &[read("b"), shell("one"), shell("two")])[..] else { panic!() };
    assert_eq!((before(&w, looks), before(&w, one)), (None, None), "there is no checkpoint yet");
    w.finish(looks, true);
    checkpointed(&mut w, 0, took("base"));
    assert_eq!(w.running(), [(one, 1)]);
    assert_eq!((before(&w, one), before(&w, two)), (Some(saved("base")), None), "the other waits");
    w.pass(10);
    w.finish(one, true);
    checkpointed(&mut w, 1, CheckpointState::Impossible("no room".to_owned()));
    assert_eq!(w.running(), [(two, 1)]);
    assert_eq!(before(&w, two), None, "the first may have removed files");
    w.finish(two, true);
    checkpointed(&mut w, 2, took("later"));
    let third = w.reply("", &[shell("three")])[0];
    assert_eq!(before(&w, third), Some(saved("later")));
}

/// Else what one call is changing would be saved half done.
#[test]
fn a_checkpoint_waits_for_the_calls_of_all_tasks_of_the_tree() {
    let mut w = with_checkpoints();
    let root = w.id;
    w.fork(root, |_| {});
    let one = w.reply("", &[shell("one")])[0];
    w.id = root;
    let two = w.reply("", &[shell("two")])[0];
    checkpointed(&mut w, 0, took("base"));
    assert_eq!(w.running().len(), 2);
    w.finish(two, true);
    assert_eq!(due(&w), None, "that of the sub-task runs");
    w.id = w.task().children[0];
    w.finish(one, true);
    assert_eq!(due(&w), Some(1));
}

/// The files of a call that a crash interrupted may have changed until the daemon was there again.
#[test]
fn a_checkpoint_after_a_crash_spans_the_interrupted_calls() {
    let mut w = with_checkpoints();
    let call = w.reply("", &[shell("make")])[0];
    checkpointed(&mut w, 0, took("base"));
    assert_eq!(w.running(), [(call, 1)]);
    let from = w.now;
    w.restart();
    let until = w.now;
    assert_eq!(newest(&w), Some((saved("base"), Some(Window { from, until }))));
    assert_eq!(due(&w), Some(1));
    checkpointed(&mut w, 1, CheckpointState::Unchanged);
    w.restart();
    assert_eq!(newest(&w), Some((saved("base"), None)), "nothing ran");
    assert_eq!(due(&w), None);
}

/// The daemon that could not append goes on: the end of the call is recorded later.
#[test]
fn a_failed_append_ends_no_call_that_runs() {
    let mut w = with_checkpoints();
    w.reply("", &[shell("make")]);
    checkpointed(&mut w, 0, took("base"));
    let from = w.now;
    w.pass(60);
    let interrupted = w.interrupted(Interruption::AppendFailed);
    w.input(interrupted);
    let window = newest(&w).and_then(|(_, window)| window);
    assert_eq!(window.map(|window| window.from), Some(from));
}

/// The newest checkpoint is of the files as the undo left them, so the undo counts as no change of the next
/// step.
#[test]
fn after_an_undo_the_next_checkpoint_begins_with_what_it_left() {
    let undo = RecordId(Uuid::from_u128(1));
    for (of_another, left) in [(false, "base"), (true, "one")] {
        let mut w = with_checkpoints();
        let call = w.reply("", &[shell("make")])[0];
        checkpointed(&mut w, 0, took("base"));
        w.finish(call, true);
        checkpointed(&mut w, 1, took("one"));
        w.pause();
        let undone = if of_another { TaskId(Uuid::from_u128(9)) } else { w.id };
        let begin = undo_of(undo, undone, UndoFrom::Step(1));
        assert_eq!(
            w.attempt(begin.clone()).unwrap_err(),
            Refusal::AtWork(w.id),
            "its model call is under way"
        );
        w.reply("", &[read("a")]);
        w.input(begin);
        assert_eq!(w.history.undo().map(|begun| begun.undo), Some(undo));
        assert_eq!((due(&w), effects(&w.history)), (None, vec![Effect::Undo { task: w.id, undo }]));
        let done = UndoneFiles {
            before: saved("one"),
            after: saved("base"),
            restored: 2,
            kept: Vec::new(),
            notes: Vec::new(),
        };
        w.input(Input::Undone { undo, result: UndoResult::Done(done) });
        assert_eq!(w.history.undo(), None);
        assert_eq!(newest(&w), Some((saved(left), None)));
        let Some(RecordBody::UndoEnded(ended)) = w.records.last().map(|record| &record.body) else {
            panic!()
        };
        let note = ended.note.clone().unwrap_or_default();
        assert_eq!(
            note,
            "The user has taken back what the task had changed in files from step 1 on: 2 files restored. Read a file \
             again before you rely on its content."
        );
        assert_eq!(w.replayed(), w.history);
        w.resume();
        let (call, _) = w.running()[0];
        w.finish(call, true);
        let tells = |entry: &Entry| matches!(entry, Entry::Note(text) if *text == note);
        assert!(w.task().entries().iter().any(tells), "its model relies on files that are different now");
    }
}

/// It would report as done what is undone.
#[test]
fn a_task_does_not_end_before_its_model_has_read_of_an_undo() {
    let mut w = with_checkpoints();
    let call = w.reply("", &[shell("make")])[0];
    checkpointed(&mut w, 0, took("base"));
    w.finish(call, true);
    checkpointed(&mut w, 1, took("one"));
    w.pause();
    let end = w.reply("", &[complete("All is made.")])[0];
    let undo = RecordId(Uuid::from_u128(1));
    w.input(undo_of(undo, w.id, UndoFrom::Start));
    let done = UndoneFiles {
        before: saved("one"),
        after: saved("base"),
        restored: 2,
        kept: Vec::new(),
        notes: Vec::new(),
    };
    w.input(Input::Undone { undo, result: UndoResult::Done(done) });
    w.resume();
    assert_eq!((w.end(), w.is_thinking()), (None, true));
    assert!(w.result(end).is_some_and(|words| words.contains("read it first")));
    w.reply("", &[complete("Nothing is left to do.")]);
    assert_eq!(w.summary(), Some("Nothing is left to do."));
}

/// Nothing is saved for a call that will not run.
#[test]
fn a_denied_call_needs_no_checkpoint() {
    let mut w = with_checkpoints();
    let calls = w.reply("", &[shell("rm -r /").denied("it is denied"), read("a")]);
    assert_eq!((due(&w), w.running()), (None, vec![(calls[1], 1)]));
}

/// A person may be asked about a call that changes nothing; one that waits for the checkpoint works, and for
/// no sub-task.
#[test]
fn only_a_call_that_may_change_something_waits_for_the_first_checkpoint() {
    let mut w = with_checkpoints();
    w.reply("", &[read("a").asking()]);
    assert_eq!((due(&w), w.status()), (None, Status::WaitingApproval));
    let mut w = with_checkpoints();
    w.reply("", &[shell("make")]);
    assert_eq!((due(&w), w.running(), w.status()), (Some(0), vec![], Status::Running));
}

/// A person looks at what an ended task has changed, so its last checkpoint is still taken.
#[test]
fn the_last_checkpoint_is_taken_after_the_end() {
    let mut w = with_checkpoints();
    let call = w.reply("", &[shell("make")])[0];
    checkpointed(&mut w, 0, took("base"));
    w.finish(call, true);
    w.stop("");
    assert_eq!((w.end().is_some(), due(&w)), (true, Some(1)));
    let wakes = |w: &World| project(ConversationId(Uuid::nil()), &w.history, w.task()).wake_at;
    assert_eq!(wakes(&w), Some(w.now), "the daemon takes it up");
    checkpointed(&mut w, 1, took("one"));
    assert_eq!(wakes(&w), None, "nothing is left to do");
    assert_eq!((due(&w), newest(&w)), (None, Some((saved("one"), None))));
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
    let next = w.reply("", &[write("b").contained(), read("c")]);
    assert_eq!(w.running(), [], "the calls after it wait");
    w.decide(next[0], Decision::AllowOnce);
    assert_eq!(w.running(), [(next[0], 1)]);
    w.finish(next[0], true);
    assert_eq!(w.running(), [(next[1], 1)], "what changes nothing needs no undo");

    for approvals in [Approvals::Allow, Approvals::AllowAll] {
        let mut w = start(approvals);
        let calls = w.reply("", &[shell("make").contained()]);
        cannot(&mut w);
        assert_eq!(w.running(), [(calls[0], 1)]);
    }
}

/// A later checkpoint may fail as well as the first.
#[test]
fn a_call_asks_as_long_as_what_is_done_can_no_longer_be_undone() {
    let mut w = World::started_with(|head| {
        head.checkpoints = true;
        head.approvals = Approvals::Ask;
    });
    let first = w.reply("", &[shell("make").contained()])[0];
    checkpointed(&mut w, 0, took("base"));
    w.finish(first, true);
    checkpointed(&mut w, 1, CheckpointState::Impossible("the disk is full".to_owned()));
    let next = w.reply("", &[shell("make").contained()])[0];
    assert_eq!(w.running(), []);
    assert_eq!(
        w.approval(next).why.unwrap_or_default(),
        "what is done here could not be undone: the disk is full"
    );
    w.decide(next, Decision::AllowOnce);
    w.finish(next, true);
    checkpointed(&mut w, 2, took("again"));
    let last = w.reply("", &[shell("make").contained()])[0];
    assert_eq!(w.running(), [(last, 1)]);
}

/// One decision for what could not be undone, not one for each call.
#[test]
fn what_could_not_be_undone_can_be_allowed_for_the_task() {
    let mut w = World::started_with(|head| {
        head.checkpoints = true;
        head.approvals = Approvals::Ask;
    });
    let calls =
        w.reply("", &[shell("make").without_undo(), write("a").without_undo(), shell("rm a").asking()]);
    assert_eq!(w.task().approvals.len(), 3);
    let other = w.approval(calls[2]).id;
    let task_wide = |approval| Command::Decide {
        approval,
        decision: Decision::AllowForTask,
        note: None,
        rule: None,
        by: somebody(),
    };
    let refused = w.attempt(task_wide(other)).expect_err("it asks for another reason");
    assert_eq!(refused, Refusal::NotForTask);
    w.decide(calls[0], Decision::AllowForTask);
    let open: Vec<_> = w.task().approvals.keys().copied().collect();
    assert_eq!(open, [other], "all that waited for this decision is decided");
    w.decide(calls[2], Decision::AllowOnce);
    let state = CheckpointState::Impossible("the disk is full".to_owned());
    checkpointed(&mut w, 0, state);
    for call in calls {
        w.finish(call, true);
    }
    // Neither such a call, nor one of which that turns out later; another one asks.
    let next = w.reply("", &[shell("make").without_undo(), write("b").contained(), shell("rm b").asking()]);
    assert_eq!((w.running(), w.task().approvals.len()), (vec![(next[0], 1)], 1));
    w.finish(next[0], true);
    assert_eq!(w.running(), [(next[1], 1)]);
    w.finish(next[1], true);
    w.decide(next[2], Decision::RejectOnce);
    // Another task asks again.
    w.stop("");
    w.start(TaskStarted { approvals: Approvals::Ask, ..head() }).expect("the task before has ended");
    let again = w.reply("", &[shell("make").without_undo()])[0];
    assert_eq!(w.running(), []);
    assert!(w.approval(again).for_task);
}
