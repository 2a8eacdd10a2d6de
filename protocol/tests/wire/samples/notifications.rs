use super::{id, records, things};
use abide_protocol::{
    Seq, SubscriptionId,
    inbox::PendingId,
    notification::{
        ConversationUpdate, DaemonUpdate, DeltaItem, DeltaKind, InboxUpdate, Lagged, MemoryForgotten,
        Notification, TaskDelta, TaskEvent, TaskMessage, TaskUpdate,
    },
    update::UpdateStage,
};

/// Samples, each with a suffix that tells it from others of its name.
pub(super) fn all() -> Vec<(String, Notification)> {
    let subscription_id = SubscriptionId(9);
    let delta = |item, kind| {
        Notification::TaskDelta(TaskDelta {
            subscription_id,
            conversation_id: id(0x11),
            task_id: id(0x21),
            item,
            attempt: 2,
            kind,
            offset: 1_000_000_007,
            text: "a pièce".to_owned(),
        })
    };
    let conversation = |conversation| {
        Notification::ConversationUpdate(ConversationUpdate { conversation_id: id(0x11), conversation })
    };
    let plain = [
        (
            "",
            Notification::TaskMessage(TaskMessage {
                subscription_id,
                seq: Seq(1001),
                message: things::message(),
            }),
        ),
        ("", Notification::TaskUpdate(TaskUpdate { task: things::task().brief() })),
        (
            "",
            Notification::InboxUpdate(InboxUpdate {
                added: things::inbox(),
                removed: vec![PendingId::Question(id(0x52)), PendingId::Approval(id(0x62))],
                count: 4,
            }),
        ),
        ("", conversation(Some(things::conversation()))),
        (".deleted", conversation(None)),
        (".text", delta(DeltaItem::Reply(id(0x33)), DeltaKind::Text)),
        (".reasoning", delta(DeltaItem::Reply(id(0x33)), DeltaKind::Reasoning)),
        (".arguments", delta(DeltaItem::Reply(id(0x33)), DeltaKind::Arguments)),
        (".output", delta(DeltaItem::Call(id(0x43)), DeltaKind::Output)),
        ("", Notification::Lagged(Lagged { subscription_id, resume_from: Seq(999) })),
        (
            "",
            Notification::DaemonUpdate(DaemonUpdate {
                storage_full: true,
                storage_damaged: true,
                shutting_down: false,
                update: Some(UpdateStage::Waiting),
            }),
        ),
        ("", Notification::MemoryForgotten(MemoryForgotten { seq: Seq(77) })),
    ];
    let events = records::all().into_iter().map(|(name, body)| {
        let record = things::record(body);
        (format!(".{name}"), Notification::TaskEvent(TaskEvent { subscription_id, seq: record.seq, record }))
    });
    plain.map(|(case, notification)| (case.to_owned(), notification)).into_iter().chain(events).collect()
}
