//! The port of erasures: nothing lies on a disk here, so erasing is emptying values.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::{
    AppendError, EraseError, EraseJournal, ErasureOrder, ErasurePlan, ErasureReceipt, ErasureSubject,
    NewEntry, ReadError, Redactor,
};
use palyra_types::event::{EffectEvent, JournalEvent, LogEvent, SessionEvent};
use palyra_types::learning::LearningEvent;
use palyra_types::memory::MemoryEvent;
use palyra_types::proof::SeqRange;
use palyra_types::run::RunRecord;
use palyra_types::tape::ContentState;
use palyra_types::{CandidateId, PrincipalId, RunId, Seq, Timestamp};

use super::MemoryJournal;
use super::content;
use super::entry::MemoryEntry;
use super::state::JournalState;

impl EraseJournal for MemoryJournal {
    fn find(&self, subject: ErasureSubject) -> BoxFuture<'static, Result<ErasurePlan, ReadError>> {
        let mut state = self.lock();
        let covered = covered_runs(&mut state, subject);
        let learned = learned_from(&state, &covered);
        let wanted = |entry: &MemoryEntry| match subject {
            _ if is_learned(entry, &learned) => true,
            _ if sums_up(entry, &covered) => true,
            ErasureSubject::Run(run) => {
                entry.new.run.is_some_and(|(own, _)| own == run) || says_of(entry, run)
            }
            ErasureSubject::Session(session) => {
                entry.new.principal == session.principal && entry.new.session == Some(session.id)
            }
            ErasureSubject::Principal(principal) => entry.new.principal == principal,
            ErasureSubject::Range(range) => range.holds(entry.seq),
        };
        ready(Ok(plan(&mut state, wanted))).boxed()
    }

    fn find_secrets(
        &self,
        redactor: Arc<dyn Redactor>,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<ErasurePlan, ReadError>> {
        let mut state = self.lock();
        let holds = |entry: &MemoryEntry| {
            let mut found = false;
            entry.new.event.for_each_content(&mut |_, leaf| {
                leaf.for_each_text(&mut |text| found |= redactor.redact(text.into()).text.expose() != text);
            });
            found
        };
        let plan = plan(&mut state, holds);
        progress(state.entries.len() as u64, state.entries.len() as u64);
        ready(Ok(plan)).boxed()
    }

    fn erase(&self, order: ErasureOrder) -> BoxFuture<'static, Result<ErasureReceipt, EraseError>> {
        ready(erase(&mut self.lock(), &order)).boxed()
    }
}

/// Returns the runs of which something is erased.
fn covered_runs(state: &mut JournalState, subject: ErasureSubject) -> Vec<RunRecord> {
    let concerned = state.entries.iter().filter(|entry| match subject {
        ErasureSubject::Run(run) => entry.new.run.is_some_and(|(own, _)| own == run),
        ErasureSubject::Session(session) => {
            entry.new.principal == session.principal && entry.new.session == Some(session.id)
        }
        ErasureSubject::Principal(principal) => entry.new.principal == principal,
        ErasureSubject::Range(range) => range.holds(entry.seq),
    });
    let runs: BTreeSet<RunId> = concerned.filter_map(|entry| entry.new.run.map(|(run, _)| run)).collect();
    runs.into_iter().filter_map(|run| state.run(run)).collect()
}

/// Returns whether an entry is a compaction of one of these runs.
fn sums_up(entry: &MemoryEntry, runs: &[RunRecord]) -> bool {
    let JournalEvent::Session(SessionEvent::Compacted(made)) = &entry.new.event else { return false };
    runs.iter().any(|run| {
        run.principal == entry.new.principal
            && made.spans.iter().any(|span| span.covers(run.session, run.first_seq))
    })
}

/// Returns whether an entry outside of tapes says what became of an effect of a run, or what was learned from it.
fn says_of(entry: &MemoryEntry, run: RunId) -> bool {
    match &entry.new.event {
        JournalEvent::Effect(EffectEvent::Settled(settled)) => settled.run == run,
        JournalEvent::Memory(MemoryEvent::Saved(saved)) => {
            saved.source.is_some_and(|source| source.run == run)
        }
        _ => false,
    }
}

/// Returns the candidates that were concluded from these runs.
fn learned_from(state: &JournalState, runs: &[RunRecord]) -> BTreeSet<(PrincipalId, CandidateId)> {
    let proposed = state.entries.iter().filter_map(|entry| match &entry.new.event {
        JournalEvent::Learning(LearningEvent::Proposed(proposed)) => Some((entry.new.principal, proposed)),
        _ => None,
    });
    let mut learned = BTreeSet::new();
    for (principal, proposed) in proposed {
        let of_principal = runs.iter().filter(|run| run.principal == principal).map(|run| run.run);
        let runs: BTreeSet<RunId> = of_principal.collect();
        if proposed.evidence.iter().any(|cited| runs.contains(&cited.run)) {
            learned.insert((principal, proposed.candidate));
        }
    }
    learned
}

/// Returns whether an entry has words of one of these candidates.
fn is_learned(entry: &MemoryEntry, learned: &BTreeSet<(PrincipalId, CandidateId)>) -> bool {
    let candidate = match &entry.new.event {
        JournalEvent::Learning(LearningEvent::Proposed(proposed)) => proposed.candidate,
        JournalEvent::Learning(LearningEvent::Changed(changed)) => changed.candidate,
        _ => return false,
    };
    learned.contains(&(entry.new.principal, candidate))
}

fn plan(state: &mut JournalState, wanted: impl Fn(&MemoryEntry) -> bool) -> ErasurePlan {
    let mut plan = ErasurePlan::default();
    let has_content = |entry: &&MemoryEntry| {
        entry.content == ContentState::Present && content::content_bytes(&entry.new.event) > 0
    };
    let wanted = state.entries.iter().filter(has_content).filter(|entry| wanted(entry));
    let wanted: Vec<(Seq, Option<RunId>)> =
        wanted.map(|entry| (entry.seq, entry.new.run.map(|(run, _)| run))).collect();
    for (seq, run) in wanted {
        plan.entries += 1;
        plan.ranges.push(SeqRange { first: seq, last: seq });
        if let Some(run) = run.and_then(|run| open(state, run))
            && !plan.open_runs.contains(&run)
        {
            plan.open_runs.push(run);
        }
    }
    plan
}

fn open(state: &mut JournalState, run: RunId) -> Option<RunId> {
    state.run(run).filter(|record| !record.state.is_terminal()).map(|record| record.run)
}

fn erase(state: &mut JournalState, order: &ErasureOrder) -> Result<ErasureReceipt, EraseError> {
    if state.read_only.is_some() {
        return Err(AppendError::Quarantined.into());
    }
    let plan = plan(state, |entry| order.ranges.iter().any(|range| range.holds(entry.seq)));
    if let Some(run) = plan.open_runs.first() {
        return Err(EraseError::OpenRun(*run));
    }
    if plan.entries == 0 {
        return Err(EraseError::Nothing);
    }
    for range in &plan.ranges {
        state.erase(range.first);
    }
    let recorded = Seq(state.entries.len() as u64);
    let ErasureOrder { authoriser, reason, .. } = *order;
    let event = JournalEvent::Log(LogEvent::Erased { authoriser, reason, ranges: plan.ranges });
    let (time, principal) = (Timestamp::default(), PrincipalId::NIL);
    state.push(NewEntry { time, principal, session: None, run: None, event });
    Ok(ErasureReceipt { entries: vec![recorded], erased: plan.entries, ..ErasureReceipt::default() })
}
