//! Which server may lack its key, and when.

use std::collections::BTreeMap;
use std::path::Path;

use palyra_vault::Vault;

use super::*;
use crate::config;
use crate::system::SystemEntropy;

/// Returns whether the server `box` with this section is refused.
fn is_refused(section: &str, model: &str, missing: MissingSecret) -> bool {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().expect("a folder");
    let vault = Vault::open(&folder.path().join("vault"), Arc::new(SystemEntropy));
    let sources = KeySources {
        environment: Arc::default(),
        vault: Some(Arc::new(vault)),
        gateways: palyra_ports::GatewayTrail::default(),
        answers: crate::model_answers::ModelAnswers::default(),
    };
    let text = format!("[model]\n{model}\n[providers.box]\n{section}\n");
    let config = config::load_text(Path::new("/f/palyra.toml"), &text, &sources.environment, &[]);
    let planned = plan(&config.expect("valid"), &sources, missing);
    planned.is_err_and(|errors| errors.iter().all(|error| error.to_string().contains("provider `box`")))
}

#[test]
fn a_missing_key_is_refused_where_it_is_needed_and_awaited_where_it_can_be_there_later() {
    use MissingSecret::{Awaited, Refused};
    let (env, vault) =
        ("base_url = \"https://h\"\nkey = \"env:NONE\"", "base_url = \"https://h\"\nkey = \"vault:none\"");
    let file = "base_url = \"https://h\"\nkey = \"file:/none\"";
    let readable = "base_url = \"http://h\"\nkey = \"vault:none\"";
    let (other, default, fallback) = ("", "default = \"box/m\"", "fallbacks = [\"box/m\"]");
    for (section, model, missing, expect) in [
        (env, other, Refused, false),
        (env, other, Awaited, false),
        (env, default, Refused, true),
        (env, default, Awaited, true),
        (env, fallback, Awaited, true),
        (vault, other, Refused, false),
        (vault, default, Refused, true),
        (vault, fallback, Refused, true),
        // Only a daemon that runs can unlock and fill its vault.
        (vault, default, Awaited, false),
        (file, other, Awaited, true),
        (readable, other, Awaited, true),
    ] {
        assert_eq!(is_refused(section, model, missing), expect, "{section} {model} {missing:?}");
    }
}

#[test]
fn a_server_of_the_environment_that_cannot_be_set_up_is_found_without_a_network() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let planned = |key: &str| {
        let pairs = [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("OPENAI_API_KEY", key)];
        let environment = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let sources = KeySources {
            environment: Arc::new(environment),
            vault: None,
            gateways: palyra_ports::GatewayTrail::default(),
            answers: crate::model_answers::ModelAnswers::default(),
        };
        let config = config::load_text(Path::new("/f/palyra.toml"), "", &sources.environment, &[]);
        plan(&config.expect("valid"), &sources, MissingSecret::Refused).err().unwrap_or_default()
    };
    let mistakes = planned("sesame\u{7f}sesame");
    let [mistake] = mistakes.as_slice() else { panic!("{mistakes:?}") };
    let said = chain(mistake);
    assert!(said.contains("OPENAI_API_KEY") && !said.contains("sesame"), "{said}");
    assert!(planned("sesame").is_empty());
}

#[test]
fn a_key_that_a_configured_server_has_is_not_offered() {
    let environment = BTreeMap::from([("OPENAI_API_KEY".to_owned(), "canary".to_owned())]);
    let offered = |text: &str| {
        let config = config::load_text(Path::new("/f/palyra.toml"), text, &environment, &[]);
        unused_keys(&config.expect("valid"), &environment)
    };
    let [offer] = <[String; 1]>::try_from(offered("")).expect("one offer");
    assert!(
        offer.contains("(env:OPENAI_API_KEY); it is not used by itself") && !offer.contains("canary"),
        "{offer}"
    );
    assert_eq!(offered("[providers.box]\nbase_url = \"https://h\"\nkey = \"env:OTHER\"\n"), [offer]);
    assert!(offered("[providers.box]\nbase_url = \"https://h\"\nkey = \"env:OPENAI_API_KEY\"\n").is_empty());
}

