//! The labelled set: memory items, and queries with the item that answers them.
//!
//! Owns reading `items.txt`, `queries.txt` and `common_words.txt`. A malformed line is a panic that names it.

use std::collections::BTreeSet;

const ITEMS: &str = include_str!("items.txt");
const QUERIES: &str = include_str!("queries.txt");
const COMMON_WORDS: &str = include_str!("common_words.txt");

/// One memory item.
pub(crate) struct LabelledItem {
    pub(crate) id: &'static str,
    pub(crate) age_days: u32,
    pub(crate) text: &'static str,
}

/// How a query relates to its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// Says the same in other words.
    Paraphrase,
    /// Names words of the item.
    Keyword,
    /// Has no answer in the set.
    Nothing,
}

/// One query.
pub(crate) struct LabelledQuery {
    pub(crate) id: &'static str,
    pub(crate) kind: QueryKind,
    /// The item that answers; `None` if none does.
    pub(crate) target: Option<&'static str>,
    pub(crate) text: &'static str,
}

impl LabelledQuery {
    /// Returns whether thresholds may be tuned with this query; figures are reported on the others.
    pub(crate) fn is_for_tuning(&self) -> bool {
        let number: u32 = self.id[1..].parse().unwrap();
        number % 2 == 1
    }
}

/// Reads the items.
pub(crate) fn items() -> Vec<LabelledItem> {
    rows(ITEMS)
        .map(|row| {
            let [id, age, text] = columns(row);
            LabelledItem { id, age_days: age.parse().unwrap(), text }
        })
        .collect()
}

/// Reads the queries.
pub(crate) fn queries() -> Vec<LabelledQuery> {
    rows(QUERIES)
        .map(|row| {
            let [id, kind, target, text] = columns(row);
            let kind = match kind {
                "p" => QueryKind::Paraphrase,
                "k" => QueryKind::Keyword,
                "n" => QueryKind::Nothing,
                other => panic!("unknown kind {other} in: {row}"),
            };
            LabelledQuery { id, kind, target: (target != "-").then_some(target), text }
        })
        .collect()
}

/// Reads the words that a paraphrase may share with its item.
pub(crate) fn common_words() -> BTreeSet<&'static str> {
    COMMON_WORDS.split_whitespace().collect()
}

fn rows(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn columns<const N: usize>(row: &'static str) -> [&'static str; N] {
    let columns: Vec<_> = row.split('|').map(str::trim).collect();
    columns.try_into().unwrap_or_else(|_| panic!("a row has {N} columns: {row}"))
}
