//! Entries to append: whole runs, written out as the runtime writes them.
//!
//! Owns one made-up conversation, whose values golden files keep. Knows no journal. Begin at [`SampleRun`].

use std::time::Duration;

use palyra_ports::{JournalAppendRequest, NewEntry};
use palyra_types::approval::ApproverPresence;
use palyra_types::effect::EffectPlan;
use palyra_types::event::{
    CallAttestation, ContentDigest, ContextPlan, DecidedBy, JournalEvent, ModelEvent, ModelMessage,
    ModelRequested, ModelRouting, RunEvent, RunFinished, RunStarted, SessionEvent, TapeEvent, ToolDecided,
    ToolEvent, ToolFinished, ToolProposed, ToolStarted,
};
use palyra_types::model::{FinishReason, ModelRef, TokenUsage, UsageSource};
use palyra_types::run::{
    IdempotencyDigest, InputDelivery, RunLifecycleState, RunLimits, Surface, TerminationReason, UserInput,
};
use palyra_types::session::SessionRef;
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, Taints, ToolConduct,
    ToolExecutor, ToolVerdict,
};
use palyra_types::{AgentId, Attempt, EffectId, PrincipalId, Redacted, RunId, SessionId, TapeSeq, Timestamp};

/// Returns the n-th principal.
#[must_use]
pub fn principal(n: u128) -> PrincipalId {
    PrincipalId::from_parts(1_000, n + 1)
}

/// Returns the n-th session of a principal.
#[must_use]
pub fn session(principal: PrincipalId, n: u128) -> SessionRef {
    SessionRef { principal, id: SessionId::from_parts(2_000, n + 1) }
}

/// Returns the agent of all samples.
#[must_use]
pub fn agent() -> AgentId {
    AgentId::from_parts(3_000, 1)
}

/// Returns the model of all samples.
#[must_use]
pub fn model() -> ModelRef {
    ModelRef::new("demo", "demo-1")
}

/// Returns an entry that opens a session.
#[must_use]
pub fn session_opened(session: SessionRef, key: Option<&str>, time: Timestamp) -> NewEntry {
    let event = JournalEvent::Session(SessionEvent::Opened {
        session: session.id,
        agent: agent(),
        key: key.map(|key| Redacted::cleaned(key.to_owned())),
        label: None,
        branched_from: None,
    });
    NewEntry { time, principal: session.principal, session: Some(session.id), run: None, event }
}

/// Returns an append without guards.
#[must_use]
pub fn append(entries: Vec<NewEntry>) -> JournalAppendRequest {
    JournalAppendRequest { entries, ..JournalAppendRequest::default() }
}

/// A run whose entries are made one after the other.
#[derive(Debug, Clone)]
pub struct SampleRun {
    /// Its id.
    pub run: RunId,
    /// Its session.
    pub session: SessionRef,
    /// The digest of its idempotency key.
    pub idempotency: Option<IdempotencyDigest>,
    /// The last number it gave.
    pub tape_seq: TapeSeq,
    /// When its next entry is written; advances by a millisecond with each.
    pub time: Timestamp,
}

impl SampleRun {
    /// Returns the n-th run, in a session.
    #[must_use]
    pub fn new(session: SessionRef, n: u64) -> Self {
        Self {
            run: RunId::from_parts(10_000 + n, u128::from(n) + 1),
            session,
            idempotency: None,
            tape_seq: TapeSeq(0),
            time: Timestamp(1_735_689_600_000_000 + i64::try_from(n).unwrap_or(0)),
        }
    }

    /// Makes the next entry of the tape.
    pub fn entry(&mut self, event: TapeEvent) -> NewEntry {
        self.tape_seq = self.tape_seq.next();
        self.time = self.time.after(Duration::from_millis(1));
        NewEntry {
            time: self.time,
            principal: self.session.principal,
            session: Some(self.session.id),
            run: Some((self.run, self.tape_seq)),
            event: JournalEvent::Tape(event),
        }
    }

    /// Makes its first entry.
    pub fn started(&mut self, input: &str) -> NewEntry {
        let started = RunStarted {
            agent: agent(),
            surface: Surface::LocalSocket,
            limits: RunLimits::default(),
            config_digest: [3; 32],
            idempotency: self.idempotency,
            delivery: InputDelivery::Queue,
            approvers: ApproverPresence::Inbox,
            taints: Taints::NONE,
            skills: Vec::new(),
            input: UserInput::text(Redacted::cleaned(input.to_owned())),
            workspace_root: Redacted::cleaned("/home/somebody/project".into()),
            model: Redacted::cleaned(Some(model())),
            project_files: Vec::new(),
            recalled: Vec::new(),
            compaction: None,
            run_salt: Redacted::cleaned([9; 32]),
            fallbacks: Redacted::default(),
            response_format: None,
            sampling: Box::default(),
        };
        self.entry(TapeEvent::Run(RunEvent::Started(started)))
    }

