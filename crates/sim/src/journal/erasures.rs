//! Erasures, shown to the oracle in the moment of their commit.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::maintain_journal::ProgressCallback;
use palyra_ports::{
    AppendError, EraseError, EraseJournal, ErasureOrder, ErasurePlan, ErasureReceipt, ErasureSubject,
    MaintainJournal, ReadError, Redactor,
};
use palyra_types::Seq;
use palyra_types::event::{JournalEvent, SessionEvent};

use super::SimJournal;
use crate::fault::Phase;
use crate::mutation::Mutation;

impl SimJournal {
    /// Returns whether a mistake of this story leaves an entry out of erasures.
    fn spares(&self, seq: Seq) -> bool {
        let entry = self.memory.entries(seq, 1).now_or_never().and_then(Result::ok);
        match entry.as_ref().and_then(|page| page.first()).map(|entry| &entry.event) {
            Some(JournalEvent::Memory(_)) => self.world.mutates(Mutation::SparesItems),
            Some(JournalEvent::Session(SessionEvent::Compacted(_))) => {
                self.world.mutates(Mutation::SparesSummaries)
            }
            _ => false,
        }
    }
}

impl EraseJournal for SimJournal {
    fn find(&self, subject: ErasureSubject) -> BoxFuture<'static, Result<ErasurePlan, ReadError>> {
        let journal = self.clone();
        self.read(Phase::Idle, move |read| read.memory.find(subject))
            .map(move |found| {
                found.map(|mut plan| {
                    plan.ranges.retain(|range| !journal.spares(range.first));
                    plan
                })
            })
            .boxed()
    }

    fn find_secrets(
        &self,
        redactor: Arc<dyn Redactor>,
        progress: ProgressCallback,
    ) -> BoxFuture<'static, Result<ErasurePlan, ReadError>> {
        self.memory.find_secrets(redactor, progress)
    }

    fn erase(&self, order: ErasureOrder) -> BoxFuture<'static, Result<ErasureReceipt, EraseError>> {
        let journal = self.clone();
        async move {
            if journal.is_quarantined() {
                return Err(AppendError::Quarantined.into());
            }
            let erased = EraseJournal::erase(&journal.memory, order).await;
            journal.show_oracle();
            erased
        }
        .boxed()
    }
}
