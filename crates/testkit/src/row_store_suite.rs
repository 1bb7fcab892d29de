//! One conformance suite for every store of rows.
//!
//! Owns what [`RowStore`] promises, as cases over a family that no registry has. An adapter makes an empty table for
//! [`SAMPLE`] and calls [`every_case`]; [`random_operations`] compares it with the store in memory.

#![expect(clippy::unwrap_used, reason = "cases of a test suite fail by panicking")]

use palyra_journal_core::family::{
    ChangedColumns, ContentCell, ContentColumn, ContentSource, EncodedRow, FamilyIndex, FamilyTable,
    IndexKey, KeyRange, MemoryRows, RowId, RowLookup, RowScan, RowStore, RowWrite, RowsPerKey, ScanOrder,
};
use palyra_types::Seq;
use palyra_types::proof::SeqRange;

use crate::FixedEntropy;

/// A family with every sort of index and content.
pub const SAMPLE: &FamilyTable = &FamilyTable {
    name: "sample",
    version: 1,
    indexes: &[
        FamilyIndex { name: "by_name", rows_per_key: RowsPerKey::One },
        FamilyIndex { name: "by_group", rows_per_key: RowsPerKey::Many },
    ],
    content: &[
        ContentColumn { name: "text", source: ContentSource::Birth },
        ContentColumn { name: "note", source: ContentSource::Own },
    ],
};

const BY_NAME: usize = 0;
const BY_GROUP: usize = 1;
const TEXT: usize = 0;
const NOTE: usize = 1;

fn name(name: &str) -> IndexKey {
    IndexKey::new().text(name)
}

fn row(id: u64, named: Option<&str>, group: u64) -> EncodedRow {
    EncodedRow {
        facts: vec![u8::try_from(id % 256).unwrap(), 0],
        keys: vec![named.map(name), Some(IndexKey::new().number(group))],
        content: vec![ContentCell::new("text", Seq(id)), ContentCell::new("", Seq(id))],
    }
}

fn insert(store: &mut dyn RowStore, id: u64, row: &EncodedRow) {
    store.write(SAMPLE, RowId(id), RowWrite::Insert(row)).unwrap();
}

fn page(order: ScanOrder, limit: usize) -> RowScan {
    RowScan { index: BY_GROUP, range: KeyRange::of_prefix(IndexKey::new()), after: None, order, limit }
}

fn ids(store: &mut dyn RowStore, scan: &RowScan) -> Vec<u64> {
    store.scan(SAMPLE, scan).unwrap().iter().map(|scanned| scanned.row.id.0).collect()
}

/// Runs every case over a store without rows.
pub fn every_case(store: &mut dyn RowStore) {
    rows_are_found_by_id_and_key(store);
    pages_join_in_both_directions(store);
    facts_change_without_keys_and_content(store);
    content_is_found_by_its_source(store);
    a_key_of_one_row_is_not_given_twice(store);
}

fn rows_are_found_by_id_and_key(store: &mut dyn RowStore) {
    let sample = row(7, Some("seven"), 2);
    insert(store, 7, &sample);
    insert(store, 9, &row(9, None, 1));
    let by_id = store.get(SAMPLE, RowLookup::Id(RowId(7))).unwrap().unwrap();
    assert_eq!((&by_id.facts, &by_id.content), (&sample.facts, &sample.content));
    let key = name("seven");
    let by_key = store.get(SAMPLE, RowLookup::Key { index: BY_NAME, key: &key }).unwrap();
    assert_eq!(by_key, Some(by_id));
    let other = name("seve");
    assert_eq!(store.get(SAMPLE, RowLookup::Key { index: BY_NAME, key: &other }).unwrap(), None);
    assert_eq!(store.get(SAMPLE, RowLookup::Id(RowId(8))).unwrap(), None);
    let scan = RowScan { index: BY_NAME, ..page(ScanOrder::Ascending, 10) };
    assert_eq!(ids(store, &scan), [7], "a row without a key is not in the index");
}

fn pages_join_in_both_directions(store: &mut dyn RowStore) {
    for id in [3, 11, 5] {
        insert(store, id, &row(id, None, 2));
    }
    assert_eq!(ids(store, &page(ScanOrder::Ascending, 10)), [9, 3, 5, 7, 11]);
    for (order, expected) in
        [(ScanOrder::Ascending, [9, 3, 5, 7, 11]), (ScanOrder::Descending, [11, 7, 5, 3, 9])]
    {
        let mut scan = page(order, 2);
        let mut found = Vec::new();
        loop {
            let rows = store.scan(SAMPLE, &scan).unwrap();
            let Some(last) = rows.last() else { break };
            scan.after = Some((last.key.clone(), last.row.id));
            found.extend(rows.iter().map(|scanned| scanned.row.id.0));
        }
        assert_eq!(found, expected);
    }
    let range = KeyRange::of_prefix(IndexKey::new().number(1));
    assert_eq!(ids(store, &RowScan { range, ..page(ScanOrder::Descending, 10) }), [9]);
}

