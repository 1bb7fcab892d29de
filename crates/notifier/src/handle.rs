//! Notifications, for callers: the targets, and test messages.

use palyra_background::queue::{BackgroundQueue, QueueError};
use palyra_journal_core::families::deliveries;
use palyra_journal_core::family::QueryFamilies;
use palyra_notify::{HOURLY_MESSAGES_MAX, NotifyMessage, test_key};
use palyra_ports::{DeliverySettings, DeliveryTarget, ReadError};
use palyra_types::ErrorCode;
use palyra_types::delivery::{DeliveryKey, DeliveryRecord, DeliveryTargetKind};
use tokio::sync::watch;

use crate::outbox::{self, NewMessage, PlanError};
use crate::parts::{DeliveryChanges, NotifierParts, SettingsReader, console_origin, target_name};
use crate::planner::recent_messages;
use crate::target_view::{TargetView, target_view};

/// Lists targets, and sends test messages. Clones share the outbox.
#[derive(Clone)]
pub struct NotificationsHandle {
    pub(crate) parts: NotifierParts,
    pub(crate) queue: BackgroundQueue,
    pub(crate) settings: SettingsReader,
    pub(crate) changes: DeliveryChanges,
}

/// Why no test message is sent.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// No target is configured, or not this one.
    #[error("{0}")]
    NoTarget(String),
    /// A target got too many messages lately.
    #[error(
        "the target `{}` got {HOURLY_MESSAGES_MAX} messages within the last hour, and gets no more until some are older",
        kind.as_str()
    )]
    HourlyLimit {
        /// The target.
        kind: DeliveryTargetKind,
    },
    /// It was not recorded.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It is recorded, and the queue has no task that sends it.
    #[error("the message is recorded and is sent at the next start of the daemon: {0}")]
    Queue(#[from] QueueError),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl TestError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoTarget(_) => ErrorCode::NoNotificationTarget,
            Self::HourlyLimit { .. } => ErrorCode::QueueFull,
            Self::Plan(PlanError::Secret) => ErrorCode::Internal,
            Self::Plan(PlanError::Append(error)) => error.code(),
            Self::Queue(error) => error.code(),
            Self::Read(error) => error.code(),
        }
    }
}

impl NotificationsHandle {
    /// Returns the targets that are configured.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn targets(&self) -> Result<Vec<TargetView>, ReadError> {
        let targets = (self.settings)().targets;
        let read = self.parts.families.query(move |rows, log| {
            targets.into_iter().map(|target| target_view(rows, log, target)).collect()
        });
        read.await
    }

    /// Records a test message for a target, or for each one, and puts its task into the queue, as every notification. Quiet
    /// hours do not matter: a person waits for it.
    ///
    /// # Errors
    /// [`TestError`].
    pub async fn test(&self, only: Option<DeliveryTargetKind>) -> Result<Vec<DeliveryKey>, TestError> {
        let settings = (self.settings)();
        let wanted = wanted_targets(&settings, only)?;
        self.check_limit(&wanted).await?;
        let asked = self.parts.clock.wall();
        let body = NotifyMessage::Test { asked }.body(&console_origin(&settings));
        let message = |target: &DeliveryTarget| {
            let target = target_name(target);
            NewMessage { key: test_key(&target, asked), target, body: body.clone() }
        };
        let planned = outbox::record_planned(&self.parts, wanted.iter().map(message).collect()).await?;
        let mut keys = Vec::new();
        for (key, seq) in planned {
            outbox::enqueue(&self.parts, &self.queue, key, seq).await?;
            keys.push(key);
        }
        Ok(keys)
    }

    /// Returns messages of the outbox.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn messages(&self, keys: Vec<DeliveryKey>) -> Result<Vec<DeliveryRecord>, ReadError> {
        let read = self.parts.families.query(move |rows, log| {
            let mut found = Vec::new();
            for key in keys {
                found.extend(deliveries::record_of_key(rows, log, key)?);
            }
            Ok(found)
        });
        read.await
    }

    /// Returns what changes whenever an attempt begins or ends.
    #[must_use]
    pub fn watch_changes(&self) -> watch::Receiver<u64> {
        self.changes.watch()
    }

    async fn check_limit(&self, wanted: &[DeliveryTarget]) -> Result<(), TestError> {
        let now = self.parts.clock.wall();
        let recent = self.parts.families.query(move |rows, log| recent_messages(rows, log, now)).await?;
        let is_full = |target: &&DeliveryTarget| {
            recent.get(&target_name(target)).is_some_and(|times| times.len() >= HOURLY_MESSAGES_MAX)
        };
        match wanted.iter().find(is_full) {
            Some(target) => Err(TestError::HourlyLimit { kind: target.kind }),
            None => Ok(()),
        }
    }
}

fn wanted_targets(
    settings: &DeliverySettings,
    only: Option<DeliveryTargetKind>,
) -> Result<Vec<DeliveryTarget>, TestError> {
    let targets = settings.targets.iter();
    let wanted: Vec<DeliveryTarget> =
        targets.filter(|target| only.is_none_or(|kind| kind == target.kind)).cloned().collect();
    if !wanted.is_empty() {
        return Ok(wanted);
    }
    let configured: Vec<&str> = settings.targets.iter().map(|target| target.kind.as_str()).collect();
    Err(TestError::NoTarget(match only.filter(|_| !configured.is_empty()) {
        Some(kind) => format!(
            "the target `{}` is not configured; those that are: {}",
            kind.as_str(),
            configured.join(", ")
        ),
        None => "no target of notifications is configured".to_owned(),
    }))
}
