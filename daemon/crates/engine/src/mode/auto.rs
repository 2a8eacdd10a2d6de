//! `auto`: begins as an agent. A first reply without calls is the answer, and the task was a chat; otherwise it is an agent from
//! there on. This costs no extra request. If somebody's words came during the first reply, the next one decides.

use super::{Action, Rules, agent};
use crate::task::Task;
use abide_protocol::{task::Mode, transcript::Reply};

pub(super) struct Auto;

impl Rules for Auto {
    fn next(&self, _: &Task) -> Action {
        // The first reply ends this mode.
        Action::Think(None)
    }

    fn chosen(&self, reply: &Reply, cut: bool) -> Option<Mode> {
        let acts = cut || reply.calls().next().is_some();
        Some(if acts { Mode::Agent } else { Mode::Chat })
    }

    fn control_tools(&self) -> &'static [&'static str] {
        agent::CONTROL_TOOLS
    }
}
