use crate::{
    model_server::{Script, Turn},
    seed::Seed,
    witness::Witness,
};
use serde_json::json;

/// A task of a few steps: commands that leave a mark, edits, reads, questions, several calls in one reply.
pub(super) fn script(key: &str, seed: &Seed, witness: &Witness) -> Script {
    let (key, seed, witness) = (key.to_owned(), seed.of(key), witness.clone());
    let steps = 4 + seed.clone().below(6);
    Script::by(move |n| {
        Some(if n < steps {
            turn(&key, n, &mut seed.of(&n.to_string()), &witness)
        } else {
            Turn::done("Done.")
        })
    })
}

fn turn(key: &str, n: usize, seed: &mut Seed, witness: &Witness) -> Turn {
    let marked = |i: usize| witness.command(&format!("{key}.{n}.{i}"));
    let shell = |command: String| json!({ "command": command });
    let file = json!({ "path": format!("{key}.txt"), "content": format!("{key} {n}\n") });
    let turn = Turn::say(format!("Step {n} of {key}."));
    match seed.below(8) {
        0 => turn.call("shell", shell(marked(0))),
        // Long enough to be hit by a kill.
        1 | 2 => {
            turn.call("shell", shell(format!("{} && echo 'output of {key}.{n}.0' && sleep 0.2", marked(0))))
        }
        3 => turn.call("write", file),
        4 => turn.call("list", json!({})).call("read", json!({ "path": "shared.txt" })),
        5 => turn.call("ask_user", json!({ "question": format!("What now, at {n} of {key}?") })),
        6 => turn
            .call("shell", shell(marked(0)))
            .call("write", file)
            .call("shell", shell(marked(1)))
            .call("list", json!({})),
        _ => turn.call("send_update", json!({ "message": format!("At {n}.") })).call("write", file),
    }
}
