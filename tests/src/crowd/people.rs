use super::{Ack, Shared, Way};
use crate::seed::Seed;
use abide_client::{
    AtHome, Live, LiveOptions, Options, Update,
    protocol::{
        ErrorKind,
        inbox::{Decision, InboxItem, Pending, QuestionKind},
        method::{
            self,
            inbox::{DecideApprovalParams, UserResponseParams},
            subscription::Scope,
            task::TaskParams,
        },
        notification::Notification,
        task::{AgentTask, PauseReason, Status},
    },
};
use std::sync::Arc;

/// A person: answers the inbox, sometimes stops a task, and resumes tasks paused by the crash loop.
pub(super) async fn look_after(shared: Arc<Shared>, name: &'static str) {
    let home =
        AtHome { home: shared.ground.home.clone(), options: Options::new("abide-tests", "0"), start: None };
    let mut live = Live::eventually(home, Scope::Overview, None, LiveOptions::default());
    let seed = shared.ground.seed.of(name);
    let mut person = Person { way: Way::to(shared.ground.home.clone()), shared, name, seed };
    loop {
        match live.next().await {
            Update::Snapshot(snapshot) | Update::Reconnected(snapshot) => {
                for item in snapshot.inbox {
                    person.answer(item).await;
                }
                for task in snapshot.tasks {
                    person.look_at(task).await;
                }
            }
            Update::Notification(Notification::InboxUpdate(update)) => {
                for item in update.added {
                    person.answer(item).await;
                }
            }
            Update::Notification(Notification::TaskUpdate(update)) => person.look_at(update.task).await,
            Update::Ended { reason } => panic!("{name}'s overview ended: {reason}"),
            Update::Notification(_) | Update::Disconnected { .. } => {}
        }
    }
}

struct Person {
    way: Way,
    shared: Arc<Shared>,
    name: &'static str,
    seed: Seed,
}

impl Person {
    async fn answer(&mut self, item: InboxItem) {
        match item.pending {
            Pending::Question(question) => {
                let said = match question.kind {
                    QuestionKind::Agent => format!("says {}", self.name),
                    QuestionKind::Interrupted => "let the agent look".to_owned(),
                    _ => "go on".to_owned(),
                };
                let params = UserResponseParams {
                    task_id: item.task_id.to_string(),
                    question_id: Some(question.id.to_string()),
                    response: Some(said.clone()),
                };
                match self.way.ask::<method::UserResponse>(params).await {
                    Ok(reply) => self.shared.acknowledged(Ack::Answered {
                        question: question.id,
                        said: Some(said),
                        won: reply.won,
                        counts: reply.response,
                    }),
                    Err(e) => self.may_be_late(&e),
                }
            }
            Pending::Approval(approval) => {
                let said =
                    if self.seed.in_a_hundred(85) { Decision::AllowOnce } else { Decision::RejectOnce };
                let params = DecideApprovalParams {
                    approval_id: approval.id.to_string(),
                    decision: said,
                    note: None,
                    rule: None,
                };
                match self.way.ask::<method::DecideApproval>(params).await {
                    Ok(reply) => self.shared.acknowledged(Ack::Decided {
                        approval: approval.id,
                        said,
                        won: reply.won,
                        counts: reply.decision,
                    }),
                    Err(e) => self.may_be_late(&e),
                }
            }
        }
    }

    async fn look_at(&mut self, task: AgentTask) {
        let params = TaskParams { task_id: task.id.to_string() };
        if task.status == Status::Paused && task.pause_reason == Some(PauseReason::CrashLoop) {
            if let Err(e) = self.way.ask::<method::ResumeTask>(params).await {
                self.may_be_late(&e);
            }
        } else if !task.status.has_ended() && self.seed.below(1000) < 3 {
            match self.way.ask::<method::StopTask>(params).await {
                Ok(_) => self.shared.acknowledged(Ack::Stopped(task.id)),
                Err(e) => self.may_be_late(&e),
            }
        }
    }

    /// Accepts errors that mean the task has ended meanwhile or the daemon is going down.
    fn may_be_late(&mut self, error: &abide_client::CallError) {
        let kind = error.daemon().map(abide_client::protocol::Error::kind);
        assert!(
            matches!(kind, Some(ErrorKind::IllegalState | ErrorKind::NotFound | ErrorKind::ShuttingDown)),
            "{} is refused: {error}",
            self.name
        );
    }
}
