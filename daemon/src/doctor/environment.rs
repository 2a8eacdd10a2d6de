//! The diagnosis of the environments that tasks get.

use super::Diagnosis;
use abide_host::environment::{LoginShell, LoginShellError, login_shell, own};
use abide_protocol::{environment::Environment, measure::counted};
use std::collections::BTreeSet;

/// Which variables tasks get that are started in this shell, and those that a window from a menu or a job of
/// cron starts.
pub(super) async fn diagnosis() -> Diagnosis {
    let own = own();
    let read = {
        let own = own.clone();
        tokio::task::spawn_blocking(move || login_shell(&own)).await
    };
    match read {
        Ok(read) => of(Environment::of(own), read),
        Err(error) => Diagnosis::noted(ABOUT, format!("the login shell could not be asked: {error}")),
    }
}

const ABOUT: &str = "environment";

fn of(own: Environment, login: Result<LoginShell, LoginShellError>) -> Diagnosis {
    let mut secrets: BTreeSet<String> = own.secrets.into_iter().collect();
    let variables = |count: usize| counted(count as u64, "variable");
    let mut words = format!("tasks started here get {}", variables(own.variables.len()));
    let health = match login {
        Ok(LoginShell { program, variables: all, took }) => {
            let environment = Environment::of(all);
            secrets.extend(environment.secrets);
            let count = variables(environment.variables.len());
            let (program, took) = (program.display(), took.as_millis());
            words.push_str(&format!(
                "; those started from a menu or by cron {count} of {program} ({took} ms)"
            ));
            Diagnosis::good
        }
        Err(error) => {
            words.push_str(&format!("; those started from a menu or by cron what these have: {error}"));
            Diagnosis::noted
        }
    };
    if !secrets.is_empty() {
        let names: Vec<String> = secrets.into_iter().collect();
        words.push_str(&format!(
            "; left out as secrets, by their names or an address with a login: {}",
            names.join(", ")
        ));
    }
    health(ABOUT, words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Health;
    use std::time::Duration;

    #[test]
    fn it_says_whose_variables_tasks_get_and_which_are_left_out() {
        let all = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
        let own = Environment::of(all(&["PATH", "GH_TOKEN"]));
        let shell = LoginShell {
            program: "/bin/zsh".into(),
            variables: all(&["PATH", "NVM_DIR", "NPM_TOKEN"]),
            took: Duration::from_millis(80),
        };
        let found = of(own.clone(), Ok(shell));
        assert_eq!(
            (found.health, found.words.as_str()),
            (
                Health::Good,
                "tasks started here get 1 variable; those started from a menu or by cron 2 variables of /bin/zsh (80 ms); left out as \
                 secrets, by their names or an address with a login: GH_TOKEN, NPM_TOKEN"
            )
        );
        let found = of(own, Err(LoginShellError::Unknown));
        assert!(found.health == Health::Noted && found.words.contains("`SHELL` is not set"), "{found:?}");
    }
}
