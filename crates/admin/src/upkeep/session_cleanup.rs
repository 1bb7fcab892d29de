//! Archives sessions that no person uses any more, and erases the content of archived ones, as the rules of retention say.
//!
//! Invariant: each session is looked at again right before something is done with it, so a repeated attempt and a person in
//! the same moment change nothing twice.

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_background::TickFailure;
use palyra_background::queue::{TaskEnd, TaskHandler, TaskWork};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{Clock, EraseError, ErasureSubject};
use palyra_types::proof::ErasureReason;
use palyra_types::queued_task::TaskKind;
use palyra_types::session::SessionRef;
use palyra_types::{Content, PrincipalId};
use tokio::sync::watch;

use super::due_sessions::{DueQuery, due_now, due_sessions};
use super::upkeep_rules::{HasUpkeepRules, RetentionRules, RetentionStep};
use crate::erasure::{EraseContentError, ErasureHandle};

/// Sessions that are read at once.
const PAGE_SESSIONS: usize = 100;

/// Archives a session, as a person does.
pub trait SessionArchiver: Send + Sync + 'static {
    /// Archives it; an archived one stays so.
    fn archive(&self, session: SessionRef) -> BoxFuture<'_, Result<(), TickFailure>>;
}

/// Applies the rules of retention.
pub struct SessionCleanupHandler<C> {
    cleaner: Arc<SessionCleaner>,
    config: watch::Receiver<Arc<C>>,
}

struct SessionCleaner {
    families: Arc<dyn ReadFamilies>,
    clock: Arc<dyn Clock>,
    archiver: Arc<dyn SessionArchiver>,
    erasures: ErasureHandle,
    /// In whose name content is erased: of the one whose configuration it is.
    owner: PrincipalId,
}

/// What one attempt did.
#[derive(Debug, Default)]
struct CleanupCounts {
    archived: u64,
    erased: u64,
    left_alone: usize,
    failed: u64,
    first_failure: Option<String>,
}

impl<C: HasUpkeepRules> SessionCleanupHandler<C> {
    /// Makes a handler that erases in the name of the owner.
    #[must_use]
    pub fn new(
        families: Arc<dyn ReadFamilies>,
        clock: Arc<dyn Clock>,
        erasures: ErasureHandle,
        archiver: Arc<dyn SessionArchiver>,
        owner: PrincipalId,
        config: watch::Receiver<Arc<C>>,
    ) -> Self {
        Self { cleaner: Arc::new(SessionCleaner { families, clock, archiver, erasures, owner }), config }
    }
}

impl<C: HasUpkeepRules> TaskHandler for SessionCleanupHandler<C> {
    fn kind(&self) -> TaskKind {
        TaskKind::SessionCleanup
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let cleaner = Arc::clone(&self.cleaner);
        let rules = self.config.borrow().upkeep().retention;
        Box::pin(async move { cleaner.clean(rules, &work).await })
    }
}

impl SessionCleaner {
    async fn clean(&self, rules: RetentionRules, work: &TaskWork) -> TaskEnd {
        let now = self.clock.wall();
        let mut query = DueQuery { rules, now, after: None, limit: PAGE_SESSIONS };
        let mut counts = CleanupCounts::default();
        let mut handled = 0;
        loop {
            let page = self.families.query(move |rows, _| due_sessions(rows, &query)).await;
            let page = match page {
                Ok(page) => page,
                Err(error) => {
                    return TaskEnd::Failed(Content::new(format!("sessions could not be read: {error}")));
                }
            };
            // The first page counts those of all.
            counts.left_alone = counts.left_alone.max(page.left_alone);
            for (session, step) in &page.due {
                if work.lease.is_stop_requested() {
                    return TaskEnd::Stopped;
                }
                self.apply(&query, *session, *step, &mut counts).await;
                handled += 1;
                if !work.lease.heartbeat(handled) {
                    return TaskEnd::Stopped;
                }
            }
            match page.due.last() {
                Some((last, _)) if page.has_more => query.after = Some(*last),
                Some(_) | None => return counts.into_end(),
            }
        }
    }

    async fn apply(
        &self,
        query: &DueQuery,
        session: SessionRef,
        step: RetentionStep,
        counts: &mut CleanupCounts,
    ) {
        let done = match self.is_still_due(query, session, step).await {
            Ok(false) => return,
            Ok(true) => match step {
                RetentionStep::Archive => self.archiver.archive(session).await.map(|()| {
                    counts.archived += 1;
                }),
                RetentionStep::Erase => self.erase(session).await.map(|erased| {
                    counts.erased += u64::from(erased);
                }),
            },
            Err(failure) => Err(failure),
        };
        if let Err(failure) = done {
            tracing::warn!(session = %session.id, %failure, "retention was not applied to a session");
            counts.failed += 1;
            counts.first_failure.get_or_insert_with(|| failure.to_string());
        }
    }

    async fn is_still_due(
        &self,
        query: &DueQuery,
        session: SessionRef,
        step: RetentionStep,
    ) -> Result<bool, TickFailure> {
        let query = *query;
        let due = self.families.query(move |rows, _| due_now(rows, &query, session)).await;
        due.map(|due| due == Some(step)).map_err(TickFailure::new)
    }

    /// Erases the content of a session with its kept files. Returns whether there was any.
    async fn erase(&self, session: SessionRef) -> Result<bool, TickFailure> {
        let subject = ErasureSubject::Session(session);
        let plan = self.erasures.plan(subject).await.map_err(TickFailure::new)?;
        if plan.entries == 0 {
            return Ok(false);
        }
        match self.erasures.erase(self.owner, subject, ErasureReason::Retention).await {
            Ok(_) => Ok(true),
            Err(EraseContentError::Erase(EraseError::Nothing)) => Ok(false),
            Err(error) => Err(TickFailure::new(error)),
        }
    }
}

impl CleanupCounts {
    fn into_end(self) -> TaskEnd {
        let Self { archived, erased, left_alone, failed, first_failure } = self;
        let did = format!("{archived} sessions archived, {erased} erased, {left_alone} left alone");
        tracing::info!("{did}, {failed} failed");
        match first_failure {
            None => TaskEnd::CompletedWith(Content::new(did)),
            Some(first) => {
                TaskEnd::Failed(Content::new(format!("{did}, {failed} failed; the first: {first}")))
            }
        }
    }
}
