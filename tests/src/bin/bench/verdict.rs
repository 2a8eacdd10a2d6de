//! What rules cost: `testRule` in a folder with rules, beside the same request for a folder without any.

use crate::{
    model::{self, Model},
    setup::Setup,
    table::{Aim, Figure, Value::Time, median},
};
use abide_client::protocol::{
    inbox::{RuleEffect, TextRule},
    method::{
        AddRule, TestRule,
        rule::{AddRuleParams, TestRuleParams},
    },
};
use std::time::{Duration, Instant};

/// How often each command is judged.
const TIMES: usize = 2000;

/// What people allow; and what they deny, which is looked for in every part of a line.
const ALLOWED: [&str; 9] = [
    "cargo test *",
    "cargo build *",
    "git status *",
    "git log *",
    "git diff *",
    "ls *",
    "cat *",
    "grep *",
    "rg *",
];
const DENIED: [&str; 3] = ["rm *", "sudo *", "git push *"];

const COMMAND: &str =
    "cargo test --locked -p abide-engine --test engine 'a name with blanks' -- --nocapture 2>&1";

pub(crate) async fn figures() -> Vec<Figure> {
    let setup = Setup::with(Model::start(|asked| model::done(asked.number))).await;
    let (ruled, free) = (setup.daemon.workspace(), setup.daemon.user_home());
    let (ruled, free) = (ruled.display().to_string(), free.display().to_string());
    let rules = ALLOWED.map(|text| (text, RuleEffect::Allow)).into_iter();
    for (text, effect) in rules.chain(DENIED.map(|text| (text, RuleEffect::Deny))) {
        let rule = TextRule { text: format!("shell({text})"), workspace: ruled.clone(), effect };
        setup.client.call::<AddRule>(AddRuleParams { rule }).await.expect("a rule");
    }
    // As long as a line may be, with a part in each of 50 commands.
    let longest = vec![format!("ls -la {}", "x".repeat(310)); 50].join("; ");
    vec![
        figure(
            "a verdict of 12 rules; floor the same request without rules",
            &setup,
            COMMAND,
            [&ruled, &free],
        )
        .await,
        figure("a verdict on 50 commands of 16 KiB", &setup, &longest, [&ruled, &free]).await,
    ]
}

async fn figure(what: &str, setup: &Setup, command: &str, [ruled, free]: [&str; 2]) -> Figure {
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        floor.push(time(setup, command, free).await);
        ours.push(time(setup, command, ruled).await);
    }
    let floor = median(&floor);
    let aim = Aim::AtMost(Time(floor + Duration::from_micros(200)));
    Figure::new(what, Time(median(&ours))).floor(Time(floor)).aim(aim)
}

async fn time(setup: &Setup, command: &str, workspace: &str) -> Duration {
    let (command, workspace) = (command.to_owned(), workspace.to_owned());
    let params = TestRuleParams { command, workspace, path: Some("/usr/bin:/bin".to_owned()) };
    let began = Instant::now();
    setup.client.call::<TestRule>(params).await.expect("a verdict");
    began.elapsed()
}
