use super::support::*;
use abide_protocol::{
    Timestamp,
    inbox::Decision,
    message::{CallOutcome, CallView},
    record::{ApprovalDecided, RecordBody},
    task::{CallState, Status},
    transcript::ToolResult,
};
use abide_store::TaskCalls;

#[tokio::test]
async fn a_call_is_seen_at_every_stage() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    start(&store, id, 1, Status::Running).await;
    let mut n = 1;
    let mut after = async |body| {
        n += 1;
        let committed = store.append(append(id, vec![record(n, Some(1), body)])).await.unwrap();
        let calls = store.task_calls(task_id(1)).await.unwrap().calls;
        assert_eq!(calls, store.messages(id, None, 10).await.unwrap().calls);
        (committed.records[0].seq, calls)
    };

    let (_, calls) = after(reply("look", &[(1, "shell", "{\"a\": 1}")])).await;
    assert_eq!(calls, []);

    let (seq, calls) = after(planned(1, "{\"a\": 1}")).await;
    let mut view = CallView {
        call_id: call_id(1),
        seq,
        conversation_id: id,
        task_id: task_id(1),
        tool: "shell".to_owned(),
        summary: "run call 1".to_owned(),
        arguments: "{\"a\": 1}".to_owned(),
        preview: None,
        state: CallState::Queued,
        attempt: 0,
        started_at: None,
        ended_at: None,
        outcome: None,
        result: None,
    };
    assert_eq!(calls, [view.clone()]);

    let (_, calls) = after(RecordBody::ApprovalRequested(approval(1, 1))).await;
    view.state = CallState::WaitingApproval;
    assert_eq!(calls, [view.clone()]);

    let decision = ApprovalDecided {
        approval_id: approval_id(1),
        call_id: call_id(1),
        decision: Decision::AllowOnce,
        note: None,
    };
    let (_, calls) = after(RecordBody::ApprovalDecided(decision)).await;
    view.state = CallState::Queued;
    assert_eq!(calls, [view.clone()]);

    let (_, calls) = after(started(1, 2)).await;
    (view.state, view.attempt, view.started_at) = (CallState::Running, 2, Some(Timestamp(6)));
    assert_eq!(store.settled_calls(vec![call_id(1), call_id(9)]).await.unwrap(), [call_id(9)]);
    assert_eq!(calls, [view.clone()]);

    let (_, calls) = after(finished(1, 2)).await;
    (view.state, view.ended_at, view.outcome) =
        (CallState::Finished, Some(Timestamp(7)), Some(CallOutcome::Done));
    view.result = Some(ToolResult::success("call 1 is done", None));
    assert_eq!(calls, [view.clone()]);

    let calls = vec![call_id(1), call_id(9)];
    assert_eq!(
        store.settled_calls(calls.clone()).await.unwrap(),
        calls,
        "one has ended, nobody knows the other"
    );

    // What is said of it later does not bring it back.
    let (_, calls) = after(RecordBody::ApprovalRequested(approval(2, 1))).await;
    assert_eq!(calls, [view]);
}

#[tokio::test]
async fn of_very_many_calls_the_newest_are_listed() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    start(&store, id, 1, Status::Running).await;
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(100_000));
    for n in 1..=60 {
        store.append(append(id, vec![record(n + 1, Some(1), planned(n, &long))])).await.unwrap();
    }
    let TaskCalls { calls, is_cut } = store.task_calls(task_id(1)).await.unwrap();
    assert!(is_cut && (30..60).contains(&calls.len()), "{} calls", calls.len());
    assert!(calls.is_sorted_by_key(|call| call.seq));
    assert_eq!(calls.last().unwrap().call_id, call_id(60));
}
