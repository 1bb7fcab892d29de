//! What was learned from conversations of a principal: proposing it, applying it, and what a person decides about it.
//!
//! Owns how a candidate becomes an item of memory and how that is taken back. The crate `learning` decides which candidates there are, how sure they are, and which state
//! follows. Invariant: a candidate and its item are recorded in one append.

use palyra_journal_core::families::learning_candidates;
use palyra_journal_core::family::QueryFamilies;
use palyra_learning::{
    CandidateStanding, FoundCandidate, KnownCandidate, LearningRuntimeConfig, NextStep, decide_standing,
    next_step, says_the_same, state_after,
};
use palyra_ports::{AppendClass, NewEntry};
use palyra_types::event::JournalEvent;
use palyra_types::learning::{
    CANDIDATE_TEXT_BYTES_MAX, CandidateChanged, CandidateKind, CandidateProposed, CandidateRecord,
    CandidateState, CitedEntry, LearningEvent,
};
use palyra_types::memory::{
    ForgetCause, MemoryAuthor, MemoryEvent, MemoryRecord, MemorySaved, MemoryScope, MemorySource,
};
use palyra_types::session::SessionRef;
use palyra_types::{CandidateId, Content, MemoryId, PrincipalId, Redacted, RunId, SessionId, Timestamp};

pub use palyra_learning::ReviewAct;

use super::{MEMORY_ITEMS_MAX, MemoriesHandle, MemoryWriter, invalid};
use crate::caller::Caller;
use crate::error::AdminError;

const UNKNOWN: &str = "there is no such candidate; `palyra memory learning list` shows them";

/// A decision about a candidate.
#[derive(Debug, Clone)]
pub struct CandidateReview {
    /// Which.
    pub candidate: CandidateId,
    /// What is decided.
    pub act: ReviewAct,
    /// The words in place of its own, for an edit.
    pub text: Option<Content<String>>,
}

/// How many candidates a reflection recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LearnedCounts {
    /// Those in use from now on.
    pub applied: usize,
    /// Those that wait for a person.
    pub pending: usize,
}

/// What is to be recorded together.
struct LearnedEntries {
    principal: PrincipalId,
    session: Option<SessionId>,
    events: Vec<JournalEvent>,
}

