//! However the notifications are cut, repeated, reordered or lost, in the end the view is that of the
//! undisturbed stream.

use crate::{
    script::{self, Part, Step},
    things::{conversation, delta, id, sequenced, snapshot, task_id},
};
use abide_client::{
    Update,
    protocol::{
        Seq,
        notification::{DeltaItem, DeltaKind, Notification},
        record::{CallStarted, Joining, PartialReply, RecordBody, TaskEnded},
        task::{CallState, EndReason},
    },
    view::{Change, ConversationView, Entry},
};
use proptest::{collection, prelude::*, sample::Index};

fn fresh() -> ConversationView {
    let mut view = ConversationView::new(conversation());
    view.apply(Update::Snapshot(Box::new(snapshot(0))));
    view
}

fn tell(view: &mut ConversationView, notification: Notification) -> Vec<Change> {
    view.apply(Update::Notification(notification))
}

/// The step's notification without a disturbance.
fn plainly(step: &Step) -> Notification {
    match step {
        Step::Live { text, .. } => script::piece(step, 0, text.len()),
        Step::Recorded(notification) | Step::Stands(notification) => notification.clone(),
    }
}

fn undisturbed(steps: &[Step]) -> ConversationView {
    let mut view = fresh();
    for step in steps {
        tell(&mut view, plainly(step));
    }
    view
}

/// How a run is disturbed.
#[derive(Debug, Clone)]
struct Trouble {
    /// Where live output is split; each piece also repeats so many bytes before it.
    cuts: Vec<(Index, usize)>,
    /// Every notification comes twice, also stale live output.
    twice: bool,
    /// The last piece of a stream comes before the others.
    out_of_order: bool,
    /// The connection is cut after the first of these steps and is back after the second.
    gap: Option<(Index, Index)>,
}

fn live_pieces(step: &Step, trouble: &Trouble) -> Vec<Notification> {
    let Step::Live { text, .. } = step else { return vec![plainly(step)] };
    let mut at: Vec<(usize, usize)> =
        trouble.cuts.iter().map(|(index, back)| (index.index(text.len() + 1), *back)).collect();
    at.sort_unstable();
    let ends = at.iter().map(|(end, _)| *end).chain([text.len()]);
    let starts = [0].into_iter().chain(at.iter().map(|(start, back)| start.saturating_sub(*back)));
    let mut pieces: Vec<_> = starts.zip(ends).map(|(from, to)| script::piece(step, from, to)).collect();
    if trouble.out_of_order {
        pieces.reverse();
    }
    pieces
}

fn disturbed(steps: &[Step], trouble: &Trouble) -> ConversationView {
    let (cut, back) = match &trouble.gap {
        None => (steps.len(), steps.len()),
        Some((a, b)) => {
            let (a, b) = (a.index(steps.len()), b.index(steps.len()));
            (a.min(b), a.max(b))
        }
    };
    let mut view = fresh();
    for (n, step) in steps.iter().enumerate() {
        if n == back {
            view.apply(Update::Disconnected { reason: "cut".to_owned() });
            let now = script::snapshot_after(&steps[..back], view.cursor());
            view.apply(Update::Reconnected(Box::new(now)));
            // Missed records, and some that had come already; live output of the gap is lost.
            for step in &steps[..back] {
                if let Step::Recorded(notification) = step {
                    tell(&mut view, notification.clone());
                }
            }
        }
        if (cut..back).contains(&n) {
            continue;
        }
        for piece in live_pieces(step, trouble) {
            tell(&mut view, piece);
        }
        if trouble.twice {
            for step in &steps[..=n] {
                if !matches!(step, Step::Stands(_)) {
                    tell(&mut view, plainly(step));
                }
            }
        }
    }
    view
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zäß€🦀]{0,24}", "[a-z \n]{1,40}"]
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        (any_text(), any_text()).prop_map(|(reasoning, text)| Part::Say { reasoning, text }),
        any_text().prop_map(|text| Part::Fail { text }),
        (any_text(), any::<bool>()).prop_map(|(output, restart)| Part::Run { output, restart }),
    ]
}

