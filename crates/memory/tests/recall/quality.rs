//! How well recall answers, and how often it answers where nothing is right.
//!
//! Owns the comparison of the index with plain FTS5 and with vectors alone, each with a threshold tuned on the same half.
//! Thresholds are tuned on queries with odd numbers; figures are of the others.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use palyra_memory::{
    ASKED_RELEVANCE_MIN, EmbeddingTable, MemoryIndex, MemoryItem, MemoryQuery, MemoryScope,
    UNASKED_RELEVANCE_MIN,
};
use palyra_types::{MemoryId, PrincipalId, Timestamp};
use rusqlite::Connection;

use crate::labelled_set::{LabelledQuery, QueryKind, items, queries};

/// Answers that count.
const ANSWERS_MAX: usize = 5;
/// What fused search must reach on the half that reports, without a minimum and with each of the two.
const THRESHOLDS: [RecallThreshold; 3] = [
    RecallThreshold { minimum: f32::MIN, paraphrases_min: 54, keywords_min: 98, false_answers_max: 100 },
    RecallThreshold {
        minimum: ASKED_RELEVANCE_MIN,
        paraphrases_min: 38,
        keywords_min: 98,
        false_answers_max: 78,
    },
    RecallThreshold {
        minimum: UNASKED_RELEVANCE_MIN,
        paraphrases_min: 3,
        keywords_min: 98,
        false_answers_max: 30,
    },
];
/// How often a method may answer where nothing is right on the half that tunes: for search that was asked for, and for search
/// that was not.
const TUNED_FALSE_ANSWERS_PERCENT: [usize; 2] = [70, 20];

const PRINCIPAL_SEED: u64 = 1;
const NOW: Timestamp = Timestamp(1_796_000_000_000_000);
const DAY: Duration = Duration::from_hours(24);

/// Up to five answers with a score, the best first.
type Answers = Vec<(&'static str, f32)>;

/// One way to search.
struct SearchMethod {
    name: &'static str,
    /// Answers to each query, in the order of the queries, without a minimum.
    answers: Vec<Answers>,
    /// For search that was asked for, and for search that was not.
    minimum_scores: [f32; 2],
}

/// Figures that fused search must reach, in percent.
struct RecallThreshold {
    minimum: f32,
    paraphrases_min: usize,
    keywords_min: usize,
    false_answers_max: usize,
}

/// Shares of the queries of one half.
struct RecallFigures {
    paraphrases: usize,
    keywords: usize,
    false_answers: usize,
}

fn percent(part: usize, whole: usize) -> usize {
    (part * 100 + whole / 2) / whole.max(1)
}

impl SearchMethod {
    fn accepted(&self, query: usize, minimum_score: f32) -> impl Iterator<Item = &'static str> {
        let answers = self.answers[query].iter().filter(move |(_, score)| *score >= minimum_score);
        answers.map(|(id, _)| *id).take(ANSWERS_MAX)
    }

    fn is_right(&self, index: usize, query: &LabelledQuery, minimum_score: f32) -> bool {
        match query.target {
            Some(target) => self.accepted(index, minimum_score).any(|id| id == target),
            None => self.accepted(index, minimum_score).next().is_none(),
        }
    }

    fn right_percent(&self, kind: QueryKind, is_tuning: bool, minimum_score: f32) -> usize {
        let queries = queries();
        let of_kind = queries.iter().enumerate();
        let of_kind: Vec<_> =
            of_kind.filter(|(_, query)| query.kind == kind && query.is_for_tuning() == is_tuning).collect();
        let right =
            of_kind.iter().filter(|(index, query)| self.is_right(*index, query, minimum_score)).count();
        percent(right, of_kind.len())
    }

    fn figures(&self, is_tuning: bool, minimum_score: f32) -> RecallFigures {
        RecallFigures {
            paraphrases: self.right_percent(QueryKind::Paraphrase, is_tuning, minimum_score),
            keywords: self.right_percent(QueryKind::Keyword, is_tuning, minimum_score),
            false_answers: 100 - self.right_percent(QueryKind::Nothing, is_tuning, minimum_score),
        }
    }

    /// Returns the minimum with the best recall among those with few enough false answers, on the half for tuning.
    fn tuned(&self, false_answers_max: usize) -> f32 {
        let mut scores: Vec<f32> = self.answers.iter().map(Vec::as_slice).filter_map(best_score).collect();
        scores.sort_unstable_by(f32::total_cmp);
        let mut best = (0, f32::MAX);
        for score in scores {
            let figures = self.figures(true, score);
            let recall = figures.paraphrases + figures.keywords;
            if figures.false_answers <= false_answers_max && recall > best.0 {
                best = (recall, score);
            }
        }
        best.1
    }
}

