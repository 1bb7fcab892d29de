//! Assembles what a model is shown: instructions, history, this run, tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;
use palyra_context::prompt::{
    ContextTooLarge, PromptInputs, RequestSegment, answer_cap, assemble, request_tokens_max,
};
use palyra_context::session_history::PriorContext;
use palyra_context::system_texts::SystemTexts;
use palyra_context::transcript::Transcript;
use palyra_context::{project_files, recalled_memories, session_summary};
use palyra_governance::ModelCapability;
use palyra_ports::StaticText;
use palyra_types::attachment::Attachment;
use palyra_types::budget::RequestSize;
use palyra_types::client_tool::ClientToolOffer;
use palyra_types::event::{ContextPlan, ContextSource, RunEvent, RunStarted, TapeEvent};
use palyra_types::model::{ModelRef, ModelRequest};
use palyra_types::{Content, Timestamp};

use crate::run::state::AgentRunLoopState;
use crate::run_context::RunContext;

/// The window assumed for a model that nobody configured any more; its request will be refused anyway.
const WINDOW_TOKENS_UNKNOWN: u64 = 8_192;

/// Where a run's context comes from.
pub(super) struct RequestSource<'a> {
    pub(super) run_context: &'a RunContext,
    /// What this run sees of those before it.
    pub(super) earlier: &'a PriorContext,
    /// The zone of the person whose run it is.
    pub(super) zone: TimeZone,
}

/// Which request is wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestSpec<'a> {
    /// The model; `None` for the default one.
    pub(super) model: Option<&'a ModelRef>,
    /// How many estimated tokens it should hold at most, if possible.
    pub(super) tokens: Option<u64>,
    /// How many tokens the run may still write.
    pub(super) output_tokens_left: u64,
    /// The time of events that are not committed yet.
    pub(super) now: Timestamp,
}

/// A request with its plan, and the texts that the plan names by digest.
pub(super) struct PreparedInput {
    pub(super) request: ModelRequest,
    pub(super) plan: ContextPlan,
    pub(super) statics: Vec<StaticText>,
}

/// Returns what the client offers, of which the latest may not be committed yet.
fn latest_offer(state: &AgentRunLoopState, fresh: &[TapeEvent]) -> Option<Arc<ClientToolOffer>> {
    let offered = fresh.iter().rev().find_map(|event| {
        if let TapeEvent::Run(RunEvent::ClientToolsOffered(offer)) = event { Some(offer) } else { None }
    });
    offered.map(|offer| Arc::new(offer.clone())).or_else(|| state.client_tools.clone())
}

/// Returns how the run was started, which may not be committed yet.
pub(super) fn started_of<'a>(state: &'a AgentRunLoopState, fresh: &'a [TapeEvent]) -> Option<&'a RunStarted> {
    state.started.as_ref().or_else(|| {
        fresh.iter().find_map(|event| {
            if let TapeEvent::Run(RunEvent::Started(started)) = event { Some(started) } else { None }
        })
    })
}

/// Returns the transcript with events that are not committed yet.
pub(super) fn transcript_with(state: &AgentRunLoopState, fresh: &[TapeEvent], now: Timestamp) -> Transcript {
    let mut transcript = state.transcript.clone();
    fresh.iter().for_each(|event| transcript.push(event, now));
    transcript
}

