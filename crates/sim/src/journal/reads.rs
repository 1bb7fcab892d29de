//! Reads that come late, or not.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use palyra_journal_core::family::{ReadFamilies, Snapshot, SnapshotQuery};
use palyra_ports::{Clock, ReadError, ReadTape, TapePage};
use palyra_types::attachment::{Blob, BlobRef};
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq, TapeSeq};

use super::SimJournal;
use super::observed_rows::{ObservedRows, ReadSubject};
use crate::fault::{Fault, Phase};
use crate::mutation::Mutation;
use crate::world::turns;

type JournalReading<T> = BoxFuture<'static, Result<T, ReadError>>;

/// Turns that a late read takes, at most.
const LATE_TURNS_MAX: u64 = 30;
/// Of so many queries, one takes place late.
const LATE_QUERY_OF: u64 = 16;
/// Time that a late read takes, at most.
const LATE_SPAN_MAX: Duration = Duration::from_secs(2);

impl SimJournal {
    /// Reads as the real one does: some way into the future, at one moment of it.
    pub(super) fn read<T: Send + 'static>(
        &self,
        phase: Phase,
        read: impl FnOnce(&Self) -> JournalReading<T> + Send + 'static,
    ) -> JournalReading<T> {
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
    fn twisted(&self, reading: JournalReading<TapePage>) -> JournalReading<TapePage> {
        if !self.world.mutates(Mutation::TwistsPages) {
            return reading;
        }
        async move {
            let mut page = reading.await?;
            for entry in &mut page.entries {
                if let TapeEvent::Model(ModelEvent::Text { text, .. }) = &mut entry.event {
                    *text = "twisted".into();
                }
            }
            Ok(page)
        }
        .boxed()
    }
}

impl ReadTape for SimJournal {
    fn tape(&self, run: RunId, after: TapeSeq, limit: usize) -> JournalReading<TapePage> {
        // Small pages now and then, so that what reads pages meets their edges.
        let limit =
            if self.world.dice.below(4) == 0 { limit.min(1 + self.world.dice.index(4)) } else { limit };
        let phase = self.run_phase(run);
        self.twisted(self.read(phase, move |journal| journal.memory.tape(run, after, limit)))
    }

    fn session_tape(
        &self,
        session: SessionRef,
        after: Option<Seq>,
        limit: usize,
    ) -> JournalReading<TapePage> {
        self.read(Phase::Idle, move |journal| journal.memory.session_tape(session, after, limit))
    }

    fn blob(&self, place: BlobRef) -> JournalReading<Option<Blob>> {
        self.read(self.run_phase(place.run), move |journal| journal.memory.blob(place))
    }
}

impl ReadFamilies for SimJournal {
    /// The phase of a query is known once the query has run, so faults strike after that; an answer is then dropped.
    fn run_query(&self, query: SnapshotQuery) -> JournalReading<()> {
        let world = Arc::clone(&self.world);
        let journal = self.clone();
        let before = world.dice.below(if world.dice.below(LATE_QUERY_OF) == 0 { LATE_TURNS_MAX } else { 3 });
        let subject = ReadSubject::default();
        let noted = subject.clone();
        let mutation = world.mutation;
        let observed: SnapshotQuery = Box::new(move |snapshot| {
            let mut rows = ObservedRows { rows: snapshot.rows, subject: noted, mutation };
            query(Snapshot { rows: &mut rows, log: snapshot.log })
        });
        async move {
            turns(before).await;
            let result = journal.memory.run_query(observed).await;
            let phase = match subject.run() {
                Some(run) => journal.run_phase(run),
                None if subject.is_new() => Phase::BeforeFirstCommit,
                None => Phase::Idle,
            };
            journal.read(phase, move |_| ready(result).boxed()).await
        }
        .boxed()
    }
}
