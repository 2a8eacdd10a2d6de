//! A call before the first step: the setup of a worktree.

use crate::world::{World, facts, head, tool};
use abide_engine::{Command, Effect, Input, Start, effects};
use abide_protocol::{
    CallId, TaskId,
    message::CallOutcome,
    record::{CallAssessed, Interruption, NewRecord, Permission, RecordBody},
    task::{Mode, Status},
    transcript::{EffectClass, Entry, Risk, ToolResult},
};
use uuid::Uuid;

const CALL: CallId = CallId(Uuid::from_u128(9));

fn assessed(permission: Permission) -> CallAssessed {
    CallAssessed {
        call_id: CALL,
        tool: "shell".to_owned(),
        arguments: r#"{"command":"npm ci"}"#.to_owned(),
        summary: "npm ci".to_owned(),
        effect: EffectClass::Unsafe,
        risk: Risk::Low,
        preview: None,
        edit: None,
        digest: String::new(),
        permission,
        sandbox: "full".to_owned(),
        rule: None,
        direct: None,
        wider: Vec::new(),
        why: None,
        in_passing: false,
        files: Vec::new(),
        only_once: None,
        for_task: false,
        notes: Vec::new(),
    }
}

fn started(mode: Mode, permission: Permission) -> World {
    let mut w = World::new(1);
    let mut head = head();
    (head.mode, head.tools) = (mode, vec![tool()]);
    let task = TaskId(w.mint().uuid());
    let (conversation, setup) = (Some(facts()), Some(assessed(permission)));
    w.input(Command::Start(Box::new(Start {
        task,
        conversation,
        head,
        imported: Vec::new(),
        recalled: None,
        setup,
    })));
    w.id = task;
    w
}

fn finish(w: &mut World) -> Vec<NewRecord> {
    w.input(Input::CallFinished {
        task: w.id,
        call: CALL,
        attempt: 1,
        outcome: CallOutcome::Done,
        result: ToolResult::failure("npm: not found"),
        duration_ms: 1,
        read_results: Vec::new(),
    })
}

fn asks(records: &[NewRecord]) -> bool {
    records.iter().any(|record| matches!(record.body, RecordBody::ModelRequested(_)))
}

#[test]
fn every_mode_begins_after_it_and_its_model_is_told_of_a_failure() {
    for mode in [Mode::Agent, Mode::Auto, Mode::Chat, Mode::Roa, Mode::Plan, Mode::Tree] {
        let mut w = started(mode, Permission::Sandbox);
        let running = Effect::Tool { task: w.id, call: CALL, attempt: 1 };
        assert_eq!(effects(&w.history), [running], "{mode:?}");
        assert!(asks(&finish(&mut w)), "{mode:?}");
        let entries = w.task().entries();
        assert!(matches!(entries.first(), Some(Entry::User(_))), "{mode:?}: {entries:?}");
        let Some(Entry::Results(results)) = entries.get(1) else { panic!("{mode:?}: {entries:?}") };
        assert!(!results[0].ok && results[0].text.contains("npm: not found"), "{mode:?}: {results:?}");
    }
}

#[test]
fn it_may_wait_for_a_person_and_is_not_run_again_after_a_crash() {
    let w = started(Mode::Agent, Permission::Ask);
    assert_eq!(w.status(), Status::WaitingApproval);

    let mut w = started(Mode::Agent, Permission::Sandbox);
    let appended = w.input(Input::Interrupted {
        cause: Interruption::DaemonRestarted,
        findings: Vec::new(),
        ran_until: None,
    });
    assert!(asks(&appended), "{appended:?}");
    let Some(Entry::Results(results)) = w.task().entries().get(1) else { panic!("{:?}", w.task().entries()) };
    assert!(results[0].text.contains("Interrupted"), "{results:?}");
}
