//! The port of erasures: looking happens on a thread of its own, erasing on the writer's.

use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::{
    AppendError, EraseError, EraseJournal, ErasureOrder, ErasurePlan, ErasureReceipt, ErasureSubject,
    ReadError, Redactor,
};
use rusqlite::Connection;

use super::{JournalStore, mark};
use crate::connection::{ConnectionAccess, connect};
use crate::erase;
use crate::fault::ReadFault;
use crate::write::PendingErasure;

impl JournalStore {
    /// Looks through the log for as long as it takes, on a thread and a connection of its own.
    pub(super) fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T, ReadFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ReadError>> {
        let inner = Arc::clone(&self.inner);
        let (answer, answered) = oneshot::channel();
        let work = move || {
            let found = connect(&inner.database, ConnectionAccess::Read)
                .map_err(ReadFault::from)
                .and_then(|connection| look(&connection))
                .inspect_err(|fault| mark(&inner.marker, fault));
            // Whoever gets the answer and drops the journal may rely on its files being closed.
            drop(inner);
            drop(answer.send(found.map_err(ReadError::from)));
        };
        let started = std::thread::Builder::new().name("journal-look".to_owned()).spawn(work);
        Box::pin(async move {
            if started.is_err() {
                return Err(ReadError::Busy);
            }
            answered.await.unwrap_or(Err(ReadError::Busy))
        })
    }
}

impl EraseJournal for JournalStore {
    fn find(&self, subject: ErasureSubject) -> BoxFuture<'static, Result<ErasurePlan, ReadError>> {
        self.look(move |connection| Ok(erase::find(connection, subject)?))
    }

    fn find_secrets(
        &self,
        redactor: Arc<dyn Redactor>,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<ErasurePlan, ReadError>> {
        self.look(move |connection| erase::find_secrets(connection, &*redactor, &progress))
    }

    fn erase(&self, order: ErasureOrder) -> BoxFuture<'static, Result<ErasureReceipt, EraseError>> {
        let (answer, answered) = oneshot::channel();
        let time = self.inner.clock.wall();
        // Whoever reads the write-ahead log keeps it from being overwritten.
        self.inner.checking.give_way();
        let taken = self.inner.queue.push_erasure(PendingErasure { order, time, answer });
        Box::pin(async move {
            taken.map_err(AppendError::from)?;
            answered.await.unwrap_or(Err(AppendError::Unknown.into()))
        })
    }
}
