//! A scripted model, a daemon that uses it, and a client of the daemon.

use crate::{
    daemon::{Config, TestDaemon},
    model_server::{ModelServer, Script},
    wait,
    watcher::Watcher,
    witness::Witness,
};
use abide_client::{
    Client,
    protocol::{
        ConversationId,
        inbox::{Decision, InboxItem, Pending},
        message::{CallView, Message},
        method::{
            self,
            conversation::ListMessagesParams,
            inbox::{DecideApprovalParams, InboxParams, UserResponseParams},
            subscription::Scope,
            task::{GetTaskReply, ListTasksParams, StartTaskParams, StartTaskReply, TaskParams},
        },
        task::{AgentTask, Approvals, Mode, Status},
    },
};
use std::{cmp::Reverse, path::Path};

/// The three of them.
pub struct World {
    pub client: Client,
    pub daemon: TestDaemon,
    pub model: ModelServer,
}

impl World {
    pub async fn start() -> Self {
        let model = ModelServer::start().await;
        let config = Config::with(&model);
        Self::configured(model, &config).await
    }

    /// With this configuration.
    pub async fn configured(model: ModelServer, config: &Config) -> Self {
        Self::of(model, TestDaemon::new(config)).await
    }

    /// With all folders beneath this one, see [`TestDaemon::beneath`], and with the policy that people have
    /// by default.
    pub async fn beneath(place: &Path) -> Self {
        let model = ModelServer::start().await;
        let config = Config::with(&model).policy("");
        Self::of(model, TestDaemon::beneath(place, &config)).await
    }

    /// With a daemon that is not started yet.
    pub async fn of(model: ModelServer, mut daemon: TestDaemon) -> Self {
        daemon.up().await;
        let client = daemon.client().await;
        Self { client, daemon, model }
    }

    /// Tasks wait this many ms between steps.
    pub async fn with_step_delay(ms: u64) -> Self {
        let model = ModelServer::start().await;
        let config = Config::with(&model).task(&format!("step_delay_ms = {ms}"));
        Self::configured(model, &config).await
    }

    /// Kills the daemon with SIGKILL, starts another and connects again.
    pub async fn crash_and_restart(&mut self) {
        self.daemon.crash_and_restart().await;
        self.client = self.daemon.client().await;
    }

    /// A task's parameters: mode `agent`, every call allowed, in the test's workspace; the model answers by
    /// the script of `key`.
    #[must_use]
    pub fn task(&self, key: &str) -> StartTaskParams {
        StartTaskParams {
            message: format!("[k:{key}] Do what the script says."),
            mode: Some(Mode::Agent),
            workspace: Some(self.daemon.workspace().display().to_string()),
            approvals: Approvals::Allow,
            environment: self.daemon.variables(),
            ..StartTaskParams::default()
        }
    }

    /// Starts a task.
    ///
    /// # Panics
    /// The daemon refuses it.
    pub async fn begin(&self, params: StartTaskParams) -> StartTaskReply {
        self.client.call::<method::StartTask>(params).await.expect("the task starts")
    }

    /// [`Self::begin`] with this script, and the usual parameters.
    pub async fn run(&self, key: &str, script: impl Into<Script>) -> StartTaskReply {
        self.model.script(key, script);
        self.begin(self.task(key)).await
    }

    /// [`Self::run`], but calls that need approval ask.
    pub async fn run_asking(&self, key: &str, script: impl Into<Script>) -> StartTaskReply {
        self.model.script(key, script);
        self.begin(StartTaskParams { approvals: Approvals::Ask, ..self.task(key) }).await
    }

    /// Waits until another client has started a task with this prompt; returns the newest one.
    ///
    /// # Panics
    /// No client does in time.
    pub async fn begun(&self, prompt: &str) -> StartTaskReply {
        wait::wait_for(&format!("a task that says {prompt:?}"), async || {
            let all = ListTasksParams { all: true, limit: Some(1000), ..ListTasksParams::default() };
            let mut tasks = self.client.call::<method::ListTasks>(all).await.expect("the tasks").tasks;
            tasks.sort_by_key(|task| Reverse(task.id));
            for task in tasks {
                let reply =
                    StartTaskReply { task_id: task.id, conversation_id: task.conversation_id, beside: None };
                if self.get(reply).await.task.original_prompt == prompt {
                    return Some(reply);
                }
            }
            None
        })
        .await
    }

