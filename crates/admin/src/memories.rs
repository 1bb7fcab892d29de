//! Memory: saving, finding and forgetting items, for callers and for the tools of their runs.
//!
//! Owns the limits of items, what their texts become before they are recorded, and which items hold where. Knows no ranking:
//! that is a port's. Invariant: every read and write takes the principal of the caller or of the call, and the journal is
//! asked for the items of that principal only. Begin at [`MemoriesHandle`]; what tools do is in `for_tools.rs`.

mod absolute_dates;
mod for_tools;
mod memory_expiry;
mod past_runs;

pub mod candidate_evidence;
pub mod learned;
pub mod memory_search;

pub use memory_expiry::MemoryExpiry;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use palyra_journal_core::families::memories::MemoryPageQuery;
use palyra_journal_core::families::{memories, sessions};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::search_memories::MemoryDemand;
use palyra_ports::{AppendClass, NewEntry};
use palyra_types::access::ActorIdentity;
use palyra_types::memory::{
    ForgetCause, MEMORY_TEXT_BYTES_MAX, MemoryAuthor, MemoryEvent, MemoryRecord, MemorySaved, MemoryScope,
    MemorySource,
};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, MemoryId, PrincipalId, Redacted, Seq, SessionId, Timestamp};
use tokio::sync::{Mutex, watch};

use crate::caller::Caller;
use crate::erasure_exclusion::{ErasureExclusion, NoErasure};
use crate::erasure_subscriber::ErasureSubscriber;
use crate::error::AdminError;
use crate::memories::memory_search::{MemorySearch, RankedItems};
use crate::parts::MemoryPorts;

/// Items of a principal that are in use, at most.
pub const MEMORY_ITEMS_MAX: usize = 1_000;
/// How long an item that ends is kept, at most.
pub const MEMORY_LIFETIME_MAX: Duration = Duration::from_secs(3_650 * 24 * 60 * 60);
/// Items of one page or one search, at most.
const PAGE_ITEMS_MAX: usize = 200;
const ERASURE_UNDER_WAY: &str = "content is being erased; try again once that is done";
/// Items that are over and are noted as such with one save, at most.
const ENDED_PER_SAVE_MAX: usize = 50;

/// Returns the time zone of a principal.
pub type ZoneOf = Arc<dyn Fn(PrincipalId) -> TimeZone + Send + Sync>;

/// Saves, finds and forgets items of memory.
#[derive(Clone)]
pub struct MemoriesHandle {
    ports: Arc<MemoryPorts>,
    memory_search: Arc<MemorySearch>,
    zone_of: ZoneOf,
    /// Keeps items that come from runs apart from erasures.
    erasures: ErasureExclusion,
    /// Taken for a save: limits and equal texts are looked up before the append.
    saving: Arc<Mutex<()>>,
    /// Counts appends about what was learned.
    learned: watch::Sender<u64>,
}

/// An item that a person saves.
#[derive(Debug, Clone)]
pub struct NewMemory {
    /// What to remember.
    pub text: Content<String>,
    /// Where it holds.
    pub scope: MemoryFilter,
    /// After how long it is not used any more; `None` for never.
    pub lifetime: Option<Duration>,
    /// The item that it takes the place of.
    pub replaces: Option<MemoryId>,
}

/// Selects items by where they hold.
#[derive(Debug, Clone, Default)]
pub enum MemoryFilter {
    /// All of the principal; of an item that is saved, everywhere.
    #[default]
    All,
    /// Those of one conversation.
    Session(SessionId),
    /// Those of one folder.
    Folder(Content<PathBuf>),
}

impl MemoryFilter {
    fn admits(&self, scope: &MemoryScope) -> bool {
        match (self, scope) {
            (Self::All, _) => true,
            (Self::Session(wanted), MemoryScope::Session(own)) => wanted == own,
            (Self::Folder(wanted), MemoryScope::PrincipalRoot(own)) => wanted.expose() == own.expose(),
            (Self::Session(_) | Self::Folder(_), _) => false,
        }
    }
}

