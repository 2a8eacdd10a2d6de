//! A question that the agent asks for input lights up softly when it comes, once.

use crate::{drawn, person::Person, preset};
use abide_client::protocol::{
    Timestamp,
    inbox::{Pending, Question},
    task::Status,
};
use std::time::{Duration, Instant};

/// A person before a question that was asked by this tool so long ago, in milliseconds.
fn before(tool: &str, ago: i64) -> Person {
    let call = preset::call(7, tool, "");
    let question =
        Question { call_id: Some(call.call_id), at: Timestamp(preset::NOW.0 - ago), ..preset::question() };
    let mut history = preset::history();
    history.calls.push(call);
    Person::opened(Status::WaitingUser, &[Pending::Question(question)], history)
}

/// How strong the light is in frames so many milliseconds from now. It began with the first frame, which may
/// be a while ago on a busy machine.
fn light(person: &mut Person, times: [u64; 4]) -> [u8; 4] {
    let now = Instant::now();
    times.map(|ms| {
        person.frames(&[now + Duration::from_millis(ms)]);
        let light = drawn::light(person);
        assert!(light.len() < 2, "{light:?}");
        light.first().map_or(0, |alpha| (alpha * 255.0).round() as u8)
    })
}

#[test]
fn a_request_for_input_lights_up_and_fades() {
    let [first, later, last, after] = light(&mut before("request_input", 100), [20, 150, 300, 1500]);
    assert!(first > later && later > last && last > 0, "{first} {later} {last}");
    assert_eq!(after, 0);
}

#[test]
fn an_older_request_and_another_question_do_not_light_up() {
    for (tool, ago) in [("request_input", 180_000), ("ask_user", 100)] {
        assert_eq!(light(&mut before(tool, ago), [20, 150, 300, 1500]), [0; 4], "{tool}");
    }
}

#[test]
fn after_the_light_no_frame_is_wanted() {
    let mut person = before("request_input", 100);
    person.named(iced_test::core::keyboard::key::Named::Escape);
    let now = Instant::now();
    assert!(person.wants_a_frame_after(now + Duration::from_millis(20)));
    assert!(person.wants_a_frame_after(now + Duration::from_millis(400)));
    person.frames(&[now + Duration::from_millis(1500)]);
    assert!(!person.wants_a_frame_after(now + Duration::from_millis(1600)));
}
