//! `inference` takes what a model can be asked, and nothing else.

use crate::ground::{Ground, block};
use abide_protocol::{
    record::Permission,
    task::Approvals,
    transcript::{EffectClass, Risk},
};
use abide_tools::{Inference, inference};
use serde_json::{Value, json};

fn texts(count: usize) -> Value {
    json!({ "action": "embed", "texts": vec!["a text"; count] })
}

#[test]
fn a_call_is_of_one_tool_by_either_name_and_runs_unasked_anywhere() {
    let mut ground = Ground::new();
    ground.approvals = Approvals::Ask;
    let prompt = || "Which day follows\n Monday?".to_owned();
    let embed = |vectors| Inference::Embed { texts: vec!["a".to_owned(), "b".to_owned()], vectors };
    for (arguments, asked, summary) in [
        (
            json!({ "action": "complete", "prompt": prompt() }),
            Inference::Complete { prompt: prompt() },
            "ask the model: Which day follows\\n Monday?",
        ),
        (
            json!({ "action": "plan", "prompt": prompt() }),
            Inference::Plan { prompt: prompt() },
            "ask the model for a plan: Which day follows\\n Monday?",
        ),
        (json!({ "action": "embed", "texts": ["a", "b"] }), embed(false), "compare 2 texts in meaning"),
        (
            json!({ "action": "embed", "texts": ["a", "b"], "vectors": true }),
            embed(true),
            "compare 2 texts in meaning",
        ),
    ] {
        for (name, workspace) in [("inference", "/".to_owned()), ("python_inference", ground.workspace())] {
            let calls = [block(name, &arguments.to_string())];
            let assessed = ground.assess_in(&workspace, &calls, &|_| None).pop().unwrap();
            assert_eq!(assessed.permission, Permission::Tier, "{name} {arguments}");
            assert_eq!((assessed.effect, assessed.risk), (EffectClass::Pure, Risk::Low));
            assert_eq!((&*assessed.tool, &*assessed.summary), ("inference", summary));
            assert_eq!(inference(&assessed).as_ref(), Some(&asked), "{name} {arguments}");
        }
    }
    assert_eq!(inference(&ground.assess_one("recall", json!({ "query": "a" }))), None);
}

#[test]
fn what_a_model_cannot_be_asked_is_denied_with_its_name() {
    let ground = Ground::new();
    let long = "x".repeat(1 << 20);
    let mut blank = texts(3);
    blank["texts"][1] = json!(" \n");
    for (arguments, words) in [
        (json!({}), "\"action\" is a required property"),
        (json!({ "action": "train", "prompt": "a" }), "`action`: it is not one of \"complete\", \"plan\""),
        (json!({ "action": "complete" }), "missing field `prompt`"),
        (json!({ "action": "plan", "texts": ["a"] }), "unknown field `texts`"),
        (json!({ "action": "complete", "prompt": "" }), "`prompt`: it has less than 1 characters"),
        (json!({ "action": "complete", "prompt": " \n\t" }), "`prompt` holds a text without words"),
        (json!({ "action": "plan", "prompt": "\u{3000}" }), "`prompt` holds a text without words"),
        (json!({ "action": "plan", "prompt": 7 }), "`prompt`: it is not of type \"string\""),
        (json!({ "action": "complete", "prompt": long }), "`prompt`: it has more than 100000 characters"),
        (json!({ "action": "complete", "prompt": "a", "model": "x/y" }), "('model' was unexpected)"),
        (json!({ "action": "embed" }), "missing field `texts`"),
        (json!({ "action": "embed", "prompt": "a" }), "unknown field `prompt`"),
        (texts(0), "`texts`: it has less than 1 items"),
        (texts(33), "`texts`: it has more than 32 items"),
        (blank, "`texts` holds a text without words"),
        (json!({ "action": "embed", "texts": ["a", ""] }), "`texts/1`: it has less than 1 characters"),
        (json!({ "action": "embed", "texts": ["a", long] }), "`texts/1`: it has more than 10000 characters"),
        (json!({ "action": "embed", "texts": "a" }), "`texts`: it is not of type \"array\""),
        (json!({ "action": "embed", "texts": ["a"], "vectors": "yes" }), "`vectors`: it is not of type"),
    ] {
        for name in ["inference", "python_inference"] {
            let assessed = ground.assess_one(name, arguments.clone());
            let Permission::Denied(why) = &assessed.permission else { panic!("{name}: {assessed:?}") };
            assert!(why.contains(words), "{words}: {why}");
        }
    }
    let most = ground.assess_one("inference", texts(32));
    assert_eq!(most.permission, Permission::Tier);
}
