//! The git folders that belong to a workspace. Nothing here runs git, because what a repository configures
//! must not run.

mod config;
mod harmless;
mod index;
mod runs;

pub(crate) use index::{gitlinks, shared_index};
pub(crate) use runs::{Cause, Causes, add_causes, without};

use config::{Setting, parse};
use harmless::is_harmless;
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The greatest depth of inclusions, as in git.
const INCLUSIONS: usize = 10;

/// Where git keeps a work tree's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The top of the work tree: the workspace, or a folder above it.
    pub(crate) top: PathBuf,
    /// `.git` at the top: a folder, or a file that names a folder.
    pub(crate) entry: PathBuf,
    /// The git folder, and for a linked work tree also the common git folder. Without links.
    pub(crate) folders: Vec<PathBuf>,
}

impl Repository {
    /// The repository whose work tree holds this folder (a path without links). `None`: there is no
    /// repository, or its git folder does not certainly belong to this work tree.
    ///
    /// Commands may write to the git folder of their repository, and a command could have made or changed the
    /// `.git` that leads to another git folder. So a git folder counts if it lies where the command may write
    /// anyway, or if it names this work tree. A git folder that cannot name it
    /// (`git init --separate-git-dir`, a link) counts if the `.git` is a person's, which is checked last, and
    /// no other link leads there.
    pub(crate) fn of(workspace: &Path, is_persons: &dyn Fn(&Path) -> bool) -> Option<Self> {
        let (top, entry, kind) = workspace.ancestors().find_map(|folder| {
            let entry = folder.join(".git");
            let kind = fs::symlink_metadata(&entry).ok()?.file_type();
            Some((folder.to_owned(), entry, kind))
        })?;
        if kind.is_dir() {
            return is_git_folder(&entry).then(|| Self { folders: vec![entry.clone()], top, entry });
        }
        let folder = git_folder(&entry)?;
        let common = common_folder(&folder)?;
        if !folder.join("HEAD").exists() || !common.join("objects").is_dir() {
            return None;
        }
        let is_linked = || {
            let named = text(&folder.join("gitdir"));
            let names_back = named.and_then(|named| fs::canonicalize(folder.join(named)).ok());
            names_back.as_ref() == Some(&entry) && folder.parent() == Some(&common.join("worktrees"))
        };
        // A submodule's git folder lies in the git folder of the outer repository.
        let is_submodule = || {
            let outer = top.parent().and_then(|outer| Self::of(outer, is_persons));
            let mut outer = outer.iter().flat_map(|outer| &outer.folders);
            common == folder && outer.any(|outer| folder.starts_with(outer.join("modules")))
        };
        let is_within = folder.starts_with(workspace) && common.starts_with(workspace);
        let is_direct = || leads_directly(&entry, &folder);
        if !(is_within || is_linked() || is_submodule() || is_direct() && is_persons(&entry)) {
            return None;
        }
        let folders = if common == folder { vec![folder] } else { vec![folder, common] };
        Some(Self { top, entry, folders })
    }

    /// The tops of the repository's work trees, the main one first. Each names the common git folder, and is
    /// named by it.
    pub(crate) fn work_trees(&self) -> Vec<PathBuf> {
        let common = self.folders.last().unwrap_or(&self.entry);
        let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let linked = linked.filter_map(|folder| {
            let entry = folder.path().join(text(&folder.path().join("gitdir"))?);
            Some(fs::canonicalize(entry).ok()?.parent()?.to_owned())
        });
        let main = common.parent().map(Path::to_owned);
        let is_of_it = |top: &PathBuf| {
            Self::of(top, &|_| false).is_some_and(|it| it.top == *top && it.folders.last() == Some(common))
        };
        main.into_iter().chain(linked).filter(is_of_it).collect()
    }

