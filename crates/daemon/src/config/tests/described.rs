//! What is said about the settings is what they are.

use super::*;

/// Returns a commented file with the signs before its settings taken off.
fn uncommented(text: &str) -> String {
    let setting =
        |line: &str| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).map(str::to_owned);
    text.lines().filter_map(setting).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_commented_file_changes_nothing_and_uncommented_it_sets_the_defaults() {
    let text = as_toml();
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let defaults = with_file("", &[], &[]).expect("valid");
    assert_eq!(with_file(&text, &[], &[]).expect("valid").canonical_text(), defaults.canonical_text());

    let all = with_file(&uncommented(&text), &[], &[]).expect("valid");
    for setting in SETTINGS {
        let value =
            |config: &Config| config.rows().find(|(key, ..)| *key == setting.key).map(|(_, value, _)| value);
        assert_eq!(value(&all), value(&defaults), "{}", setting.key);
        assert!(all.origin(setting.key).to_string().starts_with("FILE:"), "{}", setting.key);
    }
    assert_eq!(all.providers()[0].name, "local");
    assert!(all.changed_keys(&defaults).iter().all(|key| key.starts_with("providers.local.")));
}

#[test]
fn the_json_schema_judges_like_the_daemon() {
    let schema = as_json_schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let judged = |text: &str| {
        let value: toml::Value = toml::from_str(text).expect("TOML");
        validator.is_valid(&serde_json::to_value(value).expect("JSON"))
    };
    for good in [
        "",
        &uncommented(&as_toml()),
        "[providers.x]\nbase_url = \"http://h\"\nformat = \"anthropic_messages\"",
        "model.fallbacks = [\"a/b\", \"c/d\"]",
    ] {
        assert!(judged(good) && with_file(good, &[], &[]).is_ok(), "{good}");
    }
    for bad in [
        "nonsense = 1",
        "limits.turns_max = 0",
        "limits.turns_mx = 1",
        "limits.turns_max = \"5\"",
        "model.fallbacks = \"a/b\"",
        "model.fallbacks = [\"a/b\", \"a/b\"]",
        "[providers.x]",
        "[providers.x]\nbase_url = \"http://h\"\nformat = \"x\"",
        "[providers.x]\nbase_url = \"http://h\"\nimages = 1",
        "[providers.Big]\nbase_url = \"http://h\"",
        "[providers.demo]\nbase_url = \"http://h\"",
    ] {
        assert!(!judged(bad) && with_file(bad, &[], &[]).is_err(), "{bad}");
    }
}

#[test]
fn the_page_about_the_configuration_holds_the_table_of_the_settings() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(
        page.contains(&as_markdown()),
        "docs/configuration.md should hold this table:\n{}",
        as_markdown()
    );
}

#[test]
fn the_settings_are_in_order_and_their_defaults_are_valid() {
    assert!(SETTINGS.is_sorted_by_key(|setting| setting.key));
    assert!(PROVIDER_FIELDS.is_sorted_by_key(|setting| setting.key));
    for setting in SETTINGS {
        let default = schema::default_of(setting).expect("only a provider's settings depend");
        assert_eq!(check::check(setting.key, default.clone(), &ValueOrigin::Default), Ok(default));
    }
}
