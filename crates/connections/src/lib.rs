//! Admission of accepted connections, the same for every listener: permits, probation of those without a token, and one
//! log line for many that were closed.
//!
//! Knows no protocol and reads no byte. Invariant: connections without a token never keep one with a token out.
//! Begin at [`ConnectionAdmission`].

mod admission;
mod permit;

mod probation;
mod closed_log;

pub use admission::{AdmittedConnection, ConnectionAdmission};
pub use closed_log::ClosedLog;
pub use permit::{AdmissionLimits, ConnectionPermit};
pub use probation::NewcomerState;
