//! What an addition must be, and what the file becomes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{NewSecret, Redactor, SecretChange};
use palyra_types::{ErrorCode, Seq, Timestamp};
use palyra_vault::Vault;

use super::*;
use crate::system::SystemEntropy;

const KEY: &str = "canary-lantern-4711";

/// A configuration file below a folder of its own, with a vault.
struct ConfigRig {
    folder: tempfile::TempDir,
    vault: Arc<Vault>,
    environment: BTreeMap<String, String>,
}

impl ConfigRig {
    fn new(text: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(&folder.path().join("vault"), Arc::new(SystemEntropy));
        let rig = Self { folder, vault: Arc::new(vault), environment: BTreeMap::new() };
        std::fs::write(rig.file(), text).expect("written");
        rig
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("palyra.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).expect("the file")
    }

    fn put(&self, name: &str) {
        let secret = NewSecret {
            name: name.parse().expect("a name"),
            value: Content::new(KEY.to_owned()),
            hosts: Some(["api.example".to_owned()].into()),
            sent_as: None,
            now: Timestamp(1),
        };
        self.vault.stage(SecretChange::Put(secret), Seq(0)).expect("it is ready");
        self.vault.commit().expect("it is kept");
    }

    fn config(&self) -> FileModelConfig {
        let source = ConfigSource {
            explicit: Some(self.file()),
            environment: self.environment.clone(),
            flags: Vec::new(),
        };
        let vault: Arc<dyn SecretStore> = Arc::clone(&self.vault) as _;
        let keys = KeySources {
            environment: Arc::new(self.environment.clone()),
            vault: Some(vault),
            gateways: palyra_ports::GatewayTrail::default(),
            answers: crate::model_answers::ModelAnswers::default(),
        };
        FileModelConfig::new(source, keys)
    }
}

fn addition() -> ModelAddition {
    ModelAddition {
        name: "box".to_owned(),
        format: ModelFormat::OpenAiChat,
        base_url: "https://api.example/v1".to_owned(),
        model: "maker/m-1".to_owned(),
        key: Some(Content::new(KEY.to_owned())),
        context_tokens: None,
        new_default: NewDefault::ThisModel,
        existing: ExistingServer::Kept,
    }
}

#[test]
fn a_draft_names_the_secret_changes_nothing_and_is_written_as_a_whole() {
    let rig = ConfigRig::new("# mine\n[limits]\nturns_max = 5\n");
    let (config, before) = (rig.config(), rig.text());
    let draft = config.draft(&addition()).expect("it fits");
    let secret =
        SecretDraft { name: "model-box".to_owned(), host: "api.example".to_owned(), sent_as: "bearer" };
    assert_eq!(draft.secret, Some(secret));
    assert_eq!((draft.model.to_string().as_str(), draft.former_secret.as_deref()), ("box/maker/m-1", None));
    assert_eq!(draft.provider.name().as_str(), "box");
    drop(config.stage(&draft).expect("it is written beside"));
    assert_eq!(rig.text(), before, "neither a draft nor what was not put in place changes the file");
    config.stage(&draft).expect("written")().expect("put in place");
    let expect = "# mine\n[limits]\nturns_max = 5\n\n[providers.box]\nformat = \"openai_chat\"\n\
                  base_url = \"https://api.example/v1\"\nmodel = \"maker/m-1\"\nkey = \"vault:model-box\"\n\n\
                  [model]\ndefault = \"box/maker/m-1\"\n";
    assert_eq!(rig.text(), expect);
    let others = std::fs::read_dir(rig.folder.path()).expect("a folder").count();
    assert_eq!(others, 1, "nothing is left beside the file");
}

#[test]
fn each_refusal_names_its_part_and_never_the_key() {
    let rig = ConfigRig::new("[providers.old]\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    let config = rig.config();
    let with = |change: &dyn Fn(&mut ModelAddition)| {
        let mut addition = addition();
        change(&mut addition);
        config.draft(&addition).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let long = "a".repeat(NAME_CHARS_MAX + 1);
    for (wanted, refused) in [
        ("`name` takes", with(&|it| it.name = "Box".to_owned())),
        ("`name` takes", with(&|it| it.name = long.clone())),
        ("built in", with(&|it| it.name = "demo".to_owned())),
        ("a server of this name", with(&|it| it.name = "old".to_owned())),
        ("`base_url` takes", with(&|it| it.base_url = "https://h/\nv1".to_owned())),
        ("not an http or https URL", with(&|it| it.base_url = "ftp://h/v1".to_owned())),
        ("user name or password", with(&|it| it.base_url = format!("https://u:{KEY}@h/v1"))),
        ("begins with https", with(&|it| it.base_url = "http://api.example/v1".to_owned())),
        ("`model` takes", with(&|it| it.model = "*".to_owned())),
        ("12 characters at least", with(&|it| it.key = Some(Content::new("canary-17".to_owned())))),
        ("control characters", with(&|it| it.key = Some(Content::new(format!("{KEY}\n{KEY}"))))),
    ] {
        assert!(refused.contains(wanted) && !refused.contains("canary"), "{wanted}: {refused}");
    }
    // The control: without a key others may read what is sent, and what is sent to this machine stays on it.
    assert_eq!(with(&|it| (it.key, it.base_url) = (None, "http://api.example/v1".to_owned())), "");
    assert_eq!(with(&|it| it.base_url = "http://127.0.0.1:4711/v1".to_owned()), "");
}

#[test]
fn keys_of_refused_additions_take_no_place_of_a_former_secret() {
    let rig = ConfigRig::new("[providers.old]\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    let (config, former) = (rig.config(), Content::new("canary-heron-of-amber".to_owned()));
    let name: SecretName = "former-of-additions".parse().expect("a name");
    secrets::hold(&name, &former).expect("there is room");
    secrets::part_with(&name);
    let shows = |text: &str| secrets::scanner().redact(text.into()).text.expose().contains("canary");
    for number in 0..300 {
        let key = Content::new(format!("canary-walnut-{number:04}"));
        let refused = ModelAddition { name: "old".to_owned(), key: Some(key), ..addition() };
        assert!(config.draft(&refused).is_err(), "there is a server of this name");
    }
    assert!(!shows("it was canary-walnut-0299."), "the newest key is kept out of texts");
    assert!(!shows("it was canary-heron-of-amber."), "and so is what was in the vault");
    assert!(shows("it was canary-never-seen."), "the control");
}

#[test]
fn a_server_that_is_replaced_gets_a_secret_of_another_name_and_its_own_is_named() {
    let text =
        "[providers.box]\nbase_url = \"https://api.example\"\nkey = \"vault:model-box\"\nimages = true\n";
    let rig = ConfigRig::new(text);
    rig.put("model-box");
    let replaced = ModelAddition { existing: ExistingServer::Replaced, ..addition() };
    let draft = rig.config().draft(&replaced).expect("it fits");
    assert_eq!(draft.secret.map(|secret| secret.name).as_deref(), Some("model-box-2"));
    assert_eq!(draft.former_secret.as_deref(), Some("model-box"));
    assert!(draft.text.contains("key = \"vault:model-box-2\"\nimages = true"), "{}", draft.text);
    // A server whose own secret is missing can be replaced; that of the default model is in the way of other servers.
    let broken = ConfigRig::new(text);
    assert!(broken.config().draft(&replaced).is_ok());
    let other = ModelAddition { name: "other".to_owned(), ..addition() };
    assert!(broken.config().draft(&other).is_ok(), "it is not needed");
    let needed = ConfigRig::new(&format!("{text}[model]\ndefault = \"box/m\"\n"));
    assert!(needed.config().draft(&replaced).is_ok());
    let refused = needed.config().draft(&other).err().expect("a mistake");
    assert!(refused.to_string().contains("`palyra admin vault put model-box"), "{refused}");
    assert_eq!(refused.code(), ErrorCode::ConfigInvalid);
    // A secret with another name, or of two servers, is not removed.
    for more in [text.replace("model-box", "mine"), format!("{text}{}", text.replace(".box", ".two"))] {
        let rig = ConfigRig::new(&more);
        rig.put("model-box");
        rig.put("mine");
        let draft = rig.config().draft(&replaced).expect("it fits");
        assert_eq!(draft.former_secret, None, "{more}");
    }
}

#[test]
fn a_file_that_is_not_valid_and_a_variable_that_wins_are_refused() {
    let broken = ConfigRig::new("nonsense = 3\n");
    assert_eq!(
        broken.config().draft(&addition()).err().map(|error| error.code()),
        Some(ErrorCode::ConfigInvalid)
    );
    assert_eq!(broken.text(), "nonsense = 3\n");
    let mut rig = ConfigRig::new("");
    let variable = ("PALYRA__PROVIDERS__BOX__BASE_URL".to_owned(), "https://other.example".to_owned());
    rig.environment = [variable].into();
    let replaced = ModelAddition { existing: ExistingServer::Replaced, ..addition() };
    let refused = rig.config().draft(&replaced).err().expect("refused").to_string();
    assert!(refused.contains("wins over the file"), "{refused}");
}
