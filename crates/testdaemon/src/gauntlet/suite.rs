//! The suite: record each leg once, then kill the daemon at its calls in turn, and count.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::context::GauntletContext;
use super::controls::controls;
use super::effects::{EffectKind, all};
use super::legs::RunLeg;
use super::scenario::{ScenarioOptions, ScenarioOutcome, tell};
use crate::crash::CrashOptions;
use crate::report::{FAILURES_MAX, SuiteReport};
use crate::strace::{CallRecording, InjectedFault, Selector, StraceTracer, SystemCall, is_there};
use crate::tally::PhaseTally;
use crate::test_home::SERVING_WITHIN;

/// Too slow restarts of one fault, after which it is the daemon that is slow.
const TRIES_MAX: usize = 3;
/// Requests to the server that drops its first reply to each of seven calls.
const REQUESTS_UNDISTURBED: usize = 14;
/// Between two signs of life.
const TELL_EVERY: usize = 25;

/// A call to be disturbed.
#[derive(Debug)]
struct KillTarget {
    leg: RunLeg,
    call: SystemCall,
    /// `None` where strace cannot meet it.
    selector: Option<Selector>,
}

/// What was counted over all stories.
#[derive(Debug, Default)]
struct StoryCounts {
    stories: usize,
    requests: usize,
    yeses: usize,
    happened: usize,
    not_happened: usize,
    slow: usize,
    back: Vec<Duration>,
}

