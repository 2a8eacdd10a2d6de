//! Many conversations that wait for a person: their memory, and how long their recovery from a crash takes.

use crate::{
    model::{self, Model},
    setup::{self, Setup},
    table::{
        Aim, Figure,
        Value::{Size, Time},
    },
};
use abide_client::{
    Client,
    protocol::method::{self, inbox::UserResponseParams, task::StartTaskReply},
};
use abide_tests::wait;
use std::time::{Duration, Instant};
use tokio::{task::JoinSet, time::sleep};

/// Clients that start tasks at the same time.
const CLIENTS: usize = 16;

pub(crate) async fn figures() -> Vec<Figure> {
    let mut setup = Setup::with(Model::start(|asked| model::ask(asked.number))).await;
    let mut figures = Vec::new();
    let before = setup.pss();
    let mut started = 0;
    for total in [1000, 10_000] {
        begin(&setup, started, total).await;
        started = total;
        setup.unloaded().await;
        // The daemon frees their memory two seconds later.
        sleep(Duration::from_secs(4)).await;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let each = (setup.pss() - before) / total as f64;
        let (answered, whole) = recovery(&mut setup, total).await;
        let many = if total == 1000 { "1,000" } else { "10,000" };
        let is_most = total == 10_000;
        let aimed = |figure: Figure, aim: Aim| if is_most { figure.aim(aim) } else { figure };
        figures.push(aimed(
            Figure::new(format!("memory for each of {many} waiting conversations"), Size(each)),
            Aim::AtMost(Size(4096.0)),
        ));
        figures.push(Figure::new(format!("after kill -9 with {many} waiting: memory"), Size(setup.pss())));
        figures.push(aimed(
            Figure::new(format!("after kill -9 with {many} waiting: all wait again"), Time(answered)),
            Aim::AtMost(Time(Duration::from_secs(1))),
        ));
        figures.push(Figure::new(
            format!("after kill -9 with {many} waiting: one answered, its model asked"),
            Time(whole),
        ));
    }
    figures
}

/// Starts tasks until there are `total`, and waits until all of them wait for a person.
async fn begin(setup: &Setup, started: usize, total: usize) {
    let mut clients = JoinSet::new();
    for first in started..started + CLIENTS {
        let client = setup.daemon.client().await;
        let tasks: Vec<_> =
            (first..total).step_by(CLIENTS).map(|n| setup.task(&format!("waits-{n}"))).collect();
        clients.spawn(async move {
            for task in tasks {
                setup::begin(&client, task).await;
            }
        });
    }
    clients.join_all().await;
    all_wait(&setup.client, total).await;
}

async fn all_wait(client: &Client, total: usize) {
    wait::wait_until("all tasks to wait", async || {
        let status = client.call::<method::Status>(method::daemon::StatusParams::default()).await;
        status.is_ok_and(|status| status.tasks.waiting == total as u64 && status.inbox == total as u64)
    })
    .await;
}

/// The times from the kill until the daemon reports that all tasks wait, and until an answered task has sent
/// its next model request.
async fn recovery(setup: &mut Setup, total: usize) -> (Duration, Duration) {
    let StartTaskReply { task_id, .. } = setup.begin("answered").await;
    all_wait(&setup.client, total + 1).await;
    let began = Instant::now();
    setup.crash_and_launch();
    setup.client = wait::wait_for("the daemon to answer", async || setup.daemon.try_client().await).await;
    all_wait(&setup.client, total + 1).await;
    let waiting = began.elapsed();
    let asked = setup.model.exchanges("answered").len();
    let response = Some("The first.".to_owned());
    let params = UserResponseParams { task_id: task_id.to_string(), question_id: None, response };
    setup.client.call::<method::UserResponse>(params).await.expect("the question is open");
    let on = tokio::task::block_in_place(|| setup.model.asked("answered", asked + 1)) - began;
    wait::wait_until("the answered task to ask again", async || {
        setup.status().await.tasks.waiting == total as u64 + 1
    })
    .await;
    setup
        .client
        .call::<method::StopTask>(abide_client::protocol::method::task::TaskParams {
            task_id: task_id.to_string(),
        })
        .await
        .expect("a stop is legal");
    (waiting, on)
}
