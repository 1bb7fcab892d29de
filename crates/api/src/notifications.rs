//! Targets of notifications and test messages, for the owner.

use std::collections::BTreeMap;

use palyra_notifier::{NotificationsHandle, TargetView, TestError};
use palyra_runtime::Caller;
use palyra_types::delivery::{DeliveryKey, DeliveryRecord, DeliveryStage, DeliveryTargetKind};
use palyra_wire::v1;
use tokio::sync::watch;

use crate::api_error::ApiError;
use crate::known_value::known;
use crate::operations::{OperationHandlers, ResponseSender, ResponseStream, respond_until};
use crate::translate;

/// Steps of messages that wait for the client, at most.
const STEPS_QUEUED_MAX: usize = 16;

const KINDS: [(DeliveryTargetKind, v1::NotificationTargetKind); 3] = [
    (DeliveryTargetKind::Command, v1::NotificationTargetKind::Command),
    (DeliveryTargetKind::Webhook, v1::NotificationTargetKind::Webhook),
    (DeliveryTargetKind::Desktop, v1::NotificationTargetKind::Desktop),
];

impl OperationHandlers {
    /// Answers `ListNotificationTargets`.
    pub async fn list_notification_targets(
        &self,
        _caller: Caller,
        _message: v1::ListNotificationTargetsRequest,
    ) -> Result<v1::ListNotificationTargetsResponse, ApiError> {
        let targets = self.state.waiting.notifications.targets().await?;
        Ok(v1::ListNotificationTargetsResponse {
            targets: targets.into_iter().map(|view| target(&view)).collect(),
        })
    }

    /// Answers `TestNotifications`. A message goes on when the client leaves.
    pub async fn test_notifications(
        &self,
        _caller: Caller,
        message: v1::TestNotificationsRequest,
    ) -> Result<ResponseStream<v1::TestNotificationsResponse>, ApiError> {
        let wanted = known(message.target, "target", v1::NotificationTargetKind::SHORT_NAMES)?;
        let only = KINDS.iter().find(|(_, wire)| *wire == wanted).map(|(kind, _)| *kind);
        let notifications = self.state.waiting.notifications.clone();
        // Before the messages are recorded, so that no change falls in between.
        let changes = notifications.watch_changes();
        let keys = notifications.test(only).await?;
        Ok(respond_until(self.stop.clone(), STEPS_QUEUED_MAX, |response_tx| async move {
            send_steps(&notifications, keys, changes, &response_tx).await
        }))
    }
}

/// Sends each message whenever it changed, until the first attempt of each has ended or the client has left.
async fn send_steps(
    notifications: &NotificationsHandle,
    keys: Vec<DeliveryKey>,
    mut changes: watch::Receiver<u64>,
    response_tx: &ResponseSender<v1::TestNotificationsResponse>,
) -> Result<(), ApiError> {
    let mut shown: BTreeMap<DeliveryKey, DeliveryRecord> = BTreeMap::new();
    loop {
        changes.borrow_and_update();
        let found = notifications.messages(keys.clone()).await?;
        let has_ended = found.iter().all(|message| is_attempted(message.stage));
        for message in found {
            if shown.get(&message.key) == Some(&message) {
                continue;
            }
            let step = v1::TestNotificationsResponse { notification: Some(notification(&message)) };
            shown.insert(message.key, message);
            if response_tx.send(Ok(step)).await.is_err() {
                return Ok(());
            }
        }
        if has_ended || changes.changed().await.is_err() {
            return Ok(());
        }
    }
}

/// Returns whether an attempt has ended.
fn is_attempted(stage: DeliveryStage) -> bool {
    match stage {
        DeliveryStage::Planned | DeliveryStage::Sending => false,
        DeliveryStage::Failed | DeliveryStage::Sent | DeliveryStage::Unknown | DeliveryStage::GivenUp => true,
    }
}

fn target(view: &TargetView) -> v1::NotificationTarget {
    let count = |messages: usize| u32::try_from(messages).unwrap_or(u32::MAX);
    v1::NotificationTarget {
        kind: kind(view.target.kind).into(),
        delivered: view.delivered.and_then(translate::timestamp),
        latest: view.latest.as_ref().map(notification),
        open_count: count(view.open),
        unknown_count: count(view.unknown),
        given_up_count: count(view.given_up),
    }
}

fn notification(record: &DeliveryRecord) -> v1::Notification {
    let stage = match record.stage {
        DeliveryStage::Planned => v1::NotificationStage::Planned,
        DeliveryStage::Sending => v1::NotificationStage::Sending,
        DeliveryStage::Failed => v1::NotificationStage::Failed,
        DeliveryStage::Sent => v1::NotificationStage::Sent,
        DeliveryStage::Unknown => v1::NotificationStage::Unknown,
        DeliveryStage::GivenUp => v1::NotificationStage::GivenUp,
    };
    v1::Notification {
        message_id: record.key.message_id(),
        target: kind(record.target_kind).into(),
        stage: stage.into(),
        attempts: record.attempts,
        planned: translate::timestamp(record.planned),
        changed: translate::timestamp(record.changed),
        explanation: record.explanation.expose().clone(),
    }
}

fn kind(kind: DeliveryTargetKind) -> v1::NotificationTargetKind {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, wire)| *wire).unwrap_or_default()
}

impl From<TestError> for ApiError {
    fn from(error: TestError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
