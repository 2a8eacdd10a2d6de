//! `intervene`: the words of the request as a command.

use super::{control, find};
use crate::service::{Caller, Service, handlers::RequestError};
use abide_engine::{Command, Intervention};
use abide_protocol::{
    Error, ErrorKind, TaskId,
    limits::MAX_PROMPT,
    method::task::{InterveneParams, InterveneReply},
    record::By,
};

pub(in crate::service::handlers) async fn intervene(
    service: &Service,
    caller: &Caller,
    params: &InterveneParams,
) -> Result<InterveneReply, RequestError> {
    let reply = match command(params, caller.by()) {
        Ok(Some(command)) => control(service, &params.task_id, command).await?.task,
        // Nothing is to change; but the task has to be there.
        Ok(None) => find(service, &params.task_id).await?,
        Err(words) => return Err(Error::new(ErrorKind::InvalidParams, words).into()),
    };
    Ok(InterveneReply { success: true, task: reply })
}

type ToCommand = Box<dyn FnOnce(TaskId) -> Command + Send>;

/// `None`: nothing is to change.
///
/// # Errors
/// What is wrong with the request.
fn command(params: &InterveneParams, by: By) -> Result<Option<ToCommand>, String> {
    let (comment, content) = (params.comment.trim(), params.content.as_deref().unwrap_or_default().trim());
    if comment.len() + content.len() > MAX_PROMPT {
        return Err(format!("the words of an intervention are at most {MAX_PROMPT} bytes"));
    }
    let word = match (params.status.as_deref(), comment) {
        (None, word) => word,
        (Some(status), "" | "unchanged") => status,
        (Some("modified"), "modify") => "modify",
        (Some("deleted"), "delete") => "delete",
        (Some(_), _) => return Err("say either a comment or a status, not both".to_owned()),
    };
    let of_status = params.status.is_some();
    let intervention = match (of_status, word) {
        (true, "running") => {
            return Ok(Some(Box::new(move |task| Command::Resume { task, by: Some(by) })));
        }
        (true, "awaiting_user") => return Ok(Some(Box::new(move |task| Command::Pause { task }))),
        (true, "completed") => Intervention::Complete { summary: content.to_owned() },
        (true, "error") => Intervention::Fail { error: content.to_owned() },
        (true, "deleted") | (_, "delete") => Intervention::Delete { comment: comment.to_owned() },
        (true, "modified") | (_, "modify") if content.is_empty() => {
            return Err("`modify` needs `content`: the new instructions".to_owned());
        }
        (true, "modified") | (_, "modify") => {
            Intervention::Modify { comment: comment.to_owned(), content: content.to_owned() }
        }
        (true, other) => {
            return Err(format!(
                "there is no status {other:?}; there are running, awaiting_user, modified, deleted, completed, error"
            ));
        }
        (false, "unchanged") => return Ok(None),
        (false, "") => return Err("say a comment or a status".to_owned()),
        (false, words) => Intervention::Comment(words.to_owned()),
    };
    Ok(Some(Box::new(move |task| Command::Intervene { task, intervention, by })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::record::Via;
    use uuid::Uuid;

    fn read(comment: &str, content: Option<&str>, status: Option<&str>) -> Result<Option<Command>, String> {
        let params = InterveneParams {
            task_id: "t".to_owned(),
            comment: comment.to_owned(),
            content: content.map(str::to_owned),
            status: status.map(str::to_owned),
        };
        let by = By { via: Via::Socket, name: String::new() };
        command(&params, by).map(|command| command.map(|command| command(TaskId(Uuid::nil()))))
    }

    fn intervention(comment: &str, content: Option<&str>, status: Option<&str>) -> Intervention {
        match read(comment, content, status) {
            Ok(Some(Command::Intervene { intervention, .. })) => intervention,
            other => panic!("no intervention: {other:?}"),
        }
    }

    #[test]
    fn each_word_is_a_command() {
        let text = str::to_owned;
        assert_eq!(intervention("Mind the gap.", None, None), Intervention::Comment(text("Mind the gap.")));
        let modify = |comment| Intervention::Modify { comment: text(comment), content: text("New.") };
        assert_eq!(intervention("modify", Some("New."), None), modify("modify"));
        assert_eq!(intervention("modify", Some("New."), Some("modified")), modify("modify"));
        assert_eq!(intervention("", Some("New."), Some("modified")), modify(""));
        assert_eq!(intervention("delete", None, None), Intervention::Delete { comment: text("delete") });
        assert_eq!(intervention("", None, Some("deleted")), Intervention::Delete { comment: text("") });
        let done = intervention("", Some("Fine."), Some("completed"));
        assert_eq!(done, Intervention::Complete { summary: text("Fine.") });
        assert_eq!(intervention("", None, Some("error")), Intervention::Fail { error: text("") });
        assert!(matches!(read("", None, Some("running")), Ok(Some(Command::Resume { .. }))));
        assert!(matches!(read("unchanged", None, Some("awaiting_user")), Ok(Some(Command::Pause { .. }))));
        assert!(matches!(read("unchanged", None, None), Ok(None)));
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_words() {
        for (comment, content, status, words) in [
            ("", None, None, "say a comment or a status"),
            (" ", Some("New."), None, "say a comment or a status"),
            ("modify", None, None, "needs `content`"),
            ("modify", Some(" "), None, "needs `content`"),
            ("", None, Some("modified"), "needs `content`"),
            ("delete", None, Some("running"), "not both"),
            ("Mind the gap.", None, Some("completed"), "not both"),
            ("", None, Some("asleep"), "there is no status"),
            ("", None, Some(""), "there is no status"),
        ] {
            let refused = read(comment, content, status).expect_err("a refusal");
            assert!(refused.contains(words), "{comment:?}, {status:?}: {refused}");
        }
        let long = "x".repeat(MAX_PROMPT + 1);
        assert!(read(&long, None, None).is_err());
    }
}
