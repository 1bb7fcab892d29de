//! Stories in which something is wrong on purpose: the suite has to find it in each.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

use super::context::ScheduleContext;
use super::differences::{StoryDifferences, compare};
use super::legs::ScheduleLeg;
use super::program::{COUNTED, FORGETS};
use super::scenario::{ScenarioOptions, carry_out};
use super::story_client::{PausePatience, make_schedules, until_settled};
use super::webhook::HOOKED;
use crate::daemon_restarts::DaemonRestarts;
use crate::report::SuiteReport;
use crate::test_home::TestHome;

/// Time until the schedules are due in a control: the state directory is copied before that.
const DUE_AFTER: Duration = Duration::from_secs(3);

/// Carries the controls out; a mistake that is not found is a failure of the report.
///
/// # Errors
/// When a story cannot be carried out.
pub(super) async fn controls(context: &ScheduleContext, report: &mut SuiteReport) -> Result<()> {
    let lost = lost_commits(context).await.context("control: commits are lost")?;
    let what = "control: the daemon acknowledged and sent, and a kill takes those commits back";
    expect(report, what, &lost.duplicates);

    let forgets = ScenarioOptions { mistake: Some(FORGETS), ..ScenarioOptions::of(ScheduleLeg::Due) };
    let carried = carry_out(context, forgets).await.context("control: the program forgets")?;
    let what = "control: the program takes the message and does not count it, no daemon is killed";
    expect(report, what, &carried.differences.losses);
    Ok(())
}

/// Lets everything happen, kills the daemon, and gives the next one the files from before anything was due, as if a
/// daemon had acknowledged before its commits were there. The ledgers outside of it keep what they have.
async fn lost_commits(context: &ScheduleContext) -> Result<StoryDifferences> {
    let house = context.begin(ScheduleLeg::Due)?;
    let (mut life, serving) = DaemonRestarts::in_house(&house, &context.programs);
    let (daemon, _, _) = house.serve(&context.programs).await?;
    life.tell();
    make_schedules(&house, serving.clone(), DUE_AFTER).await?;
    let before = TestHome::copy_of(&house, &context.path("before"))?;
    until_settled(&house, serving.clone(), PausePatience::Waits).await?;
    daemon.kill().await?;
    for ledger in [COUNTED, HOOKED] {
        fs::copy(house.path(ledger), before.path(ledger)).context("could not keep a ledger")?;
    }
    let house = TestHome::copy_of(&before, &context.path("house"))?;
    let daemon = life.again().await?;
    let facts = until_settled(&house, serving, PausePatience::Waits).await?.with_ledgers(&house)?;
    daemon.stop().await?;
    Ok(compare(&facts, 1))
}

fn expect(report: &mut SuiteReport, what: &str, found: &[String]) {
    if found.is_empty() {
        report.failures.push(format!("{what}: nothing was found, so the suite proves nothing"));
    }
    report.row(what, 1, format!("found: {}", found.join("; ")));
}
