//! Layers, origins, and the message that each mistake gets.

mod malformed;
mod layers;
mod described;

use std::path::PathBuf;

use super::*;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Loads a file of this text; its path is told as `FILE`.
fn with_file(text: &str, pairs: &[(&str, &str)], flags: &[(&str, String)]) -> Result<Config, String> {
    let file = Some((Path::new("FILE"), text));
    let file = file.map(|(path, text)| ConfigText { path, text });
    assemble(file, &environment(pairs), flags, ErrorCollector::default())
        .map_err(|mistakes| mistakes.to_string())
}

#[test]
fn nothing_at_all_is_a_valid_configuration() {
    let config = load(None, &environment(&[("HOME", "/nowhere")]), &[]).expect("defaults");
    assert_eq!(config.run_limits(), RunLimits::default());
    assert!(config.rows().all(|(_, _, origin)| origin == "default"));
}

#[test]
fn a_file_that_was_asked_for_must_exist() {
    let mistakes =
        load(Some(&PathBuf::from("/nowhere/palyra.toml")), &environment(&[]), &[]).expect_err("none");
    assert!(matches!(&*mistakes.list, [ConfigError::Unreadable { .. }]));
}

#[test]
fn providers_are_gathered_by_name() {
    let text = "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\ncontext_tokens = 4_096\n\
                [providers.a]\nbase_url = \"https://h\"\nformat = \"anthropic_messages\"\nkey = \"env:K\"\n\
                [providers.b]\nbase_url = \"https://h\"\nimages = true\nmodel = \"m\"\nparallel_requests_max = 2\n";
    let config = with_file(text, &[], &[]).expect("valid");
    let local = ProviderConfig {
        name: "local".to_owned(),
        format: ProviderFormat::OpenAiChat,
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key: None,
        model: None,
        context_tokens: Some(4_096),
        parallel_requests_max: 8,
        images: None,
    };
    let a = ProviderConfig {
        name: "a".to_owned(),
        format: ProviderFormat::AnthropicMessages,
        base_url: "https://h".to_owned(),
        key: Some("env:K".to_owned()),
        context_tokens: None,
        ..local.clone()
    };
    let b = ProviderConfig {
        name: "b".to_owned(),
        format: ProviderFormat::OpenAiChat,
        key: None,
        model: Some("m".to_owned()),
        parallel_requests_max: 2,
        images: Some(true),
        ..a.clone()
    };
    assert_eq!(config.providers(), [a, b, local]);
    assert_eq!(
        config.origin("providers.a.images").to_string(),
        "FILE:5",
        "that of the provider's first value"
    );
    let row = |wanted: &str| {
        config.rows().find(|(key, ..)| *key == wanted).map(|(_, value, origin)| (value, origin))
    };
    let default = Some(("\"openai_chat\"".to_owned(), "default".to_owned()));
    assert_eq!(row("providers.local.format"), default, "defaults are shown too");
}

#[test]
fn the_older_name_of_the_format_is_understood() {
    let text = "[providers.x]\nbase_url = \"http://h\"\nkind = \"openai-chat\"";
    assert_eq!(with_file(text, &[], &[]).expect("valid").providers()[0].format, ProviderFormat::OpenAiChat);
}

#[test]
fn a_list_in_a_variable_is_separated_by_commas() {
    let pairs = [("PALYRA__MODEL__FALLBACKS", "a/b, c/d/e ,")];
    assert_eq!(with_file("", &pairs, &[]).expect("valid").fallback_models(), ["a/b", "c/d/e"]);
    let pairs = [("PALYRA__MODEL__FALLBACKS", "")];
    let text = "model.fallbacks = [\"x/y\"]";
    assert!(
        with_file(text, &pairs, &[]).expect("valid").fallback_models().is_empty(),
        "an empty one wins too"
    );
}

#[test]
fn mistakes_of_all_layers_are_told_together_in_reading_order() {
    let text = "[limits]\nturns_max = 0\ntool_calls_max = 0\n";
    let pairs = [("PALYRA__LIMITS__TURN_MAX", "3"), ("PALYRA__DAEMON__DRAIN_SECONDS", "soon")];
    let error = with_file(text, &pairs, &[("listen.tcp", "here".to_owned())]).expect_err("wrong");
    let expect = "the configuration has 5 mistakes
  FILE:2:13: `limits.turns_max` takes a whole number from 1 to 10000, not 0
  FILE:3:18: `limits.tool_calls_max` takes a whole number from 1 to 100000, not 0
  environment variable PALYRA__DAEMON__DRAIN_SECONDS: `daemon.drain_seconds` takes a whole number from 0 to 3600, not what it holds
  environment variable PALYRA__LIMITS__TURN_MAX: there is no setting `limits.turn_max`; did you mean `limits.turns_max`?
  flag: `listen.tcp` takes an address and a port, such as 127.0.0.1:7070";
    assert_eq!(error, expect);
}

#[test]
fn the_list_of_mistakes_has_an_end() {
    let text: String = (0..50_000).map(|number| format!("unknown{number} = 1\n")).collect();
    let pairs: Vec<_> = (0..30).map(|number| (format!("PALYRA__NO__KEY{number}"), "1")).collect();
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let error = with_file(&text, &pairs, &[]).expect_err("wrong");
    assert!(error.starts_with("the configuration has many mistakes; the first 20\n  FILE:1:1: "), "{error}");
    assert_eq!(error.lines().count(), 1 + MISTAKES_MAX);
    let long = format!("{} = 1", "k".repeat(500_000));
    assert!(with_file(&long, &[], &[]).expect_err("wrong").len() < 500);
}

#[test]
fn what_is_not_a_file_of_text_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(CONFIG_FILE_NAME);
    let refused = || {
        let mistakes = load(Some(&path), &environment(&[]), &[]).expect_err("refused");
        assert_eq!(mistakes.code(), palyra_types::ErrorCode::ConfigUnreadable, "{mistakes}");
        let told = mistakes.to_string().replace(&path.display().to_string(), "FILE");
        told.strip_prefix("FILE: the configuration cannot be read: ").expect("it names the file").to_owned()
    };
    assert_eq!(refused(), "it does not exist");
    std::fs::write(&path, b"# fine\n# caf\xe9\n").expect("a file");
    assert_eq!(refused(), "line 2 is not valid UTF-8 from character 6 on");
    std::fs::File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    assert_eq!(refused(), "it is larger than 1048576 bytes");
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a folder");
    assert_eq!(refused(), "it is a folder");
    std::fs::remove_dir(&path).expect("removed");
    // Nobody writes into this pipe.
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, 0o600.into(), 0).expect("a pipe");
    assert_eq!(refused(), "it is not a file");
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink("/nowhere", &path).expect("a link");
    assert!(refused().contains("No such file"));
}
