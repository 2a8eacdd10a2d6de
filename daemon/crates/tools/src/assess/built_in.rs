//! Commands that ask even in the sandbox, because they destroy what a checkpoint does not keep, or speak to
//! others.

use abide_rules::{Book, Effect, Rule, Script, Simple, Source, Standing, Verdict, Word};
use std::sync::{Arc, LazyLock};

/// Rules, each with words about what a matching command does.
const RULES: [(&str, &str); 4] = [
    ("shell(git reset --hard *)", "throws away what is not committed (`git reset --hard`)"),
    ("shell(git clean *)", "deletes files that git does not know (`git clean`)"),
    ("shell(git push *)", "publishes commits (`git push`)"),
    ("shell(git branch -D *)", "deletes a branch (`git branch -D`)"),
];

/// Folders that builds make again.
const BUILD_FOLDERS: [&str; 14] = [
    "target",
    "build",
    "dist",
    "out",
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".venv",
    "venv",
    ".next",
    "coverage",
    ".cache",
    "_build",
];

/// More files than this in one command are many.
const MANY: usize = 50;

/// What a command line does that asks everywhere, in words. `None`: nothing was found. (A command can hide
/// what it does; the sandbox holds all the same.)
pub(super) fn asks(line: &str) -> Option<&'static str> {
    static BOOKS: LazyLock<Vec<(Book, &'static str)>> = LazyLock::new(books);
    let by_rule = BOOKS.iter().find(|(book, _)| matches!(book.shell(line), Verdict::Ask(_, None)));
    if let Some((_, what)) = by_rule {
        return Some(what);
    }
    let script = Script::parse(line.trim()).ok()?;
    script.commands.iter().find_map(removes_much)
}

fn books() -> Vec<(Book, &'static str)> {
    let book = |(text, what): (&str, &'static str)| {
        let rule = Arc::new(Rule::parse(text, Effect::Ask).ok()?);
        Some((Book::new(vec![Standing { rule, effect: Effect::Ask, source: Source::Policy }]), what))
    };
    RULES.into_iter().filter_map(book).collect()
}

/// A plain `rm` of folders that no build makes again, or of many files.
fn removes_much(command: &Simple) -> Option<&'static str> {
    let mut words = command.words.iter();
    if words.next()?.literal()? != "rm" {
        return None;
    }
    let (options, places): (Vec<&Word>, Vec<&Word>) =
        words.partition(|word| word.literal().is_some_and(|word| word.starts_with('-')));
    let is_recursive = |option: &&Word| {
        let option = option.literal().unwrap_or_default();
        option == "--recursive" || !option.starts_with("--") && option.contains(['r', 'R'])
    };
    if options.iter().any(is_recursive) && !places.iter().all(|place| is_build_folder(place)) {
        return Some("deletes folders (`rm -r`)");
    }
    (places.len() > MANY).then_some("deletes many files")
}

fn is_build_folder(place: &Word) -> bool {
    let Some(path) = place.literal() else { return false };
    !path.starts_with(['/', '~'])
        && !path.split('/').any(|part| part == "..")
        && path.split('/').any(|part| BUILD_FOLDERS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_destroys_or_publishes_asks() {
        for line in [
            "git reset --hard",
            "git reset --hard HEAD~1",
            "git -C sub reset --hard",
            "git clean -fdx",
            "git push",
            "cargo test && git push origin main",
            "git branch -D topic",
            "rm -rf src",
            "rm -r -f target src",
            "rm --recursive .",
            "rm -rf ../target",
            "rm -rf /target",
            "rm -rf $HOME/x",
            "cd sub; rm -Rf docs",
            &format!("rm {}", (0..51).map(|n| format!("f{n} ")).collect::<String>()),
        ] {
            assert!(asks(line).is_some(), "{line}");
        }
        for line in [
            "git reset HEAD~1",
            "git status",
            "git commit -am x",
            "git branch -d topic",
            "rm -rf target",
            "rm -rf web/node_modules ./build",
            "rm file",
            "rm -f *.o",
            "make clean",
            "echo git push",
            "for f in *; do cat $f; done",
        ] {
            assert_eq!(asks(line), None, "{line}");
        }
    }
}
