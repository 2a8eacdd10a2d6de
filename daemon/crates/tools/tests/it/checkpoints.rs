//! Checkpoints of real work trees.

use crate::ground::Ground;
use abide_protocol::{
    ConversationId, TaskId, Timestamp,
    checkpoint::{Chain, ChangeKind, ChangedBy, Link, SavedTree, TakenCheckpoint, UndoneFiles},
    record::EditHashes,
};
use abide_tools::{Changes, NoCheckpoint, Place, Ran, Take, Taken, UndoOrder, Window};
use sha2::{Digest as _, Sha256};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, fs::symlink},
    path::{Path, PathBuf},
    process::Command,
    time::SystemTime,
};
use tokio_util::sync::CancellationToken;

/// A person's repository with a task in it.
struct Site {
    ground: Ground,
    place: Place,
    conversation: ConversationId,
    task: TaskId,
    chain: Option<Chain>,
    /// What edits of the next step are to write.
    edits: Vec<EditHashes>,
    /// No command runs in it.
    only_edits: bool,
    /// An undo takes back also what changed while a command ran.
    all: bool,
    /// An undo takes back these files only; empty: all.
    files: Vec<String>,
    /// Only this hunk of the one file.
    hunk: Option<String>,
    undos: u32,
}

impl Site {
    /// A workspace that is a repository with a commit.
    fn repository() -> Self {
        let site = Self::plain();
        site.git(&["init", "-q", "-b", "main"]);
        site.write("a", "a\n");
        site.write("d/b", "b\n");
        site.write(".gitignore", "*.log\nignored/\n");
        site.commit();
        site
    }

    fn plain() -> Self {
        Self::at("workspace")
    }

    fn at(folder: &str) -> Self {
        let ground = Ground::new();
        let workspace = ground.root().join(folder);
        fs::create_dir_all(&workspace).unwrap();
        let environment = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", ground.root().join("home").to_str().unwrap()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let place = Place {
            workspace: workspace.to_str().unwrap().to_owned(),
            environment: BTreeMap::from(environment),
            cancel: CancellationToken::new(),
        };
        let id = |n: u128| format!("0199aaaa-0000-7000-8000-{n:012}");
        Self {
            ground,
            place,
            conversation: id(1).parse().unwrap(),
            task: id(2).parse().unwrap(),
            chain: None,
            edits: Vec::new(),
            only_edits: false,
            all: true,
            files: Vec::new(),
            hunk: None,
            undos: 0,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.place.workspace).join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(Path::new(&self.place.workspace), arguments)
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    /// Commits all but this folder.
    fn commit_but(&self, folder: &str) {
        self.git(&["add", "-A", "--", ".", &format!(":!{folder}")]);
        self.git(&["commit", "-q", "-m", "a commit"]);
    }

    fn take(&self, previous: Option<SavedTree>, window: Option<Window>) -> Result<Taken, NoCheckpoint> {
        let label = "a step".to_owned();
        let (conversation, task) = (self.conversation, self.task);
        let ran = window.map(|window| Ran { window, edits: self.edits.clone(), commands: !self.only_edits });
        let take = Take { conversation, task, previous, ran, label };
        self.ground.tools.checkpoints().take(&self.place, &take)
    }

    /// The checkpoint before the first change.
    fn begin(&mut self) {
        let base = match self.take(None, None).unwrap() {
            Taken::Changed(TakenCheckpoint { others: None, edits: None, saved }) => Some(saved),
            _ => None,
        };
        self.chain = Some(Chain { base: base.unwrap(), links: Vec::new() });
    }

    /// What a task does in a step, and the checkpoint after it.
    fn step(&mut self, number: u32, act: impl FnOnce(&mut Self)) {
        let from = now();
        // Where it fails, the times of folders decide.
        let _ = self.ground.tools.checkpoints().look(&self.place, self.task, self.chain().last(), from);
        act(self);
        self.after(number, Window { from, until: now() });
    }

    fn after(&mut self, number: u32, window: Window) {
        let taken = self.take(Some(self.chain().last().clone()), Some(window)).unwrap();
        let chain = self.chain.as_mut().unwrap();
        if let Taken::Changed(TakenCheckpoint { others, edits, saved }) = taken {
            chain.links.extend(others.map(|to| Link { by: ChangedBy::Others, to }));
            let last = match edits {
                None => ChangedBy::Step(number),
                Some(to) => {
                    chain.links.push(Link { by: ChangedBy::Step(number), to });
                    ChangedBy::Command(number)
                }
            };
            chain.links.push(Link { by: last, to: saved });
        }
        self.edits.clear();
    }

    /// An edit tool of the task writes a file.
    fn edit(&mut self, path: &str, content: &str) {
        self.write(path, content);
        let after = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = content.len() as u64;
        self.edits.push(EditHashes { path: path.to_owned(), before: None, after, bytes });
    }

    fn chain(&self) -> &Chain {
        self.chain.as_ref().unwrap()
    }

    fn changes(&self) -> Changes {
        self.ground.tools.checkpoints().changes(&self.place, self.chain(), 0, self.all).unwrap()
    }

    fn changed(&self) -> Vec<(String, ChangeKind, bool)> {
        self.changes().files.into_iter().map(|file| (file.path, file.kind, file.kept)).collect()
    }

    fn undo_order(&self, from: usize) -> UndoOrder {
        UndoOrder {
            conversation: self.conversation,
            task: self.task,
            undo: format!("0199aaaa-0000-7000-9000-{:012}", self.undos).parse().unwrap(),
            chain: self.chain().clone(),
            from,
            all: self.all,
            files: self.files.clone(),
            hunk: self.hunk.clone(),
        }
    }

