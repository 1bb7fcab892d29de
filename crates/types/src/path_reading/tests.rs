//! Which names a path has, and why a tool does not open it.

use super::{PATH_BYTES_MAX, PathAnchor, PathProblem, PathReading};

fn check(text: &str, expect: &str) {
    let reading = PathReading::read(text, Some("/home/me/desk"));
    let shown = match reading.below_root() {
        Ok(_) => reading.to_string(),
        Err(problem) => format!("{reading} {problem:?}"),
    };
    assert_eq!(shown, expect, "{text:?}");
}

#[test]
fn spellings_of_one_place_become_one_path() {
    check("src/main.rs", "src/main.rs");
    check("./src//./main.rs/", "src/main.rs");
    check("", ".");
    check(".", ".");
    check("/home/me/desk", ".");
    check("/home/me/desk/src", "src");
    check("//home/./me/desk//src", "src");
}

#[test]
fn letters_of_a_name_separate_nothing() {
    for name in ["a\\..\\b", "~", "$HOME", "a ", " a", "a.", "A", "%2e%2e", "e\u{301}", "C:", "...", "a:b"] {
        check(&format!("x/{name}/y"), &format!("x/{name}/y"));
    }
    check(".git/hooks/a\\..\\..\\..\\b", ".git/hooks/a\\..\\..\\..\\b");
}

#[test]
fn what_a_tool_does_not_open_has_a_reason() {
    check("../x", "../x HasParentStep");
    check("a/../b", "b HasParentStep");
    check("a/../../b", "../b HasParentStep");
    check("/etc/passwd", "/etc/passwd AbsoluteOutside");
    check("/home/me/deskshop", "/home/me/deskshop AbsoluteOutside");
    check("/home/me/desk/../x", "/home/me/x HasParentStep");
    check("a\0b", "a\0b HoldsNul");
    let long = "a/".repeat(PATH_BYTES_MAX / 2 + 1);
    assert_eq!(PathReading::read(&long, None).below_root(), Err(PathProblem::TooLong));
}

#[test]
fn without_an_absolute_root_no_absolute_path_is_inside() {
    for root in [None, Some("home/me"), Some("")] {
        assert_eq!(PathReading::read("/home/me/x", root).anchor(), PathAnchor::FileSystem, "{root:?}");
    }
    assert_eq!(PathReading::read("/x", Some("/")).to_string(), "x");
}
