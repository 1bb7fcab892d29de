//! The program as a person types it, and on the file that a daemon of format 1 left.

use std::path::Path;
use std::process::{Command, Output};

use crate::writer::{Shape, shape};

fn say(arguments: &[&str]) -> (i32, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_palyra-verify")).args(arguments).output().expect("the program runs");
    let said = [stdout, stderr].concat();
    (status.code().expect("it ended by itself"), String::from_utf8(said).expect("text"))
}

#[test]
fn what_is_typed_wrongly_is_told_from_what_is_wrong_with_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = shape(Shape::Plain, 4);
    log.save(&path);
    let (db, missing) = (path.to_str().expect("text"), folder.path().join("none"));
    let missing = missing.to_str().expect("text");
    for wrong in [
        &[][..],
        &["--db", db, "--bundle", db],
        &["--db", db, "--key", "palyra.log/00+00+AA=="],
        &["--bundle", db, "--since", db],
        &["--db", db, "--frobnicate"],
    ] {
        assert_eq!(say(wrong).0, 2, "{wrong:?}");
    }
    for unreadable in
        [&["--db", missing][..], &["--db", db, "--since", missing], &["--db", db, "--keys", missing]]
    {
        assert_eq!(say(unreadable).0, 16, "{unreadable:?}");
    }
    assert_eq!(say(&["--db", db, "--since", db]).0, 16, "a checkpoint that is none");
}

#[test]
fn a_path_alone_names_a_file_a_state_directory_or_a_bundle() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().to_str().expect("text");
    let (code, said) = say(&["--db", state]);
    assert!(code == 16 && said.contains("without journal.db"), "{code} {said}");
    // A folder without a journal is taken for a bundle.
    assert_eq!(say(&[state]).0, 16);
    let path = folder.path().join("journal.db");
    shape(Shape::Plain, 4).save(&path);
    let db = path.to_str().expect("text");
    let whole = say(&["--db", db]);
    assert_eq!(whole.0, 0, "{}", whole.1);
    for alone in [db, state] {
        assert_eq!(say(&[alone]), whole, "{alone}");
    }
    let (code, said) = say(&["--db", state]);
    assert!(code == 16 && said.contains(&format!("--db {db}")), "{code} {said}");
    for wrong in [&[db, "--open-run"][..], &[db, "--db", db], &["--bundle", state, "--keys", state]] {
        assert_eq!(say(wrong).0, 2, "{wrong:?}");
    }
    let empty = tempfile::tempdir().expect("a folder");
    assert_eq!(say(&[empty.path().to_str().expect("text"), "--keys", state]).0, 2);
}

#[test]
fn a_report_says_what_was_not_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = shape(Shape::Erased, 6);
    log.save(&path);
    let db = path.to_str().expect("text");
    let (code, said) = say(&["--db", db]);
    assert_eq!(code, 0, "{said}");
    let (size, _) = log.newest().expect("signed");
    for part in ["ok: everything holds", "not checked: consistent; give --key", "erased    ", "(request)"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    // As every other program prints ids.
    let by =
        said.split(" by principal ").nth(1).and_then(|rest| rest.split(' ').next()).expect("who had it done");
    assert!(by.len() == 26 && by.chars().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase()), "{said}");
    assert!(said.contains(&format!("freshness unknown; newest signed at size {size}")), "{said}");
    let key = said.lines().find_map(|line| line.strip_prefix("key       ")).expect("the signer's key");
    let (code, said) = say(&["--db", db, "--key", key]);
    assert!(code == 0 && said.contains("leads to the newest signed head"), "{said}");
}

/// Its entry 10 lost its payload, as a test of the journal wants it, and nothing says why.
#[test]
fn the_kept_file_of_format_1_lacks_one_payload() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/fixtures/journal-v1.db");
    let (code, said) = say(&["--db", kept.to_str().expect("text"), "--json"]);
    let said: serde_json::Value = serde_json::from_str(&said).expect("one object");
    assert_eq!((code, said["first_bad_seq"].as_u64(), said["faults"].as_u64()), (15, Some(10), Some(1)));
    assert_eq!((said["format"].as_u64(), said["entries"].as_u64()), (Some(1), Some(27)));
}
