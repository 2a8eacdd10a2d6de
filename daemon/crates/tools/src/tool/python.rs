use super::{
    Call, CallError, Outlook, Site, Subject, Tool, Work, command,
    command::{Command, Program},
    counted,
};
use abide_protocol::transcript::EffectClass;
use serde::Deserialize;
use serde_json::json;

const PROGRAM: &str = "python3";

/// Prepares the interpreter, then runs the code that is its argument.
const PRELUDE: &str = include_str!("python/prelude.py");

#[derive(Debug, Deserialize)]
struct Python {
    code: String,
    timeout_secs: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let description = "Runs Python code (python3) in the workspace and waits for it. The result is what it prints and its \
                       exit code. Its input is empty and there is no terminal. When it ends, everything it started is \
                       ended too. Long output is cut in the middle. In the code, fork(prompt) starts a sub-task that works \
                       by itself and returns its handle; wait(handle) waits for its end and returns a dict with status and \
                       result. Example: handles = [fork(\"Option A\"), fork(\"Option B\")]; results = [wait(h) for h in \
                       handles]. Print what you need of a result that the code has waited for: it is not sent to you again. \
                       Sub-tasks go on when the code has ended.";
    let properties = json!({
        "code": {"type": "string", "minLength": 1, "description": "The code, as a file would hold it."},
        "timeout_secs": command::timeout_schema(),
    });
    let spec = super::spec("python", EffectClass::Unsafe, description, &properties, &["code"]);
    Tool::of::<Python>(spec).needing(PROGRAM)
}

impl Call for Python {
    /// The first line stands for the code, which would be hard to read in one line.
    fn summary(&self) -> String {
        let mut lines = self.code.trim().lines();
        let first = lines.next().unwrap_or_default();
        match lines.count() {
            0 => first.to_owned(),
            more => format!("{} … ({})", first.trim_end(), counted(more + 1, "line", "lines")),
        }
    }

    fn subject(&self) -> Subject<'_> {
        Subject::Code
    }

    /// The risk is that of the spec: what code does cannot be seen before the code runs.
    fn assess(&self, _: &mut Site<'_>, _: &mut Outlook) -> Result<(), CallError> {
        Ok(command::check("code", &self.code)?)
    }

    fn work(self: Box<Self>) -> Work {
        Work::Command(Command {
            program: Program::OnPath(PROGRAM),
            // Unbuffered, so that output is shown as it comes, and what was printed is kept when the code is
            // ended.
            arguments: vec!["-u".to_owned(), "-c".to_owned(), PRELUDE.to_owned(), self.code],
            working_dir: None,
            timeout: command::timeout(self.timeout_secs),
            has_line: true,
        })
    }
}
