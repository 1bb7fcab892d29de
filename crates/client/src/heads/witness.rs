//! Asking the daemon to prove that its log continues what was seen of it.

use std::path::Path;

use palyra_ledger::tree::{NodeHash, ProofRefused, SizedRoot, verify_consistency};
use palyra_types::proof::TreeHead;
use palyra_types::{ErrorCode, LogId};
use palyra_wire::v1;

use super::folder::HeadsFolder;
use super::seen::SeenHead;
use crate::client::Client;
use crate::error::ClientError;
use crate::notice::{DaemonNotice, KeptEntries};

/// Hashes of a proof that are looked at, at most: twice the levels of a tree of 2^63 leaves.
const PROOF_HASHES_MAX: usize = 126;

/// A signed head that a person gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenUpHead {
    /// The log.
    pub log_id: LogId,
    /// Entries of the head that was seen.
    pub known: u64,
    /// Entries of the head that is kept now.
    pub entries: u64,
}

impl Client {
    /// Demands that the journal continues what was seen of it, where heads are kept.
    pub(crate) async fn witness(&self) -> Result<(), ClientError> {
        match self.heads() {
            Some(folder) => check(self, &folder).await,
            None => Ok(()),
        }
    }

    /// Keeps the head that came at the end of a stream; a daemon that is gone meanwhile is asked next time.
    pub(crate) async fn keep_head(&self, checkpoint: v1::Checkpoint) -> Result<(), ClientError> {
        let Some(folder) = self.heads() else { return Ok(()) };
        match keep(self, &folder, checkpoint).await {
            Err(error) if error.is_lost() => Ok(()),
            kept => kept,
        }
    }

    /// Gives up the head that is kept in `heads` where the daemon's log does not continue it, and keeps the daemon's newest
    /// head instead. Returns what was given up; `None` where the log continues what was seen of it.
    ///
    /// # Errors
    /// Why the daemon could not be asked; [`ClientError::HeadNotReplaced`] when the folder cannot be written.
    pub async fn give_up_kept_head(&self, heads: &Path) -> Result<Option<GivenUpHead>, ClientError> {
        let folder = HeadsFolder::at(heads);
        let now = self.checkpoint().await?.map(SeenHead::from_wire).transpose()?;
        let log = match &now {
            Some(now) => Some(now.log_id),
            None => folder.log_of(&self.options().target.to_string()),
        };
        let Some(kept) = log.and_then(|log| folder.head(log)) else { return Ok(None) };
        match demand(self, &kept, now.as_ref().map(|now| now.head)).await {
            Err(ClientError::RolledBack { .. } | ClientError::Forked { .. }) => {}
            continued => return continued.map(|()| None),
        }
        let replaced = folder.give_up(&kept, now.as_ref());
        replaced.map_err(|cause| ClientError::HeadNotReplaced { cause: cause.to_string() })?;
        Ok(Some(GivenUpHead {
            log_id: kept.log_id,
            known: kept.head.size,
            entries: now.map_or(0, |now| now.head.size),
        }))
    }

    fn heads(&self) -> Option<HeadsFolder> {
        self.options().heads.as_deref().map(HeadsFolder::at)
    }
}