/// Kills the daemon at the calls of a run of twenty effects that the options name.
///
/// # Errors
/// When an undisturbed daemon does not do its part; what a fault leads to is in the report.
pub async fn suite(daemon: &Path, options: CrashOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    is_there().await?;
    let CrashOptions { every, offset } = options;
    let mut report = SuiteReport::new("gauntlet", format!("every {every} from {}", offset % every));
    let began = Instant::now();
    progress("preparing");
    let mut context = GauntletContext::prepare(daemon).await?;
    let all = targets(&mut context, progress).await?;
    let count = all.len();
    let (mut tally, mut counts) = (PhaseTally::default(), StoryCounts::default());
    let chosen: Vec<_> =
        all.into_iter().enumerate().filter(|(number, _)| number % every == offset % every).collect();
    for (tried, (number, target)) in (1..).zip(&chosen) {
        if target.selector.is_none() {
            tally.out_of_reach(&target.leg.to_string(), &target.call);
            continue;
        }
        match disturb(&context, target, &mut counts).await {
            Ok(told) => note(&mut tally, &mut counts, target, &told),
            Err(error) => {
                let kept = context.keep(&format!("gauntlet-{number}"));
                let failure = format!("call {number} {target:?}: {error:#}; kept in {}", kept.display());
                progress(&failure);
                report.failures.push(failure);
                if report.failures.len() == FAILURES_MAX {
                    break;
                }
            }
        }
        if tried % TELL_EVERY == 0 {
            progress(&format!("{number} of {count}: {} kills", tally.total()));
        }
    }
    progress("controls");
    controls(&context, &mut report).await?;
    summarise(&mut report, &tally, counts, CallCounts { recorded: count, tried: chosen.len() });
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

/// Records each leg undisturbed, and returns its calls.
async fn targets(context: &mut GauntletContext, progress: &dyn Fn(&str)) -> Result<Vec<KillTarget>> {
    let run = record(context, RunLeg::Run).await?.calls;
    let mut all = Vec::new();
    for leg in RunLeg::ALL {
        context.prepare_leg(leg, &run).await.with_context(|| format!("could not prepare: {leg}"))?;
        let calls = if leg == RunLeg::Run { run.clone() } else { record(context, leg).await?.calls };
        let disturbed = leg.disturbed(&calls);
        progress(&format!("{leg}: {} calls, {disturbed} to be disturbed", calls.len()));
        all.extend((0..disturbed).map(|place| KillTarget {
            leg,
            call: calls[place].clone(),
            selector: Selector::of(&calls, place),
        }));
    }
    Ok(all)
}

async fn record(context: &GauntletContext, leg: RunLeg) -> Result<CallRecording> {
    let log = context.path("recording.log");
    let told = tell(context, ScenarioOptions::of(leg), &StraceTracer::recording(&log), &log).await;
    let told = told.with_context(|| format!("{leg}, undisturbed"))?;
    demand(leg, &told)?;
    Ok(told.recording)
}

/// Kills at a call; a restart that took too long is tried again, for the machine may have been busy otherwise.
async fn disturb(
    context: &GauntletContext,
    target: &KillTarget,
    counts: &mut StoryCounts,
) -> Result<ScenarioOutcome> {
    let log = context.path("fault.log");
    let selector = target.selector.as_ref().context("out of reach")?;
    for _ in 0..TRIES_MAX {
        let tracer = StraceTracer::injecting(&log, selector.clone(), InjectedFault::Kill);
        let told = tell(context, ScenarioOptions::of(target.leg), &tracer, &log).await?;
        demand(target.leg, &told)?;
        if told.back_after.is_none_or(|took| took <= SERVING_WITHIN) {
            return Ok(told);
        }
        counts.slow += 1;
    }
    bail!("serving again took longer than {} s, {TRIES_MAX} times", SERVING_WITHIN.as_secs())
}

/// Demands that each effect happened once, and that the person was told of what nobody could know, and of no more.
fn demand(leg: RunLeg, told: &ScenarioOutcome) -> Result<()> {
    let faults = told.compared.faults();
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    let doubts = told.attended.doubts.len();
    let deaths = usize::from(told.recording.injected) + usize::from(leg != RunLeg::Run);
    ensure!(doubts <= deaths, "{doubts} doubts after {deaths} deaths");
    ensure!(leg != RunLeg::AfterCounter || doubts > 0, "the counter had counted, and nobody was told");
    let asked = told.compared.asked;
    ensure!(
        leg != RunLeg::AfterKeyed || asked > REQUESTS_UNDISTURBED,
        "{asked} requests: nothing was asked again"
    );
    Ok(())
}

fn note(tally: &mut PhaseTally, counts: &mut StoryCounts, target: &KillTarget, told: &ScenarioOutcome) {
    counts.stories += 1;
    counts.requests += told.compared.asked;
    counts.yeses += told.attended.yeses;
    let happened = told.attended.doubts.iter().filter(|(_, happened)| *happened).count();
    counts.happened += happened;
    counts.not_happened += told.attended.doubts.len() - happened;
    let leg = target.leg.to_string();
    let Some(selector) = target.selector.as_ref().filter(|_| told.recording.injected) else {
        return tally.passed_by(&leg, &target.call);
    };
    counts.back.extend(told.back_after);
    let calls = &told.recording.calls;
    tally.hit(&leg, selector.place_in(calls).and_then(|place| calls.get(place)).unwrap_or(&target.call));
}

/// How many calls were recorded, and how many of them were tried.
#[derive(Clone, Copy)]
struct CallCounts {
    recorded: usize,
    tried: usize,
}

fn summarise(report: &mut SuiteReport, tally: &PhaseTally, mut counts: StoryCounts, calls: CallCounts) {
    tally.tell(report);
    counts.back.sort_unstable();
    let at = |share: usize| counts.back.get(counts.back.len() * share / 100).or(counts.back.last());
    let ms = |span: Option<&Duration>| span.map_or(0, Duration::as_millis);
    let seen = format!(
        "serving again after {} ms (median), {} ms (most); {} restarts over 2 s, tried again",
        ms(at(50)),
        ms(counts.back.last()),
        counts.slow
    );
    report.row("kills in all", tally.total(), seen);
    report.row("calls recorded", calls.recorded, format!("{} of them tried", calls.tried));
    let stories = counts.stories;
    let of = |kind| all().iter().filter(|effect| effect.kind == kind).count() * stories;
    let once = "each happened once: 0 duplicates, 0 losses";
    let requests = format!("{once}; {} requests, of which the server dropped replies", counts.requests);
    report.row("keyed effects", of(EffectKind::Keyed), requests);
    report.row("effects on files", of(EffectKind::Probe), once);
    let opaque = format!("{once}; every doubt was reported, and no certain outcome was");
    report.row("opaque effects", of(EffectKind::Opaque), opaque);
    let doubts =
        format!("{} had happened, {} had not and were made anew", counts.happened, counts.not_happened);
    report.row("doubts, each reported as outcome_unknown", counts.happened + counts.not_happened, doubts);
    report.row("answers to approvals", counts.yeses, "");
    if tally.total() == 0 {
        report.failures.push("nothing was injected".to_owned());
    }
}
