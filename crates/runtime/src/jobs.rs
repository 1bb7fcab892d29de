//! Jobs of a daemon that is gone: each one whose end nobody recorded ended with it, and its effect is in doubt.
//!
//! Owns the entries that say so. Invariant: what a start recorded the next one finds recorded, so that it may break off
//! anywhere and be repeated.

use palyra_ports::append_tape::APPEND_ENTRIES_MAX;
use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{AppendClass, JournalAppendRequest, NewEntry};
use palyra_types::effect::EffectRecord;
use palyra_types::event::JournalEvent;
use palyra_types::job::{JobEnd, JobEvent};

use crate::error::RequestError;
use crate::parts::RuntimePorts;

/// Puts in doubt what jobs of an earlier daemon came to; before anything starts a job of its own.
pub(crate) async fn doubt_lost(ports: &RuntimePorts) {
    if ports.maintain.status().health == JournalHealth::Quarantined {
        return;
    }
    match record_lost(ports).await {
        Ok(0) => {}
        Ok(lost) => tracing::warn!(lost, "jobs ended with an earlier daemon: their outcomes are unknown"),
        Err(error) => {
            tracing::error!(%error, "jobs ended with an earlier daemon, which could not be recorded");
        }
    }
}

async fn record_lost(ports: &RuntimePorts) -> Result<usize, RequestError> {
    let limit = RECORD_PAGE_ROWS_MAX.min(APPEND_ENTRIES_MAX);
    let mut query = EffectQuery { only: EffectFilter::OpenJobs, limit, ..EffectQuery::default() };
    let mut lost = 0;
    loop {
        let page = ports.approvals.effects(query.clone()).await?;
        query.before = page.last().map(|record| record.started_at.1);
        if page.is_empty() {
            return Ok(lost);
        }
        lost += page.len();
        let entries = page.iter().map(|record| ended(ports, record)).collect();
        let class = AppendClass::Ending;
        ports
            .append
            .append(JournalAppendRequest { entries, class, ..JournalAppendRequest::default() })
            .await?;
    }
}

fn ended(ports: &RuntimePorts, record: &EffectRecord) -> NewEntry {
    let (run, effect) = (record.run, record.effect);
    NewEntry {
        time: ports.clock.wall(),
        principal: record.principal,
        session: Some(record.session),
        run: None,
        event: JournalEvent::Job(JobEvent::Ended { run, effect, end: JobEnd::Lost }),
    }
}
