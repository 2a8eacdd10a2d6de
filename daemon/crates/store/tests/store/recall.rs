//! What is recalled of other conversations.

use super::{delete::files_that_hold, support::*};
use abide_protocol::{
    ConversationId, RecordId, Seq, Timestamp,
    memory::{MemoryUse, RecallWay, Snippet, Source},
    record::{
        By, Compacted, CompactedStep, ConversationCreated, ConversationUpdated, Noted, Recalled, RecordBody,
        TaskEnded, Via,
    },
    task::EndReason,
};
use abide_store::{Deleted, Forgotten, HistorySnapshot, Integrity, Prune, RecallQuery, Store};
use std::sync::LazyLock;

pub(crate) static HERE: LazyLock<[String; 1]> = LazyLock::new(|| ["/w".to_owned()]);

pub(crate) fn here(texts: &'static [&'static str]) -> RecallQuery<'static> {
    RecallQuery { texts, workspaces: Some(&HERE[..]), limit: 10, ..RecallQuery::default() }
}

pub(crate) async fn recalled(store: &Store, query: RecallQuery<'_>) -> Vec<Snippet> {
    store.recall(query).await.unwrap()
}

pub(crate) async fn seqs(store: &Store, query: RecallQuery<'_>) -> Vec<u64> {
    recalled(store, query).await.iter().map(|snippet| snippet.seq.0).collect()
}

pub(crate) async fn say(store: &Store, id: ConversationId, n: u64, bodies: &[RecordBody]) {
    let records = (n..).zip(bodies).map(|(n, body)| record(n, None, body.clone())).collect();
    store.append(append(id, records)).await.unwrap();
}

fn facts(n: u64, workspace: &str) -> ConversationCreated {
    ConversationCreated {
        title: format!("title {n}"),
        workspace: workspace.to_owned(),
        mode: None,
        model: None,
        persona: None,
        memory: MemoryUse::Normal,
    }
}

pub(crate) async fn begin_in(store: &Store, n: u64, first: u64, workspace: &str) -> ConversationId {
    let record = record(first, None, RecordBody::ConversationCreated(facts(n, workspace)));
    store.append(append(conversation(n), vec![record])).await.unwrap();
    conversation(n)
}

pub(crate) async fn set(store: &Store, id: ConversationId, n: u64, memory: MemoryUse) {
    let update = ConversationUpdated { memory: Some(memory), ..ConversationUpdated::default() };
    say(store, id, n, &[RecordBody::ConversationUpdated(update)]).await;
}

fn summary(words: &str) -> RecordBody {
    let summary = Some(words.to_owned());
    RecordBody::TaskEnded(TaskEnded { summary, ..TaskEnded::of(EndReason::Completed) })
}

#[tokio::test]
async fn the_same_words_other_forms_of_them_and_identifiers_are_recalled() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let memories = [
        user("Our staging database listens on port 5433."),
        reply("Releases are tagged by the script in tools/tag_release.sh.", &[]),
        user("Please never squash commits when you merge."),
        reply("The test `parses_empty_header` fails because of a missing newline.", &[]),
        user("The café in the basement opens at nine."),
        reply("Kubernetes pods restart since the liveness probe times out.", &[]),
    ];
    say(&store, id, 2, &memories).await;
    let questions: [(&[&str], u64); 8] = [
        (&["On which port does the staging database listen?"], 2),
        (&["How do I tag a release?"], 3),
        (&["Merge the branch; should I squash the commit?"], 4),
        (&["parses_empty_header is red again"], 5),
        (&["why is the parsing of headers failing"], 5),
        (&["When does the cafe open"], 6),
        (&["the pod was restarted"], 7),
        (&["", "the liveness probes"], 7),
    ];
    for (texts, expected) in questions {
        let query = RecallQuery { texts, workspaces: Some(&HERE[..]), limit: 10, ..RecallQuery::default() };
        // A message that follows what is meant has its words too.
        let found = seqs(&store, query).await;
        assert!(found.iter().take(2).any(|seq| *seq == expected), "{texts:?}: {found:?}");
    }
    assert_eq!(seqs(&store, here(&["which is what it is"])).await, [] as [u64; 0], "stop words say nothing");
    let snippet = recalled(&store, here(&["liveness"])).await.remove(0);
    assert_eq!((snippet.conversation_id, snippet.title.as_str(), snippet.at), (id, "title 1", Timestamp(7)));
    assert_eq!((snippet.source, snippet.why()), (Source::Agent, "words #1".to_owned()));
}

