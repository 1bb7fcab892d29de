//! Checkpoints as text: a tlog-checkpoint body below signed-note signatures, and verifier keys.
//!
//! Owns the texts of docs/journal-format.md, section 4. Checks no signature: who may sign is said elsewhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::digest::{self, Hash, LogId};
use crate::limits::{NOTE_BYTES_MAX, SIGNATURES_PER_NOTE_MAX};

const ORIGIN: &str = "palyra.log/";
const SIGNATURE_MARK: &str = "\u{2014} ";
const ED25519: u8 = 1;

/// A checkpoint, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct CheckpointNote {
    /// What is signed: the three lines with their ends.
    pub(crate) body: String,
    pub(crate) log_id: LogId,
    pub(crate) size: u64,
    pub(crate) root: Hash,
    /// Those lines whose name is the checkpoint's own.
    pub(crate) signatures: Vec<Signature>,
    /// Lines of other names.
    pub(crate) cosignatures: usize,
}

/// One signature line.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    pub(crate) key_id: [u8; 4],
    pub(crate) bytes: [u8; 64],
}

impl CheckpointNote {
    /// Takes a checkpoint apart; `None` where it is out of shape.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > NOTE_BYTES_MAX {
            return None;
        }
        let (body, lines) = text.split_once("\n\n")?;
        let mut fields = body.split('\n');
        let (name, size, root) = (fields.next()?, fields.next()?, fields.next()?);
        if fields.next().is_some() {
            return None;
        }
        let lines = lines.strip_suffix('\n')?;
        if lines.split('\n').count() > SIGNATURES_PER_NOTE_MAX {
            return None;
        }
        let signatures = lines.split('\n').map(|line| signature(line, name)).collect::<Option<Vec<_>>>()?;
        Some(Self {
            body: format!("{body}\n"),
            log_id: log_id(name)?,
            size: decimal(size)?,
            root: STANDARD.decode(root).ok()?.try_into().ok()?,
            cosignatures: signatures.iter().filter(|line| line.is_none()).count(),
            signatures: signatures.into_iter().flatten().collect(),
        })
    }
}

/// Returns the name of a log, which is the name of its keys.
pub(crate) fn name(log_id: &LogId) -> String {
    format!("{ORIGIN}{}", digest::hex(log_id))
}

/// Returns the signature of a line; `Some(None)` for one of another name, which anybody may add.
fn signature(line: &str, own: &str) -> Option<Option<Signature>> {
    let (name, blob) = line.strip_prefix(SIGNATURE_MARK)?.split_once(' ')?;
    let blob = STANDARD.decode(blob).ok()?;
    if name != own {
        return (blob.len() > 4 && !name.is_empty()).then_some(None);
    }
    let (key_id, bytes) = blob.split_first_chunk::<4>()?;
    Some(Some(Signature { key_id: *key_id, bytes: bytes.try_into().ok()? }))
}

fn log_id(name: &str) -> Option<LogId> {
    digest::unhex(name.strip_prefix(ORIGIN)?)?.try_into().ok()
}

/// Reads a number that is written in the one way it can be.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// A key that somebody trusts, as signed-note writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    pub(crate) log_id: LogId,
    pub(crate) key: Hash,
}

/// Why a text is no verifier key of a Palyra log.
#[derive(Debug, thiserror::Error)]
pub enum ParseVerifierKeyError {
    /// Not `name+id+key`.
    #[error("a verifier key reads palyra.log/<32 hex digits>+<8 hex digits>+<base64>")]
    Shape,
    /// Not Ed25519.
    #[error("the verifier key is not one for Ed25519")]
    Algorithm,
    /// The id is not that of the key.
    #[error("the id in the verifier key is not that of its key: it was copied wrongly")]
    Id,
}

impl std::str::FromStr for VerifierKey {
    type Err = ParseVerifierKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.trim().splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(ParseVerifierKeyError::Shape);
        };
        let log_id = log_id(name).ok_or(ParseVerifierKeyError::Shape)?;
        let key = STANDARD.decode(key).map_err(|_| ParseVerifierKeyError::Shape)?;
        let Some((&ED25519, key)) = key.split_first() else { return Err(ParseVerifierKeyError::Algorithm) };
        let key: Hash = key.try_into().map_err(|_| ParseVerifierKeyError::Algorithm)?;
        if digest::unhex(id).as_deref() != Some(&digest::key_id(name, &key)[..]) {
            return Err(ParseVerifierKeyError::Id);
        }
        Ok(Self { log_id, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(body: &str, signatures: &str) -> Option<CheckpointNote> {
        CheckpointNote::parse(&format!("{body}\n{signatures}"))
    }

    #[test]
    fn a_checkpoint_has_exactly_one_form() {
        let name = "palyra.log/000102030405060708090a0b0c0d0e0f";
        let root = STANDARD.encode([7; 32]);
        let own = format!("\u{2014} {name} {}\n", STANDARD.encode([1; 68]));
        let other = format!("\u{2014} example.org/witness {}\n", STANDARD.encode([1; 80]));
        let body = format!("{name}\n12\n{root}\n");
        let read = note(&body, &format!("{own}{other}")).expect("well formed");
        assert_eq!((read.size, read.root, read.signatures.len(), read.cosignatures), (12, [7; 32], 1, 1));
        assert_eq!((read.body, read.log_id[15]), (body.clone(), 15));
        for broken in [
            format!("{name}\n012\n{root}\n"),
            format!("{name}\n-1\n{root}\n"),
            format!("{name}\n12\n{root}\nmore\n"),
            format!("{name}\n12\n{}\n", STANDARD.encode([7; 31])),
            format!("example.org\n12\n{root}\n"),
        ] {
            assert!(note(&broken, &own).is_none(), "{broken}");
        }
        assert!(note(&body, "").is_none(), "no signature");
        assert!(note(&body, &own.replace('\u{2014}', "-")).is_none(), "another mark");
        assert!(note(&body, &own.repeat(SIGNATURES_PER_NOTE_MAX + 1)).is_none(), "too many");
    }
}
