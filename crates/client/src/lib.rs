//! A typed client of the daemon: finds it or starts it, calls it, and follows runs across its restarts.
//!
//! Owns where a client looks for a daemon, what counts as the same build, and how a lost stream is taken
//! up again. Knows no terminal and prints nothing: what a person may want to know leaves as a [`DaemonNotice`].
//!
//! Invariant: a [`RunFollower`] yields each entry of a run's tape once and in order, or ends with an error.
//! Begin at [`Client::connect`].

mod error;
mod notice;
mod options;
mod listener_owner;

mod transport;
mod find;
mod followed_log;

mod client;
mod input_reach;
mod calls;
mod heads;
mod follow;

pub use calls::{
    ActiveRun, ApprovalWatch, AskProviders, ExportedApprovals, ExportedParts, JournalStep, JournalWatch,
    NotificationWatch, OperationMessages, PolicyDiffStep, ProvedEntry, WatchedApproval,
};
pub use client::Client;
pub use error::{ClientError, LogTail, ReplacementTerms};
pub use find::{FolderWatch, NO_OTHER_STARTS, build_id_of, read_lock_record};
pub use follow::{FollowEvent, RunFollower, new_idempotency_key};
pub use followed_log::FollowedLog;
pub use heads::GivenUpHead;
pub use input_reach::InputReach;
pub use notice::{DaemonNotice, KeptEntries, NoticeSink};
pub use options::{
    ConnectOptions, DaemonTarget, ModelFingerprint, OwnModel, StartPolicy, TcpAddress, UnnamedFingerprint,
};
