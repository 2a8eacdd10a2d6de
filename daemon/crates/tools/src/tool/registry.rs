use super::{Call, CallError, Tool, code, create_dir, list, patch, python, read, recall, shell, write};
use crate::command::find;
use abide_protocol::transcript::ToolSpec;
use serde_json::Value;

/// The tools, in the order in which models get them.
pub(crate) struct Registry {
    tools: Vec<Tool>,
}

impl Registry {
    /// The tools that every task can have.
    pub(crate) fn built_in() -> Self {
        let tools = vec![
            shell::tool(),
            python::tool(),
            read::tool(),
            write::tool(),
            patch::tool(),
            list::tool(),
            create_dir::tool(),
            recall::tool(),
            code::tool(),
            #[cfg(test)]
            tests::tool(),
        ];
        Self { tools }
    }

    /// The tools that can be used where commands get this `PATH`.
    pub(crate) fn specs(&self, path: Option<&str>) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().filter(move |tool| tool.lacks(path).is_none()).map(|tool| &tool.spec)
    }

    /// The tool with that name.
    pub(crate) fn spec(&self, name: &str) -> Result<&ToolSpec, CallError> {
        Ok(&self.tool(name)?.spec)
    }

    /// The tools that cannot be used, each with the program that it needs.
    pub(crate) fn missing(&self, path: Option<&str>) -> impl Iterator<Item = (&str, &'static str)> {
        self.tools.iter().filter_map(move |tool| Some((tool.spec.name.as_str(), tool.lacks(path)?)))
    }

    /// Parses a call of the tool with that name, when it is assessed and again when it runs.
    ///
    /// # Errors
    /// There is no such tool (any more), or the arguments are not valid for it.
    pub(crate) fn parse(&self, name: &str, arguments: Value) -> Result<Box<dyn Call>, CallError> {
        (self.tool(name)?.parse)(arguments).map_err(|error| CallError::Arguments(error.to_string()))
    }

    fn tool(&self, name: &str) -> Result<&Tool, CallError> {
        let tool = self.tools.iter().find(|tool| tool.spec.name == name);
        tool.ok_or_else(|| CallError::NotHere(name.to_owned()))
    }
}

impl Tool {
    /// The program that the tool needs, if the `PATH` does not have it.
    fn lacks(&self, path: Option<&str>) -> Option<&'static str> {
        self.needs.filter(|program| find(program, path).is_none())
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| &tool.spec.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    //! A tool needs one module and one line above: this one echoes.

    use super::Registry;
    use crate::{
        CheckpointFolders, NoSubTasks, Options, Run, SandboxSettings, Scope, Tools,
        tool::{Call, CallError, Outlook, Site, Tool, Work, spec},
    };
    use abide_protocol::{
        CallId,
        message::CallOutcome,
        record::Permission,
        task::Approvals,
        transcript::{CallBlock, EffectClass, Risk, ToolResult},
    };
    use serde::Deserialize;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    pub(super) fn tool() -> Tool {
        let properties = json!({ "text": { "type": "string" } });
        Tool::of::<Echo>(spec("echo", EffectClass::Pure, "Says it again.", &properties, &["text"]))
    }

    #[derive(Debug, Deserialize)]
    struct Echo {
        text: String,
    }

    impl Call for Echo {
        fn summary(&self) -> String {
            format!("echo {}", self.text)
        }

        fn assess(&self, _: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError> {
            outlook.risk = Risk::Medium;
            Ok(())
        }

        fn work(self: Box<Self>) -> Work {
            Work::Look(Box::new(move |_, _| Ok(ToolResult::success(self.text, None))))
        }
    }

    #[test]
    fn every_tool_has_calls_and_a_valid_schema() {
        let registry = Registry::built_in();
        for spec in registry.tools.iter().map(|tool| &tool.spec) {
            let parsed = registry.parse(&spec.name, json!({}));
            assert!(!matches!(parsed, Err(CallError::NotHere(_))), "{}", spec.name);
            assert!(crate::assess::faults(&spec.parameters.value(), &json!({})).is_ok(), "{}", spec.name);
        }
        assert!(matches!(registry.parse("nothing", json!({})), Err(CallError::NotHere(_))));
    }

    #[tokio::test]
    async fn a_tool_is_listed_assessed_and_run() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let workspace = workspace.to_str().unwrap();
        let tools = Tools::new(Options {
            helper: vec!["/bin/false".into()],
            spool_dir: folder.path().join("spool"),
            own_dirs: Vec::new(),
            home: folder.path().join("home"),
            checkpoints: CheckpointFolders {
                kept: folder.path().join("kept"),
                scratch: folder.path().join("scratch"),
            },
            hidden_dirs: Vec::new(),
            sandbox_dir: folder.path().join("sandbox"),
            worktrees_dir: folder.path().join("worktrees"),
        });
        let (tools, call_id): (_, CallId) =
            (tools.unwrap(), "0197f000-0000-7000-8000-000000000001".parse().unwrap());
        let sandbox = SandboxSettings::default();
        let scope = Scope {
            workspace,
            path: None,
            allowed: &tools.specs(None),
            approvals: Approvals::Ask,
            remembered: &|_| None,
            rules: &abide_rules::Book::default(),
            sandbox: &sandbox,
        };
        let block = CallBlock {
            id: call_id,
            provider_id: String::new(),
            tool: "echo".to_owned(),
            arguments: r#"{"text":"hello"}"#.to_owned(),
            opaque: None,
        };
        let assessed = tools.assess(&scope, &[block]).remove(0);
        assert_eq!((assessed.summary.as_str(), assessed.risk), ("echo hello", Risk::Medium));
        assert_eq!(assessed.permission, Permission::Tier);
        let run = Run {
            conversation: "0197f000-0000-7000-8000-000000000002".parse().unwrap(),
            call_id,
            attempt: 1,
            assessed,
            workspace: workspace.to_owned(),
            environment: Default::default(),
            max_secs: None,
        };
        let prepared = tools.prepare(run, &sandbox).await;
        let finished = prepared.run(CancellationToken::new(), Box::new(|_| ()), &NoSubTasks).await;
        assert_eq!((finished.outcome, finished.result.message.as_str()), (CallOutcome::Done, "hello"));
    }
}
