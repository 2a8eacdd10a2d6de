use crate::{error::CommandError, exit::Exit, replace::replace};
use abide_client::program;

pub(crate) fn gui() -> Result<Exit, CommandError> {
    let Some(program) = program::window() else {
        let words =
            "cannot find the window's program `abide-gui`: it is neither beside this program nor in PATH";
        return Err(CommandError::failed(words).hinted("build it: cargo build --release --bin abide-gui"));
    };
    replace(&program, &[])
}
