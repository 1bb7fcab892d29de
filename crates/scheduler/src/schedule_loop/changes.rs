//! What callers ask: making, changing, pausing, removing and starting schedules.

use palyra_ports::{AppendClass, CredentialUser};
use palyra_schedule::{
    PauseCause, ScheduleChange, ScheduleEffect, ScheduleState, SkipReason, digest_of, recorded,
};
use palyra_types::schedule::{PauseScope, SavedAction, ScheduleEvent, ScheduleProvenance, ScheduleSaved};
use palyra_types::tool::Taints;
use palyra_types::{PrincipalId, ScheduleId, Timestamp};

use super::ScheduleLoop;
use super::due::complete;
use crate::attention::has_delivered_reminder;
use crate::command::{CallOrigin, CommandReceipt, ScheduleRequest, ScheduleRequester};
use crate::draft::{ApprovedParts, CheckedDraft, ScheduleDraft, saved_schedule};
use crate::error::ScheduleError;
use crate::occurrence_check::check_occurrence;
use crate::store::{self, APPEND_ENTRIES_MAX, OwnedEffect, OwnedEvent};

impl ScheduleLoop {
    /// Does what a caller asks; returns after the commit.
    pub(super) async fn answer(
        &mut self,
        requester: ScheduleRequester,
        request: ScheduleRequest,
    ) -> Result<CommandReceipt, ScheduleError> {
        let now = self.ports.clock.wall();
        match request {
            ScheduleRequest::Create(draft) => self.create(requester, &draft, now).await,
            ScheduleRequest::Edit { schedule, draft } => self.edit(requester, schedule, &draft, now).await,
            ScheduleRequest::RunNow(schedule) => self.run_now(requester, schedule, now).await,
            ScheduleRequest::Pause(schedule) => {
                let state = self.own(requester, schedule)?;
                let changes = match state.paused() {
                    Some(PauseCause::Person) => Vec::new(),
                    Some(PauseCause::Failures | PauseCause::Refused) | None => {
                        state.decide_pause(PauseCause::Person, now)
                    }
                };
                self.record_changes(requester, schedule, &changes).await
            }
            ScheduleRequest::Resume(schedule) => {
                let is_paused = self.own(requester, schedule)?.paused().is_some();
                // A delivered reminder waits for a person as well, and this is their word that they saw it.
                let ends_something = is_paused || has_delivered_reminder(&self.ports, schedule).await?;
                let change = ScheduleChange::Resumed { at: now };
                let changes = if ends_something { vec![change] } else { Vec::new() };
                self.record_changes(requester, schedule, &changes).await
            }
            ScheduleRequest::Remove(schedule) => {
                let state = self.own(requester, schedule)?;
                let mut changes = state.skip_waiting(SkipReason::Removed);
                changes.push(ScheduleChange::Removed { at: now });
                self.record_changes(requester, schedule, &changes).await
            }
            ScheduleRequest::PauseMany(scope) => self.pause_many(requester, scope, now).await,
            ScheduleRequest::ResumeMany(scope) => {
                let event = ScheduleEvent::ManyResumed { scope, at: now };
                let events = vec![OwnedEvent { principal: requester.principal(), event }];
                self.record(requester.actor(), events, AppendClass::Normal).await?;
                Ok(CommandReceipt::default())
            }
        }
    }

    /// Returns a schedule of the caller; another's is reported like one that does not exist.
    fn own(
        &self,
        requester: ScheduleRequester,
        schedule: ScheduleId,
    ) -> Result<&ScheduleState, ScheduleError> {
        let is_own = self.owners.get(&schedule) == Some(&requester.principal());
        let state = self.plan.schedule(schedule).filter(|state| is_own && state.definition().is_some());
        state.ok_or(ScheduleError::NotFound)
    }

    async fn record_changes(
        &mut self,
        requester: ScheduleRequester,
        schedule: ScheduleId,
        changes: &[ScheduleChange],
    ) -> Result<CommandReceipt, ScheduleError> {
        let events = changes.iter().filter_map(|change| recorded(schedule, change));
        let principal = requester.principal();
        let events = events.map(|event| OwnedEvent { principal, event }).collect();
        self.record(requester.actor(), events, AppendClass::Normal).await?;
        Ok(CommandReceipt { schedule: Some(schedule), planned: None })
    }

    async fn create(
        &mut self,
        requester: ScheduleRequester,
        draft: &ScheduleDraft,
        now: Timestamp,
    ) -> Result<CommandReceipt, ScheduleError> {
        let (schedule, provenance) = match requester {
            ScheduleRequester::Caller(_) => {
                (self.ports.entropy.new_id(now), of_person(requester.principal()))
            }
            ScheduleRequester::Run(origin) => (schedule_of_call(&origin), of_run(&origin)),
        };
        let is_repeated = provenance.made_by_run.is_some();
        if is_repeated && store::record(&self.ports, schedule).await?.is_some() {
            return Ok(CommandReceipt { schedule: Some(schedule), planned: None });
        }
        self.plan.check_limit(requester.principal())?;
        let saved = self.saved(requester, schedule, draft, provenance)?;
        let event = ScheduleEvent::Created(saved);
        let events = vec![OwnedEvent { principal: requester.principal(), event }];
        self.record(requester.actor(), events, AppendClass::Normal).await?;
        Ok(CommandReceipt { schedule: Some(schedule), planned: None })
    }

