use crate::{args::GuiArgs, connection::Daemon, error::CommandError, exit::Exit, kind, replace::replace};
use abide_host::program;
use std::ffi::OsStr;

pub(crate) async fn gui(args: GuiArgs) -> Result<Exit, CommandError> {
    let Some(program) = program::window() else {
        let words =
            "cannot find the window's program `abide-gui`: it is neither beside this program nor in PATH";
        return Err(CommandError::failed(words).hinted("build it: cargo build --release --bin abide-gui"));
    };
    let mut arguments = Vec::new();
    let conversation = match &args.id {
        Some(id) => Some(kind::conversation(&mut Daemon::started().await?, id).await?.to_string()),
        None => None,
    };
    if let Some(conversation) = &conversation {
        arguments.extend(["--conversation", conversation]);
    }
    arguments.extend(args.inbox.then_some("--inbox"));
    arguments.extend(args.new_window.then_some("--new-window"));
    let arguments: Vec<&OsStr> = arguments.into_iter().map(OsStr::new).collect();
    replace(&program, &arguments)
}
