//! Tests of `read_file`: exact text, paging, and refusals that say what to do.

use serde_json::json;

use crate::fixture::Fixture;

fn check(content: &[u8], arguments: serde_json::Value, expect: &str) {
    let fixture = Fixture::new();
    fixture.write("notes.txt", content);
    let mut arguments = arguments;
    arguments["path"] = "notes.txt".into();
    assert_eq!(fixture.call("read_file", &arguments), expect);
}

#[test]
fn a_file_that_fits_comes_exactly_as_it_is() {
    for content in ["one", "one\n", "one\r\ntwo\r\n", "\n\n", "\u{feff}caf\u{e9} \u{1f600}\n"] {
        check(content.as_bytes(), json!({}), content);
    }
    check(b"", json!({}), "[the file is empty]");
}

#[test]
fn a_range_says_how_to_go_on() {
    let five = b"1\n2\n3\n4\n5\n";
    check(
        five,
        json!({"from": 2, "to": 3}),
        "2\n3\n[lines 2-3 of 5 lines; the file has 10 bytes; continue with from=4]",
    );
    check(five, json!({"from": 4}), "4\n5\n[lines 4-5 of 5 lines; the file has 10 bytes]");
    check(five, json!({"to": 1}), "1\n[lines 1-1 of 5 lines; the file has 10 bytes; continue with from=2]");
    check(five, json!({"from": 1.0, "to": 99}), "1\n2\n3\n4\n5\n");
    check(
        five,
        json!({"from": 6}),
        "tool_arguments_invalid: `notes.txt` has 5 lines; ask for a `from` among them",
    );
    check(five, json!({"from": 3, "to": 2}), "tool_arguments_invalid: `to` (2) is before `from` (3)");
    check(
        b"",
        json!({"from": 2}),
        "tool_arguments_invalid: `notes.txt` has 0 lines; ask for a `from` among them",
    );
}

#[test]
fn following_the_notes_reads_a_long_file_whole() {
    let fixture = Fixture::new();
    let content: String = (1..=3000).map(|n| format!("line {n} {}\n", "x".repeat(n % 90))).collect();
    fixture.write("long.txt", content.as_bytes());

    let (mut read, mut from, mut calls) = (String::new(), 1, 0);
    loop {
        calls += 1;
        let page = fixture.call_within(8192, "read_file", &json!({"path": "long.txt", "from": from}));
        let (text, note) = page.rsplit_once('[').unwrap();
        read.push_str(text);
        assert!(note.contains("of 3000 lines"), "{note}");
        match note.split_once("continue with from=") {
            Some((_, next)) => from = next.trim_end_matches(']').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(read, content);
    assert!((20..40).contains(&calls), "{calls}");
}

#[test]
fn one_endless_line_is_cut_and_does_not_hide_what_follows() {
    let fixture = Fixture::new();
    let content = format!("head\n{}\ntail\n", "\u{e9}".repeat(100_000));
    fixture.write("min.js", content.as_bytes());
    let page = |from: u64| fixture.call_within(4096, "read_file", &json!({"path": "min.js", "from": from}));

    assert_eq!(page(1), "head\n[lines 1-1 of 3 lines; the file has 200011 bytes; continue with from=2]");
    let second = page(2);
    assert!(second.starts_with("\u{e9}\u{e9}"));
    assert!(
        second.ends_with("\n[lines 2-2 of 3 lines; the file has 200011 bytes; continue with from=3; line 2 is 200001 bytes long and was cut]"),
        "{}",
        &second[second.len() - 200..]
    );
    assert_eq!(page(3), "tail\n[lines 3-3 of 3 lines; the file has 200011 bytes]");
}

#[test]
fn what_is_not_utf8_is_shown_and_said_so() {
    check(b"caf\xe9\n", json!({}), "caf\u{fffd}\n[bytes that are not UTF-8 are shown as \u{fffd}]");
}

#[test]
fn a_binary_file_is_refused_with_its_size() {
    let refusal = "file_unsuitable: `notes.txt` is a binary file of 6 bytes, not text";
    check(b"\x7fELF\0\x01", json!({}), refusal);
    let late = [&b"text\n".repeat(4000)[..], b"\0"].concat();
    check(&late, json!({}), "file_unsuitable: `notes.txt` is a binary file of 20001 bytes, not text");
    check(
        &late,
        json!({"to": 1}),
        "text\n[lines 1-1 of 4001 lines; the file has 20001 bytes; continue with from=2]",
    );
}

#[test]
fn a_picture_is_refused_with_the_option_that_shows_it_to_a_model() {
    let fixture = Fixture::with(&[("tiny.PNG", "\u{89}PNG\0"), ("tiny.bin", "PNG\0")]);
    let read = |path: &str| fixture.call("read_file", &json!({"path": path}));
    let picture = read("tiny.PNG");
    assert!(
        picture.contains("bytes, not text; a picture is sent along")
            && picture.contains("/attach FILE in a chat, "),
        "{picture}"
    );
    assert!(read("tiny.bin").ends_with(" is a binary file of 4 bytes, not text"));
}

#[test]
fn a_missing_file_names_what_is_there() {
    let fixture =
        Fixture::with(&[("src/main.rs", ""), ("src/lib.rs", ""), ("README.md", ""), ("empty/x/y", "")]);
    std::fs::remove_dir_all(fixture.root().join("empty/x")).unwrap();
    let read = |path: &str| fixture.call("read_file", &json!({"path": path}));
    assert_eq!(
        read("src/mian.rs"),
        "file_not_found: `src/mian.rs` does not exist; `src` holds `main.rs`, `lib.rs`"
    );
    assert_eq!(
        read("readme.md"),
        "file_not_found: `readme.md` does not exist; the workspace root holds `README.md`, `empty/`, `src/`"
    );
    assert_eq!(
        read("source/deep/main.rs"),
        "file_not_found: `source/deep/main.rs` does not exist; \
         the workspace root holds `src/`, `empty/`, `README.md`"
    );
    assert_eq!(read("empty/a"), "file_not_found: `empty/a` does not exist; `empty` is empty");
    assert_eq!(read("src"), "file_unsuitable: `src` is a folder; list_dir shows what is in it");
    assert_eq!(
        read("README.md/x"),
        "file_not_found: `README.md/x` does not exist: a part of it is a file, not a folder"
    );
    let absolute = fixture.root().join("src/main.rs");
    assert_eq!(read(absolute.to_str().unwrap()), "[the file is empty]");
}
