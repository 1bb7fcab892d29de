//! Approvals, stored grants, effects and takings back, by naive folds over all entries: nothing is kept.
//!
//! Begin at [`State::approvals`].

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::read_approvals::{
    ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery, ExpiringApproval, GrantFilter,
    STORED_GRANTS_MAX,
};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{ReadApprovals, ReadError};
use palyra_types::approval::{
    ApprovalRecord, ApprovalRequested, ApprovalState, StoredGrant, StoredGrantRecord,
};
use palyra_types::effect::{EffectRecord, EffectState, UndoRequested};
use palyra_types::event::{
    ApprovalEvent, DecidedBy, EffectEvent, JournalEvent, PolicyEvent, TapeEvent, ToolEvent, ToolStarted,
};
use palyra_types::job::{JobNumber, JobState};
use palyra_types::tool::EffectContract;
use palyra_types::{
    ApprovalId, EffectId, PrincipalId, Redacted, RunId, Seq, SessionId, StoredGrantId, TapeSeq, Timestamp,
};

use super::MemoryJournal;
use super::entry::Entry;
use super::jobs::Jobs;
use super::state::State;

type Reading<T> = BoxFuture<'static, Result<T, ReadError>>;

fn done<T: Send + 'static>(value: T) -> Reading<T> {
    ready(Ok(value)).boxed()
}

fn on_tape(entry: &Entry) -> Option<OnTape<'_>> {
    let JournalEvent::Tape(event) = &entry.new.event else { return None };
    let ((run, tape_seq), session) = (entry.new.run?, entry.new.session?);
    let (principal, seq, time) = (entry.new.principal, entry.seq, entry.new.time);
    Some(OnTape { run, session, principal, tape_seq, seq, time, event })
}

/// An entry of a tape, with its place.
struct OnTape<'a> {
    run: RunId,
    session: SessionId,
    principal: PrincipalId,
    tape_seq: TapeSeq,
    seq: Seq,
    time: Timestamp,
    event: &'a TapeEvent,
}

