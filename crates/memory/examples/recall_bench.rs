//! Measures search among 100,000 items and vectors of texts, each beside an anchor: copying the bytes of all vectors, and
//! cutting the same texts into words.
//!
//! Run it as `cargo run --profile dist -p palyra-memory --example recall_bench`; figures of another profile mean little.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program of its own, which measures")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use palyra_memory::limits::DIMENSIONS;
use palyra_memory::{
    ASKED_RELEVANCE_MIN, EmbeddedModel, EmbeddingTable, MemoryIndex, MemoryItem, MemoryQuery, MemoryScope,
};
use palyra_ports::embed_texts::EmbedTexts;
use palyra_testkit::embedding_suite::embedding_request;
use palyra_types::{MemoryId, PrincipalId, Timestamp};

const ITEMS: usize = 100_000;
const SEARCHES: usize = 1_000;
/// Requests for vectors, and the texts of each.
const REQUESTS: usize = 20;
const REQUEST_TEXTS: usize = 2_048;
const COPIES: usize = 200;
const LOAD_BATCH: usize = 10_000;

const SUBJECTS: [&str; 16] = [
    "the staging database",
    "the nightly export",
    "Mira",
    "the build machine",
    "the tracking service",
    "Jonas",
    "the wildcard certificate",
    "the bakery's shop",
    "Priya",
    "the feature store",
    "the sensor board",
    "Elif",
    "the museum's site",
    "the load balancer",
    "the release branch",
    "the mail server",
];
const VERBS: [&str; 12] = [
    "prefers",
    "is moved to",
    "must not depend on",
    "was replaced by",
    "waits for",
    "reports to",
    "is tested with",
    "is paid by",
    "belongs to",
    "needs",
    "is described in",
    "fails without",
];
const OBJECTS: [&str; 18] = [
    "PostgreSQL",
    "a review by two people",
    "the room in Lisbon",
    "invoices on paper",
    "four spaces",
    "WireGuard",
    "the memo of one page",
    "a holiday in May",
    "coffee",
    "the repository of rules",
    "Docker",
    "a vertical mouse",
    "the customer from Vienna",
    "signed images",
    "the second data centre",
    "a smart card",
    "gRPC",
    "the spreadsheet",
];

fn text(number: usize) -> String {
    let subject = SUBJECTS[number % SUBJECTS.len()];
    let verb = VERBS[(number / SUBJECTS.len()) % VERBS.len()];
    let object = OBJECTS[(number / (SUBJECTS.len() * VERBS.len())) % OBJECTS.len()];
    let other = OBJECTS[(number * 7 + 3) % OBJECTS.len()];
    format!("Since ticket {number} {subject} {verb} {object}, and {other} is noted beside it.")
}

fn filled_index(principal: PrincipalId, table: &Arc<EmbeddingTable>) -> MemoryIndex {
    let mut index = MemoryIndex::new(principal, Arc::clone(table)).unwrap();
    let numbers: Vec<usize> = (0..ITEMS).collect();
    for batch in numbers.chunks(LOAD_BATCH) {
        let items = batch.iter().map(|number| MemoryItem {
            id: MemoryId::from_parts(1 + u64::try_from(*number).unwrap(), 1),
            principal,
            scope: MemoryScope::Principal,
            text: text(*number),
            created: Timestamp(i64::try_from(*number).unwrap()),
            expires: None,
            superseded_by: None,
        });
        index.upsert_all(items).unwrap();
    }
    index
}

fn query(principal: PrincipalId, number: usize) -> MemoryQuery {
    let subject = SUBJECTS[(number * 5) % SUBJECTS.len()];
    let object = OBJECTS[(number * 11) % OBJECTS.len()];
    MemoryQuery {
        principal,
        text: format!("what do we know of {subject} and {object}?"),
        scopes: vec![MemoryScope::Principal],
        now: Timestamp(1_000_000),
        limit: 5,
        minimum_relevance: ASKED_RELEVANCE_MIN,
        token_budget: 2_000,
    }
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn timed(repetitions: usize, mut work: impl FnMut(usize)) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..repetitions)
        .map(|number| {
            let start = Instant::now();
            work(number);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn cut_into_words(texts: &[String]) -> usize {
    let words = texts.iter().map(|text| {
        let lower = text.to_lowercase();
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).count()
    });
    words.sum()
}

/// Times requests for vectors of all texts, one after the other.
fn timed_requests(texts: &[String]) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let model = EmbeddedModel::default();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let request = embedding_request(&texts, None);
    timed(REQUESTS, |_| {
        black_box(runtime.block_on(model.embed(request.clone())).unwrap());
    })
}

fn throughput(what: &str, times: &[Duration], bytes: usize) -> String {
    let seconds = percentile(times, 50).as_secs_f64();
    format!(
        "{what}: {:.0} texts/s, {:.1} MB/s, p99 of {REQUEST_TEXTS} texts {:?}",
        REQUEST_TEXTS as f64 / seconds,
        bytes as f64 / 1e6 / seconds,
        percentile(times, 99)
    )
}

fn main() {
    let principal = PrincipalId::from_parts(1, 1);
    let table = Arc::new(EmbeddingTable::built_in().unwrap());

    let start = Instant::now();
    let index = filled_index(principal, &table);
    let load = start.elapsed();

    let vectors = vec![1_u8; ITEMS * DIMENSIONS];
    let mut copy = vec![0_u8; vectors.len()];
    let anchor = timed(COPIES, |_| black_box(&mut copy).copy_from_slice(black_box(&vectors)));
    let searches =
        timed(SEARCHES, |number| drop(black_box(index.search(&query(principal, number)).unwrap())));

    let texts: Vec<String> = (0..REQUEST_TEXTS).map(text).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    let cut = timed(REQUESTS, |_| {
        black_box(cut_into_words(black_box(&texts)));
    });
    let embedded = timed_requests(&texts);

    let lines = [
        format!("items: {ITEMS}, loaded in {load:?}"),
        format!(
            "anchor, copy of {} bytes: p50 {:?}, p99 {:?}",
            vectors.len(),
            percentile(&anchor, 50),
            percentile(&anchor, 99)
        ),
        format!("search: p50 {:?}, p99 {:?}", percentile(&searches, 50), percentile(&searches, 99)),
        format!(
            "search p50 / anchor p50: {:.1}",
            percentile(&searches, 50).as_secs_f64() / percentile(&anchor, 50).as_secs_f64()
        ),
        throughput("anchor, the same texts cut into words", &cut, bytes),
        throughput("vectors of texts, by the port", &embedded, bytes),
        format!(
            "vectors p50 / anchor p50: {:.1}",
            percentile(&embedded, 50).as_secs_f64() / percentile(&cut, 50).as_secs_f64()
        ),
    ];
    for line in lines {
        println!("{line}");
    }
}
