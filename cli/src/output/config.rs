//! The settings that clients can change.

use crate::output::{
    status,
    style::{FAINT, PLAIN, STRONG},
    table::{cell, table},
    text,
};
use abide_client::protocol::method::config::{ConfigReply, ModelChoice};

/// The settings, the default model, and the configuration's file.
pub(crate) fn config(reply: &ConfigReply) -> String {
    let model = match &reply.model {
        ModelChoice::Automatic => format!("auto: {} ({})", reply.default.model, reply.default.why),
        ModelChoice::Named(model) => model.clone(),
    };
    let notifications = if reply.notifications { "on" } else { "off" };
    let memory = if reply.memory { "on" } else { "off" };
    let rows =
        [("model.default", model.as_str()), ("notify.enabled", notifications), ("memory.enabled", memory)]
            .map(|(key, value)| [cell(STRONG, key), cell(PLAIN, value)])
            .into_iter()
            .chain([[cell(FAINT, "file"), cell(FAINT, &reply.file.path)]])
            .collect::<Vec<_>>();
    let mut shown = table(["", ""], &rows, text::terminal_width());
    if let Some(refused) = &reply.file.refused {
        shown.push_str(&status::refused_config(refused));
        shown.push('\n');
    }
    shown
}
