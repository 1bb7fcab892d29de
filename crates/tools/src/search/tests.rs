//! Tests of `search`: shape of the output, what is passed over, and where it stops.

use serde_json::json;

use crate::fixture::Fixture;

fn tree() -> Fixture {
    let fixture = Fixture::with(&[
        ("a.txt", "one\ntwo needle\nthree\nfour\nneedle five\nsix\n"),
        ("src/b.rs", "fn needle() {}\r\nfn Needle() {}\n"),
        ("src/.hidden.rs", "needle\n"),
        ("target/c.rs", "needle\n"),
        (".gitignore", "target\n"),
    ]);
    fixture.write("binary.bin", b"needle\0needle\n");
    fixture
}

fn check(arguments: &serde_json::Value, expect: &str) {
    assert_eq!(tree().call("search", arguments), expect, "{arguments}");
}

#[test]
fn matches_come_with_path_and_line() {
    check(
        &json!({"pattern": "needle"}),
        "[3 matches in 2 files (3 files searched)]\n\
         a.txt:2: two needle\na.txt:5: needle five\nsrc/b.rs:1: fn needle() {}\n\
         [2 hidden names (.gitignore, src/.hidden.rs) not searched: set `hidden`, or name one as `path`; \
         1 binary file passed over]",
    );
    check(
        &json!({"pattern": "NEEDLE", "ignore_case": true, "glob": "*.rs"}),
        "[2 matches in 1 file (1 file searched)]\n\
         src/b.rs:1: fn needle() {}\nsrc/b.rs:2: fn Needle() {}\n\
         [1 hidden name (src/.hidden.rs) not searched: set `hidden`, or name one as `path`]",
    );
    check(
        &json!({"pattern": "^needle", "path": "a.txt"}),
        "[1 match in 1 file (1 file searched)]\na.txt:5: needle five\n",
    );
    check(
        &json!({"pattern": r"\{\}$", "path": "src"}),
        "[2 matches in 1 file (1 file searched)]\n\
         src/b.rs:1: fn needle() {}\nsrc/b.rs:2: fn Needle() {}\n\
         [1 hidden name (src/.hidden.rs) not searched: set `hidden`, or name one as `path`]",
    );
}

#[test]
fn hidden_files_are_searched_when_asked_for() {
    check(
        &json!({"pattern": "needle", "hidden": true, "glob": "*.rs"}),
        "[2 matches in 2 files (2 files searched)]\n\
         src/.hidden.rs:1: needle\nsrc/b.rs:1: fn needle() {}\n",
    );
}

#[test]
fn hidden_names_that_are_not_searched_are_counted_and_the_first_are_named() {
    let fixture = Fixture::with(&[
        (".env.example", "PORT=1\n"),
        (".env", "PORT=2\n"),
        (".github/ci.yml", "PORT: 3\n"),
        (".a", "x\n"),
        (".b", "x\n"),
        ("plain.txt", "PORT\n"),
    ]);
    let printed = fixture.call("search", &json!({"pattern": "PORT"}));
    assert!(printed.starts_with("[1 match in 1 file (1 file searched)]\nplain.txt:1: PORT\n"), "{printed}");
    let named =
        "[4 hidden names (.a, .b, .env.example, ...) not searched: set `hidden`, or name one as `path`; ";
    assert!(printed.contains(named), "{printed}");
    // Credentials are hidden either way, and are counted as what they are.
    assert!(printed.contains("; 1 path that may hold credentials left out;"), "{printed}");
    let printed = fixture.call("search", &json!({"pattern": "PORT", "hidden": true}));
    for line in [".env.example:1: PORT=1\n", ".github/ci.yml:1: PORT: 3\n", "1 path that may hold"] {
        assert!(printed.contains(line), "{printed}");
    }
    assert!(!printed.contains("PORT=2") && !printed.contains("hidden"), "{printed}");
    // What git keeps is never looked into.
    let fixture = Fixture::with(&[(".git/config", "PORT\n"), ("plain.txt", "PORT\n")]);
    for hidden in [false, true] {
        let printed = fixture.call("search", &json!({"pattern": "PORT", "hidden": hidden}));
        assert_eq!(printed, "[1 match in 1 file (1 file searched)]\nplain.txt:1: PORT\n");
    }
}

#[test]
fn a_file_named_as_path_is_searched_in_any_case() {
    for path in ["target/c.rs", "src/.hidden.rs"] {
        let output = tree().call("search", &json!({"pattern": "needle", "path": path}));
        assert!(output.contains(&format!("{path}:1: needle\n")), "{output}");
    }
}

