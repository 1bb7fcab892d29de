//! Turns a step's events into entries, and appends them in one commit.
//!
//! Invariant: nothing of a step is kept, shown or performed unless its commit returned; only stopping is
//! quicker than that.

use palyra_ports::{
    AppendClass, AppendError, AttachedData, CommitReceipt, EntryActor, EntryBlobs, Guard, NewEntry,
    StaticText,
};
use palyra_run_core::RunStateMachine;
use palyra_types::access::ActorIdentity;
use palyra_types::approval::{ApprovalResolved, ApprovalState};
use palyra_types::event::{
    ApprovalEvent, DecidedBy, JournalEvent, RunEvent, TapeEvent, ToolDecided, ToolEvent,
};
use palyra_types::run::RunLifecycleState;
use palyra_types::session::SessionRef;
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_types::tool::ToolVerdict;
use palyra_types::{ApprovalId, RunId, Seq, StoredGrantId, TapeSeq, Timestamp};

use crate::run::mailbox::RunAcceptance;
use crate::run_context::RunContext;

/// One step, ready to be appended.
pub(super) struct StepRecord<'a> {
    pub(super) run: RunId,
    pub(super) session: SessionRef,
    pub(super) last: TapeSeq,
    pub(super) state_before: RunLifecycleState,
    pub(super) now: Timestamp,
    pub(super) events: &'a [TapeEvent],
    pub(super) statics: &'a [StaticText],
    /// Files that came with the events of these places.
    pub(super) blobs: &'a [EntryBlobs],
    /// Who acted with the events of these places.
    pub(super) actors: &'a [EntryActor],
    /// What is recorded with the step outside of the tape.
    pub(super) beside: Vec<NewEntry>,
    /// Set for the step that accepts the run.
    pub(super) accepts: Option<&'a RunAcceptance>,
}