    fn undo(&mut self, from: usize) -> UndoneFiles {
        let done = self.ground.tools.checkpoints().undo(&self.place, &self.undo_order(from)).unwrap();
        self.record(&done);
        done
    }

    fn record(&mut self, done: &UndoneFiles) {
        let chain = self.chain.as_mut().unwrap();
        chain.links.push(Link { by: ChangedBy::Others, to: done.before.clone() });
        chain.links.push(Link { by: ChangedBy::Undo, to: done.after.clone() });
        self.undos += 1;
    }

    /// What undo may not touch.
    fn of_git(&self) -> [String; 4] {
        [
            self.git(&["for-each-ref"]),
            self.git(&["ls-files", "-s"]),
            self.git(&["stash", "list"]),
            self.git(&["symbolic-ref", "HEAD"]),
        ]
    }
}

#[expect(clippy::disallowed_methods, reason = "the person's git, not a tool's")]
fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let who = [
        "-c",
        "user.name=P",
        "-c",
        "user.email=p@localhost",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "protocol.file.allow=always",
    ];
    let done = Command::new("git")
        .args(who)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[expect(clippy::disallowed_methods, reason = "the test's own clock")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap())
}

/// Waits until the time of a checkpoint that is made now is after that of all files.
fn later_by_a_second() {
    let began = now();
    while now().0 / 1000 <= began.0 / 1000 {
        std::thread::yield_now();
    }
}

/// Waits until the times of files that change now are not in the window of a step that has ended.
fn later() {
    let began = now();
    while now().0 <= began.0 + 30 {
        std::thread::yield_now();
    }
}

#[test]
fn an_undo_of_named_files_leaves_the_others_and_is_taken_back_like_any() {
    for (named, restored) in
        [(&["a"][..], ["old", "new"]), (&["a", "b"], ["old", "old"]), (&["none"], ["new", "new"])]
    {
        let mut site = Site::repository();
        site.write("a", "old");
        site.write("b", "old");
        site.commit();
        site.begin();
        site.step(1, |site| {
            site.write("a", "new");
            site.write("b", "new");
        });
        site.files = named.iter().map(|name| (*name).to_owned()).collect();
        let done = site.undo(0);
        let texts = |site: &Site| ["a", "b"].map(|name| site.text(name).unwrap());
        assert_eq!(texts(&site), restored, "{named:?}");
        assert!(done.kept.is_empty(), "{named:?}: what was not asked for is not named");
        let left = ["a", "b"].iter().zip(restored).filter(|(_, now)| *now == "new").map(|(name, _)| *name);
        let shown: Vec<String> = site.changed().into_iter().map(|(path, ..)| path).collect();
        assert_eq!(shown, left.collect::<Vec<_>>(), "{named:?}");
        site.files.clear();
        site.undo(0);
        assert_eq!(texts(&site), ["old", "old"], "{named:?}: the rest");
        if named == ["a"] {
            let last = site.chain().links.len() - 1;
            site.undo(last);
            assert_eq!(texts(&site), ["old", "new"], "its reverse");
        }
    }
}

/// The hunks of the diff that is shown.
fn hunks(site: &Site) -> Vec<String> {
    let diff = site.changes().diff;
    diff.split("\n@@").skip(1).map(|hunk| format!("@@{}\n", hunk.trim_end_matches('\n'))).collect()
}

#[test]
fn one_hunk_is_undone_alone() {
    let text = |changed: &[(usize, &str)]| -> String {
        let line = |n: usize| {
            changed
                .iter()
                .find(|(at, _)| *at == n)
                .map_or_else(|| format!("line {n}\n"), |(_, new)| (*new).to_owned())
        };
        (1..=40).map(line).collect()
    };
    let (first, second) = ((3, "new 3\n"), (35, "caf\u{e9}\n"));
    for file in ["d/a b", "\u{fc}\n"] {
        let mut site = Site::repository();
        site.write(file, text(&[]));
        site.commit();
        site.begin();
        site.step(1, |site| site.write(file, text(&[first, second])));
        let shown = hunks(&site);
        assert_eq!(shown.len(), 2, "{shown:?}");
        site.files = site.changed().into_iter().map(|(path, ..)| path).collect();
        site.hunk = Some(shown[0].clone());
        let before = site.undo_order(0);
        let done = site.undo(0);
        assert_eq!((done.restored, &*done.kept), (1, &[][..]));
        assert_eq!(site.text(file).unwrap(), text(&[second]));
        // A crash after the file was restored: the same undo goes on, and changes nothing more.
        let again = site.ground.tools.checkpoints().undo(&site.place, &before).unwrap();
        assert_eq!((again.restored, &again.after.tree), (1, &done.after.tree));
        assert_eq!(site.text(file).unwrap(), text(&[second]));
        let gone = site.ground.tools.checkpoints().undo(&site.place, &site.undo_order(0)).unwrap_err();
        assert!(gone.to_string().contains("have no such part"), "{gone}");
        assert_eq!(site.text(file).unwrap(), text(&[second]));
        site.hunk = None;
        let last = site.chain().links.len() - 1;
        site.undo(last);
        assert_eq!(site.text(file).unwrap(), text(&[first, second]), "its reverse");
        site.undo(0);
        assert_eq!(site.text(file).unwrap(), text(&[]), "all of it");
    }
}

