use super::support::*;
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    method::search::SearchReply,
    record::{RecordBody, Update},
    task::Status,
};
use abide_store::{SearchQuery, Store};

fn lines(reply: &SearchReply) -> Vec<(u64, &str)> {
    reply.messages.iter().map(|hit| (hit.seq.0, hit.line.text.as_str())).collect()
}

async fn found(store: &Store, query: &str) -> Vec<u64> {
    let reply =
        store.search(SearchQuery { words: query, limit: 100, ..SearchQuery::default() }).await.unwrap();
    reply.messages.iter().map(|hit| hit.seq.0).collect()
}

async fn say(store: &Store, id: ConversationId, n: u64, body: RecordBody) {
    store.append(append(id, vec![record(n, None, body)])).await.unwrap();
}

#[tokio::test]
async fn words_are_found_in_messages_and_titles() {
    let home = Home::new();
    let store = home.open();
    let a = begin(&store, 1, 1).await;
    let b = begin(&store, 2, 2).await;
    say(&store, a, 3, user("Why is the build slow?\nRun `cargo test --release` and see.")).await;
    say(&store, a, 4, reply("I look at the Café's build.", &[])).await;
    say(
        &store,
        b,
        5,
        RecordBody::Update(Update { call_id: call_id(1), text: "cargo is building".to_owned() }),
    )
    .await;
    let assessed = record(6, Some(1), assessed(1, "cargo, but this is no message"));
    store.append(append(b, vec![assessed])).await.unwrap();

    let reply =
        store.search(SearchQuery { words: "build", limit: 100, ..SearchQuery::default() }).await.unwrap();
    assert_eq!(
        lines(&reply),
        [(5, "cargo is building"), (4, "I look at the Café's build."), (3, "Why is the build slow?")]
    );
    assert_eq!((reply.before, reply.searched_to), (None, Seq(6)));
    let hit = &reply.messages[0];
    assert_eq!((hit.conversation_id, hit.conversation_title.as_str()), (b, "title 2"));
    let mark = hit.line.marks[0];
    assert_eq!(&hit.line.text[mark.start as usize..mark.end as usize], "building");

    for (query, seqs) in [
        ("CARGO rele", vec![3]),
        ("cafe", vec![4]),
        ("\"cargo test\"", vec![3]),
        ("\"test cargo\"", vec![]),
        ("argo", vec![]),
        ("cargo OR slow", vec![]),
        ("NEAR(cargo test)", vec![]),
        ("text:cargo*", vec![]),
        ("\" ^ ( )", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(found(&store, query).await, seqs, "{query}");
    }
    let titles = store
        .search(SearchQuery { words: "titl 2", limit: 100, ..SearchQuery::default() })
        .await
        .unwrap()
        .titles;
    assert_eq!(
        titles.iter().map(|hit| (hit.conversation_id, hit.title.text.as_str())).collect::<Vec<_>>(),
        [(b, "title 2")]
    );
    let reply = store
        .search(SearchQuery { words: "cargo", conversation: Some(a), limit: 100, ..SearchQuery::default() })
        .await
        .unwrap();
    assert_eq!((reply.titles.len(), lines(&reply).len(), reply.messages[0].conversation_id), (0, 1, a));
}

#[tokio::test]
async fn hits_are_paged_and_include_new_messages() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    for n in 2..7 {
        say(&store, id, n, notice("word")).await;
    }
    let page = store.search(SearchQuery { words: "word", limit: 2, ..SearchQuery::default() }).await.unwrap();
    assert_eq!((page.messages.len(), page.before), (2, Some(Seq(5))));
    let page = store
        .search(SearchQuery { words: "word", before: page.before, limit: 2, ..SearchQuery::default() })
        .await
        .unwrap();
    assert_eq!((lines(&page)[0].0, page.before, page.titles.len()), (4, Some(Seq(3)), 0));
    let page = store
        .search(SearchQuery { words: "word", before: page.before, limit: 2, ..SearchQuery::default() })
        .await
        .unwrap();
    assert_eq!((lines(&page)[0].0, page.before), (2, None));

    let before = store.transactions();
    assert_eq!(found(&store, "word").await.len(), 5);
    assert_eq!(store.transactions(), before, "nothing new: nothing is written");
    say(&store, id, 7, notice("another word")).await;
    assert_eq!(found(&store, "another").await, [7]);

    let store = {
        store.close().await;
        home.open()
    };
    assert_eq!(found(&store, "word").await.len(), 6);
}

