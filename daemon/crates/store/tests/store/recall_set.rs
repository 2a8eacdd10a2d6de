//! A set that measures recall: what a person told an agent in some invented conversations, and questions with
//! the memories that answer them.

use super::support::*;
use abide_protocol::{memory::Snippet, record::RecordBody};
use abide_store::Store;
use serde::{Deserialize, de::DeserializeOwned};

const CONVERSATIONS: &str = include_str!("../recall/conversations.jsonl");
const QUESTIONS: &str = include_str!("../recall/questions.jsonl");

/// A line of the conversations. A title begins one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Title { conversation: String },
    Memory { id: String, text: String },
    Reply { reply: String },
}

impl Line {
    fn body(&self) -> RecordBody {
        match self {
            Self::Title { conversation } => created(conversation),
            Self::Memory { text, .. } => user(text),
            Self::Reply { reply: text } => reply(text, &[]),
        }
    }
}

/// How a question names what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Kind {
    #[serde(rename = "same words")]
    SameWords,
    #[serde(rename = "paraphrase")]
    Paraphrase,
    #[serde(rename = "identifiers")]
    Identifiers,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The ids of the memories that hold the answer; one of them is enough.
    pub(crate) answers: Vec<String>,
}

pub(crate) struct RecallSet {
    pub(crate) lines: Vec<Line>,
    pub(crate) questions: Vec<Question>,
}

impl RecallSet {
    pub(crate) fn read() -> Self {
        Self { lines: read(CONVERSATIONS), questions: read(QUESTIONS) }
    }

    /// Writes the conversations to a store, in the workspace `/w`.
    pub(crate) async fn fill(&self, store: &Store) {
        let conversations = self.lines.chunk_by(|_, next| !matches!(next, Line::Title { .. }));
        let mut ids = 1..;
        for (n, lines) in (1..).zip(conversations) {
            let records =
                lines.iter().zip(&mut ids).map(|(line, id)| record(id, None, line.body())).collect();
            store.append(append(conversation(n), records)).await.unwrap();
        }
    }

    /// Whether a memory that holds the answer is among these snippets.
    pub(crate) fn is_answered<'a>(&'a self, question: &Question, snippets: &[Snippet]) -> bool {
        let text = |line: &'a Line| match line {
            Line::Memory { id, text } if question.answers.contains(id) => Some(text),
            _ => None,
        };
        let answers: Vec<&String> = self.lines.iter().filter_map(text).collect();
        assert_eq!(answers.len(), question.answers.len(), "one memory for each answer of {question:?}");
        snippets.iter().any(|snippet| answers.contains(&&snippet.text))
    }
}

fn read<T: DeserializeOwned>(lines: &str) -> Vec<T> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
