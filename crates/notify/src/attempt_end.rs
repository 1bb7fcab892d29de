//! What follows an attempt that did not end well.

use palyra_types::delivery::{DeliveryEnd, DeliveryStage, DeliveryTargetKind};

/// How an attempt failed, as its deliverer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptFailure {
    /// The target did not take the message.
    NotSent,
    /// It is not known whether the target took it.
    InDoubt,
    /// The target cannot be used as it is configured, so another attempt would fail as well.
    Refused,
}

/// Returns how a failed attempt is recorded. `attempts_max` is the limit of the queue, which makes the pauses in between.
#[must_use]
pub fn end_of_failure(
    target: DeliveryTargetKind,
    failure: AttemptFailure,
    attempt: u32,
    attempts_max: u32,
) -> DeliveryEnd {
    match failure {
        AttemptFailure::Refused => DeliveryEnd::GivenUp,
        AttemptFailure::InDoubt if !target.may_repeat() => DeliveryEnd::Unknown,
        AttemptFailure::InDoubt | AttemptFailure::NotSent if attempt >= attempts_max => DeliveryEnd::GivenUp,
        AttemptFailure::InDoubt | AttemptFailure::NotSent => DeliveryEnd::Failed,
    }
}

/// Returns whether a message may be sent where the record says that it is in this stage. An attempt whose end is not recorded
/// may have sent it.
#[must_use]
pub fn is_repeatable_after_restart(target: DeliveryTargetKind, stage: DeliveryStage) -> bool {
    match stage {
        DeliveryStage::Planned | DeliveryStage::Failed => true,
        DeliveryStage::Sending => target.may_repeat(),
        // A person asked the queue to do it again.
        DeliveryStage::Unknown => true,
        DeliveryStage::Sent | DeliveryStage::GivenUp => false,
    }
}

#[cfg(test)]
mod tests {
    use AttemptFailure::{InDoubt, NotSent, Refused};
    use DeliveryTargetKind::{Command, Desktop, Webhook};

    use super::*;

    #[test]
    fn failures_and_what_follows() {
        let cases = [
            (Webhook, NotSent, 1, DeliveryEnd::Failed),
            (Webhook, NotSent, 8, DeliveryEnd::GivenUp),
            (Webhook, NotSent, 9, DeliveryEnd::GivenUp),
            (Webhook, InDoubt, 1, DeliveryEnd::Failed),
            (Webhook, InDoubt, 8, DeliveryEnd::GivenUp),
            (Webhook, Refused, 1, DeliveryEnd::GivenUp),
            (Command, NotSent, 7, DeliveryEnd::Failed),
            (Command, InDoubt, 1, DeliveryEnd::Unknown),
            (Command, InDoubt, 8, DeliveryEnd::Unknown),
            (Desktop, InDoubt, 1, DeliveryEnd::Unknown),
            (Desktop, Refused, 1, DeliveryEnd::GivenUp),
        ];
        for (target, failure, attempt, expected) in cases {
            assert_eq!(
                end_of_failure(target, failure, attempt, 8),
                expected,
                "{target:?} {failure:?} {attempt}"
            );
        }
    }

    #[test]
    fn only_a_webhook_is_sent_again_where_the_process_ended_during_an_attempt() {
        let may = |target, stage| is_repeatable_after_restart(target, stage);
        assert!(may(Webhook, DeliveryStage::Sending));
        assert!(!may(Command, DeliveryStage::Sending) && !may(Desktop, DeliveryStage::Sending));
        for target in [Webhook, Command, Desktop] {
            assert!(may(target, DeliveryStage::Planned) && may(target, DeliveryStage::Failed));
            assert!(!may(target, DeliveryStage::Sent) && !may(target, DeliveryStage::GivenUp));
        }
    }
}
