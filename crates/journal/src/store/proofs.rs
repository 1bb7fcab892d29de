//! The port of proofs: heads from memory, proofs from readers, bundles on a thread of their own.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use palyra_ports::{
    AppendError, ConsistencyProof, Export, ExportSink, InclusionProof, KeyChoice, ProofError, ProveJournal,
    ReadError,
};
use palyra_types::Seq;
use palyra_types::proof::SignedCheckpoint;
use rusqlite::Connection;

use super::{JournalStore, StoreShared, mark};
use crate::connection::{ConnectionAccess, connect};
use crate::fault::ReadFault;
use crate::prove::{self, ProveFault};
use crate::write::PendingHead;

/// How long a key is used while the journal stays open.
const KEY_LIFE: Duration = Duration::from_hours(24);

impl JournalStore {
    fn prove<T: Send + 'static>(
        &self,
        proof: impl FnOnce(&Connection) -> Result<T, ProveFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ProofError>> {
        let read = self.read(move |connection| match proof(connection) {
            Err(ProveFault::Read(fault)) => Err(fault),
            other => Ok(other),
        });
        Box::pin(async move { read.await?.map_err(ProofError::from) })
    }
}

impl JournalStore {
    /// Changes the key each time a day has passed since the last change by this; ends with the journal.
    ///
    /// The caller polls it where the clock may sleep.
    pub fn change_keys_daily(&self) -> BoxFuture<'static, ()> {
        let journal = Arc::downgrade(&self.inner);
        let clock = Arc::clone(&self.inner.clock);
        let mut due = clock.boot().after(KEY_LIFE);
        Box::pin(async move {
            loop {
                clock.sleep_until(due).await;
                let Some(inner) = journal.upgrade() else { return };
                if inner.slot.is_none() {
                    return;
                }
                let changed = Self { inner }.sign_checkpoint(KeyChoice::Rotate).await;
                match changed {
                    Ok(_) => {}
                    Err(ProofError::Write(AppendError::Closed | AppendError::Fenced)) => return,
                    Err(error) => tracing::warn!(%error, "the journal's key could not be changed"),
                }
                due = clock.boot().after(KEY_LIFE);
            }
        })
    }
}

impl ProveJournal for JournalStore {
    fn newest_checkpoint(&self) -> Option<SignedCheckpoint> {
        self.inner.slot.as_ref()?.newest()
    }

    fn checkpoint_over(&self, seq: Seq) -> BoxFuture<'static, Option<SignedCheckpoint>> {
        let covering = self.inner.slot.as_ref().and_then(|slot| slot.covering(seq.0.saturating_add(1)));
        Box::pin(async move { covering?.await.ok() })
    }

    fn sign_checkpoint(&self, key: KeyChoice) -> BoxFuture<'static, Result<SignedCheckpoint, ProofError>> {
        let (answer, answered) = oneshot::channel();
        let taken = self.inner.queue.push_head(PendingHead { key, answer });
        Box::pin(async move {
            taken.map_err(AppendError::from)?;
            answered.await.unwrap_or(Err(AppendError::Unknown.into()))
        })
    }

    fn inclusion(&self, seq: Seq, size: u64) -> BoxFuture<'static, Result<InclusionProof, ProofError>> {
        self.prove(move |connection| prove::inclusion(connection, seq, size))
    }

    fn consistency(&self, old: u64, new: u64) -> BoxFuture<'static, Result<ConsistencyProof, ProofError>> {
        self.prove(move |connection| prove::consistency(connection, old, new))
    }

    fn export(&self, what: Export, sink: ExportSink) -> BoxFuture<'static, Result<(), ProofError>> {
        // A bundle covers what is committed now; where nothing can be signed, what the newest head covers.
        let signed = self.sign_checkpoint(KeyChoice::Current);
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let head = match signed.await {
                Err(ProofError::Write(AppendError::Closed)) => {
                    inner.slot.as_ref().and_then(|slot| slot.newest())
                }
                Err(ProofError::CannotSign { .. }) => None,
                signed => Some(signed?),
            };
            let (answer, answered) = oneshot::channel();
            let work = move || {
                let result = export(&inner, what, head, &sink);
                // Whoever gets the answer and drops the journal may rely on its files being closed.
                drop((inner, sink));
                drop(answer.send(result));
            };
            let started = std::thread::Builder::new().name("journal-export".to_owned()).spawn(work);
            started.map_err(|_| ReadError::Busy)?;
            answered.await.unwrap_or(Err(ReadError::Busy.into()))
        })
    }
}

fn export(
    inner: &StoreShared,
    what: Export,
    head: Option<SignedCheckpoint>,
    sink: &ExportSink,
) -> Result<(), ProofError> {
    let connection =
        connect(&inner.database, ConnectionAccess::Read).map_err(ReadFault::from).map_err(ReadError::from)?;
    let stored = || prove::newest_head(&connection);
    let exported = head.map_or_else(stored, |head| Ok(Some(head))).and_then(|head| match (head, what) {
        (None, _) => Ok(None),
        (Some(head), Export::Run(run)) => prove::export_run(&connection, run, &head, sink).map(Some),
        (Some(head), Export::Tiles) => prove::export_tiles(&connection, &head, sink).map(Some),
    });
    match exported {
        Ok(Some(())) => Ok(()),
        Ok(None) => Err(ProofError::CannotSign { why: "it is read-only, and no head of it is stored" }),
        Err(fault) => {
            if let ProveFault::Read(fault) = &fault {
                mark(&inner.marker, fault);
            }
            Err(fault.into())
        }
    }
}
