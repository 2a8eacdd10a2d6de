//! Handles open questions and approvals: asks the person, answers by itself in the demonstration, or prints
//! how to answer.

use super::{Answerer, Follow, FollowEnd};
use crate::{
    error::CommandError,
    output::{
        pending::{self, Screenful},
        style::{FAINT, paint},
        text,
    },
    prompt::{ApprovalKey, Draft, Edited, Takes, Typed, program},
    verdict::Verdict,
};
use abide_client::protocol::{
    TaskId,
    inbox::{Approval, Decision, Pending, PendingId, Question, QuestionKind},
    method::{
        DecideApproval, UserResponse,
        inbox::{DecideApprovalParams, UserResponseParams},
    },
    task::AgentTask,
};
use std::{io, time::Duration};
use tokio::time::{sleep, timeout};

/// An open item and the task that waits for it.
pub(super) struct Open {
    task: TaskId,
    pending: Pending,
}

/// The result of a prompt.
enum PromptResult<T> {
    Typed(T),
    /// The item is no longer open: another client answered first, or its task ended. With what was typed
    /// until then.
    Withdrawn(String),
    /// Ctrl-C.
    Interrupted,
}

/// How long no key must have come before a prompt takes keys: as long as a card in the window must have stood
/// still.
const QUIET: Duration = Duration::from_millis(600);
/// After this time an editor is called off again that did not listen yet, and so often.
const CALL_OFF_AGAIN: Duration = Duration::from_millis(50);
const CALL_OFF_ATTEMPTS: u32 = 20;

/// How the prompt for an item ended.
enum PromptEnd {
    Answered,
    /// The item is no longer open; the change that closed it is printed like others.
    Withdrawn,
    /// The person detached without answering.
    Detached,
    /// Ctrl-C, without an answer.
    Interrupted,
}

/// What an approval by "always" shall remember.
enum Remembered {
    /// The very call.
    This,
    /// The text of a rule that matches others, too.
    Wider(String),
    /// Nothing: the approval is not decided yet.
    Nothing,
    End(PromptEnd),
}

#[derive(Clone, Copy)]
enum Input<'a> {
    Key,
    /// A line, after this label.
    Line(&'a str),
}

/// What the person typed.
enum Keys {
    Key(u8),
    /// `None` for Ctrl-D.
    Line(Option<String>),
}

