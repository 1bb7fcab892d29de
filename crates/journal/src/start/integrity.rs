//! How a log stands at start: whether its end, its tree, its newest signed head, the anchor and its key agree.
//!
//! Owns the cheap checks of a start; checking everything is `verify`'s. Reads the end of the log, the tree's edge
//! and one note, whatever the log's size. Begin at [`judge`].

use palyra_journal_core::families::epochs::StartedEpoch;
use palyra_ledger::tree::{Tiled, TiledError, root_at};
use palyra_ledger::{CheckpointNote, EpochKey, LogOrigin, NodeHash, TreeWriter, log_name, log_origin};
use palyra_ports::ReadOnlyCause;
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::TreeHead;
use palyra_types::{Epoch, LogId, Seq};
use rusqlite::{Connection, OptionalExtension};

use super::error::OpenError;
use super::frontier;
use super::options::OpenOptions;
use super::tail::LogTail;
use crate::entry::StoredEntry;
use crate::fault::ReadFault;
use crate::rows;
use crate::sign::{self, Anchor};
use crate::sql::u64_from_sql;
use crate::tree::StoredTiles;

/// Keys of one log that sign a handover, at most: more would not fit into a note.
const HANDOVER_KEYS_MAX: usize = 8;

/// How a log stands.
pub(super) enum LogState {
    /// Everything agrees.
    Sound {
        tree: Box<TreeWriter>,
        /// Keys that are vouched for, ascending; none only where a log of format 1 has no signed head yet.
        keys: Vec<EpochKey>,
    },
    /// It may be read and not written.
    Doubtful { cause: ReadOnlyCause },
}

/// Judges a log that has entries; returns too the newest head of it that is held anywhere.
pub(super) fn judge(
    options: &OpenOptions,
    connection: &Connection,
    tail: &LogTail,
) -> Result<(LogState, Option<TreeHead>), OpenError> {
    let log_id = tail.chain.log_id;
    let entries = tail.chain.next_seq.0;
    let newest = newest_note(connection, log_id)?;
    let stored = match &newest {
        NewestNote::Note(note) => Some(head_of(note)),
        NewestNote::Missing | NewestNote::Malformed => None,
    };
    let anchored = match &options.anchor_dir {
        Some(folder) => Anchor::of(folder, log_id).read().map_err(OpenError::doing("reading the anchor"))?,
        None => None,
    };
    let held = [stored, anchored].into_iter().flatten().max_by_key(|head| head.size);
    let doubtful = |cause| Ok((LogState::Doubtful { cause }, held));
    let Some(tree) = frontier::restore(connection, tail)? else {
        return doubtful(ReadOnlyCause::TailDisagrees);
    };
    if let Some(anchored) = anchored
        && !holds(connection, entries, anchored)?
    {
        tracing::error!(
            anchored = anchored.size,
            entries,
            "the log is behind a head of it, or has another history"
        );
        return doubtful(ReadOnlyCause::BehindAnchor { anchored: anchored.size });
    }
    if let Some(stored) = stored
        && !holds(connection, entries, stored)?
    {
        tracing::error!(signed = stored.size, entries, "the log contradicts its newest signed head");
        return doubtful(ReadOnlyCause::TailDisagrees);
    }
    let signers = match newest {
        NewestNote::Malformed => Err("the newest signed head is malformed"),
        NewestNote::Note(note) => {
            signers(connection, log_id, &note)?.ok_or("the newest signed head is badly signed")
        }
        NewestNote::Missing => Ok(unsigned_log(connection, log_id)?),
    };
    let signers = match signers {
        Ok(signers) => signers,
        Err(what) => {
            tracing::error!("{what}");
            return doubtful(ReadOnlyCause::TailDisagrees);
        }
    };
    match available_keys(options, signers)? {
        Some(keys) => Ok((LogState::Sound { tree: Box::new(tree), keys }, held)),
        None => {
            tracing::error!("the key that signed the log's newest head is gone");
            doubtful(ReadOnlyCause::KeyLost)
        }
    }
}

/// Returns whether the log begins with the entries of a head.
pub(super) fn holds(connection: &Connection, entries: u64, head: TreeHead) -> Result<bool, OpenError> {
    if head.size > entries {
        return Ok(false);
    }
    let mut tree = Tiled::new(StoredTiles(connection), entries);
    match root_at(head.size, |subtree| tree.hash(subtree)) {
        Ok(root) => Ok(root == NodeHash(head.root)),
        Err(TiledError::Store(error)) => Err(error.into()),
        Err(_) => Ok(false),
    }
}

