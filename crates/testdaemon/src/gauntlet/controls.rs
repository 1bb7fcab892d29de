//! Stories in which something is wrong on purpose: what the suite looks for must be found in each.

use anyhow::{Context, Result, ensure};

use super::ground::Ground;
use super::legs::Leg;
use super::story::{Cast, Told, tell};
use crate::person::Person;
use crate::report::Report;
use crate::strace::{FILE_SYNC, Fault, Selector, Tracer};
use crate::tools::Flaw;

/// Tells the stories; what is not found is a failure of the report.
///
/// # Errors
/// When a story cannot be told.
pub(super) async fn controls(ground: &Ground, report: &mut Report) -> Result<()> {
    let repeats = Cast { flaw: Some(Flaw::ActRepeats), ..Cast::of(Leg::Run) };
    let told = killed(ground, repeats, FILE_SYNC).await.context("control: the counter may be repeated")?;
    let what = "control: the counter declares that it can be repeated, killed after it counted";
    expect(report, what, &told.compared.duplicates);

    let credulous = Cast { person: Person::Credulous, ..Cast::of(Leg::Run) };
    let told = killed(ground, credulous, "write").await.context("control: nobody looks")?;
    let what = "control: a person says that it happened without looking, killed before it counted";
    expect(report, what, &told.compared.losses);

    let new_keys = Cast { flaw: Some(Flaw::NewKeys), ..Cast::of(Leg::Run) };
    let log = ground.path("control.log");
    let told = tell(ground, new_keys, &Tracer::recording(&log), &log).await;
    let told = told.context("control: each request has a key of its own")?;
    expect(report, "control: each request has a key of its own, nobody is killed", &told.compared.duplicates);
    Ok(())
}

/// Tells a story in which the daemon is killed at a call of the counter's first line.
async fn killed(ground: &Ground, cast: Cast, kind: &str) -> Result<Told> {
    let log = ground.path("control.log");
    let path = Some(ground.counter().display().to_string());
    let selector = Selector { kind: kind.to_owned(), path, when: 1 };
    let told = tell(ground, cast, &Tracer::injecting(&log, selector, Fault::Kill), &log).await?;
    ensure!(told.recording.injected, "nobody was killed");
    Ok(told)
}

fn expect(report: &mut Report, what: &str, found: &[String]) {
    if found.is_empty() {
        report.failures.push(format!("{what}: nothing was found, so the suite proves nothing"));
    }
    report.row(what, 1, format!("found: {}", found.join("; ")));
}