/// Demands that the daemon's log continues the head that is kept of it, and keeps the newer one.
///
/// # Errors
/// [`ClientError::RolledBack`], [`ClientError::Forked`], or why the daemon could not be asked. A folder that
/// cannot be written is told as a notice.
async fn check(client: &Client, heads: &HeadsFolder) -> Result<(), ClientError> {
    let daemon = client.options().target.to_string();
    let served = heads.log_of(&daemon);
    let now = match client.checkpoint().await {
        Ok(now) => now.map(SeenHead::from_wire).transpose()?,
        // A daemon from before there were heads; nothing of it can have been kept.
        Err(error) if error.code() == ErrorCode::BuildMismatch && served.is_none() => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some(mut now) = now else {
        let kept = served.and_then(|log| heads.head(log));
        return match kept {
            Some(kept) => demand(client, &kept, None).await,
            None => Ok(()),
        };
    };
    if let Some(before) = served.filter(|before| *before != now.log_id) {
        let seen = heads.head(before);
        let entries = seen.as_ref().map_or(0, |head| head.head.size);
        let kept = kept_entries(client, seen.as_ref(), now.head).await?;
        (client.options().notices)(DaemonNotice::OtherLog { before, now: now.log_id, entries, kept });
    }
    if let Some(kept) = heads.head(now.log_id) {
        // Another client of this user may have kept a newer head since the daemon was asked.
        if kept.head.size > now.head.size
            && let Some(later) = client.checkpoint().await?.map(SeenHead::from_wire).transpose()?
        {
            now = later;
        }
        demand(client, &kept, Some(now.head)).await?;
    }
    store(client, heads, &daemon, &now);
    Ok(())
}

/// Asks a log in the place of another one to prove that it continues what was seen of that one: entries keep their places
/// when a log is opened again over them.
async fn kept_entries(
    client: &Client,
    seen: Option<&SeenHead>,
    now: TreeHead,
) -> Result<KeptEntries, ClientError> {
    let Some(seen) = seen else { return Ok(KeptEntries::NotAll) };
    match demand(client, seen, Some(now)).await {
        Ok(()) => Ok(KeptEntries::All),
        Err(ClientError::RolledBack { .. } | ClientError::Forked { .. }) => Ok(KeptEntries::NotAll),
        Err(error) => Err(error),
    }
}

/// Keeps a head that came with a stream, once the daemon proves that it continues the one that is kept.
async fn keep(client: &Client, heads: &HeadsFolder, checkpoint: v1::Checkpoint) -> Result<(), ClientError> {
    let seen = SeenHead::from_wire(checkpoint)?;
    if let Some(kept) = heads.head(seen.log_id) {
        if kept.head.size > seen.head.size {
            // Another client of this user was faster, and has asked for a proof itself.
            return Ok(());
        }
        demand(client, &kept, Some(seen.head)).await?;
    }
    store(client, heads, &client.options().target.to_string(), &seen);
    Ok(())
}

fn store(client: &Client, heads: &HeadsFolder, daemon: &str, head: &SeenHead) {
    if let Err(error) = heads.keep(daemon, head) {
        (client.options().notices)(DaemonNotice::HeadNotKept { cause: error.to_string() });
    }
}

/// Demands that the log continues `kept`; up to `now`, or to wherever the daemon says that it is.
async fn demand(client: &Client, kept: &SeenHead, now: Option<TreeHead>) -> Result<(), ClientError> {
    let known = kept.head;
    let rolled_back = |entries| ClientError::RolledBack { known: known.size, entries };
    if let Some(now) = now.filter(|now| now.size <= known.size) {
        return match now {
            now if now.size < known.size => Err(rolled_back(Some(now.size))),
            now if now.root == known.root => Ok(()),
            _ => Err(ClientError::Forked { known: known.size }),
        };
    }
    let proof = match client.prove_consistency(known.size, now.map_or(0, |now| now.size)).await {
        Err(ClientError::Refused { code: ErrorCode::JournalRange, .. }) => return Err(rolled_back(None)),
        proof => proof?,
    };
    judge(known, now, &proof)
}

fn judge(
    known: TreeHead,
    now: Option<TreeHead>,
    proof: &v1::ProveConsistencyResponse,
) -> Result<(), ClientError> {
    let forked = || ClientError::Forked { known: known.size };
    let hash = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).map(NodeHash).map_err(|_| PROTOCOL);
    if proof.hashes.len() > PROOF_HASHES_MAX {
        return Err(PROTOCOL);
    }
    let hashes = proof.hashes.iter().map(|bytes| hash(bytes)).collect::<Result<Vec<_>, _>>()?;
    let new_root = hash(&proof.new_root)?;
    if now.is_some_and(|now| now.size != proof.new_size || now.root != new_root.0) {
        return Err(forked());
    }
    let old = SizedRoot::new(known.size, NodeHash(known.root));
    let new = SizedRoot::new(proof.new_size, new_root);
    match verify_consistency(old, new, &hashes) {
        Ok(()) => Ok(()),
        Err(ProofRefused::SizesOutOfOrder) => {
            Err(ClientError::RolledBack { known: known.size, entries: Some(proof.new_size) })
        }
        Err(ProofRefused::IndexOutside | ProofRefused::Length | ProofRefused::Root) => Err(forked()),
    }
}

const PROTOCOL: ClientError = ClientError::Protocol { what: "a proof is out of shape" };
