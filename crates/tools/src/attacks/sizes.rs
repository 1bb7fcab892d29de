//! Case 32 and its kin: files and trees that never end.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use serde_json::json;

use super::grounds::{CANARY, Grounds};

const TERABYTE: u64 = 1 << 40;

fn sparse(grounds: &Grounds, name: &str, head: &str) -> File {
    let mut file =
        File::options().create_new(true).read(true).write(true).open(grounds.root().join(name)).unwrap();
    file.write_all(head.as_bytes()).unwrap();
    file.seek(SeekFrom::Start(TERABYTE)).unwrap();
    file.write_all(CANARY.as_bytes()).unwrap();
    file
}

#[test]
fn a_sparse_terabyte_is_not_read_through() {
    let grounds = Grounds::new();
    let file = sparse(&grounds, "sparse.bin", "");
    let begun = Instant::now();
    grounds.assert_untouched("sparse.bin");
    grounds.assert_untouched(".");
    assert_eq!(
        grounds.fixture.call("read_file", &json!({"path": "sparse.bin", "from": 1000})),
        format!("file_unsuitable: `sparse.bin` is a binary file of {} bytes, not text", TERABYTE + 13)
    );
    assert!(begun.elapsed() < Duration::from_secs(60));

    let mut control = [0; CANARY.len()];
    file.read_exact_at(&mut control, TERABYTE).unwrap();
    assert_eq!(control, CANARY.as_bytes());
}

#[test]
fn a_terabyte_that_begins_as_text_is_read_to_its_limit() {
    let grounds = Grounds::new();
    // More text than the probe for binary content looks at.
    let head = "a line of text\n".repeat(1000);
    sparse(&grounds, "sparse.txt", &head);
    let shown = grounds.fixture.call("read_file", &json!({"path": "sparse.txt", "to": 2}));
    assert_eq!(
        shown,
        format!(
            "a line of text\na line of text\n[lines 1-2 of 1001 lines in the first 67108864 bytes, beyond which \
             nothing was read; the file has {} bytes; continue with from=3]",
            TERABYTE + 13
        )
    );
    grounds.assert_untouched("sparse.txt");
    let found = grounds.fixture.call("search", &json!({"pattern": "canary|text", "max": 1}));
    assert!(found.contains("sparse.txt:1: a line of text\n"), "{found}");
}

#[test]
fn a_tree_is_entered_only_so_deep() {
    let grounds = Grounds::new();
    let deep = vec!["d"; 90].join("/");
    grounds.fixture.write(&format!("{deep}/{CANARY}.txt"), CANARY.as_bytes());
    let found = grounds.fixture.call("glob", &json!({"pattern": "*.txt"}));
    assert!(!found.contains(CANARY), "{found}");
    assert!(found.ends_with("[1 folder deeper than 64 levels not entered]"), "{found}");
    // Named, it is reached.
    grounds.assert_control_touches(format!("{deep}/{CANARY}.txt"));
    let named = grounds.fixture.call("search", &json!({"pattern": "canary", "path": deep}));
    assert!(named.contains(CANARY), "{named}");
}
