//! Whether a call can be confined, and whether it may then run without asking.

use super::built_in;
use crate::{
    Checkpoints, SandboxSettings, Unasked, checkpoint,
    run::CallRunner,
    sandbox::{Network, Repository, Sandbox},
    text::one_line,
    tool::{Call, Subject},
    workspace::Workspace,
};
use abide_protocol::sandbox::SandboxLevel;
use std::{cell::OnceCell, path::Path};
use tokio_util::sync::CancellationToken;

/// The longest reason of a model that is shown, in characters.
const REASON: usize = 500;

/// How far a call stays within bounds. The texts say why the call is not [`Self::Contained`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// The call only reads, as the file tools do.
    Reads,
    /// The call changes only what can be undone.
    Contained,
    /// A person decides, or has by starting the task with `--yes`.
    Asks(String),
    /// As [`Self::Asks`], because what the confined call does could not be undone.
    CannotUndo(String),
    /// The call leaves the sandbox or undermines it. `--yes` does not answer this.
    Leaves(String),
    /// The machine has no sandbox that suffices for anything unattended.
    Insufficient(String),
}

/// What is known about the place of a call.
pub(super) struct CallContext<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) settings: &'a SandboxSettings,
    pub(super) runner: &'a CallRunner,
    pub(super) checkpoints: &'a Checkpoints,
    /// The commands' `PATH`.
    pub(super) path: Option<&'a str>,
    /// The repository that the workspace belongs to, once somebody has asked for it.
    pub(super) repository: OnceCell<Option<Repository>>,
}

impl Bounds {
    /// Whether a call whose summary says all of it stays within a sandbox. (File tools need no sandbox. A
    /// summary of code does not say all of it.)
    pub(super) fn are_kept(&self, sandbox: Sandbox, subject: &Subject<'_>) -> bool {
        match (self, subject) {
            (Self::Leaves(_) | Self::Insufficient(_), _) | (_, Subject::Code) => false,
            (_, Subject::Nothing | Subject::Read(_) | Subject::Edit(_)) => true,
            (_, Subject::Line(_)) => sandbox == Sandbox { level: SandboxLevel::Full, network: Network::Off },
        }
    }

    /// Why the call is not simply contained.
    pub(super) fn why(self) -> Option<String> {
        match self {
            Self::Reads | Self::Contained => None,
            Self::Asks(why) | Self::CannotUndo(why) | Self::Leaves(why) | Self::Insufficient(why) => {
                Some(why)
            }
        }
    }
}

