//! An erasure, on the writer's thread: checked, committed, overwritten.
//!
//! Owns the order: the mark, the commit, the old bytes, the root key, the mark again. Knows nothing of bytes on disks.

use futures::channel::oneshot;
use palyra_ports::{AppendError, EraseError, ErasureOrder, ErasureReceipt};
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::{ERASURE_RANGES_MAX, SeqRange};
use palyra_types::{Seq, Timestamp};
use rusqlite::Connection;

use super::log_writer::{GroupError, LogWriter};
use super::prepare::{PreparedAppend, own_append, own_entry};
use crate::connection::{self, Failure};
use crate::erase::{SpanOverwriter, WipeError, bounds, joined, plan_of};
use crate::fault::ReadFault;
use crate::seal::SealError;

/// An erasure and the one who waits for it.
pub(crate) struct PendingErasure {
    pub(crate) order: ErasureOrder,
    pub(crate) time: Timestamp,
    pub(crate) answer: oneshot::Sender<Result<ErasureReceipt, EraseError>>,
}

/// Why an erasure did not come to its end.
pub(crate) struct ErasureFailure {
    pub(crate) error: EraseError,
    /// What happened to the write connection, if it is not to be trusted any more.
    pub(crate) broken: Option<GroupError>,
}

impl From<EraseError> for ErasureFailure {
    fn from(error: EraseError) -> Self {
        Self { error, broken: None }
    }
}

impl From<rusqlite::Error> for ErasureFailure {
    fn from(error: rusqlite::Error) -> Self {
        EraseError::Read(ReadFault::from(error).into()).into()
    }
}

/// Erases what an order names. Repeating an order whose overwriting failed does the overwriting.
pub(crate) fn perform(
    log: &mut LogWriter,
    overwriter: &SpanOverwriter,
    order: &ErasureOrder,
    time: Timestamp,
) -> Result<ErasureReceipt, ErasureFailure> {
    let plan = plan_of(log.connection(), &joined(order.ranges.clone()))?;
    if let Some(run) = plan.open_runs.first() {
        return Err(EraseError::OpenRun(*run).into());
    }
    let mut receipt = ErasureReceipt::default();
    if plan.entries > 0 {
        overwriter.owe().map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull => EraseError::Write(AppendError::DiskFull),
            _ => EraseError::NotOverwritten { what: format!("making journal.erasing: {error}") },
        })?;
        receipt.bytes = content_bytes(log.connection(), &plan.ranges)?;
        receipt.entries = commit(log, &append(order, &plan.ranges, time))?;
        receipt.erased = plan.entries;
    } else if !overwriter.is_owed() {
        return Err(EraseError::Nothing.into());
    }
    receipt.unreachable = overwrite(log, overwriter).map_err(|stuck| match stuck {
        WipeError::Transient(what) => EraseError::NotOverwritten { what }.into(),
        WipeError::Broken(error) => ErasureFailure {
            error: EraseError::NotOverwritten { what: connection::describe(&error) },
            broken: Some(GroupError::Store(error)),
        },
    })?;
    Ok(receipt)
}

/// Does what an earlier start still owes. What stands in the way does not keep the journal from its service.
pub(crate) fn finish(log: &mut LogWriter, overwriter: &SpanOverwriter) {
    if !overwriter.is_owed() {
        return;
    }
    match overwrite(log, overwriter) {
        Ok(_) => tracing::info!("an erasure that was cut off is complete"),
        Err(WipeError::Transient(what)) => tracing::warn!(what, "an erasure is not complete yet"),
        Err(WipeError::Broken(error)) => {
            tracing::error!(what = connection::describe(&error), "an erasure could not be completed");
        }
    }
}

/// Overwrites old bytes, replaces the root key, and then owes nothing; returns the copies that stay.
fn overwrite(log: &mut LogWriter, overwriter: &SpanOverwriter) -> Result<Vec<String>, WipeError> {
    let staying = overwriter.overwrite(log.connection())?;
    log.replace_root().map_err(|error| match error {
        SealError::Keys(_) | SealError::NoRoot | SealError::Files(_) => {
            WipeError::Transient(error.to_string())
        }
    })?;
    overwriter.settle()?;
    Ok(staying)
}

fn content_bytes(connection: &Connection, ranges: &[SeqRange]) -> rusqlite::Result<u64> {
    let mut bytes = 0;
    for table in ["payload", "chunk"] {
        let sql = format!("SELECT coalesce(sum(length(sealed)), 0) FROM {table} WHERE seq BETWEEN ?1 AND ?2");
        let mut sum = connection.prepare(&sql)?;
        for range in ranges {
            bytes += sum.query_row(bounds(*range), |row| row.get::<_, i64>(0))?.cast_unsigned();
        }
    }
    Ok(bytes)
}

fn append(order: &ErasureOrder, ranges: &[SeqRange], time: Timestamp) -> PreparedAppend {
    own_append(ranges.chunks(ERASURE_RANGES_MAX).map(|ranges| {
        let (authoriser, reason) = (order.authoriser, order.reason);
        own_entry(time, JournalEvent::Log(LogEvent::Erased { authoriser, reason, ranges: ranges.to_vec() }))
    }))
}

/// Commits the entries with what they take out; returns their numbers.
fn commit(log: &mut LogWriter, append: &PreparedAppend) -> Result<Vec<Seq>, ErasureFailure> {
    let outcomes = log.commit(&[append]).map_err(|error| {
        let answer = match &error {
            GroupError::Fenced => return EraseError::Write(AppendError::Fenced).into(),
            GroupError::Store(error) => match connection::classify(error) {
                Failure::Full => return EraseError::Write(AppendError::DiskFull).into(),
                Failure::Busy => return EraseError::Write(AppendError::Busy).into(),
                Failure::Constraint | Failure::Interrupted | Failure::Storage => AppendError::Unknown,
            },
        };
        ErasureFailure { error: EraseError::Write(answer), broken: Some(error) }
    })?;
    let committed = outcomes.into_iter().next().unwrap_or(Err(AppendError::Unknown));
    let first = committed.map_err(EraseError::Write)?.first_seq;
    Ok((0..append.entries.len() as u64).map(|at| Seq(first.0 + at)).collect())
}
