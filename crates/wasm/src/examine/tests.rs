//! What is believed of a component's words, and what is not.

use super::*;

fn told() -> DescribedComponent {
    DescribedComponent {
        name: "word_count".to_owned(),
        description: "Counts words.".to_owned(),
        schema: r#"{"type":"object","properties":{}}"#.to_owned(),
        contract: DescribedContract::Pure,
        capabilities: vec![DescribedCapability::ReadFiles],
    }
}

fn with(change: impl FnOnce(&mut DescribedComponent)) -> Result<ComponentDescription, String> {
    let mut told = told();
    change(&mut told);
    read(told)
}

#[test]
fn what_is_plain_is_taken_in_order_and_once() {
    let asked = [
        DescribedCapability::Http("b.example".to_owned()),
        DescribedCapability::ReadFiles,
        DescribedCapability::Http("a.example:8443".to_owned()),
        DescribedCapability::ReadFiles,
    ];
    let read = with(|told| told.capabilities = asked.to_vec()).unwrap();
    let expected = ["read_files", "http:a.example:8443", "http:b.example"];
    assert_eq!(read.capabilities.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    assert_eq!(read.schema, r#"{"properties":{},"type":"object"}"#);
}

#[test]
fn names_texts_and_schemas_that_cannot_be_are_refused() {
    for name in ["", "Word", "word-count", "1word", "слово", "word\u{200b}", &"a".repeat(65)] {
        assert!(with(|told| told.name = name.to_owned()).is_err(), "{name}");
    }
    for text in ["", " \n ", "a\u{1b}[2Jb", "a\u{202e}b", "a\u{e0041}b", &"a".repeat(5 << 10)] {
        assert!(with(|told| told.description = text.to_owned()).is_err(), "{text:?}");
    }
    for schema in ["", "[]", "{}", r#"{"type":"string"}"#, "{\"type\":\"object\"} x"] {
        assert!(with(|told| told.schema = schema.to_owned()).is_err(), "{schema}");
    }
}

#[test]
fn hosts_are_names_and_nothing_else() {
    for host in [
        "",
        "*",
        "A.example",
        "a.example/x",
        "a@b",
        "a..b",
        "a.example:",
        "a.example:0",
        "a:080",
        "http://a",
        "[::1]",
        "*.a.example",
    ] {
        let refused = with(|told| told.capabilities = vec![DescribedCapability::Http(host.to_owned())]);
        assert!(refused.is_err(), "{host}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    for capability in [DescribedCapability::WriteFiles, DescribedCapability::KeyValue] {
        let asked = vec![capability.clone()];
        assert!(with(|told| told.capabilities = asked.clone()).is_err(), "pure, with {capability:?}");
        let keyed = with(|told| (told.capabilities, told.contract) = (asked, DescribedContract::Keyed));
        assert!(keyed.is_ok());
    }
    let secret = vec![DescribedCapability::Secret("forge".to_owned())];
    assert!(with(|told| told.capabilities = secret).is_err(), "nowhere to send it");
}
