//! What each counter counts, what it lets be, and how its numbers move.

use super::*;
use crate::tidy::house::house;
use crate::tidy::rules::{CrateRule, Gateway, NameRules, SizeCaps};

const HERE: &str = "crates/a/src/b.rs";

fn rules() -> Rules {
    let caps = SizeCaps {
        parameters_max: 3,
        passed_to_functions_max: 1,
        carrier_fields_max: 2,
        ..SizeCaps::default()
    };
    let names = NameRules {
        field_terms: ["Session".to_owned()].into(),
        seeds: ["Router".to_owned()].into(),
        ..NameRules::default()
    };
    let dev = CrateRule { floor: "dev".to_owned(), ..CrateRule::default() };
    let bunch = Gateway { type_name: "KeyHandles".to_owned(), ..Gateway::default() };
    let crates = [("tools".to_owned(), dev)].into();
    Rules { caps, names, crates, gateway: vec![bunch], ..Rules::default() }
}

/// Returns the lines on which one counter finds something, without a file of counts.
fn lines(rule: &str, path: &str, text: &str) -> Vec<usize> {
    found(rule, &[(path, text)]).into_iter().map(|finding| finding.line).collect()
}

fn found(rule: &str, texts: &[(&str, &str)]) -> Vec<TidyFinding> {
    check(&house(texts), &rules()).into_iter().filter(|finding| finding.rule == rule).collect()
}

#[test]
fn tuples_for_parameters_are_counted() {
    for text in [
        "fn a((b, c): (u8, u8)) {}",
        "fn a(b: &(u8, u8)) {}",
        "fn a(b: Option<(u8, u8)>) {}",
        "fn a(b: Option<&mut (u8, u8)>) {}",
        "impl A { fn a(&self, b: (u8, u8)) {} }",
        "trait A { fn a(&self, b: (u8, u8)); }",
        "impl From<(u8, u8)> for A { fn from(b: (u8, u8)) -> A { A } }",
        "fn outer() { fn a(b: (u8, u8)) {} }",
    ] {
        assert_eq!(lines("tuple-parameters", HERE, text), [1], "{text}");
    }
    assert_eq!(lines("tuple-parameters", HERE, "fn a(b: (u8, u8),\n c: (u8, u8)) {}"), [1, 2]);
}

#[test]
fn pairs_in_lists_results_and_foreign_traits_are_no_tuple_parameters() {
    for text in [
        "fn a(b: &[(u8, u8)], c: Vec<(u8, u8)>) -> (u8, u8) { (0, 0) }",
        "fn a(b: ()) {}",
        "fn a(b: impl Fn((u8, u8))) {}",
        "fn a() { x.map(|(b, c)| b); }",
        "impl Extend<(u8, u8)> for A { fn extend_one(&mut self, b: (u8, u8)) {} }",
        "#[cfg(test)]\nmod tests { fn a(b: (u8, u8)) {} }",
    ] {
        assert!(lines("tuple-parameters", HERE, text).is_empty(), "{text}");
    }
    assert!(lines("tuple-parameters", "crates/a/tests/b.rs", "fn a(b: (u8, u8)) {}").is_empty());
}

#[test]
fn elements_of_tuples_count_as_parameters() {
    assert_eq!(lines("spread-parameters", HERE, "\nfn a(b: (u8, u8), c: (u8, u8)) {}"), [2]);
    assert_eq!(lines("spread-parameters", HERE, "fn a(b: (u8, (u8, u8)), c: u8) {}"), [1]);
    assert!(lines("spread-parameters", HERE, "fn a(b: (u8, u8), c: u8) {}").is_empty());
}

#[test]
fn closures_with_a_name_are_counted_after_the_first_of_a_function() {
    let text = "fn a() {\n let b = |x| x;\n let c = move || 1;\n if y {\n let d = &|x| x;\n }\n}";
    assert_eq!(lines("named-closures", HERE, text), [3, 5]);
    for text in [
        "fn a() { let b = |x| x; }\nfn c() { let d = |x| x; }",
        "fn a() { let b = |x| x; fn c() { let d = |x| x; } }",
        "fn a() { let b = x.map(|y| y); let c = x.map(|y| y); }",
        "#[cfg(test)]\nmod tests { fn a() { let b = |x| x; let c = |x| x; } }",
    ] {
        assert!(lines("named-closures", HERE, text).is_empty(), "{text}");
    }
}

