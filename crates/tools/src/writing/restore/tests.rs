//! Taking changes back: in one go, after a crash, and past what somebody changed since.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use palyra_ports::CancelFlag;
use palyra_types::effect::RawPreImage;
use palyra_types::tool::ToolName;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{Fixture, prepare_call};
use crate::writing::HaltAt;

/// A workspace, and what a run changed in it: the last change first.
struct Changed {
    fixture: Fixture,
    images: Vec<RestoreImage>,
}

/// What the tape has of them.
fn recorded(images: Vec<RawPreImage>) -> Vec<RestoreImage> {
    let recorded = |RawPreImage { path, before, after_sha256 }| RestoreImage {
        path: palyra_types::Redacted::cleaned(path.into_exposed()),
        before,
        after_sha256,
    };
    images.into_iter().map(recorded).collect()
}

impl Changed {
    fn by(files: &[(&str, &str)], calls: &[(&str, Value)]) -> Self {
        let fixture = Fixture::with(files);
        let mut images = Vec::new();
        for (tool, arguments) in calls {
            let tool_name = ToolName::new(tool);
            images.extend(
                prepare_call(&tool_name, &arguments.to_string(), &fixture.root()).unwrap().pre_images,
            );
            let told = fixture.call(tool, arguments);
            assert!(told.starts_with("c") || told.starts_with("removed"), "{told}");
        }
        images.reverse();
        Self { fixture, images: recorded(images) }
    }

    fn restore(&self) -> Vec<String> {
        self.restore_until(usize::MAX)
    }

    fn restore_until(&self, steps: usize) -> Vec<String> {
        let workspace = Workspace::open(&self.fixture.root()).unwrap();
        let (cancel, watch) = (CancelFlag::default(), HaltAt::after(steps));
        let undone = restore(&workspace, &self.images, &CallPace::watched(&cancel, &watch));
        let told = |file: RawUndoneFile| {
            let result = match file.result {
                UndoResult::Conflict(diff) => format!("Conflict\n{}", diff.expose()),
                UndoResult::Failed(why) => format!("Failed {}", why.expose()),
                plain => format!("{plain:?}"),
            };
            format!("{} {result}", file.path.expose())
        };
        undone.into_iter().map(told).collect()
    }

    fn files(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.fixture.root()).unwrap().map(|entry| entry.unwrap().path());
        let named = |path: std::path::PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            path.is_file().then(|| (name, fs::read_to_string(&path).unwrap()))
        };
        entries.filter_map(named).collect()
    }

    fn assert_files(&self, files: &[(&str, &str)]) {
        let wanted = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        assert_eq!(self.files(), wanted);
    }
}

const THREE: &[(&str, &str)] = &[("a", "one\n"), ("b", "bye\n")];

/// Changes one file twice, removes one, makes one and gives one a new name.
fn three() -> Changed {
    let patch = "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+new\n";
    Changed::by(
        THREE,
        &[
            ("edit_file", json!({"path": "a", "old": "one", "new": "two"})),
            ("apply_patch", json!({"patch": patch})),
            ("edit_file", json!({"path": "a", "old": "two", "new": "three"})),
            ("apply_patch", json!({"patch": "diff --git a/c b/d\nrename from c\nrename to d\n"})),
        ],
    )
}

#[test]
fn a_run_is_taken_back_and_taking_it_back_again_changes_nothing() {
    let changed = three();
    changed.assert_files(&[("a", "three\n"), ("d", "new\n")]);
    let told = changed.restore();
    assert_eq!(
        told,
        ["c AlreadyRestored", "d Restored", "a Restored", "b Restored", "c AlreadyRestored", "a Restored"],
    );
    changed.assert_files(THREE);
    assert_eq!(
        changed.restore(),
        [
            "c AlreadyRestored",
            "d AlreadyRestored",
            "a AlreadyRestored",
            "b AlreadyRestored",
            "c AlreadyRestored",
            "a AlreadyRestored"
        ]
    );
    changed.assert_files(THREE);
}

#[test]
fn a_crash_at_any_step_is_finished_by_doing_it_again() {
    for steps in 0.. {
        let changed = three();
        let whole = changed.restore_until(steps).iter().all(|told| told.ends_with("Restored"));
        let told = changed.restore();
        assert!(told.iter().all(|told| told.ends_with("Restored")), "step {steps}: {told:?}");
        changed.assert_files(THREE);
        if whole {
            assert!(steps > 15, "only {steps} steps");
            break;
        }
    }
}

#[test]
fn what_somebody_changed_since_stays_and_is_shown() {
    let changed = three();
    changed.fixture.write("a", b"mine\n");
    let told = changed.restore();
    assert_eq!(
        told[2],
        "a Conflict\n--- a (as it is now)\n+++ a (before the run)\n@@ -1 +1 @@\n-mine\n+two\n"
    );
    assert_eq!(
        told[5],
        "a Conflict\n--- a (as it is now)\n+++ a (before the run)\n@@ -1 +1 @@\n-mine\n+one\n"
    );
    changed.assert_files(&[("a", "mine\n"), ("b", "bye\n")]);
}

#[test]
fn what_somebody_changed_between_two_calls_comes_back_and_no_further() {
    let fixture = Fixture::with(&[("a", "one\n")]);
    let write = |content: &str| {
        let arguments = json!({"path": "a", "content": content});
        let made =
            prepare_call(&ToolName::new("write_file"), &arguments.to_string(), &fixture.root()).unwrap();
        fixture.call("write_file", &arguments);
        made.pre_images
    };
    let mut images = write("two\n");
    fixture.write("a", b"mine\n");
    images.extend(write("three\n"));
    images.reverse();
    let changed = Changed { fixture, images: recorded(images) };
    let told = changed.restore();
    assert_eq!(told[0], "a Restored");
    assert!(told[1].starts_with("a Conflict"), "{told:?}");
    changed.assert_files(&[("a", "mine\n")]);
}

#[test]
fn what_was_not_kept_is_said_and_left() {
    let mut changed = three();
    changed.images[2].before = FileBefore::Withheld { mode: 0o644 };
    let told = changed.restore();
    assert_eq!(
        (told[2].as_str(), told[5].as_str()),
        (
            "a Withheld",
            "a Conflict\n--- a (as it is now)\n+++ a (before the run)\n@@ -1 +1 @@\n-three\n+one\n"
        )
    );
    changed.assert_files(&[("a", "three\n"), ("b", "bye\n")]);
}

#[test]
fn a_mode_comes_back_too() {
    let fixture = Fixture::with(&[("a.sh", "one\n")]);
    let path = fixture.root().join("a.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let patch = json!({"patch": "--- a/a.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"});
    let images =
        prepare_call(&ToolName::new("apply_patch"), &patch.to_string(), &fixture.root()).unwrap().pre_images;
    fixture.call("apply_patch", &patch);
    let changed = Changed { fixture, images: recorded(images) };
    assert!(!path.exists());
    assert_eq!(changed.restore(), ["a.sh Restored"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
}

#[test]
fn a_place_that_became_a_link_is_not_followed() {
    let changed = three();
    let outside = changed.fixture.outside().join("victim");
    fs::write(&outside, "three\n").unwrap();
    fs::remove_file(changed.fixture.root().join("a")).unwrap();
    std::os::unix::fs::symlink(&outside, changed.fixture.root().join("a")).unwrap();
    let told = changed.restore();
    assert!(told[2].starts_with("a Failed `a` leads through a symbolic link"), "{told:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "three\n");
}
