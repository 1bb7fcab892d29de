//! One story, disturbed or not: two schedules are made, become due, and all that follows ends.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use palyra_client::Client;
use palyra_types::RunId;
use palyra_wire::v1::RunState;
use palyra_wire::v1::tape_entry::Event;

use super::context::ScheduleContext;
use super::differences::{StoryDifferences, compare};
use super::facts::StoryFacts;
use super::legs::ScheduleLeg;
use super::place::KillPlace;
use super::program::ProgramSteps;
use super::story_client::{DUE_AFTER, PausePatience, make_schedules, until_settled};
use crate::daemon_restarts::DaemonRestarts;
use crate::strace::{AttachedTracer, CallRecording, StraceTracer};
use crate::test_home::{DaemonChild, StartOutcome, TestHome};
use crate::verdict;

/// No story takes longer, or it waits for something that never happens.
const PATIENCE: Duration = Duration::from_secs(120);

/// What is different from story to story.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScenarioOptions<'a> {
    pub(super) leg: ScheduleLeg,
    /// The place at which the daemon is killed, if it is killed there.
    pub(super) place: Option<KillPlace>,
    /// What follows the daemon, and the file it writes.
    pub(super) tracer: Option<(&'a StraceTracer, &'a Path)>,
    /// A file of the house that exists before the story.
    pub(super) mistake: Option<&'static str>,
}

impl ScenarioOptions<'_> {
    /// Nothing disturbs the story.
    pub(super) fn of(leg: ScheduleLeg) -> Self {
        Self { leg, place: None, tracer: None, mistake: None }
    }
}

/// A story as it went.
#[derive(Debug)]
pub(super) struct ScenarioOutcome {
    /// The calls that were made until the fault, where a tracer followed the daemon.
    pub(super) recording: CallRecording,
    /// How long it took until another daemon answered, if one was killed.
    pub(super) back_after: Option<Duration>,
    pub(super) facts: StoryFacts,
    pub(super) differences: StoryDifferences,
}

/// Carries a story out.
///
/// # Errors
/// What does not hold, but for the differences: they are in the outcome.
pub(super) async fn carry_out(
    context: &ScheduleContext,
    options: ScenarioOptions<'_>,
) -> Result<ScenarioOutcome> {
    let carried = tokio::time::timeout(PATIENCE, live(context, options)).await;
    carried.context("something that must happen does not")?
}

async fn live(context: &ScheduleContext, options: ScenarioOptions<'_>) -> Result<ScenarioOutcome> {
    let house = context.begin(options.leg)?;
    if let Some(mistake) = options.mistake {
        std::fs::write(house.path(mistake), "").context("could not make a mistake")?;
    }
    let mut steps = match options.place.and_then(KillPlace::step) {
        Some(_) => Some(ProgramSteps::begin(&house)?),
        None => None,
    };
    context.watch.set(options.place);
    let (mut life, serving) = DaemonRestarts::in_house(&house, &context.programs);
    let (mut daemon, attached) = start(context, &house, options, &mut life).await?;
    life.tell();
    let work = async {
        if options.leg == ScheduleLeg::Due {
            make_schedules(&house, serving.clone(), DUE_AFTER).await?;
        }
        // At one place the pause is part of the story; everywhere else it would be most of its time.
        let pauses = match options.place {
            Some(KillPlace::WebhookTaken) => PausePatience::Waits,
            _ => PausePatience::Hurries,
        };
        until_settled(&house, serving, pauses).await
    };
    tokio::pin!(work);
    let mut place = options.place;
    let facts = loop {
        tokio::select! {
            done = &mut work => break done?,
            reached = reach(context, steps.as_mut()), if place.is_some() => {
                reached?;
                place = None;
                daemon.strike();
            }
            ended = daemon.ended() => {
                ended?;
                ensure!(life.back_after.is_none(), "the daemon died once more by itself");
                if let Some(steps) = &mut steps {
                    steps.let_go().await?;
                }
                daemon = life.again().await?;
            }
        }
    };
    if let Some(place) = place {
        bail!("a place was not reached: {place}");
    }
    let client = house.client().await.context("could not connect at the end")?;
    check_journal(&client, &facts).await?;
    drop(client);
    daemon.stop().await?;
    if let Some(attached) = attached {
        attached.ended().await?;
    }
    let facts = facts.with_ledgers(&house)?;
    let deaths = usize::from(life.back_after.is_some()) + options.leg.deaths_before();
    let differences = compare(&facts, deaths);
    let recording = match options.tracer {
        Some((_, log)) => CallRecording::read(log)?,
        None => CallRecording::default(),
    };
    Ok(ScenarioOutcome { recording, back_after: life.back_after, facts, differences })
}

/// Starts the daemon of a leg under its tracer; where it is killed before it serves, the next one.
async fn start(
    context: &ScheduleContext,
    house: &TestHome,
    options: ScenarioOptions<'_>,
    life: &mut DaemonRestarts<'_>,
) -> Result<(DaemonChild, Option<AttachedTracer>)> {
    let tracer = options.tracer.map(|(tracer, _)| tracer);
    match options.leg {
        ScheduleLeg::Due => {
            let (daemon, _, _) = house.serve(&context.programs).await?;
            let attached = match tracer {
                Some(tracer) => Some(tracer.attach(daemon.pid).await?),
                None => None,
            };
            Ok((daemon, attached))
        }
        ScheduleLeg::AfterOccurrence | ScheduleLeg::AfterSending => {
            let words = tracer.map(StraceTracer::words).unwrap_or_default();
            match house.start(&context.programs, &words).await? {
                StartOutcome::Serving(daemon) => Ok((daemon, None)),
                StartOutcome::Killed => Ok((life.again().await?, None)),
                StartOutcome::Refused(line) => bail!("the daemon does not start: {}", line.trim()),
            }
        }
    }
}

/// Resolves when the place that is waited for is reached.
async fn reach(context: &ScheduleContext, steps: Option<&mut ProgramSteps>) -> Result<()> {
    match steps {
        Some(steps) => steps.conduct(&context.watch).await,
        None => {
            context.watch.reached().await;
            Ok(())
        }
    }
}

/// Demands that the journal verifies, and that each run has a whole tape which ends well.
async fn check_journal(client: &Client, facts: &StoryFacts) -> Result<()> {
    verdict::verify(client).await?;
    for run in &facts.runs {
        let run: RunId = run.parse().ok().context("the id of a run")?;
        let tape = verdict::tape(client, run).await?;
        verdict::check_dense(&tape)?;
        match tape.last().and_then(|entry| entry.event.as_ref()) {
            Some(Event::RunFinished(end)) if end.state() == RunState::Done => {}
            other => bail!("the run had to end done and ends with {other:?}"),
        }
    }
    Ok(())
}
