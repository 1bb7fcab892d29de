//! Many stories, and what they came to together.
//!
//! Owns the counting, the threads, and the goals that a campaign has to reach. Begin at [`run`].

use std::panic;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fault::{Fault, FaultMatrix, Phase};
use crate::scenario::{Outcome, tell};
use crate::world::TraceMode;

/// What many stories came to.
#[derive(Debug, Clone, Default)]
pub struct Campaign {
    /// Stories told.
    pub seeds: u64,
    /// Polls of tasks.
    pub steps: u64,
    /// Lives of daemons.
    pub lives: u64,
    /// Runs.
    pub runs: u64,
    /// Entries.
    pub entries: u64,
    /// What was done in which phase.
    pub matrix: FaultMatrix,
    /// Stories in which something was wrong, by seed.
    pub failed: Vec<Outcome>,
    /// Digest of all digests, in order of seed.
    pub digest: u64,
}

impl Campaign {
    /// Returns the cells of the matrix that can be reached and were not.
    #[must_use]
    pub fn empty_cells(&self) -> Vec<(Fault, Phase)> {
        self.matrix.empty()
    }
}

/// Tells the stories of `count` seeds from `first` on, on so many threads.
#[must_use]
pub fn run(first: u64, count: u64, threads: usize) -> Campaign {
    silence_expected_panics();
    let next = AtomicU64::new(0);
    let outcomes: Mutex<Vec<Outcome>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    let outcome = tell(first.wrapping_add(at), None, TraceMode::Digest);
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|outcome| outcome.seed);
    let mut campaign = Campaign::default();
    for outcome in outcomes {
        campaign.seeds += 1;
        campaign.steps += outcome.steps;
        campaign.lives += outcome.lives;
        campaign.runs += outcome.runs;
        campaign.entries += outcome.entries;
        campaign.matrix.add(&outcome.matrix);
        campaign.digest = campaign.digest.rotate_left(5) ^ outcome.digest;
        if !outcome.findings.is_empty() {
            campaign.failed.push(outcome);
        }
    }
    campaign
}

/// Panics that stories make on purpose say nothing; all others do.
pub fn silence_expected_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let said = info.payload().downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| info.payload().downcast_ref::<&str>().copied());
            if said != Some(crate::fault::EXPECTED_PANIC) {
                usual(info);
            }
        }));
    });
}
