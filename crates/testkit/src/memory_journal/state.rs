//! The entries, what they fold to, and what the next append is told to do.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures::channel::oneshot;
use palyra_journal_core::families::{input_keys, runs, sessions};
use palyra_journal_core::family::{LogView, RowStore, StoreFault};
use palyra_ports::append_tape::{APPEND_BYTES_MAX, APPEND_ENTRIES_MAX};
use palyra_ports::{
    AppendError, CommitReceipt, Guard, JournalAppendRequest, NewEntry, ReadError, ReadOnlyCause,
};
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_types::event::{JournalEvent, LogEvent, RunEvent, SessionEvent, TapeEvent};
use palyra_types::run::{IdempotencyDigest, RunRecord};
use palyra_types::session::OrchestratorSessionRecord;
use palyra_types::tape::{ContentState, JournalEventRecord};
use palyra_types::{Epoch, PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

use super::content;
use super::entry::MemoryEntry;
use super::families::FamilyRows;

/// What the next append is told to do.
pub(super) enum AppendFault {
    Refuse(AppendError),
    LoseAnswer,
}

struct DelayedAppend {
    epoch: Epoch,
    request: JournalAppendRequest,
    answer: oneshot::Sender<Result<CommitReceipt, AppendError>>,
}

/// Everything behind the handle.
#[derive(Default)]
pub(super) struct JournalState {
    pub(super) epoch: Epoch,
    pub(super) entries: Vec<MemoryEntry>,
    pub(super) families: FamilyRows,
    pub(super) statics: BTreeMap<[u8; 32], Arc<str>>,
    pub(super) failures: VecDeque<AppendFault>,
    pub(super) read_only: Option<ReadOnlyCause>,
    pub(super) commits: u64,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    held: Option<VecDeque<DelayedAppend>>,
}

impl JournalState {
    /// Begins an epoch with entries of the journal's own; they are not counted.
    pub(super) fn begin(&mut self, epoch: Epoch, mut events: Vec<JournalEvent>) {
        self.epoch = epoch;
        self.read_only = None;
        events.push(JournalEvent::Log(LogEvent::EpochStarted { epoch, key: [0; 32], sealing: None }));
        for event in events {
            let time = Timestamp::default();
            self.push(NewEntry { time, principal: PrincipalId::NIL, session: None, run: None, event });
        }
    }

    pub(super) fn hold(&mut self) {
        self.held.get_or_insert_default();
    }

    pub(super) fn held(&self) -> usize {
        self.held.as_ref().map_or(0, VecDeque::len)
    }

    pub(super) fn release(&mut self) {
        for held in self.held.take().unwrap_or_default() {
            let result = self.append_now(held.epoch, held.request);
            let _ = held.answer.send(result);
        }
    }

    /// Appends at once, or queues behind others while appends are held back.
    pub(super) fn append(
        &mut self,
        epoch: Epoch,
        request: JournalAppendRequest,
    ) -> oneshot::Receiver<Result<CommitReceipt, AppendError>> {
        let (answer, answered) = oneshot::channel();
        match &mut self.held {
            Some(held) => held.push_back(DelayedAppend { epoch, request, answer }),
            None => {
                let result = self.append_now(epoch, request);
                let _ = answer.send(result);
            }
        }
        answered
    }

    fn append_now(
        &mut self,
        epoch: Epoch,
        request: JournalAppendRequest,
    ) -> Result<CommitReceipt, AppendError> {
        let told = self.failures.pop_front();
        if let Some(AppendFault::Refuse(error)) = told {
            return Err(error);
        }
        if self.read_only.is_some() {
            return Err(AppendError::Quarantined);
        }
        check_limits(&request)?;
        if epoch != self.epoch {
            return Err(AppendError::Fenced);
        }
        let refused = request.guards.iter().position(|guard| !self.holds(guard));
        if let Some(index) = refused {
            return Err(AppendError::GuardFailed { index });
        }
        self.check_tapes(&request)?;
        self.check_unique(&request)?;
        let first_seq = Seq(self.entries.len() as u64);
        self.commits += 1;
        for text in request.statics {
            self.statics.entry(text.sha256).or_insert(text.body);
        }
        let first = self.entries.len();
        for entry in request.entries {
            self.rows += 1;
            self.bytes += content::content_bytes(&entry.event) as u64;
            self.push(entry);
        }
        for by in request.actors {
            self.entries[first + by.entry].actor = Some(by.actor);
        }
        for beside in request.blobs {
            self.bytes += beside.blobs.iter().map(|blob| blob.expose().len() as u64).sum::<u64>();
            self.entries[first + beside.entry].blobs = beside.blobs;
        }
        match told {
            Some(AppendFault::LoseAnswer) => Err(AppendError::Unknown),
            Some(AppendFault::Refuse(_)) | None => Ok(CommitReceipt { first_seq }),
        }
    }

    pub(super) fn push(&mut self, new: NewEntry) {
        let seq = Seq(self.entries.len() as u64);
        let entry = MemoryEntry {
            seq,
            epoch: self.epoch,
            content: ContentState::Present,
            new,
            actor: None,
            blobs: Vec::new(),
        };
        self.families.fold(&entry);
        self.entries.push(entry);
    }

    pub(super) fn append_unknown(&mut self, like: &NewEntry, kind: u16) -> Seq {
        let event = match like.run {
            Some(_) => JournalEvent::Tape(TapeEvent::Unknown { kind }),
            None => JournalEvent::Unknown { kind },
        };
        self.push(NewEntry { event, ..like.clone() });
        Seq(self.entries.len() as u64 - 1)
    }

    pub(super) fn erase(&mut self, seq: Seq) {
        if let Some(entry) = usize::try_from(seq.0).ok().and_then(|at| self.entries.get_mut(at)) {
            entry.new.event.erase_content();
            entry.blobs.clear();
            entry.content = ContentState::Erased;
            self.families.erase(seq);
        }
    }

    /// Runs a query over the rows of families.
    pub(super) fn read_rows<T>(
        &mut self,
        query: impl FnOnce(&mut dyn RowStore, &mut dyn LogView) -> Result<T, StoreFault>,
    ) -> Result<T, ReadError> {
        self.families.read(&self.entries, query)
    }

    /// Makes the rows of families again, as a rebuild does; an erasure changes only the rows that it concerns.
    pub(super) fn rebuild(&mut self) {
        self.families = FamilyRows::default();
        self.entries.iter().for_each(|entry| self.families.fold(entry));
    }

    fn holds(&mut self, guard: &Guard) -> bool {
        match guard {
            Guard::RunAt { run, tape_seq } => {
                self.run(*run).map_or(TapeSeq(0), |record| record.last_tape_seq) == *tape_seq
            }
            Guard::IdempotencyUnseen { principal, digest } => self.run_of_key(*principal, *digest).is_none(),
            Guard::NoOtherRunInProgress { session, run } => self
                .read_rows(|rows, _| runs::has_other_in_progress(rows, *session, *run))
                .is_ok_and(|has_other| !has_other),
            Guard::ApprovalPending { approval } => self.is_pending(*approval),
            Guard::GrantUsable { grant, now } => self.is_usable(*grant, *now),
            Guard::EffectUnknown { run, effect } => self.is_unknown(*run, *effect),
            Guard::SessionAbsent { session, key } => {
                let other = key.as_ref().and_then(|key| self.session_by_key(session.principal, key.expose()));
                let own = self.read_rows(|rows, _| sessions::record(rows, *session));
                other.is_none() && own.ok().flatten().is_none()
            }
        }
    }

    fn session_by_key(&mut self, principal: PrincipalId, key: &str) -> Option<OrchestratorSessionRecord> {
        self.read_rows(|rows, _| sessions::record_by_key(rows, principal, key)).ok().flatten()
    }

    /// Returns a run.
    pub(super) fn run(&mut self, run: RunId) -> Option<RunRecord> {
        self.read_rows(|rows, _| runs::record(rows, run)).ok().flatten()
    }

    /// Returns the run that an input with a key began or joined.
    pub(super) fn run_of_key(&mut self, principal: PrincipalId, digest: IdempotencyDigest) -> Option<RunId> {
        self.read_rows(|rows, _| input_keys::run_of_key(rows, principal, digest)).ok().flatten()
    }

    fn check_tapes(&mut self, request: &JournalAppendRequest) -> Result<(), AppendError> {
        let mut places: BTreeMap<RunId, (TapeSeq, PrincipalId, Option<SessionId>)> = BTreeMap::new();
        for entry in &request.entries {
            let Some((run, tape_seq)) = entry.run else { continue };
            let place = places.entry(run).or_insert_with(|| match self.run(run) {
                Some(record) => (record.last_tape_seq, record.principal, Some(record.session)),
                None => (TapeSeq(0), entry.principal, entry.session),
            });
            if place.0.next() != tape_seq {
                return Err(AppendError::Invalid { what: "a tape number is out of line" });
            }
            if (place.1, place.2) != (entry.principal, entry.session) {
                return Err(AppendError::Invalid { what: "a run belongs to another session" });
            }
            place.0 = tape_seq;
        }
        Ok(())
    }

    /// What the real journal's unique indexes refuse.
    fn check_unique(&mut self, request: &JournalAppendRequest) -> Result<(), AppendError> {
        let mut keys = Vec::new();
        for entry in &request.entries {
            let taken = match &entry.event {
                JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) => started
                    .idempotency
                    .is_some_and(|digest| self.run_of_key(entry.principal, digest).is_some()),
                JournalEvent::Session(SessionEvent::Opened { session, key: Some(key), .. }) => {
                    let key = (entry.principal, key.expose().clone());
                    let other = |own: OrchestratorSessionRecord| own.session.id != *session;
                    let taken = keys.contains(&key) || self.session_by_key(key.0, &key.1).is_some_and(other);
                    keys.push(key);
                    taken
                }
                _ => false,
            };
            if taken {
                return Err(AppendError::Invalid { what: "it contradicts what is stored" });
            }
        }
        Ok(())
    }

    /// Returns an entry as the journal's record of it.
    pub(super) fn record(&self, entry: &MemoryEntry) -> JournalEventRecord {
        let kind = match entry.new.event {
            JournalEvent::Unknown { kind } | JournalEvent::Tape(TapeEvent::Unknown { kind }) => kind,
            _ => 0,
        };
        JournalEventRecord {
            seq: entry.seq,
            epoch: entry.epoch,
            time: entry.new.time,
            principal: entry.new.principal,
            session: entry.new.session,
            run: entry.new.run,
            kind,
            leaf: [0; 32],
            content: entry.content,
            actor: entry.actor,
            event: entry.new.event.clone(),
        }
    }
}

