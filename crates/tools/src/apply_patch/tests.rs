//! What a patch means for whoever judges it, and how it reads the workspace's paths.

use serde_json::json;

use crate::fixture::Fixture;

#[test]
fn a_file_of_one_name_in_two_spellings_is_still_one() {
    let fixture = Fixture::with(&[("x", "a\n")]);
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let patch = format!("--- a/x\n+++ b/x\n{hunk}--- a/./x\n+++ b/./x\n{hunk}");
    let told = fixture.call("apply_patch", &json!({"patch": patch}));
    assert!(told.starts_with("patch_invalid: the patch names `x` twice"), "{told}");
}

#[test]
fn a_patch_that_fits_only_in_part_changes_nothing() {
    let fixture = Fixture::with(&[("x", "a\n"), ("y", "a\n")]);
    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+b\n";
    let told = fixture.call("apply_patch", &json!({"patch": patch}));
    assert!(
        told.starts_with("patch_invalid: hunk 1 of `y` (line 1) names lines that are not in the file"),
        "{told}"
    );
    assert_eq!(fixture.call("read_file", &json!({"path": "x"})), "a\n");
}
