//! How a reservation ends: the charge for a request, with honest, missing and absurd reports of its provider.
//!
//! Owns the bound on reported usage, and that an answer without usage is charged as reserved. Knows no account. Begin at
//! [`RequestOutcome::end`].

pub(crate) use palyra_types::budget::{ChargeBasis, SettledCharge};
use palyra_types::model::{ModelFailureClass, TokenUsage, UsageSource};

use palyra_types::budget::ReservationRequest;
use palyra_types::budget::UsageAmount;

/// A request is charged at most so many times its reservation. So a provider that reports absurd usage takes an account
/// above its limit by at most the reservations in flight; the rest of its report is recorded, not charged.
pub const CHARGE_MULTIPLE_MAX: u64 = 2;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The provider began to answer: completely or not, and with the usage that it reported, if any.
    Answered {
        /// The usage. One that we estimated counts like none.
        usage: Option<TokenUsage>,
    },
    /// The provider refused it before it did any work: a credential, a rate limit, a malformed request.
    Refused,
    /// It never left the daemon.
    NotSent,
    /// The daemon ended, or the deadline passed, and the outcome is unknown.
    Lost,
}

/// How far an answer had come when its request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnswerProgress {
    /// Nothing of it had arrived.
    Nothing,
    /// A part had arrived: text, reasoning or a call.
    Begun,
}

/// The end of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReservationEnd {
    /// It is charged.
    Charge(SettledCharge),
    /// It is given back as a whole.
    Release,
}

impl RequestOutcome {
    /// Returns the outcome of a request that was sent and failed.
    ///
    /// A refusal with a class of its own is believed as long as nothing of an answer arrived. After silence, a broken
    /// connection or an unreadable answer the provider may have worked, so the request counts as one without usage.
    #[must_use]
    pub fn of_failure(class: ModelFailureClass, progress: AnswerProgress) -> Self {
        use ModelFailureClass as Class;
        match (progress, class) {
            (
                AnswerProgress::Nothing,
                Class::Auth
                | Class::Permission
                | Class::RateLimit
                | Class::Quota
                | Class::Transient
                | Class::Permanent
                | Class::ContextExceeded,
            ) => Self::Refused,
            (
                AnswerProgress::Nothing,
                Class::ContentPolicy | Class::Malformed | Class::Network | Class::Timeout,
            )
            | (AnswerProgress::Begun, _) => Self::Answered { usage: None },
        }
    }

    /// Returns how the reservation of `request` ends, by the price of the time of its dispatch.
    #[must_use]
    pub fn end(&self, request: &ReservationRequest) -> ReservationEnd {
        match self {
            Self::Answered { usage } => ReservationEnd::Charge(answered(request, *usage)),
            Self::Lost => ReservationEnd::Charge(as_reserved(request, ChargeBasis::LostRequest)),
            Self::Refused => ReservationEnd::Charge(SettledCharge {
                charged: UsageAmount { requests: 1, ..UsageAmount::ZERO },
                above_reservation: UsageAmount::ZERO,
                not_charged: UsageAmount::ZERO,
                basis: ChargeBasis::RefusedRequest,
            }),
            Self::NotSent => ReservationEnd::Release,
        }
    }
}

fn answered(request: &ReservationRequest, usage: Option<TokenUsage>) -> SettledCharge {
    let counted = usage.filter(|usage| usage.source == UsageSource::Reported);
    match counted.map(|usage| reported(request, &usage)) {
        // An answer without a token is a report that is missing.
        Some(amount) if amount.tokens > 0 => bounded(request, amount),
        Some(_) | None => as_reserved(request, ChargeBasis::Reservation),
    }
}

fn reported(request: &ReservationRequest, usage: &TokenUsage) -> UsageAmount {
    UsageAmount {
        tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        money: request.price.map(|quote| quote.prices.cost(usage)).unwrap_or_default(),
        requests: 1,
    }
}

fn bounded(request: &ReservationRequest, reported: UsageAmount) -> SettledCharge {
    let reserved = request.amount();
    let charged = reported.at_most(reserved.times(CHARGE_MULTIPLE_MAX));
    SettledCharge {
        charged,
        above_reservation: charged.minus(reserved),
        not_charged: reported.minus(charged),
        basis: ChargeBasis::ReportedUsage,
    }
}

