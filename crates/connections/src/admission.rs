//! Permits of one listener, and who gets them.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Context;

use tokio::sync::{Semaphore, watch};

use crate::closed_log::ClosedLog;
use crate::permit::{AdmissionLimits, ConnectionPermit};
use crate::probation::{NewcomerList, NewcomerState, ProbationTimer, ProbationVerdict};

/// Admits the connections of one listener.
#[derive(Debug)]
pub struct ConnectionAdmission {
    permits: Arc<Semaphore>,
    open: watch::Sender<usize>,
    newcomers: Arc<NewcomerList>,
    closed: Arc<ClosedLog>,
}

impl ConnectionAdmission {
    /// Makes one; `open` counts the connections that have a permit.
    #[must_use]
    pub fn new(limits: AdmissionLimits, open: watch::Sender<usize>) -> Self {
        let permits = Arc::new(Semaphore::new(limits.connections_max));
        Self { permits, open, newcomers: Arc::new(NewcomerList::new(limits)), closed: Arc::default() }
    }

    /// Returns a permit for a connection whose other end the kernel names; `None` when there is none left.
    #[must_use]
    pub fn admit_known(&self) -> Option<ConnectionPermit> {
        let permit = self.free_permit();
        if permit.is_none() {
            self.closed.note_closed();
        }
        permit
    }

    /// Admits a connection over TCP. One without a token makes way for the next when there are too many, so that clients
    /// that only connect keep no other client out.
    #[must_use]
    pub fn admit(&self, address: IpAddr) -> Option<AdmittedConnection> {
        let permit = match self.newcomers.make_room(self.permits.available_permits()) {
            Some(permit) => {
                self.closed.note_closed();
                permit
            }
            None => self.admit_known()?,
        };
        let state = self.newcomers.admit(address, permit);
        let timer = ProbationTimer::new(Arc::clone(&state), Arc::clone(&self.closed));
        Some(AdmittedConnection { state, timer: Some(timer) })
    }

    /// Returns how many further connections would get a permit.
    #[must_use]
    pub fn free_permits(&self) -> usize {
        self.permits.available_permits()
    }

    /// Returns the log of connections that were closed or could not be accepted.
    #[must_use]
    pub fn closed(&self) -> &ClosedLog {
        &self.closed
    }

    fn free_permit(&self) -> Option<ConnectionPermit> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        Some(ConnectionPermit::new(permit, self.open.clone()))
    }
}

/// A connection over TCP that was admitted: on probation until it has shown a token.
pub struct AdmittedConnection {
    state: Arc<NewcomerState>,
    timer: Option<ProbationTimer>,
}

impl AdmittedConnection {
    /// Returns what the calls of the connection report to.
    #[must_use]
    pub fn state(&self) -> &Arc<NewcomerState> {
        &self.state
    }

    /// Looks whether the connection may go on, and has the task woken when that may change.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] once it has shown no token in time or has to make way.
    pub fn watch(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(timer) = &mut self.timer else { return Ok(()) };
        match timer.look(context) {
            ProbationVerdict::Goes => Ok(()),
            ProbationVerdict::Over => Err(io::ErrorKind::TimedOut.into()),
            ProbationVerdict::Passed => {
                self.timer = None;
                Ok(())
            }
        }
    }
}

impl Drop for AdmittedConnection {
    fn drop(&mut self) {
        self.state.leave();
    }
}
