//! Valid appends without end, from a seed: every kind, every variant, strange content.
//!
//! Owns a population of sessions and runs, so that what it makes is always admissible. The events need make no
//! sense to a run machine: journals keep whatever was recorded.

use std::time::Duration;

use palyra_journal_core::families::{
    self, agents, bookmarks, deleted_responses, postures, principals, project_rules, shadows, tokens,
};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::read_records::{RunFilter, RunQuery, SessionFilter, SessionQuery};
use palyra_ports::{JournalAppendRequest, NewEntry};
use palyra_types::access::{AccessScope, CredentialKind, PrincipalKind, Role};
use palyra_types::agent::AgentProfile;
use palyra_types::approval::ApproverPresence;
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_types::effect::{OutputRest, ToolOutput};
use palyra_types::event::{
    AbandonCause, AccessEvent, ActRefused, AgentEvent, Bookmark, ContentDigest, ContextPlan, ContextSource,
    DropReason, HeldCause, JournalEvent, LoopGuard, ModelEvent, ModelMessage, ModelRequested, ModelRouting,
    NextAttempt, PassOverCause, PassedOver, PlannedSource, PolicyEvent, RoutingReason, RunEvent, RunFinished,
    RunStarted, SessionEvent, TapeEvent, TokenCreated, ToolDecided, ToolEvent, ToolFinished, ToolProposed,
    ToolStarted,
};
use palyra_types::model::{ModelRef, ProviderContinuation, ResponseFormat, TokenUsage, UsageSource};
use palyra_types::run::{CancelReason, IdempotencyDigest, InputDelivery, RunLimits, Surface, UserInput};
use palyra_types::sampling::{
    AnswerVerbosity, CallsPerAnswer, ReasoningEffort, SamplingNumber, SamplingOptions,
};
use palyra_types::session::{BranchPoint, SessionRef};
use palyra_types::tool::{Isolation, Parallelism, Taints, ToolConduct, ToolExecutor, ToolName, ToolVerdict};
use palyra_types::{
    AgentId, Attempt, EffectId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp,
    TokenId,
};

use super::samples::{self, SampleRun};
use crate::FixedEntropy;
use crate::JournalReads;

mod approval_events;
mod budgets;
mod client_tools;
mod references;
mod compactions;
mod components;
mod incidents;
pub mod deliveries;
pub mod queued_tasks;
pub mod schedules;
mod learning;
mod memories;
mod policies;
mod skills;
mod variants;
mod vault;

use variants::{CONTRACTS, DECISIONS, FAILURES, FINISHES, REASONS, UNKNOWN};

const PRINCIPALS: u64 = 3;
/// Runs whose responses are deleted.
const RESPONSES: u64 = 9;
const TEXTS: [&str; 6] = ["", "x", "two words", "日本語 🦀 \u{0}\n", "{\"path\":\"../..\"}", "secret"];

/// A source of appends.
pub struct RandomAppends {
    entropy: FixedEntropy,
    sessions: Vec<SessionRef>,
    runs: Vec<SampleRun>,
    made: u64,
    /// About where the latest setting of a tool is.
    last_setting: u64,
}

