//! Summaries of conversations: making, taking back, listing; and the one that a run reads.
//!
//! Invariant: every read and write takes the principal of the session, and the journal is asked for that one only.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_admin::budgets::AuxiliaryPayer;
use palyra_admin::memories::memory_search::{LearnedPreferences, MemorySearch};
use palyra_admin::{AdminError, NoErasure};
use palyra_context::compaction::{CompactionSource, CompactionTask, older_runs, request_bytes_max};
use palyra_context::session_history::{PriorContext, size_of};
use palyra_journal_core::families::{compactions, sessions};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendClass, NewEntry, ReadError};
use palyra_types::access::ActorIdentity;
use palyra_types::budget::AuxiliaryPurpose;
use palyra_types::compaction::{
    CompactedSpan, CompactionCause, CompactionRead, OrchestratorCompactionArtifactRecord, SessionCompaction,
    SummaryAuthor, SummaryRefusal,
};
use palyra_types::event::{RunStarted, SessionEvent};
use palyra_types::model::ModelRef;
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::tool::Taints;
use palyra_types::{AgentId, Redacted, RunId, Seq};

use crate::history::{earlier_runs, session_record};
use crate::marked_places::marked_places;
use crate::parts::ConversationPorts;
use crate::past_run::ReadRun;
use crate::reflection_watch::ReflectionWatch;
use crate::summary_model::{SummaryWriters, WrittenSummary, summary_of_model};

/// The window assumed for a model that is not configured.
const WINDOW_TOKENS_UNKNOWN: u64 = 8_192;
/// Sessions that are known to have no summary, at most; beyond it all are asked about again.
const KNOWN_WITHOUT_MAX: usize = 10_000;
/// Summaries that one demand makes at most, where the runs do not fit one request.
const ROUNDS_MAX: usize = 8;

const NOTHING_OLDER: &str =
    "there is no older part to sum up: the latest runs of a session, up to 8, stay as they are";
const ERASED_IN_BETWEEN: &str =
    "content was erased while it was summed up, so no summary was recorded; try again";
const UNDER_WAY: &str = "the session is being summed up already";

/// Makes, reverts and lists summaries. Clones share what is under way.
#[derive(Clone)]
pub struct ConversationsHandle {
    ports: ConversationPorts,
    under_way: Arc<Mutex<BTreeSet<SessionRef>>>,
    without_summary: Arc<Mutex<SessionsWithoutSummary>>,
    completed: ReflectionWatch,
}

/// Sessions that are known to have no summary, so that their runs do not ask the journal for one.
#[derive(Default)]
struct SessionsWithoutSummary {
    sessions: BTreeSet<SessionRef>,
    /// How many compactions were recorded so far: an answer of the journal from before one says nothing any more.
    compactions: u64,
}

/// A compaction that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct NewCompaction {
    /// The conversation.
    pub session: SessionRef,
    /// Why.
    pub cause: CompactionCause,
    /// Who asked; `None` for the daemon itself.
    pub actor: Option<ActorIdentity>,
    /// The run that waits for it, whose budgets it draws on; `None` where none does.
    pub run: Option<RunId>,
}

/// A session at whose summary one caller works.
struct UnderWay<'a> {
    all: &'a Mutex<BTreeSet<SessionRef>>,
    session: SessionRef,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
    }
}

/// The older runs of a session, with what a summary of them needs.
struct OlderRuns {
    runs: Vec<ReadRun>,
    earlier: Option<OrchestratorCompactionArtifactRecord>,
    agent: AgentId,
    /// The models that the latest run may ask, the one that it asked last first.
    models: Vec<ModelRef>,
    window_tokens: u64,
    has_more: bool,
    /// How many erasures there were when they were read.
    erasures: u64,
}

impl ConversationsHandle {
    /// Makes a handle.
    #[must_use]
    pub fn new(ports: ConversationPorts) -> Self {
        Self {
            ports,
            under_way: Arc::default(),
            without_summary: Arc::default(),
            completed: ReflectionWatch::default(),
        }
    }

