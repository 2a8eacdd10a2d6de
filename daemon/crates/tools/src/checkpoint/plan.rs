//! What an undo does with each file, decided by who changed the file and when. No I/O.

use abide_protocol::checkpoint::ChangedBy;
use std::collections::{BTreeMap, btree_map};

/// A file as a tree lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// `100644`, `100755` or `120000`.
    pub(super) mode: String,
    /// The content's id, in hex.
    pub(super) id: String,
}

/// A path, relative to the work tree; any bytes but zero.
pub(super) type FilePath = Vec<u8>;

/// How a path differs between two trees. `None`: the tree has no such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: FilePath,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

/// Who has brought a file to its present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Author {
    /// An edit tool of the task, or an undo.
    Task,
    /// A command of the task, or somebody else while the command ran.
    CommandOrOthers,
    /// Somebody else, at least in part.
    Others,
}

impl Author {
    /// Whether an undo takes back a change by this author. `all`: also a change that is perhaps somebody
    /// else's.
    pub(super) const fn is_taken_back(self, all: bool) -> bool {
        match self {
            Self::Task => true,
            Self::CommandOrOthers => all,
            Self::Others => false,
        }
    }
}

/// A file that the task has changed, or perhaps has, and that differs from its state before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) path: FilePath,
    /// The file before the task's first change.
    pub(super) target: Option<Entry>,
    /// The file now.
    pub(super) current: Option<Entry>,
    pub(super) author: Author,
}

impl Planned {
    /// Whether an undo restores the file.
    pub(super) fn is_restored(&self, all: bool) -> bool {
        !self.is_left_out() && self.author.is_taken_back(all)
    }

    /// The file's content, before or now, is in no checkpoint.
    pub(super) fn is_left_out(&self) -> bool {
        [&self.target, &self.current].into_iter().flatten().any(Entry::is_left_out)
    }
}

/// What an undo does with the changed files, in the order of their paths. `changes` are the changes between
/// consecutive states, from the first state to undo to the present.
///
/// The target of a file is its state before the task's first change. So changes that others made before that
/// are kept without a word: the task knew them. Changes that others made afterwards are kept, and named,
/// unless they brought the file back to what the task had left. The same holds for changes by others while a
/// command ran.
pub(super) fn plan<'a>(changes: impl IntoIterator<Item = (ChangedBy, &'a [Change])>) -> Vec<Planned> {
    let mut files = BTreeMap::<&[u8], Followed<'_>>::new();
    for (by, changes) in changes {
        for change in changes {
            match files.entry(&change.path) {
                btree_map::Entry::Occupied(mut file) => file.get_mut().follow(by, change),
                btree_map::Entry::Vacant(_) if by == ChangedBy::Others => {}
                btree_map::Entry::Vacant(place) => {
                    place.insert(Followed::from(change)).follow(by, change);
                }
            }
        }
    }
    let decided = files.into_values().map(|Followed { file, left, left_by_edit }| {
        let author = file.author.max(author_beside(&file.current, left, left_by_edit));
        Planned { author, ..file }
    });
    decided.filter(|file| file.target != file.current).collect()
}

/// A file, and the states in which the task left it.
struct Followed<'a> {
    file: Planned,
    /// As the task's newest change left it, by an edit tool or perhaps a command.
    left: &'a Option<Entry>,
    /// As the newest edit tool or undo left it.
    left_by_edit: &'a Option<Entry>,
}

/// Who has brought a file to its present state, given the states in which the task left it.
fn author_beside(current: &Option<Entry>, left: &Option<Entry>, left_by_edit: &Option<Entry>) -> Author {
    if current != left {
        Author::Others
    } else if current != left_by_edit {
        Author::CommandOrOthers
    } else {
        Author::Task
    }
}

impl<'a> Followed<'a> {
    /// A file before its first change.
    fn from(Change { path, before, .. }: &'a Change) -> Self {
        let file = Planned {
            path: path.clone(),
            target: before.clone(),
            current: before.clone(),
            author: Author::Task,
        };
        Self { file, left: before, left_by_edit: before }
    }

    fn follow(&mut self, by: ChangedBy, Change { after, .. }: &'a Change) {
        let author = author_beside(&self.file.current, self.left, self.left_by_edit);
        match by {
            ChangedBy::Others => {}
            // The task has built on the file as it found it.
            ChangedBy::Step(_) | ChangedBy::Undo => {
                self.file.author = self.file.author.max(author);
                (self.left, self.left_by_edit) = (after, after);
            }
            ChangedBy::Command(_) => {
                if author == Author::Others {
                    self.file.author = author;
                }
                self.left = after;
            }
        }
        self.file.current.clone_from(after);
    }
}

