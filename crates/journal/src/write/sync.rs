//! The locks of the queue. The tests compile the queue once more over locks that a scheduler drives.

pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
