//! What rules are, and what they match.

use crate::corpus::book;
use abide_rules::{Book, Effect, PathVerdict, Plain, Rule, RuleError, Stderr, Verdict, wider, wider_edit};

/// `deny`, `may deny`, `ask`, `may ask`, `allow` or `none`, with the rule.
fn verdict(book: &Book, line: &str) -> String {
    match book.shell(line) {
        Verdict::Deny(standing) => format!("deny {}", standing.rule),
        Verdict::MayDeny(standing, _) => format!("may deny {}", standing.rule),
        Verdict::Ask(standing, None) => format!("ask {}", standing.rule),
        Verdict::Ask(standing, Some(_)) => format!("may ask {}", standing.rule),
        Verdict::Allow(standing, _) => format!("allow {}", standing.rule),
        Verdict::None => "none".to_owned(),
    }
}

#[test]
fn deny_comes_before_ask_before_allow_whatever_is_more_specific() {
    let book = book(&[
        ("shell(git push origin main)", Effect::Allow),
        ("shell(git push *)", Effect::Ask),
        ("shell(git * --force)", Effect::Deny),
        ("shell(git status)", Effect::Allow),
        ("shell(/secret/)", Effect::Deny),
    ]);
    for (line, expected) in [
        ("git push origin main", "ask shell(git push *)"),
        ("git push --force", "deny shell(git * --force)"),
        ("git status", "allow shell(git status)"),
        ("git status -s", "none"),
        ("ls; git push", "ask shell(git push *)"),
        ("git status; git status", "none"),
        ("git $x", "may deny shell(git * --force)"),
        ("cat secret.txt", "deny shell(/secret/)"),
        ("echo 'a\u{0}secret'", "deny shell(/secret/)"),
        ("git -C x push", "ask shell(git push *)"),
        ("git -c a=b push origin", "ask shell(git push *)"),
        ("git log push", "none"),
        ("/usr/bin/git push", "ask shell(git push *)"),
    ] {
        assert_eq!(verdict(&book, line), expected, "{line:?}");
    }
}

#[test]
fn what_publishes_as_git_push_does_is_git_push() {
    let book = book(&[("shell(git push *)", Effect::Ask)]);
    for line in [
        "git send-pack origin main",
        "git -C x send-pack origin main",
        "/usr/lib/git-core/git-send-pack origin main",
        "git-push",
        "git http-push https://host/x main",
        "git remote-https origin https://host/x",
        "git receive-pack ../x",
        "git subtree push --prefix x origin main",
        "git lfs push origin main",
        "git -c alias.p=push p",
        "git -c Alias.p='push origin' p",
        "git config alias.p push",
        "git submodule foreach git push",
        "git rebase -x 'git push' main",
        "GIT_CONFIG_VALUE_0=push git p",
    ] {
        assert_eq!(verdict(&book, line), "ask shell(git push *)", "{line:?}");
    }
    assert_eq!(verdict(&book, "echo push | xargs git"), "may ask shell(git push *)");
    for line in ["git stash push", "git subtree pull --prefix x origin main", "git lfs pull", "git help push"]
    {
        assert_eq!(verdict(&book, line), "none", "{line:?}");
    }
}

#[test]
fn a_line_that_cannot_be_read_asks_only_where_a_rule_could_match() {
    let unread = ["ls $((x))", "ls 'a", "ls\rx", "ls \u{202e}x", "echo ${x@P}"];
    let lines =
        unread.map(str::to_owned).into_iter().chain(["a;".repeat(51), "(".repeat(70), "x".repeat(17 << 10)]);
    for line in lines {
        assert_eq!(verdict(&Book::default(), &line), "none");
        assert_eq!(verdict(&book(&[("shell(ls *)", Effect::Allow)]), &line), "none", "{line:?}");
        assert_eq!(verdict(&book(&[("shell(rm *)", Effect::Ask)]), &line), "may ask shell(rm *)", "{line:?}");
        assert_eq!(
            verdict(&book(&[("shell(rm *)", Effect::Deny)]), &line),
            "may deny shell(rm *)",
            "{line:?}"
        );
    }
}

