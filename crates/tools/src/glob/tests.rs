//! Tests of `glob`: pattern shapes, ignore files, and what is skipped.

use serde_json::json;

use super::*;
use crate::fixture::Fixture;

fn tree() -> Fixture {
    Fixture::with(&[
        ("Cargo.toml", ""),
        ("src/main.rs", ""),
        ("src/net/mod.rs", ""),
        ("src/net/tests/a.rs", ""),
        ("docs/guide.md", ""),
        ("docs/.draft.md", ""),
        ("target/x.rs", ""),
        ("docs/build/out.md", ""),
        (".gitignore", "/target\n*.tmp\n!keep.tmp\n"),
        ("docs/.ignore", "build/\n"),
        ("a.tmp", ""),
        ("keep.tmp", ""),
        (".git/config.rs", ""),
    ])
}

fn check(arguments: &serde_json::Value, expect: &[&str]) {
    let output = tree().call("glob", arguments);
    let found: Vec<&str> = output.lines().skip(1).filter(|line| !line.starts_with('[')).collect();
    assert_eq!(found, expect, "{arguments}: {output}");
}

#[test]
fn patterns_match_as_their_shape_says() {
    let rust = ["src/main.rs", "src/net/mod.rs", "src/net/tests/a.rs"];
    check(&json!({"pattern": "*.rs"}), &rust);
    check(&json!({"pattern": "**/*.rs"}), &rust);
    check(&json!({"pattern": "./src/**/*.rs"}), &rust);
    check(&json!({"pattern": "src/*"}), &["src/main.rs", "src/net/"]);
    check(&json!({"pattern": "*/mod.rs"}), &[]);
    check(&json!({"pattern": "src/*/mod.rs"}), &["src/net/mod.rs"]);
    check(&json!({"pattern": "*.{toml,md}"}), &["Cargo.toml", "docs/guide.md"]);
    check(&json!({"pattern": "tests/"}), &["src/net/tests/"]);
    check(&json!({"pattern": "mod.rs", "path": "src"}), &["src/net/mod.rs"]);
    check(&json!({"pattern": "net/*.rs", "path": "src"}), &["src/net/mod.rs"]);
    check(&json!({"pattern": "[mn]*.rs"}), &["src/main.rs", "src/net/mod.rs"]);
}

#[test]
fn ignore_files_count_from_the_root_down_and_can_be_set_aside() {
    check(&json!({"pattern": "*.tmp"}), &["keep.tmp"]);
    check(&json!({"pattern": "*.md", "path": "docs"}), &["docs/guide.md"]);
    check(&json!({"pattern": "*.md", "hidden": true}), &["docs/.draft.md", "docs/guide.md"]);
    check(&json!({"pattern": "*.md", "ignored": true}), &["docs/build/out.md", "docs/guide.md"]);
    check(&json!({"pattern": "*.rs", "path": "target"}), &["target/x.rs"]);
    check(&json!({"pattern": "config.rs", "hidden": true}), &[]);
}

#[test]
fn nothing_found_says_what_was_skipped() {
    assert_eq!(
        tree().call("glob", &json!({"pattern": "*.zig"})),
        "[no matches in . (17 names looked at)]\n\
         [hidden and ignored names were skipped; `hidden` and `ignored` include them]"
    );
}

#[test]
fn a_pattern_that_does_not_compile_says_how_to_mend_it() {
    for pattern in ["[a", "{a,b", "/etc/*", "../*", "a/../../*"] {
        let failure = PathPattern::compile(pattern).unwrap_err();
        assert!(failure.to_string().contains("write it like"), "{pattern}: {failure}");
    }
    assert!(tree().call("glob", &json!({"pattern": "[a"})).starts_with("pattern_invalid: "));
    let deep = "{".repeat(400);
    assert!(tree().call("glob", &json!({"pattern": deep})).starts_with("pattern_invalid: "));
}

#[test]
fn credentials_are_named_and_their_folders_not_entered() {
    let fixture =
        Fixture::with(&[("server.key", "x"), ("secrets/db", "x"), (".ssh/id_rsa", "x"), ("a.txt", "x")]);
    let found = |arguments: &serde_json::Value| fixture.call("glob", arguments);
    assert_eq!(
        found(&json!({"pattern": "*", "hidden": true})),
        "[4 matches]\n.ssh/ (credentials, contents not shown)\na.txt\nsecrets/ (credentials, contents not shown)\n\
         server.key (credentials, contents not shown)\n"
    );
    assert!(found(&json!({"pattern": "secret[s]/*"})).starts_with("[no matches"));
    // The control: a call that names the place.
    assert_eq!(found(&json!({"pattern": "*", "path": "secrets"})), "[1 match]\nsecrets/db\n");
}
