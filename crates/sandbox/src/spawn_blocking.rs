//! Work that blocks and that nobody waits for.
//!
//! Owns where it is done: never on a thread that drives futures.

/// Does it where blocking is allowed: elsewhere inside of a runtime, else here.
pub(crate) fn spawn_blocking(work: impl FnOnce() + Send + 'static) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(work)),
        Err(_outside) => work(),
    }
}
