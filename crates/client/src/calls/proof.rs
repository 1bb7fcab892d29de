//! Signed heads, proofs and bundles.

use palyra_ledger::tree::verify_inclusion;
use palyra_ledger::{CheckpointNote, Envelope, NodeHash, leaf_hash};
use palyra_types::LogId;
use palyra_wire::v1;
use palyra_wire::v1::proof_service_client::ProofServiceClient;
use tonic::Streaming;

use super::call::{SHORT, required};
use crate::client::Client;
use crate::error::ClientError;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

/// A bundle on its way.
pub struct ExportedParts {
    stream: Streaming<v1::ExportJournalResponse>,
    endpoint: String,
}

impl ExportedParts {
    /// Returns the next part of a file; `None` when the bundle is whole.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; what was written so far is no bundle.
    pub async fn next(&mut self) -> Result<Option<v1::ExportJournalResponse>, ClientError> {
        self.stream.message().await.map_err(|status| ClientError::from_status(&status, &self.endpoint))
    }
}

/// An entry that belongs to a signed head, as was checked.
#[derive(Debug, Clone)]
pub struct ProvedEntry {
    /// The entry.
    pub seq: u64,
    /// Its leaf hash (hex).
    pub leaf: String,
    /// The log.
    pub log_id: LogId,
    /// Entries of the signed head.
    pub size: u64,
    /// Its root (hex).
    pub root: String,
    /// The proof as the daemon gave it.
    pub proof: v1::ProveEntryResponse,
}

impl ProvedEntry {
    fn check(seq: u64, proof: v1::ProveEntryResponse) -> Result<Self, ClientError> {
        const WRONG: ClientError = ClientError::Protocol { what: "the proof of an entry does not hold" };
        let checkpoint = proof.checkpoint.clone().ok_or(WRONG)?;
        let note = CheckpointNote::parse(checkpoint.note.as_bytes()).map_err(|_| WRONG)?;
        let head = *note.checkpoint();
        let envelope = Envelope::decode(&proof.envelope).map_err(|_| WRONG)?;
        if envelope.seq.0 != seq {
            return Err(WRONG);
        }
        let leaf = leaf_hash(&proof.envelope);
        let hash = |bytes: &Vec<u8>| <[u8; 32]>::try_from(bytes.as_slice()).map(NodeHash).map_err(|_| WRONG);
        let hashes = proof.hashes.iter().map(hash).collect::<Result<Vec<_>, _>>()?;
        verify_inclusion(leaf, seq, head.size, &hashes, head.root).map_err(|_| WRONG)?;
        Ok(Self {
            seq,
            leaf: hex(&leaf.0),
            log_id: head.log_id,
            size: head.size,
            root: hex(&head.root.0),
            proof,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Client {
    fn proof(&self) -> ProofServiceClient<Transport> {
        ProofServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Returns the newest signed head of the journal, if it has one.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn checkpoint(&self) -> Result<Option<v1::Checkpoint>, ClientError> {
        let request = v1::GetCheckpointRequest { sign_now: false, rotate_key: false };
        Ok(self.call(request).await?.checkpoint)
    }

    /// Has the journal sign what it holds now and returns that, stored; with `rotate_key` a new key begins.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn sign_checkpoint(
        &self,
        request: v1::GetCheckpointRequest,
    ) -> Result<v1::Checkpoint, ClientError> {
        let answer = self.call(request).await?;
        required(answer.checkpoint, "the signed head is missing")
    }

    /// Returns the proof that one size of the journal continues another; `new_size` 0 for the newest head's.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn prove_consistency(
        &self,
        old_size: u64,
        new_size: u64,
    ) -> Result<v1::ProveConsistencyResponse, ClientError> {
        self.call(v1::ProveConsistencyRequest { old_size, new_size }).await
    }

    /// Returns an entry's proof against a signed head, checked.
    ///
    /// # Errors
    /// The daemon's refusal, [`ClientError::Lost`], or [`ClientError::Protocol`] when it proves nothing.
    pub async fn prove_entry(&self, seq: u64) -> Result<ProvedEntry, ClientError> {
        let answer = self.call(v1::ProveEntryRequest { seq }).await?;
        ProvedEntry::check(seq, answer)
    }

    /// Asks for a bundle that can be checked without the daemon.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn export_journal(
        &self,
        what: v1::export_journal_request::What,
    ) -> Result<ExportedParts, ClientError> {
        let mut proof = self.proof();
        let request = v1::ExportJournalRequest { what: Some(what) };
        let stream = self.answer(SHORT, proof.export_journal(request)).await?;
        Ok(ExportedParts { stream, endpoint: self.endpoint() })
    }
}
