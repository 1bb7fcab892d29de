//! What a client offers, is called for, and brings back.

use palyra_types::Redacted;
use palyra_types::client_tool::{
    ClientTool, ClientToolCall, ClientToolChoice, ClientToolOffer, ClientToolsCalled,
};
use palyra_types::event::ClientToolsAnswered;
use palyra_wire::v1;

use super::plain::timestamp;

pub(super) fn offered(offer: &ClientToolOffer) -> v1::ClientToolsOffered {
    let tool = |tool: &ClientTool| v1::ClientToolInfo {
        name: tool.name.expose().clone(),
        description: tool.description.expose().clone(),
        parameters: tool.parameters.expose().clone(),
        strict: tool.strict,
    };
    v1::ClientToolsOffered {
        tools: offer.tools.iter().map(tool).collect(),
        choice: choice(offer),
        answer_tokens_max: offer.answer_tokens_max,
    }
}

fn choice(offer: &ClientToolOffer) -> String {
    match offer.choice {
        ClientToolChoice::Auto => "auto".to_owned(),
        ClientToolChoice::None => "none".to_owned(),
        ClientToolChoice::Required => "required".to_owned(),
        ClientToolChoice::Tool(_) => {
            offer.chosen().map(|tool| tool.name.expose().clone()).unwrap_or_default()
        }
    }
}

pub(super) fn called(called: &ClientToolsCalled) -> v1::ClientToolsCalled {
    let call = |(number, call): (u32, &ClientToolCall)| v1::ClientToolCallInfo {
        number,
        name: call.name.expose().clone(),
        arguments: call.arguments.expose().clone(),
    };
    v1::ClientToolsCalled {
        attempt: called.attempt.0,
        calls: called.span.numbers().zip(&called.calls).map(call).collect(),
        expires: timestamp(called.expires),
    }
}

pub(super) fn answered(answered: &ClientToolsAnswered) -> v1::ClientToolsAnswered {
    let result = |(number, output): (u32, &Redacted<String>)| v1::ClientToolResultInfo {
        number,
        output: output.expose().clone(),
    };
    v1::ClientToolsAnswered { results: answered.span.numbers().zip(&answered.outputs).map(result).collect() }
}
