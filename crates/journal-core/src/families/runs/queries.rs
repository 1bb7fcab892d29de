//! Runs by name and key, and lists of them, newest first.

use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery, SessionTexts};
use palyra_types::run::{IdempotencyDigest, RunLifecycleState, RunRecord};
use palyra_types::session::SessionRef;
use palyra_types::{Content, PrincipalId, Redacted, RunId, Seq, Timestamp};

use super::{
    BY_IDEMPOTENCY, BY_RUN, OF_PRINCIPAL, OF_SESSION, OPEN, RunFamily, RunRow, WITH_CLIENT, idempotency_key,
    key, principal_key, session_key,
};
use crate::families::id_query::IdQuery;
use crate::family::{
    FamilyCache, IndexKey, KeyRange, RowId, RowScan, RowStore, ScanOrder, StoreFault, all_rows, find_row,
    scan_rows, scan_wanted,
};

/// Runs that recovery takes up at one start, at most; the rest wait in the journal.
const OPEN_RUNS_MAX: usize = 100_000;

/// Which texts of which sessions to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTextQuery {
    /// The sessions, at most [`RECORD_PAGE_ROWS_MAX`]; the rest is left out.
    pub sessions: Vec<SessionRef>,
    /// The text that an input is to hold; compared in lower case.
    pub search: Option<Content<String>>,
}

/// Returns the row of a run in the writer's transaction.
///
/// # Errors
/// [`StoreFault`] when the store fails; so for every query.
pub fn cached_row(rows: &mut FamilyCache<'_, RunFamily>, run: RunId) -> Result<Option<RunRow>, StoreFault> {
    Ok(rows.find(BY_RUN, &key(run))?.map(|(_, row)| row))
}

/// Returns whether another run of a session is in progress.
///
/// # Errors
/// See [`cached_row`].
pub fn has_other_in_progress(
    rows: &mut dyn RowStore,
    session: SessionRef,
    run: RunId,
) -> Result<bool, StoreFault> {
    let range = KeyRange::of_prefix(session_key(session));
    let scan = RowScan { index: OPEN, range, after: None, order: ScanOrder::Ascending, limit: 1 };
    let is_other = |row: &RunRow| row.record.state == RunLifecycleState::InProgress && row.record.run != run;
    Ok(!scan_wanted::<RunFamily>(rows, scan, is_other)?.is_empty())
}

/// A run that waits for its client, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiringClientWait {
    /// The run.
    pub run: RunId,
    /// Whom and what it belongs to.
    pub session: SessionRef,
    /// When it stops waiting.
    pub expires: Timestamp,
}

/// Returns what is due next among the runs that wait for their clients.
///
/// # Errors
/// See [`cached_row`].
pub fn next_client_waits(
    rows: &mut dyn RowStore,
    limit: usize,
) -> Result<Vec<ExpiringClientWait>, StoreFault> {
    let all = KeyRange::of_prefix(IndexKey::new());
    let limit = limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let found = scan_rows::<RunFamily>(rows, WITH_CLIENT, all, ScanOrder::Ascending, limit)?;
    let due = found.into_iter().filter_map(|(_, row)| {
        let session = SessionRef { principal: row.record.principal, id: row.record.session };
        row.client_expires.map(|expires| ExpiringClientWait { run: row.record.run, session, expires })
    });
    Ok(due.collect())
}

/// Returns a run.
///
/// # Errors
/// See [`cached_row`].
pub fn record(rows: &mut dyn RowStore, run: RunId) -> Result<Option<RunRecord>, StoreFault> {
    Ok(find_row::<RunFamily>(rows, BY_RUN, &key(run))?.map(|(_, row)| row.record))
}

