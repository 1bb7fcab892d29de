//! Effects by a naive fold over all entries.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::effect::{EffectRecord, EffectState};
use palyra_types::event::{DecidedBy, EffectEvent, JournalEvent, TapeEvent, ToolEvent, ToolStarted};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{ApprovalId, EffectId, Redacted, RunId};

use super::jobs::Jobs;
use super::tape_entry::{TapeEntry, on_tape};

/// Returns every effect there ever was.
pub(super) fn effects(entries: &[JournalEventRecord]) -> BTreeMap<(RunId, EffectId), EffectRecord> {
    let mut effects: BTreeMap<(RunId, EffectId), EffectRecord> = BTreeMap::new();
    let mut tools: BTreeMap<(RunId, EffectId), Redacted<String>> = BTreeMap::new();
    let mut approved: BTreeMap<(RunId, EffectId), ApprovalId> = BTreeMap::new();
    let mut settled: BTreeSet<(RunId, EffectId)> = BTreeSet::new();
    let mut jobs = Jobs::default();
    for entry in entries {
        jobs.take(entry, &effects);
        if let JournalEvent::Effect(EffectEvent::Settled(said)) = &entry.event {
            let key = (said.run, said.effect);
            if let Some(record) = effects.get_mut(&key).filter(|record| record.state == EffectState::Unknown)
            {
                record.state = EffectState::Resolved(said.resolution);
                record.ended = Some(entry.time);
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

fn begun(
    at: &TapeEntry<'_>,
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

fn ended(record: &mut EffectRecord, at: &TapeEntry<'_>, state: EffectState) {
    record.state = state;
    record.ended = Some(at.time);
    record.ended_at = Some((at.tape_seq, at.seq));
}
