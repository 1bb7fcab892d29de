//! Stored forms of what a client offers, is called for, and brings back.
//!
//! Numbers of calls are facts, so that a run whose content was erased still knows what it waits for.

use std::time::Duration;

use palyra_types::client_tool::{
    ClientCallSpan, ClientTool, ClientToolCall, ClientToolChoice, ClientToolOffer, ClientToolsCalled,
};
use palyra_types::event::{ClientToolsAnswered, RunEvent, TapeEvent};
use palyra_types::{Attempt, Redacted, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{EncodedParts, ReadResult, UnreadableEvent, VERSION, micros, pair};
use super::run_entries::{idempotency_from_stored, idempotency_to_stored};

pub(super) fn encode_offered(offer: &ClientToolOffer) -> EncodedParts {
    let choice = choice_to_stored(offer.choice);
    let tool = |tool: &ClientTool| store::ClientTool {
        name: tool.name.expose().clone(),
        description: tool.description.expose().clone(),
        parameters: tool.parameters.expose().clone(),
        strict: tool.strict,
    };
    pair(
        &store::ClientToolsOfferedFacts {
            version: VERSION,
            choice: choice.into(),
            chosen: place_to_stored(offer.choice),
            answer_tokens_max: offer.answer_tokens_max,
            answer_within: micros(offer.answer_within),
        },
        &store::ClientToolsOfferedPayload { tools: offer.tools.iter().map(tool).collect() },
    )
}

pub(super) fn decode_offered(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ClientToolsOfferedFacts::decode(facts)?;
    let payload = store::ClientToolsOfferedPayload::decode(payload)?;
    let tool = |tool: store::ClientTool| ClientTool {
        name: Redacted::from_stored(tool.name),
        description: Redacted::from_stored(tool.description),
        parameters: Redacted::from_stored(tool.parameters),
        strict: tool.strict,
    };
    Ok(TapeEvent::Run(RunEvent::ClientToolsOffered(ClientToolOffer {
        tools: payload.tools.into_iter().map(tool).collect(),
        choice: choice_from_stored(facts.choice, facts.chosen)?,
        answer_tokens_max: facts.answer_tokens_max,
        answer_within: Duration::from_micros(facts.answer_within),
    })))
}

pub(super) fn encode_called(called: &ClientToolsCalled) -> EncodedParts {
    let call = |call: &ClientToolCall| store::ClientToolCall {
        name: call.name.expose().clone(),
        arguments: call.arguments.expose().clone(),
        model_call: call.model_call.expose().clone(),
    };
    pair(
        &store::ClientToolsCalledFacts {
            version: VERSION,
            attempt: called.attempt.0,
            span: Some(span_to_stored(called.span)),
            expires: called.expires.0,
        },
        &store::ClientToolsCalledPayload { calls: called.calls.iter().map(call).collect() },
    )
}

pub(super) fn decode_called(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ClientToolsCalledFacts::decode(facts)?;
    let payload = store::ClientToolsCalledPayload::decode(payload)?;
    let call = |call: store::ClientToolCall| ClientToolCall {
        name: Redacted::from_stored(call.name),
        arguments: Redacted::from_stored(call.arguments),
        model_call: Redacted::from_stored(call.model_call),
    };
    Ok(TapeEvent::Run(RunEvent::ClientToolsCalled(ClientToolsCalled {
        attempt: Attempt(facts.attempt),
        span: span_from_stored(facts.span)?,
        expires: Timestamp(facts.expires),
        calls: payload.calls.into_iter().map(call).collect(),
    })))
}

pub(super) fn encode_answered(answered: &ClientToolsAnswered) -> EncodedParts {
    pair(
        &store::ClientToolsAnsweredFacts {
            version: VERSION,
            span: Some(span_to_stored(answered.span)),
            idempotency: idempotency_to_stored(answered.idempotency),
        },
        &store::ClientToolsAnsweredPayload {
            outputs: answered.outputs.iter().map(|output| output.expose().clone()).collect(),
        },
    )
}

pub(super) fn decode_answered(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ClientToolsAnsweredFacts::decode(facts)?;
    let payload = store::ClientToolsAnsweredPayload::decode(payload)?;
    Ok(TapeEvent::Run(RunEvent::ClientToolsAnswered(ClientToolsAnswered {
        span: span_from_stored(facts.span)?,
        idempotency: idempotency_from_stored(&facts.idempotency)?,
        outputs: payload.outputs.into_iter().map(Redacted::from_stored).collect(),
    })))
}

fn span_to_stored(span: ClientCallSpan) -> store::ClientCallSpan {
    store::ClientCallSpan { first: span.first, count: span.count }
}

fn span_from_stored(span: Option<store::ClientCallSpan>) -> ReadResult<ClientCallSpan> {
    let store::ClientCallSpan { first, count } = span.ok_or(UnreadableEvent::Malformed)?;
    Ok(ClientCallSpan { first, count })
}

fn choice_to_stored(choice: ClientToolChoice) -> store::ClientToolChoice {
    match choice {
        ClientToolChoice::Auto => store::ClientToolChoice::Auto,
        ClientToolChoice::None => store::ClientToolChoice::None,
        ClientToolChoice::Required => store::ClientToolChoice::Required,
        ClientToolChoice::Tool(_) => store::ClientToolChoice::Chosen,
    }
}

fn place_to_stored(choice: ClientToolChoice) -> u32 {
    match choice {
        ClientToolChoice::Auto | ClientToolChoice::None | ClientToolChoice::Required => 0,
        ClientToolChoice::Tool(place) => place,
    }
}

fn choice_from_stored(choice: i32, chosen: u32) -> ReadResult<ClientToolChoice> {
    match store::ClientToolChoice::try_from(choice) {
        Ok(store::ClientToolChoice::Auto) => Ok(ClientToolChoice::Auto),
        Ok(store::ClientToolChoice::None) => Ok(ClientToolChoice::None),
        Ok(store::ClientToolChoice::Required) => Ok(ClientToolChoice::Required),
        Ok(store::ClientToolChoice::Chosen) => Ok(ClientToolChoice::Tool(chosen)),
        Err(_) => Err(UnreadableEvent::Newer),
    }
}