#[tokio::test]
async fn what_a_message_answers_is_recalled_with_it() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    say(&store, id, 2, &[user("How is the parser generated?"), reply("By running make grammar there.", &[])])
        .await;
    let snippet = recalled(&store, here(&["grammar"])).await.remove(0);
    assert_eq!(snippet.before, "How is the parser generated?");
    assert_eq!(seqs(&store, here(&["parser"])).await.len(), 2, "the reply is found by the question's words");
}

#[tokio::test]
async fn only_conversations_of_the_same_workspace_are_recalled_and_not_the_own_one() {
    let home = Home::new();
    let store = home.open();
    let scratch = |n| format!("/home/scratch/{}", conversation(n));
    for (n, workspace) in [(1, "/w".to_owned()), (2, "/other".to_owned()), (3, scratch(3)), (4, scratch(4))] {
        let id = begin_in(&store, n, 100 * n, &workspace).await;
        say(&store, id, 100 * n + 1, &[user(&format!("The needle is in haystack number {n}."))]).await;
    }
    let found = async |workspaces: Option<&[&str]>, except: u64| {
        let except = Some(conversation(except));
        let workspaces: Option<Vec<_>> =
            workspaces.map(|all| all.iter().map(|&path| path.to_owned()).collect());
        let workspaces = workspaces.as_deref();
        let query =
            RecallQuery { texts: &["needle"], workspaces, except, limit: 9, ..RecallQuery::default() };
        let snippets = recalled(&store, query).await;
        let mut found: Vec<u64> = snippets.iter().map(|p| p.conversation_id.0.as_u64_pair().1).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found(Some(&["/w"]), 9).await, [1]);
    assert_eq!(found(Some(&["/w"]), 1).await, [0; 0]);
    assert_eq!(found(Some(&["/empty"]), 9).await, [0_u64; 0]);
    assert_eq!(found(Some(&[&scratch(4)]), 4).await, [3], "private folders are one workspace");
    assert_eq!(found(Some(&["/w", "/other"]), 9).await, [1, 2], "two work trees of one repository");
    assert_eq!(found(None, 9).await, [1, 2, 3, 4]);

    // It moves to another workspace.
    let update = ConversationUpdated { workspace: Some("/w".to_owned()), ..ConversationUpdated::default() };
    say(&store, conversation(2), 210, &[RecordBody::ConversationUpdated(update)]).await;
    assert_eq!(found(Some(&["/w"]), 9).await, [1, 2]);
}

#[tokio::test]
async fn a_record_and_a_text_are_recalled_once_and_the_newest_summary_always() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let long = format!("{}needle\n\n{}needle", "much hay ".repeat(60), "more hay ".repeat(60));
    let bodies = [
        user(&long),
        summary("It is done as it was asked."),
        user("a needle again"),
        user("a needle again"),
        summary("Nothing was to be done."),
        summary("Moved the needle."),
    ];
    say(&store, id, 2, &bodies).await;
    let mut found = seqs(&store, here(&["needle"])).await;
    found.sort_unstable();
    assert_eq!(found, [2, 5, 6, 7], "the newer one of two equal texts");
    let at_start = |texts| RecallQuery { at_start: true, ..here(texts) };
    let snippets = recalled(&store, at_start(&["needle"])).await;
    let newest = snippets.iter().find(|snippet| snippet.seq.0 == 7).unwrap();
    assert!(newest.why().ends_with(", last here"), "{}", newest.why());
    let snippets = recalled(&store, at_start(&["unheard of"])).await;
    assert_eq!((snippets.len(), snippets[0].why().as_str()), (1, "last here"));
    let few = RecallQuery { limit: 1, ..at_start(&["hay"]) };
    assert_eq!(seqs(&store, few).await.len(), 2);
}

