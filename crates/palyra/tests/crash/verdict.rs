//! What must hold after the kills.

use std::collections::{BTreeMap, BTreeSet};

use palyra_client::JournalStep;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{ListRunsRequest, RunState, TapeEntry};

use crate::scene::Scene;
use crate::watchers::WatchedRun;

/// Steps of the input.
const STEPS: usize = 12;
/// Each kill costs a model request at most one attempt.
const ATTEMPTS_PER_TURN_MAX: usize = 5;

/// Where runs were really caught, as their tapes tell: a trigger and its kill are a moment apart.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Caught {
    /// Requests given up before any text, in the first turn.
    pub(crate) first_request: usize,
    /// Requests given up before any text, after a tool's outcome.
    pub(crate) after_outcome: usize,
    /// Requests given up after some text.
    pub(crate) text: usize,
    /// Tools that had to run again: far more time went by than the tool took.
    pub(crate) tool: usize,
}

impl Caught {
    pub(crate) fn each_has(&self, least: usize) -> bool {
        [self.first_request, self.after_outcome, self.text, self.tool].iter().all(|count| *count >= least)
    }

    fn add(&mut self, tape: &[TapeEntry]) {
        let mut turn = 0;
        let mut tool_started = None;
        for entry in tape {
            let time = entry.time.map_or(0, |time| time.seconds * 1_000_000 + i64::from(time.nanos) / 1_000);
            match entry.event.as_ref() {
                Some(Event::ModelRequested(requested)) => turn = requested.turn,
                Some(Event::ModelAttemptAbandoned(abandoned)) if abandoned.text_from > 0 => self.text += 1,
                Some(Event::ModelAttemptAbandoned(_)) if turn == 1 => self.first_request += 1,
                Some(Event::ModelAttemptAbandoned(_)) => self.after_outcome += 1,
                Some(Event::ToolStarted(_)) => tool_started = Some(time),
                Some(Event::ToolFinished(finished)) => {
                    let took = finished
                        .duration
                        .map_or(0, |took| took.seconds * 1_000_000 + i64::from(took.nanos) / 1_000);
                    let between = tool_started.take().map_or(0, |started| time - started);
                    self.tool += usize::from(between > took + RESTART_US_MIN);
                }
                _ => {}
            }
        }
    }
}

/// A restart takes longer than this, and nothing else between a tool's end and its record does.
const RESTART_US_MIN: i64 = 30_000;

/// Every client saw the same whole tape, and the tape tells of each step once.
pub(crate) async fn check_run(scene: &Scene, watched: &WatchedRun, caught: &mut Caught) {
    let client = scene.client().await;
    let stored = client.read_tape(watched.run, 0, 0).await.expect("the tape").entries;
    for seen in &watched.seen {
        let numbers: Vec<u32> = seen.iter().map(|entry| entry.tape_seq).collect();
        let dense: Vec<u32> = (1..=u32::try_from(seen.len()).expect("few entries")).collect();
        assert_eq!(numbers, dense, "a client's numbers have a gap or a repetition");
        assert_eq!(seen, &stored, "a client saw something else than what is stored");
    }
    for end in &watched.ends {
        assert_eq!(end.state(), RunState::Done, "the run ended with {:?}", stored.last());
        assert_eq!(end.tape_seq as usize, stored.len());
    }
    check_once(&stored);
    caught.add(&stored);
}

fn check_once(tape: &[TapeEntry]) {
    let mut counts: BTreeMap<&'static str, Vec<u32>> = BTreeMap::new();
    let mut attempts: BTreeMap<u32, usize> = BTreeMap::new();
    for entry in tape {
        let (what, which) = match entry.event.as_ref().expect("a known event") {
            Event::RunStarted(_) => ("started", 0),
            Event::RunFinished(finished) => {
                assert_eq!(finished.reason_name(), "final_answer");
                ("finished", 0)
            }
            Event::ModelRequested(requested) => {
                *attempts.entry(requested.turn).or_default() += 1;
                ("requested", requested.attempt)
            }
            Event::ModelMessage(message) => ("message", message.attempt),
            Event::ModelAttemptAbandoned(abandoned) => {
                assert_eq!(abandoned.cause_name(), "restart");
                ("abandoned", abandoned.attempt)
            }
            Event::ToolProposed(proposed) => ("proposed", proposed.effect_id),
            Event::ToolDecided(decided) => ("decided", decided.effect_id),
            Event::ToolStarted(started) => {
                assert_eq!(started.contract_name(), "pure");
                ("tool started", started.effect_id)
            }
            Event::ToolFinished(finished) => {
                assert!(finished.succeeded, "{}", finished.output);
                ("tool finished", finished.effect_id)
            }
            Event::ModelText(_) => continue,
            other => panic!("nothing else may happen: {other:?}"),
        };
        counts.entry(what).or_default().push(which);
    }
    for (what, numbers) in &counts {
        let once: BTreeSet<u32> = numbers.iter().copied().collect();
        assert_eq!(once.len(), numbers.len(), "{what} was recorded twice: {numbers:?}");
    }
    for what in ["proposed", "decided", "tool started", "tool finished"] {
        assert_eq!(counts.get(what).map_or(0, Vec::len), STEPS, "{what}");
    }
    let requests = counts["message"].len() + counts.get("abandoned").map_or(0, Vec::len);
    assert_eq!(counts["requested"].len(), requests, "a request has neither an answer nor an end");
    assert!(attempts.values().all(|attempts| *attempts <= ATTEMPTS_PER_TURN_MAX), "{attempts:?}");
}

/// The journal verifies, and a repeated start made no second run.
pub(crate) async fn check_journal(scene: &Scene, runs: usize) {
    let client = scene.client().await;
    let mut verification = client.verify_journal().await.expect("a verification");
    loop {
        if let JournalStep::Done(report) = verification.next().await.expect("a step") {
            assert!(report.ok, "seq {}: {}", report.first_bad_seq, report.fault);
            break;
        }
    }
    let all = client.call(ListRunsRequest { page_size: 500, ..Default::default() }).await.expect("the runs");
    assert_eq!(all.runs.len(), runs, "a start was doubled or lost");
}
