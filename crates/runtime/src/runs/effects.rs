//! Effects, for callers: what runs did, and what a person says about what nobody knew.

use palyra_admin::Caller;
use palyra_journal_core::families::{approvals, effects, undos};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_ports::{AppendClass, AppendError, Guard, NewEntry};
use palyra_run_core::RunInput;
use palyra_types::access::ActorIdentity;
use palyra_types::effect::{EffectRecord, EffectResolution, EffectSettled, EffectState, UndoSummary};
use palyra_types::event::{EffectEvent, JournalEvent, TapeEvent, ToolEvent};
use palyra_types::job::JobState;
use palyra_types::session::SessionRef;
use palyra_types::{Content, EffectId, Redacted, RunId, TapeSeq};

use crate::approvals::APPROVAL_NOTE_CHARS_MAX;
use crate::error::RequestError;
use crate::run::InputData;

use super::RunsHandle;

/// Entries before the start of an effect among which its proposal is looked for.
const PROPOSAL_ENTRIES: u32 = 64;

impl RunsHandle {
    /// Lists effects of the caller's runs, newest first; the query's principal is the caller's.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn effects(
        &self,
        caller: Caller,
        query: EffectQuery,
    ) -> Result<Vec<EffectRecord>, RequestError> {
        let limit = query.limit.min(RECORD_PAGE_ROWS_MAX);
        let query = EffectQuery { principal: Some(caller.actor.principal), limit, ..query };
        Ok(self.engine.ports.families.query(move |rows, _| effects::records(rows, &query)).await?)
    }

    /// Returns what became of the newest undo of a run of the caller; nothing where there was none.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run; [`RequestError::Read`].
    pub async fn newest_undo(&self, caller: Caller, run: RunId) -> Result<Option<UndoSummary>, RequestError> {
        self.get(caller, run).await?;
        Ok(self.engine.ports.families.query(move |rows, log| undos::newest_of_run(rows, log, run)).await?)
    }

    /// Returns what the call of an effect does, in one line: as it was asked about, or as it was proposed.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn effect_summary(&self, record: &EffectRecord) -> Result<Redacted<String>, RequestError> {
        let ports = &self.engine.ports;
        let asked = match record.approval {
            Some(approval) => {
                ports.families.query(move |rows, log| approvals::record(rows, log, approval)).await?
            }
            None => None,
        };
        if let Some(summary) =
            asked.map(|asked| asked.prompt.summary).filter(|text| !text.expose().is_empty())
        {
            return Ok(summary);
        }
        let after = TapeSeq(record.started_at.0.0.saturating_sub(PROPOSAL_ENTRIES));
        let page = ports.tapes.tape(record.run, after, PROPOSAL_ENTRIES as usize).await?;
        let proposed = page.entries.into_iter().find_map(|entry| {
            let TapeEvent::Tool(ToolEvent::Proposed(proposed)) = entry.event else { return None };
            (proposed.effect == record.effect).then_some(proposed.arguments)
        });
        Ok(proposed.unwrap_or_default())
    }

    /// Says what became of an effect whose outcome nobody knew; returns once that is durable. Saying the same again
    /// changes nothing. The tape of a run that is over stays as it is: what is said then is an entry beside it, as is
    /// what is said of a job.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run; [`RequestError::EffectNotUnknown`];
    /// [`RequestError::RunFinished`] for [`EffectResolution::Retry`] in a run that is over: nothing tries again there;
    /// [`RequestError::InvalidArgument`] for it where a job is in doubt, which is no part of its run any more.
    pub async fn resolve_effect(
        &self,
        caller: Caller,
        run: RunId,
        effect: EffectId,
        resolution: EffectResolution,
        note: Content<String>,
    ) -> Result<EffectRecord, RequestError> {
        if note.expose().chars().count() > APPROVAL_NOTE_CHARS_MAX {
            let what = "a note has at most 2,000 characters".to_owned();
            return Err(RequestError::InvalidArgument { what });
        }
        let record = self.find(caller, run, effect).await?;
        match record.state {
            EffectState::Unknown => {}
            EffectState::Resolved(before) if before == resolution => return Ok(record),
            EffectState::Started | EffectState::Finished | EffectState::Failed | EffectState::Resolved(_) => {
                return Err(RequestError::EffectNotUnknown);
            }
        }
        let note = self.engine.ports.redactor.redact(note).text;
        let settled = EffectSettled { run, effect, resolution, by: caller.actor.principal, note };
        let doubts_job = record.job.is_some_and(|job| job.state == JobState::InDoubt);
        let said = if doubts_job {
            self.settle_job(&record, settled, caller.actor).await
        } else {
            self.settle_call(&record, settled, caller.actor).await
        };
        match said {
            Ok(()) => self.find(caller, run, effect).await,
            Err(RequestError::EffectNotUnknown) => {
                let record = self.find(caller, run, effect).await?;
                let same = record.state == EffectState::Resolved(resolution);
                if same { Ok(record) } else { Err(RequestError::EffectNotUnknown) }
            }
            Err(error) => Err(error),
        }
    }

    async fn settle_job(
        &self,
        record: &EffectRecord,
        settled: EffectSettled,
        actor: ActorIdentity,
    ) -> Result<(), RequestError> {
        match settled.resolution {
            EffectResolution::Happened | EffectResolution::DidNotHappen => {
                self.settle(record, settled, actor).await
            }
            EffectResolution::Retry => {
                let what = "a job is not started again; say `happened` or `did-not-happen`".to_owned();
                Err(RequestError::InvalidArgument { what })
            }
        }
    }

    /// Tells the run, which waits for it, or says it beside the tape of a run that is over.
    async fn settle_call(
        &self,
        record: &EffectRecord,
        settled: EffectSettled,
        actor: ActorIdentity,
    ) -> Result<(), RequestError> {
        let EffectSettled { run, effect, resolution, by, note } = settled.clone();
        let input = RunInput::EffectResolved { effect, resolution, by, note };
        let session = SessionRef { principal: record.principal, id: record.session };
        match self.sessions.deliver(session, run, input, InputData::by(actor)).await {
            Err(RequestError::RunFinished) => self.settle(record, settled, actor).await,
            delivered => delivered.map(drop),
        }
    }

    /// Records what a person says of an effect beside the tape of its run.
    async fn settle(
        &self,
        record: &EffectRecord,
        settled: EffectSettled,
        actor: ActorIdentity,
    ) -> Result<(), RequestError> {
        match settled.resolution {
            EffectResolution::Happened | EffectResolution::DidNotHappen => {}
            EffectResolution::Retry => return Err(RequestError::RunFinished),
        }
        let (ports, run, effect) = (&self.engine.ports, settled.run, settled.effect);
        let entry = NewEntry {
            time: ports.clock.wall(),
            principal: record.principal,
            session: Some(record.session),
            run: None,
            event: JournalEvent::Effect(EffectEvent::Settled(settled)),
        };
        let guards = vec![Guard::EffectUnknown { run, effect }];
        match ports.recorder.record_act(actor, vec![entry], AppendClass::Ending, guards).await {
            Ok(_) => self.engine.hub.attention_changed(),
            Err(AppendError::GuardFailed { .. }) => return Err(RequestError::EffectNotUnknown),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn find(&self, caller: Caller, run: RunId, effect: EffectId) -> Result<EffectRecord, RequestError> {
        let mut query = EffectQuery {
            principal: Some(caller.actor.principal),
            run: Some(run),
            only: EffectFilter::All,
            before: None,
            limit: RECORD_PAGE_ROWS_MAX,
        };
        self.engine.ports.run_of(caller.actor.principal, run).await?;
        loop {
            let of_page = query.clone();
            let page =
                self.engine.ports.families.query(move |rows, _| effects::records(rows, &of_page)).await?;
            query.before = page.last().map(|record| record.started_at.1);
            let full = page.len() == RECORD_PAGE_ROWS_MAX;
            if let Some(found) = page.into_iter().find(|record| record.effect == effect) {
                return Ok(found);
            }
            if !full {
                return Err(RequestError::EffectNotUnknown);
            }
        }
    }
}
