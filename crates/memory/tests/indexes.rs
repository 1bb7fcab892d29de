//! The adapter of the port: isolation, steps with saves and forgets, erasure, scopes, demands, and the limits of the cache.

use palyra_memory::MemoryIndexes;
use palyra_memory::limits::{CACHED_ITEMS_MAX, PRINCIPALS_MAX};
use palyra_ports::search_memories::{MemoryDemand, MemoryRanking, SearchMemories};
use palyra_types::memory::{MemoryAuthor, MemoryRecord, MemorySaved, MemoryScope};
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{MemoryId, PrincipalId, Redacted, Seq, SessionId, Timestamp};

const NOW: Timestamp = Timestamp(1_796_000_000_000_000);

fn principal(number: u64) -> PrincipalId {
    PrincipalId::from_parts(number, 1)
}

fn id(number: u64) -> MemoryId {
    MemoryId::from_parts(number, 1)
}

fn record(owner: u64, number: u64, text: &str) -> MemoryRecord {
    let saved = MemorySaved {
        memory: id(number),
        scope: MemoryScope::Principal,
        author: MemoryAuthor::Person,
        via: Surface::LocalSocket,
        source: None,
        taints: Taints::NONE,
        expires: None,
        supersedes: None,
        text: Redacted::cleaned(text.to_owned()),
    };
    MemoryRecord {
        saved,
        principal: principal(owner),
        seq: Seq(number),
        created: NOW,
        superseded_by: None,
        forgotten: None,
    }
}

fn scoped(record: MemoryRecord, scope: MemoryScope) -> MemoryRecord {
    MemoryRecord { saved: MemorySaved { scope, ..record.saved }, ..record }
}

fn folder(path: &str) -> MemoryScope {
    MemoryScope::PrincipalRoot(Redacted::cleaned(path.into()))
}

fn request(owner: u64, items: &[MemoryRecord], text: &str) -> MemoryRanking {
    MemoryRanking {
        principal: principal(owner),
        text: text.into(),
        items: items.to_vec().into(),
        scopes: vec![MemoryScope::Principal],
        demand: MemoryDemand::Asked,
        limit: 9,
        now: NOW,
    }
}

async fn found(indexes: &MemoryIndexes, owner: u64, items: &[MemoryRecord], text: &str) -> Vec<MemoryId> {
    indexes.rank(request(owner, items, text)).await
}

#[tokio::test]
async fn an_index_follows_saves_forgets_and_what_supersedes() {
    let indexes = MemoryIndexes::default();
    let mut items = vec![record(1, 1, "The cello lesson is on Thursday.")];
    assert_eq!(found(&indexes, 1, &items, "cello lesson").await, [id(1)]);
    items.push(record(1, 2, "Jonas has a cello lesson on Friday."));
    items[0].superseded_by = Some(id(2));
    assert_eq!(found(&indexes, 1, &items, "cello lesson").await, [id(2), id(1)]);
    items.pop();
    items[0].superseded_by = None;
    assert_eq!(found(&indexes, 1, &items, "cello lesson").await, [id(1)]);
    assert_eq!((indexes.principals_count(), indexes.items_count()), (1, 1));
    assert!(found(&indexes, 1, &[], "cello lesson").await.is_empty());
    assert_eq!((indexes.principals_count(), indexes.items_count()), (0, 0));
}

#[tokio::test]
async fn a_request_reaches_the_index_of_its_principal_only() {
    let indexes = MemoryIndexes::default();
    let (mine, theirs) =
        (vec![record(1, 1, "The canary sings.")], vec![record(2, 2, "The canary is yellow.")]);
    for _ in 0..2 {
        assert_eq!(found(&indexes, 1, &mine, "canary").await, [id(1)]);
        assert_eq!(found(&indexes, 2, &theirs, "canary").await, [id(2)]);
    }
    let mixed = vec![mine[0].clone(), theirs[0].clone()];
    assert!(
        found(&indexes, 1, &mixed, "canary").await.is_empty(),
        "an item of another principal is a failure"
    );
    assert_eq!(found(&indexes, 1, &mine, "canary").await, [id(1)], "and the index is built again");
}

#[tokio::test]
async fn texts_are_dropped_and_what_is_left_of_them_comes_with_the_next_request() {
    let indexes = MemoryIndexes::default();
    let items = vec![record(1, 1, "The canary sings."), record(1, 2, "A canary needs seed.")];
    assert_eq!(found(&indexes, 1, &items, "canary").await.len(), 2);
    indexes.forget_texts();
    assert_eq!((indexes.principals_count(), indexes.items_count()), (0, 0));
    assert_eq!(found(&indexes, 1, &items[1..], "canary").await, [id(2)]);
}

#[tokio::test]
async fn only_items_of_the_named_scopes_are_found() {
    let indexes = MemoryIndexes::default();
    let session = MemoryScope::Session(SessionId::from_parts(7, 7));
    let long = folder(&format!("/{}", "x".repeat(4_000)));
    let scopes = [MemoryScope::Principal, session, folder("/work"), folder("/work/sub"), long];
    let items: Vec<_> = (1..)
        .zip(&scopes)
        .map(|(number, scope)| scoped(record(1, number, "The canary sings."), scope.clone()))
        .collect();
    for (number, scope) in (1..).zip(&scopes) {
        let request = MemoryRanking { scopes: vec![scope.clone()], ..request(1, &items, "canary") };
        assert_eq!(indexes.rank(request).await, [id(number)], "{scope:?}");
    }
    let all = MemoryRanking { scopes: scopes.to_vec(), ..request(1, &items, "canary") };
    assert_eq!(indexes.rank(all).await.len(), scopes.len());
    let elsewhere = MemoryRanking { scopes: vec![folder("/other")], ..request(1, &items, "canary") };
    assert!(indexes.rank(elsewhere).await.is_empty());
}

#[tokio::test]
async fn an_item_has_to_fit_better_where_nothing_asked_for_it() {
    let indexes = MemoryIndexes::default();
    let items = vec![record(1, 1, "My daughter is allergic to peanuts and to cashew nuts.")];
    let counts = async |text: &str| {
        let unasked = MemoryRanking { demand: MemoryDemand::Unasked, ..request(1, &items, text) };
        (found(&indexes, 1, &items, text).await.len(), indexes.rank(unasked).await.len())
    };
    assert_eq!(counts("Is my daughter allergic to peanuts?").await, (1, 1));
    assert_eq!(counts("What is the height of the Eiffel Tower?").await, (0, 0));
}

#[tokio::test]
async fn the_index_that_was_used_longest_ago_is_dropped_first() {
    let indexes = MemoryIndexes::default();
    let most = u64::try_from(PRINCIPALS_MAX).unwrap();
    for owner in 1..=most {
        found(&indexes, owner, &[record(owner, 1, "The canary sings.")], "canary").await;
    }
    let many = |owner: u64, count: u64| -> Vec<_> {
        (1..=count).map(|number| record(owner, number, "canary")).collect()
    };
    found(&indexes, 1, &many(1, 2), "canary").await;
    found(&indexes, most + 1, &many(most + 1, 3), "canary").await;
    let others = PRINCIPALS_MAX - 2;
    assert_eq!(indexes.principals_count(), PRINCIPALS_MAX);
    assert_eq!(indexes.items_count(), others + 2 + 3, "the second one is gone, the first was used again");
    let all = u64::try_from(CACHED_ITEMS_MAX).unwrap();
    found(&indexes, most + 2, &many(most + 2, all), "canary").await;
    assert_eq!((indexes.principals_count(), indexes.items_count()), (1, CACHED_ITEMS_MAX));
}
