//! People's commands: start, stop, pause, resume, answer.

use crate::{
    plan::{ask, complete, read, shell},
    world::{World, facts, head, prompts, somebody},
};
use abide_engine::{Command, First, History, Input, Mint, Refusal, Stage, needs_daemon, view};
use abide_protocol::{
    ConversationId, QuestionId, TaskId,
    inbox::{Decision, NamedFile, WiderRule},
    message::CallOutcome,
    record::{ConversationDeleted, ConversationUpdated, ModelErrorKind, NewRecord, RecordBody, TaskStarted},
    task::{EndReason, Mode, PauseReason, Status},
    transcript::{Entry, StopReason},
};

/// A world in each live status.
fn live() -> Vec<(Status, World)> {
    let with = |calls: &[crate::plan::Plan]| {
        let mut w = World::started();
        w.reply("", calls);
        w
    };
    let mut backoff = World::started();
    backoff.fail(ModelErrorKind::Network, true, None);
    let mut delayed = World::started_with(|head| head.limits.step_delay_ms = 1000);
    delayed.reply("Well.", &[]);
    let mut paused = World::started();
    paused.pause();
    paused.fail(ModelErrorKind::Network, true, None);
    let mut held = World::started();
    held.pause();
    held.reply("", &[shell("c"), read("f").asking(), ask("?")]);
    let mut crashed = with(&[shell("c").asking(), read("f")]);
    let call = *crashed.task().approvals.values().map(|a| &a.call_id).next().unwrap();
    crashed.decide(call, Decision::AllowOnce);
    crashed.restart();
    vec![
        (Status::Thinking, World::started()),
        (Status::Thinking, backoff),
        (Status::Running, delayed),
        (Status::ToolExecuting, with(&[read("1"), read("2"), shell("c"), ask("?"), complete("x")])),
        (Status::WaitingApproval, with(&[read("1"), shell("c").asking()])),
        (Status::WaitingUser, with(&[ask("?")])),
        (Status::WaitingUser, crashed),
        (Status::Paused, paused),
        (Status::Paused, held),
    ]
}

#[test]
fn a_stop_is_legal_from_every_live_status_and_leaves_no_call_without_result() {
    for (status, mut w) in live() {
        assert_eq!(w.status(), status);
        w.stop("");
        assert_eq!((w.status(), w.end()), (Status::Cancelled, Some(EndReason::Stopped)), "from {status:?}");
        assert_eq!(w.notice(), Some("Stopped by you."));
        let view = view(ConversationId(uuid::Uuid::nil()), &w.history, w.task());
        assert!(view.pending.is_empty() && view.active_calls.is_empty() && view.pause_reason.is_none());
        w.start(head()).expect("the conversation goes on");
        assert!(w.is_thinking());
    }
}

#[test]
fn an_ended_task_refuses_every_command() {
    let mut w = World::started();
    w.stop("");
    let (task, ended) = (w.id, Err(Refusal::Ended(EndReason::Stopped)));
    assert_eq!(w.attempt(Command::Stop { task }), ended);
    assert_eq!(w.attempt(Command::Pause { task }), ended);
    assert_eq!(w.attempt(Command::Resume { task, by: None }), ended);
    assert_eq!(w.attempt(Input::Wake), Ok(vec![]));
    let stranger = TaskId(uuid::Uuid::nil());
    assert_eq!(w.attempt(Command::Pause { task: stranger }), Err(Refusal::NoTask));
}

#[test]
fn a_stop_records_the_shown_text_under_the_replys_id() {
    let mut w = World::started();
    let item = w.item();
    w.stop("Half a sen");
    let partial =
        w.records.iter().find(|r| matches!(&r.body, RecordBody::PartialReply(p) if p.text == "Half a sen"));
    assert_eq!(partial.map(|r| r.id), Some(item), "clients replace the live text by this record");
    assert_eq!(w.transcript(), ["user", "partial"]);
}

#[test]
fn text_shown_of_a_recorded_reply_is_not_recorded_again() {
    let mut w = World::started();
    let calls = w.reply("A whole sentence.", &[shell("1"), shell("2")]);
    w.stop("A whole sentence.");
    assert_eq!(w.transcript(), ["user", "reply", "shell:failed", "shell:failed"]);
    assert!(w.result(calls[0]).unwrap().contains("effects are unknown"));
    assert!(w.result(calls[1]).unwrap().contains("before this ran"));
    assert!(calls.iter().all(|call| w.outcome(*call) == Some(CallOutcome::Cancelled)));
}

