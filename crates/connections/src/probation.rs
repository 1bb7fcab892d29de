//! Connections that have not shown a token yet: how long they may stay, and which of them makes way.
//!
//! Every user of this machine can connect to the TCP listener, so a connection alone is worth little. Invariant: at most
//! [`AdmissionLimits::newcomers_max`] connections are without a token, and when there are as many the oldest of the address
//! that has most of them makes way. Begin at [`NewcomerList::admit`].

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::closed_log::ClosedLog;
use crate::permit::{AdmissionLimits, ConnectionPermit};

/// The connections of one listener that have not shown a token.
#[derive(Debug)]
pub(crate) struct NewcomerList {
    /// In the order in which they came.
    waiting: Mutex<VecDeque<Arc<NewcomerState>>>,
    newcomers_max: usize,
    first_call_span: Duration,
    newcomer_span: Duration,
}

/// What a connection has shown of itself.
#[derive(Debug)]
pub struct NewcomerState {
    address: IpAddr,
    among: Weak<NewcomerList>,
    place: Mutex<Option<ConnectionPermit>>,
    called: AtomicBool,
    proven: AtomicBool,
    makes_way: CancellationToken,
}

impl NewcomerList {
    pub(crate) fn new(limits: AdmissionLimits) -> Self {
        // Half of the permits at most, so that there is room for those with a token.
        let newcomers_max = limits.newcomers_max.min(limits.connections_max.div_ceil(2)).max(1);
        let AdmissionLimits { first_call_span, newcomer_span, .. } = limits;
        Self { waiting: Mutex::default(), newcomers_max, first_call_span, newcomer_span }
    }

    /// Takes a connection in, which has its place until it leaves or has to make way.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, place: ConnectionPermit) -> Arc<NewcomerState> {
        let standing = Arc::new(NewcomerState {
            address,
            among: Arc::downgrade(self),
            place: Mutex::new(Some(place)),
            called: AtomicBool::new(false),
            proven: AtomicBool::new(false),
            makes_way: CancellationToken::new(),
        });
        self.waiting().push_back(Arc::clone(&standing));
        standing
    }

    /// Lets one make way where the limit is reached, or no permit is free; returns the permit it had.
    pub(crate) fn make_room(&self, permits_free: usize) -> Option<ConnectionPermit> {
        let mut waiting = self.waiting();
        if waiting.len() < self.newcomers_max && permits_free > 0 {
            return None;
        }
        let mut counts = BTreeMap::<IpAddr, usize>::new();
        for standing in &*waiting {
            *counts.entry(standing.address).or_default() += 1;
        }
        let most = counts.values().copied().max()?;
        let at = waiting.iter().position(|standing| counts.get(&standing.address) == Some(&most))?;
        let standing = waiting.remove(at)?;
        standing.makes_way.cancel();
        standing.take_permit()
    }

    fn remove(&self, gone: &NewcomerState) {
        self.waiting().retain(|standing| !std::ptr::eq(&**standing, gone));
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Arc<NewcomerState>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NewcomerState {
    /// Takes note of a call, with or without a token.
    pub fn note_call(&self) {
        self.called.store(true, Ordering::Relaxed);
    }

    /// Takes note of a call with a token that holds: the connection stays.
    pub fn prove(&self) {
        if !self.proven.swap(true, Ordering::Relaxed) {
            self.forget();
        }
    }

    /// The connection is gone.
    pub(crate) fn leave(&self) {
        self.forget();
        drop(self.take_permit());
    }

    fn forget(&self) {
        if let Some(among) = self.among.upgrade() {
            among.remove(self);
        }
    }

    fn take_permit(&self) -> Option<ConnectionPermit> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What is to become of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbationVerdict {
    /// It has time left.
    Goes,
    /// It has shown a token.
    Passed,
    /// It is closed.
    Over,
}

/// Watches over one connection until it has shown a token.
pub(crate) struct ProbationTimer {
    standing: Arc<NewcomerState>,
    closed: Arc<ClosedLog>,
    makes_way: Pin<Box<WaitForCancellationFutureOwned>>,
    deadline: Pin<Box<Sleep>>,
    /// Until when it may stay that has made some call.
    last: Instant,
}

impl ProbationTimer {
    pub(crate) fn new(standing: Arc<NewcomerState>, closed: Arc<ClosedLog>) -> Self {
        let spans = standing.among.upgrade().map(|among| (among.first_call_span, among.newcomer_span));
        let (first_call_span, newcomer_span) = spans.unwrap_or_default();
        let now = Instant::now();
        Self {
            makes_way: Box::pin(standing.makes_way.clone().cancelled_owned()),
            deadline: Box::pin(tokio::time::sleep_until(now + first_call_span)),
            last: now + newcomer_span,
            standing,
            closed,
        }
    }

    pub(crate) fn look(&mut self, context: &mut Context<'_>) -> ProbationVerdict {
        if self.makes_way.as_mut().poll(context).is_ready() {
            return ProbationVerdict::Over;
        }
        if self.standing.proven.load(Ordering::Relaxed) {
            return ProbationVerdict::Passed;
        }
        while let Poll::Ready(()) = self.deadline.as_mut().poll(context) {
            if !self.standing.called.load(Ordering::Relaxed) || self.deadline.deadline() >= self.last {
                self.closed.note_closed();
                return ProbationVerdict::Over;
            }
            self.deadline.as_mut().reset(self.last);
        }
        ProbationVerdict::Goes
    }
}
