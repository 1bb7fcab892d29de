//! Events and effects in a few words, for expectations that people read.

use palyra_types::context_reference::ReferenceMeans;
use palyra_types::effect::ToolOutput;
use palyra_types::event::{
    AbandonCause, ApprovalEvent, DecidedBy, ModelEvent, NextAttempt, RunEvent, TapeEvent, ToolDecided,
    ToolEvent, ToolStarted,
};
use palyra_types::run::InputDelivery;
use palyra_types::tool::{EffectContract, ToolVerdict};

use super::asks::number_of;
use crate::{Effect, ExecutionAttempt};

pub(crate) fn event_line(event: &TapeEvent) -> String {
    match event {
        TapeEvent::Run(RunEvent::Started(_)) => "RunStarted".into(),
        TapeEvent::Run(RunEvent::InputReceived { delivery, .. }) => match delivery {
            InputDelivery::Queue => "InputReceived".into(),
            InputDelivery::Steer | InputDelivery::Interrupt => format!("InputReceived {delivery:?}"),
        },
        TapeEvent::Model(event) => model_line(event),
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            format!("Proposed {} {}", proposed.effect, proposed.tool.expose())
        }
        TapeEvent::Tool(ToolEvent::Decided(decided)) => decided_line(decided),
        TapeEvent::Tool(ToolEvent::Started(ToolStarted { effect, contract, .. })) => match contract {
            EffectContract::Pure => format!("Started {effect}"),
            other => format!("Started {effect} {}", format!("{other:?}").to_lowercase()),
        },
        TapeEvent::Approval(_) | TapeEvent::Tool(ToolEvent::EffectResolved { .. }) => person_line(event),
        TapeEvent::Tool(ToolEvent::Output(ToolOutput { effect, shown_bytes, rest, text })) => {
            format!("Output {effect} {shown_bytes} {rest:?} {:.40}", text.expose()).trim_end().to_owned()
        }
        TapeEvent::Tool(ToolEvent::Finished(finished)) => match finished.failure {
            None => format!("Finished {}", finished.effect),
            Some(code) => format!("Finished {} {}", finished.effect, code.slug()),
        },
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause }) => {
            format!("OutcomeUnknown {effect} {cause:?}")
        }
        TapeEvent::Run(RunEvent::LoopDetected { guard, repeats }) => {
            format!("LoopDetected {guard:?} {repeats}")
        }
        TapeEvent::Run(RunEvent::Held { cause }) => format!("Held {cause:?}"),
        TapeEvent::Run(RunEvent::ClientToolsOffered(offer)) => {
            format!("ClientToolsOffered {} {:?}", offer.tools.len(), offer.choice)
        }
        TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => {
            let names: Vec<&str> = called.calls.iter().map(|call| call.name.expose().as_str()).collect();
            format!("ClientToolsCalled {} {}", called.span.first, names.join(" "))
        }
        TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) => {
            format!("ClientToolsAnswered {} {} results", answered.span.first, answered.outputs.len())
        }
        TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) => {
            let items = expanded.items.iter().map(|item| match item.means {
                ReferenceMeans::Call(effect) => format!(" {} {effect}", item.kind.word()),
                ReferenceMeans::SameAs(place) => format!(" {} same {place}", item.kind.word()),
                ReferenceMeans::Refused(error) => format!(" {} {}", item.kind.word(), error.name()),
            });
            format!("ReferencesExpanded {}{}", expanded.input, items.collect::<String>())
        }
        TapeEvent::Run(RunEvent::BudgetReached { resumes, .. }) => match resumes {
            Some(time) => format!("BudgetReached {}", time.0),
            None => "BudgetReached".to_owned(),
        },
        TapeEvent::Run(RunEvent::SoftLimitNoted { explanation }) => {
            format!("SoftLimitNoted {}", explanation.expose())
        }
        TapeEvent::Run(RunEvent::CancelRequested { reason, .. }) => format!("CancelRequested {reason:?}"),
        TapeEvent::Run(RunEvent::Finished(finished)) => {
            format!("RunFinished {:?} {:?}", finished.state, finished.reason)
        }
        TapeEvent::Unknown { kind } => format!("Unknown {kind:#x}"),
    }
}

