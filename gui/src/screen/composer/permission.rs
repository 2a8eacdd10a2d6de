//! How freely the next task works, and what that means in its folder.

use abide_client::protocol::{method::workspace::WorkspaceReply, task::Approvals};
use abide_host::text::visible_line;
use std::fmt;

/// What a task may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission(pub Approvals);

impl Permission {
    /// That of a next task after one with these approvals. To leave the sandbox is allowed in advance for one
    /// task only, by name.
    #[must_use]
    pub const fn after(approvals: Approvals) -> Self {
        Self(match approvals {
            Approvals::AllowAll => Approvals::Allow,
            others => others,
        })
    }

    /// Those that are offered in this folder.
    pub(super) fn offered(here: Option<&WorkspaceReply>) -> Vec<Self> {
        let mut all = vec![Self(Approvals::Ask), Self(Approvals::AllowEdits)];
        if here.is_none_or(|here| here.can_allow) {
            all.push(Self(Approvals::Allow));
        }
        all
    }

    /// What the permission means in this folder, in a line; `None`: the folder is not known yet.
    pub(super) fn meaning(self, here: Option<&WorkspaceReply>) -> String {
        let (edits_ask, commands_ask) =
            here.map_or((false, false), |here| (here.edits_ask, here.commands_ask));
        let free = match self.0 {
            Approvals::Ask => (!edits_ask, !commands_ask),
            Approvals::AllowEdits => (true, !commands_ask),
            Approvals::Allow | Approvals::AllowAll => (true, true),
        };
        let may = match free {
            (true, true) => "Changes files and runs commands in the sandbox. Asks before anything leaves it.",
            (true, false) => "Changes files. Asks before each command.",
            (false, true) => "Runs commands in the sandbox. Asks before each change of a file.",
            (false, false) => "Asks before each command and each change of a file.",
        };
        match here.and_then(|here| here.no_undo.as_deref()) {
            Some(why) => format!("{may} No undo here: {}.", visible_line(why).trim_end_matches('.')),
            None => may.to_owned(),
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Approvals::Ask => "Ask",
            Approvals::AllowEdits => "Edit freely",
            Approvals::Allow | Approvals::AllowAll => "Run freely in the sandbox",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_it_means_in_the_folder() {
        use Approvals::{Allow, AllowEdits, Ask};
        let asks = |edits_ask, commands_ask| WorkspaceReply {
            edits_ask,
            commands_ask,
            can_allow: true,
            ..WorkspaceReply::default()
        };
        let all = "Changes files and runs commands in the sandbox. Asks before anything leaves it.";
        for (here, approvals, meaning) in [
            (asks(false, false), Ask, all),
            (asks(false, true), Ask, "Changes files. Asks before each command."),
            (asks(true, false), Ask, "Runs commands in the sandbox. Asks before each change of a file."),
            (asks(true, true), Ask, "Asks before each command and each change of a file."),
            (asks(true, true), AllowEdits, "Changes files. Asks before each command."),
            (asks(true, false), AllowEdits, all),
            (asks(true, true), Allow, all),
        ] {
            assert_eq!(Permission(approvals).meaning(Some(&here)), meaning, "{approvals:?} {here:?}");
        }
        let no_undo = WorkspaceReply { no_undo: Some("it is too large.".into()), ..asks(true, true) };
        let said = Permission(Ask).meaning(Some(&no_undo));
        assert!(said.ends_with("file. No undo here: it is too large."), "{said}");
    }

    #[test]
    fn no_task_leaves_the_sandbox_unasked_because_the_one_before_it_did() {
        use Approvals::{Allow, AllowAll, AllowEdits, Ask};
        for (before, next) in [(Ask, Ask), (AllowEdits, AllowEdits), (Allow, Allow), (AllowAll, Allow)] {
            assert_eq!(Permission::after(before), Permission(next));
        }
    }

    #[test]
    fn without_a_sandbox_nothing_runs_freely() {
        let here = WorkspaceReply::default();
        assert_eq!(Permission::offered(Some(&here)).len(), 2);
        assert_eq!(Permission::offered(None).len(), 3);
    }
}
