//! Incomplete replies: cut at the length limit, or empty.

use crate::{
    plan::{complete, read},
    world::World,
};
use abide_protocol::{
    record::{NoticeKind, RecordBody},
    task::{EndReason, Incomplete, Mode},
    transcript::StopReason::{EndTurn, Length},
};

fn chat() -> World {
    World::started_with(|head| head.mode = Mode::Chat)
}

fn is_said(w: &World) -> bool {
    w.count(|body| matches!(body, RecordBody::Notice(n) if n.about == NoticeKind::Incomplete)) == 1
}

#[test]
fn a_chat_with_an_incomplete_reply_ends_with_a_notice() {
    for (stop, text, expected, words) in [
        (Length, "Once upon", Some(Incomplete::Length), "The reply is cut"),
        (Length, "", Some(Incomplete::Length), "before it said anything"),
        (EndTurn, " \n", Some(Incomplete::Empty), "take mode agent"),
        (EndTurn, "Once upon a time.", None, ""),
    ] {
        let mut w = chat();
        w.reply_as(stop, text, &[]);
        assert_eq!((w.end(), w.seen().incomplete), (Some(EndReason::Completed), expected), "{text:?}");
        assert_eq!(is_said(&w), expected.is_some(), "{text:?}");
        let notice = w.notice().unwrap_or_default();
        assert!(notice.contains(words) && (expected.is_none() || notice.contains("“go on”")), "{notice}");
    }
}

#[test]
fn no_tools_are_missed_where_auto_had_them() {
    let mut w = World::started_with(|head| head.mode = Mode::Auto);
    for _ in 0..3 {
        w.reply_as(EndTurn, "", &[]);
    }
    let notice = w.notice().unwrap_or_default();
    assert!(notice.contains("“go on”") && !notice.contains("no tools"), "{notice}");
}

#[test]
fn the_notice_names_the_tokens_if_the_provider_counts_them() {
    for (tokens, expected) in [(4096, true), (0, false)] {
        let mut w = chat();
        w.tokens = tokens;
        w.reply_as(Length, "Once upon", &[]);
        let notice = w.notice().unwrap_or_default();
        assert_eq!(
            (notice.contains("(4096 tokens)"), notice.contains("tokens")),
            (expected, expected),
            "{notice}"
        );
    }
}

#[test]
fn an_agent_whose_replies_are_all_cut_ends_before_its_step_limit() {
    let mut w = World::started();
    for step in 1..=3 {
        assert_eq!((w.task().step, w.seen().incomplete), (step, None));
        w.reply_as(Length, "and then", &[]);
    }
    assert_eq!((w.end(), w.seen().incomplete), (Some(EndReason::Completed), Some(Incomplete::Length)));
    assert!(is_said(&w));
    assert_eq!(w.seen().summary.as_deref(), Some("and then"));
}

#[test]
fn an_agent_with_three_empty_replies_ends_without_summary_and_with_a_notice() {
    let mut w = World::started();
    for _ in 0..3 {
        w.reply_as(EndTurn, "", &[]);
    }
    assert_eq!((w.end(), w.seen().incomplete), (Some(EndReason::Completed), Some(Incomplete::Empty)));
    assert!(is_said(&w) && w.notice().is_some_and(|notice| !notice.contains("take mode agent")));
    assert_eq!(w.seen().summary, None);
}

#[test]
fn an_agent_that_goes_on_after_a_cut_reply_is_complete() {
    let mut w = World::started();
    for _ in 0..4 {
        w.reply_as(Length, "half", &[]);
        let call = w.reply("", &[read("f")])[0];
        w.finish(call, true);
    }
    w.reply("", &[complete("Done.")]);
    assert_eq!((w.end(), w.seen().incomplete), (Some(EndReason::Completed), None));
    assert!(!is_said(&w));
}

#[test]
fn a_stopped_task_is_not_incomplete() {
    let mut w = World::started();
    w.pause();
    w.reply_as(Length, "half", &[]);
    w.stop("");
    assert_eq!((w.end(), w.seen().incomplete), (Some(EndReason::Stopped), None));
}
