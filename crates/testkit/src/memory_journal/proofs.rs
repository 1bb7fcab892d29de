//! The port of proofs: a journal in memory has no key and no tree, and says so.

use std::future::ready;

use futures::future::BoxFuture;
use palyra_ports::{
    ConsistencyProof, Export, ExportSink, InclusionProof, KeyChoice, MaintainJournal, ProofError,
    ProveJournal,
};
use palyra_types::Seq;
use palyra_types::proof::SignedCheckpoint;

use super::MemoryJournal;

fn refused<T: Send + 'static>() -> BoxFuture<'static, Result<T, ProofError>> {
    Box::pin(ready(Err(ProofError::CannotSign { why: "a journal in memory has no key" })))
}

impl MemoryJournal {
    fn beyond<T: Send + 'static>(&self) -> BoxFuture<'static, Result<T, ProofError>> {
        Box::pin(ready(Err(ProofError::OutOfRange { entries: self.status().entries })))
    }
}

impl ProveJournal for MemoryJournal {
    fn newest_checkpoint(&self) -> Option<SignedCheckpoint> {
        None
    }

    fn checkpoint_over(&self, _: Seq) -> BoxFuture<'static, Option<SignedCheckpoint>> {
        Box::pin(ready(None))
    }

    fn sign_checkpoint(&self, _: KeyChoice) -> BoxFuture<'static, Result<SignedCheckpoint, ProofError>> {
        refused()
    }

    fn inclusion(&self, _: Seq, _: u64) -> BoxFuture<'static, Result<InclusionProof, ProofError>> {
        self.beyond()
    }

    fn consistency(&self, _: u64, _: u64) -> BoxFuture<'static, Result<ConsistencyProof, ProofError>> {
        self.beyond()
    }

    fn export(&self, _: Export, _: ExportSink) -> BoxFuture<'static, Result<(), ProofError>> {
        refused()
    }
}
