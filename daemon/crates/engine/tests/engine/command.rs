//! Which commands steer existing work, and which task each names.

use crate::world::{facts, head, somebody};
use abide_engine::{Command, Start, StartBeneath};
use abide_protocol::{ApprovalId, QuestionId, TaskId, inbox::Decision, record::ConversationUpdated};
use uuid::Uuid;

#[test]
fn what_steers_existing_work_is_urgent_and_admitted_while_the_daemon_drains() {
    let task = TaskId(Uuid::from_u128(1));
    let start =
        Start { task, conversation: None, head: head(), imported: Vec::new(), recalled: None, setup: None };
    let beneath = StartBeneath {
        task,
        parent: TaskId(Uuid::nil()),
        prompt: String::new(),
        tools: None,
        metadata: None,
        client_message: None,
        external_id: None,
        by: somebody(),
    };
    let table = [
        (Command::Create(facts()), false, None),
        (Command::Update(ConversationUpdated::default()), false, None),
        (Command::Archive { archived: true }, false, None),
        (Command::Start(Box::new(start)), false, Some(task)),
        (Command::StartBeneath(Box::new(beneath)), false, Some(task)),
        (Command::Stop { task }, true, Some(task)),
        (Command::Pause { task }, true, Some(task)),
        (Command::Resume { task, by: None }, true, Some(task)),
        (
            Command::Answer { task, question: QuestionId(Uuid::nil()), response: None, by: None },
            true,
            Some(task),
        ),
        (
            Command::Decide {
                approval: ApprovalId(Uuid::nil()),
                decision: Decision::AllowOnce,
                note: None,
                rule: None,
                by: somebody(),
            },
            true,
            None,
        ),
    ];
    for (command, is_urgent, named) in table {
        assert_eq!(command.is_urgent(), is_urgent, "{command:?}");
        assert!(command.is_admitted(false), "{command:?}");
        assert_eq!(command.is_admitted(true), is_urgent, "{command:?}");
        assert_eq!(command.task(), named, "{command:?}");
    }
}