fn as_reserved(request: &ReservationRequest, basis: ChargeBasis) -> SettledCharge {
    SettledCharge {
        charged: request.amount(),
        above_reservation: UsageAmount::ZERO,
        not_charged: UsageAmount::ZERO,
        basis,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{reported_usage, reservation};
    use palyra_types::budget::MoneyAmount;

    /// Reserves 1,200 tokens for 1,400 millionths: input costs 1, output 2 a token.
    fn request() -> ReservationRequest {
        reservation(1, 1_000, 200)
    }

    fn charge(usage: Option<TokenUsage>) -> SettledCharge {
        match (RequestOutcome::Answered { usage }).end(&request()) {
            ReservationEnd::Charge(charge) => charge,
            ReservationEnd::Release => panic!("an answer is charged"),
        }
    }

    fn amount(tokens: u64, money: u64) -> UsageAmount {
        UsageAmount { tokens, money: MoneyAmount(money), requests: 1 }
    }

    #[test]
    fn honest_usage_is_charged_and_the_rest_given_back() {
        let charge = charge(Some(reported_usage(900, 100)));
        assert_eq!(charge.charged, amount(1_000, 1_100));
        assert_eq!((charge.above_reservation, charge.not_charged), (UsageAmount::ZERO, UsageAmount::ZERO));
        assert_eq!(charge.basis, ChargeBasis::ReportedUsage);
    }

    #[test]
    fn usage_that_never_arrived_is_charged_as_reserved() {
        let estimated = TokenUsage { source: UsageSource::Estimated, ..reported_usage(1, 1) };
        for usage in [None, Some(reported_usage(0, 0)), Some(estimated)] {
            let charge = charge(usage);
            assert_eq!((charge.charged, charge.basis), (amount(1_200, 1_400), ChargeBasis::Reservation));
        }
        let lost = RequestOutcome::Lost.end(&request());
        assert!(matches!(lost, ReservationEnd::Charge(charge) if charge.charged == amount(1_200, 1_400)));
    }

    #[test]
    fn usage_above_the_reservation_is_charged_up_to_the_bound_and_recorded() {
        let some_more = charge(Some(reported_usage(1_500, 200)));
        assert_eq!(some_more.charged, amount(1_700, 1_900));
        assert_eq!(some_more.above_reservation.tokens, 500);
        assert_eq!(some_more.not_charged, UsageAmount::ZERO);

        let triple = charge(Some(reported_usage(3_000, 600)));
        assert_eq!(triple.charged, amount(2_400, 2_800));
        let above = UsageAmount { requests: 0, ..amount(1_200, 1_400) };
        assert_eq!((triple.above_reservation, triple.not_charged), (above, above));

        let absurd = charge(Some(reported_usage(u64::MAX, u64::MAX)));
        assert_eq!(absurd.charged, triple.charged);
        assert_eq!(absurd.not_charged.tokens, u64::MAX - 2_400);
    }

    #[test]
    fn a_failure_is_free_of_tokens_only_as_a_refusal_before_the_answer() {
        let silent = RequestOutcome::Answered { usage: None };
        for (class, outcome) in [
            (ModelFailureClass::RateLimit, RequestOutcome::Refused),
            (ModelFailureClass::ContextExceeded, RequestOutcome::Refused),
            (ModelFailureClass::Timeout, silent),
            (ModelFailureClass::Network, silent),
            (ModelFailureClass::ContentPolicy, silent),
        ] {
            assert_eq!(RequestOutcome::of_failure(class, AnswerProgress::Nothing), outcome, "{class:?}");
            assert_eq!(RequestOutcome::of_failure(class, AnswerProgress::Begun), silent, "{class:?}");
        }
    }

    #[test]
    fn a_refused_request_counts_and_one_that_was_not_sent_does_not() {
        let refused = RequestOutcome::Refused.end(&request());
        assert!(matches!(refused, ReservationEnd::Charge(charge) if charge.charged == amount(0, 0)));
        assert_eq!(RequestOutcome::NotSent.end(&request()), ReservationEnd::Release);
    }
}
