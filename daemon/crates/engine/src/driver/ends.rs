//! Ends that follow from other records: the end of a task ends its sub-tasks, whatever they do. Their
//! attempts are killed before the records are appended, so that nothing of them goes on after a recorded end,
//! and what people were shown of a reply is kept.
//!
//! (What a stop or an expired limit cuts off is known before its records are made; see
//! [`super::State::Killing`].)

use super::{CutOff, Driver, Host, Order, State, appending::Appending};
use crate::decide::{effects::effects, shown::Shown};
use abide_protocol::{
    RecordId, TaskId,
    record::{NewRecord, PartialReply, RecordBody},
};
use std::{collections::BTreeMap, mem};

/// An append that waits until what its records cut off is killed.
#[derive(Debug)]
pub(super) struct Ending<H: Host> {
    appending: Box<Appending<H>>,
    /// The replies that are cut off, and their tasks.
    replies: BTreeMap<RecordId, TaskId>,
}

impl<H: Host> Driver<H> {
    /// The replies of live sub-tasks that are not recorded. (A root's end that follows from other records has
    /// its reply among them.)
    pub(super) fn unrecorded(&self) -> BTreeMap<RecordId, TaskId> {
        let sub_tasks = self.history.live().filter(|task| task.head.parent_id.is_some());
        sub_tasks.filter_map(|task| Some((task.unrecorded_reply()?, task.id))).collect()
    }

    /// Submits an append, once the attempts that its records cut off are killed.
    pub(super) fn submit_after_kill(&mut self, appending: Box<Appending<H>>) {
        let records = &appending.records;
        let ended: Vec<TaskId> =
            records.iter().filter(|record| is_end(record)).filter_map(|record| record.task_id).collect();
        let mut replies = mem::take(&mut self.unrecorded);
        replies.retain(|item, task| ended.contains(task) && records.iter().all(|record| record.id != *item));
        let should_run = effects(&self.history);
        let attempts = self.running.extract_if(.., |effect| !should_run.contains(effect)).collect();
        let cut_off = CutOff { attempts, replies: replies.keys().copied().collect() };
        if cut_off.is_empty() {
            return self.submit(appending);
        }
        self.orders.push_back(Order::Kill(cut_off));
        self.state = State::Ending(Ending { appending, replies });
    }

    /// Submits it with what people were shown of the replies. The history in memory does not need it: the
    /// transcript of a sub-task is dropped at its end.
    pub(super) fn submit_ends(&mut self, ending: Ending<H>, shown: Shown) {
        let Ending { mut appending, replies } = ending;
        for (item, text) in shown.replies.into_iter().filter(|(_, text)| !text.trim().is_empty()) {
            let Some(task) = replies.get(&item) else { continue };
            let mut records = appending.records.iter().enumerate();
            let end = records.find(|(_, record)| record.task_id == Some(*task) && is_end(record));
            let Some((place, at)) = end.map(|(place, record)| (place, record.at)) else { continue };
            // It has the reply's id, so that clients replace the live text by this record.
            let body = RecordBody::PartialReply(PartialReply { text });
            appending.records.insert(place, NewRecord { id: item, task_id: Some(*task), at, body });
        }
        self.submit(appending);
    }
}

const fn is_end(record: &NewRecord) -> bool {
    matches!(record.body, RecordBody::TaskEnded(_))
}
