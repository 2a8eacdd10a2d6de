//! The list of conversations.

use crate::output::{
    measure,
    style::{FAINT, NEEDS_YOU, PLAIN, STRONG},
    table::{cell, table},
};
use abide_client::protocol::{Timestamp, conversation::Conversation};

pub(crate) fn conversations(conversations: &[Conversation], now: Timestamp, width: Option<usize>) -> String {
    let rows: Vec<_> = conversations
        .iter()
        .map(|c| {
            let status =
                c.task.map_or("", |t| if t.status.needs_person() { "needs you" } else { t.status.name() });
            let style = if status == "needs you" { NEEDS_YOU } else { PLAIN };
            let unread = if c.unread == 0 { String::new() } else { measure::count(c.unread) };
            [
                cell(STRONG, &c.id.short()),
                cell(style, &status.replace('_', " ")),
                cell(PLAIN, &unread),
                cell(PLAIN, &measure::age(c.updated_at, now)),
                cell(FAINT, &c.workspace),
                cell(PLAIN, &c.title),
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
    use abide_client::protocol::{conversation::LatestTask, task::Status};

    #[test]
    fn the_list_shows_conversations_that_need_a_person() {
        let waiting = Conversation {
            unread: 2,
            task: Some(LatestTask { status: Status::WaitingUser, ..LatestTask::from(&fixture::task()) }),
            ..fixture::conversation()
        };
        let shown = conversations(&[waiting], fixture::START.plus(3_000), None);
        assert_eq!(
            anstream::adapter::strip_str(&shown).to_string(),
            "CONVERSATION  STATUS     UNREAD  CHANGED  WORKSPACE     TITLE\n\
             00000002      needs you  2       3 s      /home/me/app  Tidy up\n"
        );
    }
}
