//! Jobs of an earlier daemon: each one without a recorded end ended with that daemon, and its effect is in doubt.
//!
//! Owns the entries that say so. Invariant: what a start recorded the next one finds recorded, so that it may break off
//! anywhere and be repeated.

use palyra_background::TickFailure;
use palyra_journal_core::families::effects;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::append_tape::APPEND_ENTRIES_MAX;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{AppendClass, NewEntry};
use palyra_types::Timestamp;
use palyra_types::effect::EffectRecord;
use palyra_types::event::JournalEvent;
use palyra_types::job::{JobEnd, JobEvent};

use crate::error::AdminError;
use crate::parts::AdminPorts;

/// Puts the effects of such jobs in doubt; before a new job starts.
///
/// # Errors
/// [`TickFailure`] when it could not be recorded; the next start does it again.
pub async fn doubt_lost_jobs(ports: &AdminPorts) -> Result<(), TickFailure> {
    if ports.maintain.status().health == JournalHealth::Quarantined {
        return Ok(());
    }
    let lost = record_lost(ports).await.map_err(|error| {
        TickFailure::new(format_args!(
            "jobs ended with an earlier daemon, which could not be recorded: {error}"
        ))
    })?;
    if lost > 0 {
        tracing::warn!(lost, "jobs ended with an earlier daemon: their outcomes are unknown");
    }
    Ok(())
}

async fn record_lost(ports: &AdminPorts) -> Result<usize, AdminError> {
    let limit = RECORD_PAGE_ROWS_MAX.min(APPEND_ENTRIES_MAX);
    let mut query = EffectQuery { only: EffectFilter::OpenJobs, limit, ..EffectQuery::default() };
    let mut lost = 0;
    loop {
        let of_page = query.clone();
        let page = ports.families.query(move |rows, _| effects::records(rows, &of_page)).await?;
        query.before = page.last().map(|record| record.started_at.1);
        if page.is_empty() {
            return Ok(lost);
        }
        lost += page.len();
        let entries = page.iter().map(|record| ended(ports.clock.wall(), record)).collect();
        ports.recorder.record(entries, AppendClass::Ending, Vec::new()).await?;
    }
}

fn ended(time: Timestamp, record: &EffectRecord) -> NewEntry {
    let run = record.run;
    let effect = record.effect;
    NewEntry {
        time,
        principal: record.principal,
        session: Some(record.session),
        run: None,
        event: JournalEvent::Job(JobEvent::Ended { run, effect, end: JobEnd::Lost }),
    }
}
