//! Rebuilds a run from its tape.

use palyra_ports::ReadError;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::{RunId, TapeSeq};

use crate::run::state::AgentRunLoopState;
use crate::run_context::RunContext;

/// Reads a run's whole tape and folds it.
///
/// # Errors
/// [`ReadError::Corrupt`] when the tape is empty or has a gap.
pub(crate) async fn replay(run_context: &RunContext, run: RunId) -> Result<AgentRunLoopState, ReadError> {
    let mut state: Option<AgentRunLoopState> = None;
    let mut last = TapeSeq::default();
    loop {
        let page = run_context.ports.tapes.tape(run, last, MAX_TAPE_ENTRIES_PER_RESPONSE).await?;
        for entry in &page.entries {
            if entry.tape_seq != last.next() {
                return Err(ReadError::Corrupt { seq: entry.seq.0 });
            }
            last = entry.tape_seq;
            let state =
                state.get_or_insert_with(|| AgentRunLoopState::new(run, entry.session, entry.principal));
            state.take(&entry.event, entry.time, entry.seq);
        }
        if page.more == MoreEntries::None {
            return state.ok_or(ReadError::Corrupt { seq: 0 });
        }
    }
}
