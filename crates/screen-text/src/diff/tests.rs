//! Which line of a diff looks how.

use super::*;

fn looks(text: &str) -> String {
    let sign = |line: StyledLine| match line.look {
        LineLook::Plain | LineLook::Context => '.',
        LineLook::Added => '+',
        LineLook::Removed => '-',
        LineLook::Header => '@',
    };
    diff_lines(text).into_iter().map(sign).collect()
}

#[test]
fn each_line_of_a_diff_has_its_look() {
    for (text, expect) in [
        ("--- a\n+++ a\n@@ -1,3 +1,3 @@\n x\n-y\n+z\n w", "@@@.-+."),
        ("--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file", "@@@+."),
        ("rename from a\nrename to b\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y", "@@@@@-+"),
        ("can be run\n--- /dev/null\n+++ a\n+x", ".@@+"),
        // Two files, one after the other.
        ("--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +0,0 @@\n-x", "@@@-+@@@-"),
        // What is no diff stays as it is.
        ("$ make\n\n-x\n+y", "...."),
        ("", ""),
    ] {
        assert_eq!(looks(text), expect, "{text}");
    }
}

#[test]
fn a_line_of_a_file_is_no_header() {
    // The file had `-- /etc/passwd` and gets `++ /etc/passwd` and `@@ -9 +9 @@`.
    let text = "--- a\n+++ a\n@@ -1,2 +1,3 @@\n--- /etc/passwd\n+++ /etc/passwd\n+@@ -9 +9 @@\n x";
    assert_eq!(looks(text), "@@@-++.");
}

#[test]
fn no_look_is_dim_or_yellow_and_no_text_changes() {
    for look in [LineLook::Plain, LineLook::Context, LineLook::Added, LineLook::Removed, LineLook::Header] {
        assert!(!["\u{1b}[2m", "\u{1b}[33m"].contains(&look.color()), "{look:?}");
    }
    let text = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y";
    let lines: Vec<String> = diff_lines(text).into_iter().map(|line| line.text).collect();
    assert_eq!(lines.join("\n"), text);
}
