//! Tapes for tests, entry by entry.

use std::sync::Arc;
use std::time::Duration;

use palyra_types::approval::ApproverPresence;
use palyra_types::client_tool::{ClientCallSpan, ClientToolCall, ClientToolsCalled};
use palyra_types::event::{
    AbandonCause, ClientToolsAnswered, ContextPlan, ModelEvent, ModelMessage, ModelRequested, ModelRouting,
    NextAttempt, RunEvent, RunFinished, RunStarted, TapeEvent,
};
use palyra_types::model::{FinishReason, ModelFailureClass, ModelRef, ResponseFormat, TokenUsage};
use palyra_types::run::{InputDelivery, RunLimits, TerminationReason, UserInput};
use palyra_types::surface::Surface;
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_types::tool::Taints;
use palyra_types::{
    AgentId, Attempt, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp,
};

/// Builds a tape.
#[derive(Debug, Default)]
pub(crate) struct TapeBuilder {
    entries: Vec<OrchestratorTapeRecord>,
    attempt: u32,
    called: u32,
    last_calls: u32,
}

pub(crate) fn run_id() -> RunId {
    RunId::from_parts(1_700_000_000_000, 7)
}

impl TapeBuilder {
    pub(crate) fn new() -> Self {
        Self::default().started(None)
    }

    pub(crate) fn structured() -> Self {
        let schema: Redacted<String> = "{}".into();
        Self::default().started(Some(ResponseFormat { schema: schema.map(Arc::from) }))
    }

    fn started(self, response_format: Option<ResponseFormat>) -> Self {
        let started = RunStarted {
            agent: AgentId::from_parts(1, 1),
            surface: Surface::Openai,
            limits: RunLimits::default(),
            config_digest: [0; 32],
            idempotency: None,
            delivery: InputDelivery::Queue,
            approvers: ApproverPresence::default(),
            taints: Taints::NONE,
            skills: Vec::new(),
            input: UserInput::text("what is asked".into()),
            workspace_root: Redacted::default(),
            model: Redacted::default(),
            fallbacks: Redacted::default(),
            response_format,
            sampling: Box::default(),
            project_files: Vec::new(),
            recalled: Vec::new(),
            compaction: None,
            run_salt: Redacted::default(),
        };
        self.push(TapeEvent::Run(RunEvent::Started(started)))
    }

    fn push(mut self, event: TapeEvent) -> Self {
        let number = u32::try_from(self.entries.len()).unwrap() + 1;
        self.entries.push(OrchestratorTapeRecord {
            actor: None,
            seq: Seq(u64::from(number)),
            run: run_id(),
            session: SessionId::from_parts(1, 1),
            principal: PrincipalId::from_parts(1, 1),
            tape_seq: TapeSeq(number),
            time: Timestamp(1_700_000_000_000_000),
            content: ContentState::Present,
            event,
        });
        self
    }

    pub(crate) fn asked(mut self) -> Self {
        self.attempt += 1;
        let requested = ModelRequested {
            attempt: Attempt(self.attempt),
            turn: 1,
            context: ContextPlan::default(),
            model: Some(ModelRef::new("secret_provider", "secret_model")).into(),
            routing: ModelRouting::default(),
        };
        self.push(TapeEvent::Model(ModelEvent::Requested(requested)))
    }

    pub(crate) fn text(self, text: &'static str) -> Self {
        let attempt = Attempt(self.attempt);
        self.push(TapeEvent::Model(ModelEvent::Text { attempt, text: text.into() }))
    }

    pub(crate) fn answered(self, proposals: u32, finish: FinishReason) -> Self {
        let message = ModelMessage {
            attempt: Attempt(self.attempt),
            text_from: TapeSeq(0),
            text_to: TapeSeq(0),
            proposals,
            finish,
            usage: TokenUsage::default(),
            model: Redacted::default(),
            response_id: Redacted::default(),
            continuation: None,
        };
        self.push(TapeEvent::Model(ModelEvent::Message(message)))
    }

    /// The model calls these functions of the client.
    pub(crate) fn called(self, names: &[&'static str]) -> Self {
        let count = u32::try_from(names.len()).unwrap();
        let mut tape = self.answered(count, FinishReason::ToolCalls);
        let span = ClientCallSpan { first: tape.called + 1, count };
        (tape.called, tape.last_calls) = (tape.called + count, count);
        let call = |name: &&'static str| ClientToolCall {
            name: (*name).into(),
            arguments: "{\"x\":1}".into(),
            model_call: "secret_id".into(),
        };
        let calls = names.iter().map(call).collect();
        let (attempt, expires) = (Attempt(tape.attempt), Timestamp(0));
        let called = ClientToolsCalled { attempt, span, expires, calls };
        tape.push(TapeEvent::Run(RunEvent::ClientToolsCalled(called)))
    }

    /// The client brings their results.
    pub(crate) fn brought(self, outputs: &[&'static str]) -> Self {
        let span = ClientCallSpan { first: self.called + 1 - self.last_calls, count: self.last_calls };
        let outputs = outputs.iter().map(|output| (*output).into()).collect();
        let answered = ClientToolsAnswered { span, idempotency: None, outputs };
        self.push(TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)))
    }

    pub(crate) fn abandoned(self) -> Self {
        self.abandoned_for(Duration::ZERO)
    }

    pub(crate) fn abandoned_for(self, pause: Duration) -> Self {
        let event = ModelEvent::AttemptAbandoned {
            attempt: Attempt(self.attempt),
            text_from: TapeSeq(0),
            text_to: TapeSeq(0),
            cause: AbandonCause::Failure(ModelFailureClass::RateLimit),
            next: NextAttempt::SameModel,
            retry_at: Some(Timestamp(1_700_000_000_000_000).after(pause)),
            detail: "what secret_provider said of /home/secret_path".into(),
        };
        self.push(TapeEvent::Model(event))
    }

    pub(crate) fn finished(self, reason: TerminationReason, error: Option<ErrorCode>) -> Self {
        let finished = RunFinished {
            state: reason.state(),
            reason,
            error,
            turns: 1,
            tool_calls: 0,
            usage: TokenUsage { input_tokens: 11, output_tokens: 3, ..TokenUsage::default() },
            active_time: Duration::from_secs(1),
            message: "the tool secret_tool failed at /home/secret_path".into(),
        };
        self.push(TapeEvent::Run(RunEvent::Finished(finished)))
    }

    pub(crate) fn done(self) -> Vec<OrchestratorTapeRecord> {
        self.answered(0, FinishReason::Stop).finished(TerminationReason::FinalAnswer, None).entries
    }

    pub(crate) fn entries(self) -> Vec<OrchestratorTapeRecord> {
        self.entries
    }
}
