use std::process::ExitCode;

/// Entry of the helper process.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::FAILURE
}
