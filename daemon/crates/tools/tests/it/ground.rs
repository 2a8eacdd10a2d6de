//! A folder with a workspace, a spool and a home, and tools for them.

use abide_protocol::{
    CallId, ConversationId, JsonText,
    inbox::Rule,
    record::{CallAssessed, Permission},
    sandbox::SandboxLevel,
    task::Approvals,
    transcript::{CallBlock, EffectClass, Risk, Tier, ToolSpec},
};
use abide_rules::Book;
use abide_tools::{
    CheckpointFolders, Finished, NoSubTasks, Options, Run, SandboxSettings, Scope, SubTasks, Tools, Unasked,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The program of `tests/process`; `ABIDE_TEST_PROCESS` names a copy, for a user who cannot reach the
/// original.
pub(crate) fn process() -> OsString {
    env::var_os("ABIDE_TEST_PROCESS").unwrap_or_else(|| env!("CARGO_BIN_EXE_abide-tools-test-process").into())
}

pub(crate) const CONVERSATION: ConversationId = ConversationId(uuid::Uuid::from_u128(7));

/// How long a test waits for a condition, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Ground {
    folder: TempDir,
    pub(crate) tools: Tools,
    pub(crate) approvals: Approvals,
    pub(crate) rules: Book,
    pub(crate) sandbox: SandboxSettings,
    /// What the machine does not have.
    pub(crate) without: Vec<&'static str>,
}

