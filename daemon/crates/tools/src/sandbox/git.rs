//! The folders of git that belong to a workspace. Nothing here runs git: what a repository configures must not run.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// How deep files include others at most, as in git.
const INCLUSIONS: usize = 10;

/// Where git keeps a work tree's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top of the work tree: the workspace, or a folder above it.
    pub(crate) top: PathBuf,
    /// `.git` at the top: a folder, or a file that names one.
    pub(crate) entry: PathBuf,
    /// The git folder; for a linked work tree also the one that it shares with the others. Without links.
    pub(crate) folders: Vec<PathBuf>,
}

impl Repository {
    /// The repository whose work tree holds this folder (a path without links). `None`: there is none, or its parts do not
    /// belong together, which a command could have arranged.
    pub(crate) fn of(workspace: &Path) -> Option<Self> {
        let (top, entry) = workspace.ancestors().find_map(|folder| {
            let entry = folder.join(".git");
            // A link is not followed: a command could point it anywhere.
            let kind = fs::symlink_metadata(&entry).ok()?.file_type();
            (kind.is_dir() || kind.is_file()).then(|| (folder.to_owned(), entry))
        })?;
        if entry.is_dir() {
            return is_git_folder(&entry).then(|| Self { folders: vec![entry.clone()], top, entry });
        }
        let named = text(&entry)?;
        let named = top.join(named.strip_prefix("gitdir:")?.trim());
        let folder = fs::canonicalize(named).ok()?;
        let folders = match text(&folder.join("commondir")) {
            Some(common) => {
                let common = fs::canonicalize(folder.join(common)).ok()?;
                let names_back = fs::canonicalize(text(&folder.join("gitdir"))?).ok()? == entry;
                let is_of_common = folder.parent()? == common.join("worktrees");
                (names_back && is_of_common && is_git_folder(&common)).then(|| vec![folder, common])?
            }
            // A submodule's lies in the folder of the repository that it belongs to.
            None => {
                let outer = top.parent().and_then(Self::of)?;
                let modules = outer.folders.last()?.join("modules");
                (folder.starts_with(modules) && is_git_folder(&folder)).then(|| vec![folder])?
            }
        };
        Some(Self { top, entry, folders })
    }

    /// What its configuration and the user's name, by git's own rules. A condition of an inclusion counts as met.
    pub(crate) fn named(&self, home: &Path) -> Named {
        let own =
            self.folders.iter().flat_map(|folder| [folder.join("config"), folder.join("config.worktree")]);
        let users = [home.join(".gitconfig"), home.join(".config/git/config")];
        let mut named = Named::default();
        // A link leads to the file that git reads, perhaps in a work tree of such files.
        let linked = users.iter().filter_map(|file| fs::canonicalize(file).ok().filter(|real| real != file));
        named.included.extend(linked);
        for file in own.chain(users) {
            named.read(&file, &self.top, home, 0);
        }
        named
    }
}

/// What configuration files name, from which git takes programs to run. Absolute paths, which may not exist.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Folders of hooks.
    pub(crate) hooks: Vec<PathBuf>,
    /// Configuration files that others include.
    pub(crate) included: Vec<PathBuf>,
}

impl Named {
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.hooks.iter().chain(&self.included)
    }

    /// Adds what a configuration file of the work tree at `top` names.
    fn read(&mut self, file: &Path, top: &Path, home: &Path, depth: usize) {
        let (Some(text), Some(folder)) = (text(file), file.parent()) else { return };
        let path = |from: &Path, value: &str| {
            without_dots(&match value.strip_prefix("~/") {
                Some(value) => home.join(value),
                None => from.join(value),
            })
        };
        for Setting { section, key, value } in settings(&text) {
            match (section.as_str(), key.as_str()) {
                ("core", "hookspath") => self.hooks.push(path(top, &value)),
                ("include" | "includeif", "path") => {
                    let included = path(folder, &value);
                    if depth < INCLUSIONS && !self.included.contains(&included) {
                        self.included.push(included.clone());
                        self.read(&included, top, home, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").exists() && folder.join("objects").is_dir()
}

fn text(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.trim_end().to_owned())
}

/// A line of a configuration file.
struct Setting {
    /// Without its subsection; in lower case, as the key.
    section: String,
    key: String,
    value: String,
}

/// The settings that have a value. (git-config(1), "Syntax")
fn settings(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return found;
        }
        if let Some((name, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            section = name.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            rest = after;
            continue;
        }
        let is_comment = rest.starts_with(['#', ';']);
        let ends: &[char] = if is_comment { &['\n'] } else { &['=', '\n'] };
        let (key, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        let Some(after) = after.strip_prefix('=') else {
            rest = after;
            continue;
        };
        let (value, after) = value(after);
        rest = after;
        found.push(Setting { section: section.clone(), key: key.trim().to_ascii_lowercase(), value });
    }
}

/// A value, up to the end of its line or to a comment, and what follows it.
fn value(text: &str) -> (String, &str) {
    let (mut value, mut kept) = (String::new(), 0);
    let (mut is_quoted, mut is_comment) = (false, false);
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' => {
                value.truncate(kept);
                return (value, &text[at..]);
            }
            _ if is_comment => continue,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => is_comment = true,
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                // The value goes on in the next line.
                Some((_, '\n')) | None => {}
                Some((_, escaped)) => value.push(escaped),
            },
            _ if value.is_empty() && !is_quoted && letter.is_whitespace() => {}
            _ => value.push(letter),
        }
        if is_quoted || !letter.is_whitespace() && !is_comment {
            kept = value.len();
        }
    }
    value.truncate(kept);
    (value, "")
}

