//! `ScheduleService`: runs and reminders of the caller at planned times.
//!
//! Invariant: no request names a principal; the schedules are the caller's.

use palyra_runtime::Caller;
use palyra_scheduler::{
    ClockOddity, DraftAction, DraftTimes, ListedSchedule, PlannedTime, ScheduleDraft, ScheduleError,
};
use palyra_types::schedule::{
    MissedRule, OccurrenceCause, OccurrenceOutcome, OccurrenceRecord, OccurrenceRefusal, OccurrenceStage,
    OverlapRule, PauseCause, ScheduleRules, SkipReason,
};
use palyra_types::{Content, ScheduleId};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::known_value::known;
use crate::operations::OperationHandlers;
use crate::translate;

/// The text of a preview, which is not looked at.
const NO_TEXT: &str = "preview";

impl OperationHandlers {
    /// Answers `PreviewSchedule`.
    pub async fn preview_schedule(
        &self,
        caller: Caller,
        message: v1::PreviewScheduleRequest,
    ) -> Result<v1::PreviewScheduleResponse, ApiError> {
        let mut draft = message.draft.unwrap_or_default();
        if draft.prompt.is_empty() && draft.reminder.is_empty() {
            NO_TEXT.clone_into(&mut draft.reminder);
        }
        let preview = self.state.schedules.preview(caller, &read_draft(draft)?)?;
        Ok(v1::PreviewScheduleResponse {
            times: preview.times,
            cron: preview.cron.unwrap_or_default(),
            time_zone: preview.zone,
            next: preview.next.into_iter().map(planned_time).collect(),
        })
    }

    /// Answers `CreateSchedule`.
    pub async fn create_schedule(
        &self,
        caller: Caller,
        message: v1::CreateScheduleRequest,
    ) -> Result<v1::CreateScheduleResponse, ApiError> {
        let draft = read_draft(message.draft.unwrap_or_default())?;
        let schedule = self.state.schedules.create(caller, draft).await?;
        Ok(v1::CreateScheduleResponse { schedule_id: schedule.to_string() })
    }

    /// Answers `ListSchedules`.
    pub async fn list_schedules(
        &self,
        caller: Caller,
        _message: v1::ListSchedulesRequest,
    ) -> Result<v1::ListSchedulesResponse, ApiError> {
        let listed = self.state.schedules.list(caller).await?;
        Ok(v1::ListSchedulesResponse { schedules: listed.into_iter().map(schedule).collect() })
    }

    /// Answers `GetSchedule`.
    pub async fn get_schedule(
        &self,
        caller: Caller,
        message: v1::GetScheduleRequest,
    ) -> Result<v1::GetScheduleResponse, ApiError> {
        let details = self.state.schedules.get(caller, schedule_id(&message.schedule_id)?).await?;
        Ok(v1::GetScheduleResponse {
            schedule: Some(schedule(details.listed)),
            next: details.next.into_iter().map(planned_time).collect(),
            occurrences: details.occurrences.into_iter().map(occurrence).collect(),
        })
    }

    /// Answers `EditSchedule`.
    pub async fn edit_schedule(
        &self,
        caller: Caller,
        message: v1::EditScheduleRequest,
    ) -> Result<v1::EditScheduleResponse, ApiError> {
        let id = schedule_id(&message.schedule_id)?;
        let draft = read_draft(message.draft.unwrap_or_default())?;
        self.state.schedules.edit(caller, id, draft).await?;
        Ok(v1::EditScheduleResponse {})
    }

    /// Answers `PauseSchedule`.
    pub async fn pause_schedule(
        &self,
        caller: Caller,
        message: v1::PauseScheduleRequest,
    ) -> Result<v1::PauseScheduleResponse, ApiError> {
        match message.schedule_id.as_str() {
            "" => self.state.schedules.pause_all(caller).await?,
            id => self.state.schedules.pause(caller, schedule_id(id)?).await?,
        }
        Ok(v1::PauseScheduleResponse {})
    }

    /// Answers `ResumeSchedule`.
    pub async fn resume_schedule(
        &self,
        caller: Caller,
        message: v1::ResumeScheduleRequest,
    ) -> Result<v1::ResumeScheduleResponse, ApiError> {
        match message.schedule_id.as_str() {
            "" => self.state.schedules.resume_all(caller).await?,
            id => self.state.schedules.resume(caller, schedule_id(id)?).await?,
        }
        Ok(v1::ResumeScheduleResponse {})
    }

    /// Answers `RemoveSchedule`.
    pub async fn remove_schedule(
        &self,
        caller: Caller,
        message: v1::RemoveScheduleRequest,
    ) -> Result<v1::RemoveScheduleResponse, ApiError> {
        self.state.schedules.remove(caller, schedule_id(&message.schedule_id)?).await?;
        Ok(v1::RemoveScheduleResponse {})
    }

