//! The records, folded from entries one by one. Written apart from the real journal's folds, so that the two
//! check each other.

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::access::{PrincipalRecord, TokenRecord};
use palyra_types::agent::{AgentProfile, AgentRecord};
use palyra_types::component::{ComponentEvent, ComponentRecord};
use palyra_types::event::{
    AccessEvent, AgentEvent, EffectEvent, JournalEvent, ModelEvent, RunEvent, SessionEvent, TapeEvent,
    ToolEvent,
};
use palyra_types::model::TokenUsage;
use palyra_types::run::{
    IdempotencyDigest, InputDelivery, RunLifecycleState, RunPhase, RunRecord, WaitReason,
};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::skill::{SkillEvent, SkillQuarantine, SkillRecord};
use palyra_types::{
    AgentId, ComponentId, PrincipalId, Redacted, RunId, Seq, SessionId, SkillId, TapeSeq, TokenId,
};

use super::entry::Entry;
use super::waits::Waits;

/// Kinds from this number on may be skipped by those who do not know them.
const SKIPPABLE_FROM: u16 = 0x8000;
const INPUT_PREVIEW_CHARS: usize = 120;

/// All records.
#[derive(Default)]
pub(super) struct Records {
    pub(super) runs: BTreeMap<RunId, RunRecord>,
    pub(super) started_by: BTreeMap<(PrincipalId, IdempotencyDigest), RunId>,
    pub(super) resets: BTreeSet<(SessionRef, Seq)>,
    pub(super) sessions: BTreeMap<SessionRef, OrchestratorSessionRecord>,
    pub(super) agents: BTreeMap<AgentId, AgentRecord>,
    pub(super) skills: BTreeMap<SkillId, SkillRecord>,
    pub(super) components: BTreeMap<ComponentId, ComponentRecord>,
    pub(super) principals: BTreeMap<PrincipalId, PrincipalRecord>,
    pub(super) tokens: BTreeMap<TokenId, TokenRecord>,
    waits: Waits,
}

impl Records {
    /// Returns the session that a principal calls by this key.
    pub(super) fn session_by_key(
        &self,
        principal: PrincipalId,
        key: &str,
    ) -> Option<&OrchestratorSessionRecord> {
        let named = |session: &&OrchestratorSessionRecord| {
            session.session.principal == principal
                && session.key.as_ref().map(Redacted::expose).is_some_and(|own| own == key)
        };
        self.sessions.values().find(named)
    }