#[tokio::test]
async fn nothing_of_a_private_conversation_is_recalled_until_it_is_private_no_more() {
    for chunks in [3, 150] {
        let home = Home::new();
        let store = home.open();
        let kept = begin(&store, 1, 1).await;
        say(&store, kept, 2, &[user("a vermilion bird, not a fish")]).await;
        let id = begin(&store, 2, 10).await;
        let words: Vec<RecordBody> =
            (0..chunks).map(|n| user(&format!("chartreuse thing number{n}"))).collect();
        say(&store, id, 100, &words).await;
        let all = RecallQuery { limit: 500, ..here(&["chartreuse thing"]) };
        assert_eq!(seqs(&store, all).await.len(), chunks.min(50));
        set(&store, id, 20, MemoryUse::Private).await;
        assert_eq!(seqs(&store, all).await, [] as [u64; 0]);
        say(&store, id, 300, &[user("another chartreuse thing")]).await;
        assert_eq!(seqs(&store, all).await, [] as [u64; 0], "what it says now neither");
        assert_eq!(seqs(&store, here(&["birds"])).await.len(), 1, "the others are there");
        for (n, memory) in [(21, MemoryUse::NoRecall), (22, MemoryUse::Normal)] {
            set(&store, id, n, memory).await;
            assert_eq!(seqs(&store, all).await.len(), (chunks + 1).min(50), "{memory:?}");
        }
        assert_eq!(store.conversation(id).await.unwrap().unwrap().memory, MemoryUse::Normal);
    }
}

#[tokio::test]
async fn a_conversation_that_begins_as_private_has_no_passage_until_it_is_private_no_more() {
    let home = Home::new();
    let store = home.open();
    let private = ConversationCreated { memory: MemoryUse::Private, ..facts(1, "/w") };
    let first = [RecordBody::ConversationCreated(private), user("a chartreuse needle in hay")];
    say(&store, conversation(1), 1, &first).await;
    assert_eq!(seqs(&store, here(&["needle"])).await, [] as [u64; 0]);
    assert_eq!(store.memory_size().await.unwrap().passages, 0);
    set(&store, conversation(1), 20, MemoryUse::Normal).await;
    assert_eq!(seqs(&store, here(&["needle"])).await, [2]);
}

/// With few chunks, taken out one by one, and with many, when the index is emptied.
#[tokio::test]
async fn the_memory_keeps_no_word_of_a_deleted_conversation() {
    for chunks in [3, 150] {
        let home = Home::new();
        let store = home.open();
        let kept = begin(&store, 1, 1).await;
        say(&store, kept, 2, &[user("a vermilion bird, not a fish")]).await;
        let id = begin(&store, 2, 10).await;
        let words: Vec<RecordBody> =
            (0..chunks).map(|n| user(&format!("chartreusely thing number{n}"))).collect();
        say(&store, id, 100, &words).await;
        let call = vec![record(500, Some(2), assessed(1, "{}")), record(501, Some(2), finished(1, 1))];
        store.append(append(id, call)).await.unwrap();
        assert_eq!(seqs(&store, here(&["chartreusely"])).await.len(), chunks.min(10));
        let folder = home.path().parent().unwrap().to_owned();
        assert_ne!(files_that_hold(&folder, "chartreus"), [] as [String; 0]);
        store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
        assert_eq!(files_that_hold(&folder, "chartreus"), [] as [String; 0]);
        assert_eq!(seqs(&store, here(&["chartreusely"])).await, [] as [u64; 0]);
        assert_eq!(seqs(&store, here(&["bird"])).await.len(), 1);
        assert_eq!(store.check().await.unwrap(), Integrity::Sound);
    }
}