fn facts_change_without_keys_and_content(store: &mut dyn RowStore) {
    let new_facts = EncodedRow { facts: b"new".to_vec(), ..row(7, Some("not written"), 9) };
    store.write(SAMPLE, RowId(7), RowWrite::Update(&new_facts, ChangedColumns::NONE)).unwrap();
    let key = name("seven");
    let found = store.get(SAMPLE, RowLookup::Key { index: BY_NAME, key: &key }).unwrap().unwrap();
    assert_eq!((found.facts.as_slice(), found.content[TEXT].to_bytes()), (&b"new"[..], &b"text"[..]));
    let changed = EncodedRow {
        content: vec![ContentCell::new("", Seq(7)), ContentCell::new("a note", Seq(12))],
        ..row(7, Some("renamed"), 3)
    };
    store.write(SAMPLE, RowId(7), RowWrite::Update(&changed, ChangedColumns::ALL)).unwrap();
    assert_eq!(store.get(SAMPLE, RowLookup::Key { index: BY_NAME, key: &key }).unwrap(), None);
    assert_eq!(ids(store, &page(ScanOrder::Ascending, 10)), [9, 3, 5, 11, 7]);
    let found = store.get(SAMPLE, RowLookup::Id(RowId(7))).unwrap().unwrap();
    assert_eq!(found.content, changed.content);
}

fn content_is_found_by_its_source(store: &mut dyn RowStore) {
    let mut of = |column, first, last| {
        store.sourced(SAMPLE, column, SeqRange { first: Seq(first), last: Seq(last) }).unwrap()
    };
    assert_eq!(of(TEXT, 0, 9), [(RowId(3), Seq(3)), (RowId(5), Seq(5)), (RowId(9), Seq(9))]);
    assert_eq!(of(TEXT, 4, u64::MAX), [(RowId(5), Seq(5)), (RowId(9), Seq(9)), (RowId(11), Seq(11))]);
    assert_eq!(of(NOTE, 0, 11), []);
    assert_eq!(of(NOTE, 12, 12), [(RowId(7), Seq(12))]);
}

fn a_key_of_one_row_is_not_given_twice(store: &mut dyn RowStore) {
    let taken = row(20, Some("renamed"), 1);
    assert!(store.write(SAMPLE, RowId(20), RowWrite::Insert(&taken)).is_err());
    assert!(store.write(SAMPLE, RowId(7), RowWrite::Insert(&row(7, None, 1))).is_err());
    assert!(store.write(SAMPLE, RowId(3), RowWrite::Update(&taken, ChangedColumns::ALL)).is_err());
    assert_eq!(ids(store, &page(ScanOrder::Ascending, 10)), [9, 3, 5, 11, 7], "nothing was written");
}

/// Writes and reads at random, and compares every answer with that of the store in memory.
pub fn random_operations(store: &mut dyn RowStore, seed: u64, steps: u64) {
    let entropy = FixedEntropy::new(seed);
    let mut model = MemoryRows::default();
    for _ in 0..steps {
        let below = |end: u64| entropy.next_u64() % end;
        let (id, names) = (below(40), ["", "a", "a\0b", "日本", "zz"]);
        let named = (below(2) == 0).then(|| names[usize::try_from(below(5)).unwrap()]);
        let mut random = row(id, named, below(3));
        random.content[NOTE] = ContentCell::new(if below(2) == 0 { "note" } else { "" }, Seq(below(50)));
        let earlier = row(id, [None, Some("a")][usize::try_from(below(2)).unwrap()], below(3));
        let write = match below(3) {
            0 => RowWrite::Update(&random, random.changed_since(&earlier)),
            1 => RowWrite::Update(&random, ChangedColumns::ALL),
            _ => RowWrite::Insert(&random),
        };
        let written =
            [store.write(SAMPLE, RowId(id), write).is_ok(), model.write(SAMPLE, RowId(id), write).is_ok()];
        assert_eq!(written[0], written[1], "{write:?} of {id}");
        let scan = RowScan {
            index: usize::try_from(below(2)).unwrap(),
            after: (below(2) == 0).then(|| (IndexKey::new().number(below(3)), RowId(below(40)))),
            ..page([ScanOrder::Ascending, ScanOrder::Descending][usize::try_from(below(2)).unwrap()], 7)
        };
        assert_eq!(store.scan(SAMPLE, &scan).unwrap(), model.scan(SAMPLE, &scan).unwrap(), "{scan:?}");
        let by = RowLookup::Id(RowId(below(40)));
        assert_eq!(store.get(SAMPLE, by).unwrap(), model.get(SAMPLE, by).unwrap());
        let range = SeqRange { first: Seq(below(50)), last: Seq(below(50)) };
        for column in [TEXT, NOTE] {
            let found = [&mut *store, &mut model].map(|rows| rows.sourced(SAMPLE, column, range).unwrap());
            assert_eq!(found[0], found[1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_in_memory_passes() {
        every_case(&mut MemoryRows::default());
    }
}
