//! One run: the loop of decide, record, perform.
//!
//! Begin at [`actor`].

mod actor;

mod mailbox;

mod input_queue;

mod answer;

mod printing;

mod draft;

mod record;

mod perform;

mod context;

mod state;

mod call_evaluator;

mod references;

mod preview;

mod answering;

pub(crate) mod replay;

pub(crate) use actor::{LiveRun, spawn_run};
pub(crate) use call_evaluator::fresh_approval;
pub(crate) use mailbox::{
    ActorExit, DeliverReply, DeliveryReceipt, FinishedRun, InputData, RunAcceptance, RunCommand, RunExit,
    RunMailbox, RunSeed, StallKind,
};
pub(crate) use preview::preview_references;
