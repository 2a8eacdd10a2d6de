//! What an undo does with each file, from who changed it and when. No I/O.

use abide_protocol::checkpoint::ChangedBy;
use std::collections::BTreeMap;

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

/// How a path differs between two trees; `None`: there is no such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: FilePath,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

/// A file that the task changed, and that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) path: FilePath,
    /// What it was before the task's first change.
    pub(super) target: Option<Entry>,
    /// What it is.
    pub(super) current: Option<Entry>,
    /// It has something of somebody else, so an undo keeps it.
    pub(super) is_kept: bool,
}

impl Planned {
    /// What it was or is cannot be told: its content is in no checkpoint.
    pub(super) fn is_left_out(&self) -> bool {
        [&self.target, &self.current].into_iter().flatten().any(Entry::is_left_out)
    }
}

/// The files that the given changes concern, in the order of their paths. `changes` are those between consecutive states, from the
/// first one that is taken back to the present.
///
/// The target of a file is what it was before the task's first change. So what somebody else changed before that is kept without a
/// word: the task has changed it knowingly. What somebody else changed after that is kept too, and named, unless they have brought the
/// file back to what the task had left.
pub(super) fn plan<'a>(changes: impl IntoIterator<Item = (ChangedBy, &'a [Change])>) -> Vec<Planned> {
    // With what the task, or an undo of it, has left of each file.
    let mut files = BTreeMap::<&[u8], (Planned, &Option<Entry>)>::new();
    for (by, changes) in changes {
        for Change { path, before, after } in changes {
            if let Some((file, left)) = files.get_mut(&**path) {
                if by != ChangedBy::Others {
                    // The task has built on what somebody else has changed.
                    file.is_kept |= file.current != **left;
                    *left = after;
                }
                file.current.clone_from(after);
            } else if by != ChangedBy::Others {
                let (target, current) = (before.clone(), after.clone());
                let file = Planned { path: path.clone(), target, current, is_kept: false };
                files.insert(path, (file, after));
            }
        }
    }
    let decided = files.into_values().map(|(file, left)| {
        let is_kept = file.is_kept || file.current != *left;
        Planned { is_kept, ..file }
    });
    decided.filter(|file| file.target != file.current).collect()
}

/// The changes of `git diff-tree -r -z --raw --no-abbrev` in one comparison, after the line of its trees. `None`: they are not of
/// that form.
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
    use ChangedBy::{Others, Step, Undo};

    /// A file with this content; `-` is none.
    fn entry(content: &str) -> Option<Entry> {
        (content != "-").then(|| Entry { mode: "100644".to_owned(), id: content.to_owned() })
    }

    /// What an undo does with one file, which has these contents one after the other: its target, its present content, and whether
    /// it is kept.
    fn of_file(first: &str, then: &[(ChangedBy, &str)]) -> Option<(String, String, bool)> {
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
        Some((shown(planned.target), shown(planned.current), planned.is_kept))
    }

    #[test]
    fn a_file_goes_back_to_what_it_was_before_the_task_unless_somebody_else_changed_it_after() {
        type Case<'a> = (&'a str, &'a [(ChangedBy, &'a str)], Option<(&'a str, &'a str, bool)>);
        let cases: &[Case<'_>] = &[
            ("a", &[], None),
            ("a", &[(Step(1), "b")], Some(("a", "b", false))),
            ("-", &[(Step(1), "b")], Some(("-", "b", false))),
            ("a", &[(Step(1), "-")], Some(("a", "-", false))),
            ("a", &[(Step(1), "b"), (Step(2), "c")], Some(("a", "c", false))),
            // The task has taken it back itself.
            ("a", &[(Step(1), "b"), (Step(2), "a")], None),
            // A person's file is not the task's.
            ("a", &[(Others, "p")], None),
            // The person's edit was there when the task began with the file.
            ("a", &[(Others, "p"), (Step(2), "b")], Some(("p", "b", false))),
            ("a", &[(Step(1), "b"), (Others, "p")], Some(("a", "p", true))),
            ("a", &[(Step(1), "b"), (Others, "p"), (Step(3), "c")], Some(("a", "c", true))),
            // Somebody has brought it back to what the task had left.
            ("a", &[(Step(1), "b"), (Others, "p"), (Others, "b")], Some(("a", "b", false))),
            ("a", &[(Step(1), "b"), (Others, "p"), (Step(3), "c"), (Others, "b")], Some(("a", "b", true))),
            ("a", &[(Step(1), "b"), (Others, "p"), (Step(3), "c"), (Others, "p")], Some(("a", "p", true))),
            ("a", &[(Step(1), "b"), (Others, "p"), (Undo, "p"), (Others, "b")], Some(("a", "b", false))),
            // The person has taken it back.
            ("a", &[(Step(1), "b"), (Others, "a")], None),
            // An undo is taken back like a step.
            ("a", &[(Undo, "z")], Some(("a", "z", false))),
            ("a", &[(Step(1), "b"), (Undo, "a")], None),
            ("a", &[(Step(1), "b"), (Step(2), "c"), (Undo, "b")], Some(("a", "b", false))),
        ];
        for (first, then, expected) in cases {
            let expected = expected.map(|(target, current, kept)| (target.into(), current.into(), kept));
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
