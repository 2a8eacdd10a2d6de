//! Every message has a sample, and so a golden file.

use crate::{
    golden,
    samples::{self, Sample},
};
use abide_protocol::{
    ErrorKind,
    checkpoint::{ChangeKind, CheckpointState, UndoFrom, UndoResult},
    codec::Outgoing,
    event::{Event, EventKind},
    inbox::{Decision, Pending, PendingId, QuestionKind},
    memory::{MemoryUse, Reason, RecallWay, Source},
    message::{CallOutcome, Message, MessageKind, Role},
    method::{
        Request,
        config::{ModelChoice, ProviderChange},
        daemon::CutWork,
        http::TokenAccess,
        subscription::Scope,
        task::{FileChange, ImportRole},
    },
    notification::{DeltaItem, DeltaKind, Notification},
    provider::KeyState,
    record::{Imported, ModelErrorKind, NoticeKind, Permission, RecordBody, Via},
    start::{AtLogin, StartedBy},
    task::{Approvals, CallState, EndReason, Incomplete, Mode, PauseReason, Phase, RestartPolicy, Status},
    transcript::{Block, EffectClass, Risk, StopReason, Tier},
    update::UpdateStage,
};
use std::collections::BTreeSet;
use strum::VariantNames;

/// The names of an enum's variants on the wire.
fn variants<T: VariantNames>() -> BTreeSet<String> {
    set(T::VARIANTS)
}

/// The rest of the name of each golden file that begins with `prefix`.
fn samples_of(prefix: &str) -> BTreeSet<String> {
    let name = |sample| match sample {
        Sample::Request(name, _) | Sample::Outgoing(name, _) => name,
    };
    samples::all().into_iter().map(name).filter_map(|n| n.strip_prefix(prefix).map(str::to_owned)).collect()
}

fn first_words(names: BTreeSet<String>) -> BTreeSet<String> {
    names.into_iter().map(|name| name.split('.').next().unwrap_or_default().to_owned()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn every_method_has_a_request_and_a_reply() {
    assert_eq!(first_words(samples_of("request.")), set(Request::NAMES));
    assert_eq!(samples_of("reply."), set(Request::NAMES));
}

#[test]
fn every_notification_record_and_delta_is_there() {
    assert_eq!(first_words(samples_of("notification.")), set(Notification::NAMES));
    assert_eq!(samples_of("notification.taskEvent."), variants::<RecordBody>());
    assert_eq!(samples_of("notification.taskDelta."), variants::<DeltaKind>());
}

/// Readers look for messages and events by the kind of their records: none may be missing or listed twice.
#[test]
fn messages_and_events_come_from_the_kinds_listed_in_records() {
    let (mut messages, mut events) = (BTreeSet::new(), BTreeSet::new());
    for (kind, mut body) in samples::records() {
        if let RecordBody::ModelRequested(requested) = &mut body {
            // A request after the first attempt, or of a phase, is no event.
            (requested.attempt, requested.phase) = (1, None);
        }
        let record = samples::record(body);
        match (record.message(), Event::of(&record)) {
            (Some(_), None) => messages.insert(kind.to_owned()),
            (None, Some(_)) => events.insert(kind.to_owned()),
            (message, event) => {
                assert_eq!((message, event), (None, None), "{kind}");
                false
            }
        };
    }
    assert_eq!((messages, events), (set(Message::RECORDS), set(Event::RECORDS)));
}

#[test]
fn every_error_kind_is_there_with_a_code_of_its_own() {
    let codes: BTreeSet<i32> = ErrorKind::ALL.iter().map(|kind| kind.code()).collect();
    assert_eq!(codes.len(), ErrorKind::ALL.len());
    assert!(codes.iter().all(|code| (-32768..=-32000).contains(code)));
}

#[test]
fn kinds_are_unique_and_methods_are_not_notifications() {
    let mut kinds = BTreeSet::new();
    let mut names = BTreeSet::new();
    for sample in samples::all() {
        match sample {
            Sample::Request(_, request) => {
                if names.insert(request.name()) {
                    assert!(kinds.insert(request.kind()), "{}", request.name());
                }
            }
            Sample::Outgoing(_, Outgoing::Notification(notification)) => {
                if names.insert(notification.name()) {
                    assert!(kinds.insert(notification.kind()), "{}", notification.name());
                }
            }
            Sample::Outgoing(..) => {}
        }
    }
    assert_eq!(kinds.len(), Request::NAMES.len() + Notification::NAMES.len());
}

macro_rules! list_enums {
    ($($name:ident)*) => {
        [$((stringify!($name), <$name as VariantNames>::VARIANTS),)*]
    };
}

/// bincode writes a variant as its position: appending is safe, any other change gives old bytes another
/// meaning.
#[test]
fn variants_keep_their_positions() {
    let enums = list_enums![
        Approvals AtLogin Block CallOutcome CallState ChangeKind CheckpointState CutWork Decision DeltaItem DeltaKind EffectClass EndReason ErrorKind EventKind FileChange Imported ImportRole Incomplete KeyState MemoryUse MessageKind
        Mode ModelChoice ModelErrorKind NoticeKind PauseReason Pending PendingId Permission Phase ProviderChange QuestionKind Reason RecallWay RecordBody RestartPolicy
        Risk Role Scope Source StartedBy Status StopReason Tier TokenAccess UndoFrom UndoResult UpdateStage Via
    ];
    let now: String =
        enums.iter().map(|(name, variants)| format!("{name}: {}\n", variants.join(" "))).collect();
    assert_eq!(now, golden::golden(golden::ENUMS, &now), "the wire has changed: {}", golden::ENUMS);
}
