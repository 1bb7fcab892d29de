//! What is read, and what is refused.

use std::os::unix::fs::symlink;

use super::*;
use crate::fixture::Fixture;

/// Reads with a folder below the root; shows path and text of each file, then each refusal.
fn read(fixture: &Fixture, folder: &str) -> Vec<String> {
    let root = fixture.root();
    let found = WorkspaceProjectFiles.read(&root, Some(&root.join(folder)));
    let files = found.files.iter().map(|file| format!("{}: {}", file.path.expose(), file.text.expose()));
    files.chain(found.refused.iter().cloned()).collect()
}

#[test]
fn files_are_read_from_the_root_down_to_the_folder_and_never_above() {
    let fixture = Fixture::with(&[
        ("AGENTS.md", "root"),
        ("a/AGENTS.md", "a"),
        ("a/b/c/AGENTS.md", "c"),
        ("a/other/AGENTS.md", "beside"),
    ]);
    std::fs::write(fixture.root().parent().unwrap().join("AGENTS.md"), "above").unwrap();
    assert_eq!(read(&fixture, ""), ["AGENTS.md: root"]);
    assert_eq!(read(&fixture, "a/b/c"), ["AGENTS.md: root", "a/AGENTS.md: a", "a/b/c/AGENTS.md: c"]);
    assert_eq!(read(&fixture, "a/missing"), ["AGENTS.md: root", "a/AGENTS.md: a"]);
    for elsewhere in ["..", "a/../..", "/"] {
        assert_eq!(read(&fixture, elsewhere), ["AGENTS.md: root"], "{elsewhere}");
    }
    let root_alone = WorkspaceProjectFiles.read(&fixture.root(), None);
    assert_eq!((root_alone.files.len(), root_alone.refused.len()), (1, 0));
    let sha256 = Sha256::of(b"root").0;
    assert_eq!((root_alone.files[0].sha256, root_alone.files[0].extent), (sha256, ProjectFileExtent::Whole));
}

#[test]
fn of_many_files_those_nearest_to_the_folder_are_read() {
    let fixture = Fixture::new();
    let deep: Vec<String> = (0..12).map(|depth| format!("d{depth}")).collect();
    for depth in 0..=12 {
        let folder = deep[..depth].join("/");
        fixture.write(&Path::new(&folder).join("AGENTS.md").to_string_lossy(), depth.to_string().as_bytes());
    }
    let found = read(&fixture, &deep.join("/"));
    assert_eq!(found.len(), PROJECT_FILES_MAX);
    assert!(found[0].ends_with(": 5") && found[7].ends_with(": 12"), "{found:?}");
}

#[test]
fn a_link_is_refused_wherever_it_leads() {
    let fixture = Fixture::with(&[("real/AGENTS.md", "inside")]);
    std::fs::write(fixture.outside().join("AGENTS.md"), "canary").unwrap();
    symlink(fixture.outside().join("AGENTS.md"), fixture.root().join("AGENTS.md")).unwrap();
    symlink(fixture.outside(), fixture.root().join("out")).unwrap();
    let refused = read(&fixture, "out");
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused.iter().all(|line| line.contains("links are not followed")), "{refused:?}");
    assert!(!refused.concat().contains("canary"), "{refused:?}");
    std::fs::remove_file(fixture.root().join("AGENTS.md")).unwrap();
    symlink("real/AGENTS.md", fixture.root().join("AGENTS.md")).unwrap();
    assert!(read(&fixture, "")[0].contains("links are not followed"));
}

#[test]
fn what_is_no_text_file_is_refused_and_an_empty_one_left_out() {
    let fixture = Fixture::with(&[("empty/AGENTS.md", " \n"), ("nul/AGENTS.md", "a\0b")]);
    fixture.write("binary/AGENTS.md", &[0xff, 0xfe, 0x00]);
    std::fs::create_dir_all(fixture.root().join("folder/AGENTS.md")).unwrap();
    assert_eq!(read(&fixture, "empty"), Vec::<String>::new());
    for (folder, reason) in [("nul", "not UTF-8"), ("binary", "not UTF-8"), ("folder", "it is a folder")] {
        let refused = read(&fixture, folder);
        assert!(refused.len() == 1 && refused[0].contains(reason), "{folder}: {refused:?}");
    }
}

#[test]
fn a_long_file_is_cut_behind_a_line() {
    let line = "x".repeat(99) + "\n";
    let fixture = Fixture::with(&[
        ("AGENTS.md", &line.repeat(400)),
        ("fits/AGENTS.md", &"y".repeat(PROJECT_FILE_BYTES_MAX)),
        ("one/AGENTS.md", &format!("z{}", "\u{e9}".repeat(PROJECT_FILE_BYTES_MAX))),
    ]);
    let one = |folder: &str| {
        let root = fixture.root();
        let found = WorkspaceProjectFiles.read(&root, Some(&root.join(folder)));
        found.files.last().map(|file| (file.text.expose().clone(), file.extent)).unwrap()
    };
    assert_eq!(one(""), (line.repeat(PROJECT_FILE_BYTES_MAX / 100), ProjectFileExtent::Beginning));
    assert_eq!(one("fits"), ("y".repeat(PROJECT_FILE_BYTES_MAX), ProjectFileExtent::Whole));
    let (text, extent) = one("one");
    assert_eq!((text.len(), extent), (PROJECT_FILE_BYTES_MAX - 1, ProjectFileExtent::Beginning));
}

#[test]
fn a_root_that_is_a_link_is_not_entered() {
    let fixture = Fixture::with(&[("AGENTS.md", "canary")]);
    let link = fixture.outside().join("link");
    symlink(fixture.root(), &link).unwrap();
    let found = WorkspaceProjectFiles.read(&link, None);
    assert!(found.files.is_empty() && found.refused[0].contains("has become a link"), "{found:?}");
}
