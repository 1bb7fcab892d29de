//! Finding items of memory, for callers, for the tools of runs and for runs themselves.
//!
//! Owns that a ranking is given all items of one principal that are in use, and which of them hold where it is asked. Invariant:
//! no text of an erased item stays in a ranking that began before the erasure. Begin at [`MemorySearch::ranked`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_journal_core::families::{learning_candidates, memories};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_ports::search_memories::{MemoryDemand, MemoryRanking};
use palyra_types::event::RunStarted;
use palyra_types::learning::CandidateKind;
use palyra_types::memory::{MemoryRecord, MemoryScope, RecallRole, RecalledMemory};
use palyra_types::recall::RecallSwitch;
use palyra_types::session::SessionRef;
use palyra_types::tool::Taints;
use palyra_types::{Content, MemoryId, PrincipalId, SessionId};
use tokio::sync::Notify;

use crate::parts::MemoryPorts;

/// Items that a run is given unasked, at most.
pub const RECALLED_ITEMS_MAX: usize = 6;
/// Learned preferences that a run is given, at most.
pub const PREFERENCES_MAX: usize = 32;

/// Finds items of memory.
pub struct MemorySearch {
    ports: MemoryPorts,
    /// Counts erasures.
    erasures: AtomicU64,
    /// Principals that may have items. A run of another one begins without a look into the journal.
    holders: Mutex<BTreeSet<PrincipalId>>,
    /// Given when an item with an end was saved.
    expiring_saved: Notify,
}

/// Whether a run is given learned preferences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearnedPreferences {
    /// It is.
    Given,
    /// It is not: learning is switched off.
    LeftOut,
}

impl From<bool> for LearnedPreferences {
    fn from(is_enabled: bool) -> Self {
        if is_enabled { Self::Given } else { Self::LeftOut }
    }
}

/// Which items are looked for.
pub(crate) struct RankedItems {
    /// Whose.
    pub(crate) principal: PrincipalId,
    /// What they have to do with.
    pub(crate) text: Content<String>,
    /// How well they have to fit.
    pub(crate) demand: MemoryDemand,
    /// At most so many.
    pub(crate) limit: usize,
}

impl MemorySearch {
    pub(crate) async fn load(ports: MemoryPorts) -> Result<Self, ReadError> {
        let holders = ports.families.query(|rows, _| memories::holders(rows)).await?;
        Ok(Self {
            ports,
            erasures: AtomicU64::new(0),
            holders: Mutex::new(holders),
            expiring_saved: Notify::new(),
        })
    }