impl CallContext<'_> {
    /// The sandbox that a call gets, and what the sandbox means for the decision. `why_it_asks`: why an edit
    /// of this file asks.
    pub(super) fn of(&self, call: &dyn Call, why_it_asks: Option<String>) -> (Sandbox, Bounds) {
        match call.subject() {
            Subject::Read(_) if self.workspace.is_broad() => {
                (Sandbox::NONE, Bounds::Asks("this folder holds more than one project".to_owned()))
            }
            Subject::Nothing | Subject::Read(_) => (Sandbox::NONE, Bounds::Reads),
            Subject::Edit(path) => (Sandbox::NONE, self.of_edit(path, why_it_asks)),
            Subject::Line(line) => self.of_command(call.outside(), Some(line)),
            Subject::Code => self.of_command(call.outside(), None),
        }
    }

    fn of_command(&self, outside: Option<&str>, line: Option<&str>) -> (Sandbox, Bounds) {
        if let Some(reason) = outside {
            let why = format!(
                "it leaves the sandbox; the agent says: \u{201c}{}\u{201d}",
                one_line(reason, REASON)
            );
            return (Sandbox::NONE, Bounds::Leaves(why));
        }
        let level = self.level();
        // An unconfined call has no sandbox to leave.
        let must_leave = line.filter(|_| level > SandboxLevel::None).and_then(abide_rules::must_leave);
        if let Some(why) = must_leave {
            return (Sandbox::NONE, Bounds::Leaves(format!("it must leave the sandbox: {why}")));
        }
        let network = if self.settings.host_network { Network::Host } else { Network::Off };
        let sandbox = Sandbox { level, network };
        let bounds = if level < self.settings.require {
            Bounds::Insufficient(format!(
                "the sandbox of this machine is `{}`, and `[sandbox] require` is `{}`",
                level, self.settings.require
            ))
        } else if network == Network::Host && level > SandboxLevel::None {
            Bounds::Leaves("it uses the network of this machine: `[sandbox] network` is `host`".to_owned())
        } else if self.settings.shell == Unasked::Nothing {
            Bounds::Asks("`[policy] shell` is `ask`".to_owned())
        } else {
            self.contained(line.and_then(built_in::asks).map(|what| format!("it {what}")))
        };
        (sandbox, bounds)
    }

    /// Any command without a reason of its own to ask.
    pub(super) fn of_any_command(&self) -> Bounds {
        self.of_command(None, None).1
    }

    /// Any change of a file without a reason of its own to ask.
    pub(super) fn of_any_edit(&self) -> Bounds {
        self.of_ordinary_edit(None)
    }

    fn of_edit(&self, path: &str, why_it_asks: Option<String>) -> Bounds {
        if self.is_protected(path) {
            return Bounds::Leaves(with(why_it_asks, "other programs take from this file what they run"));
        }
        self.of_ordinary_edit(why_it_asks)
    }

    fn of_ordinary_edit(&self, why_it_asks: Option<String>) -> Bounds {
        if self.settings.edits == Unasked::Nothing {
            return Bounds::Asks(with(why_it_asks, "`[policy] edits` is `ask`"));
        }
        self.contained(why_it_asks)
    }

    /// Whether programs outside of the sandbox take what they run from this file.
    fn is_protected(&self, path: &str) -> bool {
        let Ok(names) = self.workspace.names(path) else { return true };
        let is_configured = |name: &String| {
            self.settings.protect.iter().any(|protected| Path::new(name).starts_with(protected))
        };
        names
            .iter()
            .any(|name| abide_rules::is_protected(name) || is_configured(name) || self.is_of_git_folder(name))
            || self.repository().is_some_and(|repository| {
                self.runner.planner.is_named_by_git(self.workspace, repository, &names)
            })
    }

    /// Whether a file, relative to the workspace, is or would be the configuration or a hook of a git folder.
    fn is_of_git_folder(&self, name: &str) -> bool {
        const OF_GIT: [&str; 4] = ["HEAD", "config", "config.worktree", "commondir"];
        let path = self.workspace.real().join(name);
        let is_hook = path.parent().is_some_and(|above| above.ends_with("hooks"));
        if !is_hook && !OF_GIT.iter().any(|of_git| path.ends_with(of_git)) {
            return false;
        }
        let folder = path.ancestors().nth(if is_hook { 2 } else { 1 });
        // A repository may be made in any order of its files.
        folder.is_some_and(|folder| {
            ["HEAD", "objects", "refs"]
                .iter()
                .any(|part| folder.join(part) != path && folder.join(part).exists())
        })
    }

    fn repository(&self) -> Option<&Repository> {
        self.repository.get_or_init(|| self.runner.planner.repository(self.workspace)).as_ref()
    }

    fn level(&self) -> SandboxLevel {
        self.runner.sandbox_level().level
    }

    /// Whether what a call does here is contained. `why_it_asks`: the call does something that asks
    /// everywhere.
    fn contained(&self, why_it_asks: Option<String>) -> Bounds {
        let level = self.level();
        if level < SandboxLevel::Full {
            return Bounds::Asks(format!(
                "the sandbox of this machine is `{level}`, which does not protect what other programs run from this folder"
            ));
        }
        if self.workspace.is_broad() {
            return Bounds::Asks("this folder holds more than one project".to_owned());
        }
        match (why_it_asks, self.cannot_undo()) {
            (None, None) => Bounds::Contained,
            (None, Some(why)) => Bounds::CannotUndo(why),
            (Some(asks), None) => Bounds::Asks(asks),
            (Some(asks), Some(why)) => Bounds::Asks(format!("{asks}; {why}")),
        }
    }

    /// Why what is done here could not be undone.
    fn cannot_undo(&self) -> Option<String> {
        self.why_no_undo().map(|why_not| format!("what is done here could not be undone: {why_not}"))
    }

    /// Why no checkpoint of the workspace can be made.
    pub(super) fn why_no_undo(&self) -> Option<String> {
        let place = checkpoint::Place {
            workspace: self.workspace.real().to_string_lossy().into_owned(),
            environment: self.path.map(|path| ("PATH".to_owned(), path.to_owned())).into_iter().collect(),
            cancel: CancellationToken::new(),
        };
        self.checkpoints.why_not(&place)
    }
}

fn with(first: Option<String>, then: &str) -> String {
    first.map_or_else(|| then.to_owned(), |first| format!("{first}; {then}"))
}