    /// What the configurations of the repository and the user name, by git's own rules. Conditional
    /// inclusions count as met.
    pub(crate) fn named(&self, home: &Path) -> Named {
        let own =
            self.folders.iter().flat_map(|folder| [folder.join("config"), folder.join("config.worktree")]);
        let users = [home.join(".gitconfig"), home.join(".config/git/config")];
        let mut named = Named::default();
        // If the user's configuration is a link, git reads its target, perhaps a file in a work tree.
        let linked = users.iter().filter_map(|file| fs::canonicalize(file).ok().filter(|real| real != file));
        named.included.extend(linked);
        for file in own.chain(users) {
            named.read(&file, &self.top, home, 0);
        }
        named
    }
}

/// Files and folders that configuration files name and that git runs or obeys. Absolute paths, which may not
/// exist.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Folders of hooks.
    pub(crate) hooks: Vec<PathBuf>,
    /// Configuration files that others include.
    pub(crate) included: Vec<PathBuf>,
    /// Files of the work tree that settings run: filters, drivers, aliases, editors.
    pub(crate) programs: Vec<PathBuf>,
    /// The last file with patterns of ignored files.
    pub(crate) excludes: Option<PathBuf>,
}

impl Named {
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.hooks.iter().chain(&self.included).chain(&self.programs)
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
        for setting in parse(&text).unwrap_or_default() {
            let Setting { section, key, .. } = &setting;
            match (section.as_str(), key.as_str()) {
                ("core", "hookspath") => self.hooks.push(path(top, setting.text())),
                ("core", "excludesfile") => self.excludes = Some(path(top, setting.text())),
                ("include" | "includeif", "path") => {
                    let included = path(folder, setting.text());
                    if depth < INCLUSIONS && !self.included.contains(&included) {
                        self.included.push(included.clone());
                        self.read(&included, top, home, depth + 1);
                    }
                }
                _ if is_harmless(&setting) => {}
                _ => {
                    let line = setting.text().trim_start_matches('!').trim_start();
                    // The program itself may be missing, and be made later.
                    let can_run =
                        |word: &str, file: &Path| file.is_file() || line.starts_with(word) && !file.exists();
                    let files = programs(line).map(|word| (word, path(top, word)));
                    let files = files.filter(|(word, file)| file.starts_with(top) && can_run(word, file));
                    self.programs.extend(files.map(|(_, file)| file));
                }
            }
        }
    }
}

/// The words of a command line that may be the file of a program: a path at its head, or what an interpreter
/// there may be told to run.
fn programs(line: &str) -> impl Iterator<Item = &str> {
    let separates =
        |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '(' | ')' | ';' | '&' | '|');
    let mut words = line.split(separates).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    let is_interpreter =
        name.ends_with("sh") || INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter));
    let is_compound = line.contains(['\n', ';', '&', '|', '(']);
    [first]
        .into_iter()
        .chain(words.filter(move |word| is_interpreter || is_compound && word.contains('/')))
        .filter(move |word| word.contains('/') || is_interpreter && *word != first)
}

/// Programs that run a file that they are told.
const INTERPRETERS: [&str; 9] = ["python", "perl", "ruby", "node", "deno", "bun", "lua", "php", "env"];

/// How long the ids of objects are of the repository with this git folder, in bytes.
pub(crate) fn id_length(folder: &Path) -> usize {
    let common =
        text(&folder.join("commondir")).map_or_else(|| folder.to_owned(), |common| folder.join(common));
    let config = text(&common.join("config")).unwrap_or_default();
    let is_sha256 =
        |setting: &Setting| setting.name() == "extensions.objectformat" && setting.text() == "sha256";
    if parse(&config).unwrap_or_default().iter().any(is_sha256) { 32 } else { 20 }
}

/// The git folder that `.git` is, or that it leads to as a link or a file; without links.
pub(crate) fn git_folder(entry: &Path) -> Option<PathBuf> {
    let there = fs::metadata(entry).ok()?;
    if there.is_file() { fs::canonicalize(named_by(entry)?).ok() } else { fs::canonicalize(entry).ok() }
}

