//! Admission of accepted connections, the same for every listener: permits, probation of those without a token, and one
//! log line for many that were closed.
//!
//! Knows no protocol and reads no byte. Invariant: connections without a token never keep one with a token out.
//! Begin at [`ConnectionAdmission`].

mod admission;

mod probation;
mod closed_log;

pub use admission::{AdmissionLimits, AdmittedConnection, ConnectionAdmission, ConnectionPermit};
pub use closed_log::ClosedLog;
pub use probation::NewcomerState;