impl MemoriesHandle {
    /// Lists what was learned of the caller, newest first; those whose text was erased are left out.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn candidates(&self, caller: Caller) -> Result<Vec<CandidateRecord>, AdminError> {
        let mut all = self.learned_of(caller.actor.principal).await?;
        all.retain(|one| !one.proposed.text.expose().is_empty());
        Ok(all)
    }

    /// Returns a candidate of the caller.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`], also for a candidate of another principal; [`AdminError::Read`].
    pub async fn candidate(
        &self,
        caller: Caller,
        candidate: CandidateId,
    ) -> Result<CandidateRecord, AdminError> {
        self.own_candidate(caller.actor.principal, candidate).await
    }

    /// Decides about a candidate of the caller.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] where its state does not allow it, for a text that does not fit, and for a candidate that
    /// the caller does not have; [`AdminError::Append`]; [`AdminError::Read`].
    pub async fn review(
        &self,
        caller: Caller,
        review: CandidateReview,
    ) -> Result<CandidateRecord, AdminError> {
        let _no_erasure = self.without_erasure()?;
        let _one_at_a_time = self.saving.lock().await;
        let principal = caller.actor.principal;
        let known = self.own_candidate(principal, review.candidate).await?;
        let next = state_after(known.state, review.act)
            .map_err(|wrong| AdminError::InvalidArgument { what: wrong.to_string() })?;
        let Some(state) = next else { return Ok(known) };
        let mut entries = LearnedEntries { principal, session: known.session, events: Vec::new() };
        let text = match (review.act, review.text) {
            (ReviewAct::Edit, Some(text)) => Some(self.edited(&known, text)?),
            (ReviewAct::Edit, None) => return invalid("an edit has a text"),
            (ReviewAct::Accept | ReviewAct::Reject | ReviewAct::Undo, _) => None,
        };
        let memory = match review.act {
            ReviewAct::Accept if known.state.is_in_use() => known.memory,
            ReviewAct::Accept | ReviewAct::Edit => {
                let words = text.as_ref().unwrap_or(&known.proposed.text).clone();
                self.save_learned(&known.proposed, words, known.memory, &mut entries).await?
            }
            ReviewAct::Reject => None,
            ReviewAct::Undo => {
                self.take_back(&known, &mut entries).await?;
                None
            }
        };
        let text = text.unwrap_or_default();
        let changed = CandidateChanged { candidate: review.candidate, state, memory, text };
        entries.events.push(LearningEvent::Changed(changed).into());
        let entries = self.new_entries(entries);
        self.append(Some(caller.actor), entries, AppendClass::Normal).await?;
        self.learned.send_modify(|appends| *appends += 1);
        self.own_candidate(principal, review.candidate).await
    }

    /// Records what was found in runs of a session, and applies what is sure enough. Nothing is recorded twice.
    ///
    /// # Errors
    /// [`AdminError::Append`]; [`AdminError::Read`].
    pub async fn learn(
        &self,
        session: SessionRef,
        found: Vec<FoundCandidate>,
        config: &LearningRuntimeConfig,
    ) -> Result<LearnedCounts, AdminError> {
        let _one_at_a_time = self.saving.lock().await;
        let mut counts = LearnedCounts::default();
        for candidate in found {
            match self.learn_one(session, candidate, config).await? {
                Some(CandidateState::Applied) => counts.applied += 1,
                Some(_) => counts.pending += 1,
                None => {}
            }
        }
        Ok(counts)
    }

    async fn learn_one(
        &self,
        session: SessionRef,
        mut found: FoundCandidate,
        config: &LearningRuntimeConfig,
    ) -> Result<Option<CandidateState>, AdminError> {
        let principal = session.principal;
        let now = self.ports.clock.wall();
        let records = self.learned_of(principal).await?;
        let known: Vec<KnownCandidate> = records.iter().map(known_candidate).collect();
        let NextStep::Propose { confidence_bps, supersedes, replaces, evidence } =
            next_step(&found, &known, now)
        else {
            return Ok(None);
        };
        let cleaned = self.ports.redactor.redact(found.text.clone());
        found.is_sensitive |= cleaned.findings.changed();
        let text = cleaned.text;
        if text.expose().is_empty() || text.expose().len() > CANDIDATE_TEXT_BYTES_MAX {
            return Ok(None);
        }
        let usable = self.usable(principal).await?;
        let is_remembered = |item: &MemoryRecord| says_the_same(item.saved.text.expose(), text.expose());
        if found.kind == CandidateKind::Fact && usable.iter().any(is_remembered) {
            return Ok(None);
        }
        let (state, held_back) = match decide_standing(&found, confidence_bps, config) {
            CandidateStanding::Applied => (CandidateState::Applied, None),
            CandidateStanding::PendingReview(why) => (CandidateState::PendingReview, Some(why)),
            CandidateStanding::Dropped => return Ok(None),
        };
        let mut proposed = CandidateProposed {
            candidate: self.ports.entropy.new_id(now),
            kind: found.kind,
            confidence_bps,
            state,
            held_back,
            author: found.author,
            evidence,
            taints: found.taints,
            via: found.via,
            memory: None,
            supersedes,
            text: text.clone(),
        };
        let mut entries = LearnedEntries { principal, session: Some(session.id), events: Vec::new() };
        if state == CandidateState::Applied {
            let older = records.iter().find(|one| Some(one.proposed.candidate) == replaces);
            let replaced = older.and_then(|older| older.memory);
            if older.is_some() {
                entries.events.extend(supersedes.map(superseded));
                proposed.supersedes = replaces;
            }
            proposed.memory = self.save_learned(&proposed, text, replaced, &mut entries).await?;
        }
        entries.events.push(LearningEvent::Proposed(Box::new(proposed)).into());
        let entries = self.new_entries(entries);
        self.append(None, entries, AppendClass::Normal).await?;
        self.learned.send_modify(|appends| *appends += 1);
        Ok(Some(state))
    }

    /// Adds the item of memory that a fact or a preference becomes; returns its id. A procedure becomes none.
    async fn save_learned(
        &self,
        proposed: &CandidateProposed,
        text: Redacted<String>,
        replaced: Option<MemoryId>,
        entries: &mut LearnedEntries,
    ) -> Result<Option<MemoryId>, AdminError> {
        if text.expose().is_empty() {
            return invalid("the text of the candidate was erased");
        }
        if proposed.kind == CandidateKind::Procedure {
            return Ok(None);
        }
        if self.usable(entries.principal).await?.len() >= MEMORY_ITEMS_MAX {
            return invalid("there are 1000 items in memory; forget some first");
        }
        let source = proposed.evidence.first();
        let writer = MemoryWriter {
            principal: entries.principal,
            actor: None,
            author: MemoryAuthor::Person,
            via: proposed.via,
            session: entries.session,
            source: source
                .map(|CitedEntry { run, tape_seq }| MemorySource { run: *run, tape_seq: *tape_seq }),
            taints: proposed.taints,
        };
        let item = self.checked(&writer, &text.into(), MemoryScope::Principal, None, replaced)?;
        let memory = self.ports.entropy.new_id(self.ports.clock.wall());
        let saved = MemorySaved {
            memory,
            scope: item.scope,
            author: writer.author,
            via: writer.via,
            source: writer.source,
            taints: writer.taints,
            expires: None,
            supersedes: replaced,
            text: item.text,
        };
        self.memory_search.note_holder(entries.principal);
        entries.events.push(MemoryEvent::Saved(saved).into());
        Ok(Some(memory))
    }

    /// Ends the use of a candidate, and begins that of the one again whose place it took.
    async fn take_back(
        &self,
        known: &CandidateRecord,
        entries: &mut LearnedEntries,
    ) -> Result<(), AdminError> {
        if let Some(memory) = known.memory {
            entries.events.push(MemoryEvent::Forgotten { memory, cause: ForgetCause::Person }.into());
        }
        let Some(older) = known.proposed.supersedes else { return Ok(()) };
        let older = self.own_candidate(known.principal, older).await?;
        let was_in_use = older.state == CandidateState::Superseded && older.memory.is_some();
        if !was_in_use || older.proposed.text.expose().is_empty() {
            return Ok(());
        }
        let text = older.proposed.text.clone();
        let memory = self.save_learned(&older.proposed, text, None, entries).await?;
        let changed = CandidateChanged {
            candidate: older.proposed.candidate,
            state: CandidateState::Applied,
            memory,
            text: Redacted::default(),
        };
        entries.events.push(LearningEvent::Changed(changed).into());
        Ok(())
    }

    fn edited(&self, known: &CandidateRecord, text: Content<String>) -> Result<Redacted<String>, AdminError> {
        if known.proposed.kind == CandidateKind::Procedure {
            return invalid("a procedure is edited as a file; save its draft and install it");
        }
        let cleaned = self.ports.redactor.redact(text).text;
        if cleaned.expose().trim().is_empty() { invalid("an edit has a text") } else { Ok(cleaned) }
    }

    fn new_entries(&self, entries: LearnedEntries) -> Vec<NewEntry> {
        let time = self.ports.clock.wall();
        let LearnedEntries { principal, session, events } = entries;
        events.into_iter().map(|event| NewEntry { time, principal, session, run: None, event }).collect()
    }

    async fn learned_of(&self, principal: PrincipalId) -> Result<Vec<CandidateRecord>, AdminError> {
        let query = move |rows: &mut dyn palyra_journal_core::family::RowStore,
                          log: &mut dyn palyra_journal_core::family::LogView| {
            learning_candidates::of_principal(rows, log, principal)
        };
        Ok(self.ports.families.query(query).await?)
    }

    async fn own_candidate(
        &self,
        principal: PrincipalId,
        candidate: CandidateId,
    ) -> Result<CandidateRecord, AdminError> {
        let query = self
            .ports
            .families
            .query(move |rows, log| learning_candidates::record(rows, log, principal, candidate));
        match query.await? {
            Some(record) => Ok(record),
            None => invalid(UNKNOWN),
        }
    }
}

fn superseded(candidate: CandidateId) -> JournalEvent {
    let state = CandidateState::Superseded;
    LearningEvent::Changed(CandidateChanged { candidate, state, memory: None, text: Redacted::default() })
        .into()
}

/// Returns when a run was accepted: its id is made at that time.
fn time_of(run: RunId) -> Timestamp {
    Timestamp(i64::try_from(run.unix_ms()).unwrap_or_default().saturating_mul(1_000))
}

fn known_candidate(record: &CandidateRecord) -> KnownCandidate {
    let first = record.proposed.evidence.first();
    KnownCandidate {
        candidate: record.proposed.candidate,
        kind: record.proposed.kind,
        state: record.state,
        text: record.proposed.text.expose().clone(),
        confidence_bps: record.proposed.confidence_bps,
        time: first.map_or(record.created, |cited| time_of(cited.run)),
        evidence: record.proposed.evidence.clone(),
    }
}
