//! Looks at the finished runs of a session as a task of the background queue.
//!
//! A repeated attempt finds the same candidates, which are known then, so nothing is learned twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use palyra_admin::AdminError;
use palyra_admin::budgets::AuxiliaryPayer;
use palyra_admin::memories::MemoriesHandle;
use palyra_background::queue::{TaskEnd, TaskHandler, TaskWork};
use palyra_journal_core::families::{runs, sessions};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_learning::{ReflectedRun, find_candidates};
use palyra_ports::ReadError;
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::read_records::{RunFilter, RunQuery};
use palyra_types::budget::AuxiliaryPurpose;
use palyra_types::model::ModelRef;
use palyra_types::queued_task::TaskKind;
use palyra_types::run::{RunLifecycleState, RunRecord};
use palyra_types::session::SessionRef;
use palyra_types::{AgentId, Content, RunId, Seq};

use super::finished_run::finished_run;
use super::learning_model::reading_of_model;
use crate::conversations::ConversationsHandle;
use crate::parts::ConversationPorts;
use crate::reflection_watch::LearningConfigNow;

/// Runs that are looked at together, at most.
const RUNS_MAX: usize = 32;
/// Earlier runs that are looked at once more, so that what repeats is seen.
const RUNS_AGAIN: usize = 8;
/// Sessions whose latest looked-at run is remembered, at most; the runs of others are looked at again, which changes nothing.
const SESSIONS_REMEMBERED_MAX: usize = 1_000;

/// Looks at finished runs.
#[derive(Clone)]
pub struct ReflectionHandler {
    ports: ConversationPorts,
    memories: MemoriesHandle,
    config: LearningConfigNow,
    /// The first entry of the newest run that a model was asked about, by session.
    asked: Arc<Mutex<BTreeMap<SessionRef, Seq>>>,
}

impl ReflectionHandler {
    /// Makes a handler.
    #[must_use]
    pub fn new(
        conversations: &ConversationsHandle,
        memories: MemoriesHandle,
        config: LearningConfigNow,
    ) -> Self {
        Self { ports: conversations.ports().clone(), memories, config, asked: Arc::default() }
    }

    fn asked_upto(&self, session: SessionRef) -> Option<Seq> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(&session).copied()
    }

    fn note_asked(&self, session: SessionRef, upto: Seq) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.len() >= SESSIONS_REMEMBERED_MAX {
            asked.clear();
        }
        asked.insert(session, upto);
    }
}

impl TaskHandler for ReflectionHandler {
    fn kind(&self) -> TaskKind {
        TaskKind::Reflection
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let handler = self.clone();
        Box::pin(async move {
            let Some(id) = work.session else {
                return TaskEnd::Failed(Content::from("the task names no session"));
            };
            let session = SessionRef { principal: work.principal, id };
            tokio::select! {
                biased;
                () = work.lease.stop_requested() => TaskEnd::Stopped,
                done = process_post_run_reflection_task(&handler, session) => match done {
                    Ok(()) => TaskEnd::Completed,
                    Err(error) => TaskEnd::Failed(Content::new(error.to_string())),
                },
            }
        })
    }
}

/// Learns from the finished runs of a session. Runs that were erased are left out; a session without runs is done.
///
/// # Errors
/// [`AdminError`], also where an erasure came between: a later attempt reads what is left.
pub async fn process_post_run_reflection_task(
    handler: &ReflectionHandler,
    session: SessionRef,
) -> Result<(), AdminError> {
    let config = (handler.config)();
    if !config.is_enabled {
        return Ok(());
    }
    let ports = &handler.ports;
    let Some(erasures) = ports.erasures.erasures() else { return erased_in_between() };
    let finished = finished_runs(&ports.families, session).await?;
    let Some(newest) = finished.last().map(|run| run.first_seq) else { return Ok(()) };
    let upto = handler.asked_upto(session);
    let new_from = finished.iter().position(|run| upto.is_none_or(|upto| run.first_seq > upto));
    let Some(new_from) = new_from else { return Ok(()) };
    let from = new_from.saturating_sub(RUNS_AGAIN);
    let mut reflected: Vec<ReflectedRun> = Vec::new();
    let mut new_runs = 0;
    for (at, record) in finished.iter().enumerate().skip(from) {
        let is_sampled = config.is_sampled(run_number(record.run));
        let Some(run) = readable(finished_run(ports, session.principal, record.run).await)? else { continue };
        if is_sampled {
            reflected.push(run);
            new_runs += usize::from(at >= new_from);
        }
    }
    if new_runs == 0 {
        return Ok(());
    }
    let models = models_of(&ports.models.borrow());
    let payer = AuxiliaryPayer {
        principal: session.principal,
        agent: agent_of(&ports.families, session).await?,
        session: Some(session.id),
        run: None,
        purpose: AuxiliaryPurpose::Reflection,
    };
    let shown = &reflected[reflected.len() - new_runs..];
    let reading = reading_of_model(ports, shown, &models, payer).await;
    let found = find_candidates(&reflected, reading.as_ref());
    let Some(_no_erasure) = ports.erasures.exclude(erasures) else { return erased_in_between() };
    let counts = handler.memories.learn(session, found, &config).await?;
    tracing::debug!(counts.applied, counts.pending, "looked at finished runs");
    handler.note_asked(session, newest);
    Ok(())
}

fn erased_in_between() -> Result<(), AdminError> {
    let what = "content was erased while the runs were read; another attempt reads what is left".to_owned();
    Err(AdminError::InvalidArgument { what })
}

/// A tape that is damaged or was erased is left out; what cannot be read now is read later.
fn readable(read: Result<Option<ReflectedRun>, ReadError>) -> Result<Option<ReflectedRun>, ReadError> {
    match read {
        Err(ReadError::Corrupt { .. }) => Ok(None),
        read => read,
    }
}

/// Returns the completed runs of a session, the oldest first.
async fn finished_runs(
    families: &Arc<dyn ReadFamilies>,
    session: SessionRef,
) -> Result<Vec<RunRecord>, ReadError> {
    let query = RunQuery {
        principal: session.principal,
        session: Some(session.id),
        only: RunFilter::Finished,
        before: None,
        limit: RUNS_MAX,
    };
    let mut finished = families.query(move |rows, _| runs::records(rows, &query)).await?;
    finished.retain(|run| run.state == RunLifecycleState::Done);
    finished.sort_by_key(|run| run.first_seq);
    Ok(finished)
}

fn run_number(run: RunId) -> u64 {
    let bytes = run.to_bytes();
    bytes.iter().rev().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

fn models_of(directory: &ModelDirectory) -> Vec<ModelRef> {
    let default = directory.default_model();
    std::iter::once(default.clone()).chain(directory.fallbacks_of(default)).collect()
}

async fn agent_of(
    families: &Arc<dyn ReadFamilies>,
    session: SessionRef,
) -> Result<Option<AgentId>, ReadError> {
    let record = families.query(move |rows, _| sessions::record(rows, session)).await?;
    Ok(record.map(|record| record.agent))
}
