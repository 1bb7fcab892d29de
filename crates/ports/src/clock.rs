//! Asking for the time, and waiting for it.

use futures::future::BoxFuture;
use palyra_types::{BootTime, Timestamp};

/// The only source of time.
pub trait Clock: Send + Sync {
    /// Returns the wall-clock time; it may jump.
    fn wall(&self) -> Timestamp;

    /// Returns the time since the machine started; it never jumps.
    fn boot(&self) -> BootTime;

    /// Resolves at `deadline`, at once if it has passed.
    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()>;

    /// Resolves when the wall clock is set after this call. A clock that cannot notice it never resolves.
    fn wall_set(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}
