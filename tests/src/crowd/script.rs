use crate::{
    model_server::{Script, Turn},
    seed::Seed,
    witness::Witness,
};
use serde_json::{Value, json};

/// How deep sub-tasks go.
const DEEPEST: usize = 2;

/// The scripts of a root task and of all tasks beneath it, by their keys. Each has a few steps: commands that
/// leave a mark, edits, reads, questions, several calls in one reply, sub-tasks by call and by code, waits
/// for them.
pub(super) fn scripts(key: &str, seed: &Seed, witness: &Witness) -> Vec<(String, Script)> {
    let mut family = Family { witness, scripts: Vec::new() };
    let mut seed = seed.of(key);
    let steps = 4 + seed.below(6);
    family.add(key, steps, 0, &seed);
    family.scripts
}

/// What the task of this key ends with.
pub(crate) fn result(key: &str) -> String {
    format!("Result of <{key}>.")
}

struct Family<'a> {
    witness: &'a Witness,
    scripts: Vec<(String, Script)>,
}

impl Family<'_> {
    fn add(&mut self, key: &str, steps: usize, depth: usize, seed: &Seed) {
        let turns: Vec<Turn> =
            (0..steps).map(|n| self.turn(key, n, depth, &mut seed.of(&n.to_string()))).collect();
        // A task that has not read a result, or not heard of sub-tasks at work, is refused its first end.
        let end = Turn::done(&result(key));
        let script = Script::by(move |n| Some(turns.get(n).unwrap_or(&end).clone()));
        self.scripts.push((key.to_owned(), script));
    }

    fn turn(&mut self, key: &str, n: usize, depth: usize, seed: &mut Seed) -> Turn {
        let at = &format!("{key}.{n}");
        let marked = |i: usize| self.witness.command(&format!("{at}.{i}"));
        let shell = |command: String| json!({ "command": command });
        let file = json!({ "path": format!("{key}.txt"), "content": format!("{at}\n") });
        let turn = Turn::say(format!("Step {at}."));
        // The deepest sub-tasks have none of their own.
        match seed.below(if depth < DEEPEST { 13 } else { 8 }) {
            0 => turn.call("shell", shell(marked(0))),
            // Long enough to be hit by a kill.
            1 | 2 => {
                turn.call("shell", shell(format!("{} && echo 'output of {at}.0' && sleep 0.2", marked(0))))
            }
            3 => turn.call("write", file),
            4 => turn.call("list", json!({})).call("read", json!({ "path": "shared.txt" })),
            5 => turn.call("ask_user", json!({ "question": format!("What now, at {at}?") })),
            6 => turn
                .call("shell", shell(marked(0)))
                .call("write", file)
                .call("shell", shell(marked(1)))
                .call("list", json!({})),
            7 => turn.call("send_update", json!({ "message": format!("At {at}.") })).call("write", file),
            8 | 9 => {
                let forked = self.forked(at, depth, seed);
                let turn =
                    forked.iter().fold(turn, |turn, prompt| turn.call("fork", json!({ "prompt": prompt })));
                if seed.in_a_hundred(50) { turn.call("wait", json!({})) } else { turn }
            }
            10 => turn.call("wait", json!({})),
            _ => {
                let code = self.witness.code(&format!("{at}.0"));
                let prompts = Value::from(self.forked(at, depth, seed));
                turn.call("python", json!({ "code": format!("{code}{}", by_code(&prompts)) }))
            }
        }
    }

    /// The prompts of one or two sub-tasks.
    fn forked(&mut self, at: &str, depth: usize, seed: &mut Seed) -> Vec<String> {
        let forked = (0..=seed.below(2)).map(|i| {
            let (key, steps) = (format!("{at}.s{i}"), 1 + seed.below(3));
            self.add(&key, steps, depth + 1, &seed.of(&key));
            format!("[k:{key}] Do your part.")
        });
        forked.collect()
    }
}

/// Code that starts these sub-tasks, sends the same requests again, and waits.
fn by_code(prompts: &Value) -> String {
    format!(
        r#"
prompts = {prompts}
handles = [fork(prompt) for prompt in prompts]
import itertools
fork.__closure__[0].cell_contents.ids = itertools.count(1)
assert [fork(prompt) for prompt in prompts] == handles, "the same id is the same sub-task"
results = [wait(handle) for handle in handles]
print(results)
"#
    )
}
