//! What tools do with schedules: the same as callers, for the principal of their run.
//!
//! Invariant: a schedule that a call makes records the run and what it had read, and starts runs of the agent of that run and
//! of no other one. The text of a refusal has no content: the model reads it.

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::{AdminError, Caller};
use palyra_journal_core::families::{runs, schedules};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{
    CredentialUser, PlannedSchedule, ScheduleRefusal, ToolSchedule, ToolScheduleAction, ToolScheduleDraft,
    UseSchedules,
};
use palyra_schedule::{ClockOddity, SCHEDULES_PER_PRINCIPAL_MAX, TooManySchedules};
use palyra_types::ScheduleId;
use palyra_types::schedule::{MissedRule, OverlapRule, ScheduleRules};
use palyra_types::tool::Taints;

use crate::command::{CallOrigin, ScheduleRequest, ScheduleRequester};
use crate::draft::{CheckedDraft, DraftAction, PlannedTime, ScheduleDraft};
use crate::error::ScheduleError;
use crate::handle::SchedulesHandle;
use crate::listing::ListedSchedule;

/// The rules of a schedule that a tool makes: those that the command line has where a person does not choose.
const RULES: ScheduleRules =
    ScheduleRules { missed: MissedRule::RunOnce, overlap: OverlapRule::Forbid, jitter_seconds: 0 };

impl UseSchedules for SchedulesHandle {
    fn plan(
        &self,
        call: CredentialUser,
        draft: ToolScheduleDraft,
    ) -> BoxFuture<'static, Result<PlannedSchedule, ScheduleRefusal>> {
        let handle = self.clone();
        async move { Ok(handle.plan_for(call, draft).await?) }.boxed()
    }

    fn create(
        &self,
        call: CredentialUser,
        taints: Taints,
        draft: ToolScheduleDraft,
    ) -> BoxFuture<'static, Result<ToolSchedule, ScheduleRefusal>> {
        let handle = self.clone();
        async move { Ok(handle.create_for(CallOrigin { call, taints }, draft).await?) }.boxed()
    }

    fn list(&self, call: CredentialUser) -> BoxFuture<'static, Result<Vec<ToolSchedule>, ScheduleRefusal>> {
        let handle = self.clone();
        async move {
            let listed = handle.list(reader(call)).await?;
            Ok(listed.into_iter().map(shown).collect())
        }
        .boxed()
    }

    fn find(
        &self,
        call: CredentialUser,
        schedule: ScheduleId,
    ) -> BoxFuture<'static, Result<ToolSchedule, ScheduleRefusal>> {
        let handle = self.clone();
        async move { Ok(shown(handle.get(reader(call), schedule).await?.listed)) }.boxed()
    }

    fn cancel(
        &self,
        call: CredentialUser,
        schedule: ScheduleId,
    ) -> BoxFuture<'static, Result<(), ScheduleRefusal>> {
        let handle = self.clone();
        async move {
            let requester = ScheduleRequester::Run(CallOrigin { call, taints: Taints::NONE });
            handle.send_as(requester, ScheduleRequest::Remove(schedule)).await?;
            Ok(())
        }
        .boxed()
    }
}

impl SchedulesHandle {
    async fn plan_for(
        &self,
        call: CredentialUser,
        draft: ToolScheduleDraft,
    ) -> Result<PlannedSchedule, ScheduleError> {
        let draft = self.draft_for(call, draft).await?;
        let principal = call.principal;
        // Before a person is asked; the loop checks it again.
        let known = self.ports.families.query(move |rows, log| {
            schedules::of_principal(rows, log, principal, SCHEDULES_PER_PRINCIPAL_MAX)
        });
        if known.await?.len() >= SCHEDULES_PER_PRINCIPAL_MAX {
            return Err(TooManySchedules.into());
        }
        let checked = CheckedDraft::new(&self.ports, &self.zones, principal, &draft)?;
        let preview = checked.preview(self.ports.clock.wall());
        let agent = match draft.action {
            DraftAction::Remind(_) => None,
            DraftAction::Run { agent, .. } => agent,
        };
        let next = preview.next.into_iter().map(time_text).collect();
        let times = checked.exact_times();
        Ok(PlannedSchedule { words: preview.times, times, zone: preview.zone, next, agent })
    }

    async fn create_for(
        &self,
        origin: CallOrigin,
        draft: ToolScheduleDraft,
    ) -> Result<ToolSchedule, ScheduleError> {
        let draft = Box::new(self.draft_for(origin.call, draft).await?);
        let made = self.send_as(ScheduleRequester::Run(origin), ScheduleRequest::Create(draft)).await?;
        let schedule = made.schedule.ok_or(ScheduleError::Stopped)?;
        Ok(shown(self.get(reader(origin.call), schedule).await?.listed))
    }

    /// Adds the rules and the agent of the run, and refuses where the role of the principal has no schedules.
    async fn draft_for(
        &self,
        call: CredentialUser,
        draft: ToolScheduleDraft,
    ) -> Result<ScheduleDraft, ScheduleError> {
        if !self.ports.facts.creator(call.principal).may_start_runs {
            return Err(ScheduleError::NotAllowed);
        }
        let ToolScheduleDraft { name, times, zone, action, text } = draft;
        let action = match action {
            ToolScheduleAction::Reminder => DraftAction::Remind(text),
            ToolScheduleAction::Run => {
                let agent = Some(self.agent_of(call).await?);
                DraftAction::Run { prompt: text, agent }
            }
        };
        Ok(ScheduleDraft { name, times, zone, rules: RULES, action })
    }

    /// Returns the agent of the run: another one might be allowed more.
    async fn agent_of(&self, call: CredentialUser) -> Result<String, ScheduleError> {
        let run = self.ports.families.query(move |rows, _| runs::record(rows, call.run)).await?;
        let run = run.ok_or(AdminError::RunNotFound)?;
        let agent = self.ports.facts.agent(run.agent).ok_or(AdminError::AgentNotFound)?;
        Ok(agent.name)
    }
}

/// Reads schedules for the principal of a call; nothing is recorded of it.
fn reader(call: CredentialUser) -> Caller {
    Caller::at_socket(call.principal)
}

fn time_text(time: PlannedTime) -> String {
    let note = match time.oddity {
        None => return time.local,
        Some(ClockOddity::EndOfGap) => {
            "the local clock skips the planned time, so this is the end of the gap"
        }
        Some(ClockOddity::FirstOfTwo) => "the local clock shows this time twice, and this is the first",
        Some(ClockOddity::OneOfTwo) => "the local clock shows this time twice",
    };
    format!("{} ({note})", time.local)
}

fn shown(listed: ListedSchedule) -> ToolSchedule {
    let ListedSchedule { record, times, zone, next, is_paused_with_others, agent, .. } = listed;
    let saved = record.saved;
    ToolSchedule {
        schedule: saved.schedule,
        name: saved.name,
        words: times,
        zone,
        next: next.map(time_text),
        is_paused: is_paused_with_others || record.row.progress.paused.is_some(),
        agent,
        text: saved.text,
        taints: saved.provenance.taints,
    }
}

impl From<ScheduleError> for ScheduleRefusal {
    fn from(error: ScheduleError) -> Self {
        let message = match &error {
            // The hint of the message is a command of a person.
            ScheduleError::NotFound => "no such schedule; `schedule_list` shows them".to_owned(),
            other => other.to_string(),
        };
        Self { code: error.code(), message }
    }
}
