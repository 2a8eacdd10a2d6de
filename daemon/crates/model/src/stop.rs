//! What the providers' reasons for the end of a reply have in common.

use abide_protocol::transcript::StopReason;

/// The meaning of a reason that is neither a limit nor a refusal, in a reply with this many calls that can be
/// read.
pub(crate) fn meaning(reason: Option<&str>, calls: usize) -> StopReason {
    match reason.unwrap_or_default().to_ascii_lowercase().as_str() {
        "abort" | "aborted" | "cancel" | "cancelled" | "canceled" | "interrupted" | "pause_turn"
        | "incomplete" | "network_error" | "timeout" => StopReason::Unfinished,
        // One server writes more words around it.
        reason if reason.contains("malformed") || reason == "unexpected_tool_call" => StopReason::LostCalls,
        // Some servers send `stop` for calls too.
        _ if calls > 0 => StopReason::ToolCalls,
        "tool_calls" | "function_call" | "tool_use" => StopReason::LostCalls,
        _ => StopReason::EndTurn,
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;
    use abide_protocol::transcript::StopReason::{self, EndTurn, LostCalls, ToolCalls, Unfinished};

    #[test]
    fn a_reason_means_the_same_for_all_providers() {
        let table: [(Option<&str>, StopReason, StopReason); 10] = [
            (None, EndTurn, ToolCalls),
            (Some("stop"), EndTurn, ToolCalls),
            (Some("something_new"), EndTurn, ToolCalls),
            (Some("tool_calls"), LostCalls, ToolCalls),
            (Some("tool_use"), LostCalls, ToolCalls),
            (Some("MALFORMED_FUNCTION_CALL"), LostCalls, LostCalls),
            (Some("function_call_filter: MALFORMED_FUNCTION_CALL"), LostCalls, LostCalls),
            (Some("pause_turn"), Unfinished, Unfinished),
            (Some("abort"), Unfinished, Unfinished),
            (Some("cancelled"), Unfinished, Unfinished),
        ];
        for (reason, without, with) in table {
            assert_eq!((meaning(reason, 0), meaning(reason, 2)), (without, with), "{reason:?}");
        }
    }
}
