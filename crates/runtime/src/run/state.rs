//! A run as far as its tape tells: the machine, the transcript, and how it was started.

use std::sync::Arc;

use jiff::tz::TimeZone;
use palyra_context::prompt::PastRun;
use palyra_context::transcript::Transcript;
use palyra_run_core::RunStateMachine;
use palyra_types::client_tool::ClientToolOffer;
use palyra_types::event::{RunEvent, RunStarted, TapeEvent};
use palyra_types::{PrincipalId, RunId, Seq, SessionId, Timestamp};

use crate::run::mailbox::FinishedRun;

/// Everything that replaying a tape yields.
#[derive(Debug, Clone)]
pub(crate) struct AgentRunLoopState {
    pub(crate) machine: RunStateMachine,
    pub(crate) transcript: Transcript,
    pub(crate) started: Option<RunStarted>,
    /// What its client offered last.
    pub(crate) client_tools: Option<Arc<ClientToolOffer>>,
    pub(crate) first_seq: Option<Seq>,
    pub(crate) last_seq: Seq,
}

impl AgentRunLoopState {
    pub(crate) fn new(run: RunId, session: SessionId, principal: PrincipalId) -> Self {
        Self {
            machine: RunStateMachine::new(run, session, principal),
            transcript: Transcript::new(run),
            started: None,
            client_tools: None,
            first_seq: None,
            last_seq: Seq::default(),
        }
    }

    /// Takes one committed entry into account.
    pub(crate) fn take(&mut self, event: &TapeEvent, time: Timestamp, seq: Seq) {
        self.machine.evolve(event, time);
        self.remember(event, time, seq);
    }

    /// Takes one committed entry into account that the machine already knows.
    pub(crate) fn remember(&mut self, event: &TapeEvent, time: Timestamp, seq: Seq) {
        self.transcript.push(event, time);
        self.first_seq.get_or_insert(seq);
        self.last_seq = seq;
        if let TapeEvent::Run(RunEvent::Started(started)) = event {
            self.started = Some(started.clone());
        } else if let TapeEvent::Run(RunEvent::ClientToolsOffered(offer)) = event {
            self.client_tools = Some(Arc::new(offer.clone()));
        }
    }

    /// Returns what later runs may see of this one.
    pub(crate) fn finished_run(&self, zone: &TimeZone) -> FinishedRun {
        let first_seq = self.first_seq.unwrap_or_default();
        let ended = self.last_seq;
        let messages = self.transcript.messages(zone).into();
        FinishedRun { past: PastRun { first_seq, ended, messages }, taints: self.machine.taints() }
    }
}
