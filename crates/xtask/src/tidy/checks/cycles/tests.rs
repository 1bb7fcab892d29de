//! Circles found, and near misses that are none.

use super::*;
use crate::tidy::house::house;

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    check(&house(&files)).iter().map(ToString::to_string).collect()
}

#[test]
fn two_siblings_that_use_each_other_are_a_circle() {
    let found = found(&[("x.rs", "use crate::y::Y;\n"), ("y.rs", "\nuse super::x::X;\n")]);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("crates/a/src/x.rs:1: [cycles]"), "{}", found[0]);
    assert!(found[0].contains("y -> x (crates/a/src/y.rs:2)"), "{}", found[0]);
}

#[test]
fn one_direction_is_no_circle() {
    assert!(found(&[("x.rs", "use crate::y::Y;"), ("y.rs", "pub struct Y;")]).is_empty());
}

#[test]
fn a_circle_of_three_is_found_once() {
    let files = [("x.rs", "use crate::y;"), ("y.rs", "use crate::z;"), ("z.rs", "use crate::x;")];
    assert_eq!(found(&files).len(), 1);
}

#[test]
fn a_path_in_an_expression_counts() {
    let files = [("x.rs", "fn f() { crate::y::g(); }"), ("y.rs", "fn g() -> super::x::X { loop {} }")];
    assert_eq!(found(&files).len(), 1);
}

#[test]
fn folders_are_siblings_of_files() {
    let files = [("x/mod.rs", "mod deep;"), ("x/deep.rs", "use crate::y::Y;"), ("y.rs", "use crate::x::X;")];
    assert_eq!(found(&files).len(), 1);
}

#[test]
fn a_name_re_exported_by_the_parent_leads_to_its_maker() {
    let files = [
        ("lib.rs", "mod x;\nmod y;\npub use x::X;\npub use y::Y;"),
        ("x.rs", "use crate::Y;\npub struct X;"),
        ("y.rs", "use crate::X;\npub struct Y;"),
    ];
    assert_eq!(found(&files).len(), 1);
}

#[test]
fn a_glob_re_export_leads_to_its_maker() {
    let files = [
        ("lib.rs", "mod x;\nmod y;\npub use x::*;\npub use y::*;"),
        ("x.rs", "use crate::Y;\npub struct X;"),
        ("y.rs", "use crate::X;\npub struct Y;"),
    ];
    assert_eq!(found(&files).len(), 1);
}

#[test]
fn inline_modules_are_siblings_too() {
    assert_eq!(found(&[("lib.rs", "mod x { use crate::y::f; }\nmod y { use super::x::g; }")]).len(), 1);
}

#[test]
fn a_child_may_use_its_parent() {
    let files =
        [("x.rs", "mod deep;\nuse deep::D;\npub struct X;"), ("x/deep.rs", "use super::X;\npub struct D;")];
    assert!(found(&files).is_empty());
}

#[test]
fn tests_may_look_anywhere() {
    let files = [
        ("x.rs", "#[cfg(test)]\nmod tests { use crate::y::Y; }\npub struct X;"),
        ("y.rs", "use crate::x::X;\n#[cfg(test)]\nmod tests;"),
        ("y/tests.rs", "use crate::x::X;"),
    ];
    assert!(found(&files).is_empty());
}

#[test]
fn other_crates_are_not_siblings() {
    assert!(found(&[("x.rs", "use tokio::y;"), ("y.rs", "use crate::x::X;")]).is_empty());
}
