//! Notes the ends of items of memory: one timer for the earliest of them.
//!
//! An item is left out from its end on, whether that is noted or not; the note takes it out of lists that are read for each
//! run. Owns no list: the next items are those of the journal, so a restart changes nothing. Begin at [`MemoryExpiry`].

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_journal_core::families::memories::{self, ExpiringMemory};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendClass, NewEntry};
use palyra_types::memory::{ForgetCause, MemoryEvent};

use super::memory_search::MemorySearch;
use crate::parts::MemoryPorts;

/// Items whose ends one append notes, at most.
const BATCH_MAX: usize = 64;
/// The longest sleep: a wall clock that was set forward is noticed by then.
const SLEEP_SPAN_MAX: Duration = Duration::from_secs(60 * 60);

/// Notes ends that have come.
pub struct MemoryExpiry {
    ports: MemoryPorts,
    memory_search: Arc<MemorySearch>,
}

impl MemoryExpiry {
    /// Makes the task.
    #[must_use]
    pub fn new(ports: MemoryPorts, memory_search: Arc<MemorySearch>) -> Self {
        Self { ports, memory_search }
    }

    async fn note_ends(&self) -> Result<NextTick, TickFailure> {
        // One more says when the next tick is due.
        let next = self.ports.families.query(|rows, _| memories::next_to_expire(rows, BATCH_MAX + 1)).await;
        let next = next
            .map_err(|error| TickFailure::new(format_args!("items of memory could not be read: {error}")))?;
        let now = self.ports.clock.wall();
        let due: Vec<_> = next.iter().filter(|item| item.expires <= now).take(BATCH_MAX).collect();
        if !due.is_empty() {
            let entry = |item: &&ExpiringMemory| NewEntry {
                time: now,
                principal: item.principal,
                session: None,
                run: None,
                event: MemoryEvent::Forgotten { memory: item.memory, cause: ForgetCause::Ended }.into(),
            };
            let entries = due.iter().map(entry).collect();
            self.ports.recorder.record(entries, AppendClass::Ending, Vec::new()).await.map_err(|error| {
                TickFailure::new(format_args!("ends of items of memory are not recorded: {error}"))
            })?;
        }
        Ok(match next.get(due.len()) {
            Some(item) if item.expires <= now => NextTick::AtOnce,
            Some(item) => NextTick::After(item.expires.since(now).min(SLEEP_SPAN_MAX)),
            None => NextTick::OnSignal,
        })
    }
}

impl BackgroundTask for MemoryExpiry {
    fn name(&self) -> &'static str {
        "memory_expiry"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.note_ends().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let memory_search = Arc::clone(&self.memory_search);
        async move { memory_search.expiring_saved().await }.boxed()
    }
}
