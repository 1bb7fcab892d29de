//! Single lines.

use super::super::intent::LineSelection;
use super::*;

#[test]
fn a_setting_keeps_its_quotation_marks_and_what_is_behind() {
    let check = |line: &str, key: &str, value: &str, expect: Option<&str>| {
        assert_eq!(set(line, key, value).as_deref(), expect, "{line}");
    };
    check("port = 1", "port", "2", Some("port = 2"));
    check("  \"version\": \"1.2\",", "version", "2", Some("  \"version\": \"2\","));
    check("__version__ = '1'", "version", "2", Some("__version__ = '2'"));
    check("level: info  # or debug", "level", "debug", Some("level: debug  # or debug"));
    check("import: a b", "import", "c", None);
    check("ports = 1", "port", "2", None);
    check("port == 1", "port", "2", None);
    check("port = { a = 1 }", "port", "2", None);
    check("port = f(x)", "port", "2", None);
    check("x = \"never ends", "x", "2", None);
    check("tokio = { version = \"1\" }", "version", "2", None);
    check("port = 1", "port", "a\nb", None);
}

#[test]
fn a_line_becomes_a_comment_and_is_one_no_more() {
    let whole = || LineSelection::Holding(String::new());
    let comment = |path: &str, line: &str| changed(path, line, &LineChange::Comment(whole()));
    let uncomment = |path: &str, line: &str| changed(path, line, &LineChange::Uncomment(whole()));
    assert_eq!(comment("a.py", "  x = 1").as_deref(), Some("  # x = 1"));
    assert_eq!(comment("a.rs", "x();").as_deref(), Some("// x();"));
    assert_eq!(comment("a.py", "# x"), None);
    assert_eq!(comment("a.unknown", "x"), None);
    assert_eq!(uncomment("a.rs", "  // x();").as_deref(), Some("  x();"));
    assert_eq!(uncomment("Makefile", "#x").as_deref(), Some("x"));
    assert_eq!(uncomment("a.py", "x"), None);
}

#[test]
fn a_text_is_exchanged_on_the_line_of_a_name() {
    let swap = LineChange::Swap { key: "NAME".into(), old: "a".into(), new: "b".into() };
    assert_eq!(changed("x.py", "NAME = \"a\"", &swap).as_deref(), Some("NAME = \"b\""));
    assert_eq!(changed("x.py", "NAMES = \"a\"", &swap), None);
    assert_eq!(changed("x.py", "# NAME a", &swap), None);
    assert_eq!(changed("x.py", "NAME = \"aa\"", &swap), None);
}
