//! Procedures: sequences of successful calls that several runs have in common.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::RunId;

use crate::procedure_steps::{ProcedureStep, StepKey, sequences};
use crate::reflected_run::ReflectedRun;

/// Runs that have a sequence before it is a procedure.
const RUNS_MIN: usize = 3;
const STEPS_MIN: usize = 2;
const STEPS_MAX: usize = 8;

/// A sequence that several runs have in common.
#[derive(Debug, Clone)]
pub(crate) struct RepeatedSequence<'a> {
    /// One occurrence for each run, the latest run last.
    pub(crate) occurrences: Vec<&'a [ProcedureStep<'a>]>,
}

/// The sequences of each run, in which repetitions are looked for.
pub(crate) struct RunSequences<'a> {
    runs: Vec<(RunId, Vec<Vec<ProcedureStep<'a>>>)>,
}

impl<'a> RunSequences<'a> {
    /// Reads the calls of runs, the oldest run first.
    pub(crate) fn new(runs: &'a [ReflectedRun]) -> Self {
        Self { runs: runs.iter().map(|run| (run.run, sequences(&run.calls))).collect() }
    }

    /// Returns the longest sequences that at least three runs have; a part of one is not another one.
    pub(crate) fn repeated(&'a self) -> Vec<RepeatedSequence<'a>> {
        let mut found: Vec<(Vec<StepKey>, RepeatedSequence<'a>)> = Vec::new();
        for length in (STEPS_MIN..=STEPS_MAX).rev() {
            for (keys, occurrences) in self.windows(length) {
                let distinct: BTreeSet<&StepKey> = keys.iter().collect();
                let is_part = found.iter().any(|(longer, _)| longer.windows(length).any(|part| part == keys));
                if occurrences.len() >= RUNS_MIN && distinct.len() > 1 && !is_part {
                    let occurrences = occurrences.into_values().map(|(_, steps)| steps).collect();
                    found.push((keys, RepeatedSequence { occurrences }));
                }
            }
        }
        found.into_iter().map(|(_, sequence)| sequence).collect()
    }

    /// Returns each sequence of a length with its latest occurrence in each run, in the order of the runs.
    fn windows(&'a self, length: usize) -> BTreeMap<Vec<StepKey>, RunOccurrences<'a>> {
        let mut windows: BTreeMap<Vec<StepKey>, RunOccurrences<'a>> = BTreeMap::new();
        for (at, (run, sequences)) in self.runs.iter().enumerate() {
            for steps in sequences.iter().flat_map(|sequence| sequence.windows(length)) {
                let keys = steps.iter().map(|step| step.key.clone()).collect();
                windows.entry(keys).or_default().insert(at, (*run, steps));
            }
        }
        windows
    }
}

/// Occurrences of a sequence by the place of their run.
type RunOccurrences<'a> = BTreeMap<usize, (RunId, &'a [ProcedureStep<'a>])>;