    /// Returns the ports.
    #[must_use]
    pub fn ports(&self) -> &ConversationPorts {
        &self.ports
    }

    /// Returns the sessions with completed runs that are to be learned from.
    #[must_use]
    pub fn completed(&self) -> &ReflectionWatch {
        &self.completed
    }

    /// Takes note of a completed run of a session, which is to be learned from.
    pub fn note_completed(&self, session: SessionRef) {
        self.completed.note(session, self.ports.clock.boot());
    }

    /// Gives a run that is about to be accepted what is remembered for its person, with its labels: learned preferences, and where
    /// recall is on what fits its input. Returns the guard to keep until the run is recorded; nothing is given where an erasure
    /// comes between.
    pub async fn recall(
        &self,
        memories: &MemorySearch,
        session: SessionRef,
        started: &mut RunStarted,
        preferences: LearnedPreferences,
    ) -> Option<NoErasure> {
        let erasures = self.ports.erasures.erasures()?;
        let recalled = memories.given(session, started, preferences).await;
        if recalled.is_empty() {
            return None;
        }
        let no_erasure = self.ports.erasures.exclude(erasures)?;
        started.taints = recalled.iter().fold(started.taints, |all, item| all.with(item.taints));
        started.recalled = recalled;
        Some(no_erasure)
    }

