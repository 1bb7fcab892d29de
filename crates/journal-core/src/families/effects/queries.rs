//! Lists of effects, newest first, each read by the index that holds the fewest others.

use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::effect::EffectRecord;
use palyra_types::job::JobNumber;
use palyra_types::tool::EffectContract;
use palyra_types::{EffectId, RunId, Seq};

use super::{
    BY_CALL, BY_JOB, CHANGING, EffectFamily, EffectKey, EffectRow, OF_PRINCIPAL, OPEN_JOB, STARTED, UNKNOWN,
    key, of_principal, of_run,
};
use crate::family::{
    FamilyCache, IndexKey, KeyRange, RowScan, RowStore, ScanOrder, StoreFault, scan_rows, scan_wanted,
};

/// Returns whether the outcome of an effect is unknown, in the writer's transaction.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn is_unknown(
    rows: &mut FamilyCache<'_, EffectFamily>,
    run: RunId,
    effect: EffectId,
) -> Result<bool, StoreFault> {
    Ok(rows.find(BY_CALL, &key(EffectKey { run, effect }))?.is_some_and(|(_, row)| row.is_unknown()))
}

/// Returns a page of effects, newest first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn records(rows: &mut dyn RowStore, query: &EffectQuery) -> Result<Vec<EffectRecord>, StoreFault> {
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let wanted = |row: &EffectRow| is_wanted(query, row);
    let found = match by_start(query) {
        Some((index, prefix)) => {
            let until = query.before.map(|before| prefix.clone().number(before.0));
            let mut range = KeyRange::of_prefix(prefix);
            range.until = until.unwrap_or(range.until);
            let scan = RowScan { index, range, after: None, order: ScanOrder::Descending, limit };
            scan_wanted::<EffectFamily>(rows, scan, wanted)?
        }
        None => {
            let (index, prefix) = match (query.only, query.run) {
                (EffectFilter::Job(JobNumber(job)), _) => (BY_JOB, IndexKey::new().number(job.into())),
                (_, Some(run)) => (BY_CALL, of_run(run)),
                (_, None) => (BY_CALL, IndexKey::new()),
            };
            let range = KeyRange::of_prefix(prefix);
            let scan = RowScan { index, range, after: None, order: ScanOrder::Ascending, limit: usize::MAX };
            let mut found = scan_wanted::<EffectFamily>(rows, scan, wanted)?;
            found.sort_by_key(|(_, row)| std::cmp::Reverse(row.started.map(|(_, _, seq)| seq)));
            found.truncate(limit);
            found
        }
    };
    Ok(found.into_iter().filter_map(|(_, row)| row.into_record()).collect())
}

/// Returns the index in the order of starts that serves a query, and the keys in it; `None` for those of one run or job,
/// which are few.
fn by_start(query: &EffectQuery) -> Option<(usize, IndexKey)> {
    let all = IndexKey::new();
    match (query.only, query.run, query.principal) {
        (EffectFilter::Unknown, ..) => Some((UNKNOWN, all)),
        (EffectFilter::OpenJobs, ..) => Some((OPEN_JOB, all)),
        (EffectFilter::Job(_), ..) | (_, Some(_), _) => None,
        (EffectFilter::Changing, None, Some(principal)) => Some((CHANGING, of_principal(principal))),
        (EffectFilter::All, None, Some(principal)) => Some((OF_PRINCIPAL, of_principal(principal))),
        (EffectFilter::Changing | EffectFilter::All, None, None) => Some((STARTED, all)),
    }
}

fn is_wanted(query: &EffectQuery, row: &EffectRow) -> bool {
    let Some((_, _, started)) = row.started else { return false };
    query.principal.is_none_or(|principal| row.principal == principal)
        && query.run.is_none_or(|run| row.run == run)
        && query.before.is_none_or(|before| started < before)
        && (query.only != EffectFilter::Changing || row.contract != EffectContract::Pure)
}

/// Returns the number of the latest job; zero when there was none.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn last_job(rows: &mut dyn RowStore) -> Result<JobNumber, StoreFault> {
    let all = KeyRange::of_prefix(IndexKey::new());
    let last = scan_rows::<EffectFamily>(rows, BY_JOB, all, ScanOrder::Descending, 1)?;
    let number = last.first().and_then(|(_, row)| row.job).map(|job| JobNumber(job.number()));
    Ok(number.unwrap_or_default())
}

/// Returns the entries beside a run's tape that say what became of its effects.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn settled_of_run(rows: &mut dyn RowStore, run: RunId) -> Result<Vec<Seq>, StoreFault> {
    let range = KeyRange::of_prefix(of_run(run));
    let found = scan_rows::<EffectFamily>(rows, BY_CALL, range, ScanOrder::Ascending, usize::MAX)?;
    let mut settled: Vec<Seq> =
        found.into_iter().filter_map(|(_, row)| row.settled).map(|(_, seq)| seq).collect();
    settled.sort_unstable();
    Ok(settled)
}
