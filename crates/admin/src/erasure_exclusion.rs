//! Keeps what is derived from content apart from erasures.
//!
//! A record that repeats content is made in two steps, reading and recording. An erasure between them would not find
//! the record, because it is not there yet. So a record says how many erasures there were when its content was read, and is
//! made only if there was none since. Begin at [`ErasureExclusion::erasures`].

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// How many erasures there were, and whether one is under way. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ErasureExclusion(Arc<RwLock<u64>>);

/// While it lives, no erasure begins.
#[derive(Debug)]
pub struct NoErasure(
    #[expect(dead_code, reason = "a guard is kept until it is dropped")] OwnedRwLockReadGuard<u64>,
);

/// While it lives, an erasure is under way.
#[derive(Debug)]
pub(crate) struct ErasureUnderWay(
    #[expect(dead_code, reason = "a guard is kept until it is dropped")] OwnedRwLockWriteGuard<u64>,
);

impl ErasureExclusion {
    /// Returns how many erasures there were; `None` while one is under way.
    #[must_use]
    pub fn erasures(&self) -> Option<u64> {
        self.0.try_read().ok().map(|erasures| *erasures)
    }

    /// Keeps erasures from beginning, if there was none since there were so many.
    #[must_use]
    pub fn exclude(&self, since: u64) -> Option<NoErasure> {
        let erasures = Arc::clone(&self.0).try_read_owned().ok()?;
        (*erasures == since).then_some(NoErasure(erasures))
    }

    /// Keeps erasures from beginning, unless one is under way: for content that is read after this call and recorded again.
    #[must_use]
    pub fn exclude_now(&self) -> Option<NoErasure> {
        Arc::clone(&self.0).try_read_owned().ok().map(NoErasure)
    }

    /// Begins an erasure, once no record that is derived from content is being appended.
    pub(crate) async fn begin(&self) -> ErasureUnderWay {
        let mut erasures = Arc::clone(&self.0).write_owned().await;
        *erasures += 1;
        ErasureUnderWay(erasures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_read_before_an_erasure_or_during_it_is_not_recorded_behind_it() {
        let exclusion = ErasureExclusion::default();
        let before = exclusion.erasures().expect("no erasure");
        let under_way = exclusion.begin().await;
        assert_eq!(exclusion.erasures(), None);
        assert!(exclusion.exclude(before).is_none() && exclusion.exclude_now().is_none(), "during it");
        drop(under_way);
        assert!(exclusion.exclude(before).is_none(), "behind it");
        let recording = exclusion.exclude(before + 1).expect("read behind it");
        assert!(exclusion.0.try_write().is_err(), "an erasure waits for the append");
        drop(recording);
        assert!(exclusion.0.try_write().is_ok());
    }
}