impl RequestSource<'_> {
    /// Returns the window of a model, in tokens.
    pub(super) fn window_tokens(&self, model: &ModelRef) -> u64 {
        let directory = self.run_context.ports.models.borrow();
        let provider = directory.provider(model);
        provider.map_or(WINDOW_TOKENS_UNKNOWN, |provider| provider.model_info(&model.model).context_tokens)
    }

    /// Returns the wanted model, or else the default one.
    pub(super) fn model(&self, wanted: Option<&ModelRef>) -> ModelRef {
        wanted.cloned().unwrap_or_else(|| self.run_context.ports.models.borrow().default_model().clone())
    }

    /// Returns what the next request of a run needs of its model.
    pub(super) fn needs(&self, state: &AgentRunLoopState, fresh: &[TapeEvent]) -> BTreeSet<ModelCapability> {
        let started = started_of(state, fresh);
        let agent = started.and_then(|started| self.run_context.views.agents.by_id(started.agent));
        let tools = agent.as_ref().and_then(|agent| agent.profile.tools.as_deref());
        let offers = latest_offer(state, fresh).is_some() || tools.is_none_or(|tools| !tools.is_empty());
        let sees = started.is_some_and(|it| it.input.attachments.iter().any(Attachment::is_image));
        let answers = started.is_some_and(|started| started.response_format.is_some());
        let needs = [
            (ModelCapability::Tools, offers),
            (ModelCapability::Images, sees),
            (ModelCapability::StructuredOutput, answers),
        ];
        needs.into_iter().filter_map(|(need, is_there)| is_there.then_some(need)).collect()
    }

    /// Returns what a request reserves at most.
    pub(super) fn size_of(&self, prepared: &PreparedInput, output_tokens_left: u64) -> RequestSize {
        let window = self.window_tokens(&prepared.request.model);
        let room = output_tokens_left.min(window - request_tokens_max(window));
        RequestSize {
            input_tokens: prepared.plan.tokens_estimated,
            output_tokens_max: prepared.request.output_tokens_max.map_or(room, u64::from),
        }
    }

    /// Assembles the next request of a run whose latest events are not committed yet.
    pub(super) fn prepare_model_provider_input(
        &self,
        state: &AgentRunLoopState,
        fresh: &[TapeEvent],
        wanted: RequestSpec<'_>,
    ) -> Result<PreparedInput, ContextTooLarge> {
        let transcript = transcript_with(state, fresh, wanted.now);
        let started = started_of(state, fresh);
        let model = self.model(wanted.model);
        let window_tokens = self.window_tokens(&model);
        let agent = started.and_then(|started| self.run_context.views.agents.by_id(started.agent));
        let skills = started.map_or(&[][..], |started| &started.skills);
        let of_agent = agent.as_ref().map(|agent| agent.profile.instructions.expose().as_str());
        let of_skills = self.run_context.views.skills.section(skills);
        let of_project = started.and_then(|started| project_files::rules(&started.project_files));
        let shipped = Arc::clone(&self.run_context.ports.config.borrow().instructions);
        let system = SystemTexts::new(&shipped, of_agent, of_project.as_deref(), of_skills.as_deref());
        let instructions: Arc<str> = system.joined().into();
        let client_tools = latest_offer(state, fresh);
        let tools = agent.as_ref().and_then(|agent| agent.profile.tools.as_deref());
        // A client that performs functions of its own is offered these alone.
        let tools = if client_tools.is_some() { Some(&[][..]) } else { tools };
        let catalog = self.run_context.catalog_of(tools, &self.run_context.views.skills.active(skills));
        let offered_bytes = client_tools.as_ref().map_or(0, |offer| offer.content_bytes());
        let answer_max = client_tools.as_ref().and_then(|offer| offer.answer_tokens_max);
        let instructions_digest = palyra_ledger::sha256(instructions.as_bytes());
        let mut segments = system.segments();
        segments.push(RequestSegment::outside(ContextSource::Tools, catalog.text.len() + offered_bytes));
        segments.extend(started.and_then(|started| session_summary::segment_of(started, self.earlier)));
        segments.extend(self.earlier.runs.iter().map(RequestSegment::past));
        if let Some(started) = started {
            segments.extend(project_files::data_segments_of(started));
            segments.extend(recalled_memories::segments_of(started, &self.zone));
        }
        segments.extend(RequestSegment::current(transcript.messages(&self.zone)));
        let prompt = assemble(PromptInputs {
            segments,
            window_tokens,
            tokens_wished: wanted.tokens,
            instructions_digest,
            catalog_digest: catalog.sha256,
        })?;
        let request = ModelRequest {
            model,
            system: Content::new(instructions.to_string()),
            messages: prompt.messages,
            tools: Arc::clone(&catalog.tools),
            client_tools,
            output_tokens_max: answer_cap(wanted.output_tokens_left, window_tokens)
                .into_iter()
                .chain(answer_max)
                .min(),
            response_format: started.and_then(|started| started.response_format.clone()),
            sampling: started.map(|started| (*started.sampling).clone()).unwrap_or_default(),
        };
        let statics = vec![
            StaticText { sha256: instructions_digest, body: instructions },
            StaticText { sha256: catalog.sha256, body: Arc::clone(&catalog.text) },
        ];
        Ok(PreparedInput { request, plan: prompt.plan, statics: self.run_context.not_yet_stored(statics) })
    }
}
