//! Two people answer or decide at the same moment: one wins, the other gets the winner's answer, and that one
//! takes effect.

use abide_client::{
    Client, Notifications,
    protocol::{
        inbox::{Decision, Pending},
        method::{
            self,
            inbox::{DecideApprovalParams, UserResponseParams},
            subscription::{Scope, SubscribeParams},
            task::{StartTaskParams, StartTaskReply},
        },
        notification::Notification,
        record::RecordBody,
        task::{AgentTask, Approvals, LimitsRequest, Status},
    },
};
use abide_tests::{
    ledger,
    model_server::{Script, Turn},
    seed::times,
    wait,
    world::World,
};
use serde_json::json;
use tokio::task::JoinSet;

/// Conversations that race side by side.
const LANES: usize = 8;

/// Races in a conversation. The model server keeps every request, and each one repeats all before it.
const MOST: usize = 125;

/// Every other step asks a question; the steps between write a file.
fn script(rounds: usize, name: &str) -> Script {
    let name = name.to_owned();
    Script::by(move |n| {
        Some(match n {
            n if n >= rounds => Turn::done("Done."),
            n if n % 2 == 0 => Turn::ask(&format!("Which way at {n}?")),
            n => Turn::new()
                .call("write", json!({ "path": format!("{name}-{n}.txt"), "content": n.to_string() })),
        })
    })
}

async fn answers(
    client: &Client,
    task: StartTaskReply,
    pending: &Pending,
    said: &str,
) -> (bool, Option<String>) {
    let Pending::Question(question) = pending else { panic!("a question: {pending:?}") };
    let params = UserResponseParams {
        task_id: task.task_id.to_string(),
        question_id: Some(question.id.to_string()),
        response: Some(said.to_owned()),
    };
    let reply = client.call::<method::UserResponse>(params).await.expect("who comes second is told so");
    (reply.won, reply.response)
}

async fn decides(client: &Client, pending: &Pending, decision: Decision) -> (bool, Decision) {
    let Pending::Approval(approval) = pending else { panic!("an approval: {pending:?}") };
    let params =
        DecideApprovalParams { approval_id: approval.id.to_string(), decision, note: None, rule: None };
    let reply = client.call::<method::DecideApproval>(params).await.expect("who comes second is told so");
    (reply.won, reply.decision)
}

/// The task's states, as notifications report them.
struct Steps {
    updates: Notifications,
    task: Option<AgentTask>,
}

impl Steps {
    async fn until(&mut self, is_so: impl Fn(&AgentTask) -> bool) -> AgentTask {
        wait::within("the next step", async {
            loop {
                if let Some(task) = self.task.as_ref().filter(|task| is_so(task)) {
                    return task.clone();
                }
                if let Notification::TaskUpdate(update) =
                    self.updates.next().await.expect("the connection stays")
                {
                    self.task = Some(update.task);
                }
            }
        })
        .await
    }
}

async fn race(world: &World, name: &str, rounds: usize) -> [usize; 2] {
    world.model.script(name, script(rounds, name));
    let params = StartTaskParams {
        approvals: Approvals::Ask,
        limits: LimitsRequest { max_steps: Some(0), ..LimitsRequest::default() },
        ..world.task(name)
    };
    let task = world.begin(params).await;
    // One client uses bincode, the other JSON.
    let (one, other) = (world.daemon.client().await, world.daemon.json_client().await);
    let mut steps = Steps { updates: one.notifications(), task: None };
    let scope = Scope::Conversation(task.conversation_id);
    let begun = one.call::<method::Subscribe>(SubscribeParams { scope, since: None }).await.unwrap();
    steps.task = begun.snapshot.tasks.into_iter().next();
    let mut won = [0, 0];
    for n in 0..rounds {
        let waits_for = if n % 2 == 0 { Status::WaitingUser } else { Status::WaitingApproval };
        let waiting = steps.until(|t| t.status == waits_for && t.step_count as usize == n + 1).await;
        let [pending] = &waiting.pending[..] else { panic!("one at a time: {:?}", waiting.pending) };
        let first_won = if n % 2 == 0 {
            let (a, b) =
                tokio::join!(answers(&one, task, pending, "left"), answers(&other, task, pending, "right"));
            assert!(a.0 != b.0, "exactly one wins: {a:?} {b:?}");
            assert_eq!(a.1, b.1, "both learn what counts");
            assert_eq!(a.1.as_deref(), Some(if a.0 { "left" } else { "right" }));
            a.0
        } else {
            // The client that sends first usually wins, so they take turns.
            let decisions = if n % 4 == 1 {
                tokio::join!(
                    decides(&one, pending, Decision::AllowOnce),
                    decides(&other, pending, Decision::RejectOnce)
                )
            } else {
                let (b, a) = tokio::join!(
                    decides(&other, pending, Decision::RejectOnce),
                    decides(&one, pending, Decision::AllowOnce)
                );
                (a, b)
            };
            let (a, b) = decisions;
            assert!(a.0 != b.0, "exactly one wins: {a:?} {b:?}");
            assert_eq!(a.1, b.1, "both learn what counts");
            assert_eq!(a.1.allows(), a.0);
            a.0
        };
        won[usize::from(!first_won)] += 1;
        if n % 2 == 1 {
            world
                .wait("the step to be over", task, |t| t.step_count as usize > n + 1 || t.status.has_ended())
                .await;
            let written = world.daemon.workspace().join(format!("{name}-{n}.txt")).exists();
            assert_eq!(written, first_won, "{name}, step {n}: what was done is not what the winner said");
        }
    }
    assert_eq!(world.wait_end(task).await.status, Status::Completed);
    won
}

fn sum(one: [usize; 2], other: [usize; 2]) -> [usize; 2] {
    [one[0] + other[0], one[1] + other[1]]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exactly_one_wins_and_the_other_gets_the_winners_answer() {
    let rounds = times("ABIDE_TEST_RACES", 96) / LANES;
    let world = std::sync::Arc::new(World::start().await);
    let mut lanes = JoinSet::new();
    for lane in 0..LANES {
        let world = std::sync::Arc::clone(&world);
        lanes.spawn(async move {
            let mut won = [0, 0];
            for begin in (0..rounds).step_by(MOST) {
                let name = format!("lane-{lane}-{begin}");
                won = sum(won, race(&world, &name, MOST.min(rounds - begin)).await);
            }
            won
        });
    }
    let won = lanes.join_all().await.into_iter().fold([0, 0], sum);
    let lines = ledger::read(&world.daemon.home());
    let decided = lines.iter().filter(|line| {
        matches!(line.kind.as_str(), "question_answered" | "approval_decided")
            && matches!(line.record(), RecordBody::QuestionAnswered(_) | RecordBody::ApprovalDecided(_))
    });
    assert_eq!(decided.count(), rounds * LANES, "one decision a race");
    println!("{} races: {} won by the one, {} by the other", rounds * LANES, won[0], won[1]);
    assert!(won[0] > 0 && won[1] > 0, "a race that only one can win is none");
}
