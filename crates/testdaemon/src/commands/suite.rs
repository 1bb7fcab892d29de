//! The suite: kill the daemon while each program is at each of its places, then at its writes of the journal in turn.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::programs::{ALL, STEPS};
use super::scenario::{ScenarioContext, ScenarioOptions, ScenarioOutcome};
use crate::crash::CrashOptions;
use crate::person::ActorKind;
use crate::report::{FAILURES_MAX, SuiteReport};
use crate::strace::{CallRecording, InjectedFault, Selector, StraceTracer, SystemCall, is_there};
use crate::test_home::SERVING_WITHIN;

/// Too slow restarts of one fault, after which it is the daemon that is slow.
const TRIES_MAX: usize = 3;
/// Programs of one story, the job among them.
const PROGRAMS: usize = ALL.len();

/// Where the daemon is killed.
#[derive(Debug)]
enum KillTarget {
    /// While a program is there.
    AtProgram(String),
    /// At a write or sync of the journal.
    Call(Selector),
}

/// What was counted over all stories.
#[derive(Debug, Default)]
struct StoryCounts {
    stories: usize,
    at_places: usize,
    at_calls: usize,
    passed_by: usize,
    processes: usize,
    yeses: usize,
    happened: usize,
    again: usize,
    jobs_in_doubt: usize,
    slow: usize,
    gone: Vec<Duration>,
    back: Vec<Duration>,
}

