//! Sending messages of the outbox to where the operator wants them.

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_types::Content;
use palyra_types::delivery::{DeliveryKey, DeliveryTargetKind};

/// Sends messages to the targets of the configuration in force.
pub trait DeliverMessages: Send + Sync {
    /// Sends a message once. Work stops when the future is dropped; a program that was started is ended then.
    fn deliver(&self, message: OutboundMessage) -> BoxFuture<'static, Result<(), DeliverError>>;
}

/// Where messages go, and when they do not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliverySettings {
    /// The targets.
    pub targets: Vec<DeliveryTarget>,
    /// Hours of each day in which only critical things are sent.
    pub quiet: Option<QuietTimes>,
    /// Where the console is; empty where it is not served.
    pub console_origin: String,
}

/// A target by its kind and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTarget {
    /// What sort of thing it is.
    pub kind: DeliveryTargetKind,
    /// Its name.
    pub name: String,
}

/// Quiet hours as they are configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietTimes {
    /// When they begin, such as `22:00`.
    pub from: String,
    /// When they are over, such as `07:00`.
    pub until: String,
    /// The time zone, a name of the IANA database; empty for UTC.
    pub zone: String,
}

/// A message that is to be sent.
#[derive(Debug, Clone)]
pub struct OutboundMessage {
    /// Its idempotency id: the same in every attempt.
    pub key: DeliveryKey,
    /// Where it goes.
    pub target: DeliveryTarget,
    /// What is sent.
    pub body: Content<String>,
}

/// Why a message was not sent, in words for a person; none has a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliverError {
    /// The target did not take it.
    #[error("{why}")]
    NotSent {
        /// What failed, and why.
        why: String,
    },
    /// It is not known whether the target took it.
    #[error("{why}")]
    InDoubt {
        /// What happened.
        why: String,
    },
    /// The target cannot be used as it is configured.
    #[error("{why}")]
    Refused {
        /// What is wrong, and what to do.
        why: String,
    },
}

/// A daemon without targets.
#[derive(Debug, Clone, Copy)]
pub struct NoTargets;

impl DeliverMessages for NoTargets {
    fn deliver(&self, _message: OutboundMessage) -> BoxFuture<'static, Result<(), DeliverError>> {
        let why = "this daemon has no targets of notifications".to_owned();
        std::future::ready(Err(DeliverError::Refused { why })).boxed()
    }
}