#[test]
fn a_hunk_keeps_its_bytes_in_every_encoding_and_at_the_end_of_the_file() {
    for (before, after, without_first) in [
        (
            &b"\xe9\n2\n3\n4\n5\n6\n7\n8\n9\nlast"[..],
            &b"\xe8\n2\n3\n4\n5\n6\n7\n8\n9\nend"[..],
            &b"\xe9\n2\n3\n4\n5\n6\n7\n8\n9\nend"[..],
        ),
        (
            b"a\r\n2\r\n3\n4\n5\n6\n7\n8\n9\nlast",
            b"b\r\n2\r\n3\n4\n5\n6\n7\n8\n9\nlast\n",
            b"a\r\n2\r\n3\n4\n5\n6\n7\n8\n9\nlast\n",
        ),
    ] {
        let mut site = Site::repository();
        std::fs::write(site.ground.path("f"), before).unwrap();
        site.commit();
        site.begin();
        site.step(1, |site| std::fs::write(site.ground.path("f"), after).unwrap());
        site.files = vec!["f".to_owned()];
        site.hunk = Some(hunks(&site)[0].clone());
        site.undo(0);
        assert_eq!(std::fs::read(site.ground.path("f")).unwrap(), without_first);
    }
}

#[test]
fn a_task_s_changes_are_shown_and_taken_back_and_a_person_s_are_kept() {
    let mut site = Site::repository();
    site.write("x.log", "ignored");
    site.git(&["branch", "other"]);
    site.write("staged", "staged");
    site.git(&["add", "staged"]);
    site.write("untracked", "a person's\n");
    site.begin();
    site.step(1, |site| {
        site.write("a", "a\nchanged\n");
        site.write("d/new/file", "new\n");
        site.write("y.log", "by the task, and ignored");
    });
    site.step(2, |site| {
        fs::remove_file(site.path("d/b")).unwrap();
        site.write("untracked", "changed\n");
        site.write("e", "e\n");
    });
    let before = site.of_git();
    later();
    site.write("e", "e\nby a person\n");
    site.write("p", "a person's file");

    use ChangeKind::{Added, Deleted, Modified};
    let expected = [
        ("a", Modified, false),
        ("d/b", Deleted, false),
        ("d/new/file", Added, false),
        ("e", Added, true),
        ("untracked", Modified, false),
    ];
    assert_eq!(site.changed(), expected.map(|(path, kind, kept)| (path.to_owned(), kind, kept)));
    let changes = site.changes();
    assert!(changes.diff.contains("+changed\n") && changes.diff.contains("-a person's"), "{}", changes.diff);
    let of_a = changes.files.first().unwrap();
    assert_eq!((of_a.added, of_a.removed), (Some(1), Some(0)));

    let done = site.undo(0);
    assert_eq!(done.restored, 4);
    assert_eq!(done.kept.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["e"]);
    assert_eq!(site.text("a").unwrap(), "a\n");
    assert_eq!(site.text("d/b").unwrap(), "b\n");
    assert_eq!(site.text("untracked").unwrap(), "a person's\n");
    assert!(!site.path("d/new").exists(), "a folder that is empty now goes too");
    assert_eq!(site.text("e").unwrap(), "e\nby a person\n");
    assert_eq!(site.text("p").unwrap(), "a person's file");
    assert_eq!(site.text("y.log").unwrap(), "by the task, and ignored");
    assert_eq!(site.of_git(), before);

    // The undo is taken back by the checkpoint that it kept.
    let of_undo = site.chain().links.len() - 1;
    let done = site.undo(of_undo);
    assert_eq!((done.restored, done.kept.len()), (4, 0));
    assert_eq!(site.text("a").unwrap(), "a\nchanged\n");
    assert_eq!(site.text("d/new/file").unwrap(), "new\n");
    assert!(!site.path("d/b").exists());
    assert_eq!(site.of_git(), before);
}

#[test]
fn a_diff_shows_the_text_of_a_file_that_is_not_utf8() {
    let mut site = Site::repository();
    fs::write(site.path("a"), b"caf\xe9\n").unwrap();
    site.begin();
    site.step(1, |site| fs::write(site.path("a"), b"th\xe9\n").unwrap());
    let diff = site.changes().diff;
    assert!(diff.ends_with("+++ b/a\n\\ The file is ISO-8859-1\n@@ -1 +1 @@\n-café\n+thé\n"), "{diff}");
}

#[test]
fn only_the_later_steps_are_taken_back() {
    let mut site = Site::repository();
    site.begin();
    site.step(1, |site| site.write("a", "one\n"));
    site.step(2, |site| site.write("a", "two\n"));
    site.step(3, |site| site.write("c", "three\n"));
    let second = site.chain().links.iter().position(|link| link.by.step() == Some(2)).unwrap();
    site.undo(second);
    assert_eq!((site.text("a").as_deref(), site.text("c")), (Some("one\n"), None));
    site.undo(0);
    assert_eq!(site.text("a").as_deref(), Some("a\n"));
}

#[test]
fn what_a_person_does_between_two_steps_is_not_the_task_s() {
    let mut site = Site::repository();
    site.write("other/x", "x");
    site.begin();
    site.step(1, |site| site.write("a", "by the task\n"));
    later();
    site.write("a", "by the task\nand by a person\n");
    site.write("d/b", "by a person\n");
    fs::remove_file(site.path("other/x")).unwrap();
    later();
    site.step(2, |site| {
        site.write("c", "by the task\n");
        site.write("d/b", "by a person\nand the task\n");
    });
    let done = site.undo(0);
    assert_eq!(done.kept.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["a"]);
    assert_eq!(site.text("a").unwrap(), "by the task\nand by a person\n");
    assert_eq!(site.text("c"), None);
    assert!(!site.path("other/x").exists());
}

