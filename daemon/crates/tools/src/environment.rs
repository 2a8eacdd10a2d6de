//! The environment of a command. In the sandbox a command gets the usual variables and those that a person
//! configures. Outside of the sandbox it gets the task's whole environment, which has no secrets. Either
//! environment says that nobody sits at a terminal.

mod unattended;

use abide_protocol::environment::Environment;
use std::collections::BTreeMap;

/// Variables that a command in the sandbox gets, if the task has them.
const USUAL: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    // Folders of language toolchains.
    "BUN_INSTALL",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "DENO_DIR",
    "GEM_HOME",
    "GOBIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PKG_CONFIG_PATH",
    "PNPM_HOME",
    "PYENV_ROOT",
    "PYTHONPATH",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    // Proxies.
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "NIX_SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// The environment of a command outside of a sandbox.
pub(crate) fn outside(task: BTreeMap<String, String>) -> BTreeMap<String, String> {
    // A client of another version may know less about secrets.
    let mut environment = Environment::of(task).variables;
    unattended::set(&mut environment, true);
    environment
}

/// The environment of a command in a sandbox; `further`: names, or beginnings of names with a `*`, that a
/// person configures.
pub(crate) fn inside(
    task: BTreeMap<String, String>,
    further: &[String],
    has_network: bool,
) -> BTreeMap<String, String> {
    let is_further = |name: &str| {
        further.iter().any(|further| match further.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == further,
        })
    };
    let mut environment = Environment::of(task).variables;
    environment.retain(|name, _| USUAL.contains(&name.as_str()) || is_further(name));
    unattended::set(&mut environment, has_network);
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_sandbox_what_is_usual_or_configured_and_outside_all_but_secrets() {
        let given = [
            ("PATH", [true, true]),
            ("LC_ALL", [true, true]),
            ("VIRTUAL_ENV", [true, true]),
            ("MY_FLAG", [true, true]),
            ("RAILS_ENV", [true, true]),
            ("RAILS_MASTER_KEY", [false, false]),
            ("LC_API_KEY", [false, false]),
            ("OPENAI_API_KEY", [false, false]),
            ("SSH_AUTH_SOCK", [false, true]),
            ("KUBECONFIG", [false, true]),
            ("DISPLAY", [false, true]),
            ("MY_FLAGS", [false, true]),
            ("DBUS_SESSION_BUS_ADDRESS", [false, true]),
            ("XDG_RUNTIME_DIR", [false, true]),
            // Of a person's terminal.
            ("GIT_EDITOR", [false, false]),
        ];
        let task: BTreeMap<String, String> =
            given.iter().map(|(name, _)| ((*name).to_owned(), "x".to_owned())).collect();
        let further = ["MY_FLAG", "RAILS_*", "OPENAI_API_KEY"].map(str::to_owned);
        let kept = [inside(task.clone(), &further, false), outside(task)];
        for (name, expected) in given {
            assert_eq!([0, 1].map(|place: usize| kept[place].contains_key(name)), expected, "{name}");
        }
        assert!(kept.iter().all(|kept| kept["EDITOR"].contains("no terminal")));
        assert!(kept[0].contains_key("CARGO_NET_RETRY") && !kept[1].contains_key("CARGO_NET_RETRY"));
    }
}
