use super::{blocking_program, finished_blocking, has_session, input, settles};
use std::{io, time::Duration};

#[test]
fn a_program_that_does_not_end_is_killed_and_its_words_are_kept() {
    let begun = std::time::Instant::now();
    let mut shell = blocking_program("sh");
    // What it leaves running holds its output open; that keeps nobody waiting.
    shell.args(["-c", "echo half way; echo oh dear >&2; sleep 20 & exec sleep 600"]);
    let error = finished_blocking(&mut shell, Duration::from_millis(300)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let words = error.to_string();
    assert!(words.contains("half way") && words.contains("oh dear"), "{words}");
    assert!(begun.elapsed() < Duration::from_secs(15), "what it left running was waited for");
}

#[test]
fn a_program_that_ends_has_its_input_and_its_output() {
    let mut cat = blocking_program("cat");
    let output = finished_blocking(cat.stdin(input("some words")), Duration::from_secs(60)).unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"some words");
}

#[test]
fn a_session_is_there_until_its_last_process_has_ended() {
    let mut leader = blocking_program("setsid").args(["sleep", "600"]).spawn().unwrap();
    assert!(settles(Duration::from_secs(60), || has_session(leader.id())));
    leader.kill().unwrap();
    assert!(settles(Duration::from_secs(60), || !has_session(leader.id())));
    leader.wait().unwrap();
}
