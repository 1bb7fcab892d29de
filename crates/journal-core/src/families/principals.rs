//! Principals: the names behind the ids, their roles, and whether they are disabled; the latest of each counts.

use palyra_types::access::{PrincipalKind, PrincipalRecord, Role};
use palyra_types::event::{AccessEvent, JournalEvent};
use palyra_types::{PrincipalId, Redacted, Seq, Timestamp};

use crate::family::{
    ContentCell, ContentColumn, ContentSource, Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry,
    IndexKey, RowStore, RowsPerKey, StoreFault, StoredRow, all_rows,
};

/// The family.
pub struct PrincipalFamily;

/// A principal and the entry that its name comes from.
#[derive(Debug, Clone)]
pub struct PrincipalRow {
    /// What is known of it.
    pub record: PrincipalRecord,
    /// The latest registration.
    pub named: Seq,
    /// The latest setting of the time zone, or the first entry of the principal.
    pub zoned: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PrincipalFacts {
    #[prost(bytes = "vec", tag = "1")]
    principal: Vec<u8>,
    #[prost(uint32, tag = "2")]
    kind: u32,
    #[prost(uint32, tag = "3")]
    role: u32,
    #[prost(sint64, optional, tag = "4")]
    disabled: Option<i64>,
}

/// The kinds in the order of their numbers in rows, which are made again from the journal.
const KINDS: [PrincipalKind; 4] =
    [PrincipalKind::Person, PrincipalKind::ChannelAccount, PrincipalKind::Service, PrincipalKind::Worker];

const BY_PRINCIPAL: usize = 0;

fn place_of<T: PartialEq>(all: &[T], value: &T) -> u32 {
    all.iter().zip(0..).find(|(one, _)| *one == value).map_or(u32::MAX, |(_, place)| place)
}

fn key(principal: PrincipalId) -> IndexKey {
    IndexKey::new().bytes(&principal.to_bytes())
}

impl Family for PrincipalFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "principal",
        version: 3,
        indexes: &[FamilyIndex { name: "by_principal", rows_per_key: RowsPerKey::One }],
        content: &[
            ContentColumn { name: "name", source: ContentSource::Own },
            ContentColumn { name: "time_zone", source: ContentSource::Own },
        ],
    };

    type Row = PrincipalRow;

    fn facts(row: &PrincipalRow) -> Vec<u8> {
        let PrincipalRecord { id, name: _, kind, role, disabled, time_zone: _ } = &row.record;
        prost::Message::encode_to_vec(&PrincipalFacts {
            principal: id.to_bytes().to_vec(),
            kind: place_of(&KINDS, kind),
            role: place_of(&Role::ALL, role),
            disabled: disabled.map(|time| time.0),
        })
    }

    fn content(row: &PrincipalRow) -> Vec<ContentCell> {
        vec![
            ContentCell::new(row.record.name.expose().as_bytes(), row.named),
            ContentCell::new(row.record.time_zone.expose().as_bytes(), row.zoned),
        ]
    }

    fn load(stored: &StoredRow) -> Option<PrincipalRow> {
        let facts = <PrincipalFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        let [name, time_zone] = stored.content.as_slice() else { return None };
        let record = PrincipalRecord {
            id: PrincipalId::from_bytes(facts.principal.try_into().ok()?),
            name: Redacted::from_stored(name.to_text()?),
            kind: *KINDS.get(usize::try_from(facts.kind).ok()?)?,
            role: *Role::ALL.get(usize::try_from(facts.role).ok()?)?,
            disabled: facts.disabled.map(Timestamp),
            time_zone: Redacted::from_stored(time_zone.to_text()?),
        };
        Some(PrincipalRow { record, named: name.source, zoned: time_zone.source })
    }

    fn index(row: &PrincipalRow, _index: usize) -> Option<IndexKey> {
        Some(key(row.record.id))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Access(event) = entry.event else { return Ok(()) };
        match event {
            AccessEvent::PrincipalRegistered { principal, name, kind, role } => {
                let mut record = PrincipalRecord {
                    id: *principal,
                    name: name.clone(),
                    kind: *kind,
                    role: role.unwrap_or_default(),
                    disabled: None,
                    time_zone: Redacted::default(),
                };
                let Some((row, known)) = rows.find(BY_PRINCIPAL, &key(*principal))? else {
                    let row = PrincipalRow { record, named: entry.seq, zoned: entry.seq };
                    return rows.insert(entry, row);
                };
                record.role = role.unwrap_or(known.record.role);
                record.disabled = known.record.disabled;
                record.time_zone = known.record.time_zone.clone();
                let zoned = known.zoned;
                rows.change(row, |row| *row = PrincipalRow { record, named: entry.seq, zoned })
            }
            AccessEvent::PrincipalRenamed { principal, name } => {
                rows.change_by(BY_PRINCIPAL, &key(*principal), |row| {
                    row.record.name = name.clone();
                    row.named = entry.seq;
                })
            }
            AccessEvent::RoleGiven { principal, role } => {
                rows.change_by(BY_PRINCIPAL, &key(*principal), |row| row.record.role = *role)
            }
            AccessEvent::PrincipalDisabled { principal } => {
                rows.change_by(BY_PRINCIPAL, &key(*principal), |row| {
                    row.record.disabled = row.record.disabled.or(Some(entry.time));
                })
            }
            AccessEvent::PrincipalEnabled { principal } => {
                rows.change_by(BY_PRINCIPAL, &key(*principal), |row| row.record.disabled = None)
            }
            AccessEvent::TimeZoneSet { principal, time_zone } => {
                rows.change_by(BY_PRINCIPAL, &key(*principal), |row| {
                    row.record.time_zone = time_zone.clone();
                    row.zoned = entry.seq;
                })
            }
            AccessEvent::TokenCreated(_)
            | AccessEvent::TokenRevoked { .. }
            | AccessEvent::PageSessionBegun { .. }
            | AccessEvent::ActRefused(_) => Ok(()),
        }
    }
}

/// Returns all principals in order of id.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn all(rows: &mut dyn RowStore) -> Result<Vec<PrincipalRecord>, StoreFault> {
    let found = all_rows::<PrincipalFamily>(rows, BY_PRINCIPAL)?;
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}
