//! Which server gets a secret of the vault as its key, and what is said where it does not.

use palyra_ports::{NewSecret, SecretChange};
use palyra_types::{Content, Seq, Timestamp};
use palyra_vault::Vault;

use super::*;
use crate::config::ProviderFormat;
use crate::system::SystemEntropy;

const KEY: &str = "canary-lantern-4711";

fn server(base_url: &str, key: &str) -> ProviderConfig {
    ProviderConfig {
        name: "box".to_owned(),
        format: ProviderFormat::OpenAiChat,
        base_url: base_url.to_owned(),
        key: Some(key.to_owned()),
        model: None,
        context_tokens: None,
        parallel_requests_max: 1,
        images: None,
    }
}

/// Sources with a vault that has the secret `model-box` for one host.
fn sources(folder: &tempfile::TempDir) -> KeySources {
    let vault = Vault::open(&folder.path().join("vault"), Arc::new(SystemEntropy));
    let secret = NewSecret {
        name: "model-box".parse().expect("a name"),
        value: Content::new(KEY.to_owned()),
        hosts: Some(["api.example".to_owned()].into()),
        sent_as: None,
        now: Timestamp(1),
    };
    vault.stage(SecretChange::Put(secret), Seq(0)).expect("it is ready");
    vault.commit().expect("it is kept");
    KeySources {
        environment: Arc::default(),
        vault: Some(Arc::new(vault)),
        gateways: palyra_ports::GatewayTrail::default(),
        answers: crate::model_answers::ModelAnswers::default(),
    }
}

#[test]
fn a_secret_is_the_key_of_the_server_that_it_is_bound_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = sources(&folder);
    let key = sources.key_of(&server("https://api.example/v1", "vault:model-box")).expect("a key");
    assert_eq!(key, Some(Secret::new(KEY).found_at(&"vault:model-box")));
    for (base_url, reference, wanted) in [
        ("https://evil.example/v1", "vault:model-box", "`palyra admin vault bind model-box evil.example`"),
        ("https://api.example:8443/v1", "vault:model-box", "may not be sent to api.example:8443"),
        ("http://api.example:443/v1", "vault:model-box", "over TLS or to this machine only"),
        ("https://api.example", "vault:none", "`palyra admin vault put none --host api.example`"),
        ("https://api.example", "vault:No", "behind `vault:`"),
        ("https://api.example", KEY, "a key reference is"),
    ] {
        let error = sources.key_of(&server(base_url, reference)).expect_err("no key").to_string();
        assert!(error.contains(wanted) && !error.contains(KEY), "{error}");
    }
}

#[test]
fn a_locked_vault_is_named_and_outside_of_a_daemon_no_key_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let with_vault = sources(&folder);
    std::fs::remove_file(folder.path().join("vault/root.key")).expect("the key is there");
    let again = Vault::open(&folder.path().join("vault"), Arc::new(SystemEntropy));
    let locked = KeySources { vault: Some(Arc::new(again)), ..with_vault.clone() };
    let of_box = server("https://api.example/v1", "vault:model-box");
    let error = locked.key_of(&of_box).expect_err("locked").to_string();
    assert!(error.contains("providers.box.key") && error.contains("vault is locked"), "{error}");
    // There is no passphrase to unlock it with.
    assert!(error.contains("`root.key`") && !error.contains("unlock"), "{error}");
    let outside = KeySources { vault: None, ..with_vault };
    assert_eq!(outside.key_of(&of_box).expect("no mistake"), None);
}
