//! What git runs or reads configuration from because of a git folder. Nothing here runs git.

use super::{
    config::{self, Setting},
    harmless::is_harmless,
};
use crate::sandbox::identity::Identity;
use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The largest configuration that is read, in bytes.
const MAX_CONFIG: u64 = 1 << 20;

/// One thing that makes git run something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// A setting of a configuration file, by its full name.
    Setting {
        file: PathBuf,
        name: String,
        value: String,
    },
    /// A configuration file that git could not read, or that is too large to be looked at.
    Unclear {
        file: PathBuf,
    },
    Hook {
        file: PathBuf,
        identity: Identity,
    },
    /// The file says that git's data is elsewhere.
    Elsewhere {
        file: PathBuf,
        identity: Identity,
    },
}

impl Cause {
    /// The file that holds the cause.
    pub(crate) fn file(&self) -> &Path {
        match self {
            Self::Setting { file, .. }
            | Self::Unclear { file }
            | Self::Hook { file, .. }
            | Self::Elsewhere { file, .. } => file,
        }
    }

    /// Words for the cause, after "`FILE` ".
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Setting { name, value, .. } => format!("sets `{name} = {value}`"),
            Self::Unclear { .. } => "is a configuration that cannot be read".to_owned(),
            Self::Hook { .. } => "is a hook".to_owned(),
            Self::Elsewhere { .. } => "leads git to another folder".to_owned(),
        }
    }
}

/// Everything that makes git run something in repositories with these folders.
pub(crate) type Causes = BTreeSet<Cause>;

/// Adds the causes in a git folder.
pub(crate) fn add_causes(folder: &Path, causes: &mut Causes) {
    for name in ["config", "config.worktree"] {
        add_config(&folder.join(name), causes);
    }
    for hook in fs::read_dir(folder.join("hooks")).into_iter().flatten().flatten() {
        let file = hook.path();
        let is_sample = file.extension().is_some_and(|extension| extension == "sample");
        // Git follows a link, and takes only what can be executed.
        let is_program = || {
            fs::metadata(&file).is_ok_and(|there| there.is_file() && there.permissions().mode() & 0o111 != 0)
        };
        if !is_sample
            && is_program()
            && let Some(identity) = Identity::of(&file)
        {
            causes.insert(Cause::Hook { file, identity });
        }
    }
    let file = folder.join("commondir");
    if let Some(identity) = Identity::of(&file) {
        let named = fs::read_to_string(&file)
            .ok()
            .and_then(|text| fs::canonicalize(folder.join(text.trim_end())).ok());
        // The git folder of a linked work tree lies in the common git folder that it names.
        let is_linked = folder.parent().is_some_and(|above| {
            above.file_name().is_some_and(|name| name == "worktrees")
                && named.is_some()
                && above.parent() == named.as_deref()
        });
        if !is_linked {
            causes.insert(Cause::Elsewhere { file, identity });
        }
    }
}

/// Adds the settings of a configuration file that are not harmless.
fn add_config(file: &Path, causes: &mut Causes) {
    let settings = match read(file) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return;
        }
        text => text.ok().and_then(|text| config::parse(&text)),
    };
    let file = file.to_owned();
    match settings {
        None => drop(causes.insert(Cause::Unclear { file })),
        Some(settings) => {
            for setting in settings.iter().filter(|setting| !is_harmless(setting)) {
                let (name, value) = (setting.name(), setting.text().to_owned());
                causes.insert(Cause::Setting { file: file.clone(), name, value });
            }
        }
    }
}

fn read(file: &Path) -> io::Result<String> {
    let there = fs::metadata(file)?;
    if !there.is_file() || there.len() > MAX_CONFIG {
        return Err(io::ErrorKind::InvalidData.into());
    }
    fs::read_to_string(file)
}

