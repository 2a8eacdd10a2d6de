//! The tool `python`, where no Python is.

use abide_tests::world::World;

#[tokio::test]
async fn doctor_says_where_python_is_not() {
    let mut world = World::start().await;
    let tools = |findings: serde_json::Value| {
        let of = |finding: &&serde_json::Value| finding["about"] == "tools";
        findings.as_array().unwrap().iter().find(of).cloned()
    };
    assert_eq!(tools(world.daemon.cli().json(&["doctor"]).await), None);
    world.daemon.set_env("PATH", "/nowhere");
    let found = tools(world.daemon.cli().json(&["doctor"]).await).unwrap();
    assert_eq!(found["health"], "noted");
    assert!(found["words"].as_str().unwrap().contains("no python3"), "{found}");
}
