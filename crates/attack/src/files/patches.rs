//! Patches that lead out (33).

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;

use super::field::{Field, changed, seen};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

const PATCHES: &[(&str, &str)] = &[
    (
        "dots in a name",
        "--- a/../outside/file\n+++ b/../outside/file\n@@ -1 +1 @@\n-canary-7f3a91\n+payload\n",
    ),
    (
        "dots below a folder",
        "--- a/a/../../outside/file\n+++ b/a/../../outside/file\n@@ -1 +1 @@\n-canary-7f3a91\n+payload\n",
    ),
    ("an absolute name", "--- {OUT}/file\n+++ {OUT}/file\n@@ -1 +1 @@\n-canary-7f3a91\n+payload\n"),
    (
        "a name in quotes",
        "--- \"a/../outside/file\"\n+++ \"b/../outside/file\"\n@@ -1 +1 @@\n-canary-7f3a91\n+payload\n",
    ),
    (
        "a name in octal",
        "--- \"a/\\056\\056/outside/file\"\n+++ \"b/\\056\\056/outside/file\"\n@@ -1 +1 @@\n-canary-7f3a91\n+payload\n",
    ),
    ("a new file", "--- /dev/null\n+++ b/../outside/new\n@@ -0,0 +1 @@\n+payload\n"),
    ("a removal", "--- a/../outside/file\n+++ /dev/null\n@@ -1 +0,0 @@\n-canary-7f3a91\n"),
    (
        "a rename to the outside",
        "diff --git a/inside.txt b/../outside/new\nsimilarity index 100%\nrename from inside.txt\nrename to ../outside/new\n",
    ),
    (
        "a rename from the outside",
        "diff --git a/../outside/file b/taken.txt\nsimilarity index 100%\nrename from ../outside/file\nrename to taken.txt\n",
    ),
    (
        "a copy to the outside",
        "diff --git a/inside.txt b/../outside/new\nsimilarity index 100%\ncopy from inside.txt\ncopy to ../outside/new\n",
    ),
    (
        "a link, and through it",
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../outside\n\\ No newline at end of file\ndiff --git a/l/new b/l/new\nnew file mode 100644\n--- /dev/null\n+++ b/l/new\n@@ -0,0 +1 @@\n+payload\n",
    ),
    (
        "two names for one file",
        "diff --git a/inside.txt b/inside.txt\n--- a/inside.txt\n+++ b/../outside/new\n@@ -0,0 +1 @@\n+payload\n",
    ),
    (
        "a name with a time behind it",
        "--- a/../outside/file\t2001-01-01\n+++ b/../outside/file\t2001-01-01\n@@ -1 +1 @@\n-canary-7f3a91\n+payload\n",
    ),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |&(variant, patch): &(&'static str, &'static str)| {
        let pair = CasePair::new(33, variant, "descriptor resolution, apply_patch");
        AttackTrial::new(vec![pair], move |place, pairs| applied(patch, place, pairs))
    };
    PATCHES.iter().map(trial).collect()
}

async fn applied(patch: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let (held, control) = (Field::new()?, Field::new()?);
        held.works().await?;
        let before = held.look();
        let said = held.call("apply_patch", &json!({ "patch": held.path(patch) })).await;
        let mut touched = changed(&before, &held.look());
        touched.extend(seen(&said));
        let before = control.look();
        carelessly(&control.root(), &control.path(patch))?;
        Ok(Some((touched, changed(&before, &control.look()))))
    })
    .await
}

/// Does what a patch says, wherever that is.
fn carelessly(root: &Path, patch: &str) -> io::Result<()> {
    let name = |text: &str| {
        let text = text.split('\t').next().unwrap_or_default().trim_matches('"').replace("\\056", ".");
        text.strip_prefix("a/").or_else(|| text.strip_prefix("b/")).unwrap_or(&text).to_owned()
    };
    let (mut from, mut old, mut link) = (String::new(), String::new(), false);
    for line in patch.lines() {
        if let Some(path) = line.strip_prefix("rename from ").or_else(|| line.strip_prefix("copy from ")) {
            from = name(path);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            fs::rename(root.join(&from), root.join(name(path)))?;
        } else if let Some(path) = line.strip_prefix("copy to ") {
            fs::copy(root.join(&from), root.join(name(path)))?;
        } else if line.starts_with("new file mode ") {
            link = line.ends_with("120000");
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = name(path);
        } else if line == "+++ /dev/null" {
            fs::remove_file(root.join(&old))?;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            if link {
                std::os::unix::fs::symlink("../outside", root.join(name(path)))?;
            } else {
                fs::write(root.join(name(path)), "payload\n")?;
            }
        }
    }
    Ok(())
}
