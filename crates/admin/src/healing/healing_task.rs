//! The task that looks, records what it finds, and performs what is due.
//!
//! Invariant: a remedy begins after its entry is recorded. A journal that takes no entries has no incidents: the check
//! `journal_writable` says so instead.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::{BackgroundTask, NextTick, TickFailure};
use palyra_healing::{
    HealingModes, HealingPlan, IncidentKey, PlannedRemedy, RemedyOutcome, RestoredIncident, SelfHealingState,
};
use palyra_journal_core::families::{healing_modes, incidents};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::{Integrity, JournalHealth};
use palyra_ports::{AppendClass, NewEntry};
use palyra_types::incident::{
    IncidentEvent, IncidentOpened, IncidentRecord, IncidentResolution, IncidentStage,
};
use palyra_types::{BootTime, IncidentId, PrincipalId};

use super::executor::perform;
use super::healing_board::{HealingBoard, ShownLook};
use super::healing_ports::HealingPorts;
use super::watchers::{FactReader, LookResult};

/// Looks after a start for which the check of the whole journal is awaited, at most.
const UNCHECKED_LOOKS_MAX: u32 = 10;

/// Looks and heals.
pub(super) struct HealingTask {
    ports: HealingPorts,
    watchers: FactReader,
    state: SelfHealingState,
    board: Arc<HealingBoard>,
    last_look: Option<BootTime>,
    looks: u32,
    restored: RestoreStage,
}

/// Whether the open incidents of earlier processes were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RestoreStage {
    NotYet,
    Done,
}

impl HealingTask {
    pub(super) fn new(ports: HealingPorts, board: Arc<HealingBoard>) -> Self {
        Self {
            watchers: FactReader::new(ports.clone()),
            state: SelfHealingState::new(ports.times),
            ports,
            board,
            last_look: None,
            looks: 0,
            restored: RestoreStage::NotYet,
        }
    }

    async fn advance(&mut self) -> Result<NextTick, TickFailure> {
        let now = self.ports.clock.boot();
        let look_span = self.ports.times.look_span;
        if self.ports.maintain.status().health == JournalHealth::Quarantined {
            return Ok(NextTick::After(look_span));
        }
        let since = self.last_look.map(|last| now.since(last));
        if let Some(since) = since.filter(|since| *since < look_span && !self.board.take_request()) {
            return Ok(NextTick::After(look_span.saturating_sub(since)));
        }
        if self.restored == RestoreStage::NotYet {
            self.restore(now).await?;
        }
        let modes = self.modes().await?;
        let LookResult { facts, next_task_due, is_disk_low, subjects } = self.watchers.look().await;
        self.last_look = Some(now);
        self.looks = self.looks.saturating_add(1);
        self.state.observe(&facts, now);
        let plan = self.state.plan(&modes, now);
        self.record_plan(&plan, now).await?;
        let remedies = self.state.plan(&modes, now).remedies;
        let findings = self.state.findings().clone();
        self.board.show(&facts, ShownLook { remedies, findings, subjects, modes });
        self.perform_due(&modes, now).await?;
        let board = self.ports.runs.board();
        if self.state.has_open() {
            board.report_ends();
        } else {
            board.ignore_ends();
        }
        if modes.are_off() && !self.state.has_open() {
            return Ok(NextTick::OnSignal);
        }
        let task = next_task_due.map(|due| due.saturating_add(self.ports.times.task_window));
        let disk = is_disk_low.then_some(self.ports.times.look_span_max);
        let spans = [self.state.next_look(&modes, now), self.check_look(), task, disk];
        Ok(spans.into_iter().flatten().min().map_or(NextTick::OnSignal, NextTick::After))
    }

    /// Returns the time until the next look while the check that goes on after a start may still find something: it gives no
    /// signal, and takes the longer, the longer the log is.
    fn check_look(&self) -> Option<Duration> {
        let status = self.ports.maintain.status();
        let is_stored = status.database_bytes > 0;
        let is_awaited =
            is_stored && status.integrity == Integrity::NotChecked && self.looks <= UNCHECKED_LOOKS_MAX;
        is_awaited.then(|| self.ports.times.look_span_after(self.looks.saturating_sub(1)))
    }

    async fn modes(&self) -> Result<HealingModes, TickFailure> {
        let mut modes = (self.ports.configured)();
        let chosen = self.ports.families.query(|rows, _| healing_modes::in_force(rows)).await;
        let chosen = chosen.map_err(|error| {
            TickFailure::new(format_args!("the modes of self-healing could not be read: {error}"))
        })?;
        chosen.into_iter().for_each(|(domain, mode)| modes.set(domain, mode));
        Ok(modes)
    }

