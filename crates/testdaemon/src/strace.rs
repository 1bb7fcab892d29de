//! Faults at chosen system calls, by strace.
//!
//! strace counts for each thread and each kind of call apart, so that "the N-th call" has no meaning of its own
//! there. Here a call is known by its place in a [`CallRecording`] of an undisturbed run, and a [`Selector`] is
//! computed that strace, following the same run again, meets at that call first.

mod recording;
mod selector;
mod tracer;

pub use recording::{CallRecording, SystemCall};
pub use selector::{DATABASE_SYNC, FILE_SYNC, Selector};
pub use tracer::{AttachedTracer, InjectedFault, StraceTracer, is_there};
