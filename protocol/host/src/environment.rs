//! The environment that a client gives to the tasks that it starts.

mod login_shell;

pub use login_shell::{LoginShell, LoginShellError, login_shell};

use abide_protocol::environment::Environment;
use std::{collections::BTreeMap, sync::OnceLock};

/// This process's environment for tasks. If no shell of a person has set it up, as of a window that was
/// started from a menu or of a job of cron, it is that of the login shell, if that can be read. Found once;
/// blocking, at most two seconds.
#[must_use]
pub fn for_tasks() -> &'static Environment {
    static FOUND: OnceLock<Environment> = OnceLock::new();
    FOUND.get_or_init(|| {
        let own = own();
        if is_set_up(&own) {
            return Environment::of(own);
        }
        match login_shell(&own) {
            Ok(LoginShell { variables, .. }) => Environment::of(variables),
            Err(error) => {
                tracing::info!("tasks get the environment of this process: {error}");
                Environment::of(own)
            }
        }
    })
}

/// The variables of this process that are text.
#[must_use]
pub fn own() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Whether a shell of a person has set this environment up: every terminal has a `TERM`, while menus and cron
/// set none. What a continuous integration runs has been set up for it.
fn is_set_up(own: &BTreeMap<String, String>) -> bool {
    own.contains_key("TERM") || own.contains_key("CI")
}