    /// Takes over what an earlier process left open; a remedy that was at work then was interrupted.
    async fn restore(&mut self, now: BootTime) -> Result<(), TickFailure> {
        let open = self.ports.families.query(incidents::unresolved).await;
        let open = open
            .map_err(|error| TickFailure::new(format_args!("open incidents could not be read: {error}")))?;
        let mut interrupted = Vec::new();
        // Of several incidents of one key, which an earlier version opened, the oldest one goes on.
        let (open, repeated) = one_of_each_key(open);
        for record in &repeated {
            let resolution = IncidentResolution::ByItself;
            interrupted.push(IncidentEvent::Resolved { incident: record.opened.incident, resolution });
        }
        for record in &open {
            let incident = record.opened.incident;
            if let (IncidentStage::Remediating, Some(remedy)) = (record.stage, record.last_remedy) {
                let outcome = RemedyOutcome::Interrupted;
                interrupted.push(IncidentEvent::RemedyEnded { incident, remedy, outcome });
            }
        }
        self.record(interrupted).await?;
        for record in open {
            let key = IncidentKey::of(record.opened.cause, record.opened.subject);
            let incident = record.opened.incident;
            let restored = RestoredIncident {
                key,
                incident,
                remedies: record.remedies,
                last_remedy: record.last_remedy,
            };
            self.state.restore(restored, now);
        }
        self.restored = RestoreStage::Done;
        Ok(())
    }

    /// Records what a look changed, in one append.
    async fn record_plan(&mut self, plan: &HealingPlan, now: BootTime) -> Result<(), TickFailure> {
        let mut events = Vec::new();
        for check in &plan.checks {
            events.push(IncidentEvent::RemedyEnded {
                incident: check.incident,
                remedy: check.remedy,
                outcome: check.outcome,
            });
        }
        for over in &plan.resolvings {
            events.push(IncidentEvent::Resolved { incident: over.incident, resolution: over.resolution });
        }
        let mut opened = Vec::new();
        for opening in &plan.openings {
            let incident = self.new_id();
            opened.push((opening.key, incident));
            events.push(IncidentEvent::Opened(IncidentOpened {
                incident,
                cause: opening.key.cause,
                severity: opening.finding.severity,
                subject: opening.finding.about,
                evidence: opening.finding.evidence,
                planned: opening.planned,
            }));
            tracing::warn!(%incident, cause = opening.key.cause.as_str(), "an incident was opened");
        }
        self.record(events).await?;
        plan.checks.iter().for_each(|check| self.state.remedy_ended(&check.key));
        plan.resolvings.iter().for_each(|over| self.state.resolved(&over.key));
        opened.into_iter().for_each(|(key, incident)| self.state.opened(key, incident, now));
        Ok(())
    }

    /// Performs remedies one after the other, as long as one is due: each counts for the limit of its domain.
    async fn perform_due(&mut self, modes: &HealingModes, now: BootTime) -> Result<(), TickFailure> {
        loop {
            let planned = self.state.plan(modes, now).remedies;
            let Some(due) = planned.into_iter().find(|remedy| remedy.is_performed(modes)) else {
                return Ok(());
            };
            self.perform_one(due, now).await?;
        }
    }

    async fn perform_one(&mut self, planned: PlannedRemedy, now: BootTime) -> Result<(), TickFailure> {
        let PlannedRemedy { key, incident, remedy, .. } = planned;
        self.record(vec![IncidentEvent::RemedyStarted { incident, remedy }]).await?;
        self.state.remedy_started(&key, remedy, now);
        tracing::info!(%incident, remedy = remedy.as_str(), "a remedy begins");
        if let Err(error) = perform(&self.ports, &key, remedy).await {
            tracing::warn!(%incident, remedy = remedy.as_str(), %error, "a remedy could not be performed");
            let outcome = RemedyOutcome::Failed;
            self.record(vec![IncidentEvent::RemedyEnded { incident, remedy, outcome }]).await?;
            self.state.remedy_ended(&key);
        }
        Ok(())
    }

    /// Records events of the daemon itself. They are endings, so that a full disk does not keep them out.
    async fn record(&self, events: Vec<IncidentEvent>) -> Result<(), TickFailure> {
        if events.is_empty() {
            return Ok(());
        }
        let time = self.ports.clock.wall();
        let entry = |event: IncidentEvent| NewEntry {
            time,
            principal: PrincipalId::NIL,
            session: None,
            run: None,
            event: event.into(),
        };
        let entries = events.into_iter().map(entry).collect();
        let recorded = self.ports.recorder.record(entries, AppendClass::Ending, Vec::new()).await;
        recorded
            .map_err(|error| TickFailure::new(format_args!("incidents could not be recorded: {error}")))?;
        self.ports.runs.attention_changed();
        Ok(())
    }

    fn new_id(&self) -> IncidentId {
        self.ports.entropy.new_id(self.ports.clock.wall())
    }
}

/// Returns the oldest incident of each key, and the others.
fn one_of_each_key(mut open: Vec<IncidentRecord>) -> (Vec<IncidentRecord>, Vec<IncidentRecord>) {
    open.sort_by_key(|record| record.opened.incident);
    let mut seen = BTreeSet::new();
    open.into_iter()
        .partition(|record| seen.insert(IncidentKey::of(record.opened.cause, record.opened.subject)))
}

impl BackgroundTask for HealingTask {
    fn name(&self) -> &'static str {
        "self_healing"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        self.advance().boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let board = Arc::clone(&self.board);
        let begun = self.ports.runs.board().begun();
        let enqueued = self.ports.queue.enqueued();
        async move {
            tokio::select! {
                () = begun.notified() => {}
                () = enqueued.notified() => {}
                () = board.requested() => {}
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
