//! A signed head as a client sees it: what the daemon says of it has to be what its note says.

use std::sync::Arc;

use palyra_ledger::CheckpointNote;
use palyra_types::LogId;
use palyra_types::proof::{CHECKPOINT_NOTE_BYTES_MAX, TreeHead};
use palyra_wire::v1;

use crate::error::ClientError;

/// A head with the note that says it. Signatures are kept as evidence; `palyra-verify` checks them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenHead {
    pub(crate) log_id: LogId,
    pub(crate) head: TreeHead,
    pub(crate) note: Arc<str>,
}

const MALFORMED: ClientError = ClientError::Protocol { what: "a signed head is malformed" };

impl SeenHead {
    /// Reads what a note says.
    pub(crate) fn from_note(note: Arc<str>) -> Result<Self, ClientError> {
        if note.len() > CHECKPOINT_NOTE_BYTES_MAX {
            return Err(MALFORMED);
        }
        let parsed = CheckpointNote::parse(note.as_bytes()).map_err(|_| MALFORMED)?;
        let said = parsed.checkpoint();
        let head = TreeHead { size: said.size, root: said.root.0 };
        Ok(Self { log_id: said.log_id, head, note })
    }

    /// Takes a head from the daemon.
    pub(crate) fn from_wire(checkpoint: v1::Checkpoint) -> Result<Self, ClientError> {
        let seen = Self::from_note(checkpoint.note.into())?;
        let agrees = seen.log_id.to_string() == checkpoint.log_id
            && seen.head.size == checkpoint.size
            && seen.head.root == *checkpoint.root;
        if agrees { Ok(seen) } else { Err(MALFORMED) }
    }
}
