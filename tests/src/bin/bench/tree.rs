//! Sub-tasks: from a call of `fork` to the child's first request, and from a child's end to its parent's next request.

use crate::{
    beside::{self, KEY},
    floor::Work,
    model::{self, Answer, Asked},
    table::Figure,
};
use abide_client::protocol::task::Mode;
use std::time::Duration;

/// Each is started by one reply, which also waits for it.
const CHILDREN: usize = 50;

pub(crate) async fn figures() -> Vec<Figure> {
    let beside = beside::run(Work::Nothing, Mode::Agent, CHILDREN + 1, reply, |n| n % 5 == 0).await;
    let parent = beside.setup.model.exchanges(KEY);
    let (mut begins, mut ends): (Vec<Duration>, Vec<Duration>) = Default::default();
    for number in 0..CHILDREN {
        let child = beside.setup.model.exchanges(&child(number));
        assert_eq!(child.len(), 1, "child {number} ends with its first reply");
        begins.extend(parent[number].answered.map(|forked| child[0].asked - forked));
        ends.extend(child[0].answered.map(|ended| parent[number + 1].asked - ended));
    }
    vec![
        beside.median("`fork` to the child's first model request", &begins),
        beside.median("a child's end to its parent's next request", &ends),
    ]
}

fn child(number: usize) -> String {
    format!("child-{number}")
}

fn reply(asked: &Asked<'_>) -> Answer {
    if asked.key == KEY && asked.number < CHILDREN {
        return model::fork_and_wait(asked.number, &format!("[k:{}] Do your part.", child(asked.number)));
    }
    model::done(asked.number)
}
