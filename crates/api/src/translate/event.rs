//! What happened in a run, one message per kind of event.

use palyra_types::Redacted;
use palyra_types::attachment::Attachment;
use palyra_types::effect::ToolOutput;
use palyra_types::event::{
    ApprovalEvent, ContextSource, DecidedBy, DropReason, ModelEvent, ModelMessage, ModelRequested,
    PlannedSource, RunEvent, RunFinished, RunStarted, TapeEvent, ToolDecided, ToolEvent, ToolFinished,
    ToolProposed, ToolStarted,
};
use palyra_types::memory::{RecallRole, RecalledMemory};
use palyra_types::model::ModelRef;
use palyra_types::project_file::{ProjectFile, ProjectFileStanding};
use palyra_types::recall::RecallSetting;
use palyra_types::run::RunLimits;
use palyra_types::sampling::{CallsPerAnswer, SamplingNumber, SamplingOptions};
use palyra_types::skill::ActivatedSkill;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use super::approval;
use super::client_tools;
use super::names;
use super::plain::{
    duration, error_code, finish_reason, hex, hex_or_empty, run_state, surface, timestamp, token_usage,
    tool_verdict,
};
use super::references;
use super::routing;

pub(super) fn tape_event(event: &TapeEvent) -> Event {
    match event {
        TapeEvent::Run(event) => run_event(event),
        TapeEvent::Model(event) => model_event(event),
        TapeEvent::Tool(event) => tool_event(event),
        TapeEvent::Approval(event) => approval_event(event),
        TapeEvent::Unknown { kind } => Event::Unknown(v1::UnknownEvent { kind: (*kind).into() }),
    }
}

fn run_event(event: &RunEvent) -> Event {
    match event {
        RunEvent::Started(started) => Event::RunStarted(run_started(started)),
        RunEvent::InputReceived { input, delivery, .. } => Event::InputReceived(v1::InputReceived {
            input: input.text.expose().clone(),
            delivery: names::input_delivery(*delivery),
            attachments: attachments(&input.attachments),
        }),
        RunEvent::LoopDetected { guard, repeats } => {
            Event::LoopDetected(v1::LoopDetected { guard: names::loop_guard(*guard), repeats: *repeats })
        }
        RunEvent::Held { cause } => Event::RunHeld(v1::RunHeld { cause: names::held_cause(*cause) }),
        RunEvent::CancelRequested { actor, reason } => Event::CancelRequested(v1::CancelRequested {
            actor: actor.to_string(),
            reason: names::cancel_reason(*reason),
        }),
        RunEvent::ClientToolsOffered(offer) => Event::ClientToolsOffered(client_tools::offered(offer)),
        RunEvent::ClientToolsCalled(called) => Event::ClientToolsCalled(client_tools::called(called)),
        RunEvent::ClientToolsAnswered(answered) => {
            Event::ClientToolsAnswered(client_tools::answered(answered))
        }
        RunEvent::ReferencesExpanded(expanded) => Event::ReferencesExpanded(references::expanded(expanded)),
        RunEvent::BudgetReached { resumes, explanation } => Event::BudgetReached(v1::BudgetReached {
            resumes: resumes.and_then(timestamp),
            explanation: explanation.expose().clone(),
        }),
        RunEvent::SoftLimitNoted { explanation } => {
            Event::SoftLimitNoted(v1::SoftLimitNoted { explanation: explanation.expose().clone() })
        }
        RunEvent::Finished(finished) => Event::RunFinished(run_finished(finished)),
    }
}

fn model_event(event: &ModelEvent) -> Event {
    match event {
        ModelEvent::Requested(requested) => Event::ModelRequested(model_requested(requested)),
        ModelEvent::Text { attempt, text } => {
            Event::ModelText(v1::ModelText { attempt: attempt.0, text: text.expose().clone() })
        }
        ModelEvent::Reasoning { attempt, text } => {
            Event::ModelReasoning(v1::ModelReasoning { attempt: attempt.0, text: text.expose().clone() })
        }
        ModelEvent::Switched { attempt, passed_over, model: to } => Event::ModelSwitched(v1::ModelSwitched {
            attempt: attempt.0,
            model: model(to),
            passed_over: *passed_over,
        }),
        ModelEvent::Message(message) => Event::ModelMessage(model_message(message)),
        ModelEvent::AttemptAbandoned { attempt, text_from, text_to, cause, next, retry_at, detail } => {
            Event::ModelAttemptAbandoned(v1::ModelAttemptAbandoned {
                attempt: attempt.0,
                text_from: text_from.0,
                text_to: text_to.0,
                cause: names::abandon_cause(*cause),
                next: names::next_attempt(*next),
                retry_at: retry_at.and_then(timestamp),
                detail: detail.expose().clone(),
            })
        }
    }
}

