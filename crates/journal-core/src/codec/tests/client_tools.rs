//! One event of each kind about functions of a client.

use std::time::Duration;

use palyra_types::client_tool::{
    ClientCallSpan, ClientTool, ClientToolCall, ClientToolChoice, ClientToolOffer, ClientToolsCalled,
};
use palyra_types::event::{ClientToolsAnswered, JournalEvent, RunEvent, TapeEvent};
use palyra_types::run::IdempotencyDigest;
use palyra_types::{Attempt, Timestamp};

use super::super::{decode, encode};
use palyra_types::event::kind::KindPlace;

fn offer(choice: ClientToolChoice) -> ClientToolOffer {
    let tool = ClientTool {
        name: "get_weather".into(),
        description: "Says how the weather is.".into(),
        parameters: "{\"type\":\"object\"}".into(),
        strict: Some(true),
    };
    ClientToolOffer {
        tools: vec![tool],
        choice,
        answer_tokens_max: Some(900),
        answer_within: Duration::from_secs(600),
    }
}

pub(super) fn client_tool_events() -> [TapeEvent; 3] {
    let span = ClientCallSpan { first: 3, count: 1 };
    let call = ClientToolCall {
        name: "get_weather".into(),
        arguments: "{\"city\":\"Oslo\"}".into(),
        model_call: "call_7".into(),
    };
    [
        TapeEvent::Run(RunEvent::ClientToolsOffered(offer(ClientToolChoice::Tool(0)))),
        TapeEvent::Run(RunEvent::ClientToolsCalled(ClientToolsCalled {
            attempt: Attempt(2),
            span,
            expires: Timestamp(1_700_000_600_000_000),
            calls: vec![call],
        })),
        TapeEvent::Run(RunEvent::ClientToolsAnswered(ClientToolsAnswered {
            span,
            idempotency: Some(IdempotencyDigest([7; 32])),
            outputs: vec!["rain".into()],
        })),
    ]
}

#[test]
fn each_choice_of_a_function_is_read_as_it_was_written() {
    for choice in [
        ClientToolChoice::Auto,
        ClientToolChoice::None,
        ClientToolChoice::Required,
        ClientToolChoice::Tool(7),
    ] {
        let event = JournalEvent::Tape(TapeEvent::Run(RunEvent::ClientToolsOffered(offer(choice))));
        let coded = encode(&event).unwrap();
        assert_eq!(decode(coded.kind, KindPlace::Tape, &coded.facts, &coded.payload), Ok(event));
    }
}

#[test]
fn what_a_run_waits_for_is_known_without_content() {
    for mut event in client_tool_events().map(JournalEvent::Tape) {
        let coded = encode(&event).unwrap();
        event.erase_content();
        assert_eq!(decode(coded.kind, KindPlace::Tape, &coded.facts, &[]), Ok(event));
    }
}
