//! kill -9 of the daemon, again and again, while clients watch a run: nothing is lost and nothing doubled.
//!
//! Each kill is triggered by a committed entry plus 0 to 50 ms. Begin at [`kills_lose_and_double_nothing`].

mod kills;
mod scene;
mod verdict;
mod watchers;

use kills::Tally;
use scene::Scene;

/// Kills in all, at least.
const KILLS_MIN: usize = 40;
/// Kills in each phase, at least.
const KILLS_PER_PHASE_MIN: usize = 3;
/// Runs, at most: a run that is never caught in the phase still wanted would go on for ever.
const RUNS_MAX: usize = 24;

#[test]
fn kills_lose_and_double_nothing() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("tokio");
    runtime.block_on(async {
        let scene = Scene::new();
        let mut tally = Tally::new(0x5eed);
        let mut runs = 0;
        let mut caught = verdict::Caught::default();
        while tally.total() < KILLS_MIN
            || !tally.each_phase_has(KILLS_PER_PHASE_MIN)
            || !caught.each_has(KILLS_PER_PHASE_MIN)
        {
            assert!(runs < RUNS_MAX, "after {runs} runs: {tally}, {caught:?}");
            runs += 1;
            let watched = watchers::watch_one_run(&scene, &mut tally, runs).await;
            verdict::check_run(&scene, &watched, &mut caught).await;
        }
        verdict::check_journal(&scene, runs).await;
        eprintln!("{runs} runs, {tally}, {caught:?}");
    });
}
