use super::{at, id, text, things, things::json};
use abide_protocol::{
    Seq, SubscriptionId,
    inbox::Decision,
    memory::MemoryUse,
    method::{
        Request,
        catalog::{ListPersonasParams, ListTemplatesParams, ListToolsParams},
        config::{GetConfigParams, ModelChoice, ProviderChange, UpdateConfigParams},
        conversation::{
            ArchiveConversationParams, ConversationParams, CreateConversationParams, FocusParams,
            ListConversationsParams, ListMessagesParams, MarkReadParams, UpdateConversationParams,
        },
        daemon::{
            CheckModelParams, CheckProviderParams, ListModelsParams, SetKeyParams, ShutdownParams,
            StatusParams, UpdateDaemonParams,
        },
        http::{
            AddTokenParams, ListTokensParams, RevokeTokenParams, ServeHttpParams, StopHttpParams, TokenAccess,
        },
        inbox::{DecideApprovalParams, InboxParams, UserResponseParams},
        memory::{
            AddNoteParams, ForgetMemoryParams, GetMemoryParams, ListNotesParams, PruneMemoryParams,
            SearchMemoryParams,
        },
        rule::{AddRuleParams, ForgetRuleParams, ListRulesParams, TestRuleParams},
        search::SearchParams,
        subscription::{Scope, SubscribeParams, UnsubscribeParams},
        task::{
            AgentTreeParams, GetTaskParams, ImportCall, ImportMessage, ImportRole, InterveneParams,
            ListTasksParams, OwnWorktree, StartTaskParams, TaskChangesParams, TaskParams,
        },
        usage::UsageParams,
        workspace::GetWorkspaceParams,
        worktree::{ListWorktreesParams, WorktreeParams},
    },
    provider::ProviderEntry,
    task::{Approvals, LimitsRequest, Mode, RestartPolicy},
};

/// Samples, each with a suffix that tells it from others of its method.
pub(super) fn all() -> Vec<(&'static str, Request)> {
    let full = tasks().into_iter().chain(inbox()).chain(conversations()).chain(rest());
    full.map(|request| ("", request)).chain(sparse()).collect()
}