/// The folder that a git folder shares with those of other work trees; itself if there are none.
pub(crate) fn common_folder(folder: &Path) -> Option<PathBuf> {
    match text(&folder.join("commondir")) {
        Some(common) => fs::canonicalize(folder.join(common)).ok(),
        None => Some(folder.to_owned()),
    }
}

/// What a file `.git` names.
fn named_by(entry: &Path) -> Option<PathBuf> {
    Some(entry.parent()?.join(text(entry)?.strip_prefix("gitdir:")?.trim()))
}

/// Whether the text of `.git`, a link or a file, is the path of this folder: no link on the way could be put
/// there by another command.
fn leads_directly(entry: &Path, folder: &Path) -> bool {
    let named = match fs::read_link(entry) {
        Ok(target) => entry.parent().map(|parent| parent.join(target)),
        Err(_) => named_by(entry),
    };
    named.is_some_and(|named| without_dots(&named) == folder)
}

pub(crate) fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").exists() && folder.join("objects").is_dir()
}

fn text(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.trim_end().to_owned())
}

/// The path without `.` and `..`, as far as its text says.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
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
    fn what_a_configuration_names_is_found() {
        for (text, hooks, included, programs) in [
            ("[core]\n\thooksPath = .husky/_\n", vec!["/w/.husky/_"], vec![], vec![]),
            (
                "[core]\nhooksPath = x\n[user]\nname = x\n[core]\nhooksPath = ~/y",
                vec!["/w/x", "/home/y"],
                vec![],
                vec![],
            ),
            ("# [core]\n[user]\nhooksPath = x", vec![], vec![], vec![]),
            ("[include]\npath = ../.gitconfig", vec![], vec!["/w/.gitconfig"], vec![]),
            ("[includeIf \"onbranch:x\"]path=more", vec![], vec!["/w/.git/more"], vec![]),
            ("[filter \"t\"]\nclean = ./tools/a.sh %f", vec![], vec![], vec!["/w/tools/a.sh"]),
            ("[filter \"t\"]\nclean = sh tools/a.sh %f", vec![], vec![], vec!["/w/tools/a.sh"]),
            ("[alias]\nx = \"!cd d && tools/a.sh; python3 b.py\"", vec![], vec![], vec!["/w/tools/a.sh"]),
            ("[alias]\nx = !bash -e b.py", vec![], vec![], vec!["/w/b.py"]),
            ("[alias]\nx = log b.py\ny = !git log b.py", vec![], vec![], vec![]),
            ("[core]\neditor = tools/none", vec![], vec![], vec!["/w/tools/none"]),
            ("[core]\neditor = sh tools/none", vec![], vec![], vec![]),
            ("[alias]\nx = \"!cd tools/none && make\"", vec![], vec![], vec![]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let at = |path: &str| folder.path().join(&path[1..]);
            fs::create_dir_all(at("/w/.git")).unwrap();
            fs::create_dir_all(at("/w/tools")).unwrap();
            for file in ["/w/tools/a.sh", "/w/b.py"] {
                fs::write(at(file), "").unwrap();
            }
            fs::write(at("/w/.git/config"), text).unwrap();
            let repository = Repository { top: at("/w"), entry: at("/w/.git"), folders: vec![at("/w/.git")] };
            let paths = |names: Vec<&str>| names.into_iter().map(at).collect();
            let (hooks, included, programs) = (paths(hooks), paths(included), paths(programs));
            let expected = Named { hooks, included, programs, excludes: None };
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
        let of_nobody = |_: &Path| false;
        assert_eq!(Repository::of(&at("work"), &of_nobody), None);
        // One that says it belongs to this work tree, but lies in no repository's `worktrees`.
        fs::write(at("victim/commondir"), ".\n").unwrap();
        fs::write(at("victim/gitdir"), at("work/.git").to_str().unwrap()).unwrap();
        assert_eq!(Repository::of(&at("work"), &of_nobody), None);
    }
}
