//! `[tools]`: what tools get.

use super::{Problem, check::variable_name};
use abide_protocol::environment::is_secret;
use serde::Deserialize;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Names of variables, or their beginnings with a `*`.
    pub(super) environment: Vec<String>,
}

impl ToolsConfig {
    pub(super) fn check(&self) -> Result<(), Problem> {
        const KEY: &str = "tools.environment";
        for name in &self.environment {
            if !variable_name(name.strip_suffix('*').unwrap_or(name)) {
                let advice = "name it as in \"RAILS_ENV\", or the beginning of several as in \"RAILS_*\"";
                return Err(Problem::new(KEY, format!("{name:?} is not the name of a variable"), advice));
            }
            if is_secret(name) {
                let what = format!("by its name `{name}` holds a secret, and tools get none");
                return Err(Problem::new(KEY, what, "remove it; a program can take the secret from a file"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn names_and_beginnings_of_names_are_taken_and_secrets_refused() {
        let parse = |names: &str| Config::parse(&format!("[tools]\nenvironment = {names}"));
        let config = parse(r#"["RAILS_ENV", "NODE_*"]"#).unwrap();
        assert_eq!(config.sandbox_settings("/home/me".as_ref()).environment, ["RAILS_ENV", "NODE_*"]);
        for (names, what) in [
            (r#"["A=B"]"#, "is not the name of a variable"),
            (r#"["*"]"#, "is not the name of a variable"),
            (r#"["*_ENV"]"#, "is not the name of a variable"),
            (r#"["GITHUB_TOKEN"]"#, "tools get none"),
        ] {
            let problem = parse(names).unwrap_err().to_string();
            assert!(problem.contains("tools.environment") && problem.contains(what), "{problem}");
        }
    }
}