impl Follow<'_> {
    /// The oldest open item that was not answered here.
    pub(super) fn open_item(&self) -> Option<Open> {
        let is_followed =
            |task: &&AgentTask| self.target.task.is_none_or(|top| self.view.is_within(task.id, top));
        let live = self.view.tasks().filter(|task| !task.status.has_ended()).filter(is_followed);
        let open = live.flat_map(|task| {
            task.pending.iter().map(|pending| Open { task: task.id, pending: pending.clone() })
        });
        // A sub-task asks while its parent may be speaking: the sentence is printed whole first.
        let interrupts = |open: &Open| {
            self.printer.is_amid_reply() && self.target.task.is_some_and(|top| open.task != top)
        };
        open.filter(|open| !self.settled.contains(&open.pending.id()) && !interrupts(open))
            .min_by_key(|open| open.pending.asked_at())
    }

    /// Handles an open item. `Some` if the following ends with it.
    pub(super) async fn settle(&mut self, open: Open) -> Result<Option<FollowEnd>, CommandError> {
        let id = open.pending.id();
        if !matches!(self.target.answerer, Answerer::Nobody) {
            self.name_sub_task(open.task)?;
        }
        match (&self.target.answerer, &open.pending) {
            // It goes on by itself.
            (Answerer::Nobody, Pending::Question(question)) if question.kind == QuestionKind::Parked => {
                self.say(&pending::question(question))?;
            }
            (Answerer::Nobody, _) => return Ok(Some(FollowEnd::Waits(Box::new(open.pending)))),
            (Answerer::Onlooker, pending) => {
                let item = pending::pending(pending, self.screen.width());
                let words = format!("{item}  {}", pending::how_to_answer(pending));
                if !self.target.json {
                    self.screen.note(&words)?;
                }
            }
            (Answerer::Itself, Pending::Question(question)) => {
                let response = question.choices.first().cloned().unwrap_or_else(|| "the world".to_owned());
                self.say(&pending::question(question))?;
                self.say(&format!("no terminal: answering \"{}\" by itself", text::one_line(&response)))?;
                self.respond(open.task, question, Some(response)).await?;
            }
            (Answerer::Itself, Pending::Approval(approval)) => {
                self.show(approval)?;
                self.say("no terminal: approving by itself, since this is the demonstration")?;
                self.decide(approval, Decision::AllowOnce, None, None).await?;
            }
            (Answerer::Person(_), pending) => {
                let asked = match pending {
                    Pending::Question(question) => self.ask_question(open.task, question).await?,
                    Pending::Approval(approval) => self.ask_approval(approval).await?,
                };
                match asked {
                    PromptEnd::Answered => {}
                    PromptEnd::Withdrawn => return Ok(None),
                    PromptEnd::Detached => return Ok(Some(self.detached())),
                    PromptEnd::Interrupted => return self.interrupted().await,
                }
            }
        }
        self.settled.insert(id);
        Ok(None)
    }

    /// Says which sub-task asks, if it is not the followed task itself.
    fn name_sub_task(&mut self, id: TaskId) -> io::Result<()> {
        let asks = self.view.task(id).filter(|task| task.parent_id.is_some() && Some(id) != self.target.task);
        let words = asks.map(|task| format!("sub-task {} ({}):", id.short(), text::one_line(&task.title)));
        words.map_or(Ok(()), |words| self.say(&paint(FAINT, &words)))
    }

    pub(crate) fn say(&mut self, words: &str) -> io::Result<()> {
        if self.target.json { Ok(()) } else { self.screen.prose(words) }
    }

    /// Commands and diffs are printed as they are: the person decides about exactly this. On a terminal it is
    /// at most a screen; `false`: not all is shown.
    fn show(&mut self, approval: &Approval) -> io::Result<bool> {
        let Some(size) = self.screen.size() else {
            self.show_all(approval)?;
            return Ok(true);
        };
        let Screenful { words, is_whole } = pending::screenful(approval, size);
        if !self.target.json {
            self.screen.note(&words)?;
        }
        Ok(is_whole)
    }

    fn show_all(&mut self, approval: &Approval) -> io::Result<()> {
        if self.target.json {
            return Ok(());
        }
        self.screen.note(&pending::exactly(approval, self.screen.width()))?;
        self.screen.prose(&pending::remembering(approval))
    }

    /// Shows all of it in the person's pager; where there is none, here.
    async fn view(&mut self, approval: &Approval) -> Result<(), CommandError> {
        let whole = pending::whole(approval);
        if !self.during(program::view(&whole)).await? {
            self.show_all(approval)?;
        }
        Ok(())
    }

    async fn ask_question(&mut self, task: TaskId, question: &Question) -> Result<PromptEnd, CommandError> {
        let id = PendingId::Question(question.id);
        self.say(&pending::question(question))?;
        self.mark_read().await;
        if let Some(end) = self.settle_keys(id).await? {
            return Ok(end);
        }
        let label = if question.choices.is_empty() { "answer" } else { "answer or number" };
        loop {
            let line = match self.read_input(id, Input::Line(&format!("{label} (Ctrl-D declines): "))).await?
            {
                PromptResult::Interrupted => return self.left(),
                PromptResult::Withdrawn(typed) => return self.withdrawn(&typed),
                PromptResult::Typed(Keys::Line(line)) => line,
                PromptResult::Typed(Keys::Key(_)) => continue,
            };
            match line.map(|line| Typed::at(question, &line)) {
                None => {
                    self.screen.note("")?;
                    self.respond(task, question, None).await?;
                    return Ok(PromptEnd::Answered);
                }
                Some(Typed::Answer(answer)) => {
                    self.respond(task, question, Some(answer)).await?;
                    return Ok(PromptEnd::Answered);
                }
                Some(Typed::Nothing) => {}
                Some(Typed::NoSuchNumber) => self.say("no choice has this number")?,
                Some(Typed::NotAChoice) => self.say("this question takes one of its answers, or a number")?,
            }
        }
    }

    async fn ask_approval(&mut self, approval: &Approval) -> Result<PromptEnd, CommandError> {
        let id = PendingId::Approval(approval.id);
        let mut takes = Takes::at(approval.risk, self.show(approval)?);
        self.mark_read().await;
        if let Some(end) = self.settle_keys(id).await? {
            return Ok(end);
        }
        loop {
            let key = match self.read_approval_key(approval, takes).await? {
                PromptResult::Interrupted => return self.left(),
                PromptResult::Withdrawn(typed) => return self.withdrawn(&typed),
                PromptResult::Typed(key) => key,
            };
            match key {
                ApprovalKey::Detach => return Ok(PromptEnd::Detached),
                ApprovalKey::View => {
                    self.view(approval).await?;
                    takes = Takes::at(approval.risk, true);
                    continue;
                }
                ApprovalKey::Once => self.decide(approval, Decision::AllowOnce, None, None).await?,
                ApprovalKey::ForTask if approval.for_task => match self.ask_for_task(id).await? {
                    Remembered::End(end) => return Ok(end),
                    Remembered::This => self.decide(approval, Decision::AllowForTask, None, None).await?,
                    Remembered::Nothing | Remembered::Wider(_) => continue,
                },
                ApprovalKey::ForTask => {
                    self.say("this call does not ask only because what it does could not be undone")?;
                    continue;
                }
                ApprovalKey::Always if approval.only_once.is_some() => {
                    self.say(&pending::remembering(approval))?;
                    continue;
                }
                ApprovalKey::Always => match self.ask_rule(approval).await? {
                    Remembered::Nothing => continue,
                    Remembered::End(end) => return Ok(end),
                    Remembered::This => self.decide(approval, Decision::AllowAlways, None, None).await?,
                    Remembered::Wider(rule) => {
                        self.decide(approval, Decision::AllowAlways, None, Some(rule)).await?;
                    }
                },
                ApprovalKey::Reject => {
                    let note = match self.read_input(id, Input::Line("why? (Enter for no reason): ")).await? {
                        PromptResult::Interrupted => return self.left(),
                        PromptResult::Withdrawn(typed) => return self.withdrawn(&typed),
                        PromptResult::Typed(Keys::Line(Some(reason))) => {
                            Some(reason).filter(|r| !r.trim().is_empty())
                        }
                        PromptResult::Typed(_) => None,
                    };
                    self.decide(approval, Decision::RejectOnce, note, None).await?;
                }
            }
            return Ok(PromptEnd::Answered);
        }
    }

    /// Reads until something is typed that means a decision.
    async fn read_approval_key(
        &mut self,
        approval: &Approval,
        takes: Takes,
    ) -> Result<PromptResult<ApprovalKey>, CommandError> {
        let label = takes.label(approval);
        let input = if takes == Takes::Key { Input::Key } else { Input::Line(&label) };
        if takes == Takes::Key {
            self.screen.prompt(&label)?;
        }
        let key = loop {
            let meaning = match self.read_input(PendingId::Approval(approval.id), input).await? {
                PromptResult::Interrupted => return Ok(PromptResult::Interrupted),
                PromptResult::Withdrawn(typed) => return Ok(PromptResult::Withdrawn(typed)),
                PromptResult::Typed(Keys::Key(key)) => ApprovalKey::of(key),
                PromptResult::Typed(Keys::Line(None)) => Some(ApprovalKey::Detach),
                PromptResult::Typed(Keys::Line(Some(line))) => {
                    let meaning = takes.of_line(&line);
                    if meaning.is_none() && !line.trim().is_empty() {
                        self.say(takes.refusal())?;
                    }
                    self.forget_typed()?;
                    meaning
                }
            };
            if let Some(key) = meaning {
                break key;
            }
        };
        if takes == Takes::Key {
            self.screen.note("")?;
        }
        Ok(PromptResult::Typed(key))
    }

    /// Whether the person means the whole task: a slip of one key allows only once.
    async fn ask_for_task(&mut self, id: PendingId) -> Result<Remembered, CommandError> {
        loop {
            let label = "allow it for this task? (Enter: yes, n: back) ";
            let line = match self.read_input(id, Input::Line(label)).await? {
                PromptResult::Interrupted => return Ok(Remembered::End(self.left()?)),
                PromptResult::Withdrawn(typed) => return Ok(Remembered::End(self.withdrawn(&typed)?)),
                PromptResult::Typed(Keys::Line(Some(line))) => line,
                PromptResult::Typed(_) => return Ok(Remembered::End(PromptEnd::Detached)),
            };
            match &*line.trim().to_ascii_lowercase() {
                "" | "y" | "yes" => return Ok(Remembered::This),
                "n" | "no" => return Ok(Remembered::Nothing),
                _ => self.say("press Enter to allow it for this task; n decides nothing yet")?,
            }
        }
    }

    /// What "always" remembers. It asks also if the approval offers no other rule: one key alone, perhaps
    /// under Caps Lock, remembers nothing.
    async fn ask_rule(&mut self, approval: &Approval) -> Result<Remembered, CommandError> {
        let label = if approval.wider.is_empty() {
            "remember exactly this? (Enter: yes, n: back) "
        } else {
            "remember which? (Enter: exactly this, n: back) "
        };
        let id = PendingId::Approval(approval.id);
        loop {
            let line = match self.read_input(id, Input::Line(label)).await? {
                PromptResult::Interrupted => return Ok(Remembered::End(self.left()?)),
                PromptResult::Withdrawn(typed) => return Ok(Remembered::End(self.withdrawn(&typed)?)),
                PromptResult::Typed(Keys::Line(Some(line))) => line,
                PromptResult::Typed(_) => return Ok(Remembered::End(PromptEnd::Detached)),
            };
            let line = line.trim();
            match &*line.to_ascii_lowercase() {
                "" | "y" | "yes" => return Ok(Remembered::This),
                "n" | "no" => return Ok(Remembered::Nothing),
                _ => {}
            }
            let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            if let Some(wider) = number.and_then(|number| approval.wider.get(number)) {
                return Ok(Remembered::Wider(wider.text.clone()));
            }
            self.say(if approval.wider.is_empty() {
                "press Enter to remember exactly this; n decides nothing yet"
            } else {
                "type the number of a rule, or press Enter for exactly this"
            })?;
        }
    }

    /// Waits until the person has stopped typing, since those keys were not meant for the item, and says what
    /// they were. `Some` if the prompt ends with that.
    async fn settle_keys(&mut self, id: PendingId) -> Result<Option<PromptEnd>, CommandError> {
        let Answerer::Person(terminal) = self.target.answerer else {
            return Ok(Some(PromptEnd::Interrupted));
        };
        let typed = async { terminal.settle(QUIET).await.map(PromptResult::Typed) };
        let typed = match self.wait_for(id, &Draft::default(), typed).await? {
            PromptResult::Typed(typed) => typed,
            PromptResult::Withdrawn(typed) => return self.withdrawn(&typed).map(Some),
            PromptResult::Interrupted => return self.left().map(Some),
        };
        // Enter is a carriage return there.
        let typed = text::one_line(&String::from_utf8_lossy(&typed).replace('\r', "\n"));
        if !typed.is_empty() {
            self.say(&paint(FAINT, &format!("typed before the prompt was ready, and not used: {typed}")))?;
        }
        Ok(None)
    }

    async fn read_input(
        &mut self,
        id: PendingId,
        input: Input<'_>,
    ) -> Result<PromptResult<Keys>, CommandError> {
        let Answerer::Person(terminal) = self.target.answerer else { return Ok(PromptResult::Interrupted) };
        let draft = Draft::default();
        let typed = async {
            match input {
                Input::Key => terminal.key().await.map(|key| PromptResult::Typed(Keys::Key(key))),
                Input::Line(label) => Ok(match terminal.edit(label, &draft).await? {
                    Edited::Line(line) => PromptResult::Typed(Keys::Line(Some(line))),
                    Edited::End => PromptResult::Typed(Keys::Line(None)),
                    Edited::Interrupted => PromptResult::Interrupted,
                }),
            }
        };
        // The editor shows its label itself.
        self.screen.prompt("")?;
        let typed = self.wait_for(id, &draft, typed).await?;
        // The editor leaves the cursor behind its label.
        if matches!((&typed, input), (PromptResult::Interrupted, Input::Line(_))) {
            self.screen.note("")?;
        }
        Ok(typed)
    }

    /// Waits for what is typed. Updates that come meanwhile are folded into the view and printed after the
    /// prompt. If the item is no longer open, the prompt is withdrawn, and what was typed in it is returned.
    async fn wait_for<T>(
        &mut self,
        id: PendingId,
        draft: &Draft,
        typed: impl Future<Output = io::Result<PromptResult<T>>>,
    ) -> Result<PromptResult<T>, CommandError> {
        tokio::pin!(typed);
        loop {
            tokio::select! {
                typed = &mut typed => return Ok(typed?),
                _ = tokio::signal::ctrl_c() => return Ok(PromptResult::Interrupted),
                update = self.live.next() => self.apply(update).await?,
            }
            if self.saw_end || self.view.is_deleted() || !self.is_open(id) {
                break;
            }
        }
        let Answerer::Person(terminal) = self.target.answerer else {
            return Ok(PromptResult::Withdrawn(String::new()));
        };
        let mut attempts = 0;
        while draft.has_begun() {
            // It is called off only if it has not ended by itself, since the signal would be taken for a
            // Ctrl-C of the person.
            let wait = if attempts == 0 { Duration::ZERO } else { CALL_OFF_AGAIN };
            match timeout(wait, &mut typed).await {
                Ok(Ok(PromptResult::Interrupted)) if attempts == 0 => return Ok(PromptResult::Interrupted),
                Ok(ended) => {
                    ended?;
                    break;
                }
                Err(_) if attempts < CALL_OFF_ATTEMPTS => {
                    terminal.call_off()?;
                    attempts += 1;
                }
                Err(_) => {
                    self.say("settled elsewhere; press Enter to go on")?;
                    typed.await?;
                    break;
                }
            }
        }
        if attempts > 0 {
            // A signal that came too late for the editor is over before anybody listens for Ctrl-C again.
            sleep(CALL_OFF_AGAIN).await;
        }
        Ok(PromptResult::Withdrawn(draft.text()))
    }

    /// What was typed before a prompt is shown decides nothing at it.
    fn forget_typed(&self) -> Result<(), CommandError> {
        match &self.target.answerer {
            Answerer::Person(terminal) => Ok(terminal.forget_typed()?),
            Answerer::Itself | Answerer::Nobody | Answerer::Onlooker => Ok(()),
        }
    }

    fn is_open(&self, id: PendingId) -> bool {
        self.view.tasks().any(|task| task.pending.iter().any(|p| p.id() == id))
    }

    /// Ctrl-C leaves the cursor behind the prompt.
    fn left(&mut self) -> Result<PromptEnd, CommandError> {
        self.screen.note("")?;
        Ok(PromptEnd::Interrupted)
    }

    fn withdrawn(&mut self, typed: &str) -> Result<PromptEnd, CommandError> {
        self.forget_typed()?;
        self.screen.erase_prompt()?;
        let typed = text::one_line(typed);
        let words = match typed.trim() {
            "" => "settled elsewhere".to_owned(),
            typed => format!("settled elsewhere; not sent: {typed}"),
        };
        self.say(&paint(FAINT, &words))?;
        Ok(PromptEnd::Withdrawn)
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
        // A refusal, for example because the question was answered meanwhile, does not end the following.
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
        rule: Option<String>,
    ) -> Result<(), CommandError> {
        let params = DecideApprovalParams { approval_id: approval.id.to_string(), decision, note, rule };
        match self.daemon.call_again::<DecideApproval>(params).await {
            Ok(reply) => self.say(&paint(FAINT, &Verdict::of_decision(&reply, decision, None).words))?,
            Err(error) => error.show(),
        }
        Ok(())
    }
}
