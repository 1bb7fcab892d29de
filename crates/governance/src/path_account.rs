//! One account on the path of a request, as the caller reads it in the transaction of the dispatch.
//!
//! Owns the comparison of one request with the limits of one budget. Knows no other account of the path.

use palyra_types::Timestamp;

use crate::account::{AccountEvent, BudgetAccount, OPEN_RESERVATIONS_MAX, WindowTotals};
use crate::budget::{AccountKey, BudgetDefinition, BudgetName, LimitAction};
use crate::limit_hit::{LimitCause, LimitHit};
use crate::time_window::WindowSpan;
use palyra_types::budget::{LimitMeasure, UsageAmount};
use palyra_types::budget::{ReservationRequest, TaskClass};

/// An account with its budget, at a time.
#[derive(Debug, Clone, Copy)]
pub struct PathAccount<'a> {
    /// The account's name.
    pub key: &'a AccountKey,
    /// The budget as it is defined now.
    pub definition: &'a BudgetDefinition,
    /// The account; an empty one when it has no events yet.
    pub account: &'a BudgetAccount,
    /// The window of the budget now, in the zone of the person whose budget it is.
    pub span: WindowSpan,
}

/// A soft limit that a reservation takes an account above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftLimitWarning {
    /// The budget.
    pub budget: BudgetName,
    /// The account.
    pub account: AccountKey,
    /// What the limit limits.
    pub measure: LimitMeasure,
    /// The limit.
    pub limit: u64,
    /// What is spent and reserved with this reservation, saturating.
    pub used: u64,
}

/// Usage of one kind in one measure: a part of an account beside its limit.
#[derive(Clone, Copy)]
struct UsedPart {
    spent: u64,
    /// Exact, so that no limit is passed by an overflow.
    reserved: u128,
    requested: u64,
}

impl UsedPart {
    fn sum(self) -> u128 {
        u128::from(self.spent) + self.reserved + u128::from(self.requested)
    }

    /// Returns what is reserved as people read it.
    fn reserved_shown(self) -> u64 {
        u64::try_from(self.reserved).unwrap_or(u64::MAX)
    }
}

