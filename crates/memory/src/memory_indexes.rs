//! The adapter of the port: one index for each principal, built when it is first needed.
//!
//! Owns which indexes are in memory. A request brings all items of its principal, so an index that was dropped is built again.
//! All work is done on a thread that may block. Invariants: a request reaches the index of its own principal only; there are at
//! most [`PRINCIPALS_MAX`] indexes with [`CACHED_ITEMS_MAX`] items, the one in use aside. Begin at [`MemoryIndexes`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::search_memories::{MemoryRanking, SearchMemories};
use palyra_types::{MemoryId, PrincipalId};

use crate::embedding_table::{EmbeddingTable, ReadTableError};
use crate::error::MemoryIndexError;
use crate::limits::{CACHED_ITEMS_MAX, PRINCIPALS_MAX};
use crate::principal_index::PrincipalIndex;

/// The indexes of all principals that used memory lately.
#[derive(Debug, Clone, Default)]
pub struct MemoryIndexes(Arc<IndexCache>);

#[derive(Debug, Default)]
struct IndexCache {
    entries: Mutex<CacheEntries>,
}

#[derive(Debug, Default)]
struct CacheEntries {
    by_principal: HashMap<PrincipalId, CacheEntry>,
    /// Counts uses, so that entries are ordered by their last one.
    uses: u64,
}

#[derive(Debug)]
struct CacheEntry {
    index: Arc<Mutex<PrincipalIndex>>,
    /// How many items it had after its last use.
    items_count: usize,
    last_use: u64,
}

/// Why a request is not answered.
#[derive(Debug, thiserror::Error)]
enum RankError {
    #[error("the embedding table cannot be read; install this version again")]
    Table(#[source] ReadTableError),
    #[error("the memory index cannot be used; the next search builds it again")]
    Index(#[from] MemoryIndexError),
}

impl MemoryIndexes {
    /// Returns how many principals have an index in memory.
    #[must_use]
    pub fn principals_count(&self) -> usize {
        self.0.entries().by_principal.len()
    }

    /// Returns how many items all indexes in memory have.
    #[must_use]
    pub fn items_count(&self) -> usize {
        self.0.entries().items_count()
    }
}

impl SearchMemories for MemoryIndexes {
    fn rank(&self, request: MemoryRanking) -> BoxFuture<'static, Vec<MemoryId>> {
        if request.items.is_empty() {
            self.0.remove(request.principal);
            return futures::future::ready(Vec::new()).boxed();
        }
        let cache = Arc::clone(&self.0);
        async move {
            let ranked = tokio::task::spawn_blocking(move || cache.rank(&request)).await;
            ranked.unwrap_or_else(|error| {
                tracing::error!(%error, "a search in memory did not end; it found nothing");
                Vec::new()
            })
        }
        .boxed()
    }

    fn forget_texts(&self) {
        self.0.entries().by_principal.clear();
    }
}

impl IndexCache {
    fn entries(&self) -> MutexGuard<'_, CacheEntries> {
        // Every change of the entries is whole, so a panic elsewhere leaves them consistent.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, principal: PrincipalId) {
        self.entries().by_principal.remove(&principal);
    }

    /// Answers a request; blocks.
    fn rank(&self, request: &MemoryRanking) -> Vec<MemoryId> {
        let ranked = self.index_of(request.principal).and_then(|index| {
            let Ok(mut own) = index.lock() else {
                // A panic left it half changed; the next search builds it again.
                self.remove(request.principal);
                return Ok(Vec::new());
            };
            let ranked = own.rank(request)?;
            self.entries().used(&own);
            Ok(ranked)
        });
        ranked.unwrap_or_else(|error| {
            self.remove(request.principal);
            let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::error!(%error, cause, "a search in memory failed; it found nothing");
            Vec::new()
        })
    }

    fn index_of(&self, principal: PrincipalId) -> Result<Arc<Mutex<PrincipalIndex>>, RankError> {
        let table = EmbeddingTable::shared().map_err(RankError::Table)?;
        let mut entries = self.entries();
        entries.uses += 1;
        let last_use = entries.uses;
        if let Some(entry) = entries.by_principal.get_mut(&principal) {
            entry.last_use = last_use;
            return Ok(Arc::clone(&entry.index));
        }
        let index = Arc::new(Mutex::new(PrincipalIndex::new(principal, table)?));
        let entry = CacheEntry { index: Arc::clone(&index), items_count: 0, last_use };
        entries.by_principal.insert(principal, entry);
        Ok(index)
    }
}

impl CacheEntries {
    fn items_count(&self) -> usize {
        self.by_principal.values().map(|entry| entry.items_count).sum()
    }

    /// Notes the size of an index that was used, and drops others while there are too many.
    fn used(&mut self, index: &PrincipalIndex) {
        if let Some(entry) = self.by_principal.get_mut(&index.principal()) {
            entry.items_count = index.len();
        }
        while self.by_principal.len() > PRINCIPALS_MAX || self.items_count() > CACHED_ITEMS_MAX {
            let others = self.by_principal.iter().filter(|(principal, _)| **principal != index.principal());
            let oldest = others.min_by_key(|(_, entry)| entry.last_use).map(|(principal, _)| *principal);
            let Some(oldest) = oldest else { break };
            self.by_principal.remove(&oldest);
        }
    }
}
