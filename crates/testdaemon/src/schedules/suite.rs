//! The suite: kill the daemon at each place outside of it, then at its writes of the journal in turn, and count.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::context::ScheduleContext;
use super::controls::controls;
use super::counts::StoryCounts;
use super::legs::ScheduleLeg;
use super::place::KillPlace;
use super::scenario::{ScenarioOptions, ScenarioOutcome, carry_out};
use crate::crash::CrashOptions;
use crate::report::{FAILURES_MAX, SuiteReport};
use crate::strace::{CallRecording, InjectedFault, Selector, StraceTracer, SystemCall, is_there};
use crate::tally::PhaseTally;
use crate::test_home::SERVING_WITHIN;

/// Too slow restarts of one fault, after which it is the daemon that is slow.
const TRIES_MAX: usize = 3;
/// Between two reports of progress.
const TELL_EVERY: usize = 25;

/// Where the daemon is killed.
#[derive(Debug)]
enum KillTarget {
    /// At a place outside of it.
    Place(KillPlace),
    /// At a call that writes or syncs the journal. The selector is missing where strace cannot meet it.
    Call { leg: ScheduleLeg, call: SystemCall, selector: Option<Selector> },
}

/// Kills the daemon at the places, and at the writes of its journal that the options name.
///
/// # Errors
/// When an undisturbed daemon does not do its part; what a fault leads to is in the report.
pub async fn suite(daemon: &Path, options: CrashOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    is_there().await?;
    let CrashOptions { every, offset } = options;
    let mut report = SuiteReport::new("schedules", format!("every {every} from {}", offset % every));
    let began = Instant::now();
    progress("preparing");
    let context = ScheduleContext::prepare(daemon).await?;
    let calls = targets(&context, progress).await?;
    let recorded = calls.len();
    let chosen = calls.into_iter().enumerate().filter(|(number, _)| number % every == offset % every);
    let chosen: Vec<_> =
        KillPlace::ALL.into_iter().map(KillTarget::Place).chain(chosen.map(|(_, call)| call)).collect();
    let mut tally = PhaseTally::default();
    let mut counts = StoryCounts::default();
    for (number, target) in chosen.iter().enumerate() {
        if let KillTarget::Call { leg, call, selector: None } = target {
            tally.out_of_reach(&leg.to_string(), call);
            continue;
        }
        match disturb(&context, target, &mut counts).await {
            Ok(outcome) => note(&mut tally, &mut counts, target, &outcome),
            Err(error) => {
                let kept = context.keep(&format!("schedules-{number}"));
                let failure = format!("{target:?}: {error:#}; kept in {}", kept.display());
                progress(&failure);
                report.failures.push(failure);
                if report.failures.len() == FAILURES_MAX {
                    break;
                }
            }
        }
        if number % TELL_EVERY == 0 {
            progress(&format!("{number} of {}: {} kills", chosen.len(), counts.kills()));
        }
    }
    progress("controls");
    controls(&context, &mut report).await?;
    tally.tell(&mut report);
    let tried = chosen.len() - KillPlace::ALL.len();
    report.row("calls recorded", recorded, format!("{tried} of them tried"));
    if counts.kills() == 0 || tally.total() == 0 {
        report.failures.push("nothing was injected".to_owned());
    }
    counts.tell(&mut report);
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

/// Records each leg undisturbed, and returns its calls that write or sync the journal.
async fn targets(context: &ScheduleContext, progress: &dyn Fn(&str)) -> Result<Vec<KillTarget>> {
    let mut all = Vec::new();
    for leg in ScheduleLeg::ALL {
        let recorded = record(context, leg).await;
        let CallRecording { mut calls, stopped_after, .. } = recorded.with_context(|| {
            format!("{leg}, undisturbed, kept in {}", context.keep("schedules").display())
        })?;
        // A stop in good order comes after everything has ended; the suite `crash` disturbs it.
        calls.truncate(stopped_after.unwrap_or(calls.len()));
        let before = all.len();
        for (place, call) in calls.iter().enumerate().filter(|(_, call)| writes_journal(call)) {
            all.push(KillTarget::Call { leg, call: call.clone(), selector: selector_of(&calls, place) });
        }
        progress(&format!("{leg}: {} calls, {} of them write the journal", calls.len(), all.len() - before));
    }
    ensure!(!all.is_empty(), "no call writes the journal");
    Ok(all)
}

async fn record(context: &ScheduleContext, leg: ScheduleLeg) -> Result<CallRecording> {
    let log = context.path("recording.log");
    let tracer = StraceTracer::recording(&log);
    let options = ScenarioOptions { tracer: Some((&tracer, &log)), ..ScenarioOptions::of(leg) };
    let outcome = carry_out(context, options).await?;
    demand(&outcome)?;
    Ok(outcome.recording)
}

fn writes_journal(call: &SystemCall) -> bool {
    call.path.as_ref().is_some_and(|path| path.ends_with("/journal.db-wal") || path.ends_with("/journal.db"))
}

/// Returns what selects a call. Its file is named, because the program and other threads write as well.
fn selector_of(calls: &[SystemCall], place: usize) -> Option<Selector> {
    let call = &calls[place];
    let alike = |other: &&SystemCall| {
        (&other.kind, &other.path, other.thread) == (&call.kind, &call.path, call.thread)
    };
    let when = calls[..=place].iter().filter(alike).count();
    let selector = Selector { kind: call.kind.clone(), path: call.path.clone(), when };
    (selector.place_in(calls) == Some(place)).then_some(selector)
}

/// Kills; a restart that took too long is tried again, for the machine may have been busy otherwise.
async fn disturb(
    context: &ScheduleContext,
    target: &KillTarget,
    counts: &mut StoryCounts,
) -> Result<ScenarioOutcome> {
    let log = context.path("fault.log");
    for _ in 0..TRIES_MAX {
        let outcome = match target {
            KillTarget::Place(place) => {
                let undisturbed = ScenarioOptions::of(ScheduleLeg::Due);
                carry_out(context, ScenarioOptions { place: Some(*place), ..undisturbed }).await?
            }
            KillTarget::Call { leg, selector, .. } => {
                let selector = selector.clone().context("out of reach")?;
                let tracer = StraceTracer::injecting(&log, selector, InjectedFault::Kill);
                let options = ScenarioOptions { tracer: Some((&tracer, &log)), ..ScenarioOptions::of(*leg) };
                carry_out(context, options).await?
            }
        };
        demand(&outcome)?;
        if outcome.back_after.is_none_or(|took| took <= SERVING_WITHIN) {
            return Ok(outcome);
        }
        counts.slow += 1;
    }
    bail!("serving again took longer than {} s, {TRIES_MAX} times", SERVING_WITHIN.as_secs())
}

/// Demands that nothing is lost, and nothing doubled.
fn demand(outcome: &ScenarioOutcome) -> Result<()> {
    let faults = outcome.differences.faults();
    ensure!(faults.is_empty(), "{}; {:?}", faults.join("; "), outcome.facts);
    Ok(())
}

fn note(tally: &mut PhaseTally, counts: &mut StoryCounts, target: &KillTarget, outcome: &ScenarioOutcome) {
    match target {
        KillTarget::Place(place) => counts.note(Some(*place), outcome),
        KillTarget::Call { leg, call, selector } => {
            counts.note(None, outcome);
            let leg = leg.to_string();
            if outcome.back_after.is_none() {
                return tally.passed_by(&leg, call);
            }
            let calls = &outcome.recording.calls;
            let hit = selector.as_ref().and_then(|selector| selector.place_in(calls));
            tally.hit(&leg, hit.and_then(|place| calls.get(place)).unwrap_or(call));
        }
    }
}
