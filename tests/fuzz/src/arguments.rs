use abide_protocol::{
    CallId,
    record::Permission,
    task::{Approvals, Mode},
    transcript::CallBlock,
};
use abide_tools::{CheckpointFolders, Options, SandboxSettings, Scope, Tools};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The longest summary, in characters: a person reads no more.
const MAX_SUMMARY: usize = 2000;

/// Tools, and a workspace for them.
pub struct Place {
    tools: Tools,
    workspace: PathBuf,
}

impl Place {
    /// In an empty folder.
    ///
    /// # Panics
    /// It cannot be written.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        let workspace = root.join("workspace");
        fs::create_dir_all(&workspace).expect("a workspace");
        fs::write(workspace.join("a"), "one\ntwo\n").expect("a file");
        let options = Options {
            helper: vec!["false".into()],
            spool_dir: root.join("spool"),
            own_dirs: vec![root.join("own")],
            home: root.to_owned(),
            checkpoints: CheckpointFolders { kept: root.join("kept"), scratch: root.join("scratch") },
            hidden_dirs: Vec::new(),
            sandbox_dir: root.join("sandbox"),
            worktrees_dir: root.join("worktrees"),
        };
        Self { tools: Tools::new(options).expect("tools"), workspace }
    }
}

/// Assesses a call. The first line of `text` is the tool's name, the rest the arguments: the schema is
/// checked, then the call assessed.
pub fn arguments(place: &Place, text: &str) {
    let Place { tools, workspace } = place;
    let (tool, arguments) = text.split_once('\n').unwrap_or((text, ""));
    let call = CallBlock {
        id: CallId(Default::default()),
        provider_id: String::new(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        opaque: None,
    };
    let mut allowed = tools.specs(Some("/usr/bin"));
    allowed.extend(abide_engine::control_tools(Mode::Agent));
    let sandbox = SandboxSettings::default();
    for approvals in [Approvals::Ask, Approvals::Allow, Approvals::AllowAll] {
        let scope = Scope {
            workspace: workspace.to_str().expect("a path"),
            path: Some("/usr/bin"),
            allowed: &allowed,
            approvals,
            remembered: &|_| None,
            sandbox: &sandbox,
            rules: &abide_rules::Book::default(),
        };
        let calls = [call.clone(), call.clone()];
        let assessed = tools.assess(&scope, &calls);
        let [first, _] = assessed.as_slice() else { panic!("each call is assessed") };
        assert_eq!((first.call_id, &first.tool), (call.id, &call.tool));
        assert!(
            first.summary.chars().count() <= MAX_SUMMARY,
            "{} characters of summary",
            first.summary.len()
        );
        // Some providers send nothing if there are no arguments.
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        let object = serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|v| v.is_object());
        let known = allowed.iter().any(|spec| spec.name == tool);
        if !(object && known) {
            assert!(matches!(first.permission, Permission::Denied(_)), "{first:?}");
        }
        assert_eq!(tools.assess(&scope, &calls), assessed, "the same call is assessed the same");
    }
}