#[tokio::test]
async fn a_damaged_record_is_not_recalled_and_the_others_are() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    say(&store, id, 2, &[user("a needle of steel"), user("a needle of gold")]).await;
    let damage = "UPDATE records SET body = replace(body, 'steel', 'stell')";
    rusqlite::Connection::open(home.path()).unwrap().execute(damage, []).unwrap();
    assert_eq!(seqs(&store, here(&["needle"])).await, [3]);
    let damage = "UPDATE records SET body = replace(body, 'gold', 'glod')";
    rusqlite::Connection::open(home.path()).unwrap().execute(damage, []).unwrap();
    assert_eq!(seqs(&store, here(&["needle"])).await, [] as [u64; 0]);
    store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
    assert_eq!(files_that_hold(home.path().parent().unwrap(), "needle"), [] as [String; 0]);
}

/// An index that an older version has filled.
#[tokio::test]
async fn an_index_of_another_form_is_made_anew() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    say(&store, id, 2, &[user("a needle of steel")]).await;
    assert_eq!(seqs(&store, here(&["needle"])).await, [2]);
    let older = "UPDATE memory_progress SET form = 0; UPDATE chunks SET id = id + 5;";
    rusqlite::Connection::open(home.path()).unwrap().execute_batch(older).unwrap();
    assert_eq!(seqs(&store, here(&["needle"])).await, [2]);
    rusqlite::Connection::open(home.path()).unwrap().execute_batch(older).unwrap();
    store.delete_conversation(id, Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
    assert_eq!(files_that_hold(home.path().parent().unwrap(), "needl"), [] as [String; 0]);
}

fn recall_of(snippets: &[Snippet]) -> RecordBody {
    let snippets = snippets.to_vec();
    RecordBody::Recalled(Recalled { form: 1, how: RecallWay::Words, snippets, problem: None })
}

/// What the conversation has recalled.
async fn had(store: &Store, id: ConversationId) -> Vec<String> {
    let records = store.conversation_records(id).await.unwrap();
    let texts = records.into_iter().filter_map(|record| match record.body {
        RecordBody::Recalled(recalled) => Some(recalled.snippets.into_iter().map(|snippet| snippet.text)),
        _ => None,
    });
    texts.flatten().collect()
}

pub(crate) fn somebody() -> By {
    By { via: Via::Socket, name: "test".to_owned() }
}

