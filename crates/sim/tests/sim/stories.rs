//! Stories of a fixed number of seeds, from a place that moves on from time to time.

use palyra_sim::{Fault, FaultMatrix, Phase, TraceMode, campaign, tell};
use palyra_testkit::suite_seed;

/// Stories that are told with each run of the tests; a campaign tells more.
const SEEDS: u64 = 160;
/// Places where they may begin.
const PLACES: u64 = 1_000_000;
/// Stories that are told twice.
const REPEATED: u64 = 24;

/// Where the seeds begin: with each commit elsewhere.
fn first_seed() -> u64 {
    (suite_seed() % PLACES) * SEEDS
}

#[test]
fn nothing_is_wrong_in_any_story() {
    let campaign = campaign::run(first_seed(), SEEDS, 2);
    let failed: Vec<String> = campaign
        .failed
        .iter()
        .map(|outcome| format!("cargo xtask sim {}   # {}", outcome.seed, outcome.findings.join("; ")))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(campaign.seeds, SEEDS);
    assert!(campaign.steps > SEEDS * 500 && campaign.matrix.faults() > SEEDS * 20, "{campaign:?}");
}

#[test]
fn the_same_seed_tells_the_same_story() {
    campaign::silence_expected_panics();
    for seed in first_seed()..first_seed() + REPEATED {
        let (once, again) = (tell(seed, None, TraceMode::Words), tell(seed, None, TraceMode::Words));
        let differs = once.trace.iter().zip(&again.trace).find(|(one, two)| one != two);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(once, again, "seed {seed}");
        assert!(!once.trace.is_empty() && once.entries > 2, "seed {seed}");
    }
    assert_ne!(tell(1, None, TraceMode::Digest).digest, tell(2, None, TraceMode::Digest).digest);
}

#[test]
fn the_matrix_knows_what_was_not_reached() {
    let mut matrix = FaultMatrix::default();
    let all = matrix.empty().len();
    matrix.count(Fault::Crash, Phase::Streaming);
    assert_eq!((matrix.empty().len(), matrix.faults()), (all - 1, 1));
    matrix.count(Fault::Cancel, Phase::Queued);
    assert_eq!((matrix.empty().len(), matrix.faults()), (all - 2, 1), "a wish is no fault");
    let unreachable = (Fault::ToolHangs, Phase::Queued);
    assert!(!matrix.empty().contains(&unreachable));
}
