//! The real sender with a notification server of the test's own on a private bus, never the user's desktop.

use super::{super::*, SystemDesktop};
use abide_protocol::{QuestionId, TaskId, inbox::PendingId, task::EndReason};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use uuid::Uuid;
use zbus::{OwnedVariant, connection::Builder};

type Log = Arc<Mutex<Vec<String>>>;

/// The part of a bus that a client needs to connect.
struct Bus;

#[zbus::interface(name = "org.freedesktop.DBus")]
impl Bus {
    fn hello(&self) -> &'static str {
        ":1.1"
    }
}

struct Server(Log);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Server {
    #[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "the specification's")]
    fn notify(
        &self,
        app: &str,
        replaces: u32,
        _icon: &str,
        summary: &str,
        body: &str,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedVariant>,
        expires: i32,
    ) -> u32 {
        assert_eq!((app, replaces, actions.len()), ("Abide", 0, 0));
        let mut log = self.0.lock().unwrap();
        log.push(format!("{summary} | {body} | {expires}"));
        u32::try_from(log.len()).unwrap()
    }

    fn close_notification(&self, id: u32) {
        self.0.lock().unwrap().push(format!("close {id}"));
    }
}

fn notice(key: Key, what: What) -> NotifierEvent {
    let conversation_id = ConversationId(Uuid::from_u128(1));
    NotifierEvent::Notice(Box::new(Notice {
        conversation_id,
        title: "Tidy up".to_owned(),
        sub_task: None,
        key,
        what,
    }))
}

#[tokio::test]
#[ignore = "the test below starts it, in a process whose environment names its bus"]
async fn sends_from_a_child_process() {
    let question = Key::Pending(PendingId::Question(QuestionId(Uuid::from_u128(2))));
    let end = What::Ended { reason: EndReason::Completed, incomplete: None, words: Some("a < b".to_owned()) };
    let (_focus, focused) = watch::channel(HashSet::new());
    let (tell, told) = mpsc::channel(QUEUE);
    for told in [
        notice(question, What::Question("Which?".to_owned())),
        notice(question, What::Question("Which?".to_owned())),
        NotifierEvent::Settled(question),
        notice(Key::Ended(TaskId(Uuid::from_u128(3))), end),
    ] {
        tell.send(told).await.unwrap();
    }
    drop(tell);
    Notifier::new(SystemDesktop, focused).run(told, || std::future::ready(true)).await;
}

#[tokio::test]
async fn a_server_gets_the_expected_notification_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bus");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let address = format!("unix:path={}", path.display());
    let mut child = tokio::task::spawn_blocking(move || {
        #[expect(clippy::disallowed_methods, reason = "this very test, once more")]
        std::process::Command::new("timeout")
            .args(["--kill-after=5", "120"])
            .arg(std::env::current_exe().unwrap())
            .args(["sends_from_a_child_process", "--ignored"])
            .env("DBUS_SESSION_BUS_ADDRESS", address)
            .output()
            .unwrap()
    });
    let log = Log::default();
    let mut served = Vec::new();
    let output = loop {
        tokio::select! {
            output = &mut child => break output.unwrap(),
            accepted = listener.accept() => {
                let stream = accepted.unwrap().0.into_std().unwrap();
                let connection = Builder::unix_stream(stream)
                    .server(zbus::Guid::generate())
                    .p2p()
                    .serve_at("/org/freedesktop/DBus", Bus)
                    .serve_at("/org/freedesktop/Notifications", Server(log.clone()))
                    .build();
                served.push(connection.await.unwrap());
            }
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(
        *log.lock().unwrap(),
        ["Question: Tidy up | Which? | 0", "close 1", "Completed: Tidy up | a &lt; b | -1"]
    );
}
