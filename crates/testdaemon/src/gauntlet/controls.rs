//! Stories in which something is wrong on purpose: what the suite looks for must be found in each.

use anyhow::{Context, Result, ensure};

use super::context::GauntletContext;
use super::legs::RunLeg;
use super::scenario::{ScenarioOptions, ScenarioOutcome, tell};
use crate::person::ActorKind;
use crate::report::SuiteReport;
use crate::strace::{FILE_SYNC, InjectedFault, Selector, StraceTracer};
use crate::tools::ToolFlaw;

/// Tells the stories; what is not found is a failure of the report.
///
/// # Errors
/// When a story cannot be told.
pub(super) async fn controls(context: &GauntletContext, report: &mut SuiteReport) -> Result<()> {
    let repeats = ScenarioOptions { flaw: Some(ToolFlaw::ActRepeats), ..ScenarioOptions::of(RunLeg::Run) };
    let told = killed(context, repeats, FILE_SYNC).await.context("control: the counter may be repeated")?;
    let what = "control: the counter declares that it can be repeated, killed after it counted";
    expect(report, what, &told.compared.duplicates);

    let credulous = ScenarioOptions { person: ActorKind::Credulous, ..ScenarioOptions::of(RunLeg::Run) };
    let told = killed(context, credulous, "write").await.context("control: nobody looks")?;
    let what = "control: a person says that it happened without looking, killed before it counted";
    expect(report, what, &told.compared.losses);

    let new_keys = ScenarioOptions { flaw: Some(ToolFlaw::NewKeys), ..ScenarioOptions::of(RunLeg::Run) };
    let log = context.path("control.log");
    let told = tell(context, new_keys, &StraceTracer::recording(&log), &log).await;
    let told = told.context("control: each request has a key of its own")?;
    expect(report, "control: each request has a key of its own, nobody is killed", &told.compared.duplicates);
    Ok(())
}

/// Tells a story in which the daemon is killed at a call of the counter's first line.
async fn killed(context: &GauntletContext, cast: ScenarioOptions, kind: &str) -> Result<ScenarioOutcome> {
    let log = context.path("control.log");
    let path = Some(context.counter().display().to_string());
    let selector = Selector { kind: kind.to_owned(), path, when: 1 };
    let told =
        tell(context, cast, &StraceTracer::injecting(&log, selector, InjectedFault::Kill), &log).await?;
    ensure!(told.recording.injected, "nobody was killed");
    Ok(told)
}

fn expect(report: &mut SuiteReport, what: &str, found: &[String]) {
    if found.is_empty() {
        report.failures.push(format!("{what}: nothing was found, so the suite proves nothing"));
    }
    report.row(what, 1, format!("found: {}", found.join("; ")));
}
