//! One run with its twenty effects, disturbed or not, and everything that must hold afterwards.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::ground::Ground;
use super::ledgers::{Compared, compare, counted, errand};
use super::legs::Leg;
use crate::house::Started;
use crate::life::Life;
use crate::person::{Attended, Person, attend};
use crate::strace::{Recording, Tracer};
use crate::tools::Flaw;
use crate::verdict;

/// No story takes longer, or it waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(120);
/// What is different from story to story.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cast {
    pub(super) leg: Leg,
    pub(super) person: Person,
    pub(super) flaw: Option<Flaw>,
}

impl Cast {
    /// Nothing is wrong on purpose.
    pub(super) fn of(leg: Leg) -> Self {
        Self { leg, person: Person::Careful, flaw: None }
    }
}

/// A story as it went.
#[derive(Debug)]
pub(super) struct Told {
    /// The calls that were made until the fault, and whether there was one.
    pub(super) recording: Recording,
    /// How long it took until another daemon answered, if one died.
    pub(super) back_after: Option<Duration>,
    pub(super) attended: Attended,
    pub(super) compared: Compared,
}

/// Lets a run do its twenty effects under a tracer, which writes to `log`.
///
/// # Errors
/// What does not hold, but for what the ledgers say: that is in the answer.
pub(super) async fn tell(ground: &Ground, cast: Cast, tracer: &Tracer, log: &Path) -> Result<Told> {
    let told = tokio::time::timeout(PATIENCE, live(ground, cast, tracer, log)).await;
    told.context("something that must happen does not")?
}

async fn live(ground: &Ground, cast: Cast, tracer: &Tracer, log: &Path) -> Result<Told> {
    let (house, _server, mut programs) = ground.begin(cast.leg)?;
    programs.setting.flaw = cast.flaw;
    let (mut life, serving) = Life::in_house(&house, &programs);
    let (daemon, attached) = match cast.leg {
        Leg::Run => {
            let (daemon, _, _) = house.serve(&programs).await?;
            let attached = tracer.attach(daemon.pid).await?;
            (daemon, Some(attached))
        }
        Leg::AfterKeyed | Leg::AfterCounter | Leg::AfterStaging => {
            match house.start(&programs, &tracer.words()).await? {
                Started::Serving(daemon) => (daemon, None),
                Started::Killed => (life.again().await?, None),
                Started::Refused(line) => bail!("the daemon does not start: {}", line.trim()),
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
    Ok(Told { recording: Recording::read(log)?, back_after: life.back_after, attended, compared })
}
