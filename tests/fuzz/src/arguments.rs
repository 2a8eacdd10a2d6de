use abide_protocol::{CallId, record::Permission, task::Approvals, transcript::CallBlock};
use abide_tools::{Options, Scope, Tools};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Longer than this nobody reads what a call is about.
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
        };
        Self { tools: Tools::new(options).expect("tools"), workspace }
    }
}

/// A tool's name and the arguments that a model wrote: the schema, then the plan. First line: the name.
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
    let mut allowed = tools.specs();
    allowed.extend(abide_engine::control::specs());
    for approvals in [Approvals::Ask, Approvals::Allow] {
        let scope = Scope {
            workspace: workspace.to_str().expect("a path"),
            path: Some("/usr/bin"),
            allowed: &allowed,
            approvals,
            remembered: &|_| None,
        };
        let calls = [call.clone(), call.clone()];
        let plans = tools.plan(&scope, &calls);
        let [plan, _] = plans.as_slice() else { panic!("a plan for each call") };
        assert_eq!((plan.call_id, &plan.tool), (call.id, &call.tool));
        assert!(plan.summary.chars().count() <= MAX_SUMMARY, "{} characters of summary", plan.summary.len());
        // Some providers write nothing where there are no arguments.
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        let object = serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|v| v.is_object());
        let known = allowed.iter().any(|spec| spec.name == tool);
        if !(object && known) {
            assert!(matches!(plan.permission, Permission::Denied(_)), "{plan:?}");
        }
        assert_eq!(tools.plan(&scope, &calls), plans, "the same call has the same plan");
    }
}
