//! The journal: its write-ahead log, its space, its derived tables, its entries.

use palyra_types::incident::{IncidentCause, IncidentEvidence, IncidentSubject};

use crate::facts::JournalFact;
use crate::finding::DomainLook;

/// Bytes from which the write-ahead log is too large: four times the size at which the writer moves it while it is busy.
pub(crate) const WAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Finds a write-ahead log that has been too large for its window, and everything else at once.
pub(super) fn look(look: &mut DomainLook<'_>, journal: &JournalFact) {
    let whole = IncidentSubject::default();
    if journal.wal_bytes > WAL_BYTES_MAX {
        let evidence = IncidentEvidence {
            measured: journal.wal_bytes,
            limit: WAL_BYTES_MAX,
            ..IncidentEvidence::default()
        };
        let window = look.times.condition_window;
        look.lasting(IncidentCause::WalTooLarge, whole, window, evidence);
    }
    let at_once = [
        (IncidentCause::DiskLow, journal.is_disk_low, journal.spare_bytes),
        (IncidentCause::ProjectionDiffers, journal.projection_differs, 0),
        (IncidentCause::EntryDamaged, journal.damaged_entry.is_some(), journal.damaged_entry.unwrap_or(0)),
    ];
    for (cause, _, measured) in at_once.into_iter().filter(|(_, is_wrong, _)| *is_wrong) {
        look.at_once(cause, whole, IncidentEvidence { measured, ..IncidentEvidence::default() });
    }
}