    /// Makes a request to the model.
    pub fn requested(&mut self, attempt: u32) -> NewEntry {
        self.entry(TapeEvent::Model(ModelEvent::Requested(ModelRequested {
            attempt: Attempt(attempt),
            turn: attempt,
            context: ContextPlan {
                messages_kept: 3,
                tokens_estimated: 812,
                instructions_digest: [4; 32],
                catalog_digest: [5; 32],
                ..ContextPlan::default()
            },
            model: Redacted::cleaned(Some(model())),
            routing: ModelRouting::default(),
        })))
    }

    /// Makes a piece of text.
    pub fn text(&mut self, attempt: u32, text: &str) -> NewEntry {
        self.entry(TapeEvent::Model(ModelEvent::Text {
            attempt: Attempt(attempt),
            text: Redacted::cleaned(text.to_owned()),
        }))
    }

    /// Makes the end of an answer.
    pub fn message(&mut self, attempt: u32, proposals: u32) -> NewEntry {
        let finish = if proposals == 0 { FinishReason::Stop } else { FinishReason::ToolCalls };
        self.entry(TapeEvent::Model(ModelEvent::Message(ModelMessage {
            attempt: Attempt(attempt),
            text_from: TapeSeq(3),
            text_to: TapeSeq(4),
            proposals,
            finish,
            usage: usage(),
            model: Redacted::cleaned(Some(model())),
            response_id: "chatcmpl-AbCdEf0123456789".into(),
            continuation: None,
        })))
    }

    /// Makes a proposal and the decision that allows it.
    pub fn proposed(&mut self, effect: u32) -> Vec<NewEntry> {
        let proposed = TapeEvent::Tool(ToolEvent::Proposed(ToolProposed {
            effect: EffectId(effect),
            attempt: Attempt(1),
            call_digest: ContentDigest([6; 32]),
            tool: "read_file".into(),
            arguments: r#"{"path":"README.md"}"#.into(),
            model_call_id: "call_1".into(),
        }));
        let decided = TapeEvent::Tool(ToolEvent::Decided(ToolDecided {
            effect: EffectId(effect),
            verdict: ToolVerdict::Allow,
            reason: DecisionReason::Permitted,
            decided_by: DecidedBy::Policy,
            policy_digest: [7; 32],
            contract: EffectContract::Pure,
            parallelism: Parallelism::Parallel,
            deadline: Duration::from_secs(120),
            output_bytes_max: 65_536,
            conduct: ToolConduct::Direct,
            tool_version: 1,
            risk: ApprovalRiskLevel::Low,
            taints: Taints::WORKSPACE,
            ask: None,
            request: Redacted::default(),
            explanation: "reading inside the workspace is allowed".into(),
        }));
        vec![self.entry(proposed), self.entry(decided)]
    }

    /// Makes the start of a tool.
    pub fn tool_started(&mut self, effect: u32) -> NewEntry {
        self.entry(TapeEvent::Tool(ToolEvent::Started(ToolStarted {
            effect: EffectId(effect),
            contract: EffectContract::Pure,
            deadline: Duration::from_secs(120),
            plan: EffectPlan::default(),
        })))
    }

    /// Makes the outcome of a tool.
    pub fn tool_finished(&mut self, effect: u32, output: &str) -> NewEntry {
        self.entry(TapeEvent::Tool(ToolEvent::Finished(ToolFinished {
            effect: EffectId(effect),
            attested: CallAttestation::default(),
            failure: None,
            output_digest: ContentDigest([8; 32]),
            output_bytes_total: output.len() as u64,
            duration: Duration::from_micros(1_234),
            executor: ToolExecutor::Internal,
            isolation: Isolation::DescriptorRelative,
            taints: Taints::NONE,
            output: Redacted::cleaned(output.to_owned()),
        })))
    }

    /// Makes its end with a final answer.
    pub fn finished(&mut self) -> NewEntry {
        self.entry(TapeEvent::Run(RunEvent::Finished(RunFinished {
            state: RunLifecycleState::Done,
            reason: TerminationReason::FinalAnswer,
            error: None,
            turns: 1,
            tool_calls: 0,
            usage: usage(),
            active_time: Duration::from_millis(1_500),
            message: Redacted::default(),
        })))
    }

    /// Makes a whole text run as the three appends that it takes.
    pub fn text_run(&mut self) -> Vec<JournalAppendRequest> {
        vec![
            append(vec![self.started("What does this project do?"), self.requested(1)]),
            append(vec![self.text(1, "It is a daemon")]),
            append(vec![
                self.text(1, " that lets a model read the files of a folder."),
                self.message(1, 0),
                self.finished(),
            ]),
        ]
    }
}

/// Returns the tokens that every sample answer uses.
#[must_use]
pub fn usage() -> TokenUsage {
    TokenUsage {
        input_tokens: 800,
        cached_input_tokens: 0,
        output_tokens: 40,
        reasoning_tokens: 0,
        source: UsageSource::Reported,
    }
}