    pub(super) fn fold(&mut self, entry: &Entry) {
        let principal = entry.new.principal;
        match &entry.new.event {
            JournalEvent::Tape(event) => self.fold_tape(entry, event),
            JournalEvent::Effect(EffectEvent::Settled(settled)) => {
                self.waits.settle(settled.run, settled.effect);
                if let Some(record) = self.runs.get_mut(&settled.run) {
                    record.phase = self.waits.phase(record);
                }
            }
            JournalEvent::Access(AccessEvent::PrincipalRegistered { principal, name }) => {
                let record = PrincipalRecord { id: *principal, name: name.clone() };
                self.principals.insert(*principal, record);
            }
            JournalEvent::Access(AccessEvent::TokenCreated { token, sha256, expires, label }) => {
                self.tokens.entry(*token).or_insert_with(|| TokenRecord {
                    id: *token,
                    principal,
                    sha256: *sha256,
                    created: entry.new.time,
                    expires: *expires,
                    revoked: None,
                    label: label.clone(),
                });
            }
            JournalEvent::Access(AccessEvent::TokenRevoked { token }) => {
                if let Some(token) = self.tokens.get_mut(token) {
                    token.revoked.get_or_insert(entry.new.time);
                }
            }
            JournalEvent::Agent(AgentEvent::Saved { agent, profile }) => self.save_agent(*agent, profile),
            JournalEvent::Agent(AgentEvent::Archived { agent }) => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.archived = Some(entry.new.time);
                }
            }
            JournalEvent::Skill(event) => self.fold_skill(entry, event),
            JournalEvent::Component(event) => self.fold_component(entry, event),
            JournalEvent::Session(_) => {
                self.fold_session(entry);
            }
            JournalEvent::Policy(_)
            | JournalEvent::Job(_)
            | JournalEvent::Vault(_)
            | JournalEvent::Log(_)
            | JournalEvent::Effect(EffectEvent::UndoRequested(_) | EffectEvent::UndoFinished { .. })
            | JournalEvent::Unknown { .. } => {}
        }
    }

    fn save_agent(&mut self, agent: AgentId, profile: &AgentProfile) {
        let archived = self.agents.get(&agent).and_then(|agent| agent.archived);
        self.agents.insert(agent, AgentRecord { id: agent, profile: profile.clone(), archived });
    }

    fn fold_component(&mut self, entry: &Entry, event: &ComponentEvent) {
        match event {
            ComponentEvent::Added(added) => {
                self.components.entry(added.component).or_insert_with(|| ComponentRecord {
                    added: added.clone(),
                    by: entry.new.principal,
                    created: entry.new.time,
                    removed: None,
                    seq: entry.seq,
                });
            }
            ComponentEvent::Removed { component } => {
                if let Some(record) = self.components.get_mut(component) {
                    record.removed.get_or_insert(entry.new.time);
                }
            }
        }
    }

    fn fold_skill(&mut self, entry: &Entry, event: &SkillEvent) {
        let record = match event {
            SkillEvent::Installed(installed) => {
                self.skills.entry(installed.skill).or_insert_with(|| SkillRecord {
                    installed: installed.clone(),
                    by: entry.new.principal,
                    created: entry.new.time,
                    agents: Vec::new(),
                    quarantine: None,
                    removed: None,
                    seq: entry.seq,
                });
                return;
            }
            other => self.skills.get_mut(&other.skill()),
        };
        let Some(record) = record else { return };
        match event {
            SkillEvent::Enabled { agent, .. } if record.removed.is_none() => {
                record.quarantine = None;
                record.agents.push(*agent);
                record.agents.sort();
                record.agents.dedup();
            }
            SkillEvent::Disabled { agent, .. } => record.agents.retain(|enabled| enabled != agent),
            SkillEvent::Quarantined { fault, .. } => {
                record.quarantine.get_or_insert(SkillQuarantine { since: entry.new.time, fault: *fault });
            }
            SkillEvent::Removed { .. } => {
                record.agents.clear();
                record.removed.get_or_insert(entry.new.time);
            }
            SkillEvent::Installed(_) | SkillEvent::Enabled { .. } => {}
        }
    }

    fn fold_session(&mut self, entry: &Entry) {
        let principal = entry.new.principal;
        match &entry.new.event {
            JournalEvent::Session(SessionEvent::Opened { session, agent, key, label, branched_from }) => {
                let session = SessionRef { principal, id: *session };
                self.sessions.entry(session).or_insert_with(|| OrchestratorSessionRecord {
                    session,
                    agent: *agent,
                    key: key.clone(),
                    label: label.clone(),
                    created: entry.new.time,
                    updated: entry.new.time,
                    runs: 0,
                    last_run: None,
                    reset_at: None,
                    branched_from: *branched_from,
                    archived: None,
                });
            }
            JournalEvent::Session(SessionEvent::Reset { session }) => {
                self.resets.insert((SessionRef { principal, id: *session }, entry.seq));
                self.change_session(entry, *session, |record| record.reset_at = Some(entry.seq));
            }
            JournalEvent::Session(SessionEvent::Renamed { session, label }) => {
                self.change_session(entry, *session, |record| record.label.clone_from(label));
            }
            JournalEvent::Session(SessionEvent::Archived { session }) => {
                self.change_session(entry, *session, |record| record.archived = Some(entry.new.time));
            }
            JournalEvent::Session(SessionEvent::Restored { session }) => {
                self.change_session(entry, *session, |record| record.archived = None);
            }
            _ => {}
        }
    }

    fn change_session(
        &mut self,
        entry: &Entry,
        id: SessionId,
        change: impl FnOnce(&mut OrchestratorSessionRecord),
    ) {
        let session = SessionRef { principal: entry.new.principal, id };
        if let Some(record) = self.sessions.get_mut(&session) {
            change(record);
            record.updated = entry.new.time;
        }
    }

    fn fold_tape(&mut self, entry: &Entry, event: &TapeEvent) {
        let (Some((run, tape_seq)), Some(session)) = (entry.new.run, entry.new.session) else { return };
        let session = SessionRef { principal: entry.new.principal, id: session };
        if tape_seq == TapeSeq(1) {
            self.begin_run(entry, run, session);
        }
        let speaking = matches!(
            event,
            TapeEvent::Model(ModelEvent::Text { .. } | ModelEvent::Reasoning { .. })
                | TapeEvent::Tool(ToolEvent::Output(_))
        );
        if let Some(session) = self.sessions.get_mut(&session).filter(|_| !speaking) {
            session.updated = entry.new.time;
            if matches!(event, TapeEvent::Run(RunEvent::Started(_))) {
                session.runs += 1;
                session.last_run = Some(run);
            }
        }
        if let TapeEvent::Run(RunEvent::InputReceived { idempotency: Some(digest), .. }) = event {
            self.started_by.entry((entry.new.principal, *digest)).or_insert(run);
        }
        let decided = self.waits.fold(run, event);
        if let Some(record) = self.runs.get_mut(&run) {
            record.last_tape_seq = tape_seq;
            record.updated = entry.new.time;
            apply(record, event, &self.waits);
        }
        for run in [Some(run), decided].into_iter().flatten() {
            if let Some(record) = self.runs.get_mut(&run) {
                record.phase = self.waits.phase(record);
                record.unprepared = self.waits.unprepared(run);
            }
        }
    }

    fn begin_run(&mut self, entry: &Entry, run: RunId, session: SessionRef) {
        let mut record = RunRecord {
            run,
            session: session.id,
            principal: session.principal,
            agent: AgentId::NIL,
            delivery: InputDelivery::Queue,
            state: RunLifecycleState::Pending,
            phase: RunPhase::Queued,
            reason: None,
            error: None,
            last_tape_seq: TapeSeq(1),
            first_seq: entry.seq,
            created: entry.new.time,
            updated: entry.new.time,
            turns: 0,
            tool_calls: 0,
            unprepared: 0,
            usage: TokenUsage::default(),
            input_preview: Redacted::default(),
        };
        if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &entry.new.event {
            record.agent = started.agent;
            record.delivery = started.delivery;
            let text = started.input.text.expose();
            record.input_preview = Redacted::new(text.chars().take(INPUT_PREVIEW_CHARS).collect());
            if let Some(digest) = started.idempotency {
                self.started_by.insert((session.principal, digest), run);
            }
        }
        self.runs.insert(run, record);
    }
}

