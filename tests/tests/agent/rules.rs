//! Rules of the configuration, and rules that are remembered.

use abide_client::protocol::{
    inbox::{Decision, Pending, RuleEffect, TextRule},
    method::{
        AddRule, DecideApproval, ForgetRule, ListRules, TestRule,
        inbox::DecideApprovalParams,
        rule::{AddRuleParams, ForgetRuleParams, ListRulesParams, TestRuleParams},
    },
    task::{AgentTask, Status},
};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    world::World,
};

/// With this `[policy]`.
async fn world(policy: &str) -> World {
    let model = ModelServer::start().await;
    let config = Config::with(&model).policy(policy);
    World::configured(model, &config).await
}

#[tokio::test]
async fn the_policy_denies_asks_and_allows_and_a_change_of_it_counts_at_once() {
    let world = world("shell = \"ask\"\ndeny = [\"shell(rm *)\"]\nallow = [\"shell(ls *)\"]").await;
    std::fs::write(world.daemon.workspace().join("kept"), "").unwrap();
    let script = || {
        [Turn::shell("ls -la"), Turn::shell("ls; rm kept"), Turn::shell("ls -la | wc"), Turn::done("Done.")]
    };
    let task = world.run_asking("policy", script()).await;
    let waits = |t: &abide_client::protocol::task::AgentTask| {
        t.step_count == 3 && t.status == Status::WaitingApproval
    };
    world.wait("the pipe to ask", task, waits).await;
    assert!(world.daemon.workspace().join("kept").exists());
    let seen = world.model.requests("policy")[2].text();
    assert!(seen.contains("the user's rule `shell(rm *)` forbids this call"), "{seen}");
    world.decide(task, Decision::RejectOnce).await;
    world.wait_end(task).await;

    world.daemon.configure(&Config::with(&world.model).policy("ask = [\"shell(ls *)\"]"));
    let listed = world.client.call::<ListRules>(ListRulesParams::default()).await.unwrap();
    let [rule] = &listed.policy[..] else { panic!("one rule: {:?}", listed.policy) };
    assert_eq!((rule.text.as_str(), rule.effect), ("shell(ls *)", RuleEffect::Ask));
    let again = world.run_asking("again", script()).await;
    world.wait("ls to ask", again, |t| t.step_count == 1 && t.status == Status::WaitingApproval).await;
}

#[tokio::test]
async fn a_wider_rule_is_offered_remembered_and_outlives_its_conversation() {
    let mut world = World::start().await;
    std::fs::write(world.daemon.workspace().join("a"), "").unwrap();
    let task = world.run_asking("wider", [Turn::shell("ls -l a"), Turn::done("Done.")]).await;
    world.wait_status(task, Status::WaitingApproval).await;
    let waiting = world.pending(task).await;
    let [Pending::Approval(approval)] = &waiting[..] else { panic!("one approval: {waiting:?}") };
    let texts: Vec<&str> = approval.wider.iter().map(|wider| wider.text.as_str()).collect();
    assert_eq!(texts, ["shell(ls -l a *)", "shell(ls -l *)", "shell(ls *)"]);
    let params = |rule: &str| DecideApprovalParams {
        approval_id: approval.id.to_string(),
        decision: Decision::AllowAlways,
        note: None,
        rule: Some(rule.to_owned()),
    };
    world.client.call::<DecideApproval>(params("shell(cat *)")).await.unwrap_err();
    assert!(world.client.call::<DecideApproval>(params("shell(ls *)")).await.unwrap().won);
    world.wait_end(task).await;

    world.crash_and_restart().await;
    let script = [Turn::shell("ls -a"), Turn::shell("cat a"), Turn::done("Done.")];
    let again = world.run_asking("other", script).await;
    world.wait("cat to ask", again, |t| t.step_count == 2 && t.status == Status::WaitingApproval).await;
    world.decide(again, Decision::RejectOnce).await;
    world.wait_end(again).await;

    let rules = world.client.call::<ListRules>(ListRulesParams::default()).await.unwrap().rules;
    let [rule] = &rules[..] else { panic!("one rule: {rules:?}") };
    assert_eq!(rule.text.as_ref().map(|rule| rule.text.as_str()), Some("shell(ls *)"));
    let params = ForgetRuleParams { rule_id: rule.short().to_owned() };
    world.client.call::<ForgetRule>(params).await.unwrap();
    let forgotten = world.run_asking("forgotten", [Turn::shell("ls -a"), Turn::done("Done.")]).await;
    world.wait_status(forgotten, Status::WaitingApproval).await;
}

#[tokio::test]
async fn an_added_rule_stands_in_its_workspace_and_can_be_tested() {
    let world = World::start().await;
    let workspace = world.daemon.workspace().display().to_string();
    let rule = |text: &str, effect| AddRuleParams {
        rule: TextRule { text: text.to_owned(), workspace: workspace.clone(), effect },
    };
    world.client.call::<AddRule>(rule("shell(rm *)", RuleEffect::Deny)).await.unwrap();
    world.client.call::<AddRule>(rule("shell(ls *)", RuleEffect::Allow)).await.unwrap();
    world.client.call::<AddRule>(rule("shell(sudo *)", RuleEffect::Allow)).await.unwrap_err();
    let test = async |command: &str, workspace: &str| {
        let (command, workspace) = (command.to_owned(), workspace.to_owned());
        let params = TestRuleParams { command, workspace, path: Some("/usr/bin:/bin".to_owned()) };
        let reply = world.client.call::<TestRule>(params).await.unwrap();
        (reply.effect, reply.rule)
    };
    let named = |text: &str| Some(text.to_owned());
    assert_eq!(test("sudo rm x", &workspace).await, (Some(RuleEffect::Deny), named("shell(rm *)")));
    assert_eq!(test("$x", &workspace).await, (Some(RuleEffect::Ask), named("shell(rm *)")));
    assert_eq!(test("ls -a", &workspace).await, (Some(RuleEffect::Allow), named("shell(ls *)")));
    assert_eq!(test("ls -a | wc", &workspace).await, (None, None));
    let elsewhere = world.daemon.user_home().display().to_string();
    assert_eq!(test("rm x", &elsewhere).await, (None, None));
    // The program is looked for, as when the command is assessed.
    world.client.call::<AddRule>(rule("shell(no-such-program *)", RuleEffect::Allow)).await.unwrap();
    assert_eq!(test("no-such-program 1", &workspace).await, (None, None));

    // What becomes of the call is told as its assessment has it, also where no rule is about it.
    let cli = world.daemon.cli();
    for command in ["git push", "echo $HOME", "rm x", "ls -a"] {
        let test = cli.json(&["rules", "test", command]).await;
        let task =
            world.run_asking(&command.replace(' ', "-"), [Turn::shell(command), Turn::done("Done.")]).await;
        let is_assessed = |task: &AgentTask| task.status.has_ended() || task.needs_person();
        let pending = world.wait("the call to be assessed", task, is_assessed).await.pending;
        let permission = serde_json::to_value(&world.get(task).await.calls[0].permission).unwrap();
        assert_eq!(test["permission"], permission, "{command}");
        let why = pending.first().and_then(|pending| match pending {
            Pending::Approval(approval) => approval.why.clone(),
            Pending::Question(_) => None,
        });
        assert_eq!(test["asks"], serde_json::json!(why), "{command}");
    }
    let words = cli.ok(&["rules", "test", "git push"]).await;
    assert!(words.contains("in a task without --yes it asks: "), "{words}");
}
