//! Messages that leave the daemon, as recorded facts: the outbox of notifications, in a form that channels share.
//!
//! Owns the values and the stages of a delivery. Knows nothing about what a message says: its body is opaque, and the
//! deliverer of its target kind reads it. Invariant: an attempt is recorded before it begins, so a process that ends in
//! between leaves a delivery in [`DeliveryStage::Sending`], and never one that looks as if nothing had been sent.
//! Begin at [`DeliveryEvent`].

use crate::content_walk::ContentClass::{Bytes, Identity, Prose};
use crate::content_walk::content_rows;
use crate::{Redacted, Seq, Timestamp};

/// Bytes of the body of a message, at most.
pub const DELIVERY_BODY_BYTES_MAX: usize = 16 * 1024;

/// Bytes of the explanation of a failed attempt, at most; a longer one is cut.
pub const DELIVERY_EXPLANATION_BYTES_MAX: usize = 500;

/// The opaque idempotency id of a delivery: one message to one target. Every attempt sends the same, so that a receiver can
/// drop a repeated message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryKey(pub [u8; 16]);

impl DeliveryKey {
    /// Returns the id as receivers see it: `msg_` and 32 hexadecimal digits.
    #[must_use]
    pub fn message_id(self) -> String {
        format!("msg_{:032x}", u128::from_be_bytes(self.0))
    }

    /// Returns the key of an id as receivers see it.
    #[must_use]
    pub fn of_message_id(id: &str) -> Option<Self> {
        let digits = id.strip_prefix("msg_").filter(|digits| digits.len() == 32)?;
        let key = Self(u128::from_str_radix(digits, 16).ok()?.to_be_bytes());
        // Signs and capitals would be another spelling of the same id.
        (key.message_id() == id).then_some(key)
    }
}

/// What sort of thing a message is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeliveryTargetKind {
    /// A program that the operator configured, which reads the body from its input.
    Command,
    /// An HTTP server that the operator configured.
    Webhook,
    /// The desktop of the user who runs the daemon.
    Desktop,
}

impl DeliveryTargetKind {
    /// Every kind with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Command, "command"), (Self::Webhook, "webhook"), (Self::Desktop, "desktop")];

    /// Returns whether a message may be sent again when it is not known whether it arrived: its receiver can drop the second
    /// one by its id.
    #[must_use]
    pub fn may_repeat(self) -> bool {
        match self {
            Self::Webhook => true,
            Self::Command | Self::Desktop => false,
        }
    }
}

crate::words::words_of_table!(DeliveryTargetKind);

/// Something happened to a message of the outbox. Whose it is, is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryEvent {
    /// It is to be sent.
    Planned(DeliveryPlanned),
    /// An attempt begins.
    AttemptBegun {
        /// The message.
        key: DeliveryKey,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// An attempt ended, or no further one is made.
    AttemptEnded(DeliveryAttemptEnded),
}

impl DeliveryEvent {
    /// Returns the message.
    #[must_use]
    pub fn key(&self) -> DeliveryKey {
        match self {
            Self::Planned(planned) => planned.key,
            Self::AttemptBegun { key, .. } => *key,
            Self::AttemptEnded(ended) => ended.key,
        }
    }
}

/// A message that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryPlanned {
    /// Its idempotency id; a second message with it is not sent.
    pub key: DeliveryKey,
    /// What sort of thing it is sent to.
    pub target_kind: DeliveryTargetKind,
    /// The name of the target within its kind.
    pub target: Redacted<String>,
    /// Bytes of the body, which stay known after an erasure.
    pub body_bytes: u32,
    /// What the deliverer sends; empty once erased.
    pub body: Redacted<String>,
}

impl DeliveryPlanned {
    /// Returns whether the body was erased, so that the message can no longer be sent.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.body_bytes > 0 && self.body.expose().is_empty()
    }
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttemptEnded {
    /// The message.
    pub key: DeliveryKey,
    /// The number of the attempt.
    pub attempt: u32,
    /// How it ended.
    pub end: DeliveryEnd,
    /// Why it was not sent, in words; empty where it was, and once erased.
    pub explanation: Redacted<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryEnd {
    /// The target took the message.
    Sent,
    /// It was not sent; another attempt follows.
    Failed,
    /// It is not known whether it was sent, and it is not sent again by itself.
    Unknown,
    /// It was not sent, and no further attempt is made.
    GivenUp,
}

impl DeliveryEnd {
    /// Every end with its word.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Sent, "sent"),
        (Self::Failed, "failed"),
        (Self::Unknown, "unknown"),
        (Self::GivenUp, "given_up"),
    ];
}

crate::words::words_of_table!(DeliveryEnd);

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeliveryStage {
    /// It waits for its first attempt.
    Planned,
    /// An attempt began, and its end is not recorded.
    Sending,
    /// An attempt failed, and another one follows.
    Failed,
    /// The target took it.
    Sent,
    /// It is not known whether it was sent.
    Unknown,
    /// It was not sent, and is not going to be.
    GivenUp,
}

