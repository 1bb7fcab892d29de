//! What a few lines of Rust are reduced to.

use super::*;

fn facts(text: &str) -> SourceFile {
    read("crates/a/src/b.rs", text).expect("the fixture parses")
}

#[test]
fn a_path_tells_crate_place_and_module() {
    let module = |path: &str| read(path, "").expect("parses").module.join("::");
    assert_eq!(module("crates/run-core/src/lib.rs"), "");
    assert_eq!(module("crates/run-core/src/machine.rs"), "machine");
    assert_eq!(module("crates/run-core/src/machine/budget.rs"), "machine::budget");
    assert_eq!(module("crates/run-core/src/machine/mod.rs"), "machine");
    let place = |path: &str| read(path, "").expect("parses").place;
    assert_eq!(place("crates/a/src/bin/x.rs"), FilePlace::OwnTarget);
    assert_eq!(place("crates/a/tests/x.rs"), FilePlace::TestTarget);
    assert_eq!(place("crates/a/build.rs"), FilePlace::OwnTarget);
}

#[test]
fn lines_under_cfg_test_do_not_count() {
    let file = facts("fn a() {\n    b();\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n");
    assert_eq!((file.lines_without_tests, file.inline_test_lines), (3, 5));
    assert_eq!(file.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn code_for_other_configurations_counts() {
    let file = facts("#[cfg(not(test))]\nfn a() {}\n#[cfg(any(test, unix))]\nfn b() {}\n");
    assert_eq!(file.functions.len(), 2);
}

#[test]
fn a_function_is_measured_without_blank_and_comment_lines() {
    let file = facts("fn a(x: u8, y: u8) {\n    // why\n\n    b();\n    c();\n}\n");
    assert_eq!((file.functions[0].lines, file.functions[0].parameters), (2, 2));
}

#[test]
fn bools_are_noted_only_where_others_may_call() {
    let bools = |text: &str| facts(text).functions[0].public_bools.join(",");
    assert_eq!(bools("pub fn a(deep: bool) {}"), "deep");
    assert_eq!(bools("fn a(deep: bool) {}"), "");
    assert_eq!(bools("trait T { fn a(&self, deep: bool); }"), "deep");
    assert_eq!(bools("impl std::fmt::Display for X { fn a(&self, deep: bool) {} }"), "");
}

#[test]
fn imports_are_flattened() {
    let file = facts("use crate::{a::{self, B as C}, d::*};");
    let seen: Vec<_> = file.imports.iter().map(|i| format!("{}={}", i.name, i.segments.join("::"))).collect();
    assert_eq!(seen, ["a=crate::a", "C=crate::a::B", "*=crate::d"]);
}

#[test]
fn methods_are_items_of_their_type() {
    let file = facts("struct S;\nimpl S {\n    fn m(&self) {}\n}\ntrait T { const K: u8; fn n(); }\n");
    let names: Vec<_> = file.items.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["S", "S::m", "T", "T::n"]);
}

#[test]
fn a_file_that_only_a_test_module_leads_to_is_a_test_file() {
    let mut files = vec![
        read("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;\n").expect("parses"),
        read("crates/a/src/b/tests.rs", "fn t() {}").expect("parses"),
        read("crates/a/src/b/testing.rs", "fn t() {}").expect("parses"),
    ];
    mark_test_files(&mut files);
    let places: Vec<_> = files.iter().map(|f| f.place).collect();
    assert_eq!(places, [FilePlace::Source, FilePlace::SourceTests, FilePlace::Source]);
}

#[test]
fn a_header_is_a_sentence() {
    assert!(facts("//! Owns the thing.\n").has_header);
    assert!(!facts("//! x\n").has_header && !facts("/// Owns the thing.\nfn a() {}\n").has_header);
}

#[test]
fn a_syntax_error_names_its_line() {
    let error = read("crates/a/src/b.rs", "fn a() {}\nfn (").expect_err("does not parse").to_string();
    assert!(error.starts_with("crates/a/src/b.rs:2: "), "{error}");
}

#[test]
fn tests_are_known_by_name_wherever_they_stand() {
    let text = "#[test]\nfn a() {}\n/// Words.\n#[tokio::test(flavor = \"x\")]\n#[expect(y)]\nasync fn b() {}\nfn c() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn d() {}\n}\n";
    for path in ["crates/a/tests/x.rs", "crates/a/src/b.rs"] {
        assert_eq!(
            read(path, text).expect("parses").tests,
            [("a".to_owned(), 2), ("b".to_owned(), 6), ("tests::d".to_owned(), 11)]
        );
    }
}
