//! The port that reads families: any query, in one snapshot of rows and log.
//!
//! Owns the one method that a journal and each wrapper of one implement. A new family adds no method here: its queries
//! are functions beside its fold. Begin at [`QueryFamilies::query`].

use futures::channel::oneshot;
use futures::future::BoxFuture;
use palyra_ports::ReadError;

use super::log_view::LogView;
use super::row_store::{RowStore, StoreFault};

/// What a query reads: rows and the entries that they name, as of one moment.
pub struct Snapshot<'a> {
    /// Rows of every family.
    pub rows: &'a mut dyn RowStore,
    /// The entries.
    pub log: &'a mut dyn LogView,
}

/// A query that keeps its answer to itself; it runs once, or not at all.
pub type SnapshotQuery = Box<dyn FnOnce(Snapshot<'_>) -> Result<(), StoreFault> + Send>;

/// Runs queries over the rows of families. Every snapshot agrees with some committed prefix of the log.
pub trait ReadFamilies: Send + Sync {
    /// Runs a query in one snapshot. Callers use [`QueryFamilies::query`].
    fn run_query(&self, query: SnapshotQuery) -> BoxFuture<'static, Result<(), ReadError>>;
}

/// Queries with an answer, for every [`ReadFamilies`].
pub trait QueryFamilies: ReadFamilies {
    /// Returns the answer of a query, such as [`crate::families::skills::records`].
    fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut dyn RowStore, &mut dyn LogView) -> Result<T, StoreFault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ReadError>> {
        let (answer_tx, answer_rx) = oneshot::channel();
        let done = self.run_query(Box::new(move |snapshot| {
            let answer = query(snapshot.rows, snapshot.log)?;
            // A caller that went away needs no answer.
            drop(answer_tx.send(answer));
            Ok(())
        }));
        Box::pin(async move {
            done.await?;
            answer_rx.await.map_err(|oneshot::Canceled| ReadError::Busy)
        })
    }
}

impl<J: ReadFamilies + ?Sized> QueryFamilies for J {}
