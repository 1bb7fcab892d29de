//! Whether what is missing is what erasures took: for whoever verifies the log.

use palyra_ledger::Envelope;
use palyra_types::Seq;
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::SeqRange;
use rusqlite::{Connection, OptionalExtension};

use super::find::bounds;
use crate::fault::EntryFault;
use crate::sql::seq_from_sql;
use palyra_journal_core::codec;
use palyra_journal_core::seq_ranges::{SeqRanges, hold, joined};
use palyra_types::event::kind::{EventKind, KindPlace};

/// Entries without content, as a walk over the log meets them.
#[derive(Debug, Default)]
pub(crate) struct ErasedCover {
    missing: SeqRanges,
}

impl ErasedCover {
    /// Notes an entry whose payload is not there.
    pub(crate) fn miss(&mut self, seq: Seq) {
        self.missing.take(seq);
    }

    /// Returns the first entry that lacks its content unexplained, or has content that was erased.
    pub(crate) fn first_fault(&self, connection: &Connection) -> rusqlite::Result<Option<(Seq, EntryFault)>> {
        let erased = erased(connection)?;
        let unexplained = self.missing.ranges().iter().find_map(|range| uncovered(*range, &erased));
        let sql = "SELECT seq FROM payload WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT 1";
        let mut statement = connection.prepare(sql)?;
        let mut back = None;
        for range in &erased {
            back = statement.query_row(bounds(*range), |row| row.get(0)).optional()?.map(seq_from_sql);
            if back.is_some() {
                break;
            }
        }
        let unexplained = unexplained.map(|seq| (seq, EntryFault::PayloadMissing));
        let back = back.map(|seq| (seq, EntryFault::PayloadBack));
        Ok(unexplained.into_iter().chain(back).min_by_key(|(seq, _)| *seq))
    }
}

/// Returns whether an entry erases only what lies before it.
pub(crate) fn names_earlier_only(seq: Seq, event: &JournalEvent) -> bool {
    let JournalEvent::Log(LogEvent::Erased { ranges, .. }) = event else { return true };
    ranges.iter().all(|range| range.last < seq && range.first <= range.last)
}

/// Returns what all erasures name; entries that cannot be read are named by the walk.
fn erased(connection: &Connection) -> rusqlite::Result<Vec<SeqRange>> {
    let mut statement =
        connection.prepare("SELECT envelope FROM entry WHERE run_id IS NULL AND kind = ?1 ORDER BY seq")?;
    let envelopes = statement.query_map([EventKind::Erased.number()], |row| row.get::<_, Vec<u8>>(0))?;
    let mut all = Vec::new();
    for envelope in envelopes {
        let Ok(envelope) = Envelope::decode(&envelope?) else { continue };
        let event = codec::decode(envelope.kind, KindPlace::Log, &envelope.facts, &[]);
        if let Ok(JournalEvent::Log(LogEvent::Erased { ranges, .. })) = event {
            all.extend(ranges);
        }
    }
    Ok(joined(all))
}

/// Returns the first entry of a range that no other range holds.
fn uncovered(range: SeqRange, by: &[SeqRange]) -> Option<Seq> {
    let mut at = range.first;
    while at <= range.last {
        if !hold(by, at) {
            return Some(at);
        }
        let covering = by.partition_point(|other| other.last < at);
        at = by.get(covering)?.last.next();
    }
    None
}
