//! Functions of the client: whether the run has them, and the calls whose results are awaited.
//!
//! Owns the numbers of the calls and how long they wait. Knows no name and no argument: nothing here makes a grant, and
//! nothing of it is an effect.

use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::client_tool::{ClientCallSpan, ClientToolsCalled};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::WaitReason;

/// The client's functions of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientTools {
    answer_within: Option<Duration>,
    awaited: Option<AwaitedResults>,
    last: u32,
}

/// Calls that the client has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwaitedResults {
    /// The calls.
    pub span: ClientCallSpan,
    /// When the run stops waiting for their results.
    pub expires: Timestamp,
}

impl ClientTools {
    /// Returns whether the run offers functions of its client, and so no tools.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.answer_within.is_some()
    }

    /// Returns the calls whose results are awaited.
    #[must_use]
    pub fn awaited(&self) -> Option<AwaitedResults> {
        self.awaited
    }

    /// Returns what the run waits for.
    pub(crate) fn wait(&self) -> Option<WaitReason> {
        self.awaited.map(|_| WaitReason::ClientTool)
    }

    /// Returns the numbers of the next calls.
    pub(crate) fn next_span(&self, calls: usize) -> ClientCallSpan {
        let count = u32::try_from(calls).unwrap_or(u32::MAX);
        ClientCallSpan { first: self.last.saturating_add(1), count }
    }

    /// Returns until when results of calls that are made now are waited for.
    pub(crate) fn expiry(&self, now: Timestamp) -> Timestamp {
        now.after(self.answer_within.unwrap_or_default())
    }

    pub(crate) fn evolve(&mut self, event: &TapeEvent) {
        match event {
            TapeEvent::Run(RunEvent::ClientToolsOffered(offer)) => {
                self.answer_within = Some(offer.answer_within);
            }
            TapeEvent::Run(RunEvent::ClientToolsCalled(ClientToolsCalled { span, expires, .. })) => {
                self.last = span.end().saturating_sub(1);
                self.awaited = Some(AwaitedResults { span: *span, expires: *expires });
            }
            TapeEvent::Run(RunEvent::ClientToolsAnswered(_)) => self.awaited = None,
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }
}