#[test]
fn the_star_at_the_end_stands_for_further_words_and_elsewhere_for_text_of_a_word() {
    let book = book(&[
        ("shell(cargo test *)", Effect::Allow),
        ("shell(npm run test:*)", Effect::Allow),
        ("shell(cat src/*.rs)", Effect::Allow),
        ("shell(echo '*')", Effect::Allow),
    ]);
    for (line, is_allowed) in [
        ("cargo test", true),
        ("cargo test --lib x", true),
        ("cargo tests", false),
        ("cargo", false),
        ("npm run test:unit", true),
        ("npm run test:unit x", false),
        ("cat src/a.rs", true),
        ("cat src/a/b.rs", false),
        ("cat src/../a.rs", false),
        ("echo '*'", true),
        ("echo x", false),
        ("env cargo test", false),
        ("cargo test $x", false),
        ("cargo test *", false),
    ] {
        assert_eq!(verdict(&book, line) != "none", is_allowed, "{line:?}");
    }
}

#[test]
fn the_star_of_a_rule_that_allows_covers_no_option_that_runs_or_writes_unless_it_is_named() {
    let wide = book(&[("shell(sort *)", Effect::Allow)]);
    assert_eq!(verdict(&wide, "sort -n x"), "allow shell(sort *)");
    assert_eq!(verdict(&wide, "sort -n -o x y"), "none");
    let named = book(&[("shell(sort -o out.txt *)", Effect::Allow)]);
    assert_eq!(verdict(&named, "sort -o out.txt y"), "allow shell(sort -o out.txt *)");
}

#[test]
fn what_is_no_rule_is_refused() {
    use Effect::{Allow, Ask, Deny};
    for (text, effect, expected) in [
        ("cargo test", Allow, RuleError::Form),
        ("shell(ls", Allow, RuleError::Form),
        ("shel(ls)", Deny, RuleError::Form),
        ("mcp(github/create_issue)", Deny, RuleError::Later("mcp".to_owned())),
        ("net(*.crates.io:443)", Allow, RuleError::Later("net".to_owned())),
        ("shell()", Deny, RuleError::Empty),
        ("shell(ls 'a)", Deny, RuleError::Quote),
        ("shell(ls\u{7})", Deny, RuleError::Control),
        ("shell(/ls/)", Allow, RuleError::AllowedRegex),
        ("shell(*)", Allow, RuleError::AllowedProgram),
        ("shell(./x *)", Allow, RuleError::AllowedProgram),
        ("shell(l* x)", Allow, RuleError::AllowedProgram),
        ("shell(bash *)", Allow, RuleError::AllowedAnything("bash".to_owned())),
        ("shell(bash -c *)", Allow, RuleError::AllowedAnything("bash".to_owned())),
        ("shell(python3.12 -c *)", Allow, RuleError::AllowedAnything("python3.12".to_owned())),
        ("shell(sudo *)", Allow, RuleError::AllowedAnything("sudo".to_owned())),
        ("shell(env cargo *)", Allow, RuleError::AllowedAnything("env".to_owned())),
        ("edit(/etc/**)", Deny, RuleError::Outside),
        ("edit(~/x)", Deny, RuleError::Outside),
        ("read(a/../../x)", Ask, RuleError::Outside),
    ] {
        assert_eq!(Rule::parse(text, effect).err(), Some(expected), "{text}");
    }
    assert!(matches!(Rule::parse("shell(/(/)", Deny), Err(RuleError::Regex(_))));
    assert!(matches!(Rule::parse("edit(a[)", Deny), Err(RuleError::Path(_))));
    for text in ["shell(/rm\\s+-rf/)", "shell(*)", "shell(bash *)", "edit(**)"] {
        Rule::parse(text, Deny).unwrap();
    }
    Rule::parse("shell(python3 tools/check.py *)", Allow).unwrap();
}

