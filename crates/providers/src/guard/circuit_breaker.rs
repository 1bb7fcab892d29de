//! Decides whether a provider is asked at all.
//!
//! Closed: everybody is admitted, and failures in a row are counted. Open: nobody, until a span has passed.
//! Half open: one request, the probe, finds out. Knows no clock and no provider: the time comes in, outcomes
//! come in. Invariants: while open nobody is admitted; while half open one at most; what was admitted before
//! the last change of state no longer counts.

use std::time::Duration;

use palyra_ports::ProviderHealth;
use palyra_types::BootTime;
use palyra_types::model::ModelFailureClass;

/// The breaker.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    failures_max: u32,
    open_span: Duration,
    state: BreakerState,
    /// Grows with every change of state.
    era: u64,
    /// How the provider last failed, for people; nothing is decided by it. Its words are not kept: they may
    /// quote a request of somebody else's.
    last_failure: Option<ModelFailureClass>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BreakerState {
    Closed { failures: u32 },
    Open { until: BootTime },
    HalfOpen,
}

/// Permission to ask; returned with [`CircuitBreaker::settle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) struct BreakerTicket {
    era: u64,
}

/// What a request told about its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthSign {
    /// It works, even if it refused this request.
    Alive,
    /// It does not work for the moment.
    Down,
    /// Nothing: the request was dropped, or its answer was senseless.
    Unclear,
}

impl HealthSign {
    /// Returns what a failure tells.
    pub(crate) fn of(class: ModelFailureClass) -> Self {
        match class {
            ModelFailureClass::Transient | ModelFailureClass::Network | ModelFailureClass::Timeout => {
                Self::Down
            }
            ModelFailureClass::Auth
            | ModelFailureClass::Permission
            | ModelFailureClass::RateLimit
            | ModelFailureClass::Quota
            | ModelFailureClass::Permanent
            | ModelFailureClass::ContextExceeded
            | ModelFailureClass::ContentPolicy => Self::Alive,
            ModelFailureClass::Malformed => Self::Unclear,
        }
    }
}

impl CircuitBreaker {
    /// Makes a closed breaker that opens after so many failures in a row, for so long.
    pub(crate) fn new(failures_max: u32, open_span: Duration) -> Self {
        let state = BreakerState::Closed { failures: 0 };
        Self { failures_max: failures_max.max(1), open_span, state, era: 0, last_failure: None }
    }

    /// Remembers how a request failed, if that speaks against the provider.
    pub(crate) fn remember(&mut self, class: ModelFailureClass) {
        if HealthSign::of(class) == HealthSign::Down {
            self.last_failure = Some(class);
        }
    }

    /// Returns how the provider failed last.
    pub(crate) fn last_failure(&self) -> Option<ModelFailureClass> {
        self.last_failure
    }

    /// Returns how long nobody will be admitted; `None` when somebody may be now. Changes nothing.
    pub(crate) fn refusal(&self, now: BootTime) -> Option<Duration> {
        match self.state {
            BreakerState::Closed { .. } => None,
            BreakerState::Open { until } => (now < until).then(|| until.since(now)),
            // The probe will tell; it may take as long as it takes.
            BreakerState::HalfOpen => Some(Duration::ZERO),
        }
    }

    /// Returns whether the provider answers, as far as its requests tell. Changes nothing.
    pub(crate) fn health(&self, now: BootTime) -> ProviderHealth {
        match (self.state, self.refusal(now)) {
            (_, Some(rest)) => ProviderHealth::Paused { rest },
            (BreakerState::Closed { failures: 0 }, None) => ProviderHealth::Healthy,
            (BreakerState::Closed { .. } | BreakerState::Open { .. } | BreakerState::HalfOpen, None) => {
                ProviderHealth::Degraded
            }
        }
    }

    /// Ends a pause before its time: the next request is the probe.
    pub(crate) fn end_pause(&mut self, now: BootTime) {
        if let BreakerState::Open { until } = &mut self.state {
            *until = now;
        }
    }

    /// Admits a request.
    ///
    /// # Errors
    /// How long to wait before the next try.
    pub(crate) fn admit(&mut self, now: BootTime) -> Result<BreakerTicket, Duration> {
        if let Some(rest) = self.refusal(now) {
            return Err(rest);
        }
        if matches!(self.state, BreakerState::Open { .. }) {
            self.turn(BreakerState::HalfOpen);
        }
        Ok(BreakerTicket { era: self.era })
    }

    /// Takes what an admitted request told, and its ticket back.
    pub(crate) fn settle(&mut self, ticket: BreakerTicket, sign: HealthSign, now: BootTime) {
        if ticket.era != self.era {
            return;
        }
        let until = now.after(self.open_span);
        match (self.state, sign) {
            (BreakerState::Closed { failures }, HealthSign::Down) if failures + 1 >= self.failures_max => {
                self.turn(BreakerState::Open { until });
            }
            (BreakerState::Closed { failures }, HealthSign::Down) => {
                self.state = BreakerState::Closed { failures: failures + 1 };
            }
            (BreakerState::Closed { .. }, HealthSign::Alive) => {
                self.state = BreakerState::Closed { failures: 0 }
            }
            (BreakerState::Closed { .. }, HealthSign::Unclear) => {}
            (BreakerState::HalfOpen, HealthSign::Alive) => self.turn(BreakerState::Closed { failures: 0 }),
            (BreakerState::HalfOpen, HealthSign::Down) => self.turn(BreakerState::Open { until }),
            // Nothing was found out: the next request is the probe.
            (BreakerState::HalfOpen, HealthSign::Unclear) => self.turn(BreakerState::Open { until: now }),
            // No ticket is of an era in which nobody is admitted.
            (BreakerState::Open { .. }, _) => {}
        }
    }

    /// Takes a first sign of life of a request that goes on, and gives it a ticket for its end: others need
    /// not wait until a long answer is over.
    pub(crate) fn speaks(&mut self, ticket: BreakerTicket, now: BootTime) -> BreakerTicket {
        if self.state == BreakerState::HalfOpen && ticket.era == self.era {
            self.settle(ticket, HealthSign::Alive, now);
            return BreakerTicket { era: self.era };
        }
        ticket
    }

    fn turn(&mut self, state: BreakerState) {
        self.state = state;
        self.era += 1;
    }
}

#[cfg(test)]
mod tests;