    async fn edit(
        &mut self,
        requester: ScheduleRequester,
        schedule: ScheduleId,
        draft: &ScheduleDraft,
        now: Timestamp,
    ) -> Result<CommandReceipt, ScheduleError> {
        self.own(requester, schedule)?;
        let before = store::record(&self.ports, schedule).await?.ok_or(ScheduleError::NotFound)?.saved;
        let was_made_by_run = before.provenance.made_by_run.is_some();
        let provenance = ScheduleProvenance { edited_by_person: was_made_by_run, ..before.provenance };
        let saved = self.saved(requester, schedule, draft, provenance)?;
        check_same_agent(before.action, saved.action)?;
        let state = self.own(requester, schedule)?;
        let mut events: Vec<ScheduleEvent> = state
            .skip_waiting(SkipReason::Edited)
            .iter()
            .filter_map(|change| recorded(schedule, change))
            .collect();
        events.push(ScheduleEvent::Edited(saved));
        // An edit is a new approval, which is all that these pauses wait for.
        match state.paused() {
            Some(PauseCause::Failures | PauseCause::Refused) => {
                events.push(ScheduleEvent::Resumed { schedule, at: now });
            }
            Some(PauseCause::Person) | None => {}
        }
        let principal = requester.principal();
        let events = events.into_iter().map(|event| OwnedEvent { principal, event }).collect();
        self.record(requester.actor(), events, AppendClass::Normal).await?;
        Ok(CommandReceipt { schedule: Some(schedule), planned: None })
    }

    fn saved(
        &self,
        requester: ScheduleRequester,
        schedule: ScheduleId,
        draft: &ScheduleDraft,
        provenance: ScheduleProvenance,
    ) -> Result<ScheduleSaved, ScheduleError> {
        let checked = CheckedDraft::new(&self.ports, &self.zones, requester.principal(), draft)?;
        let times = checked.saved_times(&self.ports, requester.principal())?;
        let parts = ApprovedParts::new(&self.ports, schedule, draft)?;
        let at = self.ports.clock.wall();
        Ok(saved_schedule(schedule, at, times, checked.rules, parts, provenance))
    }

    async fn pause_many(
        &mut self,
        requester: ScheduleRequester,
        scope: PauseScope,
        now: Timestamp,
    ) -> Result<CommandReceipt, ScheduleError> {
        let skipped = self.plan.decide_pause_of_many(scope);
        let mut events = Vec::new();
        for (schedule, change) in &skipped {
            let principal = self.owners.get(schedule).copied().unwrap_or(requester.principal());
            let event = recorded(*schedule, change);
            events.extend(event.map(|event| OwnedEvent { principal, event }));
        }
        let event = ScheduleEvent::ManyPaused { scope, at: now };
        events.push(OwnedEvent { principal: requester.principal(), event });
        while !events.is_empty() {
            let rest = events.split_off(events.len().min(APPEND_ENTRIES_MAX));
            self.record(requester.actor(), std::mem::replace(&mut events, rest), AppendClass::Normal).await?;
        }
        Ok(CommandReceipt::default())
    }

    async fn run_now(
        &mut self,
        requester: ScheduleRequester,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> Result<CommandReceipt, ScheduleError> {
        self.own(requester, schedule)?;
        let record = store::record(&self.ports, schedule).await?.ok_or(ScheduleError::NotFound)?;
        let check = check_occurrence(&*self.ports.facts, &record);
        let state = self.own(requester, schedule)?;
        let decision = complete(state, state.decide_start_now(now, check)?, check, now);
        let planned = decision.events.iter().find_map(|event| match event {
            ScheduleChange::OccurrenceCreated { planned, .. } => Some(*planned),
            _ => None,
        });
        let receipt = self.record_changes(requester, schedule, &decision.events).await?;
        let principal = requester.principal();
        let owned = |effect: &ScheduleEffect| OwnedEffect { schedule, principal, effect: *effect };
        self.effects.extend(decision.effects.iter().map(owned));
        Ok(CommandReceipt { planned, ..receipt })
    }
}

fn of_person(creator: PrincipalId) -> ScheduleProvenance {
    ScheduleProvenance { creator, made_by_run: None, taints: Taints::NONE, edited_by_person: false }
}

fn of_run(origin: &CallOrigin) -> ScheduleProvenance {
    ScheduleProvenance {
        made_by_run: Some(origin.call.run),
        taints: origin.taints,
        ..of_person(origin.call.principal)
    }
}

/// Returns the id of the schedule that a call makes: the same for a repetition after a crash, and as new as its run, since ids
/// order lists.
fn schedule_of_call(origin: &CallOrigin) -> ScheduleId {
    const TIME_BYTES: usize = 6;
    let CredentialUser { run, effect, .. } = origin.call;
    let digest = digest_of(format!("{run} {}", effect.0)).0;
    let mut id = run.to_bytes();
    id.iter_mut().skip(TIME_BYTES).zip(digest).for_each(|(byte, of_digest)| *byte = of_digest);
    ScheduleId::from_bytes(id)
}

/// The session of a schedule is bound to its agent, so an edit keeps it.
fn check_same_agent(before: SavedAction, after: SavedAction) -> Result<(), ScheduleError> {
    match (before, after) {
        (SavedAction::Run(before), SavedAction::Run(after)) if before.agent != after.agent => {
            let what =
                "the agent of a schedule cannot be changed: remove it, and create one with the other agent";
            Err(ScheduleError::invalid_argument(what))
        }
        _ => Ok(()),
    }
}
