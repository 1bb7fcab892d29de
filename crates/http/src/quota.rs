//! Shares of something limited: so much for all together, and so much for one principal.
//!
//! Invariant: what is taken comes back when its [`QuotaShare`] is dropped, and a principal that has nothing is forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use palyra_types::PrincipalId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What may be taken.
pub(crate) struct PrincipalQuota {
    all: Arc<Semaphore>,
    of_one_max: usize,
    each: Mutex<BTreeMap<PrincipalId, Weak<Semaphore>>>,
}

/// Units that are taken until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct QuotaShare(Vec<(OwnedSemaphorePermit, OwnedSemaphorePermit)>);

impl QuotaShare {
    /// Adds what was taken later.
    pub(crate) fn add(&mut self, other: Self) {
        for (all, own) in other.0 {
            match self.0.last_mut() {
                Some((known_all, known_own)) => {
                    known_all.merge(all);
                    known_own.merge(own);
                }
                None => self.0.push((all, own)),
            }
        }
    }
}

impl PrincipalQuota {
    pub(crate) fn new(all_max: usize, of_one_max: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all_max)), of_one_max, each: Mutex::default() }
    }

    /// Takes units for a principal; `None` when there are not enough.
    pub(crate) fn take(&self, principal: PrincipalId, units: u32) -> Option<QuotaShare> {
        let own = self.of(principal).try_acquire_many_owned(units).ok()?;
        let all = Arc::clone(&self.all).try_acquire_many_owned(units).ok()?;
        Some(QuotaShare(vec![(all, own)]))
    }

    fn of(&self, principal: PrincipalId) -> Arc<Semaphore> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        each.retain(|_, own| own.strong_count() > 0);
        let known = each.get(&principal).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let own = Arc::new(Semaphore::new(self.of_one_max));
            each.insert(principal, Arc::downgrade(&own));
            own
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_principal_leaves_room_to_others_and_what_is_dropped_comes_back() {
        let quota = PrincipalQuota::new(10, 6);
        let of = |number: u8, units| quota.take(PrincipalId::from_bytes([number; 16]), units);
        let mut first = of(1, 4).expect("free");
        assert!(of(1, 3).is_none(), "more than one may have");
        first.add(of(1, 2).expect("free"));
        let second = of(2, 4).expect("the rest");
        assert!(of(3, 1).is_none(), "all together have an end too");
        drop(first);
        assert!(of(3, 6).is_some());
        drop(second);
        assert!(of(1, 6).is_some());
        assert_eq!(quota.each.lock().expect("not poisoned").len(), 1, "nobody is remembered for ever");
    }
}
