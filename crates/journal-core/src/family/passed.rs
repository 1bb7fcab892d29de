//! What families hand to later ones while one entry is folded.

use palyra_types::RunId;

use super::run_counts::RunCounts;

/// What an entry changes about what runs have under way.
#[derive(Debug, Clone, Default)]
pub struct PassedChanges {
    runs: Vec<(RunId, RunCounts)>,
}

impl PassedChanges {
    /// Adds a change of a run.
    pub fn add(&mut self, run: RunId, change: RunCounts) {
        if change != RunCounts::default() {
            self.runs.push((run, change));
        }
    }

    /// Returns the sum of the changes of a run.
    #[must_use]
    pub fn of_run(&self, run: RunId) -> RunCounts {
        let of_run = self.runs.iter().filter(|(own, _)| *own == run);
        of_run.fold(RunCounts::default(), |sum, (_, change)| sum.plus(*change))
    }

    /// Returns the changes of all runs but one, in order.
    pub fn of_others(&self, run: Option<RunId>) -> impl Iterator<Item = (RunId, RunCounts)> {
        self.runs.iter().copied().filter(move |(other, _)| Some(*other) != run)
    }
}
