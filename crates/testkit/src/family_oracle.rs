//! The records of families by a naive fold over entries, which shares nothing with the families: the answers of every
//! store are compared with it.

mod approvals;
pub mod budgets;
mod effects;
pub mod incidents;
mod jobs;
mod learning;
mod memories;
mod runs;
pub mod deliveries;
pub mod queued_tasks;
pub mod schedules;
mod sessions;
mod usage;
mod waits;
mod tape_entry;

pub use usage::SamplePrices;

use std::collections::{BTreeMap, BTreeSet};

use palyra_ports::read_usage::UsageReport;
use palyra_types::access::{AccessScope, PrincipalRecord, Role, TokenRecord};
use palyra_types::agent::AgentRecord;
use palyra_types::approval::{ApprovalRecord, StoredGrantRecord};
use palyra_types::compaction::OrchestratorCompactionArtifactRecord;
use palyra_types::component::{ComponentEvent, ComponentRecord};
use palyra_types::effect::{EffectRecord, UndoRequested};
use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalEvent, Bookmark, DecidedBy, EffectEvent, JournalEvent, PolicyEvent,
    RunEvent, SessionEvent, TapeEvent, ToolEvent,
};
use palyra_types::learning::CandidateRecord;
use palyra_types::memory::MemoryRecord;
use palyra_types::posture::PostureRecord;
use palyra_types::project_file::AcceptedProjectFileRecord;
use palyra_types::run::{IdempotencyDigest, RunRecord};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::shadow::ShadowCounts;
use palyra_types::skill::{SkillEvent, SkillQuarantine, SkillRecord};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{
    AgentId, ApprovalId, ComponentId, EffectId, PrincipalId, RunId, Seq, SkillId, StoredGrantId, TokenId,
};

/// Every record.
#[derive(Debug, Default)]
pub struct FamilyOracle {
    /// Principals by id.
    pub principals: BTreeMap<PrincipalId, PrincipalRecord>,
    /// Tokens by id.
    pub tokens: BTreeMap<TokenId, TokenRecord>,
    /// Agents by id.
    pub agents: BTreeMap<AgentId, AgentRecord>,
    /// Skills by id.
    pub skills: BTreeMap<SkillId, SkillRecord>,
    /// Components by id.
    pub components: BTreeMap<ComponentId, ComponentRecord>,
    /// Settings that hold, by entry.
    pub postures: BTreeMap<Seq, PostureRecord>,
    /// The newest count of each candidate.
    pub shadows: BTreeMap<[u8; 32], ShadowCounts>,
    /// The newest count of all.
    pub newest_shadow: Option<ShadowCounts>,
    /// Resets in order.
    pub resets: Vec<(SessionRef, Seq)>,
    /// The run that the first input with each key joined.
    pub input_keys: BTreeMap<(PrincipalId, IdempotencyDigest), RunId>,
    /// Bookmarks that were not removed, by the entry that placed them, with their principal.
    pub bookmarks: BTreeMap<Seq, (PrincipalId, Bookmark)>,
    /// Accepted files of projects that were not withdrawn, by the entry that accepted them, with their principal.
    pub project_rules: BTreeMap<Seq, (PrincipalId, AcceptedProjectFileRecord)>,
    /// Responses that their principal deleted.
    pub deleted_responses: BTreeSet<(PrincipalId, RunId)>,
    /// Items of memory in the order in which they were saved, also those that were forgotten.
    pub memories: Vec<MemoryRecord>,
    /// What was learned, in the order in which it was proposed.
    pub candidates: Vec<CandidateRecord>,
    /// Budgets and their accounts.
    pub budgets: budgets::BudgetOracle,
    /// Messages of the outbox.
    pub deliveries: deliveries::DeliveryOracle,
    /// Tasks of the background queue.
    pub queued_tasks: queued_tasks::QueuedTaskOracle,
    /// Schedules, their occurrences and their pauses.
    pub schedules: schedules::ScheduleOracle,
    /// Incidents of self-healing, and the modes that people chose.
    pub incidents: incidents::IncidentOracle,
    /// Compactions in the order in which they were made, also those that were reverted.
    pub compactions: Vec<OrchestratorCompactionArtifactRecord>,
    /// Undos without an end, oldest first.
    pub undos: Vec<UndoRequested>,
    /// Stored grants by id.
    pub stored_grants: BTreeMap<StoredGrantId, StoredGrantRecord>,
    /// Effects that were started, by run and number.
    pub effects: BTreeMap<(RunId, EffectId), EffectRecord>,
    /// Approvals by id.
    pub approvals: BTreeMap<ApprovalId, ApprovalRecord>,
    /// Sessions by name.
    pub sessions: BTreeMap<SessionRef, OrchestratorSessionRecord>,
    /// Runs by id.
    pub runs: BTreeMap<RunId, RunRecord>,
    /// Usage of models on all days.
    pub usage: UsageReport,
    /// Kinds outside tapes.
    pub kinds: BTreeSet<u16>,
    /// The number of the newest epoch.
    pub epoch: u32,
}

