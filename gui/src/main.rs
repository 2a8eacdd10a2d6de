//! The window of Abide.

use std::process::ExitCode;

fn main() -> ExitCode {
    abide_gui::main()
}
