//! A reader keeps a snapshot of the journal while much is written, then lets it go: the file of the write-ahead log stays large.

use std::fs;

use anyhow::{Context, Result, ensure};
use futures::stream::{self, StreamExt, TryStreamExt};
use palyra_model_server::{Behaviour, Reply};
use palyra_wire::v1::{HealingDomain, IncidentCause, RemedyKind};
use rusqlite::{Connection, OpenFlags};

use super::stuck_daemon::{StuckDaemon, StuckOptions};
use super::three_modes::{ExpectedIncident, OutsideFault, in_each_mode};

const DATABASE: &str = "state/journal.db";
const LOG: &str = "state/journal.db-wal";
/// From here on the log is too large.
const LOG_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one input, and inputs that are more than fill the log.
const INPUT_BYTES: usize = 500_000;
const INPUTS: usize = 200;

/// A write-ahead log that stays too large.
struct LargeLog(StuckDaemon);

impl OutsideFault for LargeLog {
    const EXPECTED: ExpectedIncident = ExpectedIncident {
        domain: HealingDomain::Journal,
        cause: IncidentCause::WalTooLarge,
        planned: RemedyKind::TruncateWal,
        helps: RemedyKind::TruncateWal,
    };

    async fn make() -> Result<Self> {
        let model = Behaviour::always(Reply::text("yes"));
        let daemon = StuckDaemon::start(model, StuckOptions::default(), HealingDomain::Journal).await?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let reader = Connection::open_with_flags(daemon.home.path(DATABASE), flags)?;
        reader.execute_batch("BEGIN; SELECT count(*) FROM projections;")?;
        let inputs = (0..INPUTS).map(|number| {
            let daemon = &daemon;
            async move {
                if log_bytes(daemon)? <= LOG_BYTES_MAX {
                    daemon.start_run(&format!("large-{number}"), &incompressible(number)).await?;
                }
                anyhow::Ok(())
            }
        });
        stream::iter(inputs).buffer_unordered(8).try_collect::<Vec<()>>().await?;
        ensure!(log_bytes(&daemon)? > LOG_BYTES_MAX, "the log has {} bytes", log_bytes(&daemon)?);
        reader.execute_batch("COMMIT")?;
        Ok(Self(daemon))
    }

    fn daemon(&self) -> &StuckDaemon {
        &self.0
    }

    async fn is_broken(&self) -> Result<bool> {
        Ok(log_bytes(&self.0)? > LOG_BYTES_MAX)
    }

    async fn stop(self) -> Result<()> {
        self.0.stop().await
    }
}

fn log_bytes(daemon: &StuckDaemon) -> Result<u64> {
    Ok(fs::metadata(daemon.home.path(LOG)).context("the write-ahead log")?.len())
}

/// Returns a text that does not become smaller: hexadecimal digits of a generator (`xorshift`).
fn incompressible(number: usize) -> String {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ (number as u64 + 1);
    let mut text = String::with_capacity(INPUT_BYTES);
    while text.len() < INPUT_BYTES - 16 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{state:016x}"));
    }
    text
}

#[tokio::test]
async fn a_write_ahead_log_that_a_reader_kept_is_cut_back_in_auto_only() -> Result<()> {
    in_each_mode::<LargeLog>().await
}
