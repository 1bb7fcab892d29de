//! Which sessions retention is due for.
//!
//! Invariant: a session with an open run, a bookmark, or a session that branched off it and stays, is left alone.

use std::collections::BTreeSet;

use palyra_journal_core::families::{bookmarks, runs, sessions};
use palyra_journal_core::family::{RowStore, StoreFault};
use palyra_types::Timestamp;
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};

use super::upkeep_rules::{RetentionRules, RetentionStep};

/// Which sessions to look for.
#[derive(Debug, Clone, Copy)]
pub(super) struct DueQuery {
    pub(super) rules: RetentionRules,
    pub(super) now: Timestamp,
    /// Only those behind this one.
    pub(super) after: Option<SessionRef>,
    /// At most so many.
    pub(super) limit: usize,
}

/// Sessions for which retention is due.
#[derive(Debug, Default)]
pub(super) struct DueSessions {
    /// In the order of their ids.
    pub(super) due: Vec<(SessionRef, RetentionStep)>,
    /// Whether there may be more.
    pub(super) has_more: bool,
    /// How many are due and left alone.
    pub(super) left_alone: usize,
}

/// Returns the sessions behind a place for which retention is due.
pub(super) fn due_sessions(rows: &mut dyn RowStore, query: &DueQuery) -> Result<DueSessions, StoreFault> {
    let kept = kept_sessions(rows, query)?;
    let mut found = DueSessions::default();
    sessions::visit(rows, |record| {
        let session = record.session;
        if query.after.is_some_and(|after| session <= after) {
            return;
        }
        let Some(step) = due_step(query, &record) else { return };
        if kept.of(session, step) {
            found.left_alone += 1;
        } else if found.due.len() < query.limit {
            found.due.push((session, step));
        } else {
            found.has_more = true;
        }
    })?;
    Ok(found)
}

/// Returns what is due for one session, if it may be done.
pub(super) fn due_now(
    rows: &mut dyn RowStore,
    query: &DueQuery,
    session: SessionRef,
) -> Result<Option<RetentionStep>, StoreFault> {
    let kept = kept_sessions(rows, query)?;
    let record = sessions::record(rows, session)?;
    let step = record.and_then(|record| due_step(query, &record));
    Ok(step.filter(|step| !kept.of(session, *step)))
}

fn due_step(query: &DueQuery, record: &OrchestratorSessionRecord) -> Option<RetentionStep> {
    query.rules.step(record).filter(|(_, due)| *due <= query.now).map(|(step, _)| step)
}

/// Sessions that retention leaves alone.
#[derive(Debug, Default)]
struct KeptSessions {
    in_use: BTreeSet<SessionRef>,
    /// Their content is also that of sessions that branched off them.
    shared: BTreeSet<SessionRef>,
}

impl KeptSessions {
    fn of(&self, session: SessionRef, step: RetentionStep) -> bool {
        self.in_use.contains(&session) || (step == RetentionStep::Erase && self.shared.contains(&session))
    }
}

fn kept_sessions(rows: &mut dyn RowStore, query: &DueQuery) -> Result<KeptSessions, StoreFault> {
    let mut kept = KeptSessions::default();
    for run in runs::open(rows)? {
        kept.in_use.insert(SessionRef { principal: run.principal, id: run.session });
    }
    for run in bookmarks::marked_runs(rows)? {
        let Some(run) = runs::record(rows, run)? else { continue };
        kept.in_use.insert(SessionRef { principal: run.principal, id: run.session });
    }
    sessions::visit(rows, |record| {
        if let Some(origin) = record.branched_from
            && due_step(query, &record) != Some(RetentionStep::Erase)
        {
            kept.shared.insert(SessionRef { principal: record.session.principal, id: origin.session });
        }
    })?;
    Ok(kept)
}
