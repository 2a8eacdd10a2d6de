//! The folders of git that belong to a workspace. Nothing here runs git: what a repository configures must not run.

use std::{
    fs,
    path::{Path, PathBuf},
};

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

    /// The folders of hooks that the configuration names, absolute or relative to the work tree, by git's own rules but without
    /// included files.
    pub(crate) fn hooks_paths(&self, home: &Path) -> Vec<PathBuf> {
        let own =
            self.folders.iter().flat_map(|folder| [folder.join("config"), folder.join("config.worktree")]);
        let files = own.chain([home.join(".gitconfig"), home.join(".config/git/config")]);
        let named = files.filter_map(|file| text(&file)).flat_map(|text| hooks_paths(&text));
        named
            .map(|path| match path.strip_prefix("~/") {
                Some(path) => home.join(path),
                None => self.top.join(path),
            })
            .collect()
    }
}

fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").exists() && folder.join("objects").is_dir()
}

fn text(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.trim_end().to_owned())
}

/// The values of `core.hooksPath`. (git-config(1), "Syntax")
fn hooks_paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_core = false;
    for line in text.lines().map(str::trim) {
        let mut rest = line;
        if let Some((section, after)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            in_core = section.trim().eq_ignore_ascii_case("core");
            rest = after.trim();
        }
        if let Some((key, value)) = rest.split_once('=')
            && in_core
            && key.trim().eq_ignore_ascii_case("hookspath")
        {
            found.push(value.trim().trim_matches('"').replace("\\\\", "\\"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_paths_are_read_as_git_reads_them() {
        for (text, expected) in [
            ("[core]\n\thooksPath = .husky/_\n", vec![".husky/_"]),
            ("[ CORE ]\nHOOKSPATH=\"a b\"", vec!["a b"]),
            ("[core] hooksPath = x", vec!["x"]),
            ("[user]\nhooksPath = x", vec![]),
            ("[core \"sub\"]\nhooksPath = x", vec![]),
            ("[core]\nbare = false\n[user]\nname = x\n[core]\nhooksPath = y", vec!["y"]),
        ] {
            assert_eq!(hooks_paths(text), expected, "{text:?}");
        }
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
