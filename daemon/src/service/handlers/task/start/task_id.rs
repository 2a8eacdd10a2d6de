//! The id that a client gives a new task: the task's own, if it is a `UUIDv7`, else an external one beside
//! it.

use abide_protocol::{Error, ErrorKind, TaskId, limits::MAX_EXTERNAL_ID, task::TaskAge};
use abide_store::{ReadError, Store};
use uuid::Uuid;

/// An id that the client has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    Own(TaskId),
    External(String),
}

impl Chosen {
    pub(super) fn parse(typed: &str) -> Result<Self, Error> {
        let invalid = |words: String| Err(Error::new(ErrorKind::InvalidParams, words));
        if let Ok(id) = Uuid::parse_str(typed)
            && id.get_version_num() == 7
        {
            return Ok(Self::Own(TaskId(id)));
        }
        if TaskAge::parse(typed).is_some() {
            return invalid(format!("{typed} names the newest tasks by their age; choose another taskId"));
        }
        if typed.trim().is_empty() || typed.len() > MAX_EXTERNAL_ID {
            return invalid(format!("a taskId has 1 to {MAX_EXTERNAL_ID} bytes"));
        }
        if typed.trim() != typed || typed.chars().any(char::is_control) {
            return invalid(format!(
                "the taskId {typed:?} begins or ends with white space, or has a control character"
            ));
        }
        Ok(Self::External(typed.to_owned()))
    }

    /// The task that has this id already.
    pub(super) async fn holder(&self, store: &Store) -> Result<Option<TaskId>, ReadError> {
        match self {
            Self::Own(id) => Ok(store.conversation_of(*id).await?.map(|_| *id)),
            Self::External(id) => store.external_task(id).await,
        }
    }

    pub(super) const fn own(&self) -> Option<TaskId> {
        if let Self::Own(id) = self { Some(*id) } else { None }
    }

    pub(super) fn external(self) -> Option<String> {
        if let Self::External(id) = self { Some(id) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_v7_is_the_tasks_own_id_and_any_other_text_an_external_one() {
        let own = "01a209dd-b1cb-7000-b1d1-87c7f2742a16";
        let id = TaskId(own.parse().unwrap());
        for typed in [own, &own.replace('-', ""), &own.to_uppercase()] {
            assert_eq!(Chosen::parse(typed), Ok(Chosen::Own(id)), "{typed}");
        }
        for typed in [
            "agent-123",
            "42",
            "ein Auftrag: größer",
            "550e8400-e29b-41d4-a716-446655440000",
            &"x".repeat(200),
        ] {
            assert_eq!(Chosen::parse(typed), Ok(Chosen::External(typed.to_owned())), "{typed}");
        }
        for typed in ["", " ", " a", "a\n", "a\u{1b}[2Jb", "a\0b", "last", "@12", &"x".repeat(201)] {
            assert_eq!(
                Chosen::parse(typed).map_err(|e| e.kind()),
                Err(ErrorKind::InvalidParams),
                "{typed:?}"
            );
        }
    }
}
