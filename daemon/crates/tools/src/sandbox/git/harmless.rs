//! The settings of a repository that make git run nothing and read no further configuration. All other
//! settings count as harmful: git gets new settings with each version, and unknown settings must not pass.

use super::config::Setting;

/// Sections of which no setting runs anything.
const SECTIONS: [&str; 22] = [
    "advice",
    "author",
    "blame",
    "branch",
    "color",
    "column",
    "commit",
    "committer",
    "extensions",
    "feature",
    "fetch",
    "gc",
    "grep",
    "i18n",
    "index",
    "log",
    "pack",
    "pull",
    "push",
    "rerere",
    "stash",
    "status",
];

/// The harmless settings of sections that have harmful ones, too. (Without a subsection.)
const SETTINGS: [(&str, &[&str]); 6] = [
    (
        "core",
        &[
            "abbrev",
            "attributesfile",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "commitgraph",
            "compression",
            "eol",
            "excludesfile",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
            "worktree",
        ],
    ),
    ("user", &["email", "name", "signingkey", "useconfigonly"]),
    ("init", &["defaultbranch", "defaultobjectformat"]),
    ("merge", &["conflictstyle", "ff", "log", "renames", "stat", "tool"]),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "context",
            "mnemonicprefix",
            "noprefix",
            "renames",
            "tool",
            "wserrorhighlight",
        ],
    ),
    ("rebase", &["abbreviatecommands", "autosquash", "autostash", "stat", "updaterefs"]),
];

/// What Git LFS writes into each repository: it names the program itself.
const LFS: [(&str, &str); 4] = [
    ("clean", "git-lfs clean -- %f"),
    ("smudge", "git-lfs smudge -- %f"),
    ("process", "git-lfs filter-process"),
    ("required", "true"),
];

/// Values that switch something off.
const OFF: [&str; 4] = ["false", "no", "off", "0"];

/// Whether git runs nothing because of this setting.
pub(super) fn is_harmless(setting: &Setting) -> bool {
    let Setting { section, subsection, key, .. } = setting;
    let value = setting.text();
    match (section.as_str(), subsection.as_deref(), key.as_str()) {
        // With `ext::` and its kind git runs a program in place of the network.
        ("remote" | "submodule", Some(_), "url" | "pushurl") => !value.contains("::"),
        ("remote", Some(_), "fetch" | "push" | "tagopt" | "prune" | "prunetags" | "mirror" | "promisor") => {
            true
        }
        ("remote", Some(_), "partialclonefilter" | "skipdefaultupdate" | "skipfetchall") => true,
        (
            "submodule",
            _,
            "active" | "branch" | "ignore" | "recurse" | "fetchrecursesubmodules" | "shallow",
        ) => true,
        ("submodule", Some(_), "update") => !value.starts_with('!'),
        ("core", None, "fsmonitor") => OFF.contains(&value.to_ascii_lowercase().as_str()),
        ("filter", Some("lfs"), key) => LFS.contains(&(key, value)),
        ("lfs", _, "repositoryformatversion" | "access" | "locksverify") => true,
        (section, None, key) => {
            SECTIONS.contains(&section)
                || SETTINGS.iter().any(|(name, keys)| *name == section && keys.contains(&key))
        }
        (section, Some(_), _) => SECTIONS.contains(&section),
    }
}
