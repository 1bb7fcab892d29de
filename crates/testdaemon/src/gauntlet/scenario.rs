//! One run with its twenty effects, disturbed or not, and everything that must hold afterwards.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::context::GauntletContext;
use super::ledgers::{LedgerDifferences, compare, counted, errand};
use super::legs::RunLeg;
use crate::daemon_restarts::DaemonRestarts;
use crate::person::{ActorKind, AttendedRun, attend};
use crate::strace::{CallRecording, StraceTracer};
use crate::test_home::StartOutcome;
use crate::tools::ToolFlaw;
use crate::verdict;

/// No story takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(120);
/// What is different from story to story.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScenarioOptions {
    pub(super) leg: RunLeg,
    pub(super) person: ActorKind,
    pub(super) flaw: Option<ToolFlaw>,
}

impl ScenarioOptions {
    /// Nothing is wrong on purpose.
    pub(super) fn of(leg: RunLeg) -> Self {
        Self { leg, person: ActorKind::Careful, flaw: None }
    }
}

/// A story as it went.
#[derive(Debug)]
pub(super) struct ScenarioOutcome {
    /// The calls that were made until the fault, and whether there was one.
    pub(super) recording: CallRecording,
    /// How long it took until another daemon answered, if one died.
    pub(super) back_after: Option<Duration>,
    pub(super) attended: AttendedRun,
    pub(super) compared: LedgerDifferences,
}

/// Lets a run do its twenty effects under a tracer, which writes to `log`.
///
/// # Errors
/// What does not hold, but for what the ledgers say: that is in the answer.
pub(super) async fn tell(
    context: &GauntletContext,
    cast: ScenarioOptions,
    tracer: &StraceTracer,
    log: &Path,
) -> Result<ScenarioOutcome> {
    let told = tokio::time::timeout(PATIENCE, live(context, cast, tracer, log)).await;
    told.context("something that must happen does not")?
}

async fn live(
    context: &GauntletContext,
    cast: ScenarioOptions,
    tracer: &StraceTracer,
    log: &Path,
) -> Result<ScenarioOutcome> {
    let (house, _server, mut programs) = context.begin(cast.leg)?;
    programs.setting.flaw = cast.flaw;
    let (mut life, serving) = DaemonRestarts::in_house(&house, &programs);
    let (daemon, attached) = match cast.leg {
        RunLeg::Run => {
            let (daemon, _, _) = house.serve(&programs).await?;
            let attached = tracer.attach(daemon.pid).await?;
            (daemon, Some(attached))
        }
        RunLeg::AfterKeyed | RunLeg::AfterCounter | RunLeg::AfterStaging => {
            match house.start(&programs, &tracer.words()).await? {
                StartOutcome::Serving(daemon) => (daemon, None),
                StartOutcome::Killed => (life.again().await?, None),
                StartOutcome::Refused(line) => bail!("the daemon does not start: {}", line.trim()),
            }
        }
    };
    life.tell();
    let counted = counted(&house);
    let work = attend(&house, serving, errand(cast.person, &counted));
    let (attended, daemon) = life.through_one_death(daemon, work).await?;
    let client = house.client().await.context("could not connect at the end")?;
    verdict::check_attended(&client, &attended).await?;
    daemon.kill().await?;
    if let Some(attached) = attached {
        attached.ended().await?;
    }
    let compared = compare(&house, attended.run, &attended.seen)?;
    Ok(ScenarioOutcome {
        recording: CallRecording::read(log)?,
        back_after: life.back_after,
        attended,
        compared,
    })
}