/// Builds the models of a configuration without a network; returns the models for embeddings.
async fn embedding_models(text: &str) -> Result<Vec<String>, String> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let sources = KeySources {
        environment: Arc::default(),
        vault: None,
        gateways: palyra_ports::GatewayTrail::default(),
        answers: crate::model_answers::ModelAnswers::default(),
    };
    let config = config::load_text(Path::new("/f/palyra.toml"), text, &sources.environment, &[]);
    let built = build(&config.expect("valid"), &sources, MissingSecret::Refused).await;
    let directory = built.map_err(|errors| describe_all(&errors))?;
    Ok(directory.embedders().iter().map(|embedder| embedder.embedding_model().name.to_string()).collect())
}

#[tokio::test]
async fn the_configured_model_for_embeddings_is_before_the_embedded_one() {
    let local = "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    for (text, expected) in [
        (String::new(), vec!["palyra-embedded"]),
        ("embeddings.model = \"palyra-embedded\"\n".to_owned(), vec!["palyra-embedded"]),
        ("embeddings.model = \"\"\n".to_owned(), vec!["palyra-embedded"]),
        (format!("embeddings.model = \"local/a/b\"\n{local}"), vec!["local/a/b", "palyra-embedded"]),
    ] {
        assert_eq!(embedding_models(&text).await.expect("valid"), expected, "{text}");
    }
}

#[tokio::test]
async fn a_model_for_embeddings_of_a_provider_that_has_none_is_refused_with_the_reason() {
    let cloud = "[providers.cloud]\nbase_url = \"https://h\"\nformat = \"anthropic_messages\"\n";
    for (model, why) in [
        ("nope/m", "no provider of this name is configured"),
        ("openai/text-embedding-3-small", "no provider of this name is configured"),
        ("demo/demo", "the built-in provider has no embeddings"),
        ("cloud/m", "the format anthropic_messages has no embeddings"),
    ] {
        let said =
            embedding_models(&format!("embeddings.model = \"{model}\"\n{cloud}")).await.expect_err(model);
        let begin = format!(
            "/f/palyra.toml:1:20: `embeddings.model` is `{model}`, and {why}; it takes palyra-embedded, or"
        );
        assert!(said.starts_with(&begin), "{said}");
    }
}

#[tokio::test]
async fn the_server_of_the_environment_can_make_embeddings() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let pairs = [("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("PALYRA_MODEL", "m")];
    let environment: BTreeMap<_, _> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let sources = KeySources {
        environment: Arc::new(environment),
        vault: None,
        gateways: palyra_ports::GatewayTrail::default(),
        answers: crate::model_answers::ModelAnswers::default(),
    };
    let text = "embeddings.model = \"openai/embed\"";
    let config = config::load_text(Path::new("/f/palyra.toml"), text, &sources.environment, &[]);
    let built = build(&config.expect("valid"), &sources, MissingSecret::Refused).await;
    let Ok(directory) = built else { panic!("a server and a model are named") };
    assert_eq!(directory.embedders()[0].embedding_model().name.to_string(), "openai/embed");
}

#[test]
fn a_server_that_is_this_daemon_is_refused_where_its_address_is_configured() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let refused = |text: &str, base_url: &str| {
        let environment = [("OPENAI_BASE_URL".to_owned(), base_url.to_owned())].into();
        let gateways = palyra_ports::GatewayTrail::default();
        let sources = KeySources {
            environment: Arc::new(environment),
            vault: None,
            gateways,
            answers: crate::model_answers::ModelAnswers::default(),
        };
        let config = config::load_text(Path::new("/f/palyra.toml"), text, &sources.environment, &[]);
        let errors =
            plan(&config.expect("valid"), &sources, MissingSecret::Refused).err().unwrap_or_default();
        describe_all(&errors)
    };
    let listen = "[http]\nlisten = \"127.0.0.1:7799\"\n";
    for server in ["http://127.0.0.1:7799/v1", "http://localhost:7799/v1", "http://[::1]:7799/v1"] {
        let said = refused(listen, server);
        assert!(said.contains("is this daemon itself") && said.contains("unset OPENAI_BASE_URL"), "{said}");
        let provider = format!("[providers.self]\nbase_url = \"{server}\"\n{listen}");
        let said = refused(&provider, "");
        assert!(said.contains("the server of `self` is this daemon itself"), "{said}");
    }
    assert_eq!(refused(listen, "http://127.0.0.1:7800/v1"), "the configuration has 0 mistakes\n");
    let named = format!("model.default = \"demo/demo\"\n{listen}");
    assert_eq!(refused(&named, "http://127.0.0.1:7799/v1"), "the configuration has 0 mistakes\n");
}
