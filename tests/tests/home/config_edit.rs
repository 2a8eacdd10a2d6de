//! `abide config edit`: a person's editor works on a copy, which takes the file's place when it is valid.

use abide_tests::{
    daemon::{Cli, Config, TestDaemon},
    skip::skip,
    terminal::Terminal,
};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
};

/// The copies that are left.
fn copies(daemon: &TestDaemon) -> Vec<PathBuf> {
    let entries = fs::read_dir(daemon.home().state_dir).into_iter().flatten().flatten();
    let is_copy = |path: &PathBuf| path.display().to_string().contains("config-edit.");
    entries.map(|entry| entry.path()).filter(is_copy).collect()
}

/// The command line with this editor, which is a line for `sh`.
fn with_editor(daemon: &TestDaemon, editor: &str) -> Cli {
    daemon.cli().env("EDITOR", editor)
}

#[tokio::test]
async fn the_edited_copy_takes_the_files_place_behind_a_link_and_with_its_mode() {
    let daemon = TestDaemon::new(&Config::new());
    let file = daemon.home().config_file();
    let elsewhere = daemon.workspace().join("config.toml");
    fs::rename(&file, &elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&elsewhere, &file).unwrap();
    let before = fs::read_to_string(&elsewhere).unwrap();

    let untouched = with_editor(&daemon, "true").ok(&["config", "edit"]).await;
    assert!(untouched.contains("is unchanged"), "{untouched}");
    let changed =
        with_editor(&daemon, "sed -i 's/^\\[task\\]$/&\\nmax_steps = 7/'").ok(&["config", "edit"]).await;
    assert!(changed.contains("is changed"), "{changed}");
    assert_eq!(
        fs::read_to_string(&elsewhere).unwrap(),
        before.replace("[task]\n", "[task]\nmax_steps = 7\n")
    );
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(copies(&daemon), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn what_cannot_be_put_in_place_is_kept() {
    let daemon = TestDaemon::new(&Config::new());
    let file = daemon.home().config_file();
    let before = fs::read_to_string(&file).unwrap();
    let mine = "echo '[task' >> \"$1\"; : ";
    let other = format!("echo '# mine' >> \"$1\"; echo '# other' >> '{}'; : ", file.display());
    for (editor, words) in [
        (mine, "line "),
        ("echo '# half' >> \"$1\"; false", "failed: exit status: 1"),
        (other.as_str(), "is being changed by another program"),
    ] {
        let kept_before = copies(&daemon).len();
        let failed = with_editor(&daemon, editor).run(&["config", "edit"]).await;
        assert_eq!(failed.code, Some(1), "{failed:?}");
        assert!(failed.stderr.contains(words), "{failed:?}");
        let copies = copies(&daemon);
        assert_eq!(copies.len(), kept_before + 1, "{copies:?}");
        assert!(copies.iter().any(|copy| failed.stderr.contains(&copy.display().to_string())), "{failed:?}");
        for copy in copies {
            assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{before}# other\n"));
    let kept = copies(&daemon).len();
    for editor in ["false", "rm \"$1\"; :"] {
        let failed = with_editor(&daemon, editor).run(&["config", "edit"]).await;
        assert_eq!(failed.code, Some(1), "{failed:?}");
        assert!(
            failed.stderr.contains("nothing is put in place") && !failed.stderr.contains("is kept"),
            "{failed:?}"
        );
    }
    assert_eq!(copies(&daemon).len(), kept, "a copy in which nothing was written is not kept");
    let none = daemon.cli().run(&["config", "edit"]).await;
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.stderr.contains("neither VISUAL nor EDITOR"), "{none:?}");
}

#[tokio::test]
async fn at_a_terminal_an_error_is_shown_and_the_copy_is_edited_again() {
    if !Terminal::exists().await {
        return skip("at_a_terminal_an_error_is_shown_and_the_copy_is_edited_again", "tmux is not installed");
    }
    let mut daemon = TestDaemon::new(&Config::new());
    let file = daemon.home().config_file();
    let before = fs::read_to_string(&file).unwrap();
    // The first time it adds a wrong line, the second time it corrects that.
    let editor =
        "grep -q stepps \"$1\" && sed -i s/stepps/steps/ \"$1\" || sed -i 's/^.task.$/&\\nmax_stepps = 7/'";
    daemon.set_env("VISUAL", editor);
    let terminal = Terminal::run(&daemon, "abide config edit").await;
    let screen = terminal.shows("Edit it again? [Y/n]").await;
    assert!(screen.contains("`task.max_stepps`"), "{screen}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    terminal.press(&["Enter"]).await;
    terminal.shows("is changed").await;
    assert_eq!(terminal.ended().await, 0);
    assert!(fs::read_to_string(&file).unwrap().contains("max_steps = 7"));

    fs::write(&file, &before).unwrap();
    let terminal = Terminal::run(&daemon, "abide config edit").await;
    terminal.shows("Edit it again? [Y/n]").await;
    terminal.press(&["C-c"]).await;
    terminal.shows("what you wrote is kept in").await;
    assert_eq!(terminal.ended().await, 1);
    assert_eq!((fs::read_to_string(&file).unwrap(), copies(&daemon).len()), (before, 1));
}
