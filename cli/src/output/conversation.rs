//! The list of conversations.

use crate::output::{
    measure,
    style::{FAINT, NEEDS_YOU, PLAIN, STRONG},
    table::{cell, table},
};
use abide_client::protocol::{Timestamp, conversation::Conversation, inbox::InboxItem};

/// `inbox` has all that waits for the person, also in paused tasks.
pub(crate) fn conversations(
    conversations: &[Conversation],
    inbox: &[InboxItem],
    now: Timestamp,
    width: Option<usize>,
) -> String {
    let rows: Vec<_> = conversations
        .iter()
        .map(|c| {
            let (status, style) = if inbox.iter().any(|item| item.conversation_id == c.id) {
                ("needs you", NEEDS_YOU)
            } else {
                (c.task.map_or("", |task| task.words()), PLAIN)
            };
            let unread = if c.unread == 0 { String::new() } else { measure::count(c.unread) };
            [
                cell(STRONG, &c.id.short()),
                cell(style, &status.replace('_', " ")),
                cell(PLAIN, &unread),
                cell(PLAIN, &measure::age(c.updated_at, now)),
                cell(FAINT, &c.workspace),
                cell(PLAIN, &if c.muted { format!("{} (muted)", c.title) } else { c.title.clone() }),
            ]
        })
        .collect();
    table(["CONVERSATION", "STATUS", "UNREAD", "CHANGED", "WORKSPACE", "TITLE"], &rows, width)
}

pub(crate) const fn nothing(archived: bool) -> &'static str {
    if archived {
        "Nothing is archived.\n"
    } else {
        "No conversations yet. Begin one:\n  abide chat              talk\n  abide run WHAT TO DO    give an agent something to do\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        ConversationId,
        conversation::LatestTask,
        inbox::Pending,
        task::{EndReason, Status},
    };

    #[test]
    fn an_end_has_its_reason() {
        let task = LatestTask {
            status: Status::Completed,
            end_reason: Some(EndReason::TimeLimit),
            ..LatestTask::from(&fixture::task())
        };
        let limited = Conversation { task: Some(task), ..fixture::conversation() };
        let shown = conversations(&[limited], &[], fixture::START, None);
        assert!(shown.contains("time limit reached") && !shown.contains("completed"), "{shown}");
    }

    #[test]
    fn the_list_shows_conversations_that_need_a_person() {
        let paused = Conversation {
            unread: 2,
            task: Some(LatestTask { status: Status::Paused, ..LatestTask::from(&fixture::task()) }),
            ..fixture::conversation()
        };
        let other = ConversationId(uuid::Uuid::from_u128(9));
        let item = InboxItem {
            task_id: fixture::task().id,
            conversation_id: paused.id,
            conversation_title: String::new(),
            pending: Pending::Question(fixture::question()),
            root_id: None,
            title: String::new(),
            depth: 0,
        };
        let shown = conversations(
            &[paused.clone(), Conversation { id: other, ..paused }],
            &[item],
            fixture::START.plus(3_000),
            None,
        );
        assert_eq!(
            anstream::adapter::strip_str(&shown).to_string(),
            "CONVERSATION  STATUS     UNREAD  CHANGED  WORKSPACE     TITLE\n\
             00000002      needs you  2       3 s      /home/me/app  Tidy up\n\
             00000009      paused     2       3 s      /home/me/app  Tidy up\n"
        );
    }
}
