//! Malformed files, each with the message it gets: a table that is kept in `malformed.txt`.

use super::with_file;

const TABLE: &str = include_str!("malformed.txt");
/// Begins a case and names it.
const CASE: &str = "=== ";
/// Stands between a file and what is said of it.
const SAID: &str = "--- said";

/// Returns name and text of every case.
fn cases() -> Vec<(&'static str, &'static str)> {
    let cases = TABLE.split(CASE).filter_map(|case| case.split_once('\n'));
    cases.map(|(name, rest)| (name, rest.split(SAID).next().unwrap_or_default())).collect()
}

#[test]
fn every_malformed_file_gets_its_own_message() {
    let cases = cases();
    assert!(cases.len() >= 30, "{}", cases.len());
    let mut told = Vec::new();
    let mut actual = String::new();
    for (name, text) in &cases {
        let said = with_file(text, &[], &[]).expect_err(name);
        assert!(said.starts_with("FILE:") || said.contains("\n  FILE:"), "{name} names no place: {said}");
        actual.push_str(&format!("{CASE}{name}\n{text}{SAID}\n{said}\n\n"));
        assert!(!told.contains(&said), "{name} is told like another");
        told.push(said);
    }
    let kept = std::env::temp_dir().join("palyra-malformed.txt");
    if actual != TABLE {
        std::fs::write(&kept, &actual).expect("a place for what is said now");
    }
    assert!(actual == TABLE, "the messages changed; compare malformed.txt with {}", kept.display());
}

#[test]
fn no_message_repeats_a_misplaced_secret() {
    for text in [
        "[providers.x]\nbase_url = \"http://h\"\nkey = \"sk-canary\"",
        "[providers.x]\nkye = \"sk-canary\"",
        "[providers.x]\nformat = \"sk-canary\"",
        "[providers.x]\nbase_url = \"http://h\"\nimages = \"sk-canary\"",
        "limits.turns_max = \"sk-canary\"",
        "model.default = \"sk-canary\"",
        "model.fallbacks = [\"sk-canary\"]",
        "listen.tcp = \"sk-canary\"",
        "key = \"sk-canary",
        "key = sk-canary",
    ] {
        let said = with_file(text, &[], &[]).expect_err(text);
        assert!(!said.contains("canary"), "{said}");
    }
    for name in
        ["PALYRA__LIMITS__TURNS_MAX", "PALYRA__PROVIDERS__X__KEY", "PALYRA__MODEL__DEFAULT", "PALYRA__X"]
    {
        let said = with_file("", &[(name, "sk-canary")], &[]).expect_err(name);
        assert!(!said.contains("canary") && said.contains(name), "{said}");
    }
}
