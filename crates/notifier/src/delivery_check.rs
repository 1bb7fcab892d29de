//! Whether messages arrive, for `palyra doctor`.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_admin::health::{CheckLevel, HealthCheck, JournalCheck};
use palyra_journal_core::families::deliveries::{self, DeliveryQuery};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_types::Timestamp;
use palyra_types::delivery::{DeliveryRecord, DeliveryStage};

use crate::parts::{NotifierParts, SettingsReader};

/// How far back is looked.
const SPAN: Duration = Duration::from_secs(24 * 60 * 60);
/// Messages that are looked at, at most.
const MESSAGES_LOOKED_AT: usize = 200;

/// What was found about the messages of the last day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeliveryCheck {
    /// Messages that arrived.
    pub sent: usize,
    /// Messages that failed, were given up, or whose outcome is unknown.
    pub failing: usize,
    /// Of the latest of those: its target, its stage, and why it failed.
    pub latest: Option<String>,
}

/// Looks at the messages of the last day.
///
/// # Errors
/// [`ReadError`].
pub async fn delivery_check(parts: &NotifierParts) -> Result<DeliveryCheck, ReadError> {
    let now = parts.clock.wall();
    let since = Timestamp(now.0.saturating_sub(i64::try_from(SPAN.as_micros()).unwrap_or(i64::MAX)));
    let query = DeliveryQuery { since: Some(since), limit: MESSAGES_LOOKED_AT, ..DeliveryQuery::default() };
    let found = parts.families.query(move |rows, log| deliveries::records(rows, log, &query)).await?;
    Ok(check_of(&found))
}

/// Returns the check of `palyra doctor`: nothing where no target is configured.
#[must_use]
pub(crate) fn doctor_check(parts: NotifierParts, settings: SettingsReader) -> JournalCheck {
    Arc::new(move || {
        let parts = parts.clone();
        let targets = settings().targets.len();
        async move {
            let found = if targets == 0 { None } else { delivery_check(&parts).await.ok() };
            found.map(|found| health_check(targets, &found))
        }
        .boxed()
    })
}

fn health_check(targets: usize, found: &DeliveryCheck) -> HealthCheck {
    let DeliveryCheck { sent, failing, latest } = found;
    let counts = format!("{targets} targets; in the last day {sent} sent, {failing} failed or unknown");
    let check = |level, found, mend| HealthCheck { name: "notifications", level, found, mend };
    match latest {
        None => check(CheckLevel::Ok, counts, ""),
        Some(latest) => check(
            CheckLevel::Warning,
            format!("{counts}; the latest: {latest}"),
            "mend the target in `[notify]` of palyra.toml (`palyra explain docs/notifications.md`), then `palyra config reload`",
        ),
    }
}

/// Judges messages, the latest planned one first. A failure that was followed by a message which arrived at the same target is
/// counted, and is not the latest one.
fn check_of(found: &[DeliveryRecord]) -> DeliveryCheck {
    let latest = found.iter().find(|one| is_failing(one));
    let latest = latest.filter(|failed| !found.iter().any(|one| arrived_after(one, failed)));
    DeliveryCheck {
        sent: found.iter().filter(|one| one.stage == DeliveryStage::Sent).count(),
        failing: found.iter().filter(|one| is_failing(one)).count(),
        latest: latest.map(|one| {
            format!("{}: {}: {}", one.target_kind.as_str(), one.stage.as_str(), one.explanation.expose())
        }),
    }
}

fn is_failing(one: &DeliveryRecord) -> bool {
    match one.stage {
        DeliveryStage::Failed | DeliveryStage::Unknown | DeliveryStage::GivenUp => true,
        DeliveryStage::Planned | DeliveryStage::Sending | DeliveryStage::Sent => false,
    }
}

fn arrived_after(one: &DeliveryRecord, failed: &DeliveryRecord) -> bool {
    one.stage == DeliveryStage::Sent && one.target_kind == failed.target_kind && one.planned > failed.planned
}