/// A starting daemon loads only conversations with such a task.
#[test]
fn only_a_task_that_goes_on_by_itself_needs_the_daemon() {
    let mut w = World::started();
    assert!(needs_daemon(&w.history, w.task()), "a model call is under way");
    w.reply("", &[ask("Which?")]);
    assert!(!needs_daemon(&w.history, w.task()), "it waits for an answer");
    w.answer(w.question().id, Some("this")).unwrap();
    assert!(needs_daemon(&w.history, w.task()));
    w.fail(ModelErrorKind::Network, true, None);
    assert!(needs_daemon(&w.history, w.task()), "it tries again by itself");
    w.pause();
    assert!(!needs_daemon(&w.history, w.task()), "it waits for a resume");
    w.stop("");
    assert!(!needs_daemon(&w.history, w.task()));
}

#[test]
fn a_pause_takes_effect_at_the_next_boundary() {
    let mut w = World::started();
    w.pause();
    w.pause();
    assert_eq!(w.status(), Status::Thinking, "the running attempt goes on");
    let calls = w.reply("", &[read("1"), shell("2"), shell("3").asking(), ask("?")]);
    assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::User)));
    assert_eq!((w.running(), w.task().approvals.len()), (vec![], 0), "nothing new starts");
    w.resume();
    assert_eq!((w.running(), w.task().approvals.len()), (vec![(calls[0], 1)], 1));
    assert_eq!(w.attempt(Command::Resume { task: w.id, by: None }), Err(Refusal::NotPaused));
}

#[test]
fn a_pause_between_two_calls_of_a_reply_blocks_the_second() {
    let mut w = World::started();
    let calls = w.reply("", &[shell("1"), shell("2")]);
    w.pause();
    w.finish(calls[0], true);
    assert_eq!((w.status(), w.running()), (Status::Paused, vec![]));
    w.restart();
    assert_eq!(w.running(), []);
    w.resume();
    assert_eq!(w.running(), [(calls[1], 1)]);
}

#[test]
fn a_paused_task_still_takes_answers_and_decisions() {
    let mut w = World::started();
    let call = w.reply("", &[shell("c").asking(), ask("?")])[0];
    w.pause();
    w.decide(call, Decision::AllowOnce);
    assert_eq!((w.status(), w.running()), (Status::Paused, vec![]));
    w.resume();
    w.finish(call, true);
    w.pause();
    w.answer(w.question().id, Some("a")).unwrap();
    assert_eq!(w.status(), Status::Paused);
    w.resume();
    assert!(w.is_thinking());
}

#[test]
fn the_first_answer_wins() {
    let mut w = World::started();
    w.reply("", &[ask("Which?")]);
    let question = w.question().id;
    w.answer(question, None).unwrap();
    let first = Err(Refusal::Answered(First { said: None, at: w.now }));
    w.now = w.now.plus(60_000);
    assert_eq!(w.answer(question, Some("a")), first);
    w.stop("");
    assert_eq!(w.answer(question, Some("a")), first, "also after the end");
}

#[test]
fn only_open_questions_take_answers() {
    let mut w = World::started();
    assert_eq!(w.answer(QuestionId(uuid::Uuid::nil()), Some("a")), Err(Refusal::NoQuestion));
    let approval = abide_protocol::ApprovalId(uuid::Uuid::nil());
    let decide =
        Command::Decide { approval, decision: Decision::AllowOnce, note: None, rule: None, by: somebody() };
    assert_eq!(w.attempt(decide), Err(Refusal::NoApproval));
}

#[test]
fn a_conversation_has_one_root_task_at_a_time() {
    for (_, mut w) in live() {
        let running = w.id;
        assert_eq!(w.start(head()), Err(Refusal::TaskRunning(running)));
    }
}

#[test]
fn a_new_task_continues_the_transcript_and_resets_the_counts() {
    let limited = || TaskStarted {
        limits: abide_protocol::task::Limits { max_tokens: 100, max_steps: 3, ..head().limits },
        ..head()
    };
    let mut w = World::started_with(|head| *head = limited());
    w.tokens = 30;
    w.reply("One.", &[]);
    w.reply("", &[complete("Done.")]);
    let before = w.transcript();
    w.start(limited()).unwrap();
    assert_eq!(w.transcript(), [before, vec!["user".to_owned()]].concat());
    let task = w.task();
    assert_eq!((task.step, task.usage.tokens(), task.limits), (1, 0, limited().limits));
    w.reply("Two.", &[]);
    assert_eq!(w.end(), None, "the count of replies without calls is reset too");
    assert_eq!(w.count(|b| matches!(b, RecordBody::ConversationCreated(_))), 1);
}

#[test]
fn a_conversation_is_created_updated_and_archived() {
    let mut w = World::new(1);
    w.input(Command::Create(facts()));
    w.input(Command::Update(ConversationUpdated {
        title: Some("Another".to_owned()),
        ..ConversationUpdated::default()
    }));
    w.input(Command::Archive { archived: true });
    let conversation = w.history.conversation.as_ref().unwrap();
    assert_eq!((conversation.facts.title.as_str(), conversation.facts.workspace.as_str()), ("Another", "/w"));
    assert!(conversation.archived);
    w.start(head()).unwrap();
    assert_eq!(w.count(|b| matches!(b, RecordBody::ConversationCreated(_))), 1);
}

