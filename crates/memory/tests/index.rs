//! The index as its callers see it: isolation, scopes, time, order, limits, and that no text is an error.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::sync::Arc;
use std::time::Duration;

use palyra_memory::limits::{HITS_MAX, ITEM_TEXT_BYTES_MAX, QUERY_SCOPES_MAX, SCOPE_NAME_BYTES_MAX};
use palyra_memory::{
    EmbeddingTable, MemoryHit, MemoryIndex, MemoryIndexError, MemoryItem, MemoryQuery, MemoryScope, ScopeName,
};
use palyra_types::{MemoryId, PrincipalId, SessionId, Timestamp};
use proptest::prelude::*;

const DAY: Duration = Duration::from_hours(24);
const START: Timestamp = Timestamp(1_796_000_000_000_000);

fn table() -> Arc<EmbeddingTable> {
    Arc::new(EmbeddingTable::built_in().unwrap())
}

fn principal(number: u64) -> PrincipalId {
    PrincipalId::from_parts(number, 1)
}

fn id(number: u64) -> MemoryId {
    MemoryId::from_parts(number, 1)
}

fn item(number: u64, text: &str) -> MemoryItem {
    MemoryItem {
        id: id(number),
        principal: principal(1),
        scope: MemoryScope::Principal,
        text: text.to_owned(),
        created: START,
        expires: None,
        superseded_by: None,
    }
}

fn query(text: &str) -> MemoryQuery {
    MemoryQuery {
        principal: principal(1),
        text: text.to_owned(),
        scopes: vec![MemoryScope::Principal],
        now: START.after(DAY),
        limit: HITS_MAX,
        minimum_relevance: 0.0,
        token_budget: usize::MAX,
    }
}

fn index(items: impl IntoIterator<Item = MemoryItem>) -> MemoryIndex {
    let mut index = MemoryIndex::new(principal(1), table()).unwrap();
    index.upsert_all(items).unwrap();
    index
}

fn ids(hits: &[MemoryHit]) -> Vec<MemoryId> {
    hits.iter().map(|hit| hit.id).collect()
}

#[test]
fn an_item_is_found_by_its_words_and_by_its_meaning() {
    let index = index([item(1, "The dentist appointment is on Monday."), item(2, "Jonas plays the cello.")]);
    let by_words = index.search(&query("cello")).unwrap();
    assert_eq!(by_words[0].id, id(2));
    assert!((by_words[0].reason.words - 1.0).abs() < f32::EPSILON);
    let by_meaning = index.search(&query("doctor for teeth")).unwrap();
    assert_eq!(by_meaning[0].id, id(1));
    assert!(by_meaning[0].reason.words.abs() < f32::EPSILON);
    assert!(by_meaning[0].reason.meaning > 0.0);
}

#[test]
fn another_principal_is_refused() {
    let mut index = index([item(1, "a secret cello")]);
    let stranger = MemoryQuery { principal: principal(2), ..query("cello") };
    assert!(matches!(index.search(&stranger), Err(MemoryIndexError::OtherPrincipal)));
    let foreign = MemoryItem { principal: principal(2), ..item(2, "another cello") };
    assert!(matches!(index.upsert(foreign), Err(MemoryIndexError::OtherPrincipal)));
    assert_eq!(index.len(), 1);
}

#[test]
fn only_named_scopes_are_searched() {
    let session = MemoryScope::Session(SessionId::from_parts(7, 7));
    let workspace = MemoryScope::Workspace(ScopeName::new("heron").unwrap());
    let channel = MemoryScope::Channel(ScopeName::new("heron").unwrap());
    let scopes = [MemoryScope::Principal, session, workspace, channel];
    let items = (1..)
        .zip(&scopes)
        .map(|(number, scope)| MemoryItem { scope: scope.clone(), ..item(number, "cello") });
    let index = index(items);
    for (number, scope) in (1..).zip(&scopes) {
        let hits = index.search(&MemoryQuery { scopes: vec![scope.clone()], ..query("cello") }).unwrap();
        assert_eq!(ids(&hits), [id(number)]);
    }
    assert!(index.search(&MemoryQuery { scopes: Vec::new(), ..query("cello") }).unwrap().is_empty());
    let unknown = MemoryScope::Workspace(ScopeName::new("other").unwrap());
    assert!(index.search(&MemoryQuery { scopes: vec![unknown], ..query("cello") }).unwrap().is_empty());
}

#[test]
fn an_item_is_not_found_from_its_expiry_on() {
    let expires = START.after(DAY * 3);
    let index = index([MemoryItem { expires: Some(expires), ..item(1, "the cello is in repair") }]);
    let before = MemoryQuery { now: Timestamp(expires.0 - 1), ..query("cello") };
    assert_eq!(index.search(&before).unwrap().len(), 1);
    assert!(index.search(&MemoryQuery { now: expires, ..query("cello") }).unwrap().is_empty());
}

#[test]
fn a_superseded_item_is_marked_and_comes_after_all_others() {
    let old = MemoryItem { superseded_by: Some(id(2)), ..item(1, "the cello lesson is on Thursday") };
    let index = index([old, item(2, "lessons are on Friday now"), item(3, "a cello costs much")]);
    let hits = index.search(&query("the cello lesson is on Thursday")).unwrap();
    assert_eq!(hits.last().unwrap().id, id(1));
    assert_eq!(hits.last().unwrap().superseded_by, Some(id(2)));
    assert!(hits.len() > 1);
}

