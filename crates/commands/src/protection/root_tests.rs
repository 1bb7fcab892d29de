//! The review of a workspace whose path leads elsewhere by now.

use std::os::unix::fs::symlink;
use std::path::Path;

use palyra_ports::{KeptOwner, WorkspaceRoot};
use palyra_types::{EffectId, PrincipalId, RunId, SessionId};

use super::{ProgramReview, ProtectionScope};
use crate::settings::CommandSettings;

/// What becomes of the workspace's path once it was opened.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meanwhile {
    Stays,
    Link,
    OtherFolder,
}

pub(super) fn owner() -> KeptOwner {
    KeptOwner {
        principal: PrincipalId::from_parts(1, 1),
        session: SessionId::from_parts(2, 2),
        run: RunId::from_parts(3, 3),
        effect: EffectId(4),
    }
}

fn replace(work: &Path, other: &Path, meanwhile: Meanwhile) {
    let moved = || std::fs::rename(work, work.with_file_name("moved")).expect("it moves");
    match meanwhile {
        Meanwhile::Stays => {}
        Meanwhile::Link => {
            moved();
            symlink(other, work).expect("a link");
        }
        Meanwhile::OtherFolder => {
            moved();
            std::fs::rename(other, work).expect("it moves");
        }
    }
}

#[tokio::test]
async fn the_folder_that_was_opened_is_looked_through_wherever_its_path_leads() {
    for meanwhile in [Meanwhile::Stays, Meanwhile::Link, Meanwhile::OtherFolder] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("the folder");
        let (work, other) = (folder.join("work"), folder.join("other"));
        for (root, name) in [(&work, ".envrc"), (&other, "notes")] {
            std::fs::create_dir(root).expect("a folder");
            std::fs::write(root.join(name), "true\n").expect("a file");
        }
        let workspace = WorkspaceRoot::open(&work).expect("it opens");
        replace(&work, &other, meanwhile);
        let settings = CommandSettings::new(folder.join("kept-aside"));
        let scope = ProtectionScope { workspace, owner: owner(), read_only: Vec::new(), bytes_left: 10_000 };
        let protection = ProgramReview::begin(&settings, scope).await.expect("it is looked through");
        assert_eq!(protection.mounted(), [work.join(".envrc")], "{meanwhile:?}");

        // What appears in the opened folder is taken, and in the other one nothing is.
        let opened = if meanwhile == Meanwhile::Stays { &work } else { &folder.join("moved") };
        let elsewhere = if meanwhile == Meanwhile::OtherFolder { &work } else { &other };
        for root in [opened, elsewhere] {
            std::fs::create_dir(root.join(".vscode")).expect("a folder");
        }
        protection.finish().await;
        assert!(!opened.join(".vscode").exists(), "{meanwhile:?} {:?}", protection.describe());
        assert!(elsewhere.join(".vscode").exists(), "{meanwhile:?} {:?}", protection.describe());
    }
}

/// A person's hook in a folder that is mounted read-only, which changes while a program runs.
async fn hook_after_a_change(has_second_name: bool) -> (String, Option<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("the folder");
    let work = folder.join("work");
    let (hook, second) = (work.join(".husky/pre-commit"), work.join("second"));
    std::fs::create_dir_all(work.join(".husky")).expect("a folder");
    std::fs::write(&hook, "true\n").expect("a file");
    if has_second_name {
        std::fs::hard_link(&hook, &second).expect("a second name");
    }
    let settings = CommandSettings::new(folder.join("kept-aside"));
    let workspace = WorkspaceRoot::open(&work).expect("it opens");
    let scope = ProtectionScope { workspace, owner: owner(), read_only: Vec::new(), bytes_left: 10_000 };
    let protection = ProgramReview::begin(&settings, scope).await.expect("it is looked through");
    assert!(
        protection.mounted().iter().any(|mounted| hook.starts_with(mounted)),
        "{:?}",
        protection.mounted()
    );

    std::fs::write(if has_second_name { &second } else { &hook }, "false\n").expect("it changes");
    protection.finish().await;
    (std::fs::read_to_string(hook).expect("the hook"), protection.describe())
}

#[tokio::test]
async fn a_file_in_a_mounted_folder_that_changed_by_a_second_name_is_put_back() {
    let (hook, told) = hook_after_a_change(true).await;
    assert_eq!(hook, "true\n", "{told:?}");
    // Control: without such a name only the person can have changed it.
    assert_eq!(hook_after_a_change(false).await, ("false\n".to_owned(), None));
}
