//! One message of every kind, each field set to a value that differs from the others.

mod notifications;
mod records;
mod replies;
mod requests;
mod things;

use abide_protocol::{
    Candidate, Error, ErrorKind, Timestamp,
    codec::{Outgoing, RequestId},
    method::{Reply, Request},
    notification::Notification,
};
use std::str::FromStr;

pub(crate) use records::all as records;
pub(crate) use things::{json, record, task, usage};

/// The id of all requests here.
pub(crate) const ID: u64 = 7;

/// A message and the name of its golden files.
#[expect(clippy::large_enum_variant, reason = "there are a hundred of them")]
pub(crate) enum Sample {
    Request(String, Request),
    Outgoing(String, Outgoing),
}

pub(crate) fn all() -> Vec<Sample> {
    let requests = requests::all().into_iter().map(|(case, request)| {
        let name = format!("request.{}{case}", request.name());
        Sample::Request(name, request)
    });
    let replies = replies::all().into_iter().map(|reply: Reply| {
        let name = format!("reply.{}", reply.name());
        Sample::Outgoing(
            name,
            Outgoing::Reply { id: RequestId::Number(ID), reply: Ok(reply), warnings: Vec::new() },
        )
    });
    let notifications = notifications::all().into_iter().map(|(case, notification): (_, Notification)| {
        let name = format!("notification.{}{case}", notification.name());
        Sample::Outgoing(name, Outgoing::Notification(notification))
    });
    let errors = ErrorKind::ALL.iter().map(|&kind| {
        let error = Error::new(kind, format!("about {kind:?}: \"quoted\", ünïcode")).about("0198");
        let candidate = |id: &str| Candidate {
            id: id.to_owned(),
            title: format!("title of {id}"),
            status: "thinking".to_owned(),
        };
        let error = match kind {
            ErrorKind::Ambiguous => error.among(["0198a", "0198b"].map(candidate).to_vec()),
            _ => error,
        };
        let name = format!("error.{kind:?}");
        Sample::Outgoing(
            name,
            Outgoing::Reply { id: RequestId::Number(ID), reply: Err(error), warnings: Vec::new() },
        )
    });
    let orphan = Sample::Outgoing(
        "error.of-no-request".to_owned(),
        Outgoing::Error(Error::new(ErrorKind::Parse, "the line is not JSON")),
    );
    requests.chain(replies).chain(notifications).chain(errors).chain([orphan]).collect()
}

/// A `UUIDv7` that is the same in every run.
pub(crate) fn id<T: FromStr<Err: std::fmt::Debug>>(n: u16) -> T {
    format!("0198c0de-0000-7000-8000-00000000{n:04x}").parse().unwrap()
}

pub(crate) const fn at(ms: i64) -> Timestamp {
    Timestamp(1_790_000_000_000 + ms)
}

pub(crate) fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}