#[test]
fn no_program_of_the_repository_runs() {
    let mut site = Site::repository();
    let ran = site.ground.root().join("ran");
    let program = site.ground.root().join("program");
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", ran.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    site.write(".gitattributes", "* filter=evil diff=evil text eol=crlf ident\n");
    site.write("a", "a\r\nb\n$Id$\n");
    for hook in ["reference-transaction", "post-index-change", "pre-commit", "fsmonitor-watchman"] {
        fs::copy(program, site.path(".git/hooks").join(hook)).unwrap();
    }
    for (key, value) in [
        ("filter.evil.clean", program),
        ("filter.evil.smudge", program),
        ("filter.evil.process", program),
        ("filter.evil.required", "true"),
        ("diff.evil.command", program),
        ("diff.evil.textconv", program),
        ("diff.external", program),
        ("core.fsmonitor", program),
        ("core.hooksPath", site.path(".git/hooks").to_str().unwrap()),
        ("core.pager", program),
        ("core.editor", program),
        ("core.sshCommand", program),
        ("core.askPass", program),
        ("credential.helper", program),
        ("gpg.program", program),
        ("commit.gpgSign", "true"),
        ("core.autocrlf", "true"),
    ] {
        site.git(&["config", key, value]);
    }
    let _ = fs::remove_file(&ran);
    site.begin();
    site.step(1, |site| {
        site.write("a", "changed\r\n");
        site.write("new", "$Id$\r\n");
    });
    assert!(site.changes().diff.contains("changed"));
    site.undo(0);
    site.ground.tools.checkpoints().forget(site.conversation);
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    assert_eq!(site.text("a").unwrap(), "a\r\nb\n$Id$\n", "the content is the file's, byte for byte");
}

#[test]
fn files_of_every_kind_come_back() {
    let mut site = Site::repository();
    let odd = OsStr::from_bytes(b"odd\xff\n\xe2\x80\xaename");
    let root = PathBuf::from(&site.place.workspace);
    fs::write(root.join(odd), "odd").unwrap();
    site.write("program", "#!/bin/sh\n");
    fs::set_permissions(site.path("program"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("nowhere", site.path("link")).unwrap();
    site.write("folder/one", "1");
    site.write("file", "was a file");
    let big = vec![7u8; 20 << 20];
    site.write("big", &big);
    site.write("empty", "");
    site.begin();
    site.step(1, |site| {
        fs::write(root.join(odd), "changed").unwrap();
        fs::set_permissions(site.path("program"), fs::Permissions::from_mode(0o640)).unwrap();
        fs::remove_file(site.path("link")).unwrap();
        symlink("/etc/passwd", site.path("link")).unwrap();
        fs::remove_dir_all(site.path("folder")).unwrap();
        site.write("folder", "now a file");
        fs::remove_file(site.path("file")).unwrap();
        site.write("file/inside", "now a folder");
        site.write("big", "small");
        fs::remove_file(site.path("empty")).unwrap();
    });
    assert!(
        site.changed().iter().any(|(path, ..)| path == "odd\u{fffd}\\n\\u{202e}name"),
        "{:?}",
        site.changed()
    );
    let done = site.undo(0);
    assert_eq!(done.kept, []);
    assert_eq!(fs::read_to_string(root.join(odd)).unwrap(), "odd");
    assert_eq!(fs::metadata(site.path("program")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_link(site.path("link")).unwrap(), Path::new("nowhere"));
    assert_eq!(site.text("folder/one").unwrap(), "1");
    assert_eq!(site.text("file").unwrap(), "was a file");
    assert!(fs::read(site.path("big")).unwrap() == big);
    assert_eq!(site.text("empty").unwrap(), "");
    let left = fs::read_dir(&root)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".abide-"));
    assert_eq!(left.count(), 0, "no temporary file is left");
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut site = Site::repository();
    site.write("e/f", "of the task's folder");
    site.begin();
    site.step(1, |site| {
        fs::remove_file(site.path("d/b")).unwrap();
        fs::remove_dir(site.path("d")).unwrap();
        site.write("e/f", "changed");
    });
    later();
    let outside = site.ground.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f"), "of somebody else").unwrap();
    symlink(&outside, site.path("d")).unwrap();
    fs::remove_dir_all(site.path("e")).unwrap();
    symlink(&outside, site.path("e")).unwrap();
    let done = site.undo(0);
    assert_eq!(done.kept.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["d/b", "e/f"]);
    assert!(!outside.join("b").exists());
    assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "of somebody else");
}

/// The time of its folder says nothing: the step changes the folder too.
#[test]
fn a_file_that_somebody_else_has_removed_is_not_brought_back() {
    let mut site = Site::repository();
    site.write("x", "x");
    site.begin();
    site.step(1, |site| site.write("c", "by the task"));
    later();
    fs::remove_file(site.path("a")).unwrap();
    fs::rename(site.path("d/b"), site.path("moved")).unwrap();
    later();
    site.step(2, |site| {
        site.write("new", "by the task");
        fs::remove_file(site.path("x")).unwrap();
    });
    use ChangeKind::{Added, Deleted};
    let expected = [("c", Added, false), ("new", Added, false), ("x", Deleted, false)];
    assert_eq!(site.changed(), expected.map(|(path, kind, kept)| (path.to_owned(), kind, kept)));
    site.undo(0);
    assert_eq!((site.text("a"), site.text("d/b")), (None, None));
    assert_eq!((site.text("x").as_deref(), site.text("moved").as_deref()), (Some("x"), Some("b\n")));
}

/// Another call, of a sub-task, may run already while it is looked.
#[test]
fn a_file_that_the_task_removes_while_it_is_looked_is_brought_back() {
    let mut site = Site::repository();
    site.begin();
    later();
    let from = now();
    later();
    fs::remove_file(site.path("a")).unwrap();
    site.ground.tools.checkpoints().look(&site.place, site.task, site.chain().last(), from).unwrap();
    site.after(1, Window { from, until: now() });
    site.undo(0);
    assert_eq!(site.text("a").as_deref(), Some("a\n"));
}

