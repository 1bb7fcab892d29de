//! What enters a run actor, and how one leaves.

use palyra_context::prompt::PastRun;
use palyra_ports::{AppendError, Guard, NewEntry, ReadError};
use palyra_run_core::RunInput;
use palyra_types::access::ActorIdentity;
use palyra_types::attachment::Blob;
use palyra_types::client_tool::ClientToolOffer;
use palyra_types::event::RunStarted;
use palyra_types::run::RunLifecycleState;
use palyra_types::tool::Taints;
use palyra_types::{RunId, Seq, TapeSeq};
use tokio::sync::{mpsc, oneshot};

use crate::error::RequestError;

/// Commands waiting for one run actor.
pub(crate) const RUN_MAILBOX_MAX: usize = 256;

/// A caller's end of a run's mailbox.
pub(crate) type RunMailbox = mpsc::Sender<RunCommand>;

/// Where the result of a delivery goes.
pub(crate) type DeliverReply = oneshot::Sender<Result<DeliveryReceipt, RequestError>>;

/// A run after it took an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliveryReceipt {
    pub(crate) state: RunLifecycleState,
}

/// What comes with an input and is recorded beside its entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct InputData {
    /// Who acts, where a person or a program of theirs does.
    pub(crate) actor: Option<ActorIdentity>,
    /// The files of a person's input that are not text, as its attachments number them.
    pub(crate) blobs: Vec<Blob>,
}

impl InputData {
    /// Makes the data of an act without files.
    pub(crate) fn by(actor: ActorIdentity) -> Self {
        Self { actor: Some(actor), blobs: Vec::new() }
    }
}

/// Something for a run, and where to say what became of it.
pub(crate) struct RunCommand {
    pub(crate) input: RunInput,
    pub(crate) beside: InputData,
    pub(crate) reply: Option<DeliverReply>,
}

impl RunCommand {
    /// Makes a command that nobody waits for.
    pub(crate) fn without_reply(input: RunInput) -> Self {
        Self { input, beside: InputData::default(), reply: None }
    }

    /// Makes a command whose caller waits.
    pub(crate) fn with_reply(input: RunInput, beside: InputData, reply: DeliverReply) -> Self {
        Self { input, beside, reply: Some(reply) }
    }

    /// Tells the caller, if there is one.
    pub(crate) fn answer(self, result: Result<DeliveryReceipt, RequestError>) {
        answer_caller(self.reply, result);
    }
}

/// Says to a caller, if there is one, what became of a command.
pub(crate) fn answer_caller(reply: Option<DeliverReply>, result: Result<DeliveryReceipt, RequestError>) {
    if let Some(reply) = reply {
        // A caller that left does not want to know.
        let _ = reply.send(result);
    }
}

/// How a run actor gets its machine.
pub(crate) enum RunSeed {
    /// A run that does not exist yet: its first step accepts and begins it.
    Fresh(Box<RunAcceptance>, FirstCommitReply),
    /// A run whose tape is in the journal.
    Replayed(RunId),
}

/// What accepts a run: its first event, what comes before it, and on which conditions.
pub(crate) struct RunAcceptance {
    pub(crate) run: RunId,
    pub(crate) started: RunStarted,
    /// What its client offers in place of tools.
    pub(crate) client_tools: Option<ClientToolOffer>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) entries_before: Vec<NewEntry>,
    /// Who asked for it.
    pub(crate) actor: Option<ActorIdentity>,
    /// The files of its input that are not text, as its attachments number them.
    pub(crate) blobs: Vec<Blob>,
}

/// Told once the first commit of a run is durable, or refused.
pub(crate) type FirstCommitReply = oneshot::Sender<Result<FirstCommit, AppendError>>;

/// Where the first commit of a run lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstCommit {
    /// The place of the run's first entry.
    pub(crate) first_seq: Seq,
    /// The number of the last entry that came with it.
    pub(crate) upto: TapeSeq,
}

/// What a run actor leaves behind. One that is torn down with everything leaves without a word.
pub(crate) struct ActorExit {
    /// How it left.
    pub(crate) exit: RunExit,
    /// What came into its mailbox at the last moment.
    pub(crate) commands: Vec<RunCommand>,
}

/// A run that is over.
pub(crate) struct FinishedRun {
    pub(crate) past: PastRun,
    /// What it had read.
    pub(crate) taints: Taints,
}

/// How a run actor left.
pub(crate) enum RunExit {
    /// The run is over, and this is what later runs may see of it.
    Finished(FinishedRun),
    /// The run waits for a person: a row, no task.
    Waiting,
    /// Its first entry was refused: it does not exist.
    NotAccepted,
    /// The work on it panicked.
    Panicked,
    /// A read or an append failed; whoever goes on reads the tape again first.
    Stalled(StallKind),
}

/// How long a failure of the journal will last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StallKind {
    /// It may be over soon.
    Transient,
    /// Nothing helps but a new start.
    Fatal,
}

impl StallKind {
    pub(crate) fn of_append(error: &AppendError) -> Self {
        match error {
            AppendError::Quarantined
            | AppendError::Fenced
            | AppendError::Closed
            | AppendError::Invalid { .. } => Self::Fatal,
            AppendError::GuardFailed { .. }
            | AppendError::DiskFull
            | AppendError::Unknown
            | AppendError::Busy => Self::Transient,
        }
    }

    pub(crate) fn of_read(error: &ReadError) -> Self {
        match error {
            ReadError::Corrupt { .. } => Self::Fatal,
            ReadError::Busy | ReadError::Storage { .. } => Self::Transient,
        }
    }
}
