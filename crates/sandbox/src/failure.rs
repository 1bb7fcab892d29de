//! A step that failed while a program was about to be held.
//!
//! Owns the stage's name, by which the daemon tells what to refuse, and nothing of what to do about it.

use std::io;

use crate::message::KeeperEvent;

/// A step that failed, for the refusal.
#[derive(Debug)]
pub(crate) struct StepFailure {
    pub(crate) stage: &'static str,
    pub(crate) cause: io::Error,
}

impl StepFailure {
    pub(crate) fn at<E: Into<io::Error>>(stage: &'static str) -> impl FnOnce(E) -> Self {
        move |cause| Self { stage, cause: cause.into() }
    }

    pub(crate) fn keeper_event(&self) -> KeeperEvent {
        KeeperEvent::Failed {
            stage: self.stage.to_owned(),
            errno: self.cause.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}