fn any_trouble() -> impl Strategy<Value = Trouble> {
    let cuts = collection::vec((any::<Index>(), 0usize..6), 0..5);
    let gap = proptest::option::of((any::<Index>(), any::<Index>()));
    (cuts, any::<bool>(), any::<bool>(), gap).prop_map(|(cuts, twice, out_of_order, gap)| Trouble {
        cuts,
        twice,
        out_of_order,
        gap,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_disturbed_stream_gives_the_same_view(
        parts in collection::vec(any_part(), 0..5),
        upto in any::<Index>(),
        trouble in any_trouble(),
    ) {
        let steps = script::write(&parts);
        // Also in the middle of a run, when nothing has ended yet.
        let steps = &steps[..=upto.index(steps.len())];
        prop_assert_eq!(disturbed(steps, &trouble), undisturbed(steps));
    }
}

#[test]
fn each_entry_is_reported_once_and_in_order() {
    let parts = [
        Part::Fail { text: "Hel".to_owned() },
        Part::Say { reasoning: "hm".to_owned(), text: "Hello".to_owned() },
        Part::Run { output: "ok".to_owned(), restart: true },
        Part::Say { reasoning: "quietly".to_owned(), text: String::new() },
    ];
    let view = undisturbed(&script::write(&parts));
    let told: Vec<String> = view.timeline().map(short).collect();
    let expected = [
        "Go.",
        "StepBegan",
        "ModelFailed",
        "StepBegan",
        "Hello",
        "shell Finished 2",
        "Restarted",
        "StepBegan",
        "TaskEnded",
    ];
    assert_eq!(told, expected);
    assert_eq!(view.live().count(), 0);
    let task = view.task(task_id()).unwrap();
    assert_eq!(u64::from(task.step_count), view.cursor().0);
}

fn short(entry: &Entry) -> String {
    match entry {
        Entry::Message(message) => message.text.clone(),
        Entry::Call(call) => format!("{} {:?} {}", call.tool, call.state, call.attempt),
        Entry::Event(event) => {
            let kind = format!("{:?}", event.kind);
            kind.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned()
        }
    }
}

#[test]
fn text_printed_from_changes_equals_the_view() {
    let parts = [Part::Say { reasoning: String::new(), text: "Grüße aus dem Prozess".to_owned() }];
    let steps = script::write(&parts);
    let mut view = fresh();
    let mut printed = String::new();
    for step in &steps {
        let pieces: Vec<_> = match step {
            Step::Live { text, .. } => {
                (0..text.len()).map(|at| script::piece(step, at.saturating_sub(3), at + 1)).collect()
            }
            _ => vec![plainly(step)],
        };
        let changes: Vec<Change> = pieces.into_iter().flat_map(|piece| tell(&mut view, piece)).collect();
        for change in changes {
            match change {
                Change::Output { text, .. } => printed.push_str(&text),
                Change::Gone { recorded: Some(seq), .. } => {
                    let Some(Entry::Message(message)) = view.entry(seq) else {
                        panic!("no message at {seq:?}")
                    };
                    assert_eq!(message.text, printed);
                }
                Change::Redrawn { .. } => panic!("nothing was out of order"),
                _ => {}
            }
        }
    }
    assert_eq!(printed, "Grüße aus dem Prozess");
    assert!(view.cursor() > Seq(0));
}

/// The texts that are live, as a person reads them.
fn live_texts(view: &ConversationView, kind: DeltaKind) -> Vec<String> {
    view.live().filter_map(|(_, item)| item.stream(kind)).map(|stream| stream.text().into_owned()).collect()
}

#[test]
fn a_new_attempt_starts_empty_and_drops_deltas_of_the_old_one() {
    let item = DeltaItem::Call(id(9));
    let output = |attempt, offset, text| delta(item, attempt, DeltaKind::Output, offset, text);
    let mut view = fresh();
    tell(&mut view, output(1, 0, "old"));
    let changes = tell(&mut view, output(2, 0, "ne"));
    assert_eq!(changes[0], Change::Redrawn { item });
    assert_eq!(tell(&mut view, output(1, 3, "er")), []);
    tell(&mut view, output(2, 2, "w"));
    assert_eq!(live_texts(&view, DeltaKind::Output), ["new"]);
}

#[test]
fn a_call_that_starts_again_withdraws_its_output() {
    let mut view = fresh();
    let item = DeltaItem::Call(id(9));
    let output = |attempt, text| delta(item, attempt, DeltaKind::Output, 0, text);
    tell(&mut view, output(1, "old"));
    let again = CallStarted { call_id: id(9), attempt: 2, sandbox: "none".to_owned() };
    let changes = tell(&mut view, sequenced(5, id(0x50), RecordBody::CallStarted(again)));
    assert_eq!(changes, [Change::Gone { item, recorded: None }]);
    assert_eq!(tell(&mut view, output(1, "old")), []);
}

#[test]
fn a_call_that_waits_for_sub_tasks_says_so() {
    let mut view = fresh();
    tell(&mut view, sequenced(5, id(0x50), RecordBody::CallAssessed(script::assessed(id(9)))));
    let joining = Joining { call_id: id(9), tasks: vec![id(7)] };
    let changes = tell(&mut view, sequenced(6, id(0x51), RecordBody::Joining(joining)));
    assert_eq!(changes, [Change::Changed(Seq(5))]);
    assert_eq!(view.call(id(9)).map(|call| call.state), Some(CallState::WaitingChildren));
}

#[test]
fn nothing_of_an_ended_task_is_live() {
    let mut view = fresh();
    let text = |item, offset, text| delta(DeltaItem::Reply(id(item)), 1, DeltaKind::Text, offset, text);
    tell(&mut view, text(9, 0, "I was say"));
    // Stopped: the text that was shown stays as a message, whose id need not be the item's.
    let partial = RecordBody::PartialReply(PartialReply { text: "I was say".to_owned() });
    let changes = tell(&mut view, sequenced(5, id(0x50), partial));
    let gone = Change::Gone { item: DeltaItem::Reply(id(9)), recorded: Some(Seq(5)) };
    assert_eq!(changes, [gone, Change::Added(Seq(5))]);
    assert_eq!(tell(&mut view, text(9, 9, "ing")), []);
    let ended = TaskEnded::of(EndReason::Stopped);
    tell(&mut view, sequenced(6, id(0x51), RecordBody::TaskEnded(ended)));
    assert_eq!(tell(&mut view, text(10, 0, "of an item that this view never saw")), []);
    assert_eq!(view.live().count(), 0);
}

#[test]
fn after_a_cut_only_output_in_the_new_snapshot_is_live() {
    let mut view = fresh();
    tell(&mut view, delta(DeltaItem::Reply(id(9)), 1, DeltaKind::Text, 0, "lost with the daemon"));
    view.apply(Update::Reconnected(Box::new(snapshot(0))));
    assert_eq!(view.live().count(), 0);
}

#[test]
fn updates_of_other_conversations_change_nothing() {
    let mut view = fresh();
    let before = view.clone();
    let mut other = delta(DeltaItem::Reply(id(9)), 1, DeltaKind::Text, 0, "elsewhere");
    if let Notification::TaskDelta(delta) = &mut other {
        delta.conversation_id = id(77);
    }
    let mut record = sequenced(5, id(0x50), RecordBody::PartialReply(PartialReply { text: "x".to_owned() }));
    if let Notification::TaskMessage(told) = &mut record {
        told.message.conversation_id = id(77);
    }
    for notification in [other, record] {
        assert_eq!(tell(&mut view, notification), []);
    }
    assert_eq!(view, before);
}

#[test]
fn messages_after_the_read_mark_are_unread() {
    let mut view = ConversationView::new(conversation());
    let first = abide_client::protocol::notification::Snapshot {
        messages: vec![crate::things::message(3, "seen"), crate::things::message(4, "seen too")],
        ..snapshot(4)
    };
    view.apply(Update::Snapshot(Box::new(first)));
    assert_eq!(view.unread(), 0);
    for seq in [5, 6] {
        tell(&mut view, crate::things::task_message(seq));
    }
    assert_eq!(view.unread(), 2);
    view.mark_read(Seq(5));
    assert_eq!(view.unread(), 1);
    view.keep_last(2);
    assert_eq!(view.timeline().map(Entry::seq).collect::<Vec<_>>(), [Seq(5), Seq(6)]);
}
