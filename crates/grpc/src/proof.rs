//! `ProofService`: signed heads and proofs for everybody, bundles for the owner of the socket.
//!
//! The gate keeps bundles and entries for the owner; here only the wish to sign is looked at once more.
//! Invariant: whoever holds a token learns sizes, roots and hashes, and nothing of what others wrote.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{Export, ExportPart, ExportSink, KeyChoice};
use palyra_runtime::Caller;
use palyra_runtime::journal::JournalHandle;
use palyra_types::Seq;
use palyra_types::proof::SignedCheckpoint;
use palyra_types::run::Surface;
use palyra_wire::v1::export_journal_request::What;
use palyra_wire::v1::proof_service_server::ProofService;
use palyra_wire::v1::{
    Checkpoint, ExportJournalRequest, ExportJournalResponse, GetCheckpointRequest, GetCheckpointResponse,
    ProveConsistencyRequest, ProveConsistencyResponse, ProveEntryRequest, ProveEntryResponse,
};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// Parts of a bundle waiting for one client.
const PARTS_QUEUED_MAX: usize = 16;
/// How long a client may take nothing while a bundle is made for it.
const PART_SPAN_MAX: Duration = Duration::from_secs(30);
/// Bytes of one part, at most.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// Answers `palyra.v1.ProofService`.
pub(crate) struct ProofServiceImpl {
    journal: JournalHandle,
}

/// Returns a signed head as the wire spells it.
pub(crate) fn checkpoint_to_wire(checkpoint: &SignedCheckpoint) -> Checkpoint {
    Checkpoint {
        log_id: checkpoint.log_id.to_string(),
        size: checkpoint.head.size,
        root: checkpoint.head.root.to_vec(),
        note: checkpoint.note.to_string(),
    }
}

fn owner_only(caller: Caller) -> Result<(), Refusal> {
    match caller.surface {
        Surface::LocalSocket => Ok(()),
        Surface::Tcp => {
            Err(Refusal::permission_denied("this is for the owner of the daemon, over its own socket"))
        }
    }
}

impl ProofServiceImpl {
    pub(crate) fn new(journal: JournalHandle) -> Self {
        Self { journal }
    }

    async fn checkpoint(
        &self,
        caller: Caller,
        message: GetCheckpointRequest,
    ) -> Result<GetCheckpointResponse, Refusal> {
        let checkpoint = match (message.rotate_key, message.sign_now) {
            (false, false) => self.journal.newest_checkpoint(),
            (rotate, _) => {
                owner_only(caller)?;
                let key = if rotate { KeyChoice::Rotate } else { KeyChoice::Current };
                Some(self.journal.sign_checkpoint(key).await?)
            }
        };
        Ok(GetCheckpointResponse { checkpoint: checkpoint.as_ref().map(checkpoint_to_wire) })
    }

    async fn consistency(
        &self,
        message: ProveConsistencyRequest,
    ) -> Result<ProveConsistencyResponse, Refusal> {
        let signed = self.journal.newest_checkpoint().map_or(0, |checkpoint| checkpoint.head.size);
        let entries = self.journal.status().entries;
        let new_size = match message.new_size {
            // The newest head may be older than what a client has seen of one that was signed later and lost.
            0 if signed < message.old_size => entries,
            0 => signed,
            size => size,
        };
        let proof = self.journal.consistency(message.old_size, new_size).await?;
        Ok(ProveConsistencyResponse {
            old_root: proof.old_root.to_vec(),
            new_size,
            new_root: proof.new_root.to_vec(),
            hashes: hashes(&proof.hashes),
        })
    }

    async fn entry(&self, message: ProveEntryRequest) -> Result<ProveEntryResponse, Refusal> {
        let seq = Seq(message.seq);
        let newest = self.journal.newest_checkpoint().filter(|checkpoint| checkpoint.head.size > seq.0);
        let checkpoint = match newest {
            Some(checkpoint) => checkpoint,
            None => self.journal.sign_checkpoint(KeyChoice::Current).await?,
        };
        let proof = self.journal.inclusion(seq, checkpoint.head.size).await?;
        Ok(ProveEntryResponse {
            kind: translate::journal_kind(&proof.event),
            envelope: proof.envelope,
            hashes: hashes(&proof.hashes),
            checkpoint: Some(checkpoint_to_wire(&checkpoint)),
        })
    }

    /// Exports while somebody listens.
    fn export(&self, what: Export) -> ReceiverStream<Result<ExportJournalResponse, Status>> {
        let (told, parts) = mpsc::channel(PARTS_QUEUED_MAX);
        let journal = self.journal.clone();
        let sink = sink_into(told.clone(), PART_SPAN_MAX);
        let work = async move {
            if let Err(error) = journal.export(what, sink).await {
                // Fails only when nobody listens any more.
                let _ = told.send(Err(Refusal::from(error).into())).await;
            }
        };
        tokio::spawn(work.in_current_span());
        ReceiverStream::new(parts)
    }
}

/// Passes parts on; the exporting thread waits for a client that is slow, and stops for one that is gone or takes
/// nothing for `span_max`: while it waits, its snapshot keeps the write-ahead log from being emptied.
fn sink_into(told: mpsc::Sender<Result<ExportJournalResponse, Status>>, span_max: Duration) -> ExportSink {
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
            runtime.block_on(told.send_timeout(Ok(response), span_max)).is_ok()
        })
    })
}

fn hashes(hashes: &[[u8; 32]]) -> Vec<Vec<u8>> {
    hashes.iter().map(|hash| hash.to_vec()).collect()
}

fn export_of(message: ExportJournalRequest) -> Result<Export, Refusal> {
    match message.what {
        Some(What::RunId(run)) => Ok(Export::Run(translate::id("run_id", &run)?)),
        Some(What::Tiles(true)) => Ok(Export::Tiles),
        Some(What::Tiles(false)) | None => {
            Err(Refusal::invalid_argument("an export is of a run or of the tiles"))
        }
    }
}

#[tonic::async_trait]
impl ProofService for ProofServiceImpl {
    type ExportJournalStream = ReceiverStream<Result<ExportJournalResponse, Status>>;

    async fn get_checkpoint(
        &self,
        request: Request<GetCheckpointRequest>,
    ) -> Result<Response<GetCheckpointResponse>, Status> {
        let (caller, message) = auth::open(request)?;
        Ok(Response::new(self.checkpoint(caller, message).await?))
    }

    async fn prove_consistency(
        &self,
        request: Request<ProveConsistencyRequest>,
    ) -> Result<Response<ProveConsistencyResponse>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(self.consistency(message).await?))
    }

    async fn prove_entry(
        &self,
        request: Request<ProveEntryRequest>,
    ) -> Result<Response<ProveEntryResponse>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(self.entry(message).await?))
    }

    async fn export_journal(
        &self,
        request: Request<ExportJournalRequest>,
    ) -> Result<Response<Self::ExportJournalStream>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(self.export(export_of(message)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_client_that_takes_nothing_ends_its_export() {
        let (told, mut parts) = mpsc::channel(PARTS_QUEUED_MAX);
        let sink = sink_into(told, Duration::from_millis(1));
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