impl State {
    fn on_tapes(&self) -> impl Iterator<Item = OnTape<'_>> {
        self.entries.iter().filter_map(on_tape)
    }

    /// Returns every approval there ever was.
    pub(super) fn approvals(&self) -> BTreeMap<ApprovalId, ApprovalRecord> {
        let mut approvals = BTreeMap::new();
        for at in self.on_tapes() {
            match at.event {
                TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
                    approvals.entry(requested.approval).or_insert_with(|| asked(&at, requested));
                }
                TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
                    if let Some(record) = pending(&mut approvals, voted.approval)
                        && !record.voters.contains(&voted.by)
                    {
                        record.voters.push(voted.by);
                    }
                }
                TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                    if let Some(record) = pending(&mut approvals, resolved.approval) {
                        record.state = resolved.state;
                        record.decided = Some(at.time);
                        record.decided_by = resolved.by;
                        record.note.clone_from(&resolved.note);
                    }
                }
                _ => {}
            }
        }
        approvals
    }

    /// Returns every stored grant there ever was.
    pub(super) fn stored_grants(&self) -> BTreeMap<StoredGrantId, StoredGrantRecord> {
        let mut grants: BTreeMap<StoredGrantId, StoredGrantRecord> = BTreeMap::new();
        for entry in &self.entries {
            match &entry.new.event {
                JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))) => {
                    grants.entry(stored.grant).or_insert_with(|| given(entry, stored));
                }
                JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, .. }) => {
                    if let Some(record) = grants.get_mut(grant) {
                        record.revoked.get_or_insert(entry.new.time);
                    }
                }
                JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) => {
                    if let DecidedBy::Grant(grant) = decided.decided_by
                        && let Some(record) = grants.get_mut(&grant)
                    {
                        record.uses += 1;
                    }
                }
                _ => {}
            }
        }
        grants
    }

    /// Returns whether an approval waits.
    pub(super) fn is_pending(&self, approval: ApprovalId) -> bool {
        self.approvals().get(&approval).is_some_and(|record| record.state == ApprovalState::Pending)
    }

    /// Returns whether a stored grant may be used once more.
    pub(super) fn is_usable(&self, grant: StoredGrantId, now: Timestamp) -> bool {
        self.stored_grants()
            .get(&grant)
            .is_some_and(|record| stands(record) && record.stored.expires.is_none_or(|expires| now < expires))
    }

    /// Returns whether nobody knows the outcome of an effect, and nobody said it.
    pub(super) fn is_unknown(&self, run: RunId, effect: EffectId) -> bool {
        self.effects().get(&(run, effect)).is_some_and(|record| record.state == EffectState::Unknown)
    }

    /// Returns every effect there ever was.
    fn effects(&self) -> BTreeMap<(RunId, EffectId), EffectRecord> {
        let mut effects: BTreeMap<(RunId, EffectId), EffectRecord> = BTreeMap::new();
        let mut tools: BTreeMap<(RunId, EffectId), Redacted<String>> = BTreeMap::new();
        let mut approved: BTreeMap<(RunId, EffectId), ApprovalId> = BTreeMap::new();
        let mut settled: BTreeSet<(RunId, EffectId)> = BTreeSet::new();
        let mut jobs = Jobs::default();
        for entry in &self.entries {
            jobs.take(entry, &effects);
            if let JournalEvent::Effect(EffectEvent::Settled(said)) = &entry.new.event {
                let key = (said.run, said.effect);
                if let Some(record) =
                    effects.get_mut(&key).filter(|record| record.state == EffectState::Unknown)
                {
                    record.state = EffectState::Resolved(said.resolution);
                    record.ended = Some(entry.new.time);
                    settled.insert(key);
                }
            }
            let Some(at) = on_tape(entry) else { continue };
            match at.event {
                TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
                    tools.entry((at.run, proposed.effect)).or_insert_with(|| proposed.tool.clone());
                }
                TapeEvent::Tool(ToolEvent::Decided(decided)) => {
                    let key = (at.run, decided.effect);
                    if let DecidedBy::Approval(approval) = decided.decided_by
                        && tools.contains_key(&key)
                    {
                        approved.insert(key, approval);
                    }
                }
                TapeEvent::Tool(ToolEvent::Started(started)) => {
                    let key = (at.run, started.effect);
                    let tool = tools.get(&key).cloned().unwrap_or_default();
                    let approval = approved.get(&key).copied();
                    effects.entry(key).or_insert_with(|| begun(&at, started, tool, approval));
                }
                TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                    let state = match finished.failure {
                        None => EffectState::Finished,
                        Some(_) => EffectState::Failed,
                    };
                    let key = (at.run, finished.effect);
                    if let Some(record) = effects.get_mut(&key).filter(|_| !settled.contains(&key)) {
                        ended(record, &at, state);
                        record.failure = finished.failure;
                    }
                }
                TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, .. }) => {
                    let key = (at.run, *effect);
                    if let Some(record) = effects.get_mut(&key).filter(|_| !settled.contains(&key)) {
                        ended(record, &at, EffectState::Unknown);
                    }
                }
                TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, .. }) => {
                    let key = (at.run, *effect);
                    if let Some(record) = effects.get_mut(&key).filter(|_| !settled.contains(&key)) {
                        ended(record, &at, EffectState::Resolved(*resolution));
                    }
                }
                _ => {}
            }
        }
        jobs.show_in(&mut effects);
        effects
    }
}

fn asked(at: &OnTape<'_>, requested: &ApprovalRequested) -> ApprovalRecord {
    ApprovalRecord {
        approval: requested.approval,
        run: at.run,
        session: at.session,
        principal: at.principal,
        effect: requested.effect,
        tape_seq: at.tape_seq,
        seq: at.seq,
        state: ApprovalState::Pending,
        risk: requested.risk,
        terms: requested.terms,
        voters: Vec::new(),
        created: at.time,
        expires: requested.expires,
        decided: None,
        decided_by: None,
        prompt: requested.prompt.clone(),
        note: Redacted::default(),
    }
}

fn pending(
    approvals: &mut BTreeMap<ApprovalId, ApprovalRecord>,
    approval: ApprovalId,
) -> Option<&mut ApprovalRecord> {
    approvals.get_mut(&approval).filter(|record| record.state == ApprovalState::Pending)
}

fn given(entry: &Entry, stored: &StoredGrant) -> StoredGrantRecord {
    let (created, seq) = (entry.new.time, entry.seq);
    StoredGrantRecord { stored: stored.clone(), uses: 0, created, revoked: None, seq }
}

fn begun(
    at: &OnTape<'_>,
    started: &ToolStarted,
    tool: Redacted<String>,
    approval: Option<ApprovalId>,
) -> EffectRecord {
    EffectRecord {
        run: at.run,
        session: at.session,
        principal: at.principal,
        effect: started.effect,
        contract: started.contract,
        state: EffectState::Started,
        approval,
        failure: None,
        tool,
        started: at.time,
        ended: None,
        started_at: (at.tape_seq, at.seq),
        ended_at: None,
        job: None,
    }
}

fn ended(record: &mut EffectRecord, at: &OnTape<'_>, state: EffectState) {
    record.state = state;
    record.ended = Some(at.time);
    record.ended_at = Some((at.tape_seq, at.seq));
}

