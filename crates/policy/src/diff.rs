//! What another set of policies would have decided about recorded requests.
//!
//! Owns the comparison. Reads no journal: requests are handed in as they were recorded. Invariant: both sets are asked
//! the same words, so whatever differs is due to the policies alone.

use std::collections::BTreeMap;

use palyra_types::tool::ToolVerdict;

use crate::policies::PolicySet;
use crate::request::PolicyRequest;
use crate::rules::Reevaluation;

/// How many changed requests a comparison keeps; beyond it they are only counted.
pub const CHANGES_KEPT_MAX: usize = 1_000;

/// One request that the other set decides otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedDecision<T> {
    /// What the caller knows it by: a run and a place on its tape.
    pub request: T,
    /// What the first set decides.
    pub before: ToolVerdict,
    /// What the other set decides.
    pub after: ToolVerdict,
    /// The policies that decide before.
    pub before_by: Vec<String>,
    /// The policies that decide after.
    pub after_by: Vec<String>,
}

/// A comparison of two sets over recorded requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDiff<T> {
    /// Requests that were compared.
    pub compared: u64,
    /// Requests that could not be read, which are not compared.
    pub unreadable: u64,
    /// How many of each pair of different verdicts, before and after.
    pub counts: BTreeMap<(&'static str, &'static str), u64>,
    /// The first of them.
    pub changes: Vec<ChangedDecision<T>>,
}

impl<T> PolicyDiff<T> {
    /// Returns how many requests are newly decided so.
    #[must_use]
    pub fn newly(&self, verdict: ToolVerdict) -> u64 {
        let name = crate::explain::verdict_name(verdict);
        self.counts.iter().filter(|((_, after), _)| *after == name).map(|(_, count)| count).sum()
    }
}

/// Asks both sets about each request.
pub fn diff<'r, T>(
    before: &PolicySet,
    after: &PolicySet,
    requests: impl IntoIterator<Item = (T, &'r str)>,
) -> PolicyDiff<T> {
    let mut diff = PolicyDiff { compared: 0, unreadable: 0, counts: BTreeMap::new(), changes: Vec::new() };
    let (mut before, mut after) = (Reevaluation::new(before), Reevaluation::new(after));
    for (request, json) in requests {
        let Ok(recorded) = PolicyRequest::from_json(json) else {
            diff.unreadable += 1;
            continue;
        };
        let (old, new) = (before.judge(&recorded), after.judge(&recorded));
        diff.compared += 1;
        if old.verdict == new.verdict {
            continue;
        }
        let pair = (crate::explain::verdict_name(old.verdict), crate::explain::verdict_name(new.verdict));
        *diff.counts.entry(pair).or_default() += 1;
        if diff.changes.len() < CHANGES_KEPT_MAX {
            diff.changes.push(ChangedDecision {
                request,
                before: old.verdict,
                after: new.verdict,
                before_by: old.policies,
                after_by: new.policies,
            });
        }
    }
    diff
}
