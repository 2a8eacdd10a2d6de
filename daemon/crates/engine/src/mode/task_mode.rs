//! All modes.

use super::{
    agent, auto, chat, control, plan, roa,
    rules::{Recalls, Rules, Table, Tools},
    tree,
};
use abide_protocol::{task::Mode, transcript::ToolSpec};
use std::ops::{Deref, DerefMut};

/// The mode of sub-tasks.
pub(crate) const OF_SUB_TASKS: Mode = Mode::Agent;

macro_rules! modes {
    ($($file:ident::$mode:ident),*) => {
        /// A task's mode, with what it remembers.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum TaskMode {
            $($mode($file::$mode)),*
        }

        impl TaskMode {
            /// The mode of a task that begins.
            pub(crate) fn new(mode: Mode) -> Self {
                match mode {
                    $(Mode::$mode => Self::$mode($file::$mode::default())),*
                }
            }
        }

        /// What is fixed in this mode.
        pub(crate) fn table(mode: Mode) -> &'static Table {
            match mode {
                $(Mode::$mode => &$file::TABLE),*
            }
        }

        impl Deref for TaskMode {
            type Target = dyn Rules;

            fn deref(&self) -> &(dyn Rules + 'static) {
                match self {
                    $(Self::$mode(mode) => mode),*
                }
            }
        }

        impl DerefMut for TaskMode {
            fn deref_mut(&mut self) -> &mut (dyn Rules + 'static) {
                match self {
                    $(Self::$mode(mode) => mode),*
                }
            }
        }
    };
}

modes!(chat::Chat, agent::Agent, roa::Roa, plan::Plan, auto::Auto, tree::Tree);

/// The most steps of a task in this mode, if neither the request nor the configuration says.
#[must_use]
pub fn default_steps(mode: Mode) -> u32 {
    table(mode).steps
}

/// The tools are declared to the provider in this mode. Otherwise the system prompt describes them.
#[must_use]
pub fn declares_tools(mode: Mode) -> bool {
    !matches!(table(mode).tools, Tools::Described(_))
}

/// A task in this mode may have tools, and works in a workspace.
#[must_use]
pub fn has_tools(mode: Mode) -> bool {
    !matches!(table(mode).tools, Tools::Absent)
}

/// A task in this mode begins with passages of earlier conversations, and not only with notes.
#[must_use]
pub fn recalls(mode: Mode) -> bool {
    table(mode).recalls != Recalls::Notes
}

/// The control tools of this mode.
#[must_use]
pub fn control_tools(mode: Mode) -> Vec<ToolSpec> {
    table(mode).control_tools.iter().filter_map(|name| control::spec_of(name)).collect()
}
