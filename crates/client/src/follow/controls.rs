//! What a person wants of a followed run: that it stops, that it gets an input.
//!
//! Each request is a unary call beside the stream, so that neither waits for the other's channel. A request
//! that is lost with its connection is sent again on the next; keys make the repetition harmless.

use std::collections::VecDeque;
use std::fmt::Write as _;

use futures::future::BoxFuture;
use palyra_types::RunId;
use palyra_wire::v1;

use crate::client::Client;
use crate::error::ClientError;
use crate::input_reach::InputReach;

const INPUTS_WAITING_MAX: usize = 16;

/// Returns a fresh key: 128 bits from the operating system, as hex.
#[must_use]
pub fn new_idempotency_key() -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes.iter().fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[derive(Debug, Clone)]
enum ControlRequest {
    Cancel,
    Input(v1::Input),
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum ControlOutcome {
    Cancel,
    Input(v1::InputAccepted),
}

/// The wishes of one follower, sent one after the other.
#[derive(Default)]
pub(super) struct ControlQueue {
    waiting: VecDeque<ControlRequest>,
    sending: Option<(ControlRequest, BoxFuture<'static, Result<ControlOutcome, ClientError>>)>,
}

impl ControlQueue {
    /// Wants the run to stop; that comes before all inputs.
    pub(super) fn cancel(&mut self) {
        self.waiting.push_front(ControlRequest::Cancel);
    }

    /// Wants the run to get an input.
    pub(super) fn input(&mut self, text: String) -> Result<(), ClientError> {
        if self.waiting.len() >= INPUTS_WAITING_MAX {
            return Err(ClientError::TooManyInputs);
        }
        self.waiting.push_back(ControlRequest::Input(v1::Input {
            text,
            idempotency_key: new_idempotency_key(),
            ..v1::Input::default()
        }));
        Ok(())
    }

    /// Sends what is on its way again, because its connection is gone.
    pub(super) fn renew(&mut self) {
        if let Some((request, _)) = self.sending.take() {
            self.waiting.push_front(request);
        }
    }

    /// Returns what came of the next request; never, while there is none. Dropping the future loses nothing.
    pub(super) async fn granted(
        &mut self,
        client: &Client,
        run: RunId,
    ) -> Result<ControlOutcome, ClientError> {
        if self.sending.is_none()
            && let Some(request) = self.waiting.pop_front()
        {
            self.sending = Some((request.clone(), Box::pin(send(client.clone(), run, request))));
        }
        let Some((_, call)) = &mut self.sending else { return futures::future::pending().await };
        let outcome = call.await;
        if let Some((request, _)) = self.sending.take()
            && outcome.as_ref().is_err_and(ClientError::is_lost)
        {
            self.waiting.push_front(request);
        }
        outcome
    }
}

async fn send(client: Client, run: RunId, request: ControlRequest) -> Result<ControlOutcome, ClientError> {
    match request {
        ControlRequest::Cancel => client.cancel_run(run).await.map(|_| ControlOutcome::Cancel),
        ControlRequest::Input(input) => {
            client.send_input(run, input, InputReach::RunOrNew).await.map(ControlOutcome::Input)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_fit() {
        let (one, other) = (new_idempotency_key(), new_idempotency_key());
        assert_ne!(one, other);
        assert!(one.len() == 32 && one.chars().all(|c| c.is_ascii_hexdigit()));
    }
}