fn tasks() -> Vec<Request> {
    let task = || TaskParams { task_id: "beef0021".to_owned() };
    vec![
        Request::StartTask(StartTaskParams {
            conversation_id: Some(id(0x11)),
            message: "Tidy up.\nThen rest.".to_owned(),
            mode: Some(Mode::Agent),
            model: text("local/smollm2"),
            workspace: text("/home/me/project"),
            persona: text("reviewer"),
            tools: Some(vec!["shell".to_owned(), "read".to_owned()]),
            limits: LimitsRequest {
                max_steps: Some(1),
                max_duration_secs: Some(2),
                step_delay_ms: Some(3),
                max_tokens: Some(4),
                max_cost_micros: Some(5),
                question_timeout_secs: Some(6),
                max_depth: Some(1),
                max_children: Some(2),
                max_tasks: Some(3),
            },
            approvals: Approvals::Allow,
            restart: Some(RestartPolicy::Pause),
            metadata: Some(json(r#"{"ticket": 17, "escaped": "a\"b\\\u00fc"}"#)),
            client_message_id: text("mine-1"),
            environment: [("LANG", "C.UTF-8"), ("PATH", "/usr/bin")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .into(),
            template: text("review"),
            message_mode: text("Task"),
            task_id: text("agent-123"),
            files: vec!["notes.md".to_owned()],
            worktree: Some(OwnWorktree { branch: text("tidy") }),
            memory: Some(MemoryUse::Private),
            parent_id: text("beef0021"),
            messages: imported(),
        }),
        Request::StopTask(task()),
        Request::PauseTask(task()),
        Request::AgentTree(AgentTreeParams {
            task_id: text("beef0021"),
            conversation_id: text("beef0011"),
            all: true,
        }),
        Request::Intervene(InterveneParams {
            task_id: "beef0021".to_owned(),
            comment: "modify".to_owned(),
            content: Some("Only the docs.".to_owned()),
            status: Some("modified".to_owned()),
        }),
        Request::ResumeTask(task()),
        Request::ListTasks(ListTasksParams {
            conversation_id: Some(id(0x11)),
            all: true,
            cursor: text("next"),
            limit: Some(50),
        }),
        Request::ListFiles(task()),
        Request::TaskChanges(TaskChangesParams {
            task_id: "beef0021".to_owned(),
            step: Some(3),
            redo: false,
            all: true,
            files: Vec::new(),
            hunk: None,
        }),
        Request::UndoTask(TaskChangesParams {
            task_id: "beef0021".to_owned(),
            step: None,
            redo: true,
            all: false,
            files: vec!["src/main.rs".to_owned()],
            hunk: text("@@ -1 +1 @@\n-a\n+b\n"),
        }),
        Request::ListWorktrees(ListWorktreesParams { worktree: text("beef0021") }),
        Request::RemoveWorktree(WorktreeParams { worktree: "abide/beef0011".to_owned() }),
        Request::GetWorkspace(GetWorkspaceParams {
            workspace: "/home/me/project".to_owned(),
            path: text("/usr/bin:/bin"),
        }),
        Request::GetTask(GetTaskParams { task_id: "beef0021".to_owned(), history: true }),
    ]
}

fn imported() -> Vec<ImportMessage> {
    vec![
        ImportMessage {
            role: ImportRole::Assistant,
            text: "I look.".to_owned(),
            tool_calls: vec![ImportCall {
                id: "theirs-1".to_owned(),
                tool: "read".to_owned(),
                arguments: json(r#"{"path":"a"}"#),
            }],
            call_id: None,
            result: None,
        },
        ImportMessage {
            role: ImportRole::User,
            text: String::new(),
            tool_calls: Vec::new(),
            call_id: text("theirs-1"),
            result: Some(json(r#"{"lines":[1, 2]}"#)),
        },
    ]
}

fn inbox() -> Vec<Request> {
    vec![
        Request::UserResponse(UserResponseParams {
            task_id: "beef0021".to_owned(),
            question_id: text("beef0051"),
            response: text("this one"),
        }),
        Request::DecideApproval(DecideApprovalParams {
            approval_id: "beef0061".to_owned(),
            decision: Decision::AllowAlways,
            note: text("fine"),
            rule: None,
        }),
        Request::Inbox(InboxParams { task_id: text("beef0021") }),
        Request::ListRules(ListRulesParams { before: Some(Seq(1001)), limit: Some(50) }),
        Request::ForgetRule(ForgetRuleParams { rule_id: "beef0071".to_owned() }),
        Request::AddRule(AddRuleParams { rule: things::text_rule() }),
        Request::TestRule(TestRuleParams {
            command: "cargo test".to_owned(),
            workspace: "/w".to_owned(),
            path: Some("/usr/bin".to_owned()),
        }),
        Request::GetUsage(UsageParams { since: Some(at(0x51)), since_day: text("2026-11-27") }),
    ]
}

fn conversations() -> Vec<Request> {
    let conversation_id = || "beef0011".to_owned();
    let one = || ConversationParams { conversation_id: conversation_id() };
    vec![
        Request::CreateConversation(CreateConversationParams {
            title: text("Tidy up"),
            workspace: text("/home/me/project"),
            mode: Some(Mode::Chat),
            model: text("local/smollm2"),
            persona: text("reviewer"),
            memory: Some(MemoryUse::NoRecall),
        }),
        Request::ListConversations(ListConversationsParams {
            archived: true,
            cursor: text("next"),
            limit: Some(50),
        }),
        Request::GetConversation(one()),
        Request::ListMessages(ListMessagesParams {
            conversation_id: conversation_id(),
            task_id: text("beef0022"),
            before: Some(Seq(1001)),
            after: Some(Seq(0)),
            limit: Some(50),
        }),
        Request::UpdateConversation(UpdateConversationParams {
            conversation_id: conversation_id(),
            title: text("Tidy up"),
            workspace: text("/home/me/project"),
            mode: Some(Mode::Chat),
            model: text("local/smollm2"),
            persona: text("reviewer"),
            muted: Some(true),
            memory: Some(MemoryUse::Private),
        }),
        Request::ArchiveConversation(ArchiveConversationParams {
            conversation_id: conversation_id(),
            archived: true,
        }),
        Request::DeleteConversation(one()),
        Request::MarkRead(MarkReadParams { conversation_id: conversation_id(), seq: Seq(1001) }),
        Request::Focus(FocusParams { conversation_id: Some(id(0x11)), inbox: true }),
        Request::Search(SearchParams {
            query: "tidy \"up now\"".to_owned(),
            conversation_id: Some(conversation_id()),
            before: Some(Seq(1001)),
            limit: Some(50),
        }),
        Request::GetMemory(GetMemoryParams { verbose: true }),
        Request::SearchMemory(SearchMemoryParams {
            query: "the port".to_owned(),
            workspace: text("/home/me/project"),
            limit: Some(5),
        }),
        Request::ForgetMemory(ForgetMemoryParams { seq: Seq(77) }),
        Request::AddNote(AddNoteParams {
            text: "Tests need a display.".to_owned(),
            workspace: text("/home/me/project"),
        }),
        Request::ListNotes(ListNotesParams { workspace: text("/home/me/project") }),
        Request::PruneMemory(PruneMemoryParams { older_than_secs: Some(86_400), keep: Some(9), words: true }),
    ]
}

fn rest() -> Vec<Request> {
    vec![
        Request::Subscribe(SubscribeParams { scope: Scope::Conversation(id(0x11)), since: Some(Seq(1001)) }),
        Request::Unsubscribe(UnsubscribeParams { subscription_id: SubscriptionId(9) }),
        Request::ListModels(ListModelsParams { offline: true, provider: text("local") }),
        Request::Status(StatusParams { verbose: true }),
        Request::Shutdown(ShutdownParams { deadline_ms: Some(2500) }),
        Request::UpdateDaemon(UpdateDaemonParams { patience_ms: Some(1500) }),
        Request::SetKey(SetKeyParams { provider: "anthropic".to_owned(), key: text("a-key") }),
        Request::CheckModel(CheckModelParams { model: "local/smollm2".to_owned() }),
        Request::CheckProvider(CheckProviderParams {
            provider: entry(),
            key: text("a-key"),
            model: text("corp/big"),
        }),
        Request::ServeHttp(ServeHttpParams {
            urls: vec!["http://localhost:5000".to_owned()],
            plain: true,
            detach: true,
        }),
        Request::StopHttp(StopHttpParams { verbose: true }),
        Request::AddToken(AddTokenParams { name: "phone".to_owned(), access: TokenAccess::Act }),
        Request::ListTokens(ListTokensParams { verbose: true }),
        Request::RevokeToken(RevokeTokenParams { name: "phone".to_owned() }),
        Request::ListPersonas(ListPersonasParams { name: text("reviewer") }),
        Request::ListTools(ListToolsParams { mode: Some(Mode::Roa) }),
        Request::ListTemplates(ListTemplatesParams { name: text("review") }),
        Request::GetConfig(GetConfigParams { verbose: true }),
        Request::UpdateConfig(UpdateConfigParams {
            model: Some(ModelChoice::Named("local/smollm2".to_owned())),
            notifications: Some(false),
            memory: Some(true),
            provider: Some(ProviderChange::Set(entry())),
            max_tokens: Some(2_000_000),
            max_cost_micros: Some(5_000_000),
        }),
    ]
}

fn entry() -> ProviderEntry {
    ProviderEntry {
        name: "corp".to_owned(),
        api: "openai-chat".to_owned(),
        base_url: "https://llm.example/v1".to_owned(),
        api_key_env: text("CORP_API_KEY"),
    }
}

/// Only the parameters that are required.
fn sparse() -> Vec<(&'static str, Request)> {
    let start = StartTaskParams { message: "Tidy up.".to_owned(), ..StartTaskParams::default() };
    let decline = UserResponseParams { task_id: "beef0021".to_owned(), question_id: None, response: None };
    let subscribe = |scope| Request::Subscribe(SubscribeParams { scope, since: None });
    vec![
        (".sparse", Request::StartTask(start)),
        (".sparse", Request::ListTasks(ListTasksParams::default())),
        (".decline", Request::UserResponse(decline)),
        (".sparse", Request::CreateConversation(CreateConversationParams::default())),
        (".overview", subscribe(Scope::Overview)),
        (".all", subscribe(Scope::All)),
        (".tree", subscribe(Scope::Tree(id(0x11)))),
        (".task", subscribe(Scope::Task(id(0x22)))),
        (
            ".automatic",
            Request::UpdateConfig(UpdateConfigParams {
                model: Some(ModelChoice::Automatic),
                notifications: None,
                memory: None,
                provider: Some(ProviderChange::Remove("corp".to_owned())),
                max_tokens: None,
                max_cost_micros: Some(0),
            }),
        ),
        (".remove", Request::SetKey(SetKeyParams { provider: "anthropic".to_owned(), key: None })),
    ]
}