/// The path without `.` and `..`, as far as its text says.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read_as_git_reads_it() {
        for (text, hooks, included) in [
            ("[core]\n\thooksPath = .husky/_\n", vec!["/w/.husky/_"], vec![]),
            ("[ CORE ]\nHOOKSPATH=\"a b\"", vec!["/w/a b"], vec![]),
            ("[core] hooksPath = x", vec!["/w/x"], vec![]),
            ("[core]\nhooksPath = x # of ours\nhooksPath = \"y;z\" ; too", vec!["/w/x", "/w/y;z"], vec![]),
            ("[core]\nhooksPath = a\\\n/b", vec!["/w/a/b"], vec![]),
            ("[core]\nhooksPath = a\\\\b \n", vec!["/w/a\\b"], vec![]),
            ("# [core]\n[user]\nhooksPath = x", vec![], vec![]),
            ("[core]\n# hooksPath = x\nbare\n", vec![], vec![]),
            ("[core]\n# x = y\\\nhooksPath = z", vec!["/w/z"], vec![]),
            ("[core]\nbare = false\n[user]\nname = x\n[core]\nhooksPath = ~/y", vec!["/home/y"], vec![]),
            ("[include]\npath = ../.gitconfig", vec![], vec!["/w/.gitconfig"]),
            ("[includeIf \"onbranch:x\"]path=more", vec![], vec!["/w/.git/more"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let at = |path: &str| folder.path().join(&path[1..]);
            fs::create_dir_all(at("/w/.git")).unwrap();
            fs::write(at("/w/.git/config"), text).unwrap();
            let repository = Repository { top: at("/w"), entry: at("/w/.git"), folders: vec![at("/w/.git")] };
            let paths = |names: Vec<&str>| names.into_iter().map(at).collect();
            let expected = Named { hooks: paths(hooks), included: paths(included) };
            assert_eq!(repository.named(&at("/home")), expected, "{text:?}");
        }
    }

    #[test]
    fn the_user_s_configuration_may_be_a_link_into_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("w/.git")).unwrap();
        fs::write(at("w/gitconfig"), "").unwrap();
        std::os::unix::fs::symlink(at("w/gitconfig"), at(".gitconfig")).unwrap();
        let repository = Repository { top: at("w"), entry: at("w/.git"), folders: vec![at("w/.git")] };
        assert_eq!(repository.named(folder.path()).included, [at("w/gitconfig")]);
    }

    #[test]
    fn what_is_included_is_read_too_and_a_circle_ends() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at(".git")).unwrap();
        fs::write(at(".git/config"), "[include]\npath = ../one\n").unwrap();
        fs::write(at("one"), "[include]\npath = two\npath = .git/config\n").unwrap();
        fs::write(at("two"), "[include]\npath = one\n[core]\nhooksPath = hooks\n").unwrap();
        let folders = vec![at(".git")];
        let repository = Repository { top: folder.path().to_owned(), entry: at(".git"), folders };
        let named = repository.named(Path::new("/nowhere"));
        assert_eq!(named.included, [at("one"), at("two"), at(".git/config")]);
        assert_eq!(named.hooks, [at("hooks")]);
    }

    #[test]
    fn a_link_that_names_a_foreign_folder_is_no_repository() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["work", "victim/objects"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("victim/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(at("work/.git"), format!("gitdir: {}\n", at("victim").display())).unwrap();
        assert_eq!(Repository::of(&at("work")), None);
        // One that says it belongs to this work tree, but lies in no repository's `worktrees`.
        fs::write(at("victim/commondir"), ".\n").unwrap();
        fs::write(at("victim/gitdir"), at("work/.git").to_str().unwrap()).unwrap();
        assert_eq!(Repository::of(&at("work")), None);
    }
}
