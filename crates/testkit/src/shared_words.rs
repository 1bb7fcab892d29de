//! A ranking of items that can be foreseen: by the words that they share with a text, then by age.
//!
//! Works inline, so that a test on one thread stays in step, and remembers nothing between two requests.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::search_memories::{MemoryRanking, SearchMemories};
use palyra_types::MemoryId;

/// Letters from which on one word counts as the beginning of another: `deploy` finds `deployment`.
const STEM_CHARS_MIN: usize = 4;

/// Ranks items by shared words.
#[derive(Debug, Clone, Copy, Default)]
pub struct SharedWordSearch;

impl SearchMemories for SharedWordSearch {
    fn rank(&self, request: MemoryRanking) -> BoxFuture<'static, Vec<MemoryId>> {
        ready(rank(&request)).boxed()
    }
}

fn rank(request: &MemoryRanking) -> Vec<MemoryId> {
    let wanted = words(request.text.expose());
    let mut found: Vec<_> = request
        .items
        .iter()
        .filter(|item| request.scopes.contains(&item.saved.scope))
        .map(|item| (shared(&wanted, &words(item.saved.text.expose())), item))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    found.sort_by_key(|(shared, item)| (Reverse(*shared), Reverse(item.seq)));
    found.into_iter().take(request.limit).map(|(_, item)| item.saved.memory).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| word.chars().nth(1).is_some()).map(str::to_lowercase).collect()
}

/// Counts the wanted words that are in a text, each as a whole word twice, as a beginning once.
fn shared(wanted: &BTreeSet<String>, has: &BTreeSet<String>) -> usize {
    let points = wanted.iter().map(|word| {
        if has.contains(word) { 2 } else { usize::from(has.iter().any(|other| begins(word, other))) }
    });
    points.sum()
}

/// Returns whether one of two words is the beginning of the other.
fn begins(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    short.chars().count() >= STEM_CHARS_MIN && long.starts_with(short)
}

#[cfg(test)]
mod tests {
    use palyra_ports::search_memories::MemoryDemand;
    use palyra_types::memory::{MemoryAuthor, MemoryRecord, MemorySaved, MemoryScope};
    use palyra_types::surface::Surface;
    use palyra_types::tool::Taints;
    use palyra_types::{PrincipalId, Seq, Timestamp};

    use super::*;

    const TEXTS: [&str; 4] =
        ["we deploy on Fridays", "drinks green tea", "the tea is in the kitchen", "Grüße an Jürgen"];

    fn found(text: &str, limit: usize) -> Vec<usize> {
        let principal = PrincipalId::from_parts(1, 1);
        let item = |(number, text): (u64, &'static str)| MemoryRecord {
            saved: MemorySaved {
                memory: MemoryId::from_parts(1, number.into()),
                scope: MemoryScope::Principal,
                author: MemoryAuthor::Person,
                via: Surface::LocalSocket,
                source: None,
                taints: Taints::NONE,
                expires: None,
                supersedes: None,
                text: text.into(),
            },
            principal,
            seq: Seq(number),
            created: Timestamp(1),
            superseded_by: None,
            forgotten: None,
        };
        let items: Vec<_> = (0..).zip(TEXTS).map(item).collect();
        let ids: Vec<_> = items.iter().map(|item| item.saved.memory).collect();
        let request = MemoryRanking {
            principal,
            text: text.into(),
            items: items.into(),
            scopes: vec![MemoryScope::Principal],
            demand: MemoryDemand::Asked,
            limit,
            now: Timestamp(2),
        };
        let place = |id: MemoryId| ids.iter().position(|known| *known == id);
        rank(&request).into_iter().filter_map(place).collect()
    }

    #[test]
    fn what_shares_more_words_comes_first_then_what_is_newer() {
        for (text, expected) in [
            ("tea", vec![2, 1]),
            ("green TEA?", vec![1, 2]),
            ("deployment", vec![0]),
            ("grüße", vec![3]),
            ("coffee", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(found(text, 9), expected, "{text}");
        }
        assert_eq!(found("tea", 1), [2]);
    }
}