    /// Answers `RunScheduleNow`.
    pub async fn run_schedule_now(
        &self,
        caller: Caller,
        message: v1::RunScheduleNowRequest,
    ) -> Result<v1::RunScheduleNowResponse, ApiError> {
        let planned = self.state.schedules.run_now(caller, schedule_id(&message.schedule_id)?).await?;
        Ok(v1::RunScheduleNowResponse { planned: translate::timestamp(planned) })
    }
}

impl From<ScheduleError> for ApiError {
    fn from(error: ScheduleError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

fn schedule_id(text: &str) -> Result<ScheduleId, ApiError> {
    Ok(translate::id("schedule_id", text)?)
}

fn read_draft(message: v1::ScheduleDraft) -> Result<ScheduleDraft, ApiError> {
    let times = read_times(&message)?;
    let rules = read_rules(&message)?;
    let action = match (message.prompt.is_empty(), message.reminder.is_empty()) {
        (false, true) => DraftAction::Run {
            prompt: Content::new(message.prompt),
            agent: Some(message.agent).filter(|agent| !agent.is_empty()),
        },
        (true, false) => DraftAction::Remind(Content::new(message.reminder)),
        _ => return Err(ApiError::invalid_argument("exactly one of `prompt` and `reminder` must be given")),
    };
    let name = Some(message.name).filter(|name| !name.is_empty()).map(Content::new);
    let zone = Some(message.time_zone).filter(|zone| !zone.is_empty());
    Ok(ScheduleDraft { name, times, zone, rules, action })
}

fn read_times(message: &v1::ScheduleDraft) -> Result<DraftTimes, ApiError> {
    let given = [
        (!message.words.is_empty()).then(|| DraftTimes::Words(message.words.clone())),
        (!message.cron.is_empty()).then(|| DraftTimes::Cron(message.cron.clone())),
        (message.every_minutes > 0).then_some(DraftTimes::EveryMinutes(message.every_minutes)),
        (!message.at.is_empty()).then(|| DraftTimes::At(message.at.clone())),
    ];
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(times), None) => Ok(times),
        _ => Err(ApiError::invalid_argument(
            "exactly one of `words`, `cron`, `every_minutes` and `at` must be given",
        )),
    }
}

fn read_rules(message: &v1::ScheduleDraft) -> Result<ScheduleRules, ApiError> {
    let missed = match known(message.missed, "missed", v1::ScheduleMissedRule::SHORT_NAMES)? {
        v1::ScheduleMissedRule::Skip => MissedRule::Skip,
        v1::ScheduleMissedRule::Unspecified | v1::ScheduleMissedRule::RunOnce => MissedRule::RunOnce,
        v1::ScheduleMissedRule::CatchUp => {
            // A number that does not fit is over the limit, which the rules say.
            MissedRule::CatchUp { count_max: u8::try_from(message.catch_up_max).unwrap_or(u8::MAX) }
        }
    };
    let overlap = match known(message.overlap, "overlap", v1::ScheduleOverlapRule::SHORT_NAMES)? {
        v1::ScheduleOverlapRule::Unspecified | v1::ScheduleOverlapRule::Forbid => OverlapRule::Forbid,
        v1::ScheduleOverlapRule::Queue => OverlapRule::Queue,
        v1::ScheduleOverlapRule::Replace => OverlapRule::Replace,
    };
    Ok(ScheduleRules { missed, overlap, jitter_seconds: message.jitter_seconds })
}

fn planned_time(time: PlannedTime) -> v1::PlannedScheduleTime {
    let oddity = match time.oddity {
        None => v1::ScheduleClockOddity::Unspecified,
        Some(ClockOddity::EndOfGap) => v1::ScheduleClockOddity::EndOfGap,
        Some(ClockOddity::FirstOfTwo) => v1::ScheduleClockOddity::FirstOfTwo,
        Some(ClockOddity::OneOfTwo) => v1::ScheduleClockOddity::OneOfTwo,
    };
    v1::PlannedScheduleTime {
        planned: translate::timestamp(time.planned),
        local: time.local,
        oddity: oddity.into(),
    }
}

