//! Functions of a client, as the tape of a run tells: offered before they are called, answered once, and asked of no tool.

use palyra_types::client_tool::ClientCallSpan;
use palyra_types::event::{ModelEvent, RunEvent, TapeEvent};
use palyra_types::tape::OrchestratorTapeRecord;

/// What one tape says so far.
#[derive(Debug, Default)]
pub(super) struct ClientCallCheck {
    offered: bool,
    awaited: Option<ClientCallSpan>,
    called: u32,
}

impl ClientCallCheck {
    /// Takes the next entry; returns what is wrong with it.
    pub(super) fn take(&mut self, record: &OrchestratorTapeRecord) -> Option<String> {
        let run = record.run;
        match &record.event {
            TapeEvent::Run(RunEvent::ClientToolsOffered(_)) => self.offered = true,
            TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => {
                let first = self.called.saturating_add(1);
                let fits = self.offered && called.span.first == first && called.span.count > 0;
                if !fits || self.awaited.is_some() {
                    return Some(format!(
                        "tape {run} calls functions of its client out of place: {:?}",
                        called.span
                    ));
                }
                self.called = called.span.end().saturating_sub(1);
                self.awaited = Some(called.span);
            }
            TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) => {
                if self.awaited.take() != Some(answered.span) {
                    return Some(format!(
                        "tape {run} takes results that it does not wait for: {:?}",
                        answered.span
                    ));
                }
            }
            TapeEvent::Model(ModelEvent::Requested(_)) if self.awaited.is_some() => {
                return Some(format!("tape {run} asks a model while results of its client are awaited"));
            }
            TapeEvent::Tool(_) if self.offered => {
                return Some(format!("tape {run} has a tool call beside functions of its client"));
            }
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
        None
    }
}
