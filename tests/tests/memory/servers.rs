//! Recall by meaning, with an embedding model on llama.cpp's own server.

use super::{
    meaning::{all_embedded, install, published, recall, vectors},
    recall::ask,
};
use abide_client::protocol::memory::{Reason, RecallWay};
use abide_tests::{
    daemon::Config,
    model_server::{ModelServer, Turn},
    peer::{MINILM, Server},
    skip::skip,
    world::World,
};

const FACT: &str = "You keep the car in the garage behind the house.";

#[tokio::test]
async fn a_server_and_the_built_in_model_say_the_same_of_passages() {
    let test = "an embedding model on a server";
    let Some(folder) = published(test) else { return };
    let Some(peer) = Server::minilm().await else { return skip(test, "xllamacpp is not installed") };
    let model = ModelServer::start().await;
    let config = Config::with(&model).memory().provider("peer", "openai-chat", &peer.openai_url(), "");
    let named = config.clone().embedder(&format!("peer/{MINILM}"));
    let world = World::configured(model, &named).await;
    let said = [FACT, "Wir öffnen um 8:30 Uhr.", "let port = 5433; // staging\nserve(port)?;"];
    let script = said.map(Turn::say).into_iter().chain([Turn::done("I noted all three of them.")]);
    world.model.script("first", script.collect::<Vec<_>>());
    world.wait_end(ask(&world, "first", "Remember these things.", world.task("first")).await).await;
    all_embedded(&world).await;
    let (_, found) = recall(&world, "found", "Where is my automobile parked?").await;
    let found = found.expect("it recalled");
    assert_eq!((found.how, &found.problem), (RecallWay::WordsAndMeaning, &None));
    let by_meaning = |reason: &Reason| matches!(reason, Reason::Meaning(_));
    assert!(found.snippets.iter().any(|it| it.text == FACT && it.why.iter().any(by_meaning)), "{found:?}");

    all_embedded(&world).await;
    let of_server = vectors(&world);
    world.daemon.configure(&config.embedder("builtin"));
    install(&world, &folder).await;
    all_embedded(&world).await;
    let built_in = vectors(&world);
    assert!(of_server.len() == built_in.len() && of_server.len() > 4, "{}", of_server.len());
    for (one, other) in of_server.iter().zip(&built_in) {
        let product = |a: &[u8], b: &[u8]| {
            let numbers =
                |bytes: &[u8]| bytes.iter().map(|byte| f64::from(byte.cast_signed())).collect::<Vec<_>>();
            numbers(a).iter().zip(numbers(b)).map(|(a, b)| a * b).sum::<f64>()
        };
        let cosine = product(one, other) / (product(one, one) * product(other, other)).sqrt();
        assert!(cosine > 0.998, "{cosine}");
    }
}