fn apply(record: &mut RunRecord, event: &TapeEvent, waits: &Waits) {
    if record.phase == RunPhase::Finished {
        return;
    }
    match event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Running;
            record.turns = record.turns.max(requested.turn);
        }
        TapeEvent::Model(ModelEvent::Message(message)) if record.usage == TokenUsage::default() => {
            record.usage = message.usage;
        }
        TapeEvent::Model(ModelEvent::Message(message)) => record.usage = record.usage.plus(message.usage),
        TapeEvent::Tool(ToolEvent::Proposed(_)) => record.tool_calls += 1,
        TapeEvent::Run(RunEvent::InputReceived { .. }) => {
            record.phase = match record.state {
                RunLifecycleState::Pending => RunPhase::Queued,
                _ => RunPhase::Running,
            };
        }
        TapeEvent::Run(RunEvent::Held { .. }) => {
            record.state = RunLifecycleState::InProgress;
            record.phase = RunPhase::Waiting(WaitReason::OutcomeUnknown);
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { .. }) if !waits.has_doubt(record.run) => {
            if record.phase == RunPhase::Waiting(WaitReason::OutcomeUnknown) {
                record.phase = match record.state {
                    RunLifecycleState::Pending => RunPhase::Queued,
                    _ => RunPhase::Running,
                };
            }
        }
        TapeEvent::Run(RunEvent::LoopDetected { .. }) => {
            record.phase = RunPhase::Waiting(WaitReason::LoopCheck);
        }
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }) => {
            record.phase = RunPhase::Waiting(WaitReason::OutcomeUnknown);
        }
        TapeEvent::Unknown { kind } if *kind < SKIPPABLE_FROM => {
            record.phase = RunPhase::Waiting(WaitReason::UnknownKind);
        }
        TapeEvent::Run(RunEvent::Finished(finished)) => {
            record.state = finished.state;
            record.phase = RunPhase::Finished;
            record.reason = Some(finished.reason);
            record.error = finished.error;
            (record.turns, record.tool_calls) = (finished.turns, finished.tool_calls);
            record.usage = finished.usage;
        }
        TapeEvent::Run(RunEvent::Started(_) | RunEvent::CancelRequested { .. })
        | TapeEvent::Unknown { .. }
        | TapeEvent::Model(_)
        | TapeEvent::Tool(_)
        | TapeEvent::Approval(_) => {}
    }
}
