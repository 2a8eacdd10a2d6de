//! Which variables of a client's environment are for the tasks that it starts. What looks like a secret never
//! is: a task's environment is recorded, and commands can tell it to a model.

use std::collections::BTreeMap;

/// Longer values are left out, in bytes.
const MAX_VALUE: usize = 32 * 1024;

/// An environment for tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub variables: BTreeMap<String, String>,
    /// The names of those that look like secrets.
    pub secrets: Vec<String>,
}

impl Environment {
    /// The part of an environment that is for tasks.
    #[must_use]
    pub fn of(all: BTreeMap<String, String>) -> Self {
        let mut environment = Self::default();
        for (name, value) in all {
            if is_secret(&name) || has_login(&value) {
                environment.secrets.push(name);
            } else if !is_of_process(&name) && value.len() <= MAX_VALUE && !value.contains('\0') {
                environment.variables.insert(name, value);
            }
        }
        environment
    }
}

/// Variables that say where a process is, not how a person works.
const OF_PROCESS: [&str; 18] = [
    "_",
    "COLUMNS",
    "GPG_TTY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LINES",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "MANAGERPID",
    "NOTIFY_SOCKET",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "SSH_TTY",
    "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

fn is_of_process(name: &str) -> bool {
    OF_PROCESS.contains(&name)
}

/// A part of a name (between underscores) that is one of these names a secret.
const PARTS: [&str; 14] = [
    "APIKEY", "AUTH", "BEARER", "COOKIE", "COOKIES", "DSN", "JWT", "KEY", "KEYS", "PASS", "PAT", "PWD",
    "SSHPASS", "WEBHOOK",
];

/// So does a part that ends like this.
const ENDS: [&str; 9] = [
    "CREDENTIAL",
    "CREDENTIALS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PASSWORDS",
    "SECRET",
    "SECRETS",
    "TOKEN",
];

/// The last part of a name that says where a secret is: a file, a socket, a program that asks for it.
const PLACES: [&str; 9] = ["CMD", "COMMAND", "DIR", "FILE", "FILES", "HOME", "PATH", "PROGRAM", "SOCK"];

/// Whether a variable of this name is taken to hold a secret: `GITHUB_TOKEN`, but not `SSH_AUTH_SOCK`.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    match name.as_str() {
        "PWD" | "OLDPWD" | "GOOGLE_APPLICATION_CREDENTIALS" => return false,
        "GIT_CONFIG_COUNT" | "GIT_CONFIG_PARAMETERS" => return true,
        // Settings of git that are given so may be headers with a login. Each is useless without the others.
        numbered
            if ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"].iter().any(|start| numbered.starts_with(start)) =>
        {
            return true;
        }
        _ => {}
    }
    let mut parts =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).peekable();
    let mut names_secret = name.contains("CONNECTION_STRING");
    while let Some(part) = parts.next() {
        if parts.peek().is_none() && PLACES.iter().any(|place| part.ends_with(place)) {
            return false;
        }
        names_secret |= PARTS.contains(&part)
            || ENDS.iter().any(|end| part.trim_end_matches('S').ends_with(end) || part.ends_with(end));
    }
    names_secret
}

/// Whether the value is an address with a password, or one of the web with a user, which may be a token.
fn has_login(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').is_some_and(|(login, _)| scheme.starts_with("http") || login.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_left_out_and_named() {
        let given = [
            ("PATH", "/bin", true),
            ("SSH_AUTH_SOCK", "/run/user/1000/agent", true),
            ("KUBECONFIG", "/home/me/.kube/work", true),
            ("DOCKER_HOST", "ssh://me@builder", true),
            ("DISPLAY", ":0", true),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus", true),
            ("CI", "true", true),
            ("EDITOR", "vim", true),
            ("SSH_ASKPASS", "/usr/bin/ksshaskpass", true),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json", true),
            ("AWS_SHARED_CREDENTIALS_FILE", "/home/me/aws", true),
            ("DB_PASSWORD_FILE", "/run/secrets/db", true),
            ("GIT_AUTHOR_NAME", "Me", true),
            ("KEYTIMEOUT", "1", true),
            ("GNOME_KEYRING_CONTROL", "/run/user/1000/keyring", true),
            ("XAUTHORITY", "/home/me/.Xauthority", true),
            ("HTTPS_PROXY", "http://proxy:3128/", true),
            ("GIT_CONFIG_GLOBAL", "/home/me/gitconfig", true),
            ("OPENAI_API_KEY", "x", false),
            ("GITHUB_TOKEN", "x", false),
            ("GH_TOKENS", "x", false),
            ("GITHUB_PAT", "x", false),
            ("AWS_ACCESS_KEY_ID", "x", false),
            ("AWS_SECRET_ACCESS_KEY", "x", false),
            ("PGPASSWORD", "x", false),
            ("MYSQL_PWD", "x", false),
            ("SSHPASS", "x", false),
            ("npm_config_//registry.npmjs.org/:_authToken", "x", false),
            ("NPM_CONFIG__AUTH", "x", false),
            ("SLACK_WEBHOOK_URL", "x", false),
            ("SENTRY_DSN", "x", false),
            ("AZURE_STORAGE_CONNECTION_STRING", "x", false),
            ("stripe_secret_live", "x", false),
            ("GIT_CONFIG_COUNT", "1", false),
            ("GIT_CONFIG_KEY_0", "http.extraheader", false),
            ("GIT_CONFIG_VALUE_0", "x", false),
            ("DATABASE_URL", "postgres://me:word@db/x", false),
            ("https_proxy", "http://me:word@proxy:3128", false),
            ("REMOTE", "https://ghp_abc@github.com/x", false),
        ];
        let all = given.iter().map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned())).collect();
        let Environment { variables, secrets } = Environment::of(all);
        for (name, _, expected) in given {
            assert_eq!(variables.contains_key(name), expected, "{name}");
            assert_eq!(secrets.iter().any(|secret| secret == name), !expected, "{name}");
        }
    }

    #[test]
    fn what_is_of_the_client_alone_is_left_out() {
        let long = "x".repeat(MAX_VALUE + 1);
        let all =
            [("PWD", "/"), ("GPG_TTY", "/dev/pts/1"), ("LISTEN_FDS", "1"), ("TZ", "a\0b"), ("LONG", &long)];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(Environment::of(all), Environment::default());
    }
}