    /// The task with its calls.
    ///
    /// # Panics
    /// There is no such task.
    pub async fn get(&self, task: StartTaskReply) -> GetTaskReply {
        self.client.call::<method::GetTask>(named(task).into()).await.expect("the task is there")
    }

    /// Waits until the task satisfies `is_so`.
    ///
    /// # Panics
    /// It is not in time.
    pub async fn wait(
        &self,
        what: &str,
        task: StartTaskReply,
        is_so: impl Fn(&AgentTask) -> bool,
    ) -> AgentTask {
        let mut watcher = self.watch(task).await;
        wait::within(what, async {
            loop {
                let now = self.get(task).await.task;
                if is_so(&now) {
                    return now;
                }
                assert!(!now.status.has_ended(), "{what}: the task ended before: {now:?}");
                watcher.next().await;
            }
        })
        .await
    }

    /// Waits until the task has this status.
    pub async fn wait_status(&self, task: StartTaskReply, status: Status) -> AgentTask {
        self.wait(&format!("a task that is {}", status.name()), task, |t| t.status == status).await
    }

    /// Waits until the task has ended.
    pub async fn wait_end(&self, task: StartTaskReply) -> AgentTask {
        self.wait("a task to end", task, |t| t.status.has_ended()).await
    }

    /// Watches the task's conversation.
    pub async fn watch(&self, task: StartTaskReply) -> Watcher {
        Watcher::open(&self.daemon, Scope::Conversation(task.conversation_id), None).await
    }

    /// # Panics
    /// The daemon refuses it.
    pub async fn stop(&self, task: StartTaskReply) -> AgentTask {
        self.client.call::<method::StopTask>(named(task)).await.expect("a stop is legal").task
    }

    /// # Panics
    /// The daemon refuses it.
    pub async fn pause(&self, task: StartTaskReply) -> AgentTask {
        self.client.call::<method::PauseTask>(named(task)).await.expect("a pause is legal").task
    }

    /// # Panics
    /// The daemon refuses it.
    pub async fn resume(&self, task: StartTaskReply) -> AgentTask {
        self.client.call::<method::ResumeTask>(named(task)).await.expect("a resume is legal").task
    }

    /// Answers the task's one open question; returns whether this answer was the first.
    ///
    /// # Panics
    /// The daemon refuses it.
    pub async fn answer(&self, task: StartTaskReply, response: Option<&str>) -> bool {
        let params = UserResponseParams {
            task_id: task.task_id.to_string(),
            question_id: None,
            response: response.map(str::to_owned),
        };
        self.client.call::<method::UserResponse>(params).await.expect("the question is open").won
    }

    /// Decides the task's one open approval; returns whether this decision was the first.
    ///
    /// # Panics
    /// The daemon refuses it.
    pub async fn decide(&self, task: StartTaskReply, decision: Decision) -> bool {
        let params =
            DecideApprovalParams { approval_id: task.task_id.to_string(), decision, note: None, rule: None };
        self.client.call::<method::DecideApproval>(params).await.expect("the approval is open").won
    }

    /// What waits for a person, of all tasks.
    ///
    /// # Panics
    /// The daemon does not say.
    pub async fn inbox(&self) -> Vec<InboxItem> {
        self.client.call::<method::Inbox>(InboxParams::default()).await.expect("the inbox").items
    }

    /// The open items of the task.
    pub async fn pending(&self, task: StartTaskReply) -> Vec<Pending> {
        self.get(task).await.task.pending
    }

    /// The last messages of a conversation, and the calls among them.
    ///
    /// # Panics
    /// There is no such conversation.
    pub async fn messages(&self, conversation: ConversationId) -> (Vec<Message>, Vec<CallView>) {
        let params = ListMessagesParams {
            conversation_id: conversation.to_string(),
            task_id: None,
            before: None,
            after: None,
            limit: Some(1000),
        };
        let reply = self.client.call::<method::ListMessages>(params).await.expect("the messages");
        (reply.messages, reply.calls)
    }

    /// The texts of a conversation's messages.
    pub async fn texts(&self, conversation: ConversationId) -> Vec<String> {
        self.messages(conversation).await.0.into_iter().map(|m| m.text).collect()
    }

    /// A witness in the workspace.
    #[must_use]
    pub fn witness(&self) -> Witness {
        Witness::at(self.daemon.workspace().join("witness"))
    }
}

/// The task as a method's parameter.
#[must_use]
pub fn named(task: StartTaskReply) -> TaskParams {
    TaskParams { task_id: task.task_id.to_string() }
}