/// A file goes from the index of a work tree when another task begins and it is ignored by then.
#[test]
fn a_file_that_is_there_is_not_taken_for_removed() {
    let mut site = Site::repository();
    site.write("notes", "notes");
    site.begin();
    site.step(1, |site| site.write("c", "by the task"));
    let (task, chain) = (site.task, site.chain.take());
    site.write(".gitignore", "notes\n");
    site.task = "0199aaaa-0000-7000-8000-000000000003".parse().unwrap();
    site.begin();
    (site.task, site.chain) = (task, chain);
    later();
    site.step(2, |site| fs::remove_file(site.path("notes")).unwrap());
    site.undo(0);
    assert_eq!(site.text("notes").as_deref(), Some("notes"));
}

/// Two tasks in one work tree have one index.
#[test]
fn a_file_that_another_task_has_removed_is_not_brought_back() {
    let mut site = Site::repository();
    site.begin();
    site.step(1, |site| site.write("c", "by the task"));
    let (task, chain) = (site.task, site.chain.take());
    site.task = "0199aaaa-0000-7000-8000-000000000003".parse().unwrap();
    site.begin();
    site.step(1, |site| fs::remove_file(site.path("a")).unwrap());
    (site.task, site.chain) = (task, chain);
    later();
    site.step(2, |site| site.write("new", "by the task"));
    site.undo(0);
    assert_eq!((site.text("a"), site.text("c"), site.text("new")), (None, None, None));
}

#[test]
fn an_interrupted_undo_is_continued_and_an_edit_made_meanwhile_is_kept() {
    let mut site = Site::repository();
    site.begin();
    site.step(1, |site| {
        site.write("a", "changed");
        site.write("c", "new");
        site.write("d/b", "changed");
    });
    let checkpoints = site.ground.tools.checkpoints().clone();
    let order = site.undo_order(0);
    let first = checkpoints.undo(&site.place, &order).unwrap();
    // As if the daemon had died when only `a` was restored, and a person had then edited `c`.
    later();
    site.write("d/b", "changed");
    site.write("c", "new, and by a person");
    let second = checkpoints.undo(&site.place, &order).unwrap();
    assert_eq!(second.before, first.before, "the files as they were when the undo began are kept");
    assert_eq!((site.text("a").as_deref(), site.text("d/b").as_deref()), (Some("a\n"), Some("b\n")));
    assert_eq!(site.text("c").as_deref(), Some("new, and by a person"));
    assert_eq!(second.kept.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["c"]);

    // The edit is not the undo's, so taking back the undo does not take it back.
    site.record(&second);
    let of_undo = site.chain().links.len() - 1;
    site.undo(of_undo);
    assert_eq!((site.text("a").as_deref(), site.text("d/b").as_deref()), (Some("changed"), Some("changed")));
    assert_eq!(site.text("c").as_deref(), Some("new, and by a person"));
}

