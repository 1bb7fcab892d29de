//! The table of patches.

use super::*;

fn read(text: &str) -> String {
    match read_patch(text) {
        Ok(files) => {
            let shown = files.iter().map(|file| format!("{:?} x{}", file.kind, file.hunks.len()));
            shown.collect::<Vec<_>>().join("; ")
        }
        Err(failure) => failure.to_string(),
    }
}

#[track_caller]
fn check(text: &str, expect: &str) {
    let shown = read(text);
    assert!(shown.contains(expect), "{text}\nread as: {shown}\nexpected: {expect}");
}

const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

#[test]
fn files_are_named_in_several_ways() {
    check(&format!("--- a/x\n+++ b/x\n{HUNK}"), r#"Change { path: "x" } x1"#);
    check(&format!("--- x\n+++ x\n{HUNK}"), r#"Change { path: "x" } x1"#);
    check(&format!("--- a/x\t2020-01-01\n+++ b/x\t2020-01-02\n{HUNK}"), r#"Change { path: "x" } x1"#);
    check(
        &format!("some words\n\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{HUNK}"),
        r#"Change { path: "x" }"#,
    );
    check("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", r#"Create { path: "x", is_executable: false } x1"#);
    check("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", r#"Remove { path: "x" } x1"#);
    check(
        "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
        "is_executable: true",
    );
    check(
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        r#"Rename { from: "x", to: "y" } x0"#,
    );
    check(&format!("--- a/x\n+++ b/y\n{HUNK}"), r#"Rename { from: "x", to: "y" } x1"#);
    check(
        &format!("--- a/x\n+++ b/x\n{HUNK}--- a/y\n+++ b/y\n{HUNK}{HUNK}"),
        r#"Change { path: "x" } x1; Change { path: "y" } x2"#,
    );
    // A removed line of dashes is no header while the counts say that the hunk goes on.
    check("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- y\n-z\n+++ b\n", r#"Change { path: "x" } x1"#);
}

#[test]
fn a_path_is_kept_as_it_was_written_so_that_the_workspace_judges_it() {
    check("--- /dev/null\n+++ b/a/../../x\n@@ -0,0 +1 @@\n+a\n", r#"Create { path: "a/../../x""#);
    check("--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+a\n", r#"Create { path: "/etc/x""#);
    check("diff --git a/x b/../x\nrename from x\nrename to ../x\n", r#"to: "../x""#);
}

#[test]
fn a_name_is_only_what_the_headers_of_a_file_say() {
    // Whoever judges a patch reads these lines and no others.
    check("diff --git a/x b/x\nnew file mode 100644\nindex 0..0\n", "without `--- ` and `+++ ` lines");
    check("diff --git a/x b/x\ndeleted file mode 100644\n", "without `--- ` and `+++ ` lines");
    check(&format!("--- a/x\n+++ a/x\n{HUNK}"), r#"Change { path: "x" }"#);
    check(&format!("--- b/x\n+++ x\n{HUNK}"), r#"Change { path: "x" }"#);
    check(&format!("--- a/a/x\n+++ b/a/x\n{HUNK}"), r#"Change { path: "a/x" }"#);
    for name in [" x", "x ", "\u{a0}x", "\"x\"", "x\"", "x\r\r", "x\u{1b}"] {
        check(&format!("--- a/{name}\n+++ b/{name}\n{HUNK}"), "is quoted or has spaces around it");
        check(
            &format!("diff --git a/y b/y\nrename from y\nrename to {name}\n"),
            "is quoted or has spaces around it",
        );
    }
    check("diff --git a/y b/y\nrename from y\nrename to z\t1\n", "is quoted or has spaces around it");
}

#[test]
fn what_is_no_text_is_refused() {
    check(
        "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n",
        "mode 120000",
    );
    check(
        "diff --git a/x b/x\nnew file mode 160000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+Subproject\n",
        "mode 160000",
    );
    check(
        "diff --git a/x b/x\nnew file mode 104755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
        "mode 104755",
    );
    check(
        "diff --git a/x b/x\ndeleted file mode 120000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "mode 120000",
    );
    check("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "changes the mode");
    check("diff --git a/x b/x\ncopy from x\ncopy to y\n", "copies a file");
    check("diff --git a/x b/x\nGIT binary patch\nliteral 1\n", "binary patch");
    check("Binary files a/x and b/x differ\n", "binary files");
    check(&format!("--- \"a/\\303\\251\"\n+++ \"b/\\303\\251\"\n{HUNK}"), "is quoted");
}

#[test]
fn a_malformed_patch_names_the_line() {
    check("", "names no file");
    check("hello\n", "names no file");
    check(HUNK, "line 3 of the patch is in a hunk that belongs to no file");
    check("--- a/x\n", "lacks its `--- ` or `+++ ` line");
    check("--- a/x\n+++ b/x\n", "nothing is done");
    check("--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n", "lacks 8 old and 1 new lines");
    check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n", "line 6 of the patch is one more");
    check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n", "line 5 of the patch is one more");
    check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n?a\n", "neither kept");
    check("--- a/x\n+++ b/x\n@@ nowhere @@\n-a\n", "has to read `@@ -LINE,COUNT");
    check("--- a/x\n--- a/y\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "comes a second time");
    let other = "diff --git a/y b/z\nrename from y\nrename to z\n--- a/w\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    check(other, "renamed under other names");
    check("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "do not say what is done");
}
