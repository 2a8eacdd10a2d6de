//! What waits for a person: asked at the terminal, answered by the program itself, or passed on in words.

use super::{Follow, FollowEnd, Who};
use crate::{
    error::CommandError,
    output::{
        pending,
        style::{FAINT, paint},
        text,
    },
    prompt::{ApprovalKey, Edited, Typed},
    verdict::Verdict,
};
use abide_client::protocol::{
    TaskId,
    inbox::{Approval, Decision, Pending, PendingId, Question},
    method::{
        DecideApproval, UserResponse,
        inbox::{DecideApprovalParams, UserResponseParams},
    },
};
use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

/// An open item and the task that waits for it.
pub(super) struct Open {
    task: TaskId,
    pending: Pending,
}

/// What a prompt came to.
enum Heard<T> {
    Typed(T),
    /// Another client was first.
    Withdrawn,
    /// Ctrl-C.
    Interrupted,
}

/// Who dealt with an item that a person was asked about.
enum Asked {
    Here,
    /// Another client was first; what it said is told like any other news.
    Elsewhere,
    /// Nobody: the person leaves.
    Left,
    /// Nobody: Ctrl-C.
    Interrupted,
}

#[derive(Clone, Copy)]
enum Input<'a> {
    Key,
    /// After this label.
    Line(&'a str),
}

enum Keys {
    Key(u8),
    /// `None` for Ctrl-D.
    Line(Option<String>),
}