/// A home that is not beneath `/tmp`, where the sandbox hides everything anyway. `ABIDE_TEST_PLACE` names a
/// folder for it.
pub(crate) fn home_of_its_own() -> TempDir {
    let place = env::var_os("ABIDE_TEST_PLACE").unwrap_or_else(|| "/opt".into());
    tempfile::Builder::new().prefix("home").tempdir_in(place).unwrap()
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self::with_own(&["own"])
    }

    /// These folders are Abide's own.
    pub(crate) fn with_own(own: &[&str]) -> Self {
        Self::make(own, &[])
    }

    /// On a machine that has no user namespaces, as most containers.
    pub(crate) fn with_landlock_only() -> Self {
        Self::make(&["own"], &["without-namespaces"])
    }

    /// On a machine that can confine nothing, where a person wants to use it all the same.
    pub(crate) fn unconfined() -> Self {
        let mut ground = Self::make(&["own"], &["without-namespaces", "without-landlock"]);
        ground.sandbox.require = SandboxLevel::None;
        ground
    }

    /// With a home that is not beneath `/tmp`, in which `abide` is Abide's own.
    pub(crate) fn at_home(home: &Path, without: &[&'static str]) -> Self {
        Self::beneath_home(home, "", without)
    }

    /// As above, with the workspace somewhere beneath this folder of the home.
    pub(crate) fn beneath_home(home: &Path, folder: &str, without: &[&'static str]) -> Self {
        fs::create_dir_all(home.join("abide")).unwrap();
        fs::create_dir_all(home.join(folder)).unwrap();
        Self::made(tempfile::tempdir_in(home.join(folder)).unwrap(), home, vec![home.join("abide")], without)
    }

    fn make(own: &[&str], without: &[&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let own = own.iter().map(|name| folder.path().join(name)).collect();
        Self::made(folder, &home, own, without)
    }

    fn made(folder: TempDir, home: &Path, own: Vec<PathBuf>, without: &[&'static str]) -> Self {
        for name in ["workspace", "home/.ssh", "own"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let at = |name: &str| folder.path().join(name);
        let options = Options {
            helper: [process(), "helper".into()].into_iter().chain(without.iter().map(Into::into)).collect(),
            spool_dir: at("spool"),
            own_dirs: own.clone(),
            home: home.to_owned(),
            checkpoints: CheckpointFolders { kept: at("kept"), scratch: at("scratch") },
            hidden_dirs: own,
            sandbox_dir: at("sandbox"),
            worktrees_dir: at("worktrees"),
        };
        let tools = Tools::new(options).unwrap();
        let sandbox = SandboxSettings::default();
        let (approvals, rules, without) = (Approvals::Allow, Book::default(), without.to_vec());
        Self { folder, tools, approvals, rules, sandbox, without }
    }

    /// With a policy by which commands and edits ask.
    pub(crate) fn asking_by_policy(mut self) -> Self {
        (self.sandbox.shell, self.sandbox.edits) = (Unasked::Nothing, Unasked::Nothing);
        self
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, in_workspace: &str) -> PathBuf {
        self.root().join("workspace").join(in_workspace)
    }

    pub(crate) fn workspace(&self) -> String {
        self.root().join("workspace").to_str().unwrap().to_owned()
    }

    pub(crate) fn text(&self, in_workspace: &str) -> String {
        fs::read_to_string(self.path(in_workspace)).unwrap()
    }

    pub(crate) fn assess(&self, calls: &[(&str, Value)]) -> Vec<CallAssessed> {
        let blocks: Vec<CallBlock> =
            calls.iter().map(|(tool, arguments)| block(tool, &arguments.to_string())).collect();
        self.assess_in(&self.workspace(), &blocks, &|_| None)
    }

    pub(crate) fn assess_in(
        &self,
        workspace: &str,
        blocks: &[CallBlock],
        remembered: &dyn Fn(&Rule) -> Option<bool>,
    ) -> Vec<CallAssessed> {
        let mut allowed = self.tools.specs(Some("/usr/bin:/bin"));
        allowed.push(control());
        let path = Some("/usr/bin:/bin");
        let (approvals, rules, sandbox) = (self.approvals, &self.rules, &self.sandbox);
        let scope = Scope { workspace, path, allowed: &allowed, approvals, remembered, rules, sandbox };
        self.tools.assess(&scope, blocks)
    }

    /// The permission of a call to a control tool with this schema.
    pub(crate) fn assess_against(&self, schema: &Value, arguments: &str) -> Permission {
        let foreign = ToolSpec { name: "foreign".to_owned(), parameters: schema.into(), ..control() };
        let (workspace, allowed) = (self.workspace(), [foreign]);
        let (workspace, approvals) = (workspace.as_str(), self.approvals);
        let scope = Scope {
            workspace,
            path: None,
            allowed: &allowed,
            approvals,
            remembered: &|_| None,
            rules: &self.rules,
            sandbox: &self.sandbox,
        };
        self.tools.assess(&scope, &[block("foreign", arguments)]).pop().unwrap().permission
    }

    /// A shell call where commands get this `PATH`.
    pub(crate) fn assess_on(&self, path: &str, command: &str) -> CallAssessed {
        let (workspace, allowed) = (self.workspace(), self.tools.specs(Some("/usr/bin:/bin")));
        let (workspace, approvals, rules) = (workspace.as_str(), self.approvals, &self.rules);
        let scope = Scope {
            workspace,
            path: Some(path),
            allowed: &allowed,
            approvals,
            remembered: &|_| None,
            rules,
            sandbox: &self.sandbox,
        };
        let arguments = serde_json::json!({ "command": command }).to_string();
        self.tools.assess(&scope, &[block("shell", &arguments)]).pop().unwrap()
    }

    pub(crate) fn assess_one(&self, tool: &str, arguments: Value) -> CallAssessed {
        self.assess(&[(tool, arguments)]).pop().unwrap()
    }

    pub(crate) fn run(&self, assessed: CallAssessed) -> Run {
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let workspace = self.workspace();
        let call_id = assessed.call_id;
        Run {
            conversation: CONVERSATION,
            call_id,
            attempt: 1,
            assessed,
            workspace,
            environment,
            max_secs: None,
        }
    }

    /// Assesses and runs a call to its end.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Finished {
        self.finish(self.assess_one(tool, arguments)).await
    }

    pub(crate) async fn finish(&self, assessed: CallAssessed) -> Finished {
        let prepared = self.tools.prepare(self.run(assessed), &self.sandbox).await;
        prepared.run(CancellationToken::new(), Box::new(|_| ()), &NoSubTasks).await
    }

    /// Starts a command that keeps running.
    pub(crate) fn start(&self, command: &str) -> Running {
        let assessed =
            self.assess_one("shell", serde_json::json!({ "command": command, "timeout_secs": 600 }));
        self.start_run(self.run(assessed))
    }

    pub(crate) fn start_run(&self, run: Run) -> Running {
        self.start_with(run, Arc::new(NoSubTasks))
    }

    pub(crate) fn start_with(&self, run: Run, sub_tasks: Arc<dyn SubTasks>) -> Running {
        let (tools, sandbox) = (self.tools.clone(), self.sandbox.clone());
        let (cancel, output) = (CancellationToken::new(), Arc::<Mutex<String>>::default());
        let (stop, printed) = (cancel.clone(), Arc::clone(&output));
        let show = Box::new(move |piece: &str| printed.lock().unwrap().push_str(piece));
        #[expect(clippy::disallowed_methods, reason = "the test holds the handle")]
        let handle = tokio::spawn(async move {
            let prepared = tools.prepare(run, &sandbox).await;
            prepared.run(stop, show, &*sub_tasks).await
        });
        Running { cancel, output, handle }
    }
}

pub(crate) struct Running {
    cancel: CancellationToken,
    output: Arc<Mutex<String>>,
    handle: tokio::task::JoinHandle<Finished>,
}

impl Running {
    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    pub(crate) async fn cancel(self) -> Finished {
        self.cancel.cancel();
        self.handle.await.unwrap()
    }

    pub(crate) async fn end(self) -> Finished {
        self.handle.await.unwrap()
    }
}

pub(crate) fn block(tool: &str, arguments: &str) -> CallBlock {
    let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
    CallBlock { id: call_id(), provider_id: String::new(), tool, arguments, opaque: None }
}

pub(crate) fn call_id() -> CallId {
    format!("0199aaaa-0000-7000-{:04x}-{:012x}", 0x8000 | std::process::id() & 0xfff, unique())
        .parse()
        .unwrap()
}

fn control() -> ToolSpec {
    let schema = r#"{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}"#;
    ToolSpec {
        name: "task_complete".to_owned(),
        description: String::new(),
        parameters: JsonText::parse(schema).unwrap(),
        effect: EffectClass::Control,
        risk: Risk::Low,
        tier: Tier::Allow,
    }
}

pub(crate) fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A number of seconds that no other process sleeps, by which its processes are found.
pub(crate) fn token() -> String {
    format!("{}{:05}", 40_000 + std::process::id() % 10_000, unique())
}

/// The processes whose command line contains this.
pub(crate) fn processes(token: &str) -> Vec<u32> {
    let pids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let of_token = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).any(|word| word == token.as_bytes())
    };
    pids.filter(of_token).collect()
}

pub(crate) async fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let mut look = tokio::time::interval(Duration::from_millis(5));
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        look.tick().await;
    }
}

pub(crate) fn data(finished: &Finished) -> Value {
    finished.result.data.as_ref().map_or(Value::Null, JsonText::value)
}
