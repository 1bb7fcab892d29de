//! `ProofService`: signed heads and proofs for every principal, bundles for the owner of the socket.
//!
//! The gate keeps bundles and entries for the owner; here only a request to sign is checked once more.
//! Invariant: a token gives access to sizes, roots and hashes, and to no content of other principals.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{Export, ExportPart, ExportSink, KeyChoice};
use palyra_runtime::Caller;
use palyra_types::Seq;
use palyra_types::proof::SignedCheckpoint;
use palyra_wire::v1::export_journal_request::What;
use palyra_wire::v1::{
    Checkpoint, ExportJournalRequest, ExportJournalResponse, GetCheckpointRequest, GetCheckpointResponse,
    ProveConsistencyRequest, ProveConsistencyResponse, ProveEntryRequest, ProveEntryResponse,
};
use tokio::runtime::Handle;

use crate::api_error::ApiError;
use crate::operations::{OperationHandlers, ResponseSender, ResponseStream, respond};
use crate::translate;

/// Parts of a bundle waiting for one client.
const PARTS_QUEUED_MAX: usize = 16;
/// How long a client may take nothing while a bundle is made for it.
const PART_SPAN_MAX: Duration = Duration::from_secs(30);
/// Bytes of one part, at most.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// Returns a signed head as the wire spells it.
pub fn checkpoint_to_wire(checkpoint: &SignedCheckpoint) -> Checkpoint {
    Checkpoint {
        log_id: checkpoint.log_id.to_string(),
        size: checkpoint.head.size,
        root: checkpoint.head.root.to_vec(),
        note: checkpoint.note.to_string(),
    }
}

fn owner_only(caller: Caller) -> Result<(), ApiError> {
    if caller.is_in_person() {
        return Ok(());
    }
    Err(ApiError::permission_denied("this is for the owner of the daemon, over its own socket"))
}

impl OperationHandlers {
    /// Answers `GetCheckpoint`.
    pub async fn get_checkpoint(
        &self,
        caller: Caller,
        message: GetCheckpointRequest,
    ) -> Result<GetCheckpointResponse, ApiError> {
        let checkpoint = match (message.rotate_key, message.sign_now) {
            (false, false) => self.state.journal.newest_checkpoint(),
            (rotate, _) => {
                owner_only(caller)?;
                let key = if rotate { KeyChoice::Rotate } else { KeyChoice::Current };
                Some(self.state.journal.sign_checkpoint(key).await?)
            }
        };
        Ok(GetCheckpointResponse { checkpoint: checkpoint.as_ref().map(checkpoint_to_wire) })
    }

    /// Answers `ProveConsistency`.
    pub async fn prove_consistency(
        &self,
        _caller: Caller,
        message: ProveConsistencyRequest,
    ) -> Result<ProveConsistencyResponse, ApiError> {
        let signed = self.state.journal.newest_checkpoint().map_or(0, |checkpoint| checkpoint.head.size);
        let entries = self.state.journal.status().entries;
        let new_size = match message.new_size {
            // The newest head may be older than what a client has seen of one that was signed later and lost.
            0 if signed < message.old_size => entries,
            0 => signed,
            size => size,
        };
        let proof = self.state.journal.consistency(message.old_size, new_size).await?;
        Ok(ProveConsistencyResponse {
            old_root: proof.old_root.to_vec(),
            new_size,
            new_root: proof.new_root.to_vec(),
            hashes: hashes(&proof.hashes),
        })
    }

    /// Answers `ProveEntry`.
    pub async fn prove_entry(
        &self,
        _caller: Caller,
        message: ProveEntryRequest,
    ) -> Result<ProveEntryResponse, ApiError> {
        let seq = Seq(message.seq);
        let newest = self.state.journal.newest_checkpoint().filter(|checkpoint| checkpoint.head.size > seq.0);
        let checkpoint = match newest {
            Some(checkpoint) => checkpoint,
            None => self.state.journal.sign_checkpoint(KeyChoice::Current).await?,
        };
        let proof = self.state.journal.inclusion(seq, checkpoint.head.size).await?;
        Ok(ProveEntryResponse {
            kind: translate::journal_kind(&proof.event),
            envelope: proof.envelope,
            hashes: hashes(&proof.hashes),
            checkpoint: Some(checkpoint_to_wire(&checkpoint)),
        })
    }

    /// Answers `ExportJournal`: exports while the client listens.
    pub async fn export_journal(
        &self,
        _caller: Caller,
        message: ExportJournalRequest,
    ) -> Result<ResponseStream<ExportJournalResponse>, ApiError> {
        let what = export_of(message)?;
        let journal = self.state.journal.clone();
        Ok(respond(PARTS_QUEUED_MAX, |response_tx| async move {
            Ok(journal.export(what, sink_into(response_tx, PART_SPAN_MAX)).await?)
        }))
    }
}

/// Passes parts on; the exporting thread waits for a client that is slow, and stops for one that is gone or takes
/// nothing for `span_max`: while it waits, its snapshot keeps the write-ahead log from being emptied.
fn sink_into(response_tx: ResponseSender<ExportJournalResponse>, span_max: Duration) -> ExportSink {
    let runtime = Handle::current();
    Arc::new(move |part: ExportPart| {
        let path = part.path.to_string();
        let whole = if part.data.is_empty() {
            vec![&part.data[..]]
        } else {
            part.data.chunks(PART_BYTES_MAX).collect()
        };
        whole.into_iter().all(|data| {
            let response = ExportJournalResponse { path: path.clone(), data: data.to_vec() };
            runtime.block_on(response_tx.send_timeout(Ok(response), span_max)).is_ok()
        })
    })
}

fn hashes(hashes: &[[u8; 32]]) -> Vec<Vec<u8>> {
    hashes.iter().map(|hash| hash.to_vec()).collect()
}

fn export_of(message: ExportJournalRequest) -> Result<Export, ApiError> {
    match message.what {
        Some(What::RunId(run)) => Ok(Export::Run(translate::id("run_id", &run)?)),
        Some(What::Tiles(true)) => Ok(Export::Tiles),
        Some(What::Tiles(false)) | None => {
            Err(ApiError::invalid_argument("an export is of a run or of the tiles"))
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_client_that_takes_nothing_ends_its_export() {
        let (response_tx, mut parts) = mpsc::channel(PARTS_QUEUED_MAX);
        let sink = sink_into(response_tx, Duration::from_millis(1));
        let exporting = tokio::task::spawn_blocking(move || {
            let part = |_| ExportPart { path: "a".into(), data: vec![0; PART_BYTES_MAX + 1] };
            (0..PARTS_QUEUED_MAX).map(part).take_while(|part| sink(part.clone())).count()
        });
        assert_eq!(
            exporting.await.unwrap(),
            PARTS_QUEUED_MAX / 2,
            "each part has two messages, and nobody took one"
        );
        assert_eq!(parts.recv().await.unwrap().unwrap().data.len(), PART_BYTES_MAX);
    }
}