#[test]
fn paths_are_matched_by_every_name_for_deny_and_by_the_file_itself_for_allow() {
    let book = book(&[
        ("edit(src/**)", Effect::Allow),
        ("edit(src/generated/**)", Effect::Ask),
        ("edit(**/.env)", Effect::Deny),
        ("read(**/*.pem)", Effect::Deny),
    ]);
    let edit = |paths: &[&str]| match book.edit(paths) {
        PathVerdict::Deny(_) => "deny",
        PathVerdict::Ask(_) => "ask",
        PathVerdict::Allow(_) => "allow",
        PathVerdict::None => "none",
    };
    assert_eq!(edit(&["src/a.rs"]), "allow");
    assert_eq!(edit(&["src/a/b/c.rs"]), "allow");
    assert_eq!(edit(&["src/generated/x.rs"]), "ask");
    assert_eq!(edit(&["src/.env"]), "deny");
    assert_eq!(edit(&[".ENV"]), "deny");
    assert_eq!(edit(&["src/link.rs", "other/file.rs"]), "none");
    assert_eq!(edit(&["safe", ".env"]), "deny");
    assert_eq!(edit(&["Src/a.rs"]), "none");
    assert!(matches!(book.read(&["key.pem"]), PathVerdict::Deny(_)));
    assert!(matches!(book.read(&["src/a.rs"]), PathVerdict::None));
}

#[test]
fn a_plain_command_is_its_words_and_where_its_output_goes() {
    let plain = Plain::parse("RUST_LOG=debug cargo test 'a b' \"c\\\"d\" e\\ f '' 2>&1").unwrap();
    assert_eq!(plain.words, ["cargo", "test", "a b", "c\"d", "e f", ""]);
    assert_eq!(plain.environment, [("RUST_LOG".to_owned(), "debug".to_owned())]);
    assert_eq!((plain.output.is_stdout_dropped, plain.output.stderr), (false, Stderr::ToStdout));
    let dropped = Plain::parse("ls >/dev/null 2>&1").unwrap().output;
    assert_eq!((dropped.is_stdout_dropped, dropped.stderr), (true, Stderr::Dropped));
    let swapped = Plain::parse("ls 2>&1 >/dev/null").unwrap().output;
    assert_eq!((swapped.is_stdout_dropped, swapped.stderr), (true, Stderr::ToStdout));
}

#[test]
fn an_approval_offers_at_most_three_wider_rules_and_none_for_what_runs_others() {
    let offers = |line: &str| wider(line).into_iter().map(|offer| offer.text).collect::<Vec<_>>();
    assert_eq!(
        offers("cargo test -p abide --lib"),
        ["shell(cargo test -p abide --lib *)", "shell(cargo test *)"]
    );
    assert_eq!(offers("ls -la src"), ["shell(ls -la src *)", "shell(ls -la *)", "shell(ls *)"]);
    assert_eq!(offers("make"), ["shell(make *)"]);
    assert_eq!(offers("echo -n 'a b'"), ["shell(echo -n 'a b' *)", "shell(echo -n *)", "shell(echo *)"]);
    for line in [
        "python3 x.py",
        "bash -c ls",
        "sudo ls",
        "env ls",
        "xargs ls",
        "find . -name x",
        "ssh host ls",
        "awk 1 x",
        "ls | wc",
        "ls *",
        "./x",
        "ls > x",
        "node x.js",
        "sed -n 1p x",
        "git commit -m x",
    ] {
        assert_eq!(offers(line), [""; 0], "{line}");
    }
}

#[test]
fn no_rule_allows_a_change_of_what_programs_are_configured_by() {
    let book = book(&[("edit(**)", Effect::Allow), ("read(**)", Effect::Allow)]);
    for path in [
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".GIT/config",
        ".envrc",
        "a/.vscode/tasks.json",
        ".husky/x",
        "sub/.hg/hgrc",
        ".jj/repo/config.toml",
        ".zed/settings.json",
        ".gemini/settings.json",
        ".opencode/plugins/x.js",
        "sub/.dir-locals.el",
        ".nvim.lua",
        ".vimrc",
    ] {
        assert!(matches!(book.edit(&[path]), PathVerdict::None), "{path}");
        assert!(matches!(book.edit(&["src/x", path]), PathVerdict::None), "a link to {path}");
        assert!(matches!(book.edit(&[path, "src/x"]), PathVerdict::None), "by the name {path}");
        assert!(matches!(book.read(&[path]), PathVerdict::Allow(_)), "{path} may be read");
        assert!(wider_edit(path).is_empty(), "{path}");
    }
    for path in ["src/main.rs", ".gitignore", ".github/x", "git/config", "vimrc", ".hgignore"] {
        assert!(matches!(book.edit(&[path]), PathVerdict::Allow(_)), "{path}");
    }
}
