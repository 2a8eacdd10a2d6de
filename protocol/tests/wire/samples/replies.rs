use super::{at, id, text, things};
use abide_protocol::{
    Seq, SubscriptionId,
    checkpoint::{ChangeKind, ChangedFile},
    inbox::{Decision, RuleEffect},
    memory::{Note, RecallWay},
    message::{MessageKind, Role},
    method::{
        Reply,
        catalog::{ListPersonasReply, ListTemplatesReply, ListToolsReply, PersonaInfo, TemplateInfo},
        config::{ConfigReply, ModelChoice},
        conversation::{
            ConversationReply, DeleteConversationReply, FocusReply, ListConversationsReply, ListMessagesReply,
        },
        daemon::{
            CheckFailure, CheckModelReply, CheckProviderReply, ConfigStatus, CutCall, CutOff, CutWork,
            ListModelsReply, ModeSteps, RefusedConfig, SandboxStatus, SetKeyReply, ShutdownReply,
            StatusReply, TaskCounts, UpdateDaemonReply,
        },
        http::{
            AddTokenReply, HttpStatus, ListTokensReply, RevokeTokenReply, ServeHttpReply, StopHttpReply,
            TokenAccess, TokenInfo,
        },
        inbox::{DecideApprovalReply, InboxReply, UserResponseReply},
        memory::{
            AddNoteReply, ForgetMemoryReply, ListNotesReply, MemoryReply, PruneMemoryReply, SearchMemoryReply,
        },
        rule::{
            AddRuleReply, ForgetRuleReply, ListRulesReply, PolicyRule, RememberedRule, RuleOrigin,
            TestRuleReply,
        },
        search::{Excerpt, MessageHit, SearchReply, Span, TitleHit},
        subscription::{SubscribeReply, UnsubscribeReply},
        task::{
            Agent, AgentTreeReply, FileChange, GetTaskReply, InterveneReply, ListFilesReply, ListTasksReply,
            StartTaskReply, TaskChangesReply, TaskFile, TaskHistory, TaskReply, UndoTaskReply,
        },
        usage::{UsageReply, UsageRow},
        workspace::WorkspaceReply,
        worktree::{ListWorktreesReply, RemoveWorktreeReply, Worktree},
    },
    notification::{DaemonUpdate, DeltaItem, DeltaKind, Partial, Snapshot},
    provider::{DefaultModel, KeyState, ProviderInfo},
    record::ModelErrorKind,
    record::Permission,
    sandbox::SandboxLevel,
    start::{AtLogin, StartStatus, StartedBy, SystemdStart},
    task::{Limits, Mode},
    transcript::{EffectClass, Risk, Tier, ToolSpec},
    update::{UpdateStage, UpdateStatus},
};

pub(super) fn all() -> Vec<Reply> {
    tasks().into_iter().chain(conversations()).chain(rest()).collect()
}

fn workspace() -> WorkspaceReply {
    WorkspaceReply {
        is_work_tree: true,
        branch: text("topic"),
        no_undo: text("the folder is too large"),
        edits_ask: true,
        commands_ask: true,
        can_allow: true,
    }
}

