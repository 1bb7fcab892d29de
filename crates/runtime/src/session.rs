//! Conversations: resolved, opened, branched, reset, archived; one active run at a time, the rest wait in order.
//!
//! Begin at [`SessionsHandle::submit`].

pub(crate) mod prepared;

mod handle;

mod admission;

pub(crate) mod client_tools;

mod resolve;

pub(crate) mod branch;

mod directory;

mod admitted;

mod appends;

mod deliveries;

mod actor;

mod repeated;

pub(crate) mod steering;

mod loaded;

mod compactions;

pub use compactions::SessionCompactions;
pub use handle::SessionsHandle;
pub(crate) use loaded::needs_driving;
pub use palyra_attachments::session_request as request;
pub use palyra_attachments::{AdmitFilesError, IncomingFile, check_sizes};
pub use request::{
    AdmissionKind, BranchRequest, CleanedSession, ClientResultsRequest, ExistingSession, InputReach,
    InputRequest, ResetMode, ResolvedSession, SessionChange, SessionSelector, SubmitReceipt, SubmitRequest,
};
