//! How large a model's window is: the configuration knows best, then the server, then the format.

use palyra_model_server::{Behaviour, ModelServer, Reply};
use palyra_ports::ModelProvider;
use palyra_providers::{OpenAiChatProvider, OpenAiConfig};
use palyra_types::model::ModelName;

#[tokio::test]
async fn a_window_is_the_configured_one_or_else_what_the_server_tells() {
    let told = br#"{"data":[{"id":"small","meta":{"n_ctx":8192}},{"id":"untold"}]}"#;
    let behaviour =
        Behaviour::always(Reply::text("hello")).with_models_reply(Reply::raw("application/json", told));
    let server = ModelServer::start(behaviour).await.expect("a port");
    let [small, untold] = ["small", "untold"].map(ModelName::new);
    let config = || OpenAiConfig::new("server", &server.base_url(), None);

    let provider = OpenAiChatProvider::new(config()).expect("a good configuration");
    let assumed = provider.model_info(&small).context_tokens;
    assert_ne!(assumed, 8_192, "nothing was told yet");
    provider.models().await.expect("a list");
    assert_eq!(provider.model_info(&small).context_tokens, 8_192);
    assert_eq!(provider.model_info(&untold).context_tokens, assumed);

    let configured = OpenAiConfig { context_tokens: Some(4_096), ..config() };
    let provider = OpenAiChatProvider::new(configured).expect("a good configuration");
    let listed = provider.models().await.expect("a list");
    assert!(listed.iter().all(|info| info.context_tokens == 4_096), "{listed:?}");
    assert_eq!(provider.model_info(&small).context_tokens, 4_096);
}
