//! Cases 27 and 35: the tree changes while it is being read.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use palyra_types::tool::ToolName;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with};

use super::grounds::{CANARY, Grounds};
use crate::fixture::{granted, run_call};
use crate::workspace::{Workspace, open_file};

/// How often a file is read while the tree changes under it.
const READ_ROUNDS: usize = 4000;
/// How often a tree is walked meanwhile.
const WALK_ROUNDS: usize = 1000;
/// How often the control tries; it succeeds within a few.
pub(super) const CONTROL_ROUNDS_MAX: usize = 2_000_000;

/// Swaps two names, over and over, while `during` runs.
pub(super) fn while_swapping<T>(one: &Path, other: &Path, during: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let stop = StopAtEnd(&is_done);
        let result = during();
        drop(stop);
        result
    })
}

/// Ends the swapping also when an assertion fails.
struct StopAtEnd<'d>(&'d AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One call, to be made many times.
struct Repeated<'r> {
    root: &'r Path,
    tool: ToolName,
    arguments: &'r str,
}

impl<'r> Repeated<'r> {
    fn new(root: &'r Path, tool: &str, arguments: &'r str) -> Self {
        Self { root, tool: ToolName::new(tool), arguments }
    }

    /// Calls once, asserts that the canary stays away, and returns whether the call succeeded.
    fn call(&self) -> bool {
        let granted = granted(self.root, &self.tool, self.arguments, "");
        let outcome = run_call(&granted).unwrap();
        assert!(!outcome.output.expose().contains(CANARY), "{}: {}", self.tool, outcome.output.expose());
        outcome.failure.is_none()
    }

    /// Calls until it both succeeded and failed, and so met both sides of the swap, and many times more.
    fn meet_both_sides(&self) {
        let (mut succeeded, mut failed) = (0, 0);
        while succeeded + failed < READ_ROUNDS || succeeded == 0 || failed == 0 {
            match self.call() {
                true => succeeded += 1,
                false => failed += 1,
            }
            assert!(succeeded + failed < CONTROL_ROUNDS_MAX, "the swap was never seen");
        }
    }

    /// Calls many times, and until one succeeds: a swap may rest on its bad side while others have the processor.
    fn walk_often(&self) {
        let (mut rounds, mut succeeded) = (0, 0);
        while rounds < WALK_ROUNDS || succeeded == 0 {
            succeeded += usize::from(self.call());
            rounds += 1;
            assert!(rounds < CONTROL_ROUNDS_MAX, "{} {}", self.tool, self.arguments);
        }
    }
}

/// Looks first and opens then, as code without descriptors does; returns whether it was ever fooled.
fn check_then_open_is_fooled(path: &Path, checked: &Path) -> bool {
    (0..CONTROL_ROUNDS_MAX).any(|_| {
        let is_link = fs::symlink_metadata(checked).is_ok_and(|status| status.is_symlink());
        !is_link && fs::read_to_string(path).is_ok_and(|text| text.contains(CANARY))
    })
}

#[test]
fn a_folder_swapped_for_a_link_never_shows_the_outside() {
    let grounds = Grounds::new();
    let slot = grounds.root().join("slot");
    let spare = grounds.fixture.outside().join("spare");
    fs::create_dir(&slot).unwrap();
    fs::write(slot.join("secret.txt"), "harmless\n").unwrap();
    symlink(grounds.fixture.outside(), &spare).unwrap();

    while_swapping(&slot, &spare, || {
        Repeated::new(&grounds.root(), "read_file", r#"{"path":"slot/secret.txt"}"#).meet_both_sides();
        Repeated::new(&grounds.root(), "search", r#"{"pattern":".","path":"slot"}"#).walk_often();
        assert!(check_then_open_is_fooled(&slot.join("secret.txt"), &slot), "the control was never fooled");
    });
}

#[test]
fn a_file_swapped_for_a_link_never_shows_the_outside() {
    let grounds = Grounds::new();
    let slot = grounds.root().join("slot.txt");
    let spare = grounds.fixture.outside().join("spare");
    fs::write(&slot, "harmless\n").unwrap();
    symlink(grounds.secret(), &spare).unwrap();

    while_swapping(&slot, &spare, || {
        Repeated::new(&grounds.root(), "read_file", r#"{"path":"slot.txt"}"#).meet_both_sides();
        assert!(check_then_open_is_fooled(&slot, &slot), "the control was never fooled");
    });
}

#[test]
fn a_folder_replaced_during_a_listing_never_shows_the_outside() {
    let grounds = Grounds::new();
    let sub = grounds.root().join("a/b");
    let spare = grounds.fixture.outside().join("spare");
    fs::create_dir(sub.join("c")).unwrap();
    symlink(grounds.fixture.outside(), &spare).unwrap();

    while_swapping(&sub, &spare, || {
        for (tool, arguments) in [
            ("list_dir", r#"{"depth":16}"#),
            ("list_dir", r#"{"path":"a/b","depth":16}"#),
            ("glob", r#"{"pattern":"**","hidden":true,"ignored":true}"#),
            ("search", r#"{"pattern":"."}"#),
        ] {
            Repeated::new(&grounds.root(), tool, arguments).walk_often();
        }
        let is_fooled = (0..CONTROL_ROUNDS_MAX).any(|_| names_below_by_path(&grounds.root().join("a")));
        assert!(is_fooled, "the control was never fooled");
    });
}

/// Lists as code without descriptors does: it asks each entry's kind, then opens it by path.
fn names_below_by_path(folder: &Path) -> bool {
    let Ok(names) = fs::read_dir(folder) else { return false };
    let paths: Vec<PathBuf> = names.flatten().map(|name| name.path()).collect();
    paths.iter().any(|path| {
        path.to_string_lossy().contains(CANARY)
            || (fs::symlink_metadata(path).is_ok_and(|status| status.is_dir()) && names_below_by_path(path))
    })
}

#[test]
fn a_folder_moved_out_while_it_is_held_does_not_lead_its_dot_dot_out() {
    let grounds = Grounds::new();
    let (inside, outside) = (grounds.root().join("a/b"), grounds.fixture.outside().join("b"));
    let workspace = Workspace::open(&grounds.root()).unwrap();
    let held = workspace.folder(&workspace.path(Some("a/b")).unwrap()).unwrap();
    fs::rename(&inside, &outside).unwrap();

    for path in ["../secret.txt", "./../secret.txt", "../b/../secret.txt"] {
        assert!(open_file(&held, Path::new(path)).is_err(), "{path}");

        let control = openat(&held, path, OFlags::RDONLY, Mode::empty()).unwrap();
        let mut text = String::new();
        fs::File::from(control).read_to_string(&mut text).unwrap();
        assert!(text.contains(CANARY));
    }
}