/// Items of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPage {
    /// The items, newest first.
    pub items: Vec<MemoryRecord>,
    /// Where the next page begins.
    pub next: Option<Seq>,
}

/// Who saves an item, and what it comes from.
struct MemoryWriter {
    principal: PrincipalId,
    /// The caller; `None` for a tool.
    actor: Option<ActorIdentity>,
    author: MemoryAuthor,
    via: Surface,
    /// The conversation of the source.
    session: Option<SessionId>,
    source: Option<MemorySource>,
    taints: Taints,
}

impl MemoryWriter {
    fn of_caller(caller: Caller) -> Self {
        Self {
            principal: caller.actor.principal,
            actor: Some(caller.actor),
            author: MemoryAuthor::Person,
            via: caller.actor.surface,
            session: None,
            source: None,
            taints: Taints::NONE,
        }
    }
}

/// An item that may be saved as it is.
struct CheckedItem {
    text: Redacted<String>,
    scope: MemoryScope,
    expires: Option<Timestamp>,
    replaces: Option<MemoryId>,
}

impl CheckedItem {
    /// Returns whether an item that is in use says the same where it holds.
    fn is_said_by(&self, known: &MemoryRecord) -> bool {
        known.superseded_by.is_none()
            && known.saved.text == self.text
            && known.saved.scope == self.scope
            && self.replaces.is_none_or(|older| older != known.saved.memory)
    }
}

impl MemoriesHandle {
    /// Makes a handle; a date is one in the zone of its principal.
    #[must_use]
    pub fn new(
        ports: MemoryPorts,
        memory_search: Arc<MemorySearch>,
        zone_of: ZoneOf,
        erasures: ErasureExclusion,
    ) -> Self {
        let learned = watch::Sender::new(0);
        Self { ports: Arc::new(ports), memory_search, zone_of, erasures, saving: Arc::default(), learned }
    }

    /// Keeps erasures from beginning while content of a run becomes an item: one in between would not find the item.
    fn without_erasure(&self) -> Result<NoErasure, AdminError> {
        let no_erasure = self.erasures.exclude_now();
        no_erasure.ok_or_else(|| AdminError::InvalidArgument { what: ERASURE_UNDER_WAY.to_owned() })
    }

    /// Returns what changes with each append about what was learned.
    #[must_use]
    pub fn watch_learned(&self) -> watch::Receiver<u64> {
        self.learned.subscribe()
    }