#[test]
fn contexts_overlap_without_repeating_a_line() {
    check(
        &json!({"pattern": "needle", "path": "a.txt", "context": 1}),
        "[2 matches in 1 file (1 file searched)]\n\
         a.txt-1- one\na.txt:2: two needle\na.txt-3- three\na.txt-4- four\na.txt:5: needle five\na.txt-6- six\n",
    );
    let fixture = Fixture::with(&[("f", "x\n1\n2\n3\n4\n5\nx\nx\n6\n")]);
    assert_eq!(
        fixture.call("search", &json!({"pattern": "x", "context": 2})),
        "[3 matches in 1 file (1 file searched)]\n\
         f:1: x\nf-2- 1\nf-3- 2\n--\nf-5- 4\nf-6- 5\nf:7: x\nf:8: x\nf-9- 6\n"
    );
}

#[test]
fn it_stops_at_max_and_shows_the_last_context() {
    check(
        &json!({"pattern": "needle", "max": 1, "context": 1}),
        "[1 match in 1 file (1 file searched)]\n\
         a.txt-1- one\na.txt:2: two needle\na.txt-3- three\n[stopped at max=1; there may be more; \
         1 hidden name (.gitignore) not searched: set `hidden`, or name one as `path`]",
    );
}

#[test]
fn nothing_found_counts_what_was_searched() {
    check(
        &json!({"pattern": "nowhere"}),
        "[no matches (3 files searched)]\n\
         [2 hidden names (.gitignore, src/.hidden.rs) not searched: set `hidden`, or name one as `path`; \
         1 binary file passed over]",
    );
}

#[test]
fn a_flood_is_cut_between_lines() {
    let fixture = Fixture::with(&[("flood.txt", &"needle in a very long haystack\n".repeat(5000))]);
    let output = fixture.call_within(4096, "search", &json!({"pattern": "needle", "max": 2000}));
    assert!(output.len() <= 4096 && output.len() > 3000);
    assert!(
        output.ends_with("\n[the list is cut here; narrow the pattern, or set `path` or `glob`]"),
        "{output}"
    );
}

#[test]
fn long_lines_are_shown_around_the_match() {
    let line = format!("{}needle{}\n", "a".repeat(5000), "b".repeat(5000));
    let fixture = Fixture::with(&[("min.js", &line)]);
    let output = fixture.call("search", &json!({"pattern": "needle"}));
    assert!(
        output.contains("min.js:1: ...aaa") && output.contains("needlebbb") && output.len() < 500,
        "{output}"
    );
}

#[test]
fn patterns_that_do_not_compile_or_grow_too_large_are_refused() {
    for (pattern, expect) in [
        ("(", "unclosed group"),
        (r"(?=x)", "look-around"),
        (r"(a)\1", "backreferences"),
        ("((a{100}){100}){100}", "too large"),
    ] {
        let output = tree().call("search", &json!({"pattern": pattern}));
        assert!(output.starts_with("pattern_invalid: ") && output.contains(expect), "{output}");
    }
    let nested = format!("{}a{}", "(".repeat(400), ")".repeat(400));
    assert!(tree().call("search", &json!({"pattern": nested})).starts_with("pattern_invalid: "));
}

fn secrets() -> Fixture {
    Fixture::with(&[
        ("server.key", "CANARY\n"),
        ("credentials.json", "CANARY\n"),
        ("secrets/db", "CANARY\n"),
        ("secrets/deep/x", "CANARY\n"),
        ("prod.tfvars", "CANARY\n"),
        ("plain.txt", "CANARY\n"),
    ])
}

#[test]
fn credentials_that_are_only_met_are_left_out_and_counted() {
    let fixture = secrets();
    let told = "[4 paths that may hold credentials left out; name one as `path` to ask the person for it]";
    for arguments in [json!({"pattern": "."}), json!({"pattern": ".", "path": ""})] {
        assert_eq!(
            fixture.call("search", &arguments),
            format!("[1 match in 1 file (1 file searched)]\nplain.txt:1: CANARY\n{told}")
        );
    }
    for glob in ["*.ke[y]", "*.{key,x}", "s*.k*", "[s]ecrets/**", "{**,x/id_rsa}", "**/*.k?y"] {
        let printed = fixture.call("search", &json!({"pattern": "CANARY", "glob": glob}));
        assert!(!printed.contains("server.key:") && !printed.contains("secrets/"), "{glob}: {printed}");
        assert!(printed.contains("may hold credentials left out"), "{glob}: {printed}");
    }
}

#[test]
fn credentials_that_the_call_names_are_searched() {
    let fixture = secrets();
    for (arguments, found) in [
        (json!({"pattern": "CAN", "path": "server.key"}), "server.key:1: CANARY\n"),
        (json!({"pattern": "CAN", "path": "secrets"}), "secrets/db:1: CANARY\nsecrets/deep/x:1: CANARY\n"),
        (json!({"pattern": "CAN", "glob": "*.key"}), "server.key:1: CANARY\n"),
    ] {
        let printed = fixture.call("search", &arguments);
        assert!(printed.contains(found) && !printed.contains("left out"), "{arguments}: {printed}");
    }
}