#[tokio::test]
async fn records_beyond_one_piece_of_indexing_are_found() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let records = (2..9002).map(|n| record(n, None, notice(&format!("word{n}")))).collect();
    store.append(append(id, records)).await.unwrap();
    let long = format!("begin {} end", "x ".repeat(700_000));
    say(&store, id, 9002, notice(&long)).await;
    say(&store, id, 9003, notice("last")).await;
    for (query, seq) in
        [("\"word2\"", 2), ("word4099", 4099), ("word9001", 9001), ("begin end", 9002), ("last", 9003)]
    {
        assert!(found(&store, query).await.contains(&seq), "{query}");
    }
}

#[tokio::test]
async fn deleted_messages_are_no_longer_found() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    start(&store, id, 2, Status::Completed).await;
    say(&store, id, 3, user("searched before")).await;
    assert_eq!(found(&store, "searched").await, [3]);
    say(&store, id, 4, user("never searched")).await;
    store.delete_conversation(id, Timestamp(9), RecordId(uuid(1, 1))).await.unwrap();
    let other = begin(&store, 2, 10).await;
    say(&store, other, 11, user("searched later")).await;
    let reply =
        store.search(SearchQuery { words: "searched", limit: 100, ..SearchQuery::default() }).await.unwrap();
    assert_eq!(lines(&reply), [(7, "searched later")]);
    let titles = store
        .search(SearchQuery { words: "title", limit: 100, ..SearchQuery::default() })
        .await
        .unwrap()
        .titles;
    assert_eq!(titles.len(), 1);

    // With many messages the index is emptied and built again.
    let big = begin(&store, 3, 20).await;
    let records = (30..230).map(|n| record(n, None, notice("plenty"))).collect();
    store.append(append(big, records)).await.unwrap();
    assert_eq!(found(&store, "plenty").await.len(), 100);
    store.delete_conversation(big, Timestamp(9), RecordId(uuid(1, 2))).await.unwrap();
    assert_eq!(found(&store, "plenty").await, [0u64; 0]);
    assert_eq!(found(&store, "searched").await, [7]);
}

#[tokio::test]
async fn a_page_of_hits_has_titles_only_at_its_start_and_says_whether_more_follow() {
    let home = Home::new();
    let store = home.open();
    let a = begin(&store, 1, 1).await;
    begin(&store, 2, 2).await;
    begin(&store, 3, 3).await;
    for n in 4..6 {
        say(&store, a, n, user("The title of a book.")).await;
    }
    let search = async |conversation, before, limit| {
        let query = SearchQuery { words: "title", conversation, before, limit };
        let reply = store.search(query).await.unwrap();
        (reply.titles.len(), reply.messages.len(), reply.before)
    };
    assert_eq!(search(None, None, 2).await, (2, 2, None), "as many as asked for, and no more messages");
    assert_eq!(search(None, None, 1).await, (1, 1, Some(Seq(5))));
    assert_eq!(search(None, Some(Seq(5)), 1).await, (0, 1, None), "the first page had the titles");
    assert_eq!(search(Some(a), None, 9).await, (0, 2, None), "a conversation's title is known");
}

/// Marks are places in the shown text.
#[tokio::test]
async fn only_what_is_shown_of_a_long_line_is_marked() {
    let home = Home::new();
    let store = home.open();
    let a = begin(&store, 1, 1).await;
    say(&store, a, 2, user(&format!("needle {} needle", "x".repeat(900)))).await;
    let reply =
        store.search(SearchQuery { words: "needle", limit: 9, ..SearchQuery::default() }).await.unwrap();
    let line = &reply.messages[0].line;
    let marked: Vec<_> =
        line.marks.iter().map(|mark| &line.text[mark.start as usize..mark.end as usize]).collect();
    assert_eq!(marked, ["needle"]);
}
