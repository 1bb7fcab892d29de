//! What is shown of a call while it runs: how much, until when, and that nothing hangs on it.

use palyra_types::EffectId;
use palyra_types::effect::OutputRest;
use palyra_types::event::{TapeEvent, ToolEvent, UnknownOutcomeCause};

use crate::machine::{OUTPUT_PIECES_MAX, OUTPUT_SHOWN_BYTES_MAX};
use crate::scenario::{
    ScenarioDriver, begin, calls, cancel, check_from, done, lost, post, prints, prints_with, read, replay,
    restart, shell, start,
};

fn working() -> ScenarioDriver {
    let mut driver = ScenarioDriver::new();
    for act in [start(), begin(), calls(1, &[read("a"), post()])] {
        driver.act(&act).expect("an input").expect("taken");
    }
    driver
}

/// Returns what is shown of a call: bytes by the entry's own count, bytes in its words, and whether more may follow.
fn shown(driver: &ScenarioDriver, wanted: u32) -> Vec<(u64, usize, OutputRest)> {
    let entries = driver.tape.iter().filter_map(|(event, _)| match event {
        TapeEvent::Tool(ToolEvent::Output(output)) if output.effect == EffectId(wanted) => {
            Some((output.shown_bytes, output.text.expose().len(), output.rest))
        }
        _ => None,
    });
    entries.collect()
}

#[test]
fn only_a_call_that_runs_shows_what_it_prints() {
    check_from(
        working(),
        &[
            prints(1, "a"),
            prints(2, "bb"),
            done(1),
            prints(1, "late"),
            prints(2, "c"),
            prints(3, "no"),
            done(2),
        ],
        "Output 1 1 Follows a
         Output 2 2 Follows bb
         Finished 1
         refused: Stale
         Output 2 3 Follows c
         refused: Stale
         Finished 2, ModelRequested 2 turn 2 > ask 2",
    );
    check_from(ScenarioDriver::new(), &[start(), prints(1, "a")], "RunStarted\nrefused: Stale");
}

#[test]
fn silence_is_no_entry() {
    check_from(
        working(),
        &[prints(1, ""), prints_with(1, "", OutputRest::InOutcome), prints(1, "more")],
        "nothing
         Output 1 0 InOutcome
         nothing",
    );
}

#[test]
fn what_prints_while_it_is_stopped_is_still_shown() {
    check_from(
        working(),
        &[
            prints(2, "a"),
            cancel(),
            prints(2, "dying"),
            lost(2, UnknownOutcomeCause::Cancelled),
            prints(2, "x"),
            done(1),
        ],
        "Output 2 1 Follows a
         CancelRequested User > stop tools
         Output 2 6 Follows dying
         OutcomeUnknown 2 Cancelled
         refused: Stale
         Finished 1, RunFinished Cancelled Cancelled > end",
    );
}

#[test]
fn a_restart_keeps_what_was_shown_and_goes_on_by_contract() {
    let mut run = working();
    run.act(&prints(1, "half")).expect("an input").expect("taken");
    let run = check_from(
        run,
        &[restart(), prints(1, "again"), done(1)],
        "OutcomeUnknown 2 Restart > execute 1
         Output 1 9 Follows again
         Finished 1",
    );
    assert_eq!(replay(&run.tape), run.machine);
    let mut opaque = ScenarioDriver::new();
    for act in [start(), begin(), calls(1, &[shell()]), prints(1, "so far")] {
        opaque.act(&act).expect("an input").expect("taken");
    }
    check_from(opaque, &[restart(), prints(1, "late")], "OutcomeUnknown 1 Restart\nrefused: Stale");
}

#[test]
fn bytes_have_an_end_between_characters() {
    let mut run = working();
    let most = usize::try_from(OUTPUT_SHOWN_BYTES_MAX).unwrap();
    for piece in ["x".repeat(most - 1), "ä".to_owned(), "more".to_owned()] {
        run.act(&prints(1, &piece)).expect("an input").expect("taken");
    }
    let max = OUTPUT_SHOWN_BYTES_MAX;
    assert_eq!(
        shown(&run, 1),
        [(max - 1, most - 1, OutputRest::Follows), (max - 1, 0, OutputRest::InOutcome)]
    );
    assert!(!run.machine.shows_output(EffectId(1)) && run.machine.shows_output(EffectId(2)));
    let mut run = working();
    for piece in ["x".repeat(most), "y".to_owned()] {
        run.act(&prints(1, &piece)).expect("an input").expect("taken");
    }
    assert_eq!(shown(&run, 1), [(max, most, OutputRest::Follows), (max, 0, OutputRest::InOutcome)]);
}

#[test]
fn entries_have_an_end_and_the_last_one_says_so() {
    let mut run = working();
    for _ in 0..OUTPUT_PIECES_MAX + 3 {
        run.act(&prints(2, "x")).expect("an input").expect("taken");
    }
    let shown = shown(&run, 2);
    let follows = shown.iter().filter(|(.., rest)| *rest == OutputRest::Follows).count();
    assert_eq!((shown.len(), follows), (OUTPUT_PIECES_MAX as usize, OUTPUT_PIECES_MAX as usize - 1));
    assert_eq!(shown.last(), Some(&(u64::from(OUTPUT_PIECES_MAX), 1, OutputRest::InOutcome)));
    assert_eq!(replay(&run.tape), run.machine);
}