#[tokio::test]
async fn what_is_deleted_or_forgotten_is_taken_out_of_what_others_have_recalled() {
    for is_deleted in [true, false] {
        let home = Home::new();
        let store = home.open();
        let source = begin(&store, 1, 1).await;
        say(&store, source, 2, &[user("a chartreuse needle in hay")]).await;
        let other = begin(&store, 2, 10).await;
        say(&store, other, 11, &[user("a vermilion needle in hay")]).await;
        let snippets = recalled(&store, here(&["needle"])).await;
        assert_eq!(snippets.len(), 2);
        let id = begin(&store, 3, 20).await;
        start(&store, id, 21, abide_protocol::task::Status::Running).await;
        say(&store, id, 22, &[recall_of(&snippets)]).await;
        let body = b"chartreuse".to_vec();
        let snapshot = HistorySnapshot { conversation_id: id, task_id: task_id(21), form: 1, body };
        store.keep_history_snapshot(snapshot).await.unwrap();
        home.told();

        if is_deleted {
            let deleted = store.delete_conversation(source, Timestamp(99), RecordId(uuid(1, 1))).await;
            assert_eq!(deleted, Ok(Deleted { records: 2, blanked: vec![id] }));
        } else {
            let forget =
                async |n| store.forget(Seq(2), somebody(), Timestamp(99), RecordId(uuid(1, n))).await;
            let forgotten = Forgotten { records: vec![Seq(2)], passages: 1, blanked: vec![id] };
            assert_eq!(forget(1).await, Ok(forgotten));
            assert_eq!(forget(2).await.unwrap().passages, 0, "it is forgotten");
            assert_eq!(
                store
                    .forget(Seq(999), somebody(), Timestamp(99), RecordId(uuid(1, 3)))
                    .await
                    .unwrap()
                    .passages,
                0
            );
        }
        assert_eq!(seqs(&store, here(&["needle"])).await, [4]);
        let mut texts = had(&store, id).await;
        texts.sort_unstable();
        assert_eq!(texts, ["", "a vermilion needle in hay"]);
        assert_eq!(store.check().await.unwrap(), Integrity::Sound);
        if is_deleted {
            assert_eq!(files_that_hold(home.path().parent().unwrap(), "chartreuse"), [] as [String; 0]);
        }
        // A recall that had been found before.
        say(&store, id, 30, &[recall_of(&snippets)]).await;
        assert_eq!(had(&store, id).await.iter().filter(|text| text.contains("chartreuse")).count(), 0);

        // The same after all was made anew.
        store.close().await;
        let repairing = Store::open_repairing(options(&home.path()), Box::new(|_| {}), |_, _| Vec::new());
        let store = repairing.unwrap();
        store.repair().await.unwrap();
        assert_eq!(seqs(&store, here(&["needle"])).await, [4]);
        store.delete_conversation(other, Timestamp(99), RecordId(uuid(1, 9))).await.unwrap();
        assert_eq!(had(&store, id).await, ["", "", "", ""]);
        assert_eq!(files_that_hold(home.path().parent().unwrap(), "vermilion"), [] as [String; 0]);
    }
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_other_record_of_its_conversation() {
    let home = Home::new();
    let store = home.open();
    let source = begin(&store, 1, 1).await;
    let said = "a chartreuse needle in hay";
    // A task's last words are in its end, too. The next message quotes them.
    let of_task = |n, body| record(n, Some(2), body);
    let first = vec![
        of_task(2, user("Where is the needle?")),
        of_task(3, reply(said, &[])),
        of_task(4, reply("another needle there", &[])),
        of_task(5, reply(said, &[])),
        of_task(6, summary(said)),
    ];
    store.append(append(source, first)).await.unwrap();
    say(&store, source, 7, &[user("And now the needles' eyes.")]).await;
    let snippets = recalled(&store, here(&["needle"])).await;
    let id = begin(&store, 2, 20).await;
    say(&store, id, 21, &[recall_of(&snippets)]).await;
    assert!(snippets.iter().any(|snippet| snippet.before == said), "{snippets:?}");

    let seq = snippets.iter().find(|snippet| snippet.text == said).unwrap().seq;
    let forgotten = store.forget(seq, somebody(), Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
    assert_eq!((forgotten.records.len(), forgotten.passages), (3, 3));
    assert_eq!(forgotten.blanked, [id]);
    for is_anew in [false, true] {
        let found = recalled(&store, here(&["needle", "chartreuse"])).await;
        let mut found: Vec<String> =
            found.into_iter().map(|it| format!("{}|{}", it.before, it.text)).collect();
        found.sort();
        let left = [
            "Where is the needle?|another needle there",
            "|And now the needles' eyes.",
            "|Where is the needle?",
        ];
        assert_eq!(found, left, "the index is made anew: {is_anew}");
        assert_eq!(seqs(&store, here(&["chartreuse"])).await, [] as [u64; 0]);
        assert_eq!(store.check().await.unwrap(), Integrity::Sound);
        let older = "UPDATE memory_progress SET form = 0";
        rusqlite::Connection::open(home.path()).unwrap().execute_batch(older).unwrap();
    }
    let mut texts = had(&store, id).await;
    texts.sort_unstable();
    assert_eq!(texts, ["", "And now the needles' eyes.", "Where is the needle?", "another needle there"]);
    store.delete_conversation(source, Timestamp(99), RecordId(uuid(1, 2))).await.unwrap();
    assert_eq!(files_that_hold(home.path().parent().unwrap(), "chartreuse"), [] as [String; 0]);
}

async fn add_note(store: &Store, n: u64, text: &str, workspace: Option<&str>) -> Seq {
    let (workspace, id) = (workspace.map(str::to_owned), RecordId(uuid(2, n)));
    store.add_note(text.to_owned(), workspace, somebody(), Timestamp(50), id).await.unwrap()
}

#[tokio::test]
async fn notes_of_the_workspace_and_those_for_all_come_first_and_are_found_by_their_words() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let note = RecordBody::Noted(Noted { text: "Heed tabs".to_owned() });
    say(&store, id, 2, &[user("a needle in the hay"), note]).await;
    add_note(&store, 1, "of here", Some("/w")).await;
    add_note(&store, 2, "of all", None).await;
    add_note(&store, 3, "of elsewhere", Some("/other")).await;
    let found = async |query: RecallQuery<'_>| {
        let snippets = recalled(&store, query).await;
        snippets.iter().map(|s| format!("{} ({})", s.text, s.why())).collect::<Vec<_>>()
    };
    let at_start = RecallQuery { at_start: true, limit: 1, ..here(&["needles"]) };
    let always = ["of all (always)", "of here (always)", "Heed tabs (always)"];
    assert_eq!(found(at_start).await, [&always[..], &["a needle in the hay (words #1)"]].concat());
    let own = RecallQuery { except: Some(id), ..at_start };
    assert_eq!(found(own).await, always[..2], "the own conversation knows what it has noted");
    assert_eq!(found(here(&["tab", "heeding"])).await, ["Heed tabs (words #1)"]);
    assert_eq!(found(here(&["elsewhere"])).await, [] as [&str; 0]);

    let listed = async |workspaces| {
        let notes = store.notes(workspaces).await.unwrap();
        notes.into_iter().map(|note| (note.text, note.conversation_id, note.workspace)).collect::<Vec<_>>()
    };
    let here = Some("/w".to_owned());
    let expected = [
        ("of all".to_owned(), None, None),
        ("of here".to_owned(), None, here.clone()),
        ("Heed tabs".to_owned(), Some(id), here),
    ];
    assert_eq!(listed(Some(&HERE[..])).await, expected);
    assert_eq!(listed(None).await.len(), 4);
    assert!(
        store.remembers(conversation(9), &["/nowhere".to_owned()]).await.unwrap(),
        "there is a note for all"
    );
}

