//! Layers, origins, and the message that each mistake gets.

use std::path::PathBuf;

use super::*;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn with_file(text: &str, pairs: &[(&str, &str)], flags: &[(&str, String)]) -> Result<Config, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(CONFIG_FILE_NAME);
    std::fs::write(&path, text).expect("a file");
    let config = load(Some(&path), &environment(pairs), flags);
    config.map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
}

#[test]
fn nothing_at_all_is_a_valid_configuration() {
    let config = load(None, &environment(&[("HOME", "/nowhere")]), &[]).expect("defaults");
    assert_eq!(config.run_limits(), RunLimits::default());
    assert!(config.rows().all(|(_, _, origin)| origin == "default"));
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let text = "[limits]\nturns_max = 7\ntool_calls_max = 7\nparallel_tools_max = 7\n";
    let pairs = [("PALYRA__LIMITS__TURNS_MAX", "8"), ("PALYRA__LIMITS__TOOL_CALLS_MAX", "8")];
    let config = with_file(text, &pairs, &[("limits.turns_max", "9".to_owned())]).expect("valid");
    let limits = config.run_limits();
    assert_eq!((limits.turns_max, limits.tool_calls_max, limits.parallel_tools_max), (9, 8, 7));
    assert_eq!(limits.output_tokens_max, RunLimits::default().output_tokens_max);
}

#[test]
fn each_mistake_names_its_place_and_the_mend() {
    let cases = [
        (
            "[limits]\nturns_mx = 1",
            "FILE:2: there is no setting `limits.turns_mx`; the nearest is `limits.turns_max`",
        ),
        (
            "\n\n[limits]\nturns_max = 0",
            "FILE:4: `limits.turns_max` takes a whole number from 1 to 10000, not a number out of range",
        ),
        (
            "limits.turns_max = \"many\"",
            "FILE:1: `limits.turns_max` takes a whole number from 1 to 10000, not a text",
        ),
        ("model.default = 3", "FILE:1: `model.default` takes a text, not a number"),
        ("model.default = true", "FILE:1: `model.default` takes a text, not true or false"),
        (
            "[limits]\nturns_max = -1",
            "FILE:2: `limits.turns_max` takes a whole number from 1 to 10000, not a number out of range",
        ),
        (
            "limits = 3",
            "FILE:1: `limits` is a section; its settings are written like `limits.active_time_seconds_max`",
        ),
        (
            "[[limits]]",
            "FILE:1: `limits` is a section; its settings are written like `limits.active_time_seconds_max`",
        ),
        (
            "providers.x = 3",
            "FILE:1: `providers.x` is a section; its settings are written like `providers.x.base_url`",
        ),
        ("[limit]", "FILE:1: there is no setting `limit`; the nearest is `limits.active_time_seconds_max`"),
        (
            "[providers.X]\nbase_url = \"http://h\"",
            "FILE:1: `providers.X` names a provider `X`; a name has lower-case letters, digits and hyphens",
        ),
        (
            "[providers.demo]\nbase_url = \"http://h\"",
            "FILE:2: `providers.demo.base_url` names a provider `demo`, which is built in; choose another name",
        ),
        (
            "\nlisten.tcp = \"localhost:7\"",
            "FILE:2: `listen.tcp` takes an address and a port, such as 127.0.0.1:7070",
        ),
        (
            "listen.tcp = \"0.0.0.0:7\"",
            "FILE:1: `listen.tcp` takes a loopback address: beyond this machine nothing is served without TLS",
        ),
        (
            "[providers.x]\nkind = \"openai-chat\"",
            "FILE:2: `providers.x.base_url` is missing; for example: providers.x.base_url = \"https://api.openai.com/v1\"",
        ),
        (
            "[providers.x]\nbase_url = \"http://h\"\nkey = \"sk-canary\"",
            "FILE:3: `providers.x.key` takes a reference, env:NAME or file:PATH, and never the key itself",
        ),
        (
            "[providers.x]\nbaseurl = \"http://h\"",
            "FILE:2: there is no setting `providers.x.baseurl`; the nearest is `providers.x.base_url`",
        ),
    ];
    for (text, expect) in cases {
        assert_eq!(with_file(text, &[], &[]).expect_err(text), expect);
    }
    let broken = with_file("[limits", &[], &[]).expect_err("not TOML");
    assert!(broken.starts_with("FILE:1: not valid TOML: "), "{broken}");
}

#[test]
fn an_unknown_variable_is_an_error_too() {
    let error = with_file("", &[("PALYRA__LIMITS__TURN_MAX", "3")], &[]).expect_err("unknown");
    let expect = "environment variable PALYRA__LIMITS__TURN_MAX: there is no setting `limits.turn_max`; the nearest is `limits.turns_max`";
    assert_eq!(error, expect);
}

#[test]
fn a_file_that_was_asked_for_must_exist() {
    let error = load(Some(&PathBuf::from("/nowhere/palyra.toml")), &environment(&[]), &[]);
    assert!(matches!(error, Err(ConfigError::Unreadable { .. })));
}

#[test]
fn providers_are_gathered_by_name() {
    let text = "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\ncontext_tokens = 4096\n";
    let config = with_file(text, &[], &[]).expect("valid");
    let expect = ProviderConfig {
        name: "local".to_owned(),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        key: None,
        context_tokens: Some(4_096),
    };
    assert_eq!(config.providers(), [expect]);
}

#[test]
fn what_is_not_a_file_of_text_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(CONFIG_FILE_NAME);
    let refused = || {
        let error = load(Some(&path), &environment(&[]), &[]).expect_err("refused");
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
        error.to_string().replace(&path.display().to_string(), "FILE")
    };
    assert_eq!(refused(), "FILE: the configuration cannot be read: it does not exist");
    std::fs::write(&path, b"# fine\n# caf\xe9\n").expect("a file");
    assert_eq!(refused(), "FILE: the configuration cannot be read: line 2 is not valid UTF-8");
    std::fs::File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    assert_eq!(refused(), "FILE: the configuration cannot be read: it is larger than 1048576 bytes");
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a folder");
    assert_eq!(refused(), "FILE: the configuration cannot be read: it is not a file");
    std::fs::remove_dir(&path).expect("removed");
    // Nobody writes into this pipe.
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, 0o600.into(), 0).expect("a pipe");
    assert_eq!(refused(), "FILE: the configuration cannot be read: it is not a file");
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink("/nowhere", &path).expect("a link");
    assert!(refused().contains("No such file"), "{}", refused());
}
