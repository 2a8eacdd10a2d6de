//! What clients of the two dialects send. Their types are disjoint.

use super::dialect::Dialect;
use abide_protocol::{
    method::task::StartTaskParams,
    task::{LimitsRequest, Mode},
};
use serde::Deserialize;

/// How long a question waits that a client asked for with `agent_mode`, in seconds.
const INPUT_TIME: u64 = 600;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Frame {
    Chat(Chat),
    AgentControl {
        action: StopAction,
    },
    AgentUserInput {
        content: String,
    },
    Command {
        payload: Payload,
    },
    Answer {
        /// `null` declines. The field is required, so that nobody declines by leaving it out.
        #[serde(deserialize_with = "Option::deserialize")]
        response: Option<String>,
    },
    PermissionResponse {
        #[serde(alias = "request_id")]
        id: String,
        approved: bool,
        #[serde(default)]
        remember: bool,
    },
    Ping,
}

#[derive(Debug, Deserialize)]
pub(super) struct Chat {
    content: String,
    #[serde(default)]
    agent_mode: bool,
    agent_max_steps: Option<u32>,
    model: Option<String>,
    selected_tools: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopAction {
    Stop,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(super) enum Payload {
    Start { task: String, max_iterations: Option<u32> },
    Stop,
    Pause,
    Resume,
}

impl Frame {
    /// The dialect that it belongs to.
    pub(super) const fn dialect(&self) -> Dialect {
        match self {
            Self::Chat(_) | Self::AgentControl { .. } | Self::AgentUserInput { .. } => Dialect::Roa,
            Self::Command { .. } | Self::Answer { .. } | Self::PermissionResponse { .. } | Self::Ping => {
                Dialect::State
            }
        }
    }
}

impl From<Chat> for StartTaskParams {
    fn from(chat: Chat) -> Self {
        let limits = LimitsRequest {
            max_steps: chat.agent_max_steps,
            question_timeout_secs: chat.agent_mode.then_some(INPUT_TIME),
            ..LimitsRequest::default()
        };
        Self {
            message: chat.content,
            mode: chat.agent_mode.then_some(Mode::Roa),
            model: chat.model,
            tools: chat.selected_tools,
            limits,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dialect::{Roa, State};

    #[test]
    fn the_type_of_a_frame_says_its_dialect() {
        let table = [
            (r#"{"type":"chat","content":"Hi."}"#, Some(Roa)),
            (r#"{"type":"agent_control","action":"stop"}"#, Some(Roa)),
            (r#"{"type":"agent_user_input","content":"Blue."}"#, Some(Roa)),
            (r#"{"type":"command","payload":{"action":"start","task":"Do it."}}"#, Some(State)),
            (r#"{"type":"command","payload":{"action":"pause"}}"#, Some(State)),
            (r#"{"type":"answer","response":null}"#, Some(State)),
            (r#"{"type":"permission_response","id":"1","approved":true}"#, Some(State)),
            (r#"{"type":"permission_response","request_id":"1","approved":false}"#, Some(State)),
            (r#"{"type":"ping"}"#, Some(State)),
            (r#"{"type":"answer"}"#, None),
            (r#"{"type":"agent_control","action":"delete"}"#, None),
            (r#"{"type":"command","payload":{"action":"start"}}"#, None),
            (r#"{"type":"shutdown"}"#, None),
            (r#"{"content":"Hi."}"#, None),
            ("[]", None),
        ];
        for (frame, dialect) in table {
            let read = serde_json::from_str::<Frame>(frame).ok();
            assert_eq!(read.as_ref().map(Frame::dialect), dialect, "{frame}");
        }
    }

    #[test]
    fn a_chat_in_agent_mode_asks_for_ten_minutes() {
        let params = |chat: &str| StartTaskParams::from(serde_json::from_str::<Chat>(chat).unwrap());
        let agent = params(
            r#"{"content":"Do it.","agent_mode":true,"agent_max_steps":7,"model":"a/b",
                "selected_tools":["read"]}"#,
        );
        assert_eq!((agent.mode, agent.limits.max_steps), (Some(Mode::Roa), Some(7)));
        assert_eq!((agent.limits.question_timeout_secs, agent.model.as_deref()), (Some(600), Some("a/b")));
        assert_eq!(agent.tools.as_deref(), Some(&["read".to_owned()][..]));
        let plain = params(r#"{"content":"Hi."}"#);
        assert_eq!((plain.mode, plain.limits), (None, LimitsRequest::default()));
    }
}