#[tokio::test]
async fn a_persons_note_is_erased_by_forgetting_it_and_an_agents_goes_with_its_conversation() {
    let home = Home::new();
    let store = home.open();
    let folder = home.path().parent().unwrap().to_owned();
    let seq = add_note(&store, 1, "chartreuse", None).await;
    let source = begin(&store, 1, 1).await;
    say(&store, source, 2, &[RecordBody::Noted(Noted { text: "vermilion".to_owned() })]).await;
    let snippets = recalled(&store, RecallQuery { at_start: true, ..here(&["nothing"]) }).await;
    assert_eq!(snippets.len(), 2);
    let id = begin(&store, 3, 20).await;
    say(&store, id, 21, &[recall_of(&snippets)]).await;
    let forgotten = store.forget(seq, somebody(), Timestamp(99), RecordId(uuid(1, 1))).await.unwrap();
    assert_eq!(forgotten, Forgotten { records: vec![seq], passages: 1, blanked: vec![id] });
    assert_eq!(files_that_hold(&folder, "chartreuse"), [] as [String; 0]);
    assert_eq!(had(&store, id).await.len(), 2);
    // It had been found before.
    say(&store, id, 22, &[recall_of(&snippets)]).await;
    assert_eq!(files_that_hold(&folder, "chartreuse"), [] as [String; 0]);
    store.delete_conversation(source, Timestamp(99), RecordId(uuid(1, 2))).await.unwrap();
    assert_eq!(files_that_hold(&folder, "vermilion"), [] as [String; 0]);
    assert_eq!(store.notes(None).await.unwrap(), []);
    // Whichever reader checks, the one that has searched or another.
    for _ in 0..16 {
        assert_eq!(store.check().await.unwrap(), Integrity::Sound);
    }
    assert_eq!(store.replace_rules().await, Ok(false));
}