/// A configuration's text without the settings that these causes name; `None` if the file must go as a whole.
pub(crate) fn without(text: &str, file: &Path, causes: &Causes) -> Option<String> {
    let settings = config::parse(text)?;
    let is_cause = |setting: &Setting| {
        let (name, value) = (setting.name(), setting.text().to_owned());
        causes.contains(&Cause::Setting { file: file.to_owned(), name, value })
    };
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for setting in settings.iter().filter(|setting| is_cause(setting)) {
        kept.push_str(text.get(from..setting.at.start)?);
        from = setting.at.end;
        // The text after a removed setting must not join the line before it.
        kept.push('\n');
    }
    kept.push_str(text.get(from..)?);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(folder: &Path) -> Vec<String> {
        let mut found = Causes::new();
        add_causes(folder, &mut found);
        let name = |cause: &Cause| cause.file().strip_prefix(folder).unwrap().display().to_string();
        found.iter().map(|cause| format!("{} {}", name(cause), cause.words())).collect()
    }

    #[test]
    fn what_git_itself_writes_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                    [remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A\n\
                    [submodule \"m\"]\n\turl = ../m\n\tactive = true\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n";
        fs::write(folder.path().join("config"), text).unwrap();
        fs::create_dir(folder.path().join("hooks")).unwrap();
        fs::write(folder.path().join("hooks/pre-commit.sample"), "#!/bin/sh\n").unwrap();
        assert_eq!(causes(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn what_runs_a_program_is_found_and_taken_out() {
        for setting in [
            "[core]\nfsmonitor = ./x",
            "[core]\nhooksPath = x",
            "[core]\nsshCommand = x",
            "[core]\neditor = x",
            "[core]\npager = x",
            "[core]\naskPass = x",
            "[core]\ngitProxy = x",
            "[core]\nalternateRefsCommand = x",
            "[diff]\nexternal = x",
            "[diff \"a\"]\ntextconv = x",
            "[diff \"a\"]\ncommand = x",
            "[merge \"a\"]\ndriver = x",
            "[filter \"a\"]\nclean = x",
            "[filter \"lfs\"]\nprocess = ./x",
            "[alias]\nst = !x",
            "[include]\npath = x",
            "[includeIf \"onbranch:a\"]\npath = x",
            "[credential]\nhelper = !x",
            "[gpg]\nprogram = x",
            "[gpg \"ssh\"]\nprogram = x",
            "[sequence]\neditor = x",
            "[interactive]\ndiffFilter = x",
            "[pager]\nlog = x",
            "[remote \"o\"]\nuploadpack = x",
            "[remote \"o\"]\nurl = ext::x",
            "[remote \"o\"]\nvcs = x",
            "[submodule \"m\"]\nupdate = !x",
            "[difftool \"a\"]\ncmd = x",
            "[trailer \"a\"]\ncommand = x",
            "[url \"ext::x\"]\ninsteadOf = y",
            "[protocol]\nallow = always",
            "[hook \"a\"]\ncommand = x",
            "[uploadpack]\npackObjectsHook = x",
            "[init]\ntemplateDir = x",
            "[fsmonitor]\nx = y",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config");
            let text = format!("[user]\n\tname = A\n{setting}\n[core]\n\tbare = false\n");
            fs::write(&file, &text).unwrap();
            let mut found = Causes::new();
            add_causes(folder.path(), &mut found);
            assert_eq!(found.len(), 1, "{setting}");
            let kept = without(&text, &file, &found).unwrap();
            let left: Vec<String> = config::parse(&kept).unwrap().iter().map(Setting::name).collect();
            assert_eq!(left, ["user.name", "core.bare"], "{setting}");
        }
    }

    #[test]
    fn hooks_and_other_folders_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("hooks")).unwrap();
        fs::write(at("hooks/post-commit"), "#!/bin/sh\n").unwrap();
        assert_eq!(causes(folder.path()), Vec::<String>::new(), "it cannot be executed");
        fs::set_permissions(at("hooks/post-commit"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(at("commondir"), "../evil\n").unwrap();
        fs::write(at("config"), "[core\n").unwrap();
        assert_eq!(
            causes(folder.path()),
            [
                "config is a configuration that cannot be read",
                "hooks/post-commit is a hook",
                "commondir leads git to another folder"
            ]
        );
        // That of a linked work tree.
        fs::create_dir_all(at("worktrees/w")).unwrap();
        fs::write(at("worktrees/w/commondir"), "../..\n").unwrap();
        assert_eq!(causes(&at("worktrees/w")), Vec::<String>::new());
    }
}
