//! All modes.

use super::{
    agent::Agent,
    auto::Auto,
    chat::Chat,
    control,
    plan::Plan,
    roa::Roa,
    rules::{Rules, Table, Tools},
    tree::Tree,
};
use abide_protocol::{task::Mode, transcript::ToolSpec};
use std::ops::{Deref, DerefMut};

/// The mode of sub-tasks.
pub(crate) const OF_SUB_TASKS: Mode = Mode::Agent;

macro_rules! modes {
    ($($mode:ident),*) => {
        /// A task's mode, with what it remembers.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum TaskMode {
            $($mode($mode)),*
        }

        impl TaskMode {
            /// The mode of a task that begins.
            pub(crate) fn new(mode: Mode) -> Self {
                match mode {
                    $(Mode::$mode => Self::$mode($mode::default())),*
                }
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

modes!(Chat, Agent, Roa, Plan, Auto, Tree);

/// What is fixed in this mode.
pub(crate) fn table(mode: Mode) -> &'static Table {
    TaskMode::new(mode).table()
}

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

/// The control tools of this mode.
#[must_use]
pub fn control_tools(mode: Mode) -> Vec<ToolSpec> {
    table(mode).control_tools.iter().filter_map(|name| control::spec_of(name)).collect()
}
