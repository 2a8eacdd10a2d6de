//! Which namespaces commands have, and that networks which are used again show nothing of whoever had them
//! before.

use crate::ground::{Ground, data, wait_until};
use abide_protocol::task::Approvals;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs};

const KINDS: [&str; 5] = ["net", "mnt", "pid", "ipc", "user"];

/// Prints the namespaces of the command.
const NAMESPACES: &str =
    "readlink /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/pid /proc/self/ns/ipc /proc/self/ns/user";

async fn output(ground: &Ground, arguments: Value) -> String {
    let finished = ground.call("shell", arguments).await;
    assert!(finished.result.ok, "{}", finished.result.text());
    data(&finished)["stdout"].as_str().unwrap().to_owned()
}

/// The namespaces of this process, which are the user's.
fn own() -> Vec<String> {
    let own = |kind| fs::read_link(format!("/proc/self/ns/{kind}")).unwrap().display().to_string();
    KINDS.map(own).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_at_the_same_time_cannot_reach_each_other() {
    let ground = Ground::new();
    let listen = format!(
        "{NAMESPACES}; python3 -c '
import socket, time
port = socket.create_server((\"127.0.0.1\", 4711))
name = socket.socket(socket.AF_UNIX)
name.bind(\"\\0abide-test\")
name.listen()
open(\"listens\", \"w\").close()
time.sleep(600)'"
    );
    let running = ground.start(&listen);
    wait_until("the first command to listen", || ground.path("listens").exists()).await;
    let reach = "python3 -c '
import os, socket
print(sorted(os.listdir(\"/proc/self/fd\")))
tcp = socket.socket()
print(tcp.connect_ex((\"127.0.0.1\", 4711)) != 0)
name = socket.socket(socket.AF_UNIX)
print(name.connect_ex(\"\\0abide-test\") != 0)
print([entry for entry in os.listdir(\"/proc\") if entry.isdigit() and int(entry) > 9])
socket.create_server((\"127.0.0.1\", 4711))'";
    let second = output(&ground, json!({ "command": format!("{NAMESPACES}; {reach}") })).await;
    let (first, second): (Vec<String>, Vec<String>) = (lines(&running.output()), lines(&second));
    for (index, kind) in KINDS.iter().enumerate() {
        let [first, second] = [&first, &second].map(|lines| &lines[index]);
        assert!(first != &own()[index] && second != &own()[index], "{kind} is not the user's");
        assert!(*kind == "user" || first != second, "{kind}: {first} {second}");
    }
    // The fourth descriptor is that of the list.
    assert_eq!(second[KINDS.len()..], ["['0', '1', '2', '3']", "True", "True", "[]"]);
    running.cancel().await;
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_is_used_again_keeps_nothing() {
    let ground = Ground::new();
    // The port of a server that closes a connection first stays in use for a while, unless the server says
    // that it does not mind.
    let serve = "readlink /proc/self/ns/net; python3 -c '
import socket
print(len(open(\"/proc/net/tcp\").readlines()) - 1, len(open(\"/proc/net/unix\").readlines()) - 1)
server, client = socket.socket(), socket.socket()
server.bind((\"127.0.0.1\", 4711))
server.listen()
client.connect(server.getsockname())
served = server.accept()[0]
served.close()
client.recv(1)
client.close()
name = socket.socket(socket.AF_UNIX)
name.bind(\"\\0abide-test\")
name.listen()'";
    let mut seen = BTreeSet::new();
    let is_used_again = async {
        loop {
            let said = lines(&output(&ground, json!({ "command": serve })).await);
            let [network, sockets] = &said[..] else { panic!("{said:?}") };
            assert_eq!(sockets, "0 0", "of earlier commands");
            if !seen.insert(network.clone()) {
                return;
            }
        }
    };
    tokio::time::timeout(crate::ground::PATIENCE, is_used_again).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_of_the_host_is_only_for_those_that_were_planned_with_it() {
    let mut ground = Ground::new();
    ground.approvals = Approvals::AllowAll;
    let out = json!({ "command": NAMESPACES, "outside": true, "reason": "to see them" });
    for _ in 0..2 {
        ground.sandbox.host_network = false;
        let confined = lines(&output(&ground, json!({ "command": NAMESPACES })).await);
        assert!(confined.iter().zip(own()).all(|(its, own)| *its != own), "{confined:?}");
        assert_eq!(lines(&output(&ground, out.clone()).await), own());
        ground.sandbox.host_network = true;
        let networked = lines(&output(&ground, json!({ "command": NAMESPACES })).await);
        assert_eq!(networked[0], own()[0]);
        assert!(networked.iter().zip(own()).skip(1).all(|(its, own)| *its != own), "{networked:?}");
        assert_ne!(networked[4], confined[4], "nobody else has its users");
    }
}
