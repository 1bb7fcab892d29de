//! Code that meets a cap without being simple is counted, and the numbers only fall.
//!
//! Owns the comparison of each counter with `crates/xtask/shape_counts.toml`. The files below do the
//! counting. Begin at [`check`], then `counters`.

mod counters;
mod hits;
mod signatures;
mod bodies;
mod structs;
mod type_names;
mod module_files;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;
use counters::{COUNTERS, ShapeCounter};
use hits::CountedHit;

const COUNTS: &str = "crates/xtask/shape_counts.toml";

/// The most hits that are allowed, by rule, then by crate or type.
type NotedCounts = BTreeMap<String, BTreeMap<String, usize>>;

/// Returns every hit of a group that has more than its number, and each number that is too high.
pub(super) fn check(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    let noted = match counts(house) {
        Ok(noted) => noted,
        Err(problem) => return vec![in_counts("shape-counts", "", problem, "correct the file")],
    };
    let mut found = unknown_rows(&noted);
    for counter in &COUNTERS {
        let mut groups = groups(counter, house, rules);
        // A number of a group without hits is too high as well.
        for name in noted.get(counter.rule).into_iter().flat_map(BTreeMap::keys) {
            groups.entry(name.clone()).or_default();
        }
        for (name, hits) in groups {
            found.extend(judge(counter, &name, hits, &CountLimit::of(counter, &name, &noted, rules)));
        }
    }
    // A percentage is that many equal hits.
    found.dedup();
    found
}

/// Returns the file of counts with each number lowered to what is there, and none raised.
pub(super) fn expected(house: &RepositoryView, rules: &Rules) -> Vec<(String, String)> {
    let Ok(noted) = counts(house) else { return Vec::new() };
    let mut text = String::from(
        "# Code that meets the caps without being simple, per crate or type; src/tidy/checks/shapes counts it outside of tests.\n\
         # The numbers only fall: `cargo xtask tidy --write` lowers them. A crate or a type that is not listed has none.\n",
    );
    for counter in &COUNTERS {
        let Some(rows) = noted.get(counter.rule).filter(|rows| !rows.is_empty()) else { continue };
        let groups = groups(counter, house, rules);
        let _ = writeln!(text, "\n# {}\n[{}]", counter.counts, counter.rule);
        for (name, number) in rows {
            let count = groups.get(name).map_or(0, Vec::len);
            let limit = CountLimit::of(counter, name, &noted, rules);
            if count > limit.free {
                let _ = writeln!(text, "\"{name}\" = {}", count.min(*number));
            }
        }
    }
    vec![(COUNTS.to_owned(), text)]
}

/// How many hits a group may have.
struct CountLimit {
    noted: Option<usize>,
    /// What any group may have without a row.
    free: usize,
}

impl CountLimit {
    fn of(counter: &ShapeCounter, name: &str, noted: &NotedCounts, rules: &Rules) -> Self {
        let noted = noted.get(counter.rule).and_then(|rows| rows.get(name)).copied();
        Self { noted, free: (counter.free)(rules) }
    }

    fn most(&self) -> usize {
        self.noted.unwrap_or_default().max(self.free)
    }
}

fn judge(counter: &ShapeCounter, name: &str, hits: Vec<CountedHit>, limit: &CountLimit) -> Vec<TidyFinding> {
    let count = hits.len();
    let most = limit.most();
    if count > most {
        let findings = hits.into_iter().map(|hit| TidyFinding {
            path: hit.path,
            line: hit.line,
            rule: counter.rule,
            item: hit.item,
            what: format!("{} (`{name}` has {count}, allowed are {most})", hit.what),
            mend: counter.mend,
        });
        return findings.collect();
    }
    if limit.noted.is_some_and(|noted| count < noted || count <= limit.free) {
        let what = format!("`{name}` has {count} of {}, fewer than noted", counter.rule);
        let mend = "run `cargo xtask tidy --write`, which lowers the number";
        return vec![in_counts(counter.rule, name, what, mend)];
    }
    Vec::new()
}

fn groups(
    counter: &ShapeCounter,
    house: &RepositoryView,
    rules: &Rules,
) -> BTreeMap<String, Vec<CountedHit>> {
    let mut groups: BTreeMap<String, Vec<CountedHit>> = BTreeMap::new();
    for hit in (counter.hits)(house, rules) {
        groups.entry(hit.group.clone()).or_default().push(hit);
    }
    groups
}

fn counts(house: &RepositoryView) -> Result<NotedCounts, String> {
    toml::from_str(house.text(COUNTS)).map_err(|error| error.to_string())
}

fn unknown_rows(noted: &NotedCounts) -> Vec<TidyFinding> {
    let unknown = noted.keys().filter(|rule| COUNTERS.iter().all(|counter| counter.rule != rule.as_str()));
    let findings = unknown.map(|rule| {
        in_counts("shape-counts", rule, format!("no counter is called `{rule}`"), "delete its table")
    });
    findings.collect()
}

fn in_counts(rule: &'static str, item: &str, what: String, mend: &'static str) -> TidyFinding {
    TidyFinding { path: COUNTS.to_owned(), line: 1, rule, item: item.to_owned(), what, mend }
}

#[cfg(test)]
mod tests;
