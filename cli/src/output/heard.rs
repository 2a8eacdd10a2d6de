//! What a screen reader says of the output. States that differ must differ in their words: not only in a
//! colour, a mark or a column.

use crate::output::{call, catalog, changes, files, fixture, message, models, ps, rule, search, tree};
use abide_client::protocol::{
    ConversationId, RecordId, Seq, TaskId,
    checkpoint::{ChangeKind, ChangedFile},
    inbox::{Pending, RuleEffect},
    message::{CallOutcome, CallView, Message, MessageKind, Role},
    method::{
        catalog::PersonaInfo,
        rule::PolicyRule,
        search::{Excerpt, MessageHit, SearchReply, TitleHit},
        task::{Agent, FileChange, TaskChangesReply, TaskFile},
    },
    provider::{KeyState, ProviderInfo},
    task::{AgentTask, CallState, EndReason, PauseReason, Status},
    transcript::ToolResult,
};
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// The words of a rendered text. A dash on its own stands in an empty cell, and is said.
fn heard(rendered: &str) -> String {
    let plain = anstream::adapter::strip_str(rendered).to_string();
    let said = |word: &str| match word {
        "-" => "nothing".to_owned(),
        word => word.chars().filter(|c| c.is_alphanumeric()).collect(),
    };
    let words: Vec<String> = plain.split_whitespace().map(said).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// No two of them may sound alike.
fn differ<S: std::fmt::Debug>(states: impl IntoIterator<Item = (S, String)>) {
    let mut known: HashMap<String, S> = HashMap::new();
    for (state, rendered) in states {
        let words = heard(&rendered);
        if let Some(other) = known.get(&words) {
            panic!("{state:?} sounds like {other:?}: {words:?}");
        }
        known.insert(words, state);
    }
    assert!(known.len() > 1, "nothing to compare");
}

#[test]
fn the_states_of_a_call_sound_different() {
    let finished = |outcome, ok: bool| {
        let result = if ok { ToolResult::success("It is so", None) } else { ToolResult::failure("It is so") };
        let call = CallView { outcome: Some(outcome), result: Some(result), ..fixture::call() };
        (format!("{outcome:?} {ok}"), call::rendered(&call, call::Extent::Tail, None))
    };
    let open = |state| {
        let call = CallView { state, outcome: None, result: None, ended_at: None, ..fixture::call() };
        (format!("{state:?}"), call::rendered(&call, call::Extent::Tail, None))
    };
    differ([
        finished(CallOutcome::Done, true),
        finished(CallOutcome::Done, false),
        finished(CallOutcome::Refused, false),
        finished(CallOutcome::Rejected, false),
        finished(CallOutcome::Cancelled, false),
        finished(CallOutcome::Interrupted, false),
        open(CallState::Queued),
        open(CallState::Running),
        open(CallState::WaitingApproval),
        open(CallState::WaitingUser),
        open(CallState::WaitingChildren),
    ]);
}

#[test]
fn the_states_of_a_task_sound_different() {
    let titles = HashMap::new();
    let row = |task: AgentTask| {
        let shown = ps::tasks(std::slice::from_ref(&task), &titles, fixture::START, None);
        (format!("{:?} {:?} {:?}", task.status, task.end_reason, task.pause_reason), shown)
    };
    let of = |status| AgentTask { status, ..fixture::task() };
    let waiting = |status, pending| row(AgentTask { pending: vec![pending], ..of(status) });
    let paused = |reason| row(AgentTask { pause_reason: Some(reason), ..of(Status::Paused) });
    let ended = |reason: EndReason| row(AgentTask { end_reason: Some(reason), ..of(reason.status()) });
    let open = [
        row(of(Status::Running)),
        row(of(Status::Thinking)),
        row(of(Status::ToolExecuting)),
        row(of(Status::WaitingChildren)),
        waiting(Status::WaitingUser, Pending::Question(fixture::question())),
        waiting(Status::WaitingApproval, Pending::Approval(fixture::approval())),
    ];
    let pauses = [
        PauseReason::User,
        PauseReason::Budget,
        PauseReason::CrashLoop,
        PauseReason::Restart,
        PauseReason::Parked,
    ];
    let ends = [
        EndReason::Completed,
        EndReason::StepLimit,
        EndReason::TimeLimit,
        EndReason::Stopped,
        EndReason::Deleted,
        EndReason::QuestionTimeout,
        EndReason::Budget,
        EndReason::Error,
        EndReason::ParentEnded,
        EndReason::Declined,
    ];
    differ(open.into_iter().chain(pauses.map(paused)).chain(ends.map(ended)));
}

#[test]
fn the_tree_says_whose_sub_task_each_one_is() {
    let agent = |n: u128, parent: Option<u128>| {
        let id = |n| TaskId(Uuid::from_u128(n));
        let task = AgentTask { id: id(n), parent_id: parent.map(id), ..fixture::task() };
        let title = format!("task {n}");
        (id(n), Agent { task, title, depth: 0, user_content: None, user_comment: None })
    };
    let tree = |parent| {
        let agents: BTreeMap<_, _> = [agent(1, None), agent(2, Some(1)), agent(3, parent)].into();
        tree::tree(&agents, None)
    };
    differ([("its sibling", tree(Some(1))), ("its child", tree(Some(2))), ("another task", tree(None))]);
}

#[test]
fn who_speaks_is_said() {
    let all = [
        (Role::User, MessageKind::Text),
        (Role::User, MessageKind::Answer),
        (Role::Agent, MessageKind::Text),
        (Role::Agent, MessageKind::Question),
        (Role::System, MessageKind::Text),
        (Role::User, MessageKind::Imported),
        (Role::Agent, MessageKind::Imported),
        (Role::System, MessageKind::Imported),
    ];
    let said = |role, kind| Message {
        id: RecordId(Uuid::from_u128(1)),
        seq: Seq(1),
        conversation_id: ConversationId(Uuid::from_u128(2)),
        task_id: None,
        at: fixture::START,
        role,
        kind,
        text: "Good morning".into(),
        reasoning: None,
        question_id: None,
    };
    let look = message::Look { extent: call::Extent::Tail, now: fixture::START, width: None, is_rich: false };
    differ(all.map(|(role, kind)| ((role, kind), message::aside(&said(role, kind)))));
    differ(
        all.map(|(role, kind)| ((role, kind), message::conversation(&[said(role, kind)], &[], &[], &look))),
    );
}

#[test]
fn a_problem_is_called_one() {
    let provider = |key, models: &[&str], problem: Option<&str>| {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        let problem = problem.map(str::to_owned);
        models::provider(&ProviderInfo {
            name: "p".into(),
            api: String::new(),
            base_url: String::new(),
            source: String::new(),
            key,
            models,
            problem,
        })
    };
    differ([
        ("a model", provider(KeyState::Present, &["no answer"], None)),
        ("a problem", provider(KeyState::Present, &[], Some("no answer"))),
        ("no key needed", provider(KeyState::NotNeeded, &["no answer"], None)),
        ("no key", provider(KeyState::Missing, &["no answer"], None)),
    ]);
    let persona = |description: &str, problem: Option<&str>| {
        let persona = PersonaInfo {
            name: "coder".into(),
            description: description.into(),
            mode: None,
            model: None,
            tools: None,
            max_steps: None,
            source: String::new(),
            problem: problem.map(str::to_owned),
        };
        catalog::personas(&[persona], None)
    };
    differ([("its description", persona("no file", None)), ("its problem", persona("", Some("no file")))]);
}

#[test]
fn what_a_rule_does_is_said() {
    let effects = [RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny];
    differ(effects.map(|effect| (effect, rule::policy(&[PolicyRule { text: "shell(ls)".into(), effect }]))));
}

#[test]
fn what_happened_to_a_file_is_said() {
    let changed = |kind, kept, perhaps_yours| {
        let file = ChangedFile { path: "a".into(), kind, added: None, removed: None, kept, perhaps_yours };
        let reply = TaskChangesReply {
            files: vec![file],
            diff: String::new(),
            cut: false,
            steps: vec![],
            can_redo: false,
            notes: Vec::new(),
        };
        ((kind, kept, perhaps_yours), changes::all(&reply))
    };
    differ([
        changed(ChangeKind::Added, false, false),
        changed(ChangeKind::Modified, false, false),
        changed(ChangeKind::Deleted, false, false),
        changed(ChangeKind::Modified, true, false),
        changed(ChangeKind::Modified, true, true),
    ]);
    let file = |change, bytes| {
        (change, files::files(&[TaskFile { change, bytes, ..TaskFile::named("a".to_owned()) }], None))
    };
    differ([file(FileChange::Named, None), file(FileChange::Created, None)]);
}

#[test]
fn an_empty_cell_is_heard_so_that_columns_can_be_counted() {
    let persona = |mode, tools: Option<Vec<String>>| PersonaInfo {
        name: "plan".into(),
        description: String::new(),
        mode,
        model: None,
        tools,
        max_steps: None,
        source: String::new(),
        problem: None,
    };
    use abide_client::protocol::task::Mode;
    differ([
        ("a mode", catalog::personas(&[persona(Some(Mode::Plan), None)], None)),
        ("no mode", catalog::personas(&[persona(None, None)], None)),
    ]);
}

#[test]
fn a_title_that_matches_is_told_from_one_whose_messages_do() {
    let id = ConversationId(Uuid::from_u128(1));
    let excerpt = |text: &str| Excerpt { text: text.to_owned(), marks: Vec::new() };
    let hit = MessageHit {
        conversation_id: id,
        conversation_title: "cargo".into(),
        archived: false,
        message_id: RecordId(Uuid::from_u128(9)),
        seq: Seq(9),
        task_id: None,
        at: fixture::START,
        role: Role::Agent,
        kind: MessageKind::Text,
        line: excerpt("cargo"),
    };
    let title = TitleHit { conversation_id: id, archived: false, title: excerpt("cargo") };
    let reply = |titles: Vec<TitleHit>| SearchReply {
        titles,
        messages: vec![hit.clone()],
        before: None,
        searched_to: Seq(9),
    };
    let lines = heard(&search::found(&reply(vec![title]), fixture::START));
    assert!(lines.contains("cargo a title"), "{lines}");
    differ([("both", lines), ("messages", heard(&search::found(&reply(vec![]), fixture::START)))]);
}
