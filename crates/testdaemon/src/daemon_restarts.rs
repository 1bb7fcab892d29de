//! The daemons of one house, one after the other.
//!
//! Owns when clients hear that another one serves, and how long that took after a death. Begin at
//! [`DaemonRestarts::through_one_death`].

use std::future::Future;
use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::sync::watch;

use crate::test_home::{DaemonChild, Programs, TestHome};
use crate::watch::ServingReceiver;

/// The daemons of one house.
pub(crate) struct DaemonRestarts<'a> {
    house: &'a TestHome,
    programs: &'a Programs,
    serving: watch::Sender<u32>,
    /// How long it took until another daemon answered, if one died.
    pub(crate) back_after: Option<Duration>,
}

impl<'a> DaemonRestarts<'a> {
    /// Begins before the first daemon; clients wait for what comes with it.
    pub(crate) fn in_house(house: &'a TestHome, programs: &'a Programs) -> (Self, ServingReceiver) {
        let (serving, seen) = watch::channel(0);
        (Self { house, programs, serving, back_after: None }, seen)
    }

    /// Tells clients that a daemon serves.
    pub(crate) fn tell(&self) {
        self.serving.send_modify(|count| *count += 1);
    }

    /// Starts the next daemon, which nothing disturbs.
    pub(crate) async fn again(&mut self) -> Result<DaemonChild> {
        let (daemon, _, took) = self.house.serve(self.programs).await?;
        self.back_after = Some(took);
        self.tell();
        Ok(daemon)
    }

    /// Waits for `work`, and replaces the daemon when it dies meanwhile.
    pub(crate) async fn through_one_death<T>(
        &mut self,
        mut daemon: DaemonChild,
        work: impl Future<Output = Result<T>>,
    ) -> Result<(T, DaemonChild)> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok((done?, daemon)),
                ended = daemon.ended() => {
                    ended?;
                    ensure!(self.back_after.is_none(), "the daemon died once more by itself");
                    daemon = self.again().await?;
                }
            }
        }
    }
}