/// Returns the run that was started with a key.
///
/// # Errors
/// See [`cached_row`].
pub fn first_run_of_key(
    rows: &mut dyn RowStore,
    principal: PrincipalId,
    digest: IdempotencyDigest,
) -> Result<Option<RunId>, StoreFault> {
    let found = find_row::<RunFamily>(rows, BY_IDEMPOTENCY, &idempotency_key(principal, digest))?;
    Ok(found.map(|(_, row)| row.record.run))
}

/// Returns a page of a principal's runs, newest first.
///
/// # Errors
/// See [`cached_row`].
pub fn records(rows: &mut dyn RowStore, query: &RunQuery) -> Result<Vec<RunRecord>, StoreFault> {
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let session = query.session.map(|id| session_key(SessionRef { principal: query.principal, id }));
    let (index, key) = match (query.only, session) {
        (RunFilter::Open, None) => return open_of_principal(rows, query, limit),
        (RunFilter::Open, Some(key)) => (OPEN, key),
        (_, Some(key)) => (OF_SESSION, key),
        (_, None) => (OF_PRINCIPAL, principal_key(query.principal)),
    };
    let after = query.before.map(|before| (key.clone(), RowId::from(before)));
    let range = KeyRange::of_prefix(key);
    let scan = RowScan { index, range, after, order: ScanOrder::Descending, limit };
    let is_wanted = |row: &RunRow| query.only != RunFilter::Finished || row.record.state.is_terminal();
    let found = scan_wanted::<RunFamily>(rows, scan, is_wanted)?;
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}

/// Open runs are few, and found session by session.
fn open_of_principal(
    rows: &mut dyn RowStore,
    query: &RunQuery,
    limit: usize,
) -> Result<Vec<RunRecord>, StoreFault> {
    let range = KeyRange::of_prefix(principal_key(query.principal));
    let mut found = scan_rows::<RunFamily>(rows, OPEN, range, ScanOrder::Ascending, usize::MAX)?;
    found.retain(|(id, _)| query.before.is_none_or(|before| Seq::from(*id) < before));
    found.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    found.truncate(limit);
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}

/// Returns every run that is not terminal, oldest first: those that recovery takes up at one start.
///
/// # Errors
/// See [`cached_row`].
pub fn open(rows: &mut dyn RowStore) -> Result<Vec<RunRecord>, StoreFault> {
    let mut found = all_rows::<RunFamily>(rows, OPEN)?;
    found.sort_by_key(|(id, _)| *id);
    found.truncate(OPEN_RUNS_MAX);
    Ok(found.into_iter().map(|(_, row)| row.record).collect())
}

/// Open runs, and where the next ones begin.
#[derive(Debug)]
pub struct OpenRunPage {
    /// They, session by session.
    pub runs: Vec<RunRecord>,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<OpenRunPlace>,
}

/// Where a page of open runs begins.
#[derive(Debug, Clone)]
pub struct OpenRunPlace(IndexKey, RowId);

/// Returns a page of the runs that are not terminal, at most [`RECORD_PAGE_ROWS_MAX`].
///
/// # Errors
/// See [`cached_row`].
pub fn open_page(rows: &mut dyn RowStore, from: Option<OpenRunPlace>) -> Result<OpenRunPage, StoreFault> {
    let after = from.map(|OpenRunPlace(key, id)| (key, id));
    let range = KeyRange::of_prefix(IndexKey::new());
    let scan =
        RowScan { index: OPEN, range, after, order: ScanOrder::Ascending, limit: RECORD_PAGE_ROWS_MAX };
    let found = scan_wanted::<RunFamily>(rows, scan, |_| true)?;
    let place = |(id, row): &(RowId, RunRow)| {
        let session = SessionRef { principal: row.record.principal, id: row.record.session };
        OpenRunPlace(session_key(session), *id)
    };
    let next = found.last().filter(|_| found.len() == RECORD_PAGE_ROWS_MAX).map(place);
    Ok(OpenRunPage { runs: found.into_iter().map(|(_, row)| row.record).collect(), next })
}