impl StepRecord<'_> {
    /// Appends the step; returns its entries as anybody will read them from now on.
    pub(super) async fn append(
        &self,
        run_context: &RunContext,
    ) -> Result<Vec<OrchestratorTapeRecord>, AppendError> {
        let before = self.accepts.map(|acceptance| acceptance.entries_before.clone()).unwrap_or_default();
        let offset = before.len();
        let entries = before.into_iter().chain(self.events.iter().zip(1u32..).map(|(event, at)| NewEntry {
            time: self.now,
            principal: self.session.principal,
            session: Some(self.session.id),
            run: Some((self.run, TapeSeq(self.last.0 + at))),
            event: JournalEvent::Tape(event.clone()),
        }));
        let entries: Vec<_> = entries.chain(self.beside.iter().cloned()).collect();
        let policies = run_context.not_yet_stored(run_context.views.policy.texts_of(self.events));
        let statics: Vec<_> = self.statics.iter().cloned().chain(policies).collect();
        let stored: Vec<_> = statics.iter().map(|text| text.sha256).collect();
        let attached = AttachedData { actors: self.actors(offset), blobs: self.blobs(offset), statics };
        let recorded = run_context.ports.recorder.record_with(entries, self.class(), self.guards(), attached);
        let CommitReceipt { first_seq } = recorded.await?;
        run_context.remember_stored(&stored);
        Ok(self.records(Seq(first_seq.0 + offset as u64)))
    }

    fn actors(&self, offset: usize) -> Vec<EntryActor> {
        // A run begins with the entry that accepts it, and what comes before it was asked for with it.
        let accepted = self.accepts.and_then(|acceptance| acceptance.actor);
        let before =
            accepted.into_iter().flat_map(|actor| (0..=offset).map(move |entry| EntryActor { entry, actor }));
        let of_events = self.actors.iter().map(|by| EntryActor { entry: by.entry + offset, ..*by });
        before.chain(of_events).collect()
    }

    fn blobs(&self, offset: usize) -> Vec<EntryBlobs> {
        // A run begins with the entry that accepts it.
        let accepted =
            self.accepts.map(|acceptance| EntryBlobs { entry: 0, blobs: acceptance.blobs.clone() });
        let all = accepted.into_iter().chain(self.blobs.iter().cloned());
        let kept = all.filter(|of_entry| !of_entry.blobs.is_empty());
        kept.map(|of_entry| EntryBlobs { entry: of_entry.entry + offset, ..of_entry }).collect()
    }

    fn guards(&self) -> Vec<Guard> {
        let mut guards = match self.accepts {
            Some(acceptance) => acceptance.guards.clone(),
            None => vec![Guard::RunAt { run: self.run, tape_seq: self.last }],
        };
        let begins = self.state_before == RunLifecycleState::Pending
            && self.events.iter().any(RunStateMachine::is_begun_by);
        if begins {
            guards.push(Guard::NoOtherRunInProgress { session: self.session, run: self.run });
        }
        guards.extend(self.answered().map(|approval| Guard::ApprovalPending { approval }));
        let used = self.used_grants();
        guards.extend(used.map(|grant| Guard::GrantUsable { grant, now: self.now }));
        guards
    }

    /// Returns the stored grant that a guard of this step is about.
    pub(super) fn grant_at(&self, index: usize) -> Option<StoredGrantId> {
        if let Some(Guard::GrantUsable { grant, .. }) = self.guards().get(index) {
            Some(*grant)
        } else {
            None
        }
    }

    /// Returns the approvals that are decided or voted on here and were asked before.
    fn answered(&self) -> impl Iterator<Item = ApprovalId> {
        let asked_here = |approval: &ApprovalId| {
            let asks = |event: &TapeEvent| matches!(event, TapeEvent::Approval(ApprovalEvent::Requested(asked)) if asked.approval == *approval);
            self.events.iter().any(asks)
        };
        let answered = self.events.iter().filter_map(|event| {
            if let TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) = event {
                Some(resolved.approval)
            } else if let TapeEvent::Approval(ApprovalEvent::Voted(voted)) = event {
                Some(voted.approval)
            } else {
                None
            }
        });
        answered.filter(move |approval| !asked_here(approval))
    }

    /// Returns the stored grants that let calls run here.
    fn used_grants(&self) -> impl Iterator<Item = StoredGrantId> {
        self.events.iter().filter_map(|event| {
            if let TapeEvent::Tool(ToolEvent::Decided(ToolDecided {
                verdict: ToolVerdict::Allow,
                decided_by: DecidedBy::Grant(grant),
                ..
            })) = event
            {
                Some(*grant)
            } else {
                None
            }
        })
    }

    /// What ends something may use the space kept for endings.
    fn class(&self) -> AppendClass {
        let ends = |event: &TapeEvent| {
            matches!(
                event,
                TapeEvent::Tool(
                    ToolEvent::Finished(_)
                        | ToolEvent::OutcomeUnknown { .. }
                        | ToolEvent::EffectResolved { .. }
                ) | TapeEvent::Approval(ApprovalEvent::Resolved(ApprovalResolved {
                    state: ApprovalState::Denied | ApprovalState::Expired | ApprovalState::Withdrawn,
                    ..
                })) | TapeEvent::Run(RunEvent::CancelRequested { .. } | RunEvent::Finished(_))
            )
        };
        if self.events.iter().any(ends) { AppendClass::Ending } else { AppendClass::Normal }
    }

    fn actor_of(&self, at: u32) -> Option<ActorIdentity> {
        let accepted = self.accepts.filter(|_| at == 0).and_then(|acceptance| acceptance.actor);
        let of_event = || self.actors.iter().find(|by| u32::try_from(by.entry) == Ok(at)).map(|by| by.actor);
        accepted.or_else(of_event)
    }

    fn records(&self, first: Seq) -> Vec<OrchestratorTapeRecord> {
        let numbered = self.events.iter().zip(0u32..);
        let record = |(event, at): (&TapeEvent, u32)| OrchestratorTapeRecord {
            seq: Seq(first.0 + u64::from(at)),
            run: self.run,
            session: self.session.id,
            principal: self.session.principal,
            tape_seq: TapeSeq(self.last.0 + 1 + at),
            time: self.now,
            content: ContentState::Present,
            actor: self.actor_of(at),
            event: event.clone(),
        };
        numbered.map(record).collect()
    }
}
