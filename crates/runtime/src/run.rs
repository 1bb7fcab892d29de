//! One run: the loop of decide, record, perform.
//!
//! Begin at [`actor`].

mod actor;

mod mailbox;

mod held;

mod answer;

mod printing;

mod draft;

mod record;

mod perform;

mod context;

mod state;

mod judging;

mod answering;

pub(crate) mod replay;

pub(crate) use actor::{Earlier, LiveRun, spawn_run};
pub(crate) use judging::fresh_approval;
pub(crate) use mailbox::{
    DeliverReply, Delivered, FinishedRun, Left, RunAcceptance, RunCommand, RunExit, RunMailbox, RunSeed,
    Stall,
};
