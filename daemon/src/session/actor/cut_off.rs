//! Describes the attempts that a shutdown cuts off.

use super::Actor;
use abide_engine::Effect;
use abide_protocol::method::daemon::{CutCall, CutOff, CutWork};

impl Actor {
    pub(super) fn under_way(&self) -> Vec<CutOff> {
        let history = self.driver.history();
        let title = history.conversation.as_ref().map(|c| c.facts.title.clone()).unwrap_or_default();
        let work = |effect: &Effect| match *effect {
            Effect::Model { .. } => Some(CutWork::ModelCall),
            Effect::Checkpoint { .. } | Effect::Undo { .. } => None,
            Effect::Tool { task, call, .. } => {
                let call = history.task(task)?.call(call)?;
                let summary = call.assessed.as_ref().map_or(&call.block.tool, |assessed| &assessed.summary);
                Some(CutWork::ToolCall(CutCall {
                    call_id: call.block.id,
                    tool: call.tool().to_owned(),
                    summary: summary.clone(),
                    effect: call.effect(),
                }))
            }
        };
        let running = self.running.keys().filter_map(|effect| Some((effect.task(), work(effect)?)));
        running
            .map(|(task_id, work)| CutOff { conversation_id: self.id, title: title.clone(), task_id, work })
            .collect()
    }
}
