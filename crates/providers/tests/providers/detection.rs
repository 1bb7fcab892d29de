//! Detection against servers that are there, and some that are not.

use std::collections::BTreeMap;

use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_providers::detect::{
    LocalServer, SelectModelError, explicit_selection, probe_servers, selected_model,
};
use palyra_providers::{OpenAiChatProvider, OpenAiConfig};

fn local(name: &'static str, base_url: String) -> LocalServer {
    LocalServer { name, base_url }
}

#[tokio::test]
async fn servers_that_answer_are_found_with_their_models() {
    let with_models = Behaviour::always(Reply::silent()).with_models(&["a", "b"]);
    let here = ModelServer::start(with_models).await.expect("a port");
    let locked = ModelServer::start(Behaviour::always(Reply::silent()).with_key("k")).await.expect("a port");
    let gone = ModelServer::start(Behaviour::always(Reply::silent())).await.expect("a port").base_url();
    let found = probe_servers(vec![
        local("gone", gone),
        local("here", here.base_url()),
        local("locked", locked.base_url()),
    ])
    .await;
    assert_eq!(found.len(), 1);
    let sentence = found[0].sentence();
    assert!(sentence.contains("(here, by its port) and has a, b; it is not used by itself"), "{sentence}");
    assert_eq!(here.counts().requests, 1);
}

#[tokio::test]
async fn a_selection_without_a_model_takes_the_first_one() {
    let first = async |models: &[&str], named: Option<&str>| {
        let behaviour = Behaviour::always(Reply::text("ok")).with_models(models);
        let server = ModelServer::start(behaviour).await.expect("a port");
        let mut environment = BTreeMap::from([("OPENAI_BASE_URL".to_owned(), server.base_url())]);
        environment.extend(named.map(|name| ("PALYRA_MODEL".to_owned(), name.to_owned())));
        let selection = explicit_selection(&environment).expect("usable").expect("selected");
        let config = OpenAiConfig::new("openai", &selection.base_url, None);
        let provider = OpenAiChatProvider::new(config).expect("usable");
        selected_model(&selection, &provider).await
    };
    assert_eq!(first(&["x", "y"], None).await.expect("a model").as_str(), "x");
    assert_eq!(first(&["x", "y"], Some("z")).await.expect("a model").as_str(), "z");
    assert_eq!(first(&[], None).await, Err(SelectModelError::NoModel));
}