#[test]
fn tuples_that_bind_several_names_are_counted() {
    for text in [
        "fn a() { let (b, c) = (1, 2); }",
        "fn a() { let (b, c): (u8, u8) = (1, 2); }",
        "fn a() { let (mut b, _) = &(1, 2); }",
        "fn a() { (b, c) = (c, b); }",
    ] {
        assert_eq!(lines("tuple-lets", HERE, text), [1], "{text}");
    }
    for text in [
        "fn a() { let (b, c) = pair(); }",
        "fn a() { let b = (1, 2); }",
        "fn a() { let (Some(b), Some(c)) = (d, e) else { return }; }",
        "fn a() { if let (Some(b), Some(c)) = (d, e) {} }",
        "fn a() { match (b, c) { (d, e) => {} } }",
    ] {
        assert!(lines("tuple-lets", HERE, text).is_empty(), "{text}");
    }
}

#[test]
fn handles_that_give_out_handles_are_counted() {
    for text in [
        "impl RunsHandle { pub fn effects(&self) -> EffectsHandle { x } }",
        "impl RunsHandle { fn effects(&self) -> Option<&EffectsHandle> { x } }",
        "struct RunsHandle { pub effects: Arc<EffectsHandle> }",
        "struct RunHandles { pub effects: EffectsHandle }",
    ] {
        assert_eq!(lines("handle-accessors", HERE, text), [1], "{text}");
    }
    for text in [
        "impl RunsHandle { pub fn new(effects: EffectsHandle) -> Self { x } }",
        "impl RunsHandle { pub fn list(&self) -> Vec<Run> { x } }",
        "impl Runtime { pub fn runs(&self) -> RunsHandle { x } }",
        "impl Clone for RunsHandle { fn clone(&self) -> RunsHandle { x } }",
        "struct RunsHandle { effects: EffectsHandle }",
        "struct Gateway { pub runs: RunsHandle }",
        "struct KeyHandles { pub runs: RunsHandle }",
    ] {
        assert!(lines("handle-accessors", HERE, text).is_empty(), "{text}");
    }
}

const ENGINE: &str =
    "pub struct TheEngine { a: u8, b: u8, c: u8, d: u8 }\nfn a(e: &TheEngine) {}\nfn b(e: Arc<TheEngine>) {}";

#[test]
fn users_and_fields_of_much_passed_structs_are_counted() {
    let passed = found("passed-types", &[(HERE, ENGINE)]);
    assert_eq!(passed.iter().map(|f| f.line).collect::<Vec<_>>(), [2, 3]);
    assert!(passed[0].what.contains("`a::b::TheEngine` has 2, allowed are 1"), "{}", passed[0].what);
    assert_eq!(lines("passed-fields", HERE, ENGINE), [1, 1, 1, 1]);
}

#[test]
fn a_struct_is_counted_where_it_is_imported_and_not_where_another_has_its_name() {
    let mine = ("crates/a/src/b.rs", "pub struct TheEngine { a: u8, b: u8, c: u8, d: u8 }");
    let count = |other: &str| found("passed-types", &[mine, ("crates/c/src/d.rs", other)]).len();
    assert_eq!(count("use palyra_a::TheEngine;\nfn a(e: &TheEngine) {}\nfn b(e: &TheEngine) {}"), 2);
    assert_eq!(count("use std::task::TheEngine;\nfn a(e: &TheEngine) {}\nfn b(e: &TheEngine) {}"), 0);
    assert_eq!(count("struct TheEngine(u8);\nfn a(e: &TheEngine) {}\nfn b(e: &TheEngine) {}"), 0);
}

#[test]
fn few_users_few_fields_and_crates_of_the_workshop_are_free() {
    for text in [
        "struct TheEngine { a: u8, b: u8, c: u8, d: u8 }\nfn a(e: &TheEngine) {}",
        "struct TheEngine { a: u8, b: u8, c: u8 }\nfn a(e: &TheEngine) {}\nfn b(e: &TheEngine) {}",
    ] {
        assert!(lines("passed-types", HERE, text).is_empty(), "{text}");
    }
    assert!(lines("passed-types", "crates/tools/src/b.rs", ENGINE).is_empty());
}

