//! What git has made and not yet written, when a look comes in between.

use std::fs;

use palyra_ports::WorkspaceRoot;

use super::root_tests::owner;
use super::{ProgramReview, ProtectionScope};
use crate::settings::CommandSettings;

#[tokio::test]
async fn files_that_git_is_about_to_write_stay_and_what_is_written_is_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("the folder");
    let work = folder.join("work");
    fs::create_dir_all(work.join(".git/objects")).expect("a repository");
    fs::write(work.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    let workspace = WorkspaceRoot::open(&work).expect("it opens");
    let settings = CommandSettings::new(folder.join("kept-aside"));
    let scope = ProtectionScope { workspace, owner: owner(), read_only: Vec::new(), bytes_left: 10_000 };
    let protection = ProgramReview::begin(&settings, scope).await.expect("it is looked through");

    let places = ["sub/.git", "tree/.git", ".git/worktrees/tree/commondir"].map(|place| work.join(place));
    for place in &places {
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(place, "").expect("a file");
    }
    protection.review.look(false);
    assert!(places.iter().all(|place| place.exists()), "{:?}", protection.describe());

    let written = ["gitdir: ../.git/modules/sub\n", "gitdir: ../.git/worktrees/tree\n", "../..\n"];
    for (place, text) in places.iter().zip(written) {
        fs::write(place, text).expect("a file");
    }
    protection.review.look(false);
    assert!(places.iter().all(|place| place.exists()), "{:?}", protection.describe());

    for place in &places {
        fs::write(place, "gitdir: ../hostile\n").expect("a file");
    }
    protection.finish().await;
    assert!(places.iter().all(|place| !place.exists()), "{:?}", protection.describe());
}
