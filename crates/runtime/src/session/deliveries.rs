//! Inputs handed to runs of the session that have not answered yet, by their keys.
//!
//! What a run has taken but not recorded is in no journal: until it answers, a repetition may go nowhere else.

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use palyra_run_core::RunInput;
use palyra_types::RunId;
use palyra_types::run::IdempotencyDigest;
use tokio::sync::oneshot;

use crate::error::RequestError;
use crate::run::{DeliverReply, DeliveryReceipt};
use crate::session::appends::AppendQueue;
use crate::session::directory::Command;

/// A run's answer, on its way to whoever asked.
pub(super) struct DeliveryAnswer {
    key: IdempotencyDigest,
    run: RunId,
    /// `None` when the run was lost over it.
    answer: Option<Result<DeliveryReceipt, RequestError>>,
    reply: DeliverReply,
}

/// Inputs on their way into runs.
#[derive(Default)]
pub(super) struct DeliveryQueue {
    under_way: FuturesUnordered<BoxFuture<'static, DeliveryAnswer>>,
    keys: Vec<(IdempotencyDigest, RunId)>,
    /// Repetitions that wait for an answer.
    parked: Vec<(IdempotencyDigest, Command)>,
}

/// Repetitions that wait, at most; further ones are told to come again.
const PARKED_MAX: usize = 256;

impl DeliveryQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns whether an input with this key is on its way into another run than this.
    pub(super) fn is_elsewhere(&self, key: IdempotencyDigest, run: Option<RunId>) -> bool {
        self.keys.iter().any(|(other, into)| *other == key && Some(*into) != run)
    }

    /// Keeps a repetition until the input that it repeats is answered; returns it when it need not wait.
    pub(super) fn park(
        &mut self,
        command: Command,
        active: Option<RunId>,
        accepting: &AppendQueue,
    ) -> Option<Command> {
        let (key, run) = match &command {
            Command::Submit { admitted, .. } => (admitted.spec.started.idempotency, None),
            Command::Steer { idempotency, .. } => (*idempotency, active),
            Command::Deliver { run, input, .. } => (key_of(input), Some(*run)),
            Command::Open { .. } | Command::Change { .. } | Command::Wake | Command::Forget => (None, None),
        };
        let waits = |key: &IdempotencyDigest| self.is_elsewhere(*key, run) || accepting.is_accepting(*key);
        match key.filter(|key| waits(key) && self.parked.len() < PARKED_MAX) {
            Some(key) => {
                self.parked.push((key, command));
                None
            }
            None => Some(command),
        }
    }

    /// Puts itself between a run and whoever waits for its answer.
    pub(super) fn watch(&mut self, key: IdempotencyDigest, run: RunId, reply: DeliverReply) -> DeliverReply {
        let (reply_tx, answer) = oneshot::channel();
        self.keys.push((key, run));
        let answered = async move { DeliveryAnswer { key, run, answer: answer.await.ok(), reply } };
        self.under_way.push(answered.boxed());
        reply_tx
    }

    /// Resolves when a run has answered.
    pub(super) async fn next(&mut self) -> DeliveryAnswer {
        match self.under_way.next().await {
            Some(answered) => answered,
            None => std::future::pending().await,
        }
    }

    /// Forgets an input and passes its answer on; one that is lost stays unanswered. Returns its repetitions.
    pub(super) fn pass_on(&mut self, answered: DeliveryAnswer) -> Vec<Command> {
        let DeliveryAnswer { key, run, answer, reply } = answered;
        if let Some(place) = self.keys.iter().position(|known| *known == (key, run)) {
            self.keys.swap_remove(place);
        }
        if let Some(answer) = answer {
            // A caller that left does not want to know.
            let _ = reply.send(answer);
        }
        self.freed(key)
    }

    /// Returns the repetitions of an input that has its answer.
    pub(super) fn freed(&mut self, key: IdempotencyDigest) -> Vec<Command> {
        let parked = std::mem::take(&mut self.parked);
        let (free, parked): (Vec<_>, Vec<_>) = parked.into_iter().partition(|(other, _)| *other == key);
        self.parked = parked;
        free.into_iter().map(|(_, command)| command).collect()
    }
}

/// Returns the key of what a person says.
pub(super) fn key_of(input: &RunInput) -> Option<IdempotencyDigest> {
    if let RunInput::Input { idempotency, .. } | RunInput::Steer { idempotency, .. } = input {
        *idempotency
    } else {
        None
    }
}