#[test]
fn a_scratch_folder_has_checkpoints_without_a_repository() {
    let mut site = Site::at("scratch/conversation");
    site.write("a", "a");
    site.begin();
    site.step(1, |site| {
        site.write("a", "b");
        site.git(&["init", "-q"]);
        site.write(".gitignore", "x\n");
        site.write("x", "ignored");
    });
    site.undo(0);
    assert_eq!(site.text("a").unwrap(), "a");
    assert_eq!(site.text("x").unwrap(), "ignored");
    assert!(site.path(".git").exists());
    assert_eq!(site.git(&["for-each-ref"]), "", "the task's own repository is not ours");
    site.ground.tools.checkpoints().forget(site.conversation);
    assert_eq!(fs::read_dir(site.ground.root().join("kept")).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_no_repository_has_checkpoints_also_when_it_becomes_one() {
    let mut site = Site::plain();
    // A home that is a work tree does not make one of it.
    git_in(site.ground.root(), &["init", "-q"]);
    site.write("d/a", "a");
    site.begin();
    site.step(1, |site| {
        site.write("d/a", "b");
        site.git(&["init", "-q"]);
        site.commit();
    });
    site.step(2, |site| {
        site.write("d/a", "c");
        site.write("new", "new");
    });
    assert_eq!(site.changed().len(), 2);
    assert_eq!(site.undo(0).restored, 2);
    assert_eq!((site.text("d/a").as_deref(), site.text("new")), (Some("a"), None));
    // It grows, is larger than a folder may be at first, and is no repository again.
    site.step(3, |site| {
        fs::File::create(site.path("large")).unwrap().set_len(201 << 20).unwrap();
        fs::remove_dir_all(site.path(".git")).unwrap();
        site.write("d/a", "d");
    });
    let done = site.undo(0);
    let kept: Vec<_> = done.kept.iter().map(|kept| &*kept.path).collect();
    assert_eq!((done.restored, kept), (1, vec!["large"]));
    assert_eq!(site.text("d/a").as_deref(), Some("a"));
    site.ground.tools.checkpoints().can(&site.place).unwrap();
}

/// The work tree of a task's files stays what it was at its first checkpoint.
#[test]
fn a_repository_that_a_task_makes_in_its_folder_does_not_hide_what_was_there() {
    let mut site = Site::repository();
    site.place.workspace.push_str("/d");
    site.begin();
    site.step(1, |site| {
        site.git(&["init", "-q"]);
        site.write("b", "changed");
        site.commit();
    });
    site.step(2, |site| site.write("b", "again"));
    assert_eq!(site.undo(0).restored, 1);
    assert_eq!(site.text("b").as_deref(), Some("b\n"));
}

#[test]
fn repositories_of_every_kind_have_checkpoints() {
    type Make = fn(&Site);
    let kinds: [(&str, Make); 8] = [
        ("unborn", |site| drop(site.git(&["init", "-q"]))),
        ("sha256", |site| drop(site.git(&["init", "-q", "--object-format=sha256"]))),
        ("linked", |site| {
            let main = site.ground.root().join("main");
            git_in(site.ground.root(), &["init", "-q", "main"]);
            git_in(&main, &["commit", "-q", "--allow-empty", "-m", "a commit"]);
            fs::remove_dir(&site.place.workspace).unwrap();
            git_in(&main, &["worktree", "add", "-q", &site.place.workspace]);
        }),
        ("sparse", |site| {
            site.git(&["init", "-q"]);
            site.write("out/a", "a");
            site.write("in/b", "b");
            site.commit();
            site.git(&["sparse-checkout", "set", "in"]);
        }),
        ("its git folder elsewhere", |site| {
            site.git(&["init", "-q", "--separate-git-dir", "../elsewhere.git"]);
        }),
        ("its git folder within it", |site| {
            fs::create_dir(site.path("store")).unwrap();
            site.git(&["init", "-q", "--separate-git-dir", "store/x [1].git"]);
        }),
        ("a link to its git folder", |site| {
            site.git(&["init", "-q", "--bare", "../elsewhere.git"]);
            symlink("../elsewhere.git", site.path(".git")).unwrap();
            site.git(&["config", "core.bare", "false"]);
        }),
        ("a bare one beside its work trees", |site| {
            let above = site.ground.root();
            git_in(above, &["init", "-q", "--bare", "x.git"]);
            let bare = above.join("x.git");
            let tree = git_in(&bare, &["hash-object", "-t", "tree", "-w", "--stdin"]);
            let commit = git_in(&bare, &["commit-tree", "-m", "x", tree.trim()]);
            fs::remove_dir(&site.place.workspace).unwrap();
            git_in(&bare, &["worktree", "add", "-q", &site.place.workspace, commit.trim()]);
        }),
    ];
    for (kind, make) in kinds {
        let mut site = Site::plain();
        make(&site);
        site.write("in/b", "b");
        site.begin();
        site.step(1, |site| {
            site.write("in/b", "changed");
            site.write("c", "new");
        });
        let done = site.undo(0);
        assert_eq!((done.restored, done.kept.len()), (2, 0), "{kind}");
        assert_eq!((site.text("in/b").as_deref(), site.text("c")), (Some("b"), None), "{kind}");
        assert!(!site.path("out").exists(), "{kind}");
        assert!(site.changed().is_empty(), "{kind}");
        assert_eq!(site.git(&["for-each-ref", "refs/abide"]), "", "{kind}");
        site.git(&["fsck"]);
    }
}

#[test]
fn a_workspace_within_a_work_tree_is_covered_with_all_of_it() {
    let mut site = Site::repository();
    site.place.workspace.push_str("/d");
    site.begin();
    let top = PathBuf::from(site.place.workspace.trim_end_matches("/d"));
    site.step(1, |_| fs::write(top.join("a"), "changed").unwrap());
    site.undo(0);
    assert_eq!(fs::read_to_string(top.join("a")).unwrap(), "a\n");
}

#[test]
fn where_no_checkpoint_can_be_made_it_is_said_why() {
    type Make = fn(&mut Site);
    let cases: [(Make, &str); 6] = [
        (|site| site.place.workspace = site.path(".git").to_str().unwrap().to_owned(), "cannot be used"),
        (
            |site| {
                site.git(&["init", "-q"]);
                site.write(".gitignore", "build\n");
                site.write("build/x", "x");
                site.place.workspace.push_str("/build");
            },
            "git ignores",
        ),
        (
            |site| {
                site.place.workspace = site.ground.root().to_str().unwrap().to_owned();
                git_in(site.ground.root(), &["init", "-q"]);
            },
            "holds more than a project",
        ),
        (
            |site| {
                for name in ["video", "text"] {
                    let size = if name == "video" { 4 << 30 } else { 1 };
                    fs::File::create(site.path(name)).unwrap().set_len(size).unwrap();
                }
            },
            "its files hold more than 200 MiB: 4096 of them in video",
        ),
        (
            |site| {
                for folder in 0..200 {
                    let folder = site.path(&folder.to_string());
                    fs::create_dir(&folder).unwrap();
                    (0..100).for_each(|name| drop(fs::File::create(folder.join(name.to_string())).unwrap()));
                }
            },
            "holds more than 20000 files",
        ),
        (
            |site| {
                git_in(site.ground.root(), &["init", "-q", "--bare", "workspace"]);
            },
            "is a git folder",
        ),
    ];
    for (make, words) in cases {
        let mut site = Site::plain();
        make(&mut site);
        let refused = site.ground.tools.checkpoints().can(&site.place).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|said| said.contains(words)), "{words}: {refused:?}");
        let refused = site.take(None, None).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|said| said.contains(words)), "{words}: {refused:?}");
    }
    let site = Site::repository();
    site.ground.tools.checkpoints().can(&site.place).unwrap();
}

