//! The list of words on texts of a few lines.

use super::*;
use crate::tidy::house::house;

const WORDS: &str = "[[word]]\npattern = '\\btold\\b'\nreason = \"speech\"\nwrite = \"sent\"\n\
                     [[word]]\npattern = '\\bno name\\b'\nunless = '\\bhas no name\\b'\nreason = \"r\"\nwrite = \"x\"\n";

fn found(texts: &[(&str, &str)]) -> Vec<(String, usize)> {
    check(&house(texts)).into_iter().map(|f| (f.path, f.line)).collect()
}

fn at(path: &str, line: usize) -> Vec<(String, usize)> {
    vec![(path.to_owned(), line)]
}

#[test]
fn a_listed_word_in_a_document_is_found_with_its_line() {
    assert_eq!(found(&[(LIST, WORDS), ("docs/a.md", "# A\n\nIt is told.\n")]), at("docs/a.md", 3));
    assert_eq!(found(&[(LIST, WORDS), ("README.md", "Told, it is.\n")]), at("README.md", 1));
    assert!(found(&[(LIST, WORDS), ("docs/a.md", "It is sent.\n")]).is_empty());
}

#[test]
fn several_words_are_found_across_a_line_break_unless_more_is_around_them() {
    assert_eq!(found(&[(LIST, WORDS), ("docs/a.md", "It is no\nname.\n")]), at("docs/a.md", 1));
    assert!(found(&[(LIST, WORDS), ("docs/a.md", "It has no\nname.\n")]).is_empty());
}

#[test]
fn names_in_code_style_and_addresses_are_no_words() {
    assert!(found(&[(LIST, WORDS), ("docs/a.md", "See `told` and [this](told.md).\n")]).is_empty());
    assert_eq!(found(&[(LIST, WORDS), ("docs/a.md", "It prints `he told it`.\n")]).len(), 1);
}

#[test]
fn messages_of_all_shapes_are_read_and_those_of_tests_are_not() {
    let path = "crates/a/src/b.rs";
    for text in [
        "fn a() -> &'static str { \"it was told\" }\n",
        "fn a() { println!(\"it was told {}\", 1); }\n",
        "enum E {\n    #[error(\"it was told\")] A }\n",
        "codes! { A = 1, \"it was told\"; }\n",
    ] {
        assert_eq!(found(&[(LIST, WORDS), (path, text)]).len(), 1, "{text}");
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(found(&[(LIST, WORDS), (path, &test)]).is_empty(), "{test}");
    }
    assert!(
        found(&[(LIST, WORDS), (path, "const KEY: &str = \"told\";\n")]).is_empty(),
        "a key is no message"
    );
}

#[test]
fn an_allowed_line_needs_a_reason_and_a_word_on_it() {
    let text = ("docs/a.md", "It is told.\n");
    let allowed = |line: &str, reason: &str| {
        let line = format!("[[allowed]]\npath = \"docs/a.md\"\ntext = \"{line}\"\nreason = \"{reason}\"\n");
        found(&[(LIST, &format!("{WORDS}{line}")), text])
    };
    assert!(allowed("is told", "the field's own term").is_empty());
    assert_eq!(allowed("is told", ""), at(LIST, 1));
    assert_eq!(
        allowed("is said", "the field's own term").len(),
        2,
        "the word, and a line that allows nothing"
    );
}

#[test]
fn doc_comments_are_counted_and_the_number_only_falls() {
    let source = "//! Is told.\n\n/// Told here\n/// and told there.\nfn a() {}\n";
    let with = |number: usize| {
        let counts = format!("[comments]\n\"a\" = {number}\n");
        let house = house(&[(LIST, WORDS), (COUNTS, &counts), ("crates/a/src/b.rs", source)]);
        (check(&house).len(), expected(&house).remove(0).1.lines().last().unwrap().to_owned())
    };
    assert_eq!(with(3), (0, "\"a\" = 3".to_owned()));
    assert_eq!(with(2), (1, "\"a\" = 2".to_owned()), "more than noted, and not raised");
    assert_eq!(with(4), (1, "\"a\" = 3".to_owned()), "fewer than noted, and lowered");
}