fn tool_event(event: &ToolEvent) -> Event {
    match event {
        ToolEvent::Proposed(proposed) => Event::ToolProposed(tool_proposed(proposed)),
        ToolEvent::Decided(decided) => Event::ToolDecided(tool_decided(decided)),
        ToolEvent::Started(started) => Event::ToolStarted(tool_started(started)),
        ToolEvent::Output(output) => Event::ToolOutput(tool_output(output)),
        ToolEvent::Finished(finished) => Event::ToolFinished(tool_finished(finished)),
        ToolEvent::OutcomeUnknown { effect, cause } => Event::ToolOutcomeUnknown(v1::ToolOutcomeUnknown {
            effect_id: effect.0,
            cause: names::unknown_outcome_cause(*cause),
        }),
        ToolEvent::EffectResolved { effect, resolution, by, note } => {
            Event::EffectResolved(v1::EffectResolved {
                effect_id: effect.0,
                resolution: names::effect_resolution(*resolution),
                by: by.to_string(),
                note: note.expose().clone(),
            })
        }
    }
}

fn approval_event(event: &ApprovalEvent) -> Event {
    match event {
        ApprovalEvent::Requested(requested) => Event::ApprovalRequested(approval::requested(requested)),
        ApprovalEvent::Voted(voted) => Event::ApprovalVoted(approval::voted(voted)),
        ApprovalEvent::Resolved(resolved) => Event::ApprovalResolved(approval::resolved(resolved)),
        ApprovalEvent::GrantStored(stored) => {
            Event::GrantStored(v1::GrantStored { grant: Some(approval::stored_grant(stored)) })
        }
    }
}

fn run_started(started: &RunStarted) -> v1::RunStarted {
    v1::RunStarted {
        agent_id: started.agent.to_string(),
        input: started.input.text.expose().clone(),
        workspace_root: started.workspace_root.expose().to_string_lossy().into_owned(),
        model: model(&started.model),
        surface: surface(started.surface),
        config_digest: hex(&started.config_digest),
        limits: Some(run_limits(started.limits)),
        delivery: names::input_delivery(started.delivery),
        attachments: attachments(&started.input.attachments),
        fallbacks: started.fallbacks.expose().iter().map(ToString::to_string).collect(),
        response_schema: started
            .response_format
            .as_ref()
            .map(|format| format.schema.expose().as_ref().to_owned())
            .unwrap_or_default(),
        skills: started.skills.iter().map(activated_skill).collect(),
        sampling: sampling_options(&started.sampling),
        project_files: started.project_files.iter().map(project_file).collect(),
        recalled: started.recalled.iter().map(recalled_memory).collect(),
        compaction: started.compaction.map_or(0, |read| read.compaction.0),
        recall: started.recall.map(recall_setting),
    }
}

fn recall_setting(setting: RecallSetting) -> v1::RecallSetting {
    v1::RecallSetting {
        switch: names::recall_switch(Some(setting.switch)),
        level: names::recall_level(setting.level),
    }
}

fn recalled_memory(item: &RecalledMemory) -> v1::RecalledMemory {
    v1::RecalledMemory {
        memory_id: item.memory.to_string(),
        created: timestamp(item.created),
        taints: item.taints.names().map(str::to_owned).collect(),
        text: item.text.expose().clone(),
        is_preference: item.role == RecallRole::Preference,
    }
}

