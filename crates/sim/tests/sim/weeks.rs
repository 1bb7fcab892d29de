//! Weeks of usual work have no incident, and a request that never ends is one. `cargo xtask sim --weeks 4` lives through more.

use palyra_sim::campaign;
use palyra_sim::weeks::{PlantedFault, WEEK, live_weeks};
use palyra_testkit::suite_seed;

#[test]
fn weeks_of_usual_work_raise_no_incident() {
    campaign::silence_expected_panics();
    let seed = suite_seed() % 1_000_000;
    let weeks = live_weeks(seed, 4 * WEEK, PlantedFault::Nothing);
    assert!(weeks.is_clean(), "cargo xtask sim --weeks 4 --from {seed} --seeds 1   # {weeks}");
    assert!(weeks.hours >= 4 * 7 * 24 && weeks.lives > 4 && weeks.runs > 100, "{weeks}");
    assert!(weeks.long_waits > 0, "questions wait for a person: {weeks}");
}

#[test]
fn a_request_that_never_ends_is_an_incident_of_such_weeks() {
    campaign::silence_expected_panics();
    let weeks = live_weeks(0, WEEK, PlantedFault::HungProvider);
    let is_found = |cause: &String| cause == "run_no_progress";
    assert!(!weeks.incidents.is_empty() && weeks.incidents.iter().all(is_found), "{weeks}");
    assert!(weeks.findings.is_empty(), "{weeks}");
}
