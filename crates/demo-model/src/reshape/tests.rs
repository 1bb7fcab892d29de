//! The texts that changes of whole files lead to.

use super::*;

fn check(path: &str, text: &str, change: &FileChange, expect: Option<&str>) {
    assert_eq!(changed(path, text, change).as_deref(), expect, "{path}");
}

#[test]
fn a_target_is_added_behind_the_others_and_never_twice() {
    let change = FileChange::Target { name: "lint".into(), command: "ruff check".into() };
    check("Makefile", "test:\n\ttrue", &change, Some("test:\n\ttrue\n\nlint:\n\truff check\n"));
    check("Makefile", "lint:\n\ttrue\n", &change, None);
}

#[test]
fn an_entry_is_added_where_the_form_is_plain() {
    let script = FileChange::Script { name: "fmt".into(), command: "prettier \"x\"".into() };
    check(
        "package.json",
        "{\n  \"scripts\": {\n    \"a\": \"b\"\n  }\n}\n",
        &script,
        Some("{\n  \"scripts\": {\n    \"a\": \"b\",\n    \"fmt\": \"prettier \\\"x\\\"\"\n  }\n}\n"),
    );
    check("package.json", "{\"scripts\": {\"a\": \"b\"}}\n", &script, None);
    let dependency = FileChange::Dependency { name: "serde".into(), version: "1".into() };
    check(
        "Cargo.toml",
        "[dependencies]\ntokio = \"1\"\n\n[features]\n",
        &dependency,
        Some("[dependencies]\ntokio = \"1\"\nserde = \"1\"\n\n[features]\n"),
    );
    check("Cargo.toml", "[dependencies]\nserde = \"1\"\n", &dependency, None);
    check("setup.cfg", "[dependencies]\n", &dependency, None);
}

#[test]
fn a_header_stands_behind_the_line_of_the_interpreter() {
    let header = FileChange::Header("# by Ann".into());
    check("a.sh", "#!/bin/sh\nls\n", &header, Some("#!/bin/sh\n# by Ann\nls\n"));
    check("a.py", "", &header, Some("# by Ann\n"));
    assert_eq!(
        patch_of("a.py", "x\ny\n", "# by Ann\nx\ny\n").as_deref(),
        Some("--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n+# by Ann\n x\n")
    );
    assert_eq!(
        patch_of("a.py", "", "# by Ann\n").as_deref(),
        Some("--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,1 @@\n+# by Ann\n")
    );
    assert_eq!(
        patch_of("a", "x", "x\ny\n").as_deref(),
        Some("--- a/a\n+++ b/a\n@@ -1,1 +1,2 @@\n-x\n\\ No newline at end of file\n+x\n+y\n")
    );
}