    /// Notes that an item of a principal is about to be saved.
    pub(crate) fn note_holder(&self, principal: PrincipalId) {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner).insert(principal);
    }

    /// Notes that an item with an end was saved.
    pub(crate) fn note_expiring(&self) {
        self.expiring_saved.notify_one();
    }

    /// Completes once an item with an end was saved.
    pub(crate) async fn expiring_saved(&self) {
        self.expiring_saved.notified().await;
    }

    fn may_have_items(&self, principal: PrincipalId) -> bool {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner).contains(&principal)
    }

    /// Returns all items of a principal, oldest first.
    pub(crate) async fn all(&self, principal: PrincipalId) -> Result<Vec<MemoryRecord>, ReadError> {
        self.ports.families.query(move |rows, log| memories::of_principal(rows, log, principal)).await
    }

    /// Returns the items of a principal that are in use, oldest first.
    pub(crate) async fn usable(&self, principal: PrincipalId) -> Result<Vec<MemoryRecord>, ReadError> {
        let now = self.ports.clock.wall();
        let mut items = self.all(principal).await?;
        items.retain(|item| item.is_usable(now));
        Ok(items)
    }

    /// Returns items that hold in an admitted scope and have to do with a text, best first.
    pub(crate) async fn ranked(
        &self,
        wanted: RankedItems,
        admits: impl Fn(&MemoryScope) -> bool,
    ) -> Result<Vec<MemoryRecord>, ReadError> {
        let RankedItems { principal, text, demand, limit } = wanted;
        let erasures = self.erasures.load(Ordering::Acquire);
        let items: Arc<[MemoryRecord]> = self.usable(principal).await?.into();
        let mut scopes: Vec<MemoryScope> = Vec::new();
        for item in items.iter().filter(|item| admits(&item.saved.scope)) {
            if !scopes.contains(&item.saved.scope) {
                scopes.push(item.saved.scope.clone());
            }
        }
        if scopes.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.ports.clock.wall();
        let request =
            MemoryRanking { principal, text, items: Arc::clone(&items), scopes, demand, limit, now };
        let ranked = self.ports.memories.rank(request).await;
        if self.erasures.load(Ordering::Acquire) != erasures {
            // The items were read before the erasure.
            self.ports.memories.forget_texts();
        }
        let found = ranked.iter().filter_map(|id| items.iter().find(|item| item.saved.memory == *id));
        Ok(found.filter(|item| admits(&item.saved.scope)).take(limit).cloned().collect())
    }

    /// Returns what a run is given: learned preferences, and where recall is on what may have to do with its input.
    pub async fn given(
        &self,
        session: SessionRef,
        started: &RunStarted,
        preferences: LearnedPreferences,
    ) -> Vec<RecalledMemory> {
        let mut given = match preferences {
            LearnedPreferences::Given => self.preferences(session.principal).await,
            LearnedPreferences::LeftOut => Vec::new(),
        };
        if started.recall.is_some_and(|setting| setting.switch == RecallSwitch::On) {
            let mut related = self.recalled(session, started).await;
            related.retain(|item| given.iter().all(|known| known.memory != item.memory));
            given.append(&mut related);
        }
        given
    }

    /// Returns what may have to do with the input of a run of a conversation, best first. Nothing that fails here fails the run.
    ///
    /// Items that are out of date are left out, and items that were learned from a secret: a run is never given one unasked.
    pub async fn recalled(&self, session: SessionRef, started: &RunStarted) -> Vec<RecalledMemory> {
        let principal = session.principal;
        let text: Content<String> = started.input.text.clone().into();
        if text.expose().trim().is_empty() || !self.may_have_items(principal) {
            return Vec::new();
        }
        let demand = MemoryDemand::Unasked;
        let wanted = RankedItems { principal, text, demand, limit: RECALLED_ITEMS_MAX };
        let root = started.workspace_root.expose();
        let found = self.ranked(wanted, |scope| holds_in(scope, session.id, root)).await;
        let found = found.unwrap_or_else(|error| {
            tracing::warn!(%error, "memory cannot be read, so a run begins without it");
            Vec::new()
        });
        let allowed = found
            .into_iter()
            .filter(|item| item.superseded_by.is_none() && !item.saved.taints.has(Taints::SECRET));
        let recalled = allowed.map(|item| RecalledMemory {
            memory: item.saved.memory,
            created: item.created,
            taints: item.saved.taints,
            role: RecallRole::Related,
            text: item.saved.text,
        });
        recalled.collect()
    }

    /// Returns the learned preferences of a principal that are in use, in the order in which they were found. Nothing that fails
    /// here fails the run.
    pub async fn preferences(&self, principal: PrincipalId) -> Vec<RecalledMemory> {
        if !self.may_have_items(principal) {
            return Vec::new();
        }
        let reading = self.ports.families.query(move |rows, log| {
            let learned = learning_candidates::in_use(rows, log, principal)?;
            let memories = learned.iter().filter(|one| one.proposed.kind == CandidateKind::Preference);
            let ids: Vec<MemoryId> = memories.filter_map(|one| one.memory).collect();
            let items = ids.into_iter().map(|id| memories::record(rows, log, principal, id));
            items.collect::<Result<Vec<_>, _>>()
        });
        let items = reading.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "learned preferences cannot be read, so a run begins without them");
            Vec::new()
        });
        let now = self.ports.clock.wall();
        let usable = items.into_iter().flatten().filter(|item| {
            let is_current = item.is_usable(now) && item.superseded_by.is_none();
            is_current && !item.saved.taints.has(Taints::SECRET)
        });
        let mut given: Vec<RecalledMemory> = usable
            .map(|item| RecalledMemory {
                memory: item.saved.memory,
                created: item.created,
                taints: item.saved.taints,
                role: RecallRole::Preference,
                text: item.saved.text,
            })
            .collect();
        // The newest ones count where there are too many.
        let excess = given.len().saturating_sub(PREFERENCES_MAX);
        given.drain(..excess);
        given
    }

    /// Drops texts that may have been erased.
    pub(crate) fn forget_texts(&self) {
        self.erasures.fetch_add(1, Ordering::AcqRel);
        self.ports.memories.forget_texts();
    }
}

/// Returns whether an item of a scope holds in a conversation that works in a folder.
pub(crate) fn holds_in(scope: &MemoryScope, session: SessionId, root: &Path) -> bool {
    match scope {
        MemoryScope::Principal => true,
        MemoryScope::Session(own) => *own == session,
        MemoryScope::PrincipalRoot(own) => own.expose() == root,
    }
}