/// Of a file that is too large, of one that cannot be read, and of a repository within the work tree no
/// checkpoint has the content. The rest is shown and taken back.
#[test]
fn what_cannot_be_kept_is_named_and_the_rest_is_taken_back() {
    let mut site = Site::repository();
    site.write("closed", "a person's");
    fs::File::create(site.path("was-huge")).unwrap().set_len(201 << 20).unwrap();
    site.write("theirs/file", "x");
    git_in(&site.path("theirs"), &["init", "-q"]);
    site.commit_but("theirs");
    later_by_a_second();
    site.begin();
    site.step(1, |site| {
        site.write("a", "one");
        site.write("inner/file", "x");
        git_in(&site.path("inner"), &["init", "-q"]);
        fs::File::create(site.path("huge")).unwrap().set_len(201 << 20).unwrap();
        site.write("closed", "the task's");
        fs::set_permissions(site.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    });
    site.step(2, |site| site.write("b", "two"));
    use ChangeKind::{Added, Modified};
    let expected =
        [("a", Modified, false), ("b", Added, false), ("huge", Added, true), ("inner/", Modified, true)];
    let mut changed = site.changed();
    changed.retain(|(path, ..)| path != "closed");
    assert_eq!(changed, expected.map(|(path, kind, kept)| (path.to_owned(), kind, kept)));
    let done = site.undo(0);
    assert_eq!(done.kept.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["huge", "inner/"]);
    assert_eq!((site.text("a").as_deref(), site.text("b")), (Some("a\n"), None));
    assert_eq!(site.text("closed").as_deref(), Some("a person's"));
    assert!(site.path("huge").exists() && site.path("inner/file").exists() && site.path("was-huge").exists());
}

#[test]
fn a_folder_that_became_a_link_is_a_folder_again() {
    let mut site = Site::repository();
    site.write("other/b", "another\n");
    site.commit();
    site.begin();
    site.step(1, |site| {
        fs::remove_dir_all(site.path("d")).unwrap();
        symlink("other", site.path("d")).unwrap();
        site.write("d/b", "through the link\n");
    });
    let changed: Vec<String> = site.changed().into_iter().map(|(path, ..)| path).collect();
    assert_eq!(changed, ["d", "d/b", "other/b"]);
    let done = site.undo(0);
    assert_eq!((done.restored, done.kept.len()), (3, 0), "{done:?}");
    assert_eq!(
        (site.text("d/b").as_deref(), site.text("other/b").as_deref()),
        (Some("b\n"), Some("another\n"))
    );
    assert!(!site.path("d").is_symlink());
}

#[test]
fn a_tracked_file_that_is_ignored_is_covered() {
    let mut site = Site::repository();
    site.write("kept.log", "tracked");
    site.git(&["add", "-f", "kept.log"]);
    site.git(&["commit", "-q", "-m", "a log"]);
    site.write("other.log", "ignored");
    site.begin();
    site.step(1, |site| {
        site.write("kept.log", "changed");
        site.write("other.log", "changed");
    });
    site.undo(0);
    assert_eq!(site.text("kept.log").unwrap(), "tracked");
    assert_eq!(site.text("other.log").unwrap(), "changed");
}

#[test]
fn patterns_of_the_repository_and_of_the_person_are_ignored_too() {
    let mut site = Site::repository();
    let home = site.ground.root().join("home/.config/git");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("ignore"), "*.mine\n").unwrap();
    fs::create_dir_all(site.path(".git/info")).unwrap();
    fs::write(site.path(".git/info/exclude"), "*.local\n").unwrap();
    site.begin();
    site.step(1, |site| {
        site.write("x.mine", "x");
        site.write("x.local", "x");
        site.write("c", "c");
    });
    assert_eq!(site.changed().len(), 1, "{:?}", site.changed());
}

#[test]
fn an_unchanged_work_tree_has_no_new_checkpoint() {
    let mut site = Site::repository();
    site.begin();
    let window = Some(Window { from: now(), until: now() });
    let previous = || Some(site.chain().last().clone());
    assert_eq!(site.take(previous(), window).unwrap(), Taken::Unchanged);
    // A file that was written with the content that it had.
    site.write("a", "a\n");
    assert_eq!(site.take(previous(), window).unwrap(), Taken::Unchanged);
}

#[test]
fn a_damaged_index_and_collected_objects_are_made_anew() {
    let mut site = Site::repository();
    site.write("untracked", "x");
    site.begin();
    site.ground.tools.checkpoints().forget(site.conversation);
    site.git(&["gc", "-q", "--prune=now"]);
    site.begin();
    let kept = fs::read_dir(site.ground.root().join("kept")).unwrap().next().unwrap().unwrap().path();
    fs::write(kept.join("index"), "nonsense").unwrap();
    let refs = kept.join("refs/abide").join(site.conversation.to_string()).join(site.task.to_string());
    for lock in [kept.join("index.lock"), kept.join("part.index.lock"), refs.join("tip.lock")] {
        fs::write(lock, "of a git that was killed").unwrap();
    }
    site.step(1, |site| site.write("untracked", "y"));
    site.undo(0);
    assert_eq!(site.text("untracked").unwrap(), "x");
}

#[test]
fn what_is_kept_for_a_conversation_is_removed_with_it() {
    let mut site = Site::repository();
    // In the tick of a commit git cannot tell whether a file was changed after it.
    later();
    site.git(&["status"]);
    site.begin();
    let kept = fs::read_dir(site.ground.root().join("kept")).unwrap().next().unwrap().unwrap().path();
    let committed = site.git(&["rev-parse", "HEAD:a"]);
    assert!(
        !kept.join("objects").join(&committed[..2]).join(committed[2..].trim()).exists(),
        "it is borrowed"
    );
    site.step(1, |site| site.write("a", "only the first conversation has this"));
    let id = site.git(&["hash-object", "a"]);
    site.undo(0);
    let checkpoints = site.ground.tools.checkpoints().clone();
    assert_eq!(checkpoints.conversations().unwrap(), [site.conversation].into());
    let object = kept.join("objects").join(&id[..2]).join(id[2..].trim());
    assert!(object.exists());
    let other = site.conversation;
    site.conversation = "0199aaaa-0000-7000-8000-000000000009".parse().unwrap();
    site.begin();
    checkpoints.forget(other);
    assert!(!object.exists());
    assert_eq!(checkpoints.conversations().unwrap(), [site.conversation].into());
    site.step(1, |site| site.write("a", "b"));
    site.undo(0);
    checkpoints.forget(site.conversation);
    assert!(!kept.exists());
    assert_eq!(checkpoints.conversations().unwrap(), [].into());
}

