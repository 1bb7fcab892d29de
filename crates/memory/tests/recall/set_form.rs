//! The labelled set has the form that its figures rely on.

use std::collections::BTreeSet;

use crate::labelled_set::{LabelledQuery, QueryKind, common_words, items, queries};

const ITEMS_MIN: usize = 150;
const PARAPHRASES_MIN: usize = 80;
const KEYWORDS_MIN: usize = 40;
const NOTHINGS_MIN: usize = 80;
/// Two words of at least this many letters that begin alike count as one word.
const STEM_LETTERS: usize = 5;

fn rare_words(text: &str) -> BTreeSet<String> {
    let common = common_words();
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.chars().count() > 1 && !common.contains(word)).map(str::to_owned).collect()
}

fn are_one_word(a: &str, b: &str) -> bool {
    let is_plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one);
    let begin_alike = a.len() >= STEM_LETTERS
        && b.len() >= STEM_LETTERS
        && a.chars().zip(b.chars()).take(STEM_LETTERS).all(|(a, b)| a == b);
    a == b || is_plural(a, b) || is_plural(b, a) || begin_alike
}

fn shared_words(query: &LabelledQuery) -> Vec<(String, String)> {
    let target = query.target.unwrap();
    let item = items().into_iter().find(|item| item.id == target).unwrap();
    let in_item = rare_words(item.text);
    let pairs = rare_words(query.text).into_iter().flat_map(|word| {
        in_item
            .iter()
            .filter(|other| are_one_word(&word, other))
            .map(|other| (word.clone(), other.clone()))
            .collect::<Vec<_>>()
    });
    pairs.collect()
}

fn count(kind: QueryKind) -> usize {
    queries().iter().filter(|query| query.kind == kind).count()
}

#[test]
fn the_set_is_large_enough() {
    assert!(items().len() >= ITEMS_MIN);
    assert!(count(QueryKind::Paraphrase) >= PARAPHRASES_MIN);
    assert!(count(QueryKind::Keyword) >= KEYWORDS_MIN);
    assert!(count(QueryKind::Nothing) >= NOTHINGS_MIN);
}

#[test]
fn ids_and_texts_are_unique() {
    let (items, queries) = (items(), queries());
    assert_eq!(items.iter().map(|item| item.id).collect::<BTreeSet<_>>().len(), items.len());
    assert_eq!(items.iter().map(|item| item.text).collect::<BTreeSet<_>>().len(), items.len());
    assert_eq!(queries.iter().map(|query| query.id).collect::<BTreeSet<_>>().len(), queries.len());
    assert_eq!(queries.iter().map(|query| query.text).collect::<BTreeSet<_>>().len(), queries.len());
}

#[test]
fn targets_exist_and_only_nothing_has_none() {
    let ids: BTreeSet<_> = items().into_iter().map(|item| item.id).collect();
    for query in queries() {
        assert_eq!(query.target.is_none(), query.kind == QueryKind::Nothing, "{}", query.id);
        assert!(query.target.is_none_or(|target| ids.contains(target)), "{}", query.id);
    }
}

#[test]
fn a_paraphrase_shares_no_rare_word_with_its_item() {
    for query in queries().iter().filter(|query| query.kind == QueryKind::Paraphrase) {
        let shared = shared_words(query);
        assert!(shared.is_empty(), "{} shares {shared:?}", query.id);
    }
}

#[test]
fn a_keyword_query_shares_a_rare_word_with_its_item() {
    for query in queries().iter().filter(|query| query.kind == QueryKind::Keyword) {
        assert!(!shared_words(query).is_empty(), "{}", query.id);
    }
}

#[test]
fn each_kind_has_two_halves() {
    for kind in [QueryKind::Paraphrase, QueryKind::Keyword, QueryKind::Nothing] {
        let of_kind: Vec<_> = queries().into_iter().filter(|query| query.kind == kind).collect();
        let tuning = of_kind.iter().filter(|query| query.is_for_tuning()).count();
        assert!(tuning.abs_diff(of_kind.len() - tuning) <= 1, "{kind:?}");
    }
}