/// The changes in the output of `git diff-tree -r -z --raw --no-abbrev`, after the line of trees. `None`: the
/// output has another form.
pub(super) fn parse_raw<'a>(mut fields: impl Iterator<Item = &'a [u8]>) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    while let Some(field) = fields.next().filter(|field| !field.is_empty()) {
        let head = str::from_utf8(field).ok()?.strip_prefix(':')?;
        let mut parts = head.split(' ');
        let [mode_before, mode_after, before, after] =
            [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let entry = |mode: &str, id: &str| {
            (mode != "000000").then(|| Entry { mode: mode.to_owned(), id: id.to_owned() })
        };
        let path = fields.next()?.to_vec();
        let (before, after) = (entry(mode_before, before), entry(mode_after, after));
        changes.push(Change { path, before, after });
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Author::{CommandOrOthers, Task};
    use ChangedBy::{Command, Others, Step, Undo};

    /// A file with this content; `-` is none.
    fn entry(content: &str) -> Option<Entry> {
        (content != "-").then(|| Entry { mode: "100644".to_owned(), id: content.to_owned() })
    }

    /// The plan for one file that has had these contents: its target, its present content, and its author.
    fn of_file(first: &str, then: &[(ChangedBy, &str)]) -> Option<(String, String, Author)> {
        let mut before = entry(first);
        let mut all = Vec::new();
        for (by, content) in then {
            let after = entry(content);
            let change = Change { path: b"f".to_vec(), before: before.clone(), after: after.clone() };
            all.push((*by, Vec::from_iter((before != after).then_some(change))));
            before = after;
        }
        let planned = plan(all.iter().map(|(by, changes)| (*by, &**changes))).pop()?;
        let shown = |entry: Option<Entry>| entry.map_or("-".to_owned(), |entry| entry.id);
        Some((shown(planned.target), shown(planned.current), planned.author))
    }

    #[test]
    fn a_file_goes_back_to_what_it_was_before_the_task_unless_somebody_else_changed_it_after() {
        type Case<'a> = (&'a str, &'a [(ChangedBy, &'a str)], Option<(&'a str, &'a str, Author)>);
        let cases: &[Case<'_>] = &[
            ("a", &[], None),
            ("a", &[(Step(1), "b")], Some(("a", "b", Task))),
            ("-", &[(Step(1), "b")], Some(("-", "b", Task))),
            ("a", &[(Step(1), "-")], Some(("a", "-", Task))),
            ("a", &[(Step(1), "b"), (Step(2), "c")], Some(("a", "c", Task))),
            // The task has undone its own change.
            ("a", &[(Step(1), "b"), (Step(2), "a")], None),
            // A person's file is not the task's.
            ("a", &[(Others, "p")], None),
            // The person's edit was there when the task began with the file.
            ("a", &[(Others, "p"), (Step(2), "b")], Some(("p", "b", Task))),
            ("a", &[(Step(1), "b"), (Others, "p")], Some(("a", "p", Author::Others))),
            ("a", &[(Step(1), "b"), (Others, "p"), (Step(3), "c")], Some(("a", "c", Author::Others))),
            // Somebody has brought the file back to what the task had left.
            ("a", &[(Step(1), "b"), (Others, "p"), (Others, "b")], Some(("a", "b", Task))),
            (
                "a",
                &[(Step(1), "b"), (Others, "p"), (Step(3), "c"), (Others, "b")],
                Some(("a", "b", Author::Others)),
            ),
            (
                "a",
                &[(Step(1), "b"), (Others, "p"), (Step(3), "c"), (Others, "p")],
                Some(("a", "p", Author::Others)),
            ),
            ("a", &[(Step(1), "b"), (Others, "p"), (Undo, "p"), (Others, "b")], Some(("a", "b", Task))),
            // The person has undone the change.
            ("a", &[(Step(1), "b"), (Others, "a")], None),
            // Changed while a command ran, by the command or by somebody else.
            ("a", &[(Command(1), "b")], Some(("a", "b", CommandOrOthers))),
            ("-", &[(Command(1), "b")], Some(("-", "b", CommandOrOthers))),
            ("a", &[(Command(1), "b"), (Command(2), "c")], Some(("a", "c", CommandOrOthers))),
            ("a", &[(Step(1), "b"), (Command(1), "c")], Some(("a", "c", CommandOrOthers))),
            ("a", &[(Step(1), "b"), (Command(1), "c"), (Command(2), "b")], Some(("a", "b", Task))),
            // The edit has built on the change.
            ("a", &[(Command(1), "b"), (Step(2), "c")], Some(("a", "c", CommandOrOthers))),
            ("a", &[(Command(1), "b"), (Others, "p")], Some(("a", "p", Author::Others))),
            ("a", &[(Command(1), "b"), (Others, "p"), (Command(2), "c")], Some(("a", "c", Author::Others))),
            ("a", &[(Command(1), "b"), (Undo, "a")], None),
            // An undo is taken back like a step.
            ("a", &[(Undo, "z")], Some(("a", "z", Task))),
            ("a", &[(Step(1), "b"), (Undo, "a")], None),
            ("a", &[(Step(1), "b"), (Step(2), "c"), (Undo, "b")], Some(("a", "b", Task))),
        ];
        for (first, then, expected) in cases {
            let expected = expected.map(|(target, current, author)| (target.into(), current.into(), author));
            assert_eq!(of_file(first, then), expected, "{first} {then:?}");
        }
    }

    #[test]
    fn names_with_line_breaks_are_read() {
        let (a, b) = ("1".repeat(40), "2".repeat(40));
        let zero = "0".repeat(40);
        let raw = format!(":100644 100755 {a} {b} M\0d/a\nb\0:000000 120000 {zero} {b} A\0link\0");
        let changes = parse_raw(raw.as_bytes().split(|byte| *byte == 0)).unwrap();
        let of = |mode: &str, id: &str| Some(Entry { mode: mode.to_owned(), id: id.to_owned() });
        assert_eq!(
            changes,
            [
                Change { path: b"d/a\nb".to_vec(), before: of("100644", &a), after: of("100755", &b) },
                Change { path: b"link".to_vec(), before: None, after: of("120000", &b) },
            ]
        );
        assert_eq!(parse_raw([&b"nonsense"[..]].into_iter()), None);
    }
}
