//! The environment of a tool: an allow-list, less any value that looks like a secret.

use std::collections::BTreeMap;

const ALLOWED: &[&str] = &[
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

/// Longer values are dropped, in bytes.
const MAX_VALUE: usize = 32 * 1024;

/// The part of an environment that a tool gets.
#[must_use]
pub fn allowed(mut environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
    environment.retain(|name, value| {
        ALLOWED.contains(&name.as_str())
            && value.len() <= MAX_VALUE
            && !value.contains('\0')
            && !has_login(value)
    });
    environment
}

/// Whether the value is a URL with a user or a password, as proxies have.
fn has_login(value: &str) -> bool {
    value
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_and_no_secret() {
        let given = [
            ("PATH", "/bin", true),
            ("LC_ALL", "C.UTF-8", true),
            ("VIRTUAL_ENV", "/v", true),
            ("HTTPS_PROXY", "http://proxy:3128/", true),
            ("https_proxy", "http://me:word@proxy:3128", false),
            ("LC_API_KEY", "x", false),
            ("OPENAI_API_KEY", "x", false),
            ("AWS_SECRET_ACCESS_KEY", "x", false),
            ("GITHUB_TOKEN", "x", false),
            ("SSH_AUTH_SOCK", "/x", false),
            ("DBUS_SESSION_BUS_ADDRESS", "x", false),
            ("XDG_RUNTIME_DIR", "/run/user/0", false),
            ("LD_PRELOAD", "/x.so", false),
            ("BASH_ENV", "/x", false),
            ("TZ", "a\0b", false),
        ];
        let all = given.iter().map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned())).collect();
        let kept = allowed(all);
        for (name, _, expected) in given {
            assert_eq!(kept.contains_key(name), expected, "{name}");
        }
    }
}
