//! Reads that come late, or not.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_ports::read_records::{
    IdQuery, ReadRecords, RunFilter, RunQuery, SessionQuery, SessionTextQuery, SessionTexts,
};
use palyra_ports::{Clock, ReadError, ReadTape, TapePage};
use palyra_types::access::{PrincipalRecord, TokenRecord};
use palyra_types::agent::AgentRecord;
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::component::ComponentRecord;
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::posture::PostureRecord;
use palyra_types::run::{IdempotencyDigest, RunLifecycleState, RunRecord};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::shadow::ShadowCounts;
use palyra_types::skill::SkillRecord;
use palyra_types::{PrincipalId, Redacted, RunId, Seq, TapeSeq};

use super::SimJournal;
use crate::fault::{Fault, Phase};
use crate::mutation::Mutation;
use crate::world::turns;

type Reading<T> = BoxFuture<'static, Result<T, ReadError>>;

/// Turns that a late read takes, at most.
const LATE_TURNS_MAX: u64 = 30;
/// Time that a late read takes, at most.
const LATE_SPAN_MAX: Duration = Duration::from_secs(2);

impl SimJournal {
    /// Reads as the real one does: some way into the future, at one moment of it.
    pub(super) fn read<T: Send + 'static>(
        &self,
        phase: Phase,
        read: impl FnOnce(&Self) -> Reading<T> + Send + 'static,
    ) -> Reading<T> {
        let world = Arc::clone(&self.world);
        if world.strikes(Fault::ReadBusy, phase) {
            return ready(Err(ReadError::Busy)).boxed();
        }
        if world.strikes(Fault::ReadFails, phase) {
            return ready(Err(ReadError::Storage { what: "simulated".to_owned() })).boxed();
        }
        let late = world.strikes(Fault::ReadLate, phase);
        let (before, after) = if late {
            (world.dice.below(LATE_TURNS_MAX), world.dice.below(LATE_TURNS_MAX))
        } else {
            (world.dice.below(3), world.dice.below(3))
        };
        let pause = (late && world.dice.below(3) == 0).then(|| world.dice.span(LATE_SPAN_MAX));
        let journal = self.clone();
        async move {
            turns(before).await;
            let result = read(&journal).await;
            if let Some(pause) = pause {
                world.clock.sleep_until(world.clock.boot().after(pause)).await;
            }
            turns(after).await;
            result
        }
        .boxed()
    }

    fn run_phase(&self, run: RunId) -> Phase {
        self.world.oracle().phase_of(run)
    }

    /// Makes the mistakes of a page.
    fn twisted(&self, reading: Reading<TapePage>) -> Reading<TapePage> {
        if !self.world.mutates(Mutation::TwistsPages) {
            return reading;
        }
        async move {
            let mut page = reading.await?;
            for entry in &mut page.entries {
                if let TapeEvent::Model(ModelEvent::Text { text, .. }) = &mut entry.event {
                    *text = Redacted::new("twisted".to_owned());
                }
            }
            Ok(page)
        }
        .boxed()
    }
}

impl ReadTape for SimJournal {
    fn tape(&self, run: RunId, after: TapeSeq, limit: usize) -> Reading<TapePage> {
        // Small pages now and then, so that what reads pages meets their edges.
        let limit =
            if self.world.dice.below(4) == 0 { limit.min(1 + self.world.dice.index(4)) } else { limit };
        let phase = self.run_phase(run);
        self.twisted(self.read(phase, move |journal| journal.memory.tape(run, after, limit)))
    }

    fn session_tape(&self, session: SessionRef, after: Option<Seq>, limit: usize) -> Reading<TapePage> {
        self.read(Phase::Idle, move |journal| journal.memory.session_tape(session, after, limit))
    }

    fn blob(&self, place: BlobRef) -> Reading<Option<Blob>> {
        self.read(self.run_phase(place.run), move |journal| journal.memory.blob(place))
    }
}

impl ReadRecords for SimJournal {
    fn run(&self, run: RunId) -> Reading<Option<RunRecord>> {
        self.read(self.run_phase(run), move |journal| journal.memory.run(run))
    }

    fn run_by_idempotency(
        &self,
        principal: PrincipalId,
        digest: IdempotencyDigest,
    ) -> Reading<Option<RunId>> {
        let known = self.memory.run_by_idempotency(principal, digest).now_or_never();
        let phase = match known {
            Some(Ok(Some(run))) => self.run_phase(run),
            Some(Ok(None) | Err(_)) | None => Phase::BeforeFirstCommit,
        };
        self.read(phase, move |journal| journal.memory.run_by_idempotency(principal, digest))
    }

    fn runs(&self, query: RunQuery) -> Reading<Vec<RunRecord>> {
        let forgets = self.world.mutates(Mutation::ForgetsWhoIsActive) && query.only == RunFilter::Open;
        let reading = self.read(Phase::Idle, move |journal| journal.memory.runs(query));
        async move {
            let mut runs = reading.await?;
            if forgets {
                runs.retain(|run| run.state == RunLifecycleState::Pending);
            }
            Ok(runs)
        }
        .boxed()
    }

    fn open_runs(&self) -> Reading<Vec<RunRecord>> {
        let forgets = self.world.mutates(Mutation::ForgetsAnOpenRun);
        let reading = self.read(Phase::Idle, move |journal| journal.memory.open_runs());
        async move {
            let mut runs = reading.await?;
            if forgets {
                runs.clear();
            }
            Ok(runs)
        }
        .boxed()
    }

    fn session(&self, session: SessionRef) -> Reading<Option<OrchestratorSessionRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.session(session))
    }

    fn session_by_key(
        &self,
        principal: PrincipalId,
        key: String,
    ) -> Reading<Option<OrchestratorSessionRecord>> {
        self.read(Phase::BeforeFirstCommit, move |journal| journal.memory.session_by_key(principal, key))
    }

    fn reset_before(&self, session: SessionRef, seq: Seq) -> Reading<Option<Seq>> {
        self.read(Phase::Idle, move |journal| journal.memory.reset_before(session, seq))
    }

    fn sessions(&self, query: SessionQuery) -> Reading<Vec<OrchestratorSessionRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.sessions(query))
    }

    fn session_texts(&self, query: SessionTextQuery) -> Reading<Vec<SessionTexts>> {
        self.read(Phase::Idle, move |journal| journal.memory.session_texts(query))
    }

    fn ids(&self, query: IdQuery) -> Reading<Vec<[u8; 16]>> {
        self.read(Phase::Idle, move |journal| journal.memory.ids(query))
    }

    fn agents(&self) -> Reading<Vec<AgentRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.agents())
    }

    fn skills(&self) -> Reading<Vec<SkillRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.skills())
    }

    fn components(&self) -> Reading<Vec<ComponentRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.components())
    }

    fn postures(&self) -> Reading<Vec<PostureRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.postures())
    }

    fn shadow(&self, candidate: Option<[u8; 32]>) -> Reading<Option<ShadowCounts>> {
        self.read(Phase::Idle, move |journal| journal.memory.shadow(candidate))
    }

    fn principals(&self) -> Reading<Vec<PrincipalRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.principals())
    }

    fn tokens(&self) -> Reading<Vec<TokenRecord>> {
        self.read(Phase::Idle, move |journal| journal.memory.tokens())
    }
}