enum NewestNote {
    /// No head of this log is stored.
    Missing,
    /// There is one that cannot be read.
    Malformed,
    Note(Box<CheckpointNote>),
}

fn newest_note(connection: &Connection, log_id: LogId) -> rusqlite::Result<NewestNote> {
    let sql = "SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let Some((size, text)) = connection.query_row(sql, [], read).optional()? else {
        return Ok(NewestNote::Missing);
    };
    Ok(match CheckpointNote::parse(text.as_bytes()) {
        Ok(note) if note.checkpoint().size != u64_from_sql(size) => NewestNote::Malformed,
        // The log before this one ended with it.
        Ok(note) if note.checkpoint().log_id != log_id => NewestNote::Missing,
        Ok(note) => NewestNote::Note(Box::new(note)),
        Err(_) => NewestNote::Malformed,
    })
}

pub(super) fn head_of(note: &CheckpointNote) -> TreeHead {
    TreeHead { size: note.checkpoint().size, root: note.checkpoint().root.0 }
}

/// An epoch whose key may vouch for the next one.
struct EpochSigner {
    epoch: Epoch,
    key: [u8; 32],
}

/// Whose keys have to be there.
enum NoteSigners {
    /// At least one of these.
    Some(Vec<EpochSigner>),
    /// These are welcome.
    Any(Vec<EpochSigner>),
}

/// Returns the epochs that signed a note; `None` where a signature is bad or of nobody.
fn signers(
    connection: &Connection,
    log_id: LogId,
    note: &CheckpointNote,
) -> rusqlite::Result<Option<NoteSigners>> {
    let name = log_name(log_id);
    let lines = note.note().signatures().iter().filter(|line| line.name == name).count();
    let mut signers = Vec::new();
    for StartedEpoch { epoch, seq, key } in rows::epochs_descending(connection)? {
        if signers.len() == lines {
            break;
        }
        if seq.0 >= note.checkpoint().size {
            continue;
        }
        match note.verify(&key) {
            Ok(()) => signers.push(EpochSigner { epoch, key }),
            Err(palyra_ledger::note::SignatureFault::Absent) => {}
            Err(palyra_ledger::note::SignatureFault::Bad) => return Ok(None),
        }
    }
    Ok(if signers.is_empty() { None } else { Some(NoteSigners::Some(signers)) })
}

/// Returns who may sign the first head of a log: its first epoch; of a log of format 1 every epoch so far.
fn unsigned_log(connection: &Connection, log_id: LogId) -> Result<NoteSigners, OpenError> {
    let mut signers = Vec::new();
    for StartedEpoch { epoch, seq, key } in rows::epochs_descending(connection)? {
        signers.push(EpochSigner { epoch, key });
        let opening = entry_before(connection, seq)?.map(|entry| entry.event()).transpose()?;
        match opening {
            Some(JournalEvent::Log(LogEvent::Opened { log_id: opened, nonce, first_key })) => {
                if log_origin(opened, &first_key, &nonce) == Some(LogOrigin::Format1) && opened == log_id {
                    return Ok(NoteSigners::Any(signers));
                }
                break;
            }
            Some(JournalEvent::Log(LogEvent::Reopened { .. })) => break,
            Some(_) | None => {}
        }
    }
    Ok(NoteSigners::Some(signers.pop().into_iter().collect()))
}

fn entry_before(connection: &Connection, seq: Seq) -> Result<Option<StoredEntry>, ReadFault> {
    let Some(before) = seq.0.checked_sub(1) else { return Ok(None) };
    StoredEntry::find(connection, Seq(before))
}

/// Returns the keys of these epochs that are here, ascending; `None` where one has to be and none is.
fn available_keys(options: &OpenOptions, signers: NoteSigners) -> Result<Option<Vec<EpochKey>>, OpenError> {
    let (signers, needed) = match signers {
        NoteSigners::Some(signers) => (signers, 1),
        NoteSigners::Any(signers) => (signers, 0),
    };
    let mut keys = sign::load(&options.state_dir).map_err(OpenError::doing("reading the epochs' keys"))?;
    keys.retain(|(epoch, key)| {
        signers.iter().any(|known| known.epoch == *epoch && known.key == key.public())
    });
    let surplus = keys.len().saturating_sub(HANDOVER_KEYS_MAX);
    let keys: Vec<EpochKey> = keys.into_iter().skip(surplus).map(|(_, key)| key).collect();
    Ok((keys.len() >= needed).then_some(keys))
}
