mod risk;

use super::{
    Call, CallError, Outlook, Site, Subject, Tool, Work,
    command::{self, Command, Program},
};
use abide_protocol::transcript::EffectClass;
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
struct Shell {
    command: String,
    working_dir: Option<String>,
    timeout_secs: Option<u64>,
    #[serde(default)]
    outside: bool,
    #[serde(default)]
    reason: String,
}

pub(super) fn tool() -> Tool {
    let description = "Runs a shell command (bash) in the workspace and waits for it. Where the machine allows it runs in a sandbox: \
                       only the workspace and temporary folders can be written, and there is no network. Its input is empty and there is no \
                       terminal. When it ends, everything it started is ended too. Long output is cut in the middle.";
    let properties = json!({
        "command": {"type": "string", "minLength": 1, "description": "The command line."},
        "working_dir": {"type": "string", "description": "A folder in the workspace to run it in; the workspace itself if absent."},
        "timeout_secs": command::timeout_schema(),
        "outside": {"type": "boolean", "description": "Runs it outside of the sandbox, where it can do all that the user can. The user is always asked. Only for what the sandbox refuses, such as the network."},
        "reason": {"type": "string", "maxLength": 500, "description": "With outside: why it must leave the sandbox, for the user."},
    });
    Tool::of::<Shell>(super::spec("shell", EffectClass::Unsafe, description, &properties, &["command"]))
}

impl Call for Shell {
    fn summary(&self) -> String {
        // Blanks would push the rest out of the one line that is shown.
        let lines = self.command.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let command = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        match &self.working_dir {
            Some(dir) if dir != "." => format!("{command} (in {dir})"),
            _ => command,
        }
    }

    fn outside(&self) -> Option<&str> {
        self.outside.then_some(self.reason.as_str())
    }

    fn working_dir(&self) -> Option<&str> {
        self.working_dir.as_deref()
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Line(&self.command)
    }

    fn assess(&self, site: &mut Site<'_>, outlook: &mut Outlook) -> Result<(), CallError> {
        command::check("command", &self.command)?;
        if self.outside && self.reason.trim().is_empty() {
            return Err(CallError::NoReason);
        }
        if let Some(program) = abide_rules::waits_at_terminal(&self.command) {
            return Err(CallError::WaitsAtTerminal(program));
        }
        if let Some(dir) = &self.working_dir {
            site.workspace.resolve(dir)?;
        }
        let is_broad = site.workspace.is_broad();
        let ground = risk::Ground { workspace: site.folder, path: site.path, is_broad };
        outlook.risk = risk::of(&self.command, &ground);
        Ok(())
    }

    fn work(self: Box<Self>) -> Work {
        Work::Command(Command {
            program: Program::At(crate::command::shell()),
            arguments: vec!["-c".to_owned(), self.command],
            working_dir: self.working_dir,
            timeout: command::timeout(self.timeout_secs),
            has_line: false,
        })
    }
}