/// Kills the daemon at every place of its programs, and at the writes of its journal that the options name.
///
/// # Errors
/// When an undisturbed daemon does not do its part; what a fault leads to is in the report.
pub async fn suite(daemon: &Path, options: CrashOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    is_there().await?;
    let CrashOptions { every, offset } = options;
    let mut report = SuiteReport::new("commands", format!("every {every} from {}", offset % every));
    let began = Instant::now();
    progress("preparing");
    let stage = ScenarioContext::prepare(daemon).await?;
    let recorded = record(&stage).await;
    let recording =
        recorded.with_context(|| format!("undisturbed, kept in {}", stage.keep("commands").display()))?;
    let calls = targets(&recording);
    progress(&format!("{} calls, {} of them write the journal", recording.calls.len(), calls.len()));
    ensure!(!calls.is_empty(), "no call writes the journal");
    let recorded = calls.len();
    let places = ALL
        .iter()
        .flat_map(|name| STEPS.iter().map(move |step| KillTarget::AtProgram(format!("{name} {step}"))));
    let chosen = calls.into_iter().enumerate().filter(|(number, _)| number % every == offset % every);
    let chosen: Vec<_> = places.chain(chosen.map(|(_, call)| KillTarget::Call(call))).collect();
    let mut counts = StoryCounts::default();
    for (number, target) in chosen.iter().enumerate() {
        match disturb(&stage, target, &mut counts).await {
            Ok(told) => counts.note(target, &told),
            Err(error) => {
                let kept = stage.keep(&format!("commands-{number}"));
                let failure = format!("{target:?}: {error:#}; kept in {}", kept.display());
                progress(&failure);
                report.failures.push(failure);
                if report.failures.len() == FAILURES_MAX {
                    break;
                }
            }
        }
    }
    progress("controls");
    controls(&stage, &mut report).await?;
    counts.tell(&mut report, recorded);
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

/// Records an undisturbed run.
async fn record(stage: &ScenarioContext) -> Result<CallRecording> {
    let log = stage.path("recording.log");
    let tracer = StraceTracer::recording(&log);
    let told = stage
        .tell(ScenarioOptions {
            place: None,
            tracer: Some((&tracer, log.as_path())),
            person: ActorKind::Careful,
        })
        .await?;
    demand(&told)?;
    Ok(told.recording)
}

/// Returns what selects each call that writes the journal. Its file is named, for programs write as well.
fn targets(recording: &CallRecording) -> Vec<Selector> {
    let calls = &recording.calls;
    let journals =
        |call: &&SystemCall| call.path.as_ref().is_some_and(|path| path.ends_with("/journal.db-wal"));
    let selector = |(place, call): (usize, &SystemCall)| {
        let alike = |other: &&SystemCall| {
            (&other.kind, &other.path, other.thread) == (&call.kind, &call.path, call.thread)
        };
        let when = calls[..=place].iter().filter(alike).count();
        let selector = Selector { kind: call.kind.clone(), path: call.path.clone(), when };
        (selector.place_in(calls) == Some(place)).then_some(selector)
    };
    calls.iter().enumerate().filter(|(_, call)| journals(call)).filter_map(selector).collect()
}

/// Kills; a restart that took too long is tried again, for the machine may have been busy otherwise.
async fn disturb(
    stage: &ScenarioContext,
    target: &KillTarget,
    counts: &mut StoryCounts,
) -> Result<ScenarioOutcome> {
    let log = stage.path("fault.log");
    for _ in 0..TRIES_MAX {
        let undisturbed = ScenarioOptions { place: None, tracer: None, person: ActorKind::Careful };
        let told = match target {
            KillTarget::AtProgram(place) => {
                stage.tell(ScenarioOptions { place: Some(place.as_str()), ..undisturbed }).await?
            }
            KillTarget::Call(selector) => {
                let tracer = StraceTracer::injecting(&log, selector.clone(), InjectedFault::Kill);
                stage.tell(ScenarioOptions { tracer: Some((&tracer, log.as_path())), ..undisturbed }).await?
            }
        };
        demand(&told)?;
        if told.back_after.is_none_or(|took| took <= SERVING_WITHIN) {
            return Ok(told);
        }
        counts.slow += 1;
    }
    bail!("serving again took longer than {} s, {TRIES_MAX} times", SERVING_WITHIN.as_secs())
}

/// Demands that no program ran twice and none is missing, and that a person was told of no more than nobody could know.
fn demand(told: &ScenarioOutcome) -> Result<()> {
    let faults = told.compared.faults();
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    let (doubts, deaths) = (told.attended.doubts.len(), usize::from(told.gone_after.is_some()));
    ensure!(doubts <= deaths, "{doubts} doubts after {deaths} deaths");
    Ok(())
}

/// Tells stories in which a person does not look; what that leads to must be found.
async fn controls(stage: &ScenarioContext, report: &mut SuiteReport) -> Result<()> {
    let [began, counted, _] = STEPS.map(|step| format!("{} {step}", ALL[0]));
    for (place, person, what) in [
        (
            &counted,
            ActorKind::Hasty,
            "control: a person wants it again without looking, killed after it counted",
        ),
        (
            &began,
            ActorKind::Credulous,
            "control: a person says that it happened without looking, killed before it counted",
        ),
    ] {
        let told = stage.tell(ScenarioOptions { place: Some(place.as_str()), tracer: None, person }).await;
        let told = told.with_context(|| what.to_owned())?;
        let found =
            if person == ActorKind::Hasty { &told.compared.duplicates } else { &told.compared.losses };
        if found.is_empty() {
            report.failures.push(format!("{what}: nothing was found, so the suite proves nothing"));
        }
        report.row(what, 1, format!("found: {}", found.join("; ")));
    }
    Ok(())
}

impl StoryCounts {
    fn note(&mut self, target: &KillTarget, told: &ScenarioOutcome) {
        self.stories += 1;
        self.processes += told.processes;
        self.yeses += told.attended.yeses;
        let happened = told.attended.doubts.iter().filter(|(_, happened)| *happened).count();
        self.happened += happened;
        self.again += told.attended.doubts.len() - happened;
        self.jobs_in_doubt += told.jobs_in_doubt;
        self.gone.extend(told.gone_after);
        self.back.extend(told.back_after);
        match target {
            KillTarget::AtProgram(_) => self.at_places += 1,
            KillTarget::Call(_) if told.gone_after.is_some() => self.at_calls += 1,
            KillTarget::Call(_) => self.passed_by += 1,
        }
    }

    fn tell(mut self, report: &mut SuiteReport, recorded: usize) {
        let missed = format!("{} more not made this time; {recorded} recorded", self.passed_by);
        report.row("killed while a program is at a place", self.at_places, "each of them");
        report.row("killed at a write of the journal", self.at_calls, missed);
        let once = "each ran once: 0 duplicates, 0 losses";
        report.row("programs", self.stories * PROGRAMS, once);
        self.gone.sort_unstable();
        let gone = self.gone.last().map_or(0, Duration::as_millis);
        report.row(
            "processes at those places",
            self.processes,
            format!("none is left; the last after {gone} ms"),
        );
        let doubts = format!("{} had happened, {} had not and were made anew", self.happened, self.again);
        report.row("doubts, each reported as outcome_unknown", self.happened + self.again, doubts);
        report.row("jobs that died with their daemon", self.jobs_in_doubt, "each listed as in doubt");
        report.row("answers to approvals", self.yeses, "");
        self.back.sort_unstable();
        let at = |place: usize| self.back.get(place).map_or(0, Duration::as_millis);
        let (median, most) = (at(self.back.len() / 2), at(self.back.len().saturating_sub(1)));
        let slow = self.slow;
        let seen =
            format!("{median} ms (median), {most} ms (most) until it serves; {slow} over 2 s, tried again");
        report.row("kills in all", self.at_places + self.at_calls, seen);
        if self.at_places == 0 || self.at_calls == 0 {
            report.failures.push("nothing was injected".to_owned());
        }
    }
}
