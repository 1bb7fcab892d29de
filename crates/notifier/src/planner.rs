//! Plans notifications: looks at what waits, records the messages that are due, and puts a task for each into the queue.
//!
//! A look without a change records nothing. Messages that an earlier process recorded and did not put into the queue are put
//! there by the first look.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::BackgroundQueue;
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_journal_core::families::deliveries::{self, DeliveryQuery};
use palyra_journal_core::family::{LogView, QueryFamilies, RowStore, StoreFault};
use palyra_notify::{MessageCandidate, NotifyPlan, RecentMessages, TargetName, candidates, plan};
use palyra_ports::DeliverySettings;
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::delivery::{DeliveryKey, DeliveryStage};
use palyra_types::{Seq, Timestamp};
use tokio::sync::watch;

use crate::attention;
use crate::outbox::{self, NewMessage};
use crate::parts::{NotifierParts, SettingsSource, console_origin, quiet_hours, target_names};

/// How long a failed task of the queue may wait before it is seen, since the queue gives no signal for it.
const LOOK_SPAN_MAX: Duration = Duration::from_secs(15 * 60);
/// Commits that come close together are one look.
const LOOK_SPAN_MIN: Duration = Duration::from_millis(200);
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Messages of one append.
const MESSAGES_AT_ONCE: usize = 100;

/// Plans notifications, as a task of the driver.
pub struct NotifyPlanner<T> {
    parts: NotifierParts,
    queue: BackgroundQueue,
    settings: SettingsSource<T>,
    attention: Vec<watch::Receiver<u64>>,
    /// Whether each open message has its task.
    has_tasks: bool,
}

impl<T: Send + Sync + 'static> NotifyPlanner<T> {
    /// Makes the task. One of `attention` changes whenever something else may wait for a person.
    #[must_use]
    pub fn new(
        parts: NotifierParts,
        queue: BackgroundQueue,
        settings: SettingsSource<T>,
        attention: Vec<watch::Receiver<u64>>,
    ) -> Self {
        Self { parts, queue, settings, attention, has_tasks: false }
    }

    async fn look(&mut self) -> Result<NextTick, TickFailure> {
        let settings = self.settings.take();
        for changes in &mut self.attention {
            changes.borrow_and_update();
        }
        if !self.has_tasks {
            self.enqueue_open().await?;
        }
        if settings.targets.is_empty() {
            return Ok(NextTick::OnSignal);
        }
        let NotifyPlan { mut due, next } = self.plan(&settings).await?;
        let has_more = due.len() > MESSAGES_AT_ONCE;
        due.truncate(MESSAGES_AT_ONCE);
        self.send(&settings, due).await?;
        if has_more {
            return Ok(NextTick::AtOnce);
        }
        let wait = next.map_or(LOOK_SPAN_MAX, |next| next.since(self.parts.clock.wall()));
        Ok(NextTick::After(wait.clamp(LOOK_SPAN_MIN, LOOK_SPAN_MAX)))
    }

    async fn plan(&self, settings: &DeliverySettings) -> Result<NotifyPlan, TickFailure> {
        let now = self.parts.clock.wall();
        let owner = self.parts.owner;
        let quiet = quiet_hours(settings).map_err(TickFailure::new)?;
        let targets = target_names(settings);
        let read = self.parts.families.query(move |rows, log| {
            let items = attention::waiting(rows, log, owner)?;
            let found = candidates(&targets, quiet.as_ref(), &items);
            let known = known_keys(rows, &found)?;
            Ok((found, known, recent_messages(rows, log, now)?))
        });
        let (found, known, recent) = read
            .await
            .map_err(|error| TickFailure::new(format_args!("what waits could not be read: {error}")))?;
        Ok(plan(found, &known, &recent, now))
    }

    async fn send(
        &mut self,
        settings: &DeliverySettings,
        due: Vec<MessageCandidate>,
    ) -> Result<(), TickFailure> {
        let origin = console_origin(settings);
        let message = |candidate: MessageCandidate| NewMessage {
            key: candidate.key,
            target: candidate.target,
            body: candidate.message.body(&origin),
        };
        // A failure in between leaves messages without tasks.
        self.has_tasks = false;
        let messages = due.into_iter().map(message).collect();
        let planned = outbox::record_planned(&self.parts, messages).await.map_err(TickFailure::new)?;
        for (key, seq) in planned {
            outbox::enqueue(&self.parts, &self.queue, key, seq)
                .await
                .map_err(|error| not_enqueued(&error))?;
        }
        self.has_tasks = true;
        Ok(())
    }

    async fn enqueue_open(&mut self) -> Result<(), TickFailure> {
        let read = self.parts.families.query(|rows, log| {
            let mut open = Vec::new();
            for stage in [DeliveryStage::Planned, DeliveryStage::Sending, DeliveryStage::Failed] {
                let query = DeliveryQuery {
                    stage: Some(stage),
                    limit: RECORD_PAGE_ROWS_MAX,
                    ..DeliveryQuery::default()
                };
                open.extend(deliveries::records(rows, log, &query)?.iter().map(|one| (one.key, one.seq)));
            }
            Ok(open)
        });
        let open: Vec<(DeliveryKey, Seq)> = read.await.map_err(TickFailure::new)?;
        for (key, seq) in open {
            outbox::enqueue(&self.parts, &self.queue, key, seq)
                .await
                .map_err(|error| not_enqueued(&error))?;
        }
        self.has_tasks = true;
        Ok(())
    }
}

fn not_enqueued(error: &palyra_background::queue::QueueError) -> TickFailure {
    TickFailure::new(format_args!("a notification is not in the queue: {error}"))
}

fn known_keys(
    rows: &mut dyn RowStore,
    found: &[MessageCandidate],
) -> Result<BTreeSet<DeliveryKey>, StoreFault> {
    let mut known = BTreeSet::new();
    for candidate in found {
        if deliveries::delivery(rows, candidate.key)?.is_some() {
            known.insert(candidate.key);
        }
    }
    Ok(known)
}

pub(crate) fn recent_messages(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    now: Timestamp,
) -> Result<RecentMessages, StoreFault> {
    let since = Timestamp(now.0.saturating_sub(i64::try_from(HOUR.as_micros()).unwrap_or(i64::MAX)));
    let query = DeliveryQuery { since: Some(since), limit: RECORD_PAGE_ROWS_MAX, ..DeliveryQuery::default() };
    let mut recent = RecentMessages::new();
    for one in deliveries::records(rows, log, &query)? {
        let target = TargetName { kind: one.target_kind, name: one.target.expose().clone() };
        recent.entry(target).or_default().push(one.planned);
    }
    Ok(recent)
}

impl<T: Send + Sync + 'static> BackgroundTask for NotifyPlanner<T> {
    fn name(&self) -> &'static str {
        "notifications"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.look().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let mut config = self.settings.config.clone();
        let mut attention = self.attention.clone();
        async move {
            let changes = attention.iter_mut().map(|changes| changes.changed().boxed());
            let others = futures::future::select_all(changes);
            let changed = async {
                tokio::select! {
                    changed = config.changed() => changed.is_ok(),
                    (changed, ..) = others => changed.is_ok(),
                }
            };
            if !changed.await {
                std::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}
