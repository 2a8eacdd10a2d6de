//! Ids of the wrong kind, and invalid names.

use abide_tests::{model_server::Turn, world::World};

#[tokio::test]
async fn a_tasks_id_stands_for_its_conversation_only_where_it_is_read_and_a_title_is_kept_uncut_or_refused() {
    let world = World::start().await;
    let task = world.run("kinds", [Turn::done("All is done.")]).await;
    world.wait_end(task).await;
    let cli = world.daemon.cli();
    let (id, conversation) = (task.task_id.short(), task.conversation_id.short());
    assert!(cli.ok(&["messages", &id]).await.contains("[k:kinds]"));
    assert!(cli.ok(&["search", "kinds", "--conversation", &id]).await.contains("kinds"));
    for words in [["rename", &id, "Other"], ["archive", &id, "--undo"], ["delete", &id, "--yes"]] {
        let refused = cli.run(&[&["conversations"], &words[..]].concat()).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(&format!("{id} is a task, not a conversation")), "{refused:?}");
        assert!(refused.stderr.contains(&conversation), "{refused:?}");
    }
    for verb in ["show", "stop", "pause", "resume"] {
        let refused = cli.run(&[verb, &conversation]).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(
            refused.stderr.contains(&format!("{conversation} is a conversation, not a task")),
            "{refused:?}"
        );
        assert!(refused.stderr.contains(&format!("its newest task is {id}")), "{refused:?}");
    }

    let long = "x".repeat(501);
    for (title, words) in [
        ("", "the title is empty"),
        (" \t", "the title is empty"),
        (long.as_str(), "the title has 501 bytes, over the limit of 500"),
    ] {
        let refused = cli.run(&["conversations", "rename", &conversation, title]).await;
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(words), "{refused:?}");
    }
    let whole = "A title of many words ".repeat(10).trim().to_owned();
    cli.ok(&["conversations", "rename", &conversation, &whole]).await;
    assert!(cli.ok(&["conversations", "--json"]).await.contains(&format!("{whole:?}")));
}
