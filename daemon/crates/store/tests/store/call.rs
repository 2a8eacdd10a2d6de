use super::support::*;
use abide_protocol::{
    Timestamp,
    inbox::{Decision, Preview, Question, QuestionKind},
    message::{CallOutcome, CallView},
    record::{ApprovalDecided, CallAssessed, CallFinished, Joining, Permission, RecordBody},
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

    let (seq, calls) = after(assessed(1, "{\"a\": 1}")).await;
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
        permission: Permission::Ask,
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
        by: abide_protocol::record::By { via: abide_protocol::record::Via::Socket, name: String::new() },
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

    // Later records do not reopen a finished call.
    let (_, calls) = after(RecordBody::ApprovalRequested(approval(2, 1))).await;
    assert_eq!(calls, [view]);
}

#[tokio::test]
async fn a_call_that_asks_waits_for_the_user() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    start(&store, id, 1, Status::WaitingUser).await;
    let interrupted = Question { kind: QuestionKind::Interrupted, ..question(2, Some(2)) };
    let bodies = [
        assessed(1, "{}"),
        assessed(2, "{}"),
        RecordBody::QuestionAsked(question(1, Some(1))),
        RecordBody::QuestionAsked(interrupted),
    ];
    let records = (2..).zip(bodies).map(|(n, body)| record(n, Some(1), body)).collect();
    store.append(append(id, records)).await.unwrap();
    let calls = store.task_calls(task_id(1)).await.unwrap().calls;
    let states: Vec<CallState> = calls.iter().map(|call| call.state).collect();
    assert_eq!(
        states,
        [CallState::WaitingUser, CallState::Queued],
        "only the agent's own question is the call"
    );
}

#[tokio::test]
async fn a_long_list_of_calls_keeps_the_newest() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    start(&store, id, 1, Status::Running).await;
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(100_000));
    for n in 1..=60 {
        store.append(append(id, vec![record(n + 1, Some(1), assessed(n, &long))])).await.unwrap();
    }
    let TaskCalls { calls, is_cut } = store.task_calls(task_id(1)).await.unwrap();
    assert!(is_cut && (30..60).contains(&calls.len()), "{} calls", calls.len());
    assert!(calls.is_sorted_by_key(|call| call.seq));
    assert_eq!(calls.last().unwrap().call_id, call_id(60));
}

#[tokio::test]
async fn a_call_that_joins_sub_tasks_waits_for_them() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 100).await;
    start(&store, id, 1, Status::WaitingChildren).await;
    let joining = RecordBody::Joining(Joining { call_id: call_id(1), tasks: vec![task_id(2)] });
    let records = vec![record(2, Some(1), assessed(1, "{}")), record(3, Some(1), joining)];
    store.append(append(id, records)).await.unwrap();
    let calls = store.task_calls(task_id(1)).await.unwrap().calls;
    assert_eq!(calls[0].state, CallState::WaitingChildren);
}

/// All texts of a call count: a page of many has to fit in a frame.
#[tokio::test]
async fn a_list_of_calls_is_cut_by_their_arguments_previews_and_results() {
    let long = "x".repeat(1_000_000);
    for (arguments, diff, result) in [(&*long, "", ""), ("", &*long, ""), ("", "", &*long)] {
        let home = Home::new();
        let store = home.open();
        let id = begin(&store, 1, 100).await;
        start(&store, id, 1, Status::Running).await;
        for n in 1..=8 {
            let RecordBody::CallAssessed(call) = assessed(n, &format!("{{\"a\":\"{arguments}\"}}")) else {
                unreachable!("it is assessed")
            };
            let preview = Preview { path: "f".to_owned(), diff: diff.to_owned(), changed: None };
            let call = RecordBody::CallAssessed(CallAssessed { preview: Some(Box::new(preview)), ..call });
            let RecordBody::CallFinished(end) = finished(n, 1) else { unreachable!("it is finished") };
            let end = CallFinished { result: ToolResult::success(result, None), ..end };
            let records = vec![
                record(10 * n, Some(1), call),
                record(10 * n + 1, Some(1), RecordBody::CallFinished(end)),
            ];
            store.append(append(id, records)).await.unwrap();
        }
        // Five of a megabyte are the first to exceed 4 MiB.
        let TaskCalls { calls, is_cut } = store.task_calls(task_id(1)).await.unwrap();
        assert_eq!((calls.len(), is_cut), (5, true));
        assert_eq!(store.messages(id, None, 100).await.unwrap().calls.len(), 5);
    }
}
