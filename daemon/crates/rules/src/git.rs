//! Where `git` has its command: `git -C sub -c a=b push`.

use crate::Word;

/// Options before the command that take the next word.
const VALUED: [&str; 7] =
    ["-C", "-c", "--attr-source", "--config-env", "--git-dir", "--namespace", "--work-tree"];

/// Commands that do what `push` does: its parts, and helpers that speak to the other side.
const PUSHING: [&str; 9] = [
    "http-push",
    "push",
    "receive-pack",
    "remote-ext",
    "remote-fd",
    "remote-ftp",
    "remote-http",
    "remote-https",
    "send-pack",
];

/// The words after `git`, taken apart.
pub(crate) struct Git<'a> {
    /// What `-c` and its like set; `None` where it is not known.
    pub(crate) settings: Vec<Option<&'a str>>,
    /// From the command on.
    pub(crate) command: &'a [Word],
}

pub(crate) fn read(words: &[Word]) -> Git<'_> {
    let (mut settings, mut at) = (Vec::new(), 0);
    while let Some(option) = words.get(at).and_then(Word::literal).filter(|word| word.starts_with('-')) {
        at += 1;
        // They name a variable with a setting, and a folder with programs.
        if option.starts_with("--config-env") || option.starts_with("--exec-path=") {
            settings.push(None);
        }
        if VALUED.contains(&option) {
            settings.extend(words.get(at).filter(|_| option == "-c").map(Word::literal));
            at += 1;
        }
    }
    Git { settings, command: words.get(at..).unwrap_or_default() }
}

/// Whether this command of git, with these words, publishes commits.
pub(crate) fn is_push(command: &str, words: &[Word]) -> bool {
    // Commands with a `push` of their own.
    let has_push = || words.iter().any(|word| word.literal() == Some("push"));
    PUSHING.contains(&command) || matches!(command, "lfs" | "subtree") && has_push()
}
