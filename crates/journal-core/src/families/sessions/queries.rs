//! Lists of sessions, most recently used first.
//!
//! No index has that order, because each entry of a tape would write to it: a list reads the rows of one principal and
//! sorts them.

use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, SessionFilter, SessionQuery};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{PrincipalId, Redacted, SessionId, Timestamp};

use super::{BY_KEY, BY_SESSION, SessionFamily, key, named, of_principal};
use crate::families::id_query::IdQuery;
use crate::family::{
    FamilyCache, IndexKey, KeyRange, RowStore, ScanOrder, StoreFault, find_row, scan_rows, visit_rows,
};

/// Returns whether neither the session nor another one with its key exists, in the writer's transaction.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn is_absent(
    rows: &mut FamilyCache<'_, SessionFamily>,
    session: SessionRef,
    text: Option<&str>,
) -> Result<bool, StoreFault> {
    if rows.find(BY_SESSION, &key(session))?.is_some() {
        return Ok(false);
    }
    let Some(text) = text else { return Ok(true) };
    Ok(rows.find(BY_KEY, &named(session.principal, text))?.is_none())
}

/// Returns a session.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn record(
    rows: &mut dyn RowStore,
    session: SessionRef,
) -> Result<Option<OrchestratorSessionRecord>, StoreFault> {
    Ok(find_row::<SessionFamily>(rows, BY_SESSION, &key(session))?.map(|(_, row)| row.record))
}

/// Visits the sessions of all principals in the order of their ids, few in memory at a time.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn visit(
    rows: &mut dyn RowStore,
    mut visit: impl FnMut(OrchestratorSessionRecord),
) -> Result<(), StoreFault> {
    let all = KeyRange::of_prefix(IndexKey::new());
    visit_rows::<SessionFamily>(rows, BY_SESSION, all, |row| visit(row.record))
}

/// Returns the session that a principal calls by this key.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn record_by_key(
    rows: &mut dyn RowStore,
    principal: PrincipalId,
    text: &str,
) -> Result<Option<OrchestratorSessionRecord>, StoreFault> {
    Ok(find_row::<SessionFamily>(rows, BY_KEY, &named(principal, text))?.map(|(_, row)| row.record))
}

/// Returns a page of a principal's sessions, most recently used first. `has_input` says whether an input of a session
/// holds a text in lower case.
///
/// # Errors
/// [`StoreFault`] when the store or `has_input` fails.
pub fn records(
    rows: &mut dyn RowStore,
    query: &SessionQuery,
    mut has_input: impl FnMut(&mut dyn RowStore, SessionRef, &str) -> Result<bool, StoreFault>,
) -> Result<Vec<OrchestratorSessionRecord>, StoreFault> {
    let range = KeyRange::of_prefix(of_principal(query.principal));
    let found = scan_rows::<SessionFamily>(rows, BY_SESSION, range, ScanOrder::Ascending, usize::MAX)?;
    let mut found: Vec<OrchestratorSessionRecord> =
        found.into_iter().map(|(_, row)| row.record).filter(|record| is_wanted(query, record)).collect();
    found.sort_unstable_by_key(|record| std::cmp::Reverse(place(record)));
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let Some(needle) = query.search.as_ref().map(|text| text.expose().to_lowercase()) else {
        found.truncate(limit);
        return Ok(found);
    };
    let mut page = Vec::new();
    for record in found {
        if page.len() == limit {
            break;
        }
        if is_named(&record, &needle) || has_input(rows, record.session, &needle)? {
            page.push(record);
        }
    }
    Ok(page)
}

fn is_named(record: &OrchestratorSessionRecord, needle: &str) -> bool {
    let mut names = [&record.key, &record.label].into_iter().flatten().map(Redacted::expose);
    names.any(|name| name.to_lowercase().contains(needle))
}

fn place(record: &OrchestratorSessionRecord) -> (Timestamp, SessionId) {
    (record.updated, record.session.id)
}

fn is_wanted(query: &SessionQuery, record: &OrchestratorSessionRecord) -> bool {
    query.after.is_none_or(|after| place(record) < after)
        && query.surface.is_none_or(|surface| record.surface == Some(surface))
        && match query.only {
            SessionFilter::Current => record.archived.is_none(),
            SessionFilter::Archived => record.archived.is_some(),
            SessionFilter::All => true,
        }
}

/// Returns ids of sessions that begin or end with a text, the highest first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn ids(rows: &mut dyn RowStore, query: &IdQuery) -> Result<Vec<[u8; 16]>, StoreFault> {
    let range = KeyRange::of_prefix(query.principal.map_or_else(IndexKey::new, of_principal));
    let found = scan_rows::<SessionFamily>(rows, BY_SESSION, range, ScanOrder::Ascending, usize::MAX)?;
    let ids = found.into_iter().map(|(_, row)| row.record.session.id.to_bytes());
    let is_below = |id: &[u8; 16]| query.below.is_none_or(|below| *id < below);
    let mut ids: Vec<[u8; 16]> = ids.filter(|id| is_below(id) && query.fragment.matches(*id)).collect();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.truncate(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
    Ok(ids)
}