fn check_limits(request: &JournalAppendRequest) -> Result<(), AppendError> {
    let invalid = |what| Err(AppendError::Invalid { what });
    if request.entries.is_empty() || request.entries.len() > APPEND_ENTRIES_MAX {
        return invalid("it has no or too many entries");
    }
    let beside = request.blobs.iter().flat_map(|beside| &beside.blobs).map(|blob| blob.expose().len());
    let bytes = request.entries.iter().map(|entry| content::content_bytes(&entry.event)).sum::<usize>()
        + beside.sum::<usize>();
    if bytes > APPEND_BYTES_MAX {
        return invalid("its content is too large");
    }
    if request.actors.iter().any(|by| by.entry >= request.entries.len()) {
        return invalid("an actor names no entry of it");
    }
    check_blobs(request)?;
    for entry in &request.entries {
        let started = matches!(entry.event, JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(_))));
        let fits = match (&entry.event, entry.run, entry.session) {
            (JournalEvent::Log(_), ..)
            | (JournalEvent::Unknown { .. } | JournalEvent::Tape(TapeEvent::Unknown { .. }), ..)
            | (JournalEvent::Tape(_), None, _)
            | (JournalEvent::Tape(_), _, None) => false,
            (JournalEvent::Tape(_), Some((_, at)), Some(_)) => started == (at == TapeSeq(1)),
            (_, run, _) => run.is_none(),
        };
        if !fits {
            return invalid("an entry does not belong in its place");
        }
    }
    Ok(())
}

