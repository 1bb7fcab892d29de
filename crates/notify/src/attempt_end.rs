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

/// What an attempt does with a message that the record has in some stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptStart {
    /// It sends it.
    Send,
    /// Nothing: it was sent.
    AlreadySent,
    /// It records that the outcome is unknown: an attempt without a recorded end may have sent it.
    RecordUnknown,
    /// Nothing: a person has to decide.
    LeaveToPerson,
}

/// Returns what an attempt does. `attempt` is the number that the queue gives it: it is 1 again after a person asked for a
/// repetition.
#[must_use]
pub fn start_of_attempt(target: DeliveryTargetKind, stage: DeliveryStage, attempt: u32) -> AttemptStart {
    match stage {
        DeliveryStage::Planned | DeliveryStage::Failed => AttemptStart::Send,
        DeliveryStage::Sending if target.may_repeat() => AttemptStart::Send,
        DeliveryStage::Sending => AttemptStart::RecordUnknown,
        DeliveryStage::Unknown | DeliveryStage::GivenUp if attempt == 1 => AttemptStart::Send,
        DeliveryStage::Unknown | DeliveryStage::GivenUp => AttemptStart::LeaveToPerson,
        DeliveryStage::Sent => AttemptStart::AlreadySent,
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
        use AttemptStart::{AlreadySent, LeaveToPerson, RecordUnknown, Send};
        assert_eq!(start_of_attempt(Webhook, DeliveryStage::Sending, 2), Send);
        for target in [Command, Desktop] {
            assert_eq!(start_of_attempt(target, DeliveryStage::Sending, 2), RecordUnknown);
        }
        for target in [Webhook, Command, Desktop] {
            let start = |stage, attempt| start_of_attempt(target, stage, attempt);
            assert_eq!((start(DeliveryStage::Planned, 1), start(DeliveryStage::Failed, 3)), (Send, Send));
            assert_eq!(
                (start(DeliveryStage::Sent, 1), start(DeliveryStage::Sent, 2)),
                (AlreadySent, AlreadySent)
            );
            // The process may end between the record and the end of the task, so only a first attempt is a person's wish.
            for stage in [DeliveryStage::Unknown, DeliveryStage::GivenUp] {
                assert_eq!((start(stage, 1), start(stage, 2)), (Send, LeaveToPerson));
            }
        }
    }
}