fn model_line(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Requested(requested) => {
            let model = requested.model.expose().as_ref().map_or("", |model| model.model.as_str());
            let whom = if model.starts_with("fallback") { format!(" {model}") } else { String::new() };
            format!("ModelRequested {} turn {}{whom}", requested.attempt, requested.turn)
        }
        ModelEvent::Text { attempt, text } => {
            format!("ModelText {attempt} {}", text.expose())
        }
        ModelEvent::Reasoning { attempt, text } => {
            format!("ModelReasoning {attempt} {}", text.expose())
        }
        ModelEvent::Switched { passed_over, model, .. } => {
            let model = model.expose().as_ref().map_or("", |model| model.model.as_str());
            let past = if *passed_over == 0 { String::new() } else { format!(" past {passed_over}") };
            format!("Switched {model}{past}")
        }
        ModelEvent::Message(message) => {
            let text = if message.text_from.0 == 0 {
                "no text".to_owned()
            } else {
                format!("text {}-{}", message.text_from, message.text_to)
            };
            let calls =
                if message.proposals == 0 { String::new() } else { format!(" {} calls", message.proposals) };
            format!("ModelMessage {} {text}{calls}", message.attempt)
        }
        ModelEvent::AttemptAbandoned { attempt, text_from, text_to, cause, next, .. } => {
            let cause = match cause {
                AbandonCause::Restart => "Restart".to_owned(),
                AbandonCause::Cancelled => "Cancelled".to_owned(),
                AbandonCause::Failure(class) => format!("{class:?}"),
            };
            let next = match next {
                NextAttempt::None => String::new(),
                NextAttempt::SameModel | NextAttempt::NextModel | NextAttempt::ShorterContext => {
                    format!(" {next:?}")
                }
            };
            format!("Abandoned {attempt} {text_from}-{text_to} {cause}{next}")
        }
    }
}

fn decided_line(decided: &ToolDecided) -> String {
    match (decided.verdict, decided.decided_by) {
        (ToolVerdict::Allow, DecidedBy::Policy | DecidedBy::Budget) => "Allowed".into(),
        (ToolVerdict::Allow, DecidedBy::Approval(by)) => format!("Allowed by {}", number_of(by)),
        (ToolVerdict::Allow, DecidedBy::Grant(_)) => "Allowed by grant".into(),
        (ToolVerdict::Ask, _) => "ToAsk".into(),
        (ToolVerdict::Deny, DecidedBy::Approval(by)) => {
            format!("Denied {:?} by {}", decided.reason, number_of(by))
        }
        (ToolVerdict::Deny, DecidedBy::Grant(_)) => format!("Denied {:?} by grant", decided.reason),
        (ToolVerdict::Deny, DecidedBy::Policy) => format!("Denied {:?}", decided.reason),
        (ToolVerdict::Deny, DecidedBy::Budget) => format!("Denied {:?} by budget", decided.reason),
    }
}

/// What people are asked, and what they say.
fn person_line(event: &TapeEvent) -> String {
    match event {
        TapeEvent::Approval(ApprovalEvent::Requested(asked)) => {
            let again = if asked.prompt.asked_again.expose().is_empty() { "" } else { " again" };
            format!("Asks {} about {}{again}", number_of(asked.approval), asked.effect)
        }
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => format!("Voted {}", number_of(voted.approval)),
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            let edited = if resolved.edited.is_some() { " edited" } else { "" };
            format!("Resolved {} {:?}{edited}", number_of(resolved.approval), resolved.state)
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, .. }) => {
            format!("Settled {effect} {resolution:?}")
        }
        _ => "GrantStored".into(),
    }
}

pub(crate) fn effect_line(effect: &Effect) -> String {
    match effect {
        Effect::AssembleContext { attempt, .. } => format!("assemble {attempt}"),
        Effect::Judge(calls) => format!("judge {calls:?}"),
        Effect::CallModel { attempt } => format!("ask {attempt}"),
        Effect::RetryAt { attempt, .. } => format!("pause after {attempt}"),
        Effect::AbortModel { attempt } => format!("hang up {attempt}"),
        Effect::Prepare(intent) => format!("prepare {}", intent.effect()),
        // Of a pure call nobody cares.
        Effect::Execute(grant) if grant.contract() == EffectContract::Pure => {
            format!("execute {}", grant.effect())
        }
        Effect::Execute(grant) => match grant.execution() {
            ExecutionAttempt::First => format!("execute {}", grant.effect()),
            ExecutionAttempt::Again => format!("execute {} again", grant.effect()),
        },
        Effect::AbortTools => "stop tools".into(),
        Effect::End => "end".into(),
    }
}