/// Each entry brings exactly the blobs that its attachments name.
fn check_blobs(request: &JournalAppendRequest) -> Result<(), AppendError> {
    let invalid = Err(AppendError::Invalid { what: "a blob is not the one that its attachment names" });
    if request.blobs.iter().any(|beside| beside.entry >= request.entries.len()) {
        return invalid;
    }
    for (at, entry) in request.entries.iter().enumerate() {
        let brought = request.blobs.iter().find(|beside| beside.entry == at);
        let brought = brought.map_or(&[][..], |beside| &beside.blobs);
        let named: Vec<&Attachment> = attachments_of(&entry.event)
            .iter()
            .filter(|attachment| matches!(attachment.body, AttachmentBody::Blob { .. }))
            .collect();
        let fits = named.len() == brought.len()
            && named.iter().zip(brought).zip(0..).all(|((attachment, blob), at)| {
                attachment.body == AttachmentBody::Blob { index: at }
                    && attachment.bytes == blob.expose().len() as u64
            });
        if !fits {
            return invalid;
        }
    }
    Ok(())
}

fn attachments_of(event: &JournalEvent) -> &[Attachment] {
    match event {
        JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) => &started.input.attachments,
        JournalEvent::Tape(TapeEvent::Run(RunEvent::InputReceived { input, .. })) => &input.attachments,
        _ => &[],
    }
}