/// What its command changes meanwhile, both tasks perhaps have.
#[test]
fn what_another_task_edits_while_a_command_runs_is_not_the_command_s() {
    for edits in [true, false] {
        let mut site = Site::repository();
        let (task, other) = (site.task, "0199aaaa-0000-7000-8000-000000000007".parse().unwrap());
        site.begin();
        let mut of_other = site.chain.clone();
        let from = now();
        site.write("first", "by the first\n");
        fs::remove_file(site.path("d/b")).unwrap();
        later();
        site.task = other;
        std::mem::swap(&mut site.chain, &mut of_other);
        let write = if edits {
            Site::edit
        } else {
            |site: &mut Site, path: &str, content: &str| site.write(path, content)
        };
        site.step(1, |site| {
            write(site, "a", "by the second\n");
            write(site, "d/second", "by the second\n");
        });
        later();
        site.task = task;
        std::mem::swap(&mut site.chain, &mut of_other);
        site.write("last", "by the first\n");
        site.after(1, Window { from, until: now() });
        let changed: Vec<_> = site.changed().into_iter().map(|(path, ..)| path).collect();
        if !edits {
            assert_eq!(changed, ["a", "d/b", "d/second", "first", "last"]);
            continue;
        }
        assert_eq!(changed, ["d/b", "first", "last"]);
        site.undo(0);
        assert_eq!((site.text("first"), site.text("last")), (None, None));
        assert!(site.text("d/b").is_some(), "its own deletion is taken back");
        assert_eq!(site.text("a").unwrap(), "by the second\n");
        assert_eq!(site.text("d/second").unwrap(), "by the second\n");
    }
}

#[test]
fn two_tasks_in_one_work_tree_do_not_mix() {
    let mut first = Site::repository();
    first.begin();
    let mut second_chain = first.chain.clone();
    let (task, other) = (first.task, "0199aaaa-0000-7000-8000-000000000007".parse().unwrap());
    first.step(1, |site| site.write("a", "by the first\n"));
    later();
    // The second task's checkpoint finds the index changed already.
    std::mem::swap(&mut first.chain, &mut second_chain);
    first.task = other;
    first.step(1, |site| site.write("d/b", "by the second\n"));
    assert_eq!(first.changed(), [("d/b".to_owned(), ChangeKind::Modified, false)]);
    std::mem::swap(&mut first.chain, &mut second_chain);
    first.task = task;
    first.undo(0);
    assert_eq!(first.text("a").unwrap(), "a\n");
    assert_eq!(first.text("d/b").unwrap(), "by the second\n");
}

#[test]
fn what_changed_while_a_command_ran_is_shown_apart_and_kept_unless_all_is_taken_back() {
    let mut site = Site::repository();
    site.begin();
    site.step(1, |site| {
        site.edit("edited", "by the tool\n");
        site.edit("formatted", "by the tool\n");
        // A command, or a person who types meanwhile.
        site.write("formatted", "formatted\n");
        site.write("a", "typed\n");
        fs::remove_file(site.path("d/b")).unwrap();
    });
    site.all = false;
    let changes = site.changes();
    let files: Vec<_> =
        changes.files.iter().map(|file| (&*file.path, file.kept, file.perhaps_yours)).collect();
    assert_eq!(
        files,
        [("a", true, true), ("d/b", true, true), ("edited", false, false), ("formatted", true, true)]
    );
    let (certain, perhaps) = changes.diff.split_once("# These changed while a command ran").unwrap();
    assert!(certain.contains("edited") && !certain.contains("typed"), "{certain}");
    assert!(perhaps.contains("typed") && perhaps.contains("formatted"), "{perhaps}");

    let done = site.undo(0);
    assert_eq!((done.restored, site.text("edited")), (1, None));
    let kept: Vec<_> = done.kept.iter().map(|file| (&*file.path, file.perhaps_yours)).collect();
    assert_eq!(kept, [("a", true), ("d/b", true), ("formatted", true)]);
    assert_eq!(site.text("a").unwrap(), "typed\n");

    site.all = true;
    let done = site.undo(0);
    assert_eq!((done.restored, done.kept.len()), (3, 0));
    assert_eq!((site.text("a").as_deref(), site.text("formatted")), (Some("a\n"), None));
    assert!(site.path("d/b").exists());
}

#[test]
fn what_changed_while_only_edits_ran_and_none_of_them_wrote_is_somebody_else_s() {
    let mut site = Site::repository();
    site.only_edits = true;
    site.begin();
    site.step(1, |site| {
        site.edit("edited", "by the tool\n");
        site.write("a", "typed\n");
    });
    assert_eq!(site.changed(), [("edited".to_owned(), ChangeKind::Added, false)]);
}

#[test]
fn an_undo_says_that_commits_and_branches_stay() {
    let mut site = Site::repository();
    site.begin();
    site.step(1, |site| site.edit("edited", "by the tool\n"));
    assert_eq!(site.changes().notes, [""; 0]);
    site.git(&["switch", "-q", "-c", "topic"]);
    site.commit();
    let notes = site.changes().notes;
    let [note] = &*notes else { panic!("{notes:?}") };
    assert!(
        note.starts_with("HEAD was main (") && note.contains(" now: commits and branches stay"),
        "{note}"
    );
    site.git(&["pack-refs", "--all"]);
    assert_eq!(site.undo(0).notes, std::slice::from_ref(note));
}