fn stands(record: &StoredGrantRecord) -> bool {
    record.revoked.is_none() && record.stored.uses_max.is_none_or(|uses_max| record.uses < uses_max)
}

impl ReadApprovals for MemoryJournal {
    fn approval(&self, approval: ApprovalId) -> Reading<Option<ApprovalRecord>> {
        done(self.lock().approvals().remove(&approval))
    }

    fn approvals(&self, query: ApprovalQuery) -> Reading<Vec<ApprovalRecord>> {
        let wanted = |record: &ApprovalRecord| {
            let waits = record.state == ApprovalState::Pending;
            query.principal.is_none_or(|principal| record.principal == principal)
                && query.run.is_none_or(|run| record.run == run)
                && query.before.is_none_or(|before| record.seq < before)
                && match query.only {
                    ApprovalFilter::All => true,
                    ApprovalFilter::Pending => waits,
                    ApprovalFilter::Decided => !waits,
                }
        };
        let mut approvals: Vec<_> = self.lock().approvals().into_values().filter(wanted).collect();
        approvals.sort_by_key(|record| std::cmp::Reverse(record.seq));
        approvals.truncate(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
        done(approvals)
    }

    fn waiting_approvals(&self) -> Reading<Vec<(PrincipalId, usize)>> {
        let mut waiting: BTreeMap<PrincipalId, usize> = BTreeMap::new();
        let all = self.lock().approvals();
        let pending = all.values().filter(|record| record.state == ApprovalState::Pending);
        pending.for_each(|record| *waiting.entry(record.principal).or_default() += 1);
        done(waiting.into_iter().collect())
    }

    fn next_to_expire(&self, limit: usize) -> Reading<Vec<ExpiringApproval>> {
        let due = |record: ApprovalRecord| {
            let (approval, run) = (record.approval, record.run);
            let waits = record.state == ApprovalState::Pending;
            record.expires.filter(|_| waits).map(|expires| ExpiringApproval { approval, run, expires })
        };
        let mut due: Vec<_> = self.lock().approvals().into_values().filter_map(due).collect();
        due.sort_by_key(|due| (due.expires, due.approval));
        due.truncate(limit.clamp(1, RECORD_PAGE_ROWS_MAX));
        done(due)
    }

    fn stored_grant(&self, grant: StoredGrantId) -> Reading<Option<StoredGrantRecord>> {
        done(self.lock().stored_grants().remove(&grant))
    }

    fn stored_grants(&self, only: GrantFilter) -> Reading<Vec<StoredGrantRecord>> {
        let wanted = |record: &StoredGrantRecord| match only {
            GrantFilter::All => true,
            GrantFilter::Standing => stands(record),
        };
        let mut grants: Vec<_> = self.lock().stored_grants().into_values().filter(wanted).collect();
        grants.truncate(STORED_GRANTS_MAX);
        done(grants)
    }

    fn effects(&self, query: EffectQuery) -> Reading<Vec<EffectRecord>> {
        let wanted = |record: &EffectRecord| {
            query.principal.is_none_or(|principal| record.principal == principal)
                && query.run.is_none_or(|run| record.run == run)
                && query.before.is_none_or(|before| record.started_at.1 < before)
                && match query.only {
                    EffectFilter::All => true,
                    EffectFilter::Unknown => record.state == EffectState::Unknown,
                    EffectFilter::Changing => record.contract != EffectContract::Pure,
                    EffectFilter::OpenJobs => record.job.is_some_and(|job| job.state == JobState::Running),
                    EffectFilter::Job(number) => record.job.is_some_and(|job| job.number == number),
                }
        };
        let mut effects: Vec<_> = self.lock().effects().into_values().filter(wanted).collect();
        effects.sort_by_key(|record| std::cmp::Reverse(record.started_at.1));
        effects.truncate(query.limit.clamp(1, RECORD_PAGE_ROWS_MAX));
        done(effects)
    }

    fn last_job(&self) -> Reading<JobNumber> {
        let effects = self.lock().effects();
        let numbers = effects.values().filter_map(|record| record.job).map(|job| job.number);
        done(numbers.max().unwrap_or_default())
    }

    fn open_undos(&self) -> Reading<Vec<UndoRequested>> {
        let state = self.lock();
        let mut open: Vec<UndoRequested> = Vec::new();
        for entry in &state.entries {
            match &entry.new.event {
                JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => open.push(requested.clone()),
                JournalEvent::Effect(EffectEvent::UndoFinished { undo, .. }) => {
                    open.retain(|requested| requested.undo != *undo);
                }
                _ => {}
            }
        }
        done(open)
    }
}
