//! The one way of product code to the journal.
//!
//! Owns what an append says of its entries: which of them bear a placeholder, and how many registered values their
//! principals met. Knows no rule of the redactor and no store. It is here and not in the runtime because tools record
//! their jobs and the vault its uses, and neither knows the runtime. Invariant: an entry is appended as it is. Redaction
//! happens where content enters, so that a run sees the same live and replayed. Begin at [`Recorder::record`].

mod guesses;

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_types::access::ActorIdentity;
use palyra_types::event::JournalEvent;
use palyra_types::event::content::ContentClass;
use palyra_types::{Content, PrincipalId, Redacted, Seq, SessionId, Timestamp};

use crate::append_tape::{
    APPEND_BYTES_MAX, AppendClass, AppendError, AppendRedaction, AppendTape, CommitReceipt, EntryActor,
    EntryBlobs, Guard, JournalAppendRequest, NewEntry, StaticText,
};
use crate::clock::Clock;
use crate::redactor::{CheckedText, PLACEHOLDER_BEGINS, REGISTERED_PLACEHOLDER, Redactor, SecretFound};

use guesses::GuessCounts;

/// Records entries. All clones count guesses together.
#[derive(Clone)]
pub struct Recorder {
    journal: Arc<dyn AppendTape>,
    redactor: Arc<dyn Redactor>,
    clock: Arc<dyn Clock>,
    guesses: Arc<GuessCounts>,
}

/// What is stored beside the entries of an append.
#[derive(Debug, Clone, Default)]
pub struct AttachedData {
    /// Who acted with entries.
    pub actors: Vec<EntryActor>,
    /// Files that entries brought along.
    pub blobs: Vec<EntryBlobs>,
    /// Daemon-made texts that the entries name by digest.
    pub statics: Vec<StaticText>,
}

impl Recorder {
    /// Makes a recorder of a journal.
    #[must_use]
    pub fn new(journal: Arc<dyn AppendTape>, redactor: Arc<dyn Redactor>, clock: Arc<dyn Clock>) -> Self {
        Self { journal, redactor, clock, guesses: Arc::default() }
    }

    /// Appends entries in one commit, as [`AppendTape::append`] does, marked with what the redactor did to them.
    ///
    /// The append takes its place in the order when this is called, not when the future is first polled.
    pub fn record(
        &self,
        entries: Vec<NewEntry>,
        class: AppendClass,
        guards: Vec<Guard>,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        self.record_with(entries, class, guards, AttachedData::default())
    }

    /// Appends one entry outside of runs, of this moment, without guards. Returns its place and time.
    ///
    /// # Errors
    /// See [`Recorder::record`].
    pub async fn record_now(
        &self,
        principal: PrincipalId,
        session: Option<SessionId>,
        event: impl Into<JournalEvent>,
    ) -> Result<(Seq, Timestamp), AppendError> {
        let time = self.clock.wall();
        let entry = NewEntry { time, principal, session, run: None, event: event.into() };
        let committed = self.record(vec![entry], AppendClass::Normal, Vec::new()).await?;
        Ok((committed.first_seq, time))
    }

    /// Appends entries that a caller caused, each with who it was. Returns the place of the first.
    ///
    /// # Errors
    /// See [`Recorder::record`].
    pub async fn record_act(
        &self,
        actor: ActorIdentity,
        entries: Vec<NewEntry>,
        class: AppendClass,
        guards: Vec<Guard>,
    ) -> Result<CommitReceipt, AppendError> {
        let actors = (0..entries.len()).map(|entry| EntryActor { entry, actor }).collect();
        let attached = AttachedData { actors, ..AttachedData::default() };
        self.record_with(entries, class, guards, attached).await
    }

    /// Appends one act outside of runs, of this moment, without guards. Returns its place and time.
    ///
    /// # Errors
    /// See [`Recorder::record`].
    pub async fn record_act_now(
        &self,
        actor: ActorIdentity,
        principal: PrincipalId,
        event: impl Into<JournalEvent>,
    ) -> Result<(Seq, Timestamp), AppendError> {
        let time = self.clock.wall();
        let entry = NewEntry { time, principal, session: None, run: None, event: event.into() };
        let committed = self.record_act(actor, vec![entry], AppendClass::Normal, Vec::new()).await?;
        Ok((committed.first_seq, time))
    }

    /// Does what [`Recorder::record`] does for entries with data beside them.
    pub fn record_with(
        &self,
        entries: Vec<NewEntry>,
        class: AppendClass,
        guards: Vec<Guard>,
        AttachedData { actors, blobs, statics }: AttachedData,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let mut redaction = AppendRedaction { ruleset: self.redactor.ruleset(), entries: Vec::new() };
        let mut bytes: usize =
            blobs.iter().flat_map(|blobs| &blobs.blobs).map(|blob| blob.expose().len()).sum();
        for (at, entry) in entries.iter().enumerate() {
            let sight = ContentSight::of(&entry.event);
            bytes = bytes.saturating_add(sight.bytes);
            if sight.bears_placeholder {
                redaction.entries.push(at);
            }
            if sight.registered > 0 {
                self.guesses.note(entry.principal, sight.registered, self.clock.boot());
            }
        }
        if bytes > APPEND_BYTES_MAX {
            return async { Err(AppendError::Invalid { what: "its content is too large" }) }.boxed();
        }
        self.journal.append(JournalAppendRequest {
            guards,
            entries,
            actors,
            blobs,
            statics,
            class,
            redaction,
        })
    }

    /// Admits a value that must not be rewritten. A refusal counts as a guess of the principal.
    ///
    /// # Errors
    /// [`SecretFound`] where the redactor would change its text.
    pub fn check<T: CheckedText>(
        &self,
        principal: PrincipalId,
        content: Content<T>,
    ) -> Result<Redacted<T>, SecretFound> {
        self.redactor.check(content).inspect_err(|refused| self.note_refused(principal, *refused))
    }

    /// Counts registered values in a value that is never recorded, such as a refused one, as guesses of the principal.
    pub fn note_refused(&self, principal: PrincipalId, refused: SecretFound) {
        let SecretFound { found } = refused;
        if found.registered > 0 {
            self.guesses.note(principal, found.registered, self.clock.boot());
        }
    }
}

/// What the content of an event shows: never what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ContentSight {
    /// Bytes of all fields.
    bytes: usize,
    /// Whether a placeholder is in one of them.
    bears_placeholder: bool,
    /// Registered values in them. Bytes that a program keeps, such as a file, do not count as guesses.
    registered: u32,
}

impl ContentSight {
    fn of(event: &JournalEvent) -> Self {
        let mut sight = Self::default();
        event.for_each_content(&mut |field, leaf| {
            sight.bytes = sight.bytes.saturating_add(leaf.byte_count());
            leaf.for_each_text(&mut |text| {
                if !text.contains(PLACEHOLDER_BEGINS) {
                    return;
                }
                sight.bears_placeholder = true;
                if field.class != ContentClass::Bytes {
                    let met = u32::try_from(text.matches(REGISTERED_PLACEHOLDER).count());
                    sight.registered = sight.registered.saturating_add(met.unwrap_or(u32::MAX));
                }
            });
        });
        sight
    }
}

#[cfg(test)]
mod tests;