fn best_score(answers: &[(&'static str, f32)]) -> Option<f32> {
    answers.iter().map(|(_, score)| *score).max_by(f32::total_cmp)
}

fn table() -> Arc<EmbeddingTable> {
    Arc::new(EmbeddingTable::built_in().unwrap())
}

fn fused() -> SearchMethod {
    let principal = PrincipalId::from_parts(PRINCIPAL_SEED, 1);
    let mut names = HashMap::new();
    let mut index = MemoryIndex::new(principal, table()).unwrap();
    for (number, item) in (1_u64..).zip(items()) {
        let id = MemoryId::from_parts(number, 1);
        names.insert(id, item.id);
        let age = DAY * item.age_days;
        let created = Timestamp(NOW.0 - i64::try_from(age.as_micros()).unwrap());
        let (scope, text) = (MemoryScope::Principal, item.text.to_owned());
        index
            .upsert(MemoryItem { id, principal, scope, text, created, expires: None, superseded_by: None })
            .unwrap();
    }
    let answers = queries().into_iter().map(|query| {
        let query = MemoryQuery {
            principal,
            text: query.text.to_owned(),
            scopes: vec![MemoryScope::Principal],
            now: NOW,
            limit: 50,
            minimum_relevance: 0.0,
            token_budget: usize::MAX,
        };
        let hits = index.search(&query).unwrap();
        hits.into_iter().map(|hit| (names[&hit.id], hit.relevance)).collect()
    });
    let minimum_scores = [ASKED_RELEVANCE_MIN, UNASKED_RELEVANCE_MIN];
    SearchMethod { name: "fused", answers: answers.collect(), minimum_scores }
}

/// Plain FTS5 as one would set it up: the Porter stemmer, every word of the query, BM25.
fn words_alone() -> SearchMethod {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE VIRTUAL TABLE item USING fts5(id, text, tokenize = 'porter')").unwrap();
    for item in items() {
        connection.execute("INSERT INTO item VALUES (?1, ?2)", [item.id, item.text]).unwrap();
    }
    let ids: HashMap<String, &'static str> =
        items().into_iter().map(|item| (item.id.to_owned(), item.id)).collect();
    let sql = "SELECT id, -bm25(item) FROM item WHERE item MATCH ?1 ORDER BY bm25(item) LIMIT 50";
    let mut statement = connection.prepare(sql).unwrap();
    let answers = queries().into_iter().map(|query| {
        let words =
            query.text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let expression = words.map(|word| format!("text:\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let rows =
            statement.query_map([expression], |row| Ok((row.get::<_, String>(0)?, row.get::<_, f64>(1)?)));
        let rows = rows.unwrap().map(Result::unwrap);
        #[expect(clippy::cast_possible_truncation, reason = "a score of two digits")]
        rows.map(|(id, score)| (ids[&id], score as f32)).collect()
    });
    tuned(SearchMethod { name: "FTS5 alone", answers: answers.collect(), minimum_scores: [0.0; 2] })
}

fn vectors_alone() -> SearchMethod {
    let table = table();
    let vectors: Vec<_> = items().into_iter().map(|item| (item.id, table.embed(item.text))).collect();
    let answers = queries().into_iter().map(|query| {
        let vector = table.embed(query.text);
        let mut scores: Answers = vectors.iter().map(|(id, item)| (*id, item.similarity(&vector))).collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        scores.truncate(50);
        scores
    });
    tuned(SearchMethod { name: "vectors alone", answers: answers.collect(), minimum_scores: [0.0; 2] })
}

fn tuned(method: SearchMethod) -> SearchMethod {
    let minimum_scores = TUNED_FALSE_ANSWERS_PERCENT.map(|percent| method.tuned(percent));
    SearchMethod { minimum_scores, ..method }
}

fn table_text(methods: &[SearchMethod]) -> String {
    let mut text =
        String::from("| search | minimum | paraphrases | keywords | false recall |\n|---|--:|--:|--:|--:|\n");
    for method in methods {
        let [asked, unasked] = method.minimum_scores;
        for (label, minimum) in [("none", f32::MIN), ("asked", asked), ("unasked", unasked)] {
            let figures = method.figures(false, minimum);
            let score = if minimum > f32::MIN { format!(", {minimum:.3}") } else { String::new() };
            let RecallFigures { paraphrases, keywords, false_answers } = figures;
            writeln!(
                text,
                "| {} | {label}{score} | {paraphrases} % | {keywords} % | {false_answers} % |",
                method.name
            )
            .unwrap();
        }
    }
    text
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
fn fused_search_answers_and_knows_when_not_to() {
    let fused = fused();
    let tuned = TUNED_FALSE_ANSWERS_PERCENT.map(|percent| fused.tuned(percent));
    let figures: Vec<_> =
        THRESHOLDS.iter().map(|threshold| fused.figures(false, threshold.minimum)).collect();
    println!(
        "{}minimums that tuning finds for fused: {tuned:?}",
        table_text(&[fused, words_alone(), vectors_alone()])
    );
    for (figures, threshold) in figures.iter().zip(&THRESHOLDS) {
        assert!(figures.paraphrases >= threshold.paraphrases_min, "at {}", threshold.minimum);
        assert!(figures.keywords >= threshold.keywords_min, "at {}", threshold.minimum);
        assert!(figures.false_answers <= threshold.false_answers_max, "at {}", threshold.minimum);
    }
}