#[test]
fn a_list_of_parameters_with_a_name_is_counted() {
    let built = |name: &str, times: usize| {
        let text = format!("struct {name} {{ a: u8, b: u8, c: u8 }}\n");
        let literal = format!("fn f() {{ g({name} {{ a, b, c }}); }}\n");
        lines("wide-carriers", HERE, &(text + &literal.repeat(times)))
    };
    for name in ["RunArgs", "RunParams", "Parts", "RunContext"] {
        assert_eq!(built(name, 1), [1], "{name}");
        assert!(built(name, 2).is_empty(), "{name} is built twice");
    }
    assert!(built("RunRecord", 1).is_empty());
    let narrow = "struct RunArgs { a: u8, b: u8 }\nfn f() { g(RunArgs { a, b }); }";
    assert!(lines("wide-carriers", HERE, narrow).is_empty());
    let own = "struct RunArgs { a: u8, b: u8, c: u8 }\nimpl RunArgs { fn n() -> Self { Self { a, b, c } } }";
    assert_eq!(lines("wide-carriers", HERE, own), [1]);
}

#[test]
fn type_names_of_one_word_are_counted() {
    for text in ["struct Held;", "enum Told { A }", "trait Speaks {}", "type Seen = u8;", "struct SQLite;"] {
        assert_eq!(lines("one-word-types", HERE, text), [1], "{text}");
    }
    for text in
        ["struct RowCache;", "struct Session;", "struct Router;", "struct Sha2Hash;", "const HELD: u8 = 1;"]
    {
        assert!(lines("one-word-types", HERE, text).is_empty(), "{text}");
    }
    assert!(lines("one-word-types", HERE, "#[cfg(test)]\nmod tests { struct Held; }").is_empty());
}

#[test]
fn more_than_thirty_percent_of_one_word_are_found() {
    let two = "struct OneTwo;\n";
    assert_eq!(lines("one-word-percent", HERE, &format!("struct Held;\n{}", two.repeat(2))), [1]);
    assert!(lines("one-word-percent", HERE, &format!("struct Held;\n{}", two.repeat(3))).is_empty());
}

#[test]
fn modules_of_the_other_style_are_counted() {
    assert_eq!(lines("mod-files", "crates/a/src/b/mod.rs", ""), [1]);
    assert!(lines("mod-files", HERE, "").is_empty());
    assert!(lines("mod-files", "crates/a/tests/b/mod.rs", "").is_empty(), "cargo wants it there");
}

#[test]
fn a_number_only_falls_and_is_named() {
    let source = "fn a(b: (u8, u8)) {}\nfn c(d: (u8, u8)) {}\n";
    let with = |number: usize| {
        let counts = format!("[tuple-parameters]\n\"a\" = {number}\n");
        let house = house(&[(COUNTS, &counts), (HERE, source)]);
        let lowered = expected(&house, &rules()).remove(0).1.lines().last().unwrap_or_default().to_owned();
        (check(&house, &rules()), lowered)
    };
    let (found, lowered) = with(2);
    assert!(found.is_empty());
    assert_eq!(lowered, "\"a\" = 2");
    let (found, lowered) = with(1);
    assert_eq!(
        found[1].to_string(),
        "crates/a/src/b.rs:2: [tuple-parameters] `c` takes a tuple as a parameter (`a` has 2, allowed are 1); \
         find the noun that the elements make up, and pass that"
    );
    assert_eq!(lowered, "\"a\" = 1", "more than noted, and not raised");
    let (found, lowered) = with(3);
    assert_eq!(found.len(), 1);
    assert_eq!(lowered, "\"a\" = 2", "fewer than noted, and lowered");
}

#[test]
fn a_row_of_nothing_and_a_table_of_no_counter_are_found() {
    let of = |counts: &str| check(&house(&[(COUNTS, counts), (HERE, "")]), &rules());
    assert_eq!(of("[tuple-lets]\n\"gone\" = 1\n").len(), 1);
    assert_eq!(of("[tuple-letts]\n\"a\" = 1\n").len(), 1);
    assert_eq!(of("[tuple-lets]\n\"a\" = -1\n").len(), 1);
    let house = house(&[(COUNTS, "[tuple-lets]\n\"gone\" = 1\n"), (HERE, "")]);
    assert!(!expected(&house, &rules()).remove(0).1.contains("gone"));
}