/// Returns a file of a project as a run is given it.
pub(crate) fn project_file(file: &ProjectFile) -> v1::ProjectFile {
    let standing = match file.standing {
        ProjectFileStanding::Data => v1::ProjectFileStanding::Data,
        ProjectFileStanding::Accepted => v1::ProjectFileStanding::Accepted,
    };
    v1::ProjectFile {
        path: file.path.expose().clone(),
        sha256: hex_or_empty(file.sha256.expose()),
        text: file.text.expose().as_ref().to_owned(),
        standing: standing.into(),
    }
}

/// Returns the settings; `None` where everything is left to the provider.
fn sampling_options(options: &SamplingOptions) -> Option<v1::SamplingOptions> {
    let shown = v1::SamplingOptions {
        temperature: options.temperature.map(SamplingNumber::value),
        top_p: options.top_p.map(SamplingNumber::value),
        stop: options.stop.iter().map(|text| text.expose().clone()).collect(),
        seed: options.seed,
        reasoning_effort: options.reasoning_effort.map_or(0, names::reasoning_effort),
        verbosity: options.verbosity.map_or(0, names::answer_verbosity),
        parallel_tool_calls: options.calls_per_answer.map(|calls| calls == CallsPerAnswer::Several),
    };
    (*options != SamplingOptions::default()).then_some(shown)
}

fn activated_skill(at_work: &ActivatedSkill) -> v1::ActivatedSkill {
    v1::ActivatedSkill { skill_id: at_work.skill.to_string(), sha256: hex(&at_work.sha256) }
}

fn attachments(attachments: &[Attachment]) -> Vec<v1::AttachmentInfo> {
    let infos = (0..).zip(attachments).map(|(index, attachment)| attachment_info(index, attachment));
    infos.collect()
}

/// Returns what is known of an attachment.
pub(crate) fn attachment_info(index: u32, attachment: &Attachment) -> v1::AttachmentInfo {
    v1::AttachmentInfo {
        index,
        name: attachment.name.expose().clone(),
        media_type: attachment.media_type.expose().clone(),
        bytes: attachment.bytes,
        sha256: hex_or_empty(attachment.sha256.expose()),
    }
}

fn run_limits(limits: RunLimits) -> v1::RunLimits {
    v1::RunLimits {
        turns_max: limits.turns_max,
        tool_calls_max: limits.tool_calls_max,
        active_time_max: duration(limits.active_time_max),
        parallel_tools_max: limits.parallel_tools_max,
        output_tokens_max: limits.output_tokens_max,
    }
}

fn model_requested(requested: &ModelRequested) -> v1::ModelRequested {
    let context = &requested.context;
    v1::ModelRequested {
        attempt: requested.attempt.0,
        turn: requested.turn,
        model: model(&requested.model),
        messages_kept: context.messages_kept,
        messages_dropped: context.messages_dropped,
        tokens_estimated: context.tokens_estimated,
        instructions_digest: hex(&context.instructions_digest),
        catalog_digest: hex(&context.catalog_digest),
        oldest_seq: context.oldest_seq.map(|seq| seq.0),
        sources: context.sources.iter().map(planned_source).collect(),
        routing: requested.routing.reasons.iter().map(|reason| routing::reason(*reason)).collect(),
        passed_over: requested.routing.passed_over.expose().iter().map(routing::passed_over).collect(),
    }
}

fn planned_source(planned: &PlannedSource) -> v1::ContextSourcePlan {
    let source = match planned.source {
        ContextSource::Instructions => v1::ContextSource::Instructions,
        ContextSource::Agent => v1::ContextSource::Agent,
        ContextSource::Skills => v1::ContextSource::Skills,
        ContextSource::Tools => v1::ContextSource::Tools,
        ContextSource::History => v1::ContextSource::History,
        ContextSource::Rounds => v1::ContextSource::Rounds,
        ContextSource::Input => v1::ContextSource::Input,
        ContextSource::ProjectRules => v1::ContextSource::ProjectRules,
        ContextSource::ProjectFiles => v1::ContextSource::ProjectFiles,
        ContextSource::Memory => v1::ContextSource::Memory,
        ContextSource::Summary => v1::ContextSource::Summary,
        ContextSource::References => v1::ContextSource::References,
        ContextSource::Preferences => v1::ContextSource::Preferences,
        ContextSource::Channel => v1::ContextSource::Channel,
    };
    let because = match planned.dropped_because {
        None => v1::ContextDropReason::Unspecified,
        Some(DropReason::Window) => v1::ContextDropReason::Window,
        Some(DropReason::Limit) => v1::ContextDropReason::Limit,
    };
    v1::ContextSourcePlan {
        source: source.into(),
        kept: planned.kept,
        dropped: planned.dropped,
        tokens_kept: planned.tokens_kept,
        tokens_dropped: planned.tokens_dropped,
        dropped_because: because.into(),
    }
}

