//! Records that this version would not write. Folding never refuses them, and a model is never sent a call
//! without its result.

use crate::{
    plan::{read, shell},
    world::{World, head},
};
use abide_engine::{Command, History, Input, Mint, Start, handle};
use abide_protocol::{
    TaskId,
    record::{Interruption, NewRecord, RecordBody, TaskEnded},
    task::EndReason,
    transcript::Entry,
};

fn records(w: &World) -> Vec<NewRecord> {
    w.records.clone()
}

fn folded(records: &[NewRecord]) -> History {
    let mut history = History::default();
    records.iter().for_each(|record| history.fold(record));
    history
}

#[test]
fn calls_without_results_get_one_when_the_end_is_folded() {
    let mut w = World::started();
    w.reply("", &[read("f"), shell("c")]);
    let mut old = records(&w);
    let (at, mut mint) = (w.now, Mint::new(w.now, 9));
    let body = RecordBody::TaskEnded(TaskEnded::of(EndReason::Stopped));
    old.push(NewRecord { id: mint.record_id(), task_id: Some(w.id), at, body });
    let mut history = folded(&old);
    let start = Start {
        task: TaskId(mint.uuid()),
        conversation: None,
        head: head(),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    handle(&mut history, Command::Start(Box::new(start)), &mut mint).unwrap();
    let entries = history.root().unwrap().entries();
    let results = entries.iter().filter(|e| matches!(e, Entry::Result(r) if !r.ok && !r.text.is_empty()));
    assert_eq!(results.count(), 2);
    assert!(matches!(entries.last(), Some(Entry::User(_))));
}

/// With any records missing, folding and a restart neither hang nor panic.
#[test]
fn histories_with_missing_records_are_folded_and_resumed() {
    let mut w = World::started();
    let calls = w.reply("", &[read("f"), shell("c").asking()]);
    w.finish(calls[0], true);
    w.decide(calls[1], abide_protocol::inbox::Decision::AllowOnce);
    w.pass(5);
    w.restart();
    w.answer(w.question().id, Some("it happened")).unwrap();
    w.reply("Hm.", &[]);
    w.fork(w.id, |_| {});
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    let whole = records(&w);
    for hole in 0..whole.len() {
        for twice in [false, true] {
            let mut old = whole.clone();
            let record = old.remove(hole);
            if twice {
                old.splice(hole..hole, [record.clone(), record]);
            }
            let mut history = folded(&old);
            let Some(task) = history.root().filter(|root| !root.has_ended()).map(|root| root.id) else {
                continue;
            };
            let mut mint = Mint::new(w.now.plus(1000), hole as u64);
            handle(
                &mut history,
                Input::Interrupted {
                    cause: Interruption::DaemonRestarted,
                    findings: Vec::new(),
                    ran_until: None,
                },
                &mut mint,
            )
            .unwrap();
            let stop = Command::Stop { task };
            handle(&mut history, stop, &mut mint).unwrap();
            assert!(history.live().next().is_none());
        }
    }
}