    /// Lists items of the caller that are in use, newest first.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn list(
        &self,
        caller: Caller,
        filter: MemoryFilter,
        before: Option<Seq>,
        limit: usize,
    ) -> Result<MemoryPage, AdminError> {
        let limit = limit.clamp(1, PAGE_ITEMS_MAX);
        let now = self.ports.clock.wall();
        // One more says whether there is a further page.
        let query = MemoryPageQuery { principal: caller.actor.principal, before, limit: limit + 1 };
        let is_wanted = move |item: &MemoryRecord| item.is_usable(now) && filter.admits(&item.saved.scope);
        let page = self.ports.families.query(move |rows, log| memories::page(rows, log, &query, is_wanted));
        let mut items = page.await?;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| has_more).map(|last| last.seq);
        Ok(MemoryPage { items, next })
    }

    /// Returns items of the caller that have to do with a text, best first; superseded ones come last.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn search(
        &self,
        caller: Caller,
        filter: MemoryFilter,
        text: Content<String>,
        limit: usize,
    ) -> Result<Vec<MemoryRecord>, AdminError> {
        let admits = |scope: &MemoryScope| filter.admits(scope);
        self.ranked(caller.actor.principal, text, admits, limit).await
    }

    /// Saves an item of the caller. One that says the same where it holds is returned instead.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a text, a folder or a lifetime that does not fit, and one item too many;
    /// [`AdminError::SecretInIdentity`] for a folder; [`AdminError::SessionNotFound`]; [`AdminError::MemoryNotFound`] for
    /// an item to replace; [`AdminError::Append`].
    pub async fn save(&self, caller: Caller, new: NewMemory) -> Result<MemoryRecord, AdminError> {
        let writer = MemoryWriter::of_caller(caller);
        let scope = match new.scope {
            MemoryFilter::All => MemoryScope::Principal,
            MemoryFilter::Session(session) => self.own_session(writer.principal, session).await?,
            MemoryFilter::Folder(folder) => self.folder(writer.principal, folder)?,
        };
        let item = self.checked(&writer, &new.text, scope, new.lifetime, new.replaces)?;
        self.record(writer, item).await
    }

    /// Stops using an item of the caller; one that is not used any more stays so.
    ///
    /// # Errors
    /// [`AdminError::MemoryNotFound`], also for an item of another principal; [`AdminError::Append`].
    pub async fn forget(&self, caller: Caller, memory: MemoryId) -> Result<MemoryRecord, AdminError> {
        let actor = caller.actor;
        self.record_forgotten(actor.principal, Some(actor), memory, ForgetCause::Person).await
    }

    /// Returns the items of a principal that are in use, oldest first.
    async fn usable(&self, principal: PrincipalId) -> Result<Vec<MemoryRecord>, AdminError> {
        Ok(self.memory_search.usable(principal).await?)
    }

    async fn all(&self, principal: PrincipalId) -> Result<Vec<MemoryRecord>, AdminError> {
        Ok(self.memory_search.all(principal).await?)
    }

    /// Returns items that hold in an admitted scope and have to do with a text, best first; superseded ones come last.
    async fn ranked(
        &self,
        principal: PrincipalId,
        text: Content<String>,
        admits: impl Fn(&MemoryScope) -> bool,
        limit: usize,
    ) -> Result<Vec<MemoryRecord>, AdminError> {
        let limit = limit.clamp(1, PAGE_ITEMS_MAX);
        let wanted = RankedItems { principal, text, demand: MemoryDemand::Asked, limit };
        let mut found = self.memory_search.ranked(wanted, admits).await?;
        // Stable: the order of the ranking stays within both halves.
        found.sort_by_key(|item| item.superseded_by.is_some());
        Ok(found)
    }

    async fn own_session(
        &self,
        principal: PrincipalId,
        session: SessionId,
    ) -> Result<MemoryScope, AdminError> {
        let of = SessionRef { principal, id: session };
        let found = self.ports.families.query(move |rows, _| sessions::record(rows, of)).await?;
        found.map(|_| MemoryScope::Session(session)).ok_or(AdminError::SessionNotFound)
    }

    fn folder(&self, principal: PrincipalId, folder: Content<PathBuf>) -> Result<MemoryScope, AdminError> {
        if !folder.expose().is_absolute() {
            return invalid("the folder of an item is an absolute path");
        }
        let checked = self.ports.recorder.check(principal, folder);
        let refused = |_| AdminError::SecretInIdentity { field: "the folder of an item" };
        checked.map(MemoryScope::PrincipalRoot).map_err(refused)
    }

    fn checked(
        &self,
        writer: &MemoryWriter,
        text: &Content<String>,
        scope: MemoryScope,
        lifetime: Option<Duration>,
        replaces: Option<MemoryId>,
    ) -> Result<CheckedItem, AdminError> {
        let now = self.ports.clock.wall();
        if lifetime.is_some_and(|lifetime| lifetime.is_zero() || lifetime > MEMORY_LIFETIME_MAX) {
            return invalid("an item that ends is kept between 1 and 3650 days");
        }
        let given = text.expose().trim();
        if given.is_empty() || given.contains(|it: char| it.is_control() && !matches!(it, '\n' | '\t')) {
            return invalid("an item has a text, without control characters other than line breaks and tabs");
        }
        let zone = (self.zone_of)(writer.principal);
        let today = jiff::Timestamp::from_microsecond(now.0)
            .map_or(jiff::civil::Date::MIN, |now| now.to_zoned(zone).date());
        let dated = absolute_dates::with_absolute_dates(given, today);
        let text = self.ports.redactor.redact(Content::new(dated)).text;
        if text.expose().len() > MEMORY_TEXT_BYTES_MAX {
            return invalid("an item has at most 2000 bytes of text; write a shorter one, or several");
        }
        let expires = lifetime.map(|lifetime| now.after(lifetime));
        Ok(CheckedItem { text, scope, expires, replaces })
    }

    async fn record(&self, writer: MemoryWriter, item: CheckedItem) -> Result<MemoryRecord, AdminError> {
        let _one_at_a_time = self.saving.lock().await;
        let now = self.ports.clock.wall();
        let all = self.all(writer.principal).await?;
        let (usable, ended): (Vec<_>, Vec<_>) = all.into_iter().partition(|item| item.is_usable(now));
        if let Some(known) = usable.iter().find(|known| item.is_said_by(known)) {
            return Ok(known.clone());
        }
        if usable.len() >= MEMORY_ITEMS_MAX {
            return invalid("there are 1000 items in memory; forget some first");
        }
        if item.replaces.is_some_and(|older| usable.iter().all(|known| known.saved.memory != older)) {
            return Err(AdminError::MemoryNotFound);
        }
        let saved = MemorySaved {
            memory: self.ports.entropy.new_id(now),
            scope: item.scope,
            author: writer.author,
            via: writer.via,
            source: writer.source,
            taints: writer.taints,
            expires: item.expires,
            supersedes: item.replaces,
            text: item.text,
        };
        let memory = saved.memory;
        let session = match saved.scope {
            MemoryScope::Session(session) => Some(session),
            MemoryScope::Principal | MemoryScope::PrincipalRoot(_) => writer.session,
        };
        let principal = writer.principal;
        let over = ended.iter().take(ENDED_PER_SAVE_MAX).map(|over| {
            let cause = ForgetCause::Ended;
            (None, MemoryEvent::Forgotten { memory: over.saved.memory, cause })
        });
        let entries =
            std::iter::once((session, MemoryEvent::Saved(saved))).chain(over).map(|(session, event)| {
                NewEntry { time: now, principal, session, run: None, event: event.into() }
            });
        self.memory_search.note_holder(principal);
        self.append(writer.actor, entries.collect(), AppendClass::Normal).await?;
        if item.expires.is_some() {
            self.memory_search.note_expiring();
        }
        self.own(principal, memory).await
    }

    async fn record_forgotten(
        &self,
        principal: PrincipalId,
        actor: Option<ActorIdentity>,
        memory: MemoryId,
        cause: ForgetCause,
    ) -> Result<MemoryRecord, AdminError> {
        let known = self.own(principal, memory).await?;
        if known.forgotten.is_some() {
            return Ok(known);
        }
        let entry = NewEntry {
            time: self.ports.clock.wall(),
            principal,
            session: None,
            run: None,
            event: MemoryEvent::Forgotten { memory, cause }.into(),
        };
        self.append(actor, vec![entry], AppendClass::Ending).await?;
        self.own(principal, memory).await
    }

    async fn append(
        &self,
        actor: Option<ActorIdentity>,
        entries: Vec<NewEntry>,
        class: AppendClass,
    ) -> Result<(), AdminError> {
        let recorder = &self.ports.recorder;
        match actor {
            Some(actor) => recorder.record_act(actor, entries, class, Vec::new()).await?,
            None => recorder.record(entries, class, Vec::new()).await?,
        };
        Ok(())
    }

    async fn own(&self, principal: PrincipalId, memory: MemoryId) -> Result<MemoryRecord, AdminError> {
        let query =
            self.ports.families.query(move |rows, log| memories::record(rows, log, principal, memory));
        query.await?.ok_or(AdminError::MemoryNotFound)
    }
}

fn invalid<T>(what: &str) -> Result<T, AdminError> {
    Err(AdminError::InvalidArgument { what: what.to_owned() })
}

impl ErasureSubscriber for MemoriesHandle {
    fn forget_erased(&self) -> futures::future::BoxFuture<'_, ()> {
        self.memory_search.forget_texts();
        Box::pin(std::future::ready(()))
    }
}
