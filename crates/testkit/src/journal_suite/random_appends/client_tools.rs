//! Random events about functions of a client.

use palyra_types::client_tool::{
    ClientCallSpan, ClientTool, ClientToolCall, ClientToolChoice, ClientToolOffer, ClientToolsCalled,
};
use palyra_types::event::{ClientToolsAnswered, RunEvent, TapeEvent};
use palyra_types::run::IdempotencyDigest;
use palyra_types::{Attempt, Timestamp};

use super::RandomAppends;

impl RandomAppends {
    pub(super) fn client_tool_event(&mut self) -> TapeEvent {
        let span = ClientCallSpan { first: self.number(), count: self.number() };
        TapeEvent::Run(match self.below(3) {
            0 => RunEvent::ClientToolsOffered(self.client_tool_offer()),
            1 => RunEvent::ClientToolsCalled(ClientToolsCalled {
                attempt: Attempt(self.number()),
                span,
                expires: Timestamp(i64::from(self.number()) * 1_000_000),
                calls: self.maybe(Self::client_tool_call).into_iter().collect(),
            }),
            _ => RunEvent::ClientToolsAnswered(ClientToolsAnswered {
                span,
                idempotency: self.maybe(|me| IdempotencyDigest(me.digest())),
                outputs: self.maybe(Self::text).into_iter().collect(),
            }),
        })
    }

    fn client_tool_offer(&mut self) -> ClientToolOffer {
        let place = self.number();
        let choice = self.one_of(&[
            ClientToolChoice::Auto,
            ClientToolChoice::None,
            ClientToolChoice::Required,
            ClientToolChoice::Tool(place),
        ]);
        ClientToolOffer {
            tools: self.maybe(Self::client_tool).into_iter().collect(),
            choice,
            answer_tokens_max: self.maybe(Self::number),
            answer_within: self.span(),
        }
    }

    fn client_tool(&mut self) -> ClientTool {
        ClientTool {
            name: self.text(),
            description: self.text(),
            parameters: self.text(),
            strict: self.maybe(|me| me.below(2) == 0),
        }
    }

    fn client_tool_call(&mut self) -> ClientToolCall {
        ClientToolCall { name: self.text(), arguments: self.text(), model_call: self.text() }
    }
}