fn model_message(message: &ModelMessage) -> v1::ModelMessage {
    v1::ModelMessage {
        attempt: message.attempt.0,
        model: model(&message.model),
        response_id: message.response_id.expose().clone(),
        finish: finish_reason(message.finish),
        usage: Some(token_usage(message.usage)),
        text_from: message.text_from.0,
        text_to: message.text_to.0,
        proposals: message.proposals,
    }
}

fn tool_proposed(proposed: &ToolProposed) -> v1::ToolProposed {
    v1::ToolProposed {
        effect_id: proposed.effect.0,
        attempt: proposed.attempt.0,
        tool: proposed.tool.expose().clone(),
        arguments: proposed.arguments.expose().clone(),
    }
}

fn tool_decided(decided: &ToolDecided) -> v1::ToolDecided {
    v1::ToolDecided {
        effect_id: decided.effect.0,
        verdict: tool_verdict(decided.verdict),
        reason: names::decision_reason(decided.reason),
        explanation: decided.explanation.expose().clone(),
        decided_by: names::decided_by(decided.decided_by),
        policy_digest: hex(&decided.policy_digest),
        decider_id: match decided.decided_by {
            DecidedBy::Policy | DecidedBy::Budget => String::new(),
            DecidedBy::Grant(grant) => grant.to_string(),
            DecidedBy::Approval(approval) => approval.to_string(),
        },
        risk: names::risk(decided.risk),
        approval_id: decided.ask.map(|ask| ask.approval.to_string()).unwrap_or_default(),
    }
}

fn tool_started(started: &ToolStarted) -> v1::ToolStarted {
    v1::ToolStarted {
        effect_id: started.effect.0,
        contract: names::effect_contract(started.contract),
        deadline: duration(started.deadline),
        paths: started.plan.pre_images.iter().map(|file| file.path.expose().clone()).collect(),
        preview: started.plan.preview.expose().clone(),
    }
}

fn tool_output(output: &ToolOutput) -> v1::ToolOutput {
    v1::ToolOutput {
        effect_id: output.effect.0,
        text: output.text.expose().clone(),
        shown_bytes: output.shown_bytes,
        rest: names::output_rest(output.rest),
    }
}

fn tool_finished(finished: &ToolFinished) -> v1::ToolFinished {
    let attested = &finished.attested;
    v1::ToolFinished {
        effect_id: finished.effect.0,
        succeeded: finished.failure.is_none(),
        error_code: error_code(finished.failure),
        output: finished.output.expose().clone(),
        output_bytes_total: finished.output_bytes_total,
        duration: duration(finished.duration),
        output_digest: hex_or_empty(&finished.output_digest.0),
        executor: names::tool_executor(finished.executor),
        isolation: names::isolation(finished.isolation),
        tool_version: attested.tool_version,
        call_digest: hex_or_empty(&attested.call_digest.0),
        policy_digest: hex_or_empty(&attested.policy_digest),
        approval_id: attested.approval.map(|id| id.to_string()).unwrap_or_default(),
        grant_id: attested.grant.map(|id| id.to_string()).unwrap_or_default(),
    }
}

fn run_finished(finished: &RunFinished) -> v1::RunFinished {
    v1::RunFinished {
        state: run_state(finished.state),
        reason: names::termination_reason(finished.reason),
        error_code: error_code(finished.error),
        message: finished.message.expose().clone(),
        turns: finished.turns,
        tool_calls: finished.tool_calls,
        usage: Some(token_usage(finished.usage)),
        active_time: duration(finished.active_time),
    }
}

fn model(model: &Redacted<Option<ModelRef>>) -> String {
    model.expose().as_ref().map(ToString::to_string).unwrap_or_default()
}
