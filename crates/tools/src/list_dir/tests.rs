//! Tests of `list_dir`: order, kinds, depth, and what is shown but not entered.

use std::os::unix::fs::symlink;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;

use crate::fixture::Fixture;

fn tree() -> Fixture {
    let fixture = Fixture::with(&[
        ("b.txt", "four"),
        ("a/deep/x.rs", "x"),
        ("a/y.rs", ""),
        (".hidden", "h"),
        (".gitignore", "target/\n*.log\n"),
        ("target/debug/out.o", "o"),
        ("run.log", "l"),
        (".git/HEAD", "ref"),
    ]);
    symlink("a/y.rs", fixture.root().join("link")).unwrap();
    mkfifoat(CWD, fixture.root().join("pipe"), Mode::RUSR).unwrap();
    fixture
}

#[test]
fn a_folder_shows_everything_in_order_of_name() {
    assert_eq!(
        tree().call("list_dir", &json!({})),
        "[. holds 3 folders, 6 files]\n.git/\n.gitignore (14 bytes)\n.hidden (1 byte)\na/\nb.txt (4 bytes)\n\
         link -> a/y.rs (link, not followed)\npipe (a named pipe)\nrun.log (1 byte)\ntarget/\n"
    );
    assert_eq!(
        tree().call("list_dir", &json!({"path": "a/"})),
        "[a holds 1 folder, 1 file]\na/deep/\na/y.rs (0 bytes)\n"
    );
    assert_eq!(
        tree().call("list_dir", &json!({"path": "target"})),
        "[target holds 1 folder, 0 files]\ntarget/debug/\n"
    );
}

#[test]
fn depth_goes_below_but_not_into_what_is_ignored() {
    let listing = tree().call("list_dir", &json!({"depth": 3}));
    for line in [
        ".git/ (ignored, not entered)",
        "a/",
        "a/deep/",
        "a/deep/x.rs (1 byte)",
        "a/y.rs (0 bytes)",
        "target/ (ignored, not entered)",
        "run.log (1 byte)",
    ] {
        assert!(listing.lines().any(|l| l == line), "{line} in {listing}");
    }
    assert!(!listing.contains("HEAD") && !listing.contains("out.o"), "{listing}");
}

#[test]
fn an_empty_folder_and_a_file_are_told_apart() {
    let fixture = tree();
    std::fs::create_dir(fixture.root().join("none")).unwrap();
    assert_eq!(fixture.call("list_dir", &json!({"path": "none"})), "[none is empty]\n");
    assert_eq!(
        fixture.call("list_dir", &json!({"path": "b.txt"})),
        "file_unsuitable: `b.txt` is a file, not a folder; read_file shows what is in it"
    );
    assert_eq!(
        fixture.call("list_dir", &json!({"path": "A"})),
        "file_not_found: `A` does not exist; the workspace root holds `a/`, `target/`, `.git/`, `b.txt`, \
         `link`, `none/`, `pipe`, `.hidden` and 2 more"
    );
}

#[test]
fn a_long_list_is_cut_between_lines_and_counted_whole() {
    let fixture = Fixture::new();
    for number in 0..500 {
        fixture.write(&format!("file-{number:04}.txt"), b"");
    }
    let listing = fixture.call_within(2048, "list_dir", &json!({}));
    assert!(listing.starts_with("[. holds 0 folders, 500 files]\nfile-0000.txt (0 bytes)\n"), "{listing}");
    assert!(
        listing.ends_with(" (0 bytes)\n[the list is cut here; name a folder in it as `path`, or use glob]"),
        "{listing}"
    );
}

#[test]
fn a_name_cannot_pose_as_a_line() {
    let fixture = Fixture::with(&[("a\nb/ (ignored, not entered)", "")]);
    assert_eq!(fixture.call("list_dir", &json!({})).lines().count(), 2);
}

#[test]
fn credentials_are_named_and_their_folders_not_entered() {
    let fixture = Fixture::with(&[(".env", "x"), ("secrets/db", "x"), ("src/a.rs", "x")]);
    assert_eq!(
        fixture.call("list_dir", &json!({"depth": 3})),
        "[. holds 2 folders, 2 files]\n.env (credentials, contents not shown)\n\
         secrets/ (credentials, contents not shown)\nsrc/\nsrc/a.rs (1 byte)\n"
    );
    // The control: a call that names the place.
    assert!(fixture.call("list_dir", &json!({"path": "secrets"})).contains("secrets/db (1 byte)"));
}