#[tokio::test]
async fn old_passages_are_pruned_and_stay_so_and_records_and_notes_stay() {
    for prune in [Prune::AllBut(1), Prune::Before(Timestamp(4))] {
        let home = Home::new();
        let store = home.open();
        let id = begin(&store, 1, 1).await;
        let note = RecordBody::Noted(Noted { text: "a needle".to_owned() });
        say(&store, id, 2, &[note, user("a needle of steel"), user("a needle of gold")]).await;
        let before = seqs(&store, here(&["needle"])).await.len();
        let gone =
            async |n| store.prune_memory(prune, true, somebody(), Timestamp(99), RecordId(uuid(1, n))).await;
        assert_eq!((before, gone(1).await.unwrap(), gone(2).await.unwrap()), (3, 1, 0), "{prune:?}");
        let left = async || {
            let mut texts: Vec<String> =
                recalled(&store, here(&["needle"])).await.into_iter().map(|snippet| snippet.text).collect();
            texts.sort_unstable();
            texts
        };
        assert_eq!(left().await, ["a needle", "a needle of gold"]);
        let older = "UPDATE memory_progress SET form = 0";
        rusqlite::Connection::open(home.path()).unwrap().execute(older, []).unwrap();
        assert_eq!(left().await, ["a needle", "a needle of gold"], "an index that is made anew has no more");
        assert_eq!(store.conversation_records(id).await.unwrap().len(), 4);
    }
}

#[tokio::test]
async fn replies_that_a_compaction_has_taken_out_of_the_own_transcript_are_recalled() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let own = RecallQuery { except: Some(id), limit: 50, ..here(&["needle"]) };
    let of_task = |n: u64, body| record(n, Some(1), body);
    let step = |n: u32| {
        let mut body = reply(&format!("Number {n} is a needle."), &[]);
        if let RecordBody::Reply(reply) = &mut body {
            reply.step = n;
        }
        body
    };
    let shortened = |steps: std::ops::Range<u32>| {
        let steps = steps.map(|step| CompactedStep { step, text: format!("Step {step}: looked.") });
        RecordBody::Compacted(Compacted { steps: steps.collect(), ..Compacted::default() })
    };
    // Seq 2 is the task's start, 3 a person's words, 4 to 29 the replies of the steps 1 to 26.
    let mut records = vec![of_task(2, task_started(None)), of_task(3, user("My needle is of gold."))];
    records.extend((1..27).map(|n| of_task(u64::from(n) + 3, step(n))));
    records.push(of_task(30, shortened(0..0)));
    store.append(append(id, records)).await.unwrap();
    assert_eq!(seqs(&store, own).await, [] as [u64; 0], "its transcript has them all");
    assert!(!store.remembers(id, &*HERE).await.unwrap());

    store.append(append(id, vec![of_task(31, shortened(1..25))])).await.unwrap();
    assert!(store.remembers(id, &*HERE).await.unwrap());
    let mut found = seqs(&store, own).await;
    found.sort_unstable();
    assert_eq!(found, (8..28).collect::<Vec<u64>>(), "the last twenty of the steps 1 to 24");
    let other = RecallQuery { except: Some(conversation(9)), ..own };
    assert_eq!(seqs(&store, other).await.len(), 27, "another conversation recalls all of it");
}