impl RandomAppends {
    /// Makes a source; the same seed makes the same appends.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            entropy: FixedEntropy::new(seed),
            sessions: Vec::new(),
            runs: Vec::new(),
            made: 0,
            last_setting: 0,
        }
    }

    /// Makes the next append, of one to six entries.
    pub fn next_append(&mut self) -> JournalAppendRequest {
        let entries = (0..=self.below(6)).map(|_| self.entry()).collect();
        JournalAppendRequest { entries, ..JournalAppendRequest::default() }
    }

    /// Reads every record of the population, as text that can be compared.
    pub async fn records(&self, journal: &impl ReadFamilies) -> Vec<String> {
        let mut all = Vec::new();
        for n in 0..PRINCIPALS {
            let principal = samples::principal(n.into());
            let query = RunQuery { principal, session: None, only: RunFilter::All, before: None, limit: 500 };
            all.push(exposed(&journal.runs(query).await.unwrap(), |run| run.input_preview.expose().clone()));
            all.push(sessions_of(journal, principal).await);
        }
        all.push(exposed(&journal.open_runs().await.unwrap(), |_| String::new()));
        let agents = journal.query(|rows, _| agents::all(rows)).await.unwrap();
        all.push(exposed(&agents, |agent| agent.profile.instructions.expose().clone()));
        all.push(exposed(&journal.query(families::skills::records).await.unwrap(), |skill| {
            format!("{:?} {:?}", skill.installed.name.expose(), skill.installed.source.expose())
        }));
        all.push(exposed(&journal.query(families::components::records).await.unwrap(), |component| {
            format!("{:?} {:?}", component.added.name.expose(), component.added.source.expose())
        }));
        all.push(exposed(&journal.query(postures::records).await.unwrap(), |posture| {
            format!("{:?} {:?}", posture.change.tool.expose(), posture.change.scope)
        }));
        for n in 0..PRINCIPALS {
            let principal = samples::principal(n.into());
            let reading = journal.query(move |rows, log| bookmarks::of_principal(rows, log, principal));
            let found = reading.await.unwrap();
            // Texts of states that were written before there were bookmarks stay the same.
            if !found.is_empty() {
                all.push(exposed(&found, |(_, one)| one.name.expose().clone()));
            }
        }
        for n in 0..PRINCIPALS {
            let principal = samples::principal(n.into());
            let reading = journal.query(move |rows, log| project_rules::of_principal(rows, log, principal));
            let found = reading.await.unwrap();
            // As with bookmarks.
            if !found.is_empty() {
                all.push(exposed(&found, |one| one.file.path.expose().clone()));
            }
        }
        memories::records(journal, &mut all).await;
        learning::records(journal, &mut all).await;
        budgets::records(journal, &mut all).await;
        queued_tasks::records(journal, &mut all).await;
        deliveries::records(journal, &mut all).await;
        schedules::records(journal, &mut all).await;
        incidents::records(journal, &mut all).await;
        compactions::records(journal, &self.sessions, &mut all).await;
        let deleted = deleted(journal).await;
        // As with bookmarks.
        if !deleted.is_empty() {
            all.push(format!("{deleted:?}"));
        }
        for candidate in [None, Some([0; 32]), Some([1; 32])] {
            all.push(format!(
                "{:?}",
                journal.query(move |rows, log| shadows::newest(rows, log, candidate)).await.unwrap()
            ));
        }
        all.push(exposed(&journal.query(|rows, _| principals::all(rows)).await.unwrap(), |one| {
            one.name.expose().clone()
        }));
        all.push(exposed(&journal.query(|rows, _| tokens::all(rows)).await.unwrap(), |token| {
            token.label.expose().clone()
        }));
        approval_events::records(journal, &mut all).await;
        all
    }

    fn entry(&mut self) -> NewEntry {
        self.made += 1;
        match self.below(12) {
            0 => self.outside_sessions(),
            1 => self.session_entry(),
            2 | 3 => self.run_started(),
            _ => self.tape_entry(),
        }
    }

    fn outside_sessions(&mut self) -> NewEntry {
        let token = TokenId::from_parts(1, self.below(4).into());
        let agent = AgentId::from_parts(1, self.below(4).into());
        let event = match self.below(29) {
            27 | 28 => JournalEvent::Delivery(self.delivery_event()),
            26 => JournalEvent::Learning(self.learning_event()),
            24 | 25 => JournalEvent::Incident(self.incident_event()),
            22 | 23 => JournalEvent::Schedule(self.schedule_event()),
            20 | 21 => JournalEvent::Task(self.task_event()),
            19 => JournalEvent::Budget(self.budget_event()),
            14 | 15 => JournalEvent::Memory(self.memory_event()),
            13 => JournalEvent::Component(self.component_event()),
            12 => JournalEvent::Vault(self.vault_event()),
            10 | 11 | 17 | 18 => self.policy_event(),
            8 | 9 => JournalEvent::Skill(self.skill_event()),
            5 => JournalEvent::Policy(PolicyEvent::GrantRevoked {
                grant: self.stored_grant_id(),
                by: self.principal(),
            }),
            6 | 7 => self.undo_event(),
            0 | 16 => JournalEvent::Access(self.principal_event()),
            1 => JournalEvent::Access(AccessEvent::TokenCreated(TokenCreated {
                token,
                sha256: self.digest(),
                expires: self.maybe(|me| Timestamp(-7 + me.time().0)),
                label: self.text(),
                kind: self.one_of(&[CredentialKind::Program, CredentialKind::PersonSession]),
                scopes: self.maybe(|me| AccessScope::ALL.into_iter().filter(|_| me.below(2) == 0).collect()),
            })),
            2 => JournalEvent::Access(AccessEvent::TokenRevoked { token }),
            3 => JournalEvent::Agent(AgentEvent::Saved { agent, profile: self.profile() }),
            _ => JournalEvent::Agent(AgentEvent::Archived { agent }),
        };
        NewEntry { time: self.time(), principal: self.principal(), session: None, run: None, event }
    }

    fn principal_event(&mut self) -> AccessEvent {
        let principal = PrincipalId::from_parts(9, self.below(5).into());
        match self.below(9) {
            6 => AccessEvent::TimeZoneSet { principal, time_zone: self.text() },
            0 => AccessEvent::PrincipalRenamed { principal, name: self.text() },
            1 => AccessEvent::RoleGiven { principal, role: self.one_of(&Role::ALL) },
            2 => AccessEvent::PrincipalDisabled { principal },
            3 => AccessEvent::PrincipalEnabled { principal },
            4 => AccessEvent::ActRefused(ActRefused {
                operation: self.text(),
                code: self.one_of(ErrorCode::ALL),
                unrecorded: u32::try_from(self.below(3)).unwrap_or(0),
            }),
            5 => AccessEvent::PageSessionBegun { credential: TokenId::from_parts(9, self.below(5).into()) },
            _ => AccessEvent::PrincipalRegistered {
                principal,
                name: self.text(),
                kind: self.one_of(&[PrincipalKind::Person, PrincipalKind::Service]),
                role: self.maybe(|me| me.one_of(&Role::ALL)),
            },
        }
    }

    fn session_entry(&mut self) -> NewEntry {
        let time = self.time();
        if !self.sessions.is_empty() && self.below(2) == 0 {
            let session = self.any_session();
            let session_id = session.id;
            let event = match self.below(10) {
                7 => SessionEvent::Compacted(Box::new(self.compaction(session_id))).into(),
                8 => SessionEvent::CompactionReverted(Seq(self.below(self.made + 1))).into(),
                6 => {
                    SessionEvent::ResponseDeleted { run: RunId::from_parts(3, self.below(RESPONSES).into()) }
                        .into()
                }
                4 => SessionEvent::BookmarkPlaced(self.bookmark()).into(),
                5 => SessionEvent::BookmarkRemoved(Seq(self.below(self.made + 1))).into(),
                0 => JournalEvent::Session(SessionEvent::Reset { session: session_id }),
                1 => JournalEvent::Session(SessionEvent::Renamed {
                    session: session_id,
                    label: self.maybe(Self::text),
                }),
                9 => SessionEvent::RecallSet { session: session_id, recall: self.maybe(Self::recall_switch) }
                    .into(),
                2 => JournalEvent::Session(SessionEvent::Archived { session: session_id }),
                _ => JournalEvent::Session(SessionEvent::Restored { session: session_id }),
            };
            return NewEntry {
                time,
                principal: session.principal,
                session: Some(session.id),
                run: None,
                event,
            };
        }
        let principal = self.principal();
        let session = SessionRef { principal, id: SessionId::from_parts(2, self.made.into()) };
        self.sessions.push(session);
        let key = self.maybe(|me| Redacted::cleaned(format!("key {}", me.made)));
        let event = JournalEvent::Session(SessionEvent::Opened {
            session: session.id,
            agent: samples::agent(),
            key,
            label: self.maybe(Self::text),
            branched_from: self.maybe(Self::branch_point),
        });
        NewEntry { time, principal, session: Some(session.id), run: None, event }
    }

    fn bookmark(&mut self) -> Bookmark {
        Bookmark { run: RunId::from_parts(3, self.below(9).into()), tape_seq: TapeSeq(1), name: self.text() }
    }

    fn run_started(&mut self) -> NewEntry {
        let session =
            if self.sessions.is_empty() { samples::session(self.principal(), 0) } else { self.any_session() };
        let mut run = SampleRun::new(session, self.made);
        let mut idempotency = [0; 32];
        idempotency[..8].copy_from_slice(&self.made.to_le_bytes());
        let started = RunStarted {
            agent: AgentId::from_parts(1, self.below(4).into()),
            surface: self.one_of(&[Surface::LocalSocket, Surface::Tcp]),
            limits: RunLimits { active_time_max: self.span(), turns_max: 0, ..RunLimits::default() },
            config_digest: self.digest(),
            idempotency: self.maybe(|_| IdempotencyDigest(idempotency)),
            delivery: self.delivery(),
            approvers: self.one_of(&[ApproverPresence::Inbox, ApproverPresence::Nobody]),
            taints: self.taints(),
            skills: self.maybe(Self::activated).into_iter().collect(),
            input: self.input(),
            workspace_root: Redacted::cleaned(self.text().into_exposed().into()),
            project_files: self.maybe(Self::project_file).into_iter().collect(),
            recalled: self.maybe(Self::recalled_memory).into_iter().collect(),
            recall: self.maybe(Self::recall_setting),
            compaction: self.maybe(Self::compaction_read),
            model: Redacted::cleaned(self.maybe(Self::model)),
            run_salt: Redacted::cleaned(self.digest()),
            fallbacks: Redacted::cleaned(self.maybe(Self::model).into_iter().collect()),
            response_format: self
                .maybe(|me| ResponseFormat { schema: Redacted::cleaned(me.text().into_exposed().into()) }),
            sampling: self.maybe(Self::sampling).unwrap_or_default().into(),
        };
        let entry = run.entry(TapeEvent::Run(RunEvent::Started(started)));
        self.runs.push(run);
        entry
    }

    fn sampling(&mut self) -> SamplingOptions {
        SamplingOptions {
            temperature: self.maybe(|me| SamplingNumber { millionths: me.number() }),
            top_p: self.maybe(|me| SamplingNumber { millionths: me.number() }),
            stop: self.maybe(Self::text).into_iter().collect(),
            seed: self.maybe(|me| i64::from(me.number()) - 2),
            reasoning_effort: self.maybe(|me| me.one_of(ReasoningEffort::ALL)),
            verbosity: self.maybe(|me| me.one_of(AnswerVerbosity::ALL)),
            calls_per_answer: self.maybe(|me| me.one_of(&[CallsPerAnswer::One, CallsPerAnswer::Several])),
        }
    }

    fn tape_entry(&mut self) -> NewEntry {
        if self.runs.is_empty() {
            return self.run_started();
        }
        let event = match self.below(7) {
            0 => self.run_event(),
            1 | 2 => self.model_event(),
            3 | 4 => self.approval_event(),
            _ => self.tool_event(),
        };
        let at = usize::try_from(self.below(self.runs.len() as u64)).unwrap_or(0);
        self.runs[at].entry(event)
    }

    fn run_event(&mut self) -> TapeEvent {
        match self.below(8) {
            7 => self.budget_note(),
            0 => TapeEvent::Run(RunEvent::InputReceived {
                input: self.input(),
                delivery: self.delivery(),
                idempotency: self.maybe(|me| IdempotencyDigest(me.digest())),
            }),
            1 => TapeEvent::Run(RunEvent::LoopDetected {
                guard: self.one_of(&[LoopGuard::SameFailure, LoopGuard::SameResult, LoopGuard::Restarts]),
                repeats: self.number(),
            }),
            2 => TapeEvent::Run(RunEvent::CancelRequested {
                actor: self.maybe(|me| me.principal()).unwrap_or(PrincipalId::NIL),
                reason: self.one_of(&[
                    CancelReason::User,
                    CancelReason::TimeLimit,
                    CancelReason::Interrupted,
                    CancelReason::ClientToolExpired,
                ]),
            }),
            3 => TapeEvent::Run(RunEvent::Held { cause: HeldCause::LogReopened }),
            4 => self.client_tool_event(),
            5 => self.references_event(),
            _ => {
                let reason = self.one_of(&REASONS);
                TapeEvent::Run(RunEvent::Finished(RunFinished {
                    state: reason.state(),
                    reason,
                    error: self.maybe(Self::error),
                    turns: self.number(),
                    tool_calls: self.number(),
                    usage: self.usage(),
                    active_time: self.span(),
                    message: self.text(),
                }))
            }
        }
    }

    fn planned_sources(&mut self) -> Vec<PlannedSource> {
        let all = [
            ContextSource::Instructions,
            ContextSource::ProjectRules,
            ContextSource::History,
            ContextSource::ProjectFiles,
            ContextSource::Memory,
            ContextSource::Summary,
            ContextSource::References,
            ContextSource::Input,
        ];
        let row = |me: &mut Self, source| PlannedSource {
            source,
            kept: me.number(),
            dropped: me.number(),
            tokens_kept: me.entropy.next_u64(),
            tokens_dropped: me.entropy.next_u64(),
            dropped_because: me.maybe(|_| DropReason::Window),
        };
        let length = usize::try_from(self.below(4)).unwrap_or(0);
        all[..length].iter().map(|source| row(self, *source)).collect()
    }

    fn routing(&mut self) -> ModelRouting {
        let reasons = [RoutingReason::ConfiguredOrder, RoutingReason::NoBudget, RoutingReason::LastResort];
        let causes = [PassOverCause::Unavailable, PassOverCause::OverBudget, PassOverCause::NoTools];
        let count = self.below(3);
        let passed = |me: &mut Self| PassedOver { model: me.model(), causes: vec![me.one_of(&causes)] };
        ModelRouting {
            reasons: vec![self.one_of(&reasons)],
            passed_over: Redacted::cleaned((0..count).map(|_| passed(self)).collect()),
        }
    }

    fn model_event(&mut self) -> TapeEvent {
        let attempt = Attempt(self.number());
        match self.below(6) {
            0 => TapeEvent::Model(ModelEvent::Requested(ModelRequested {
                attempt,
                turn: self.number(),
                context: ContextPlan {
                    messages_kept: self.number(),
                    messages_dropped: self.number(),
                    dropped_because: self.maybe(|me| me.one_of(&[DropReason::Window, DropReason::Limit])),
                    oldest_seq: self.maybe(|me| Seq(me.below(3))),
                    tokens_estimated: self.entropy.next_u64(),
                    instructions_digest: self.digest(),
                    catalog_digest: self.digest(),
                    sources: self.planned_sources(),
                },
                model: Redacted::cleaned(self.maybe(Self::model)),
                routing: self.routing(),
            })),
            1 => TapeEvent::Model(ModelEvent::Text { attempt, text: self.text() }),
            4 => TapeEvent::Model(ModelEvent::Reasoning { attempt, text: self.text() }),
            5 => TapeEvent::Model(ModelEvent::Switched {
                attempt,
                passed_over: self.number(),
                model: Redacted::cleaned(self.maybe(Self::model)),
            }),
            2 => TapeEvent::Model(ModelEvent::Message(ModelMessage {
                attempt,
                text_from: TapeSeq(self.number()),
                text_to: TapeSeq(self.number()),
                proposals: self.number(),
                finish: self.one_of(&FINISHES),
                usage: self.usage(),
                model: Redacted::cleaned(self.maybe(Self::model)),
                response_id: self.text(),
                continuation: self.maybe(|me| ProviderContinuation {
                    model: me.model(),
                    format: "sample/1".to_owned(),
                    body: me.text(),
                }),
            })),
            _ => TapeEvent::Model(ModelEvent::AttemptAbandoned {
                attempt,
                text_from: TapeSeq(self.number()),
                text_to: TapeSeq(self.number()),
                cause: match self.below(3) {
                    0 => AbandonCause::Restart,
                    1 => AbandonCause::Cancelled,
                    _ => AbandonCause::Failure(self.one_of(&FAILURES)),
                },
                next: self.one_of(&[
                    NextAttempt::None,
                    NextAttempt::SameModel,
                    NextAttempt::NextModel,
                    NextAttempt::ShorterContext,
                ]),
                retry_at: self.maybe(Self::time),
                detail: self.text(),
            }),
        }
    }

    fn delivery(&mut self) -> InputDelivery {
        self.one_of(&[InputDelivery::Queue, InputDelivery::Steer, InputDelivery::Interrupt])
    }

    fn input(&mut self) -> UserInput {
        let text = self.text();
        let attachments = self.maybe(|me| Attachment {
            name: me.text(),
            media_type: "text/plain".into(),
            bytes: me.below(1_000),
            sha256: Redacted::cleaned(me.digest()),
            body: AttachmentBody::Text(me.text()),
        });
        UserInput { text, attachments: attachments.into_iter().collect() }
    }

    fn branch_point(&mut self) -> BranchPoint {
        BranchPoint {
            session: self.any_session().id,
            run: RunId::from_parts(4, self.below(100).into()),
            run_first_seq: Seq(self.below(100)),
            tape_seq: TapeSeq(self.number()),
            since: self.maybe(|me| Seq(me.below(100))),
        }
    }

    fn tool_event(&mut self) -> TapeEvent {
        let effect = EffectId(self.number());
        let contract = self.one_of(&CONTRACTS);
        match self.below(6) {
            0 => TapeEvent::Tool(ToolEvent::Proposed(ToolProposed {
                effect,
                attempt: Attempt(self.number()),
                call_digest: ContentDigest(self.digest()),
                tool: self.text(),
                arguments: self.text(),
                model_call_id: self.text(),
            })),
            1 => TapeEvent::Tool(ToolEvent::Decided(ToolDecided {
                effect,
                verdict: self.one_of(&[ToolVerdict::Allow, ToolVerdict::Ask, ToolVerdict::Deny]),
                reason: self.one_of(&DECISIONS),
                decided_by: self.decided_by(),
                policy_digest: self.digest(),
                contract,
                parallelism: self.one_of(&[Parallelism::Exclusive, Parallelism::Parallel]),
                deadline: self.span(),
                output_bytes_max: self.entropy.next_u64(),
                conduct: self.one_of(&[ToolConduct::Direct, ToolConduct::Prepared, ToolConduct::Question]),
                tool_version: self.number(),
                risk: self.risk(),
                taints: self.taints(),
                ask: self.maybe(Self::ask),
                explanation: self.text(),
                request: self.text(),
            })),
            2 => TapeEvent::Tool(ToolEvent::Started(ToolStarted {
                effect,
                contract,
                deadline: self.span(),
                plan: self.plan(),
            })),
            4 => TapeEvent::Tool(ToolEvent::Output(ToolOutput {
                effect,
                shown_bytes: self.entropy.next_u64(),
                rest: self.one_of(&[OutputRest::Follows, OutputRest::InOutcome]),
                text: self.text(),
            })),
            3 => TapeEvent::Tool(ToolEvent::Finished(ToolFinished {
                effect,
                attested: self.attested(),
                failure: self.maybe(Self::error),
                output_digest: ContentDigest(self.digest()),
                output_bytes_total: self.entropy.next_u64(),
                duration: self.span(),
                executor: ToolExecutor::Internal,
                isolation: Isolation::DescriptorRelative,
                taints: self.one_of(&[Taints::NONE, Taints::WEB]),
                output: self.text(),
            })),
            _ => TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause: self.one_of(&UNKNOWN) }),
        }
    }

    fn profile(&mut self) -> AgentProfile {
        AgentProfile {
            name: self.text(),
            instructions: self.text(),
            model: self.maybe(Self::model),
            tools: self.maybe(|me| (0..me.below(3)).map(|_| ToolName::new("read_file")).collect()),
            workspace_roots: (0..self.below(3)).map(|_| Redacted::cleaned("/home/me/desk".into())).collect(),
            recall: self.maybe(Self::recall_switch),
        }
    }

    fn usage(&mut self) -> TokenUsage {
        TokenUsage {
            input_tokens: self.below(5),
            cached_input_tokens: self.below(2),
            output_tokens: self.below(1_000),
            reasoning_tokens: self.below(3),
            source: self.one_of(&[UsageSource::Estimated, UsageSource::Reported]),
        }
    }

    fn model(&mut self) -> ModelRef {
        ModelRef::new(TEXTS[self.below(3) as usize], "a/b")
    }

    fn error(&mut self) -> ErrorCode {
        self.one_of(ErrorCode::ALL)
    }

    fn text(&mut self) -> Redacted<String> {
        Redacted::from(self.one_of(&TEXTS))
    }

    fn digest(&mut self) -> [u8; 32] {
        [u8::try_from(self.below(3)).unwrap_or(0); 32]
    }

    fn span(&mut self) -> Duration {
        Duration::from_micros(self.below(3) * 1_234_567)
    }

    fn time(&mut self) -> Timestamp {
        Timestamp(1_000_000 + i64::try_from(self.below(100)).unwrap_or(0))
    }

    fn number(&mut self) -> u32 {
        u32::try_from(self.below(4)).unwrap_or(0)
    }

    fn principal(&mut self) -> PrincipalId {
        samples::principal(self.below(PRINCIPALS).into())
    }

    fn any_session(&mut self) -> SessionRef {
        let sessions = self.sessions.clone();
        self.one_of(&sessions)
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| make(self))
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap_or(0)]
    }

    fn below(&mut self, end: u64) -> u64 {
        self.entropy.next_u64() % end
    }
}

/// Returns the deleted responses of the population.
async fn deleted(journal: &impl ReadFamilies) -> Vec<(PrincipalId, RunId)> {
    let mut deleted = Vec::new();
    for n in 0..PRINCIPALS * RESPONSES {
        let principal = samples::principal((n / RESPONSES).into());
        let run = RunId::from_parts(3, (n % RESPONSES).into());
        let reading = journal.query(move |rows, _| deleted_responses::is_deleted(rows, principal, run));
        deleted.extend(reading.await.unwrap().then_some((principal, run)));
    }
    deleted
}

fn exposed<T: std::fmt::Debug>(rows: &[T], content: impl Fn(&T) -> String) -> String {
    rows.iter().map(|row| format!("{row:?} {}\n", content(row))).collect()
}

async fn sessions_of(journal: &impl ReadFamilies, principal: PrincipalId) -> String {
    let query = SessionQuery {
        principal,
        after: None,
        search: None,
        only: SessionFilter::All,
        surface: None,
        limit: 500,
    };
    let sessions = journal.sessions(query).await.unwrap();
    exposed(&sessions, |session| format!("{:?}", session.key.as_ref().map(Redacted::expose)))
}
