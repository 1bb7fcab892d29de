//! Kinds that the log holds, so that a start knows at once whether there is one that it cannot read: one row per kind and
//! place, made by the first such entry.

use palyra_types::event::kind::KindPlace;

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, RowStore, RowsPerKey,
    ScanOrder, StoreFault, StoredRow, scan_rows,
};

/// The family.
pub struct KindSeenFamily;

/// A kind and where it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenKind {
    /// Whether it is the kind of an entry of a tape.
    pub place: KindPlace,
    /// Its number.
    pub number: u16,
}

#[derive(Clone, PartialEq, prost::Message)]
struct SeenKindFacts {
    #[prost(uint32, tag = "1")]
    number: u32,
    #[prost(bool, tag = "2")]
    on_tape: bool,
}

const BY_KIND: usize = 0;

fn key_of(place: KindPlace) -> IndexKey {
    IndexKey::new().byte(u8::from(place == KindPlace::Tape))
}

impl SeenKind {
    fn key(self) -> IndexKey {
        key_of(self.place).number(self.number.into())
    }
}

impl Family for KindSeenFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "kind_seen",
        version: 1,
        indexes: &[FamilyIndex { name: "by_kind", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    type Row = SeenKind;

    fn facts(row: &SeenKind) -> Vec<u8> {
        let on_tape = row.place == KindPlace::Tape;
        prost::Message::encode_to_vec(&SeenKindFacts { number: row.number.into(), on_tape })
    }

    fn load(stored: &StoredRow) -> Option<SeenKind> {
        let facts = <SeenKindFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let place = if facts.on_tape { KindPlace::Tape } else { KindPlace::Log };
        Some(SeenKind { place, number: facts.number.try_into().ok()? })
    }

    fn index(row: &SeenKind, _index: usize) -> Option<IndexKey> {
        Some(row.key())
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let place = if entry.run.is_some() { KindPlace::Tape } else { KindPlace::Log };
        let kind = SeenKind { place, number: entry.kind };
        match rows.find(BY_KIND, &kind.key())? {
            Some(_) => Ok(()),
            None => rows.insert(entry, kind),
        }
    }
}

/// Returns the kinds that were seen outside tapes, in order.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn outside_tapes(rows: &mut dyn RowStore) -> Result<Vec<u16>, StoreFault> {
    let range = KeyRange::of_prefix(key_of(KindPlace::Log));
    let found = scan_rows::<KindSeenFamily>(rows, BY_KIND, range, ScanOrder::Ascending, usize::MAX)?;
    Ok(found.into_iter().map(|(_, kind)| kind.number).collect())
}