fn tasks() -> Vec<Reply> {
    let task = || TaskReply { task: things::task() };
    vec![
        Reply::StartTask(StartTaskReply {
            task_id: id(0x21),
            conversation_id: id(0x11),
            beside: Some(id(0x22)),
        }),
        Reply::StopTask(task()),
        Reply::PauseTask(task()),
        Reply::AgentTree(AgentTreeReply { agents: [(id(0x21), agent())].into() }),
        Reply::Intervene(InterveneReply { success: true, task: things::task() }),
        Reply::ResumeTask(task()),
        Reply::ListTasks(ListTasksReply { tasks: vec![things::task().brief()], next_cursor: text("next") }),
        Reply::ListFiles(ListFilesReply {
            files: vec![TaskFile {
                path: "src/a file.rs".to_owned(),
                change: FileChange::Modified,
                call_id: Some(id(0x42)),
                bytes: Some(12),
            }],
        }),
        Reply::TaskChanges(TaskChangesReply {
            files: vec![ChangedFile {
                path: "src/a file.rs".to_owned(),
                kind: ChangeKind::Modified,
                added: Some(2),
                removed: None,
                kept: true,
                perhaps_yours: true,
            }],
            diff: "+a\n".to_owned(),
            cut: true,
            steps: vec![1, 3],
            can_redo: true,
            notes: vec!["HEAD was main".to_owned()],
        }),
        Reply::UndoTask(UndoTaskReply {
            restored: 2,
            kept: vec![things::kept_file()],
            notes: vec!["HEAD was main".to_owned()],
        }),
        Reply::ListWorktrees(ListWorktreesReply {
            worktrees: vec![Worktree { task_id: Some(id(0x21)), problem: text("no git"), ..worktree() }],
        }),
        Reply::RemoveWorktree(RemoveWorktreeReply { worktree: worktree() }),
        Reply::GetWorkspace(workspace()),
        Reply::GetTask(GetTaskReply {
            task: things::task(),
            conversation_title: "Tidy up".to_owned(),
            workspace: "/home/me/project".to_owned(),
            calls: vec![things::call()],
            history: Some(TaskHistory {
                messages: vec![things::message()],
                events: things::events(),
                is_cut: true,
            }),
            calls_cut: true,
            started: Some(Box::new(things::started())),
        }),
        Reply::UserResponse(UserResponseReply { won: true, response: text("this one"), first_at: None }),
        Reply::DecideApproval(DecideApprovalReply {
            won: false,
            decision: Decision::RejectOnce,
            first_at: Some(at(0x51)),
        }),
        Reply::Inbox(InboxReply { items: things::inbox() }),
        Reply::ListRules(ListRulesReply {
            rules: vec![
                rule(),
                RememberedRule { id: "beef0072".to_owned(), allow: false, origin: None, text: None },
            ],
            before: Some(Seq(900)),
            policy: vec![PolicyRule { text: "shell(rm *)".to_owned(), effect: RuleEffect::Deny }],
        }),
        Reply::ForgetRule(ForgetRuleReply { rule: rule() }),
        Reply::AddRule(AddRuleReply {
            rule: RememberedRule { origin: None, text: Some(things::text_rule()), ..rule() },
        }),
        Reply::TestRule(TestRuleReply {
            effect: Some(RuleEffect::Allow),
            rule: Some("shell(cargo test *)".to_owned()),
            is_policy: true,
            why: "the rule matches `cargo test`".to_owned(),
            wider: vec![things::wider()],
            permission: Some(Permission::Ask),
            asks: Some("it publishes commits (`git push`)".to_owned()),
        }),
        Reply::GetUsage(UsageReply {
            rows: vec![UsageRow {
                day: "2026-11-27".to_owned(),
                model: "local/smollm2".to_owned(),
                conversation_id: id(0x11),
                title: "Tidy up".to_owned(),
                usage: things::usage(),
            }],
            is_cut: true,
        }),
    ]
}

fn rule() -> RememberedRule {
    RememberedRule {
        id: "beef0071".to_owned(),
        allow: true,
        text: None,
        origin: Some(RuleOrigin {
            rule: things::rule(),
            at: at(0x52),
            conversation_id: id(0x11),
            conversation_title: "Tidy up".to_owned(),
        }),
    }
}

fn conversations() -> Vec<Reply> {
    let one = || ConversationReply { conversation: things::conversation() };
    vec![
        Reply::CreateConversation(one()),
        Reply::ListConversations(ListConversationsReply {
            conversations: vec![things::conversation()],
            next_cursor: text("next"),
        }),
        Reply::GetConversation(one()),
        Reply::ListMessages(ListMessagesReply {
            messages: vec![things::message()],
            calls: vec![things::call()],
            events: things::events(),
            before: Some(Seq(900)),
            after: Some(Seq(950)),
        }),
        Reply::UpdateConversation(one()),
        Reply::ArchiveConversation(one()),
        Reply::DeleteConversation(DeleteConversationReply { records: 12 }),
        Reply::MarkRead(one()),
        Reply::Focus(FocusReply { conversation_id: Some(id(0x11)), inbox: true }),
        Reply::Search(search()),
        Reply::GetMemory(MemoryReply {
            enabled: true,
            how: RecallWay::WordsAndMeaning,
            embedder: text("all-MiniLM-L6-v2/builtin/1"),
            no_embedder: None,
            conversations: 12,
            passages: 345,
            embedded: 300,
            indexed_to: Seq(999),
            newest: Seq(1001),
        }),
        Reply::SearchMemory(SearchMemoryReply {
            how: RecallWay::Words,
            problem: text("the model is damaged"),
            snippets: vec![things::snippet()],
        }),
        Reply::ForgetMemory(ForgetMemoryReply { passages: 2 }),
        Reply::AddNote(AddNoteReply { note: note() }),
        Reply::ListNotes(ListNotesReply { notes: vec![note()] }),
        Reply::PruneMemory(PruneMemoryReply { passages: 3 }),
    ]
}

fn note() -> Note {
    Note {
        seq: Seq(78),
        at: at(2),
        text: "Tests need a display.".to_owned(),
        conversation_id: Some(id(0x12)),
        workspace: Some("/home/me/project".to_owned()),
    }
}

