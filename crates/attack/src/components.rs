//! Components that mean harm (49 to 58): called as a daemon calls them, and by a host without limits.
//!
//! Read [`call`] first: each call happens in a process of its own, which tells what became of it. The control is
//! [`plain`], a host that gives everything.

mod call;
mod host;
mod held;
mod plain;
mod plain_files;
mod watched;

mod attempt;
mod reaching;

pub(crate) mod loops;
pub(crate) mod growth;
pub(crate) mod depth;
pub(crate) mod imports;
pub(crate) mod paths;
pub(crate) mod traps;
pub(crate) mod bombs;

pub use host::{INSIDE as COMPONENT_HOST, inside as call_component};
