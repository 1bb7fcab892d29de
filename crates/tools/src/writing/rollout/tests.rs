//! What lies beside a place, and file systems that cannot exchange names.

use std::fs;

use palyra_ports::CancelFlag;

use super::*;
use crate::fixture::Fixture;

fn moving(fixture: &Fixture, stage: MoveStage) -> FileMove {
    let workspace = Workspace::open(&fixture.root()).unwrap();
    let path = workspace.path(Some("a")).unwrap();
    let slot = workspace.slot(&path).unwrap().unwrap();
    let beside = SiblingNames::of(&slot, &[1; 32], &path);
    let (before, after) = (Some(Sha256::of(b"one\n")), Some(Sha256::of(b"two\n")));
    FileMove { slot, beside, before, after, content: None, stage, shown: "a".to_owned() }
}

#[test]
fn the_names_beside_a_place_are_its_own_and_the_effects() {
    let fixture = Fixture::with(&[("a", "one\n"), ("b", "one\n")]);
    let workspace = Workspace::open(&fixture.root()).unwrap();
    let name = |path: &str, key: u8| {
        let path = workspace.path(Some(path)).unwrap();
        let slot = workspace.slot(&path).unwrap().unwrap();
        SiblingNames::of(&slot, &[key; 32], &path).aside.name().to_str().unwrap().to_owned()
    };
    assert_eq!(name("a", 1), name("a", 1));
    assert_ne!(name("a", 1), name("a", 2));
    assert_ne!(name("a", 1), name("b", 1));
    assert_eq!(name("a", 1).len(), ".palyra-.tmp".len() + 24);
}

#[test]
fn what_was_displaced_and_is_not_ours_is_put_back() {
    let fixture = Fixture::with(&[("a", "theirs\n")]);
    let mut file = moving(&fixture, MoveStage::Staged);
    fs::write(fixture.root().join(file.beside.aside.name()), "two\n").unwrap();
    assert!(matches!(file.advance(), Err(WriteEnd::Failed(ToolFailure::Conflict(_)))));
    assert_eq!(file.stage, MoveStage::Moved);
    file.take_back().unwrap();
    assert_eq!(fs::read_to_string(fixture.root().join("a")).unwrap(), "theirs\n");
    assert_eq!(file.beside.aside.see(), SlotState::Absent);
}

#[test]
fn what_is_not_ours_is_not_removed_when_a_move_is_undone() {
    let fixture = Fixture::with(&[("a", "saved over ours\n")]);
    let mut file = moving(&fixture, MoveStage::Moved);
    fs::write(fixture.root().join(file.beside.aside.name()), "one\n").unwrap();
    assert!(file.take_back().is_err());
    assert_eq!(fs::read_to_string(fixture.root().join("a")).unwrap(), "saved over ours\n");
}

#[test]
fn what_was_displaced_and_could_not_go_back_is_not_staged_over() {
    let fixture = Fixture::with(&[("a", "one\n")]);
    let mut file = moving(&fixture, MoveStage::Planned);
    file.content = Some((b"two\n".to_vec(), FileAccess::Bits(0o644)));
    let aside = fixture.root().join(file.beside.aside.name());
    std::os::unix::fs::symlink("/nowhere", &aside).unwrap();
    let cancel = CancelFlag::default();
    let pace = CallPace::new(&cancel);
    assert!(matches!(file.stage(&pace), Err(WriteEnd::Failed(ToolFailure::Conflict(_)))));
    assert!(fs::symlink_metadata(&aside).unwrap().is_symlink());
    // What this effect left there itself is replaced.
    fs::remove_file(&aside).unwrap();
    fs::write(&aside, "two\n").unwrap();
    assert!(file.stage(&pace).is_ok());
}

#[test]
fn without_an_exchange_what_is_there_is_looked_at_last() {
    let fixture = Fixture::with(&[("a", "theirs\n")]);
    let file = moving(&fixture, MoveStage::Staged);
    let ours = fixture.root().join(file.beside.aside.name());
    fs::write(&ours, "two\n").unwrap();
    assert!(file.overwrite().is_err());
    assert_eq!(fs::read_to_string(fixture.root().join("a")).unwrap(), "theirs\n");

    fixture.write("a", b"one\n");
    assert_eq!(file.overwrite().unwrap(), MoveStage::Overwritten);
    assert_eq!(fs::read_to_string(fixture.root().join("a")).unwrap(), "two\n");
    assert!(!ours.exists());
    let mut overwritten = moving(&fixture, MoveStage::Overwritten);
    assert!(overwritten.take_back().is_err(), "what is gone cannot come back");
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_nothing_is_left() {
    let fixture = Fixture::with(&[("x", "a file\n")]);
    let workspace = Workspace::open(&fixture.root()).unwrap();
    let (cancel, path) = (CancelFlag::default(), workspace.path(Some("new/deep/x")).unwrap());
    let blocked = workspace.path(Some("x/y")).unwrap();
    let new = |path: WorkspacePath| FileChange {
        path,
        before: crate::workspace::SlotContent::Absent,
        after: Some(b"new\n".to_vec()),
        access: FileAccess::New(0o666),
        renamed_from: None,
    };
    let end = Rollout::with(Vec::new(), &CallPace::new(&cancel)).run(
        &workspace,
        vec![new(path), new(blocked)],
        &[2; 32],
    );
    assert!(matches!(end, Err(WriteEnd::Failed(ToolFailure::NotFound(_)))), "{end:?}");
    let names: Vec<_> = fs::read_dir(fixture.root()).unwrap().map(|name| name.unwrap().file_name()).collect();
    assert_eq!(names, ["x"]);
}
