use super::{blocking_program, finished_blocking, has_session, input, wait_blocking};
use std::{io, time::Duration};

#[test]
fn a_program_that_does_not_end_is_killed_and_its_output_is_in_the_error() {
    let begun = std::time::Instant::now();
    let mut shell = blocking_program("sh");
    // The `sleep` that it leaves running holds its output open, which must not be waited for.
    shell.args(["-c", "echo half way; echo oh dear >&2; sleep 20 & exec sleep 600"]);
    let error = finished_blocking(&mut shell, Duration::from_millis(300)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    let words = error.to_string();
    assert!(words.contains("half way") && words.contains("oh dear"), "{words}");
    assert!(begun.elapsed() < Duration::from_secs(15), "the process that it left running was waited for");
}

#[test]
fn a_program_gets_its_input_and_its_output_is_returned() {
    let mut cat = blocking_program("cat");
    let output = finished_blocking(cat.stdin(input("some words")), Duration::from_secs(60)).unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"some words");
}

#[test]
fn a_session_exists_until_its_last_process_has_ended() {
    let mut leader = blocking_program("setsid").args(["sleep", "600"]).spawn().unwrap();
    assert!(wait_blocking(Duration::from_secs(60), || has_session(leader.id())));
    leader.kill().unwrap();
    assert!(wait_blocking(Duration::from_secs(60), || !has_session(leader.id())));
    leader.wait().unwrap();
}
