//! What enters a run actor, and how one leaves.

use palyra_ports::{AppendError, Guard, NewEntry};
use palyra_run_core::RunInput;
use palyra_run_core::prompt::PastRun;
use palyra_types::RunId;
use palyra_types::event::RunStarted;
use palyra_types::run::RunLifecycleState;
use tokio::sync::{mpsc, oneshot};

use crate::error::RequestError;

/// Commands waiting for one run actor.
pub(crate) const RUN_MAILBOX_MAX: usize = 256;

/// A caller's end of a run's mailbox.
pub(crate) type RunMailbox = mpsc::Sender<RunCommand>;

/// Where the result of a delivery goes.
pub(crate) type DeliverReply = oneshot::Sender<Result<Delivered, RequestError>>;

/// A run after it took an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered {
    pub(crate) state: RunLifecycleState,
}

/// Something for a run, and where to say what became of it.
pub(crate) struct RunCommand {
    pub(crate) input: RunInput,
    pub(crate) reply: Option<DeliverReply>,
}

impl RunCommand {
    /// Makes a command that nobody waits for.
    pub(crate) fn told(input: RunInput) -> Self {
        Self { input, reply: None }
    }

    /// Tells the caller, if there is one.
    pub(crate) fn answer(self, result: Result<Delivered, RequestError>) {
        if let Some(reply) = self.reply {
            // A caller that left does not want to know.
            let _ = reply.send(result);
        }
    }
}

/// How a run actor gets its machine.
pub(crate) enum RunSeed {
    /// A run that does not exist yet: its first step accepts and begins it.
    Fresh(Box<Acceptance>, TellAccepted),
    /// A run whose tape is in the journal.
    Replayed(RunId),
}

/// What accepts a run: its first event, what comes before it, and on which conditions.
pub(crate) struct Acceptance {
    pub(crate) run: RunId,
    pub(crate) started: RunStarted,
    pub(crate) guards: Vec<Guard>,
    pub(crate) entries_before: Vec<NewEntry>,
}

/// Called once the first commit of a run is durable, or refused.
pub(crate) type TellAccepted = Box<dyn FnOnce(Result<(), AppendError>) + Send>;

/// How a run actor left. One that panicked leaves without a word.
pub(crate) enum RunExit {
    /// The run is over, and this is what later runs may see of it.
    Finished(PastRun),
    /// The run waits for a person: a row, no task.
    Waiting,
    /// Its first entry was refused: it does not exist.
    NotAccepted,
    /// The journal takes nothing more; the next start goes on.
    Stalled,
}
