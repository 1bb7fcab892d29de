//! Every row of the table finds a sample of its own, which is made at run time.

use palyra_ports::Redactor;

use super::*;
use crate::SecretScanner;

#[path = "../../../examples/recall/sampler.rs"]
mod sampler;

use sampler::{Draw, generate};

/// Makes a text that a rule describes.
fn sample(rule: &TokenRule, draw: &mut Draw) -> (String, String) {
    let parse = |pattern: &str| regex_syntax::parse(pattern).expect("the table's patterns are valid");
    let before = rule.behind.map_or(String::new(), |behind| generate(&parse(behind.pattern), draw).text);
    let secret = format!("{}{}", rule.start, generate(&parse(rule.body), draw).text);
    (before, secret)
}

#[test]
fn every_row_finds_its_own_sample_in_every_place() {
    let scanner = SecretScanner::new();
    for rule in all() {
        let mut draw = Draw::new(7, rule.kind);
        let mut found = 0;
        for _ in 0..20 {
            let (before, secret) = sample(rule, &mut draw);
            let places = [
                format!("Take {before}{secret} and go."),
                format!("{{\"a\": \"{before}{secret}\", \"max_tokens\": 5}}"),
                format!("VALUE={before}{secret}\n"),
                format!("line\\n{before}{secret}\\nline"),
            ];
            let gone = |text: &String| !scanner.redact(text.as_str().into()).text.expose().contains(&secret);
            found += usize::from(places.iter().all(gone));
        }
        // A draw without a digit, or of few characters, is not one that its vendor makes.
        assert!(found >= 16, "{} {}: {found} of 20", rule.kind, rule.start);
    }
}

#[test]
fn there_are_enough_kinds() {
    let mut kinds: Vec<&str> = all().map(|rule| rule.kind).collect();
    kinds.extend(crate::rules::vendor::VENDORS.iter().map(|vendor| vendor.kind));
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 120, "{}", kinds.len());
    assert!(kinds.iter().all(|kind| {
        kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit())
    }));
}

#[test]
fn what_only_begins_alike_stays() {
    let scanner = SecretScanner::new();
    for text in [
        "sk-learn and scikit-learn",
        "the pattern pat.tern",
        "SKETCH of a SKYLINE",
        "s.push(value); s.len()",
        "AKIA is how they begin",
        "api-version 2024",
        "key-value pairs",
        "re_exported_items",
        "xoxb- is a prefix",
        "the -----BEGIN PRIVATE KEY----- line comes first",
        "eyJ means it begins with a brace",
        "https://example.com:8080/path?x=1",
        "git commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    ] {
        assert_eq!(scanner.redact(text.into()).text.expose(), text);
    }
}
