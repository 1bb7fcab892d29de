//! A row of a derived table is changed while no daemon runs.

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use palyra_model_server::{Behaviour, Reply};
use palyra_testdaemon::test_home::TestHome;
use palyra_wire::v1::{HealingDomain, HealingMode, IncidentCause, RemedyKind};
use rusqlite::{Connection, OpenFlags};

use super::stuck_daemon::{StuckDaemon, StuckOptions};
use super::three_modes::{ExpectedIncident, OutsideFault, in_each_mode};

/// A start compares the tables of a log of up to 2,048 entries, and mends them without an incident.
const ENTRIES: usize = 2_100;
const DATABASE: &str = "state/journal.db";
/// The family of runs: the row of a run that has ended goes.
const DELETE_ROW: &str = "DELETE FROM f_run";
const COUNT_ROWS: &str = "SELECT count(*) FROM f_run";

/// A derived table that differs from the log.
struct CorruptedProjection(StuckDaemon);

impl OutsideFault for CorruptedProjection {
    const EXPECTED: ExpectedIncident = ExpectedIncident {
        domain: HealingDomain::Journal,
        cause: IncidentCause::ProjectionDiffers,
        planned: RemedyKind::RebuildProjections,
        helps: RemedyKind::RebuildProjections,
    };

    async fn make() -> Result<Self> {
        let model = Behaviour::always(Reply::text("yes"));
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Journal).await?;
        daemon.start_run("one", "Are you there?").await?;
        let modes = (0..ENTRIES).map(|_| daemon.set_mode(HealingDomain::Browser, HealingMode::ObserveOnly));
        stream::iter(modes).buffer_unordered(64).try_collect::<Vec<()>>().await?;
        Ok(Self(daemon.restarted(corrupt).await?))
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.0
    }

    async fn is_broken(&self) -> Result<bool> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(self.0.home.path(DATABASE), flags)?;
        let rows: i64 = connection.query_row(COUNT_ROWS, [], |row| row.get(0))?;
        Ok(rows == 0)
    }

    async fn stop(self) -> Result<()> {
        self.0.stop().await
    }
}

fn corrupt(home: &TestHome) -> Result<()> {
    let connection = Connection::open(home.path(DATABASE)).context("the journal")?;
    let changed = connection.execute(DELETE_ROW, [])?;
    ensure!(changed > 0, "there is no run");
    Ok(())
}

#[tokio::test]
async fn a_derived_row_that_is_gone_is_folded_again_in_auto_only() -> Result<()> {
    in_each_mode::<CorruptedProjection>().await
}
