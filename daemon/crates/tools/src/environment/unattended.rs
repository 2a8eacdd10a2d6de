//! Variables that tell programs that nobody sits at a terminal. A program that asks or shows something on a
//! terminal would wait in vain, or fail in words that help nobody.

use std::collections::BTreeMap;

/// An editor command that says what to do instead. Programs give it to a shell; git shows the text, too.
const EDITOR: &str = "echo >&2 'no terminal, so no editor: give the text with -m or -F, keep it with --no-edit, or set GIT_EDITOR to a command \
                      that changes the file'; false";

const SET: [(&str, &str); 6] = [
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("EDITOR", EDITOR),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
    ("VISUAL", EDITOR),
];

/// It overrides the editor of git's configuration, but not one on the command line (`-c core.editor`,
/// `GIT_EDITOR`).
const GIT_EDITOR: [(&str, &str); 3] =
    [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.editor"), ("GIT_CONFIG_VALUE_0", EDITOR)];

/// A person's variables that would override these, and are left out.
const UNSET: [&str; 2] = ["GIT_EDITOR", "GIT_SEQUENCE_EDITOR"];

/// Without a network these programs would retry for minutes.
const NO_RETRIES: [(&str, &str); 3] =
    [("CARGO_NET_RETRY", "0"), ("npm_config_fetch_retries", "0"), ("PIP_RETRIES", "1")];

pub(super) fn set(environment: &mut BTreeMap<String, String>, has_network: bool) {
    environment.retain(|name, _| !UNSET.contains(&name.as_str()));
    let retries = NO_RETRIES.iter().filter(|_| !has_network);
    let all = SET.iter().chain(&GIT_EDITOR).chain(retries);
    environment.extend(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
}
