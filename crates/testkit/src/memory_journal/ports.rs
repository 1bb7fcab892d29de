//! The ports of a journal, over rows and entries in memory.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_journal_core::family::{ReadFamilies, Snapshot, SnapshotQuery};
use palyra_ports::maintain_journal::{
    JournalHealth, JournalStatus, MaintainJournal, ProgressCallback, RebuildError, VerifyReport, WalShrink,
};
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries, TAPE_PAGE_BYTES_MAX};
use palyra_ports::{
    AppendError, AppendTape, CommitReceipt, JournalAppendRequest, ReadError, ReadTape, TapePage,
};
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::session::SessionRef;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{RunId, Seq, TapeSeq};

use super::entry::MemoryEntry;
use super::{MEMORY_LOG_ID, MemoryJournal};

type JournalReading<T> = BoxFuture<'static, Result<T, ReadError>>;

fn done<T: Send + 'static>(value: T) -> JournalReading<T> {
    ready(Ok(value)).boxed()
}

impl AppendTape for MemoryJournal {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let answered = self.lock().append(self.epoch, request);
        async move { answered.await.unwrap_or(Err(AppendError::Closed)) }.boxed()
    }
}

impl ReadTape for MemoryJournal {
    fn tape(&self, run: RunId, after: TapeSeq, limit: usize) -> JournalReading<TapePage> {
        let state = self.lock();
        let wanted = |entry: &&MemoryEntry| entry.new.run.is_some_and(|(own, at)| own == run && at > after);
        done(page(state.entries.iter().filter(wanted), limit))
    }

    fn session_tape(
        &self,
        session: SessionRef,
        after: Option<Seq>,
        limit: usize,
    ) -> JournalReading<TapePage> {
        let state = self.lock();
        let wanted = |entry: &&MemoryEntry| {
            entry.new.run.is_some()
                && entry.new.principal == session.principal
                && entry.new.session == Some(session.id)
                && after.is_none_or(|after| entry.seq > after)
        };
        done(page(state.entries.iter().filter(wanted), limit))
    }

    fn blob(&self, place: BlobRef) -> JournalReading<Option<Blob>> {
        let state = self.lock();
        let wanted = |entry: &&MemoryEntry| entry.new.run == Some((place.run, place.tape_seq));
        let index = usize::try_from(place.index).unwrap_or(usize::MAX);
        done(state.entries.iter().find(wanted).and_then(|entry| entry.blobs.get(index).cloned()))
    }
}

fn page<'a>(entries: impl Iterator<Item = &'a MemoryEntry>, limit: usize) -> TapePage {
    let limit = limit.clamp(1, MAX_TAPE_ENTRIES_PER_RESPONSE);
    let mut page = TapePage::default();
    let mut bytes = 0;
    for entry in entries {
        bytes += entry.content_bytes();
        let full = page.entries.len() >= limit || (!page.entries.is_empty() && bytes > TAPE_PAGE_BYTES_MAX);
        if full {
            page.more = MoreEntries::Some;
            break;
        }
        page.entries.extend(entry.tape_record());
    }
    page
}

impl ReadFamilies for MemoryJournal {
    fn run_query(&self, query: SnapshotQuery) -> JournalReading<()> {
        ready(self.lock().read_rows(|rows, log| query(Snapshot { rows, log }))).boxed()
    }
}

impl MaintainJournal for MemoryJournal {
    fn status(&self) -> JournalStatus {
        let state = self.lock();
        JournalStatus {
            log_id: MEMORY_LOG_ID,
            epoch: self.epoch,
            health: match state.read_only {
                Some(_) => JournalHealth::Quarantined,
                None => JournalHealth::Writable,
            },
            cause: state.read_only,
            integrity: palyra_ports::Integrity::NotChecked,
            entries: state.entries.len() as u64,
            commits: state.commits,
            rows: state.rows,
            bytes: state.bytes,
            database_bytes: 0,
            wal_bytes: 0,
        }
    }

    fn verify(&self, progress: ProgressCallback) -> JournalReading<VerifyReport> {
        let entries = self.lock().entries.len() as u64;
        progress(entries, entries);
        done(VerifyReport { entries, head: [0; 32], fault: None, signed_heads: 0, signed_entries: 0 })
    }

    fn rebuild(&self, progress: ProgressCallback) -> BoxFuture<'static, Result<u64, RebuildError>> {
        let mut state = self.lock();
        if state.read_only.is_some() {
            return ready(Err(AppendError::Quarantined.into())).boxed();
        }
        state.rebuild();
        let entries = state.entries.len() as u64;
        progress(entries, entries);
        ready(Ok(entries)).boxed()
    }

    fn shrink_wal(&self) -> BoxFuture<'static, Result<WalShrink, AppendError>> {
        ready(Ok(WalShrink::Done)).boxed()
    }

    fn entries(&self, from: Seq, limit: usize) -> JournalReading<Vec<JournalEventRecord>> {
        let state = self.lock();
        let from = usize::try_from(from.0).unwrap_or(usize::MAX);
        let wanted = state.entries.iter().skip(from).take(limit.clamp(1, 1_000));
        done(wanted.map(|entry| state.record(entry)).collect())
    }
}
