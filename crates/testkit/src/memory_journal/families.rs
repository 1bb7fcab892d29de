//! The families of records over rows in memory: the same folds and queries as those of the real journal.

use palyra_journal_core::families::FamilySet;
use palyra_journal_core::family::{FoldedEntry, LogView, LoggedEntry, MemoryRows, RowStore, StoreFault};
use palyra_ports::ReadError;
use palyra_types::Seq;
use palyra_types::event::JournalEvent;
use palyra_types::proof::SeqRange;

use super::entry::MemoryEntry;

/// Rows of families.
#[derive(Default)]
pub(super) struct FamilyRows {
    families: FamilySet,
    rows: MemoryRows,
}

impl FamilyRows {
    /// Folds an entry and writes what changed.
    pub(super) fn fold(&mut self, entry: &MemoryEntry) {
        let new = &entry.new;
        let folded = FoldedEntry {
            seq: entry.seq,
            kind: kind_of(&new.event),
            time: new.time,
            principal: new.principal,
            session: new.session,
            run: new.run,
            event: &new.event,
        };
        let folded = self.families.fold(&mut self.rows, &folded);
        folded.and_then(|_| self.families.flush(&mut self.rows)).expect("rows in memory are always written");
    }

    /// Clears what comes from an erased entry.
    pub(super) fn erase(&mut self, seq: Seq) {
        let ranges = [SeqRange { first: seq, last: seq }];
        self.families.erase_content(&mut self.rows, &ranges).expect("rows in memory are always written");
    }

    /// Runs a query over the rows and the entries that they name.
    pub(super) fn read<T>(
        &mut self,
        entries: &[MemoryEntry],
        query: impl FnOnce(&mut dyn RowStore, &mut dyn LogView) -> Result<T, StoreFault>,
    ) -> Result<T, ReadError> {
        query(&mut self.rows, &mut MemoryLog(entries))
            .map_err(|fault| ReadError::Storage { what: fault.to_string() })
    }
}

fn kind_of(event: &JournalEvent) -> u16 {
    event.kind().map_or(0, palyra_types::event::kind::EventKind::number)
}

/// The entries that rows name.
struct MemoryLog<'a>(&'a [MemoryEntry]);

impl LogView for MemoryLog<'_> {
    fn entry(&mut self, seq: Seq) -> Result<LoggedEntry, StoreFault> {
        let at = usize::try_from(seq.0).unwrap_or(usize::MAX);
        let entry = self.0.get(at).ok_or(StoreFault::Contradiction { seq })?;
        let new = entry.new.clone();
        Ok(LoggedEntry {
            time: new.time,
            principal: new.principal,
            session: new.session,
            run: new.run,
            event: new.event,
        })
    }
}
