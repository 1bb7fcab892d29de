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
        (
            "model.default = true",
            "FILE:1: `model.default` takes a text or a whole number that is not negative, not true or false",
        ),
        (
            "[providers.x]\nkind = \"openai-chat\"",
            "`providers.x.base_url` is missing; for example: providers.x.base_url = \"https://api.openai.com/v1\"",
        ),
        (
            "[providers.x]\nbase_url = \"http://h\"\nkey = \"sk-canary\"",
            "FILE:3: `providers.x.key` takes a reference, env:NAME or file:PATH, not something else",
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