fn search() -> SearchReply {
    let excerpt = |text: &str| Excerpt { text: text.to_owned(), marks: vec![Span { start: 1, end: 3 }] };
    SearchReply {
        titles: vec![TitleHit { conversation_id: id(0x11), archived: true, title: excerpt("Tidy up") }],
        messages: vec![MessageHit {
            conversation_id: id(0x12),
            conversation_title: "Rest".to_owned(),
            archived: false,
            message_id: id(0x31),
            seq: Seq(1001),
            task_id: Some(id(0x21)),
            at: at(31),
            role: Role::Agent,
            kind: MessageKind::Update,
            line: excerpt("Grüße"),
        }],
        before: Some(Seq(1001)),
        searched_to: Seq(1003),
    }
}

fn rest() -> Vec<Reply> {
    let provider = ProviderInfo {
        name: "local".to_owned(),
        api: "openai-chat".to_owned(),
        base_url: "http://127.0.0.1:8089/v1".to_owned(),
        source: "config".to_owned(),
        key: KeyState::Missing,
        models: vec!["local/smollm2".to_owned()],
        problem: text("it did not answer"),
    };
    let default = DefaultModel { model: "local/smollm2".to_owned(), why: "set in config.toml".to_owned() };
    let limits = Limits { max_steps: 400, ..Limits::default() };
    vec![
        Reply::Subscribe(SubscribeReply { subscription_id: SubscriptionId(9), snapshot: snapshot() }),
        Reply::Unsubscribe(UnsubscribeReply { was_subscribed: true }),
        Reply::ListModels(ListModelsReply {
            providers: vec![provider],
            default,
            limits,
            mode: Mode::Agent,
            steps: vec![ModeSteps { mode: Mode::Roa, max_steps: 10 }],
        }),
        Reply::Status(status()),
        Reply::Shutdown(shutdown()),
        Reply::UpdateDaemon(UpdateDaemonReply { version: "0.1.0".to_owned(), update: Some(update()) }),
        Reply::SetKey(SetKeyReply { stored_in: "the keyring".to_owned(), had_key: true }),
        Reply::CheckModel(CheckModelReply {
            model: "local/smollm2".to_owned(),
            took_ms: 12,
            failure: Some(CheckFailure {
                kind: ModelErrorKind::Auth,
                message: "local: HTTP 401: no such key".to_owned(),
            }),
        }),
        Reply::CheckProvider(CheckProviderReply {
            models: vec!["corp/big".to_owned()],
            took_ms: 12,
            failure: Some(CheckFailure {
                kind: ModelErrorKind::NotFound,
                message: "corp: https://llm.example has no list of models (404)".to_owned(),
            }),
            base_url: text("https://llm.example/v1"),
        }),
        Reply::ServeHttp(ServeHttpReply { urls: vec!["http://localhost:5000".to_owned()] }),
        Reply::StopHttp(StopHttpReply { urls: vec!["http://localhost:5000".to_owned()] }),
        Reply::AddToken(AddTokenReply { token: "a-token".to_owned(), info: token(TokenAccess::Act) }),
        Reply::ListTokens(ListTokensReply { tokens: vec![token(TokenAccess::Read)] }),
        Reply::RevokeToken(RevokeTokenReply { info: token(TokenAccess::Act) }),
        Reply::ListPersonas(ListPersonasReply {
            personas: vec![PersonaInfo {
                name: "reviewer".to_owned(),
                description: "Reviews code".to_owned(),
                mode: Some(Mode::Plan),
                model: text("local/smollm2"),
                tools: Some(vec!["read".to_owned()]),
                max_steps: Some(7),
                source: "built in".to_owned(),
                problem: text("it is not there"),
            }],
        }),
        Reply::ListTools(ListToolsReply {
            tools: vec![ToolSpec {
                name: "read".to_owned(),
                description: "Reads a file.".to_owned(),
                parameters: things::json(r#"{"type":"object"}"#),
                effect: EffectClass::Pure,
                risk: Risk::Low,
                tier: Tier::Allow,
            }],
        }),
        Reply::ListTemplates(ListTemplatesReply {
            templates: vec![TemplateInfo {
                name: "review".to_owned(),
                prompt: "Review {input}".to_owned(),
                persona: text("reviewer"),
                mode: Some(Mode::Agent),
                tools: Some(vec!["read".to_owned()]),
                max_steps: Some(3),
            }],
        }),
        Reply::GetConfig(config(ModelChoice::Automatic)),
        Reply::UpdateConfig(config(ModelChoice::Named("local/smollm2".to_owned()))),
    ]
}

fn config(model: ModelChoice) -> ConfigReply {
    ConfigReply {
        model,
        default: DefaultModel { model: "local/smollm2".to_owned(), why: "it was found".to_owned() },
        notifications: true,
        memory: true,
        file: ConfigStatus {
            path: "/home/me/.config/abide/config.toml".to_owned(),
            read_at: at(7),
            refused: None,
        },
    }
}

fn update() -> UpdateStatus {
    UpdateStatus {
        stage: UpdateStage::Refused,
        program: "/usr/bin/abided".to_owned(),
        version: text("0.0.9"),
        waits_for: vec!["“Tidy up”: shell `make`".to_owned()],
        refused: text("it reads schema 5, and the database has 6"),
    }
}

fn shutdown() -> ShutdownReply {
    let cut =
        |work| CutOff { conversation_id: id(0x11), title: "Tidy up".to_owned(), task_id: id(0x21), work };
    let call = CutCall {
        call_id: id(0x41),
        tool: "shell".to_owned(),
        summary: "make".to_owned(),
        effect: EffectClass::Unsafe,
    };
    ShutdownReply {
        unfinished: 6,
        tasks: TaskCounts { running: 1, waiting: 2, paused: 3 },
        cut: vec![cut(CutWork::ModelCall), cut(CutWork::ToolCall(call))],
    }
}

fn status() -> StatusReply {
    StatusReply {
        version: "0.1.0".to_owned(),
        pid: 4321,
        started_at: at(5),
        uptime_ms: 6,
        memory_bytes: 7,
        connections: 8,
        sessions: 9,
        tasks: TaskCounts { running: 1, waiting: 2, paused: 3 },
        inbox: 10,
        daemon: DaemonUpdate {
            storage_full: false,
            storage_damaged: false,
            shutting_down: true,
            update: None,
        },
        data_dir: "/home/me/.local/share/abide".to_owned(),
        socket: "/run/user/1000/abide/v1/abide.sock".to_owned(),
        keys: vec!["ANTHROPIC_API_KEY".to_owned()],
        config: ConfigStatus {
            path: "/home/me/.config/abide/config.toml".to_owned(),
            read_at: at(6),
            refused: Some(RefusedConfig {
                message: "line 2: `task.max_stepps`: unknown field".to_owned(),
                line: Some(2),
                key: text("task.max_stepps"),
            }),
        },
        sandbox: SandboxStatus {
            level: SandboxLevel::Landlock,
            why_not: vec!["no `full`: it needs user namespaces".to_owned()],
            require: SandboxLevel::Full,
        },
        update: Some(update()),
        start: StartStatus {
            by: StartedBy::Systemd(SystemdStart { unit: text("abided.service"), socket: true }),
            at_login: AtLogin::Autostart("/home/me/.config/autostart/abided.desktop".to_owned()),
        },
        http: HttpStatus {
            urls: vec!["http://localhost:5000".to_owned(), "http://192.0.2.7:5000".to_owned()],
            plain: vec!["http://192.0.2.7:5000".to_owned()],
            failed: text("cannot listen on 127.0.0.1:80"),
        },
    }
}

fn token(access: TokenAccess) -> TokenInfo {
    TokenInfo { name: "phone".to_owned(), access, created_at: at(7) }
}

fn snapshot() -> Snapshot {
    let partial = |item, kind| Partial {
        conversation_id: id(0x11),
        task_id: id(0x21),
        item,
        attempt: 2,
        kind,
        offset: 5,
        text: "so far".to_owned(),
    };
    Snapshot {
        seq: Seq(1003),
        conversations: vec![things::conversation()],
        tasks: vec![things::task().brief()],
        inbox: things::inbox(),
        messages: vec![things::message()],
        calls: vec![things::call()],
        events: things::events(),
        partials: vec![
            partial(DeltaItem::Reply(id(0x33)), DeltaKind::Reasoning),
            partial(DeltaItem::Call(id(0x43)), DeltaKind::Output),
        ],
        daemon: DaemonUpdate {
            storage_full: true,
            storage_damaged: false,
            shutting_down: false,
            update: None,
        },
    }
}

fn agent() -> Agent {
    Agent {
        task: things::task(),
        title: "Tidy up the tests".to_owned(),
        depth: 1,
        user_content: text("Only the docs."),
        user_comment: text("Mind the gap."),
    }
}

fn worktree() -> Worktree {
    Worktree {
        conversation_id: id(0x11),
        task_id: None,
        path: "/home/me/.local/share/abide/worktrees/x/project".to_owned(),
        branch: "abide/beef0011".to_owned(),
        repository: "/home/me/project".to_owned(),
        files: 2,
        commits: 1,
        problem: None,
    }
}