#[test]
fn of_two_equal_items_the_newer_one_is_first() {
    let old = MemoryItem { created: Timestamp(0), ..item(1, "the cello lesson is on Thursday") };
    let hits =
        index([old, item(2, "the cello lesson is on Thursday")]).search(&query("cello lesson")).unwrap();
    assert_eq!(ids(&hits), [id(2), id(1)]);
    assert!(hits[0].reason.recency > hits[1].reason.recency);
}

#[test]
fn an_item_is_replaced_and_removed_by_its_id() {
    let mut index = index([item(1, "cello"), item(2, "violin")]);
    index.upsert(item(1, "trumpet")).unwrap();
    let words_of_first =
        |hits: Vec<MemoryHit>| hits.iter().find(|hit| hit.id == id(1)).map_or(0.0, |hit| hit.reason.words);
    assert!(words_of_first(index.search(&query("cello")).unwrap()).abs() < f32::EPSILON);
    assert_eq!(index.search(&query("trumpet")).unwrap()[0].id, id(1));
    index.remove(id(1)).unwrap();
    index.remove(id(1)).unwrap();
    assert_eq!(index.len(), 1);
    assert!(!ids(&index.search(&query("trumpet")).unwrap()).contains(&id(1)));
    index.upsert(item(3, "trumpet")).unwrap();
    assert_eq!(index.search(&query("trumpet")).unwrap()[0].id, id(3));
}

#[test]
fn of_items_with_the_same_id_the_last_one_counts() {
    let index = index([item(1, "cello"), item(1, "trumpet")]);
    assert_eq!(index.len(), 1);
    let hits = index.search(&query("trumpet")).unwrap();
    assert!((hits[0].reason.words - 1.0).abs() < f32::EPSILON);
}

#[test]
fn hits_stay_within_count_and_budget() {
    let index = index((1..=100).map(|number| item(number, "the cello lesson is on Thursday")));
    assert_eq!(index.search(&query("cello")).unwrap().len(), HITS_MAX);
    assert_eq!(index.search(&MemoryQuery { limit: 3, ..query("cello") }).unwrap().len(), 3);
    let tokens = index.search(&query("cello")).unwrap()[0].tokens;
    let budget = MemoryQuery { token_budget: tokens * 2 + 1, ..query("cello") };
    assert_eq!(index.search(&budget).unwrap().len(), 2);
    assert!(index.search(&MemoryQuery { token_budget: 0, ..query("cello") }).unwrap().is_empty());
}

#[test]
fn a_minimum_that_no_item_reaches_leaves_nothing() {
    let index = index([item(1, "cello")]);
    assert_eq!(index.search(&MemoryQuery { minimum_relevance: 1.0, ..query("cello") }).unwrap().len(), 1);
    assert!(index.search(&MemoryQuery { minimum_relevance: 1.1, ..query("cello") }).unwrap().is_empty());
    assert!(index.search(&MemoryQuery { minimum_relevance: f32::NAN, ..query("cello") }).unwrap().is_empty());
}

#[test]
fn limits_are_refused_with_the_reason() {
    let mut index = index([]);
    let long = item(1, &"a".repeat(ITEM_TEXT_BYTES_MAX + 1));
    assert!(matches!(index.upsert(long), Err(MemoryIndexError::TextTooLong { .. })));
    let batch = [item(2, "cello"), item(3, &"a".repeat(ITEM_TEXT_BYTES_MAX + 1))];
    assert!(index.upsert_all(batch).is_err());
    assert!(index.is_empty());
    let scopes = vec![MemoryScope::Principal; QUERY_SCOPES_MAX + 1];
    let too_many = index.search(&MemoryQuery { scopes, ..query("cello") });
    assert!(matches!(too_many, Err(MemoryIndexError::TooManyScopes { .. })));
    assert!(ScopeName::new("").is_err());
    assert!(ScopeName::new("a".repeat(SCOPE_NAME_BYTES_MAX + 1)).is_err());
}

#[test]
fn operators_of_fts5_are_words() {
    let index = index([item(1, "cello"), item(2, "near and not or")]);
    for text in [
        "\"",
        "cello\"",
        "cello*",
        "NEAR(cello, 2)",
        "stems:cello",
        "cello AND",
        "NOT cello",
        "-cello",
        "^cello",
        "('",
        "a\0b",
    ] {
        assert!(index.search(&query(text)).is_ok(), "{text}");
    }
    assert_eq!(index.search(&query("NOT cello")).unwrap()[0].id, id(1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_can_be_kept_and_asked(kept in any::<String>(), asked in any::<String>()) {
        let mut index = index([item(1, "cello")]);
        index.upsert(item(2, &kept)).unwrap();
        for hit in index.search(&query(&asked)).unwrap() {
            prop_assert!((0.0..=1.0).contains(&hit.relevance));
            prop_assert!((0.0..=1.0001).contains(&hit.reason.words));
            prop_assert!((-1.0..=1.0).contains(&hit.reason.meaning));
            prop_assert!((0.0..=1.0).contains(&hit.reason.recency));
        }
        index.remove(id(2)).unwrap();
        prop_assert_eq!(index.len(), 1);
    }

    #[test]
    fn a_text_finds_itself(text in "[a-z]{3,9}( [a-z]{3,9}){2,6}") {
        let hits = index([item(1, &text)]).search(&query(&text)).unwrap();
        prop_assert_eq!(ids(&hits), [id(1)]);
    }
}