/// Returns the runs of a session, oldest first, each with its latest entry.
///
/// # Errors
/// See [`cached_row`].
pub fn of_session(rows: &mut dyn RowStore, session: SessionRef) -> Result<Vec<(RunRecord, Seq)>, StoreFault> {
    let range = KeyRange::of_prefix(session_key(session));
    let found = scan_rows::<RunFamily>(rows, OF_SESSION, range, ScanOrder::Ascending, usize::MAX)?;
    Ok(found.into_iter().map(|(_, row)| (row.record, row.last_seq)).collect())
}

/// Returns the runs of a principal, oldest first.
///
/// # Errors
/// See [`cached_row`].
pub fn of_principal(rows: &mut dyn RowStore, principal: PrincipalId) -> Result<Vec<RunId>, StoreFault> {
    let range = KeyRange::of_prefix(principal_key(principal));
    let found = scan_rows::<RunFamily>(rows, OF_PRINCIPAL, range, ScanOrder::Ascending, usize::MAX)?;
    Ok(found.into_iter().map(|(_, row)| row.record.run).collect())
}

/// Returns the first or the last run of a session that a predicate wants.
fn one_of_session(
    rows: &mut dyn RowStore,
    session: SessionRef,
    order: ScanOrder,
    wanted: impl Fn(&RunRow) -> bool,
) -> Result<Option<RunRow>, StoreFault> {
    let range = KeyRange::of_prefix(session_key(session));
    let scan = RowScan { index: OF_SESSION, range, after: None, order, limit: 1 };
    Ok(scan_wanted::<RunFamily>(rows, scan, wanted)?.into_iter().next().map(|(_, row)| row))
}

fn holds(row: &RunRow, needle: &str) -> bool {
    row.record.input_preview.expose().to_lowercase().contains(needle)
}

/// Returns whether an input of a session holds a text in lower case.
///
/// # Errors
/// See [`cached_row`].
pub fn has_input(rows: &mut dyn RowStore, session: SessionRef, needle: &str) -> Result<bool, StoreFault> {
    Ok(one_of_session(rows, session, ScanOrder::Ascending, |row| holds(row, needle))?.is_some())
}

/// Returns what sessions are about.
///
/// # Errors
/// See [`cached_row`].
pub fn session_texts(
    rows: &mut dyn RowStore,
    query: &SessionTextQuery,
) -> Result<Vec<SessionTexts>, StoreFault> {
    let needle = query.search.as_ref().map(|text| text.expose().to_lowercase());
    let preview = |row: Option<RunRow>| row.map(|row| row.record.input_preview).unwrap_or_default();
    let texts = query.sessions.iter().take(RECORD_PAGE_ROWS_MAX).map(|session| {
        let first_input = preview(one_of_session(rows, *session, ScanOrder::Ascending, |_| true)?);
        let matched = match &needle {
            Some(needle) => {
                preview(one_of_session(rows, *session, ScanOrder::Descending, |row| holds(row, needle))?)
            }
            None => Redacted::default(),
        };
        Ok(SessionTexts { first_input, matched })
    });
    texts.collect()
}

/// Returns ids of runs that begin or end with a text, the highest first.
///
/// # Errors
/// See [`cached_row`].
pub fn ids(rows: &mut dyn RowStore, query: &IdQuery) -> Result<Vec<[u8; 16]>, StoreFault> {
    let mut range = KeyRange::of_prefix(IndexKey::new());
    if let Some(below) = &query.below {
        range.until = IndexKey::new().bytes(below);
    }
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let scan = RowScan { index: BY_RUN, range, after: None, order: ScanOrder::Descending, limit };
    let found = scan_wanted::<RunFamily>(rows, scan, |row| {
        query.principal.is_none_or(|principal| row.record.principal == principal)
            && query.fragment.matches(row.record.run.to_bytes())
    })?;
    Ok(found.into_iter().map(|(_, row)| row.record.run.to_bytes()).collect())
}