#[test]
fn the_tombstone_resets_the_history() {
    let mut w = World::started();
    w.reply("", &[shell("c").asking()]);
    let mut mint = w.mint();
    let body = RecordBody::ConversationDeleted(ConversationDeleted { records: 7 });
    w.history.fold(&NewRecord { id: mint.record_id(), task_id: None, at: w.now, body });
    assert_eq!(w.history, History::default());
    assert_eq!(abide_engine::effects(&w.history), []);
}

#[test]
fn the_view_shows_a_tasks_calls_and_pending_items() {
    let mut w = World::started();
    let calls = w.reply("", &[read("1"), shell("2").asking(), shell("3"), ask("?")]);
    let view = view(ConversationId(uuid::Uuid::nil()), &w.history, w.task());
    use abide_protocol::task::CallState as S;
    let states: Vec<_> = view.active_calls.iter().map(|c| (c.call_id, c.state, c.attempt)).collect();
    let expected = [
        (calls[0], S::Running, 1),
        (calls[1], S::WaitingApproval, 0),
        (calls[2], S::Queued, 0),
        (calls[3], S::Queued, 0),
    ];
    assert_eq!(states, expected);
    assert_eq!((view.status, view.step_count, view.pending.len()), (Status::WaitingApproval, 1, 1));
}

#[test]
fn a_refused_input_changes_nothing() {
    let mut w = World::started();
    let before = w.history.clone();
    let mut mint = Mint::new(w.now, 7);
    assert!(
        abide_engine::handle(&mut w.history, Command::Resume { task: w.id, by: None }, &mut mint).is_err()
    );
    assert_eq!(w.history, before);
    assert!(matches!(w.task().stage, Stage::Thinking { .. }));
}

#[test]
fn only_a_rule_that_the_approval_offers_can_be_remembered() {
    let rules = ["shell(make *)", "shell(make test *)"];
    let mut w = World::started();
    let (mut input, calls) = w.replied(w.item(), StopReason::ToolCalls, "", &[shell("make test").asking()]);
    if let Input::Replied { replied, .. } = &mut input {
        let wider = |text: &str| WiderRule { text: text.to_owned(), matches: "commands".to_owned() };
        replied.assessed[0].wider = rules.map(wider).into();
    }
    w.input(input);
    let approval = w.approval(calls[0]).id;
    let mut decide = |rule: &str| {
        let (decision, rule) = (Decision::AllowAlways, Some(rule.to_owned()));
        w.attempt(Command::Decide { approval, decision, note: None, rule, by: somebody() })
    };
    let refused = decide("shell(*)").expect_err("it is not offered");
    assert_eq!(
        refused.to_string(),
        "the approval does not offer this rule; it offers shell(make *), shell(make test *)"
    );
    decide(rules[0]).expect("it is offered");
}

#[test]
fn what_can_be_allowed_only_once_is_not_allowed_always() {
    let mut w = World::started();
    let (mut input, calls) = w.replied(w.item(), StopReason::ToolCalls, "", &[shell("bash a.sh").asking()]);
    let files = vec![NamedFile { path: "a.sh".to_owned(), bytes: 1, sha256: "ab".repeat(32) }];
    if let Input::Replied { replied, .. } = &mut input {
        replied.assessed[0].files = files.clone();
        replied.assessed[0].only_once = Some("it names `a.sh`".to_owned());
    }
    w.input(input);
    let approval = w.approval(calls[0]);
    let id = approval.id;
    assert_eq!((&approval.files, approval.only_once.as_deref()), (&files, Some("it names `a.sh`")));
    let mut decide = |decision| {
        w.attempt(Command::Decide { approval: id, decision, note: None, rule: None, by: somebody() })
    };
    let refused = decide(Decision::AllowAlways).expect_err("it would be remembered");
    assert_eq!(refused.to_string(), "this call can only be allowed once: it names `a.sh`");
    decide(Decision::RejectAlways).expect("no harm is in that");
}

#[test]
fn an_agent_is_told_which_files_the_user_named() {
    let note = "Files of the workspace that the user named: a.txt, b.txt";
    let named = |mode| {
        let w = World::started_with(|head| {
            (head.mode, head.prompts) = (mode, prompts(mode));
            head.files = ["a.txt", "b.txt"].map(str::to_owned).into();
        });
        w.task().entries().iter().filter(|e| matches!(e, Entry::Note(text) if text == note)).count()
    };
    assert_eq!(named(Mode::Agent), 1);
    assert_eq!(named(Mode::Roa), 0, "the note of its first phase names them");
}
