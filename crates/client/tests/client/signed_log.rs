//! A log that signs its heads and proves what it is asked, honestly about whatever leaves it has.

use std::sync::{Arc, Mutex};

use palyra_ledger::tree::{Subtree, consistency_proof, node_hash, root_at};
use palyra_ledger::{Checkpoint, EpochKey, LeafHash, NodeHash, leaf_hash};
use palyra_types::LogId;
use palyra_wire::v1;
use palyra_wire::v1::proof_service_server::ProofService;
use tonic::{Request, Response, Status};

/// What the daemon serves now; a test changes it as an attacker would.
#[derive(Clone, Default)]
pub(crate) struct SignedLog(Arc<Mutex<Served>>);

#[derive(Default)]
struct Served {
    log: u8,
    leaves: Vec<LeafHash>,
    /// Signs nothing.
    mute: bool,
}

impl SignedLog {
    /// Serves `entries` entries whose first `honest` are those that every log of these tests begins with.
    pub(crate) fn serve(&self, log: u8, entries: u64, honest: u64) {
        let leaf = |n: u64| leaf_hash(format!("{n}{}", if n < honest { "" } else { "'" }).as_bytes());
        let mut served = self.0.lock().unwrap();
        (served.log, served.leaves) = (log, (0..entries).map(leaf).collect());
    }

    pub(crate) fn fall_silent(&self) {
        self.0.lock().unwrap().mute = true;
    }

    pub(crate) fn head(&self) -> Option<v1::Checkpoint> {
        let served = self.0.lock().unwrap();
        if served.mute || served.leaves.is_empty() {
            return None;
        }
        let (size, log_id) = (served.leaves.len() as u64, LogId([served.log; 16]));
        let root = served.root(size);
        let note = Checkpoint { log_id, size, root }.sign(&[&EpochKey::from_entropy([served.log; 32])]);
        Some(v1::Checkpoint { log_id: log_id.to_string(), size, root: root.0.to_vec(), note: note.encode() })
    }
}

impl Served {
    fn subtree(&self, Subtree { level, index }: Subtree) -> NodeHash {
        match level.checked_sub(1) {
            None => NodeHash::from(self.leaves[index as usize]),
            Some(level) => {
                let child = |index| self.subtree(Subtree { level, index });
                node_hash(child(index * 2), child(index * 2 + 1))
            }
        }
    }

    fn root(&self, size: u64) -> NodeHash {
        root_at::<()>(size, |subtree| Ok(self.subtree(subtree))).unwrap()
    }
}

#[tonic::async_trait]
impl ProofService for SignedLog {
    async fn get_checkpoint(
        &self,
        _: Request<v1::GetCheckpointRequest>,
    ) -> Result<Response<v1::GetCheckpointResponse>, Status> {
        Ok(Response::new(v1::GetCheckpointResponse { checkpoint: self.head() }))
    }

    async fn prove_consistency(
        &self,
        request: Request<v1::ProveConsistencyRequest>,
    ) -> Result<Response<v1::ProveConsistencyResponse>, Status> {
        let request = request.into_inner();
        let served = self.0.lock().unwrap();
        let entries = served.leaves.len() as u64;
        let new_size = if request.new_size == 0 { entries } else { request.new_size };
        if request.old_size > new_size || new_size > entries {
            let mut status = Status::out_of_range("journal_range: there are fewer");
            status.metadata_mut().insert("palyra-error-code", "PLY-2009".parse().unwrap());
            return Err(status);
        }
        let hashes =
            consistency_proof::<()>(request.old_size, new_size, |subtree| Ok(served.subtree(subtree)))
                .unwrap();
        Ok(Response::new(v1::ProveConsistencyResponse {
            old_root: served.root(request.old_size).0.to_vec(),
            new_size,
            new_root: served.root(new_size).0.to_vec(),
            hashes: hashes.iter().map(|hash| hash.0.to_vec()).collect(),
        }))
    }
}