impl FamilyOracle {
    /// Folds entries from the first one on.
    #[must_use]
    pub fn of(entries: &[JournalEventRecord]) -> Self {
        let (effects, approvals) = (effects::effects(entries), approvals::approvals(entries));
        let (sessions, runs) = (sessions::sessions(entries), runs::runs(entries));
        let usage = usage::usage(entries);
        let mut oracle = Self { effects, approvals, sessions, runs, usage, ..Self::default() };
        entries.iter().for_each(|entry| oracle.fold(entry));
        oracle
    }

    /// Returns the latest reset of a session before a place.
    #[must_use]
    pub fn reset_before(&self, session: SessionRef, seq: Seq) -> Option<Seq> {
        self.resets.iter().rev().find(|(own, at)| *own == session && *at < seq).map(|(_, at)| *at)
    }

    fn fold(&mut self, entry: &JournalEventRecord) {
        if entry.run.is_none() {
            self.kinds.insert(entry.kind);
        }
        self.fold_grant(entry);
        match &entry.event {
            JournalEvent::Access(event) => self.fold_access(entry, event),
            JournalEvent::Agent(AgentEvent::Saved { agent, profile }) => {
                let archived = self.agents.get(agent).and_then(|agent| agent.archived);
                let record = AgentRecord { id: *agent, profile: profile.clone(), archived };
                self.agents.insert(*agent, record);
            }
            JournalEvent::Agent(AgentEvent::Archived { agent }) => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.archived = Some(entry.time);
                }
            }
            JournalEvent::Skill(event) => self.fold_skill(entry, event),
            JournalEvent::Component(event) => self.fold_component(entry, event),
            JournalEvent::Policy(event) => self.fold_policy(entry, event),
            JournalEvent::Memory(event) => memories::fold(&mut self.memories, entry, event),
            JournalEvent::Learning(event) => learning::fold(&mut self.candidates, entry, event),
            JournalEvent::Budget(event) => self.budgets.fold(entry, event),
            JournalEvent::Task(_) => self.queued_tasks.fold(entry),
            JournalEvent::Delivery(_) => self.deliveries.fold(entry),
            JournalEvent::Schedule(_) => self.schedules.fold(entry),
            JournalEvent::Incident(event) => self.incidents.fold(entry, event),
            JournalEvent::Session(SessionEvent::Reset { session }) => {
                self.resets.push((SessionRef { principal: entry.principal, id: *session }, entry.seq));
            }
            JournalEvent::Tape(TapeEvent::Run(RunEvent::InputReceived {
                idempotency: Some(digest), ..
            })) => {
                if let Some((run, _)) = entry.run {
                    self.input_keys.entry((entry.principal, *digest)).or_insert(run);
                }
            }
            JournalEvent::Tape(TapeEvent::Run(RunEvent::ClientToolsAnswered(answered))) => {
                if let (Some((run, _)), Some(digest)) = (entry.run, answered.idempotency) {
                    self.input_keys.entry((entry.principal, digest)).or_insert(run);
                }
            }
            JournalEvent::Session(SessionEvent::BookmarkPlaced(bookmark)) => {
                self.bookmarks.insert(entry.seq, (entry.principal, bookmark.clone()));
            }
            JournalEvent::Session(SessionEvent::BookmarkRemoved(placed)) => {
                self.bookmarks.retain(|seq, (owner, _)| seq != placed || *owner != entry.principal);
            }
            JournalEvent::Session(
                event @ (SessionEvent::Compacted(_) | SessionEvent::CompactionReverted(_)),
            ) => self.fold_compaction(entry, event),
            JournalEvent::Session(SessionEvent::ResponseDeleted { run }) => {
                self.deleted_responses.insert((entry.principal, *run));
            }
            JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => self.undos.push(requested.clone()),
            JournalEvent::Effect(EffectEvent::UndoFinished { undo, .. }) => {
                self.undos.retain(|requested| requested.undo != *undo);
            }
            JournalEvent::Log(palyra_types::event::LogEvent::EpochStarted { epoch, .. }) => {
                self.epoch = self.epoch.max(epoch.0);
            }
            _ => {}
        }
    }

    fn fold_compaction(&mut self, entry: &JournalEventRecord, event: &SessionEvent) {
        match event {
            SessionEvent::Compacted(made) => self.compactions.push(OrchestratorCompactionArtifactRecord {
                made: (**made).clone(),
                principal: entry.principal,
                seq: entry.seq,
                created: entry.time,
                reverted: None,
            }),
            SessionEvent::CompactionReverted(made) => {
                let own = |one: &&mut OrchestratorCompactionArtifactRecord| {
                    one.seq == *made && one.principal == entry.principal
                };
                for one in self.compactions.iter_mut().filter(own) {
                    one.reverted = one.reverted.or(Some(entry.time));
                }
            }
            _ => {}
        }
    }

    fn fold_grant(&mut self, entry: &JournalEventRecord) {
        match &entry.event {
            JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))) => {
                self.stored_grants.entry(stored.grant).or_insert_with(|| StoredGrantRecord {
                    stored: stored.clone(),
                    uses: 0,
                    created: entry.time,
                    revoked: None,
                    seq: entry.seq,
                });
            }
            JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, .. }) => {
                if let Some(record) = self.stored_grants.get_mut(grant) {
                    record.revoked.get_or_insert(entry.time);
                }
            }
            JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) => {
                if let DecidedBy::Grant(grant) = decided.decided_by
                    && let Some(record) = self.stored_grants.get_mut(&grant)
                {
                    record.uses += 1;
                }
            }
            _ => {}
        }
    }

    fn fold_access(&mut self, entry: &JournalEventRecord, event: &AccessEvent) {
        match event {
            AccessEvent::PrincipalRegistered { principal, name, kind, role } => {
                let before = self.principals.get(principal);
                let role = role.or(before.map(|record| record.role)).unwrap_or(Role::Member);
                let disabled = before.and_then(|record| record.disabled);
                let time_zone = before.map(|record| record.time_zone.clone()).unwrap_or_default();
                let record = PrincipalRecord {
                    id: *principal,
                    name: name.clone(),
                    kind: *kind,
                    role,
                    disabled,
                    time_zone,
                };
                self.principals.insert(*principal, record);
            }
            AccessEvent::PrincipalRenamed { principal, name } => {
                self.principals.entry(*principal).and_modify(|record| record.name = name.clone());
            }
            AccessEvent::RoleGiven { principal, role } => {
                self.principals.entry(*principal).and_modify(|record| record.role = *role);
            }
            AccessEvent::PrincipalDisabled { principal } => {
                let disable = |record: &mut PrincipalRecord| {
                    record.disabled.get_or_insert(entry.time);
                };
                self.principals.entry(*principal).and_modify(disable);
            }
            AccessEvent::PrincipalEnabled { principal } => {
                self.principals.entry(*principal).and_modify(|record| record.disabled = None);
            }
            AccessEvent::TimeZoneSet { principal, time_zone } => {
                self.principals.entry(*principal).and_modify(|record| record.time_zone = time_zone.clone());
            }
            AccessEvent::ActRefused(_) | AccessEvent::PageSessionBegun { .. } => {}
            AccessEvent::TokenCreated(created) => {
                self.tokens.entry(created.token).or_insert_with(|| TokenRecord {
                    id: created.token,
                    principal: entry.principal,
                    sha256: created.sha256,
                    created: entry.time,
                    expires: created.expires,
                    revoked: None,
                    label: created.label.clone(),
                    kind: created.kind,
                    // A token from before there were scopes.
                    scopes: created
                        .scopes
                        .unwrap_or([AccessScope::Runs, AccessScope::RunsRead].into_iter().collect()),
                });
            }
            AccessEvent::TokenRevoked { token } => {
                if let Some(token) = self.tokens.get_mut(token) {
                    token.revoked.get_or_insert(entry.time);
                }
            }
        }
    }

    fn fold_policy(&mut self, entry: &JournalEventRecord, event: &PolicyEvent) {
        match event {
            PolicyEvent::PostureChanged(change) => {
                change.replaces.map(|replaced| self.postures.remove(&replaced));
                if change.posture.is_some() {
                    let (seq, set, change) = (entry.seq, entry.time, change.clone());
                    self.postures.insert(seq, PostureRecord { seq, set, change });
                }
            }
            PolicyEvent::ProjectRulesAccepted(file) => {
                let record =
                    AcceptedProjectFileRecord { seq: entry.seq, accepted: entry.time, file: file.clone() };
                self.project_rules.insert(entry.seq, (entry.principal, record));
            }
            PolicyEvent::ProjectRulesWithdrawn(accepted) => {
                self.project_rules.retain(|seq, (owner, _)| seq != accepted || *owner != entry.principal);
            }
            PolicyEvent::ShadowCounted(counts) => {
                self.shadows.insert(counts.candidate, counts.clone());
                self.newest_shadow = Some(counts.clone());
            }
            _ => {}
        }
    }

    fn fold_component(&mut self, entry: &JournalEventRecord, event: &ComponentEvent) {
        match event {
            ComponentEvent::Added(added) => {
                self.components.entry(added.component).or_insert_with(|| ComponentRecord {
                    added: added.clone(),
                    by: entry.principal,
                    created: entry.time,
                    removed: None,
                    seq: entry.seq,
                });
            }
            ComponentEvent::Removed { component } => {
                if let Some(record) = self.components.get_mut(component) {
                    record.removed.get_or_insert(entry.time);
                }
            }
        }
    }

    fn fold_skill(&mut self, entry: &JournalEventRecord, event: &SkillEvent) {
        let record = match event {
            SkillEvent::Installed(installed) => {
                self.skills.entry(installed.skill).or_insert_with(|| SkillRecord {
                    installed: installed.clone(),
                    by: entry.principal,
                    created: entry.time,
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
                record.quarantine.get_or_insert(SkillQuarantine { since: entry.time, fault: *fault });
            }
            SkillEvent::Removed { .. } => {
                record.agents.clear();
                record.removed.get_or_insert(entry.time);
            }
            SkillEvent::Installed(_) | SkillEvent::Enabled { .. } => {}
        }
    }
}