fn schedule(listed: ListedSchedule) -> v1::Schedule {
    let row = listed.record.row;
    let saved = listed.record.saved;
    let paused = match row.progress.paused {
        Some(PauseCause::Person) => v1::SchedulePauseCause::Person,
        Some(PauseCause::Failures) => v1::SchedulePauseCause::Failures,
        Some(PauseCause::Refused) => v1::SchedulePauseCause::Refused,
        None if listed.is_paused_with_others => v1::SchedulePauseCause::All,
        None => v1::SchedulePauseCause::Unspecified,
    };
    let (missed, catch_up_max) = match saved.rules.missed {
        MissedRule::Skip => (v1::ScheduleMissedRule::Skip, 0),
        MissedRule::RunOnce => (v1::ScheduleMissedRule::RunOnce, 0),
        MissedRule::CatchUp { count_max } => (v1::ScheduleMissedRule::CatchUp, count_max.into()),
    };
    let overlap = match saved.rules.overlap {
        OverlapRule::Forbid => v1::ScheduleOverlapRule::Forbid,
        OverlapRule::Queue => v1::ScheduleOverlapRule::Queue,
        OverlapRule::Replace => v1::ScheduleOverlapRule::Replace,
    };
    v1::Schedule {
        schedule_id: row.schedule.to_string(),
        name: saved.name.into_exposed(),
        times: listed.times,
        time_zone: listed.zone,
        text: saved.text.into_exposed(),
        is_reminder: listed.agent.is_none(),
        agent: listed.agent.unwrap_or_default(),
        paused: paused.into(),
        next: listed.next.map(planned_time),
        missed: missed.into(),
        catch_up_max,
        overlap: overlap.into(),
        jitter_seconds: saved.rules.jitter_seconds,
        created: translate::timestamp(row.created),
        failures: row.progress.failures,
        unreadable: listed.unreadable.unwrap_or_default(),
        session_key: listed.session_key,
        made_by_run_id: saved.provenance.made_by_run.map(|run| run.to_string()).unwrap_or_default(),
        is_running: row.progress.running.is_some(),
    }
}

fn occurrence(record: OccurrenceRecord) -> v1::ScheduleOccurrence {
    use v1::{ScheduleOccurrenceReason as Reason, ScheduleOccurrenceStage as Stage};
    let cause = match record.cause {
        None => Reason::Unspecified,
        Some(OccurrenceCause::Due) => Reason::Due,
        Some(OccurrenceCause::Missed) => Reason::CaughtUp,
        Some(OccurrenceCause::Manual) => Reason::Manual,
    };
    let mut last_skipped = None;
    let mut skipped_count = 0;
    let (stage, reason) = match record.stage {
        OccurrenceStage::Waiting => (Stage::Waiting, cause),
        OccurrenceStage::Running => (Stage::Running, cause),
        OccurrenceStage::Finished(OccurrenceOutcome::Succeeded) => (Stage::Succeeded, cause),
        OccurrenceStage::Finished(OccurrenceOutcome::Failed) => (Stage::Failed, cause),
        OccurrenceStage::Finished(OccurrenceOutcome::Cancelled) => (Stage::Cancelled, cause),
        OccurrenceStage::Finished(OccurrenceOutcome::Replaced) => (Stage::Replaced, cause),
        OccurrenceStage::Skipped(reason) => (Stage::Skipped, skip_reason(reason)),
        OccurrenceStage::SkippedMany { last, count } => {
            last_skipped = translate::timestamp(last);
            skipped_count = count.unwrap_or(0);
            (Stage::Skipped, Reason::Missed)
        }
    };
    v1::ScheduleOccurrence {
        planned: translate::timestamp(record.planned),
        stage: stage.into(),
        reason: reason.into(),
        started: record.started.and_then(translate::timestamp),
        run_id: record.run.map(|run| run.to_string()).unwrap_or_default(),
        explanation: record.explanation.into_exposed(),
        last_skipped,
        skipped_count,
    }
}

fn skip_reason(reason: SkipReason) -> v1::ScheduleOccurrenceReason {
    use v1::ScheduleOccurrenceReason as Reason;
    match reason {
        SkipReason::Missed => Reason::Missed,
        SkipReason::Overlap => Reason::Overlap,
        SkipReason::LineFull => Reason::LineFull,
        SkipReason::Replaced => Reason::Replaced,
        SkipReason::Paused => Reason::Paused,
        SkipReason::Removed => Reason::Removed,
        SkipReason::Edited => Reason::Edited,
        SkipReason::Refused(OccurrenceRefusal::Creator) => Reason::Creator,
        SkipReason::Refused(OccurrenceRefusal::AgentGone) => Reason::AgentGone,
        SkipReason::Refused(OccurrenceRefusal::AgentChanged) => Reason::AgentChanged,
        SkipReason::Refused(OccurrenceRefusal::PromptChanged) => Reason::TextChanged,
        SkipReason::Refused(OccurrenceRefusal::TargetChanged) => Reason::TargetChanged,
        SkipReason::Refused(OccurrenceRefusal::Policy) => Reason::Policy,
    }
}