impl DeliveryStage {
    /// Every stage with its word.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Planned, "planned"),
        (Self::Sending, "sending"),
        (Self::Failed, "failed"),
        (Self::Sent, "sent"),
        (Self::Unknown, "unknown"),
        (Self::GivenUp, "given_up"),
    ];

    /// Returns whether an attempt is under way or follows by itself.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Planned | Self::Sending | Self::Failed)
    }

    /// Returns the stage after an event of the message; `None` where the event changes nothing.
    ///
    /// A message that was sent stays so. One that was given up, or whose outcome is unknown, goes on only with a new attempt,
    /// which a person asks for.
    #[must_use]
    pub fn after(self, event: &DeliveryEvent) -> Option<Self> {
        match (self, event) {
            (Self::Sent, _) | (_, DeliveryEvent::Planned(_)) => None,
            (_, DeliveryEvent::AttemptBegun { .. }) => Some(Self::Sending),
            (Self::Unknown | Self::GivenUp, DeliveryEvent::AttemptEnded(_)) => None,
            (_, DeliveryEvent::AttemptEnded(ended)) => Some(match ended.end {
                DeliveryEnd::Sent => Self::Sent,
                DeliveryEnd::Failed => Self::Failed,
                DeliveryEnd::Unknown => Self::Unknown,
                DeliveryEnd::GivenUp => Self::GivenUp,
            }),
        }
    }
}

crate::words::words_of_table!(DeliveryStage);

/// A message of the outbox, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// Its idempotency id.
    pub key: DeliveryKey,
    /// What sort of thing it is sent to.
    pub target_kind: DeliveryTargetKind,
    /// The name of the target; empty once erased.
    pub target: Redacted<String>,
    /// The entry that planned it.
    pub seq: Seq,
    /// When it was planned.
    pub planned: Timestamp,
    /// When its latest entry was written.
    pub changed: Timestamp,
    /// Where it is.
    pub stage: DeliveryStage,
    /// Attempts that began.
    pub attempts: u32,
    /// Why its latest attempt failed, in words.
    pub explanation: Redacted<String>,
}

content_rows! {
    fn delivery_event(walk, event: DeliveryEvent) {
        match event {
            DeliveryEvent::Planned(planned) => walk.delivery_planned(planned),
            DeliveryEvent::AttemptEnded(ended) => walk.delivery_attempt_ended(ended),
            DeliveryEvent::AttemptBegun { key: _, attempt: _ } => {}
        }
    }

    fn delivery_planned(walk, planned: DeliveryPlanned) {
        let DeliveryPlanned { key: _, target_kind: _, target, body_bytes: _, body } = planned;
        walk.text(Identity, "target", target);
        // The receiver checks it byte by byte, so it is never rewritten.
        walk.text(Bytes, "body", body);
    }

    fn delivery_attempt_ended(walk, ended: DeliveryAttemptEnded) {
        let DeliveryAttemptEnded { key: _, attempt: _, end: _, explanation } = ended;
        walk.text(Prose, "explanation", explanation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_id_has_one_spelling() {
        let key = DeliveryKey([0xAB; 16]);
        assert_eq!(DeliveryKey::of_message_id(&key.message_id()), Some(key));
        assert_eq!(key.message_id(), format!("msg_{}", "ab".repeat(16)));
        for other in ["", "msg_", &key.message_id().to_uppercase(), &format!("msg_+{}", "b".repeat(31))] {
            assert_eq!(DeliveryKey::of_message_id(other), None, "{other}");
        }
    }

    #[test]
    fn a_sent_message_stays_sent_and_an_unknown_one_needs_a_new_attempt() {
        let key = DeliveryKey([1; 16]);
        let begun = DeliveryEvent::AttemptBegun { key, attempt: 2 };
        let ended = |end| {
            DeliveryEvent::AttemptEnded(DeliveryAttemptEnded {
                key,
                attempt: 1,
                end,
                explanation: Redacted::default(),
            })
        };
        for (stage, _) in DeliveryStage::ALL {
            let is_final = stage == DeliveryStage::Sent;
            assert_eq!(stage.after(&begun), (!is_final).then_some(DeliveryStage::Sending));
        }
        assert_eq!(DeliveryStage::Unknown.after(&ended(DeliveryEnd::Sent)), None);
        assert_eq!(DeliveryStage::GivenUp.after(&ended(DeliveryEnd::Sent)), None);
        assert_eq!(DeliveryStage::Sending.after(&ended(DeliveryEnd::Failed)), Some(DeliveryStage::Failed));
        assert_eq!(DeliveryStage::Failed.after(&ended(DeliveryEnd::GivenUp)), Some(DeliveryStage::GivenUp));
    }
}