impl PathAccount<'_> {
    /// Returns every limit that the request does not fit under; none when it fits.
    #[must_use]
    pub fn hits(&self, request: &ReservationRequest) -> Vec<LimitHit> {
        let mut hits = Vec::new();
        if request.price.is_none() && self.definition.limits_money() {
            hits.push(self.refusal(LimitCause::NoPrice, LimitMeasure::Money));
        }
        if self.account.open().len() >= OPEN_RESERVATIONS_MAX {
            hits.push(self.refusal(LimitCause::OpenReservations, LimitMeasure::Requests));
        }
        for measure in LimitMeasure::ALL {
            hits.extend(self.hard_hit(request, measure));
            if request.id.class == TaskClass::Auxiliary {
                hits.extend(self.share_hit(request, measure));
            }
        }
        hits
    }

    /// Returns the events of the reservation, for an account into which the request fits.
    #[must_use]
    pub(crate) fn reservation_events(&self, request: &ReservationRequest) -> Vec<AccountEvent> {
        let reserved = AccountEvent::Reserved { request: *request };
        let warnings = self.warnings(request).into_iter();
        let passed = warnings.map(|warning| AccountEvent::SoftLimitPassed { measure: warning.measure });
        self.account.opening(self.span).into_iter().chain([reserved]).chain(passed).collect()
    }

    /// Returns the soft limits that the request takes the account above for the first time in its window. A call beside a run
    /// passes none: no tape has room for the note, and the next request of a run gets it.
    #[must_use]
    pub(crate) fn warnings(&self, request: &ReservationRequest) -> Vec<SoftLimitWarning> {
        if request.id.class == TaskClass::Auxiliary {
            return Vec::new();
        }
        let totals = self.totals();
        let mut warnings = Vec::new();
        for measure in LimitMeasure::ALL {
            let used = self.used(request, measure).sum();
            if let Some(limit) = self.definition.soft.of(measure)
                && used > u128::from(limit)
                && !totals.is_warned(measure)
            {
                let used = u64::try_from(used).unwrap_or(u64::MAX);
                let budget = self.definition.name.clone();
                let account = *self.key;
                warnings.push(SoftLimitWarning { budget, account, measure, limit, used });
            }
        }
        warnings
    }

    fn totals(&self) -> WindowTotals {
        self.account.totals_in(self.span)
    }

    fn used(&self, request: &ReservationRequest, measure: LimitMeasure) -> UsedPart {
        UsedPart {
            spent: self.totals().spent.of(measure),
            reserved: self.account.reserved_in(measure),
            requested: request.amount().of(measure),
        }
    }

    /// Returns the hard limit in a measure with what the window was topped up by.
    fn hard_limit(&self, measure: LimitMeasure) -> Option<u64> {
        let topped_up = self.totals().topped_up.of(measure);
        self.definition.hard.of(measure).map(|hard| hard.saturating_add(topped_up))
    }

    fn hard_hit(&self, request: &ReservationRequest, measure: LimitMeasure) -> Option<LimitHit> {
        let limit = self.hard_limit(measure)?;
        let used = self.used(request, measure);
        (used.sum() > u128::from(limit)).then(|| {
            // Waiting does not help a request that an empty account has no room for.
            let fits_later = self.definition.hard.of(measure).is_some_and(|hard| used.requested <= hard);
            LimitHit {
                budget: self.definition.name.clone(),
                account: *self.key,
                cause: LimitCause::HardLimit,
                measure,
                limit,
                spent: used.spent,
                reserved: used.reserved_shown(),
                requested: used.requested,
                resets: self.resets().filter(|_| fits_later),
                action: match request.id.class {
                    // No run waits for a title: it goes on without, and waits at its own next request.
                    TaskClass::Auxiliary => LimitAction::Refuse,
                    TaskClass::Interactive | TaskClass::Background => self.definition.at_limit,
                },
            }
        })
    }

    fn share_hit(&self, request: &ReservationRequest, measure: LimitMeasure) -> Option<LimitHit> {
        let limit = self.definition.auxiliary_part(self.hard_limit(measure)?);
        let used = UsedPart {
            spent: self.totals().auxiliary_spent.of(measure),
            reserved: self.account.auxiliary_reserved_in(measure),
            requested: request.amount().of(measure),
        };
        (used.sum() > u128::from(limit)).then(|| LimitHit {
            budget: self.definition.name.clone(),
            account: *self.key,
            cause: LimitCause::AuxiliaryShare,
            measure,
            limit,
            spent: used.spent,
            reserved: used.reserved_shown(),
            requested: used.requested,
            resets: self.resets(),
            action: LimitAction::Refuse,
        })
    }

    /// Returns a hit that no waiting and no higher limit helps.
    fn refusal(&self, cause: LimitCause, measure: LimitMeasure) -> LimitHit {
        LimitHit {
            budget: self.definition.name.clone(),
            account: *self.key,
            cause,
            measure,
            limit: self.hard_limit(measure).unwrap_or(u64::MAX),
            spent: self.totals().spent.of(measure),
            reserved: self.account.reserved().of(measure),
            requested: 0,
            resets: None,
            action: LimitAction::Refuse,
        }
    }

    /// Returns when the account begins again. After a clock was set back, that is the end of the later window, which is the
    /// current one.
    fn resets(&self) -> Option<Timestamp> {
        let current = self.totals().span.unwrap_or(self.span);
        WindowSpan { start: current.start, end: current.end.max(self.span.end) }.resets()
    }

    /// Returns the amounts by which limits have to be higher so that the request fits; `None` when that does not help.
    #[must_use]
    pub(crate) fn missing(&self, request: &ReservationRequest) -> Option<UsageAmount> {
        let hits = self.hits(request);
        if hits.iter().any(|hit| hit.cause != LimitCause::HardLimit) {
            return None;
        }
        Some(hits.iter().fold(UsageAmount::ZERO, |missing, hit| missing.with(hit.measure, hit.shortfall())))
    }
}

#[cfg(test)]
mod tests;
