//! What the suite found, pair by pair, and whether that is enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;

use crate::catalogue::title;
use crate::pair::{AttackerUser, CasePair, PairResult};

/// Pairs that the whole suite has at least.
pub const CASES_MIN: usize = 300;

/// Everything that was found.
#[derive(Debug, Default)]
pub struct SuiteTally {
    pairs: BTreeMap<CasePair, Vec<PairResult>>,
    /// Pairs for which this host has nothing to guard, in one half.
    left_out: BTreeSet<CasePair>,
}

/// The last line of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SuiteCounts {
    /// Distinct pairs of a case and a mechanism.
    pub cases: usize,
    /// Those whose control touched a canary, in every half in which they were carried out.
    pub controls: usize,
    /// Those in which a canary was touched in spite of the mechanism, in any half.
    pub touched: usize,
}

/// One pair, as a line of JSON.
#[derive(Debug, Serialize)]
struct PairLine<'a> {
    #[serde(flatten)]
    pair: &'a CasePair,
    zone: &'a str,
    title: &'static str,
    #[serde(rename = "as")]
    halves: Vec<AttackerUser>,
    touched: BTreeSet<&'a str>,
    control: BTreeSet<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<&'a str>,
    holds: bool,
}

impl SuiteTally {
    /// Adds what one half found.
    pub fn add(&mut self, found: PairResult) {
        if found.left_out {
            self.left_out.insert(found.pair);
        } else {
            self.pairs.entry(found.pair.clone()).or_default().push(found);
        }
    }

    /// Counts.
    #[must_use]
    pub fn counts(&self) -> SuiteCounts {
        let all = |holds: fn(&PairResult) -> bool| {
            self.pairs.values().filter(|found| found.iter().all(holds)).count()
        };
        let untouched = all(|found| found.touched.is_empty());
        SuiteCounts {
            cases: self.pairs.len(),
            controls: all(|found| !found.control.is_empty() && found.broken.is_none()),
            touched: self.pairs.len() - untouched,
        }
    }

    /// Returns a line of JSON for each pair.
    ///
    /// # Errors
    /// The encoder's.
    pub fn lines(&self) -> serde_json::Result<Vec<String>> {
        self.pairs.iter().map(|(pair, found)| serde_json::to_string(&line(pair, found))).collect()
    }

    /// Returns a table with a row for each case of each zone, and the pairs that do not hold.
    #[must_use]
    pub fn table(&self) -> String {
        let mut rows: BTreeMap<(&str, u8), Vec<&Vec<PairResult>>> = BTreeMap::new();
        for (pair, found) in &self.pairs {
            let zone = found.first().map_or("", |found| found.zone.as_str());
            rows.entry((zone, pair.case)).or_default().push(found);
        }
        let mut text = format!(
            "{:<11} {:>4}  {:<42} {:>5} {:>7} {:>7} {:>8}\n",
            "zone", "case", "", "pairs", "as root", "touched", "controls"
        );
        for ((zone, case), pairs) in rows {
            let count = |which: &dyn Fn(&PairResult) -> bool| {
                pairs.iter().filter(|found| found.iter().any(which)).count()
            };
            let _ = writeln!(
                text,
                "{zone:<11} {case:>4}  {:<42} {:>5} {:>7} {:>7} {:>8}",
                title(case),
                pairs.len(),
                count(&|found| found.half == AttackerUser::Root),
                count(&|found| !found.touched.is_empty()),
                pairs.iter().filter(|found| found.iter().all(|found| !found.control.is_empty())).count(),
            );
        }
        for found in self.pairs.values().flatten().filter(|found| !found.holds()) {
            let as_whom = if found.half == AttackerUser::Root { "as root" } else { "as a user" };
            let why = match (&found.broken, found.touched.is_empty()) {
                (Some(why), _) => format!("could not be carried out: {why}"),
                (None, false) => format!("TOUCHED: {}", found.touched.join(", ")),
                (None, true) => "the control touched nothing".to_owned(),
            };
            let _ = writeln!(text, "! {} {as_whom}: {why}", found.pair.text());
        }
        let nowhere: Vec<_> =
            self.left_out.iter().filter(|pair| !self.pairs.contains_key(pair)).map(CasePair::text).collect();
        if !nowhere.is_empty() {
            let _ = writeln!(
                text,
                "left out, because this host has nothing to guard there: {}",
                nowhere.join("; ")
            );
        }
        text
    }
}

fn line<'a>(pair: &'a CasePair, found: &'a [PairResult]) -> PairLine<'a> {
    let texts = |of: fn(&PairResult) -> &Vec<String>| found.iter().flat_map(of).map(String::as_str).collect();
    PairLine {
        pair,
        zone: found.first().map_or("", |found| found.zone.as_str()),
        title: title(pair.case),
        halves: found.iter().map(|found| found.half).collect(),
        touched: texts(|found| &found.touched),
        control: texts(|found| &found.control),
        broken: found.iter().find_map(|found| found.broken.as_deref()),
        holds: found.iter().all(PairResult::holds),
    }
}

impl SuiteCounts {
    /// Whether every pair holds, and every control touched.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.cases > 0 && self.touched == 0 && self.controls == self.cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mechanism: &str, half: AttackerUser, touched: &[&str], control: &[&str]) -> PairResult {
        let all = |of: &[&str]| of.iter().map(|&what| what.to_owned()).collect();
        PairResult::new(CasePair::new(7, "a way", mechanism), half, all(touched), all(control))
    }

    fn counted(all: Vec<PairResult>) -> (usize, usize, usize, bool) {
        let mut tally = SuiteTally::default();
        all.into_iter().for_each(|found| tally.add(found));
        let counts = tally.counts();
        (counts.cases, counts.controls, counts.touched, counts.hold())
    }

    #[test]
    fn a_pair_counts_once_however_often_it_was_carried_out() {
        let both =
            vec![found("b", AttackerUser::User, &[], &["x"]), found("b", AttackerUser::Root, &[], &["x"])];
        assert_eq!(counted(both), (1, 1, 0, true));
    }

    #[test]
    fn what_one_half_touched_or_one_control_missed_is_not_hidden_by_the_other() {
        let touched =
            vec![found("b", AttackerUser::User, &["x"], &["x"]), found("b", AttackerUser::Root, &[], &["x"])];
        assert_eq!(counted(touched), (1, 1, 1, false));
        let missed =
            vec![found("b", AttackerUser::User, &[], &["x"]), found("b", AttackerUser::Root, &[], &[])];
        assert_eq!(counted(missed), (1, 0, 0, false));
        let broken = vec![PairResult::broken(CasePair::new(7, "a way", "b"), AttackerUser::User, "no")];
        assert_eq!(counted(broken), (1, 0, 0, false));
        assert_eq!(counted(Vec::new()), (0, 0, 0, false));
    }
}