    /// Sums up the older runs of a session; several times where they do not fit one request. Returns the latest summary.
    ///
    /// # Errors
    /// [`AdminError::SessionNotFound`]; [`AdminError::SessionTooShort`]; [`AdminError::InvalidArgument`] where another
    /// caller is at it; [`AdminError::Append`]; [`AdminError::Read`].
    pub async fn compact(
        &self,
        wanted: NewCompaction,
    ) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
        let all = &*self.under_way;
        let session = wanted.session;
        if !all.lock().unwrap_or_else(PoisonError::into_inner).insert(session) {
            return invalid(UNDER_WAY);
        }
        let _under_way = UnderWay { all, session };
        let mut latest: Option<OrchestratorCompactionArtifactRecord> = None;
        for _ in 0..ROUNDS_MAX {
            let older = self.older_runs(session).await?;
            let Some(older) = older.filter(|older| latest.is_none() || older.runs.len() > 1) else { break };
            let has_more = older.has_more;
            // A model that gave no answer is not waited for again.
            let is_silent = |made: &SessionCompaction| made.refused == Some(SummaryRefusal::NoAnswer);
            let writer = match &latest {
                Some(latest) if is_silent(&latest.made) => SummaryAuthor::Fallback,
                Some(_) | None => SummaryAuthor::Model,
            };
            match self.compact_once(wanted, older, writer).await {
                Ok(record) => latest = Some(record),
                Err(AdminError::InvalidArgument { .. } | AdminError::SessionTooShort { .. })
                    if latest.is_some() =>
                {
                    break;
                }
                Err(error) => return Err(error),
            }
            if !has_more {
                break;
            }
        }
        match latest {
            Some(record) => Ok(record),
            None => too_short(NOTHING_OLDER),
        }
    }

    /// Takes a compaction back: the one that is named, or the one that runs read which are accepted now.
    ///
    /// # Errors
    /// [`AdminError::SessionNotFound`]; [`AdminError::InvalidArgument`] for a compaction that the session does not have;
    /// [`AdminError::Append`]; [`AdminError::Read`].
    pub async fn revert(
        &self,
        actor: ActorIdentity,
        session: SessionRef,
        compaction: Option<Seq>,
    ) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
        let known = match compaction {
            Some(seq) => {
                self.known(session).await?;
                self.list(session).await?.into_iter().find(|record| record.seq == seq)
            }
            None => self.in_force(session).await?,
        };
        let Some(known) = known else {
            return invalid(
                "the session has no such compaction; `palyra sessions compact SESSION --list` shows them",
            );
        };
        if known.reverted.is_some() {
            return Ok(known);
        }
        let event = SessionEvent::CompactionReverted(known.seq);
        let time = self.ports.clock.wall();
        let principal = session.principal;
        let entry = NewEntry { time, principal, session: Some(session.id), run: None, event: event.into() };
        self.ports.recorder.record_act(actor, vec![entry], AppendClass::Normal, Vec::new()).await?;
        Ok(OrchestratorCompactionArtifactRecord { reverted: Some(time), ..known })
    }

    /// Lists the compactions of a session, oldest first.
    ///
    /// # Errors
    /// [`AdminError::SessionNotFound`]; [`AdminError::Read`].
    pub async fn list(
        &self,
        session: SessionRef,
    ) -> Result<Vec<OrchestratorCompactionArtifactRecord>, AdminError> {
        self.known(session).await?;
        Ok(self.ports.families.query(move |rows, log| compactions::of_session(rows, log, session)).await?)
    }

    /// Returns the compaction that runs of a session read which are accepted now.
    ///
    /// # Errors
    /// [`AdminError::SessionNotFound`]; [`AdminError::Read`].
    pub async fn in_force(
        &self,
        session: SessionRef,
    ) -> Result<Option<OrchestratorCompactionArtifactRecord>, AdminError> {
        let since = self.known(session).await?.reset_at;
        Ok(self.newest(session, since).await?)
    }

    /// Lets a run that is about to be accepted read the summary in force. Without an answer of the journal it reads none.
    pub async fn give(&self, session: SessionRef, started: &mut RunStarted) {
        let asked_at = {
            let without = self.without_summary();
            if without.sessions.contains(&session) {
                return;
            }
            without.compactions
        };
        let reading = self.ports.families.query(move |rows, log| {
            let record = sessions::record(rows, session)?;
            compactions::in_force(rows, log, session, record.and_then(|record| record.reset_at))
        });
        match reading.await {
            Ok(None) => self.note_without_summary(session, asked_at),
            Ok(Some(OrchestratorCompactionArtifactRecord { seq, made, .. })) => {
                started.compaction = Some(CompactionRead { compaction: seq, upto: made.upto() });
                started.taints = started.taints.with(made.taints);
            }
            Err(error) => tracing::warn!(%error, "a run begins without the summary of its session"),
        }
    }

    fn without_summary(&self) -> MutexGuard<'_, SessionsWithoutSummary> {
        self.without_summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_without_summary(&self, session: SessionRef, asked_at: u64) {
        let mut without = self.without_summary();
        if without.compactions == asked_at {
            if without.sessions.len() >= KNOWN_WITHOUT_MAX {
                without.sessions.clear();
            }
            without.sessions.insert(session);
        }
    }

    /// Forgets that a session has no summary, because one was recorded.
    fn forget_without_summary(&self, session: SessionRef) {
        let mut without = self.without_summary();
        without.compactions += 1;
        without.sessions.remove(&session);
    }

    /// Returns what a run sees of those before it: behind the summary that it reads, or all that there is.
    pub async fn prior(
        &self,
        session: SessionRef,
        mut earlier: PriorContext,
        read: Option<CompactionRead>,
    ) -> PriorContext {
        let Some(read) = read else { return earlier };
        let reading = self
            .ports
            .families
            .query(move |rows, log| compactions::record(rows, log, session, read.compaction));
        match reading.await {
            // A reset came between the choice of the summary and the acceptance of the run.
            Ok(Some(record)) if earlier.since.is_some_and(|since| record.made.from() <= since) => {}
            Ok(record) => earlier.read_summary(read, record.map(|record| record.made.summary)),
            Err(error) => {
                tracing::warn!(%error, "the summary of a run cannot be read and is left out");
                earlier.read_summary(read, None);
            }
        }
        earlier
    }

    async fn newest(
        &self,
        session: SessionRef,
        since: Option<Seq>,
    ) -> Result<Option<OrchestratorCompactionArtifactRecord>, ReadError> {
        self.ports.families.query(move |rows, log| compactions::in_force(rows, log, session, since)).await
    }

    pub(crate) async fn known(&self, session: SessionRef) -> Result<OrchestratorSessionRecord, AdminError> {
        session_record(&self.ports, session).await?.ok_or(AdminError::SessionNotFound)
    }

    /// Returns how many tokens the window of a model has.
    pub(crate) fn window_tokens(&self, model: &ModelRef) -> u64 {
        let directory = self.ports.models.borrow();
        let provider = directory.provider(model);
        provider.map_or(WINDOW_TOKENS_UNKNOWN, |provider| provider.model_info(&model.model).context_tokens)
    }

    /// Returns the runs that a summary takes; `None` where all are among the latest ones.
    async fn older_runs(&self, session: SessionRef) -> Result<Option<OlderRuns>, AdminError> {
        let Some(erasures) = self.ports.erasures.erasures() else { return invalid(ERASED_IN_BETWEEN) };
        let record = self.known(session).await?;
        let earlier = self.newest(session, record.reset_at).await?;
        let upto = earlier.as_ref().map(|earlier| earlier.made.upto());
        let mut runs = earlier_runs(&self.ports, &record, upto).await?;
        runs.retain(|run| {
            let is_seen = record.reset_at.is_none_or(|since| run.past.first_seq > since);
            is_seen && !run.past.messages.is_empty()
        });
        let models = self.models_of(&runs);
        let window_tokens = models.first().map_or(WINDOW_TOKENS_UNKNOWN, |model| self.window_tokens(model));
        let sizes: Vec<usize> = runs.iter().map(|run| size_of(&run.past)).collect();
        let share = older_runs(&sizes, request_bytes_max(window_tokens));
        runs.truncate(share.taken);
        let has_more = share.left > 0;
        let agent = record.agent;
        let older = OlderRuns { runs, earlier, agent, models, window_tokens, has_more, erasures };
        Ok((share.taken > 0).then_some(older))
    }

    /// Returns the models that the latest of these runs may ask: a conversation goes to no other one.
    fn models_of(&self, runs: &[ReadRun]) -> Vec<ModelRef> {
        let latest = runs.iter().rev().find_map(|run| Some((run.asked.as_ref()?.model.clone()?, run)));
        let Some((asked, run)) = latest else {
            let directory = self.ports.models.borrow();
            let default = directory.default_model();
            return std::iter::once(default.clone()).chain(directory.fallbacks_of(default)).collect();
        };
        let others = run.chain.iter().filter(|model| **model != asked).cloned();
        std::iter::once(asked.clone()).chain(others).collect()
    }

    async fn compact_once(
        &self,
        wanted: NewCompaction,
        older: OlderRuns,
        writer: SummaryAuthor,
    ) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
        let ids: Vec<RunId> = older.runs.iter().map(|run| run.run).collect();
        let source = CompactionSource {
            earlier: older.earlier.as_ref().map(|earlier| earlier.made.summary.clone()),
            runs: older.runs.iter().map(|run| run.past.clone()).collect(),
            marked: marked_places(&self.ports, wanted.session.principal, &ids).await?,
        };
        let task = match CompactionTask::new(source, older.window_tokens) {
            Ok(task) => task,
            Err(error) => return too_short(&error.to_string()),
        };
        let written = match writer {
            SummaryAuthor::Model => {
                let payer = AuxiliaryPayer {
                    principal: wanted.session.principal,
                    agent: Some(older.agent),
                    session: Some(wanted.session.id),
                    run: wanted.run,
                    purpose: AuxiliaryPurpose::Summary,
                };
                let window_tokens = older.window_tokens;
                let writers = SummaryWriters { models: &older.models, window_tokens, payer };
                summary_of_model(&self.ports, &task, writers).await
            }
            SummaryAuthor::Fallback => WrittenSummary::refused(SummaryRefusal::NoAnswer),
        };
        let WrittenSummary { model, text: written } = written;
        let refused = written.as_ref().err().copied();
        let author = if refused.is_none() { SummaryAuthor::Model } else { SummaryAuthor::Fallback };
        let summary = written.unwrap_or_else(|_| self.ports.redactor.redact(task.fallback()).text);
        let salt = Redacted::from(self.ports.entropy.bytes32());
        let texts: Vec<&[u8]> = task.source().texts().map(str::as_bytes).collect();
        let source_digest = palyra_ledger::binding_digest(&salt, &texts);
        let earlier = older.earlier.as_ref().map(|earlier| &earlier.made);
        let [Some(first), Some(last)] = [ids.first(), ids.last()] else { return too_short(NOTHING_OLDER) };
        let made = SessionCompaction {
            session: wanted.session.id,
            spans: spans(earlier, &older.runs),
            first_run: earlier.map_or(*first, |earlier| earlier.first_run),
            last_run: *last,
            runs: earlier.map_or(0, |earlier| earlier.runs) + u32::try_from(ids.len()).unwrap_or(u32::MAX),
            replaces: older.earlier.as_ref().map(|earlier| earlier.seq),
            taints: taints(earlier, &older.runs),
            author,
            refused,
            cause: wanted.cause,
            source_bytes: task.source().bytes() as u64,
            summary_bytes: summary.expose().len() as u64,
            source_digest,
            model: model.into(),
            salt,
            summary,
        };
        self.record(wanted, made, older.erasures).await
    }

    async fn record(
        &self,
        wanted: NewCompaction,
        made: SessionCompaction,
        erasures: u64,
    ) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
        let Some(_no_erasure) = self.ports.erasures.exclude(erasures) else {
            return invalid(ERASED_IN_BETWEEN);
        };
        let SessionRef { principal, id } = wanted.session;
        let time = self.ports.clock.wall();
        let event = SessionEvent::Compacted(Box::new(made.clone())).into();
        let entries = vec![NewEntry { time, principal, session: Some(id), run: None, event }];
        let recorder = &self.ports.recorder;
        let committed = match wanted.actor {
            Some(actor) => recorder.record_act(actor, entries, AppendClass::Normal, Vec::new()).await,
            None => recorder.record(entries, AppendClass::Normal, Vec::new()).await,
        };
        // Also where it is not known whether it was recorded.
        self.forget_without_summary(wanted.session);
        let committed = committed?;
        Ok(OrchestratorCompactionArtifactRecord {
            made,
            principal,
            seq: committed.first_seq,
            created: time,
            reverted: None,
        })
    }
}

/// Returns the spans of an earlier summary and of runs, one for each session.
fn spans(earlier: Option<&SessionCompaction>, runs: &[ReadRun]) -> Vec<CompactedSpan> {
    let mut spans = earlier.map(|earlier| earlier.spans.clone()).unwrap_or_default();
    for run in runs {
        let first = run.past.first_seq;
        let last = run.past.ended;
        match spans.iter_mut().find(|span| span.session == run.session) {
            Some(span) => {
                span.first = span.first.min(first);
                span.last = span.last.max(last);
            }
            None => spans.push(CompactedSpan { session: run.session, first, last }),
        }
    }
    spans
}

fn taints(earlier: Option<&SessionCompaction>, runs: &[ReadRun]) -> Taints {
    let of_earlier = earlier.map(|earlier| earlier.taints).unwrap_or_default();
    runs.iter().fold(of_earlier, |all, run| all.with(run.taints))
}

fn too_short<T>(why: &str) -> Result<T, AdminError> {
    Err(AdminError::SessionTooShort { why: why.to_owned() })
}

fn invalid<T>(what: &str) -> Result<T, AdminError> {
    Err(AdminError::InvalidArgument { what: what.to_owned() })
}