impl Follow<'_> {
    /// The oldest that is not dealt with.
    pub(super) fn open_item(&self) -> Option<Open> {
        let open = self.view.tasks().filter(|task| !task.status.has_ended()).flat_map(|task| {
            task.pending.iter().map(|pending| Open { task: task.id, pending: pending.clone() })
        });
        open.filter(|open| !self.settled.contains(&open.pending.id()))
            .min_by_key(|open| open.pending.asked_at())
    }

    /// Deals with it; `Some` if that ends the following.
    pub(super) async fn settle(&mut self, open: Open) -> Result<Option<FollowEnd>, CommandError> {
        let id = open.pending.id();
        match (&self.what.who, &open.pending) {
            (Who::Nobody, _) => return Ok(Some(FollowEnd::Waits(Box::new(open.pending)))),
            (Who::Onlooker, pending) => {
                let words = format!("{}  {}", pending::pending(pending), pending::how_to_answer(pending));
                if !self.what.json {
                    self.screen.note(&words)?;
                }
            }
            (Who::Itself, Pending::Question(question)) => {
                let response = question.choices.first().cloned().unwrap_or_else(|| "yes, go on".to_owned());
                self.say(&pending::question(question))?;
                self.say(&format!("no terminal: answering \"{}\" by itself", text::one_line(&response)))?;
                self.respond(open.task, question, Some(response)).await?;
            }
            (Who::Itself, Pending::Approval(approval)) => {
                self.say(&pending::approval(approval))?;
                self.say("no terminal: approving by itself, since this is the demonstration")?;
                self.decide(approval, Decision::AllowOnce, None).await?;
            }
            (Who::Person(_), pending) => {
                let asked = match pending {
                    Pending::Question(question) => self.ask_question(open.task, question).await?,
                    Pending::Approval(approval) => self.ask_approval(approval).await?,
                };
                match asked {
                    Asked::Here => {}
                    Asked::Elsewhere => return Ok(None),
                    Asked::Left => return Ok(Some(self.detached())),
                    Asked::Interrupted => return self.interrupted().await,
                }
            }
        }
        self.settled.insert(id);
        Ok(None)
    }

    fn say(&mut self, words: &str) -> io::Result<()> {
        if self.what.json { Ok(()) } else { self.screen.note(words) }
    }

    async fn ask_question(&mut self, task: TaskId, question: &Question) -> Result<Asked, CommandError> {
        let id = PendingId::Question(question.id);
        self.say(&pending::question(question))?;
        self.mark_read().await;
        let label = if question.choices.is_empty() { "answer" } else { "answer or number" };
        loop {
            let line = match self.hear(id, Input::Line(&format!("{label} (Ctrl-D declines): "))).await? {
                Heard::Interrupted => return Ok(Asked::Interrupted),
                Heard::Withdrawn => return self.withdrawn(),
                Heard::Typed(Keys::Line(line)) => line,
                Heard::Typed(Keys::Key(_)) => continue,
            };
            match line.map(|line| Typed::at(question, &line)) {
                None => {
                    self.screen.note("")?;
                    self.respond(task, question, None).await?;
                    return Ok(Asked::Here);
                }
                Some(Typed::Answer(answer)) => {
                    self.respond(task, question, Some(answer)).await?;
                    return Ok(Asked::Here);
                }
                Some(Typed::Nothing) => {}
                Some(Typed::NotAChoice) => self.say("this question takes one of its answers, or a number")?,
            }
        }
    }

    async fn ask_approval(&mut self, approval: &Approval) -> Result<Asked, CommandError> {
        let id = PendingId::Approval(approval.id);
        self.say(&pending::approval(approval))?;
        self.mark_read().await;
        // What was typed before this was shown is no decision about it.
        if let Who::Person(terminal) = &self.what.who {
            terminal.forget_typed()?;
        }
        self.screen.prompt(ApprovalKey::LABEL)?;
        let key = loop {
            match self.hear(id, Input::Key).await? {
                Heard::Interrupted => return Ok(Asked::Interrupted),
                Heard::Withdrawn => return self.withdrawn(),
                Heard::Typed(Keys::Key(key)) => {
                    if let Some(key) = ApprovalKey::of(key) {
                        break key;
                    }
                }
                Heard::Typed(Keys::Line(_)) => {}
            }
        };
        self.screen.note("")?;
        match key {
            ApprovalKey::Detach => return Ok(Asked::Left),
            ApprovalKey::Once => self.decide(approval, Decision::AllowOnce, None).await?,
            ApprovalKey::Always => self.decide(approval, Decision::AllowAlways, None).await?,
            ApprovalKey::Reject => {
                let note = match self.hear(id, Input::Line("why? (Enter for no reason): ")).await? {
                    Heard::Interrupted => return Ok(Asked::Interrupted),
                    Heard::Withdrawn => return self.withdrawn(),
                    Heard::Typed(Keys::Line(Some(reason))) => Some(reason).filter(|r| !r.trim().is_empty()),
                    Heard::Typed(_) => None,
                };
                self.decide(approval, Decision::RejectOnce, note).await?;
            }
        }
        Ok(Asked::Here)
    }

    /// Waits for what is typed; meanwhile what the daemon tells is folded in, and told when the prompt is gone. An item that is
    /// settled elsewhere is withdrawn, unless the person has begun to write about it: nobody's text is taken away.
    async fn hear(&mut self, id: PendingId, input: Input<'_>) -> Result<Heard<Keys>, CommandError> {
        let Who::Person(terminal) = &self.what.who else { return Ok(Heard::Interrupted) };
        let terminal = *terminal;
        let began = AtomicBool::new(false);
        let typed = async {
            match input {
                Input::Key => terminal.key().await.map(|key| Heard::Typed(Keys::Key(key))),
                Input::Line(label) => Ok(match terminal.edit(label, &began).await? {
                    Edited::Line(line) => Heard::Typed(Keys::Line(Some(line))),
                    Edited::End => Heard::Typed(Keys::Line(None)),
                    Edited::Interrupted => Heard::Interrupted,
                }),
            }
        };
        // The editor shows its label itself.
        self.screen.prompt("")?;
        tokio::pin!(typed);
        loop {
            tokio::select! {
                typed = &mut typed => return Ok(typed?),
                _ = tokio::signal::ctrl_c() => return Ok(Heard::Interrupted),
                update = self.live.next() => self.take(update).await?,
            }
            let is_settled = self.saw_end || self.view.is_deleted() || !self.is_open(id);
            if is_settled && !began.load(Ordering::Relaxed) {
                return Ok(Heard::Withdrawn);
            }
        }
    }

    fn is_open(&self, id: PendingId) -> bool {
        self.view.tasks().any(|task| task.pending.iter().any(|p| p.id() == id))
    }

    fn withdrawn(&mut self) -> Result<Asked, CommandError> {
        if let Who::Person(terminal) = &self.what.who {
            terminal.forget_typed()?;
        }
        self.screen.erase_prompt()?;
        self.say(&paint(FAINT, "settled elsewhere"))?;
        Ok(Asked::Elsewhere)
    }

    async fn respond(
        &mut self,
        task: TaskId,
        question: &Question,
        response: Option<String>,
    ) -> Result<(), CommandError> {
        let params = UserResponseParams {
            task_id: task.to_string(),
            question_id: Some(question.id.to_string()),
            response: response.clone(),
        };
        // Refused because it is over meanwhile: that is no reason to stop following.
        match self.daemon.call_again::<UserResponse>(params).await {
            Ok(reply) => {
                self.say(&paint(FAINT, &Verdict::of_answer(&reply, response.as_deref()).words))?;
            }
            Err(error) => error.show(),
        }
        Ok(())
    }

    async fn decide(
        &mut self,
        approval: &Approval,
        decision: Decision,
        note: Option<String>,
    ) -> Result<(), CommandError> {
        let params = DecideApprovalParams { approval_id: approval.id.to_string(), decision, note };
        match self.daemon.call_again::<DecideApproval>(params).await {
            Ok(reply) => self.say(&paint(FAINT, &Verdict::of_decision(&reply, decision).words))?,
            Err(error) => error.show(),
        }
        Ok(())
    }
}
