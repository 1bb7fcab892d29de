//! The files of a bundle.
//!
//! Owns their shapes, docs/journal-format.md, section 7. Takes in a line at a time, of limited length.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::digest::Hash;
use crate::limits::LINE_BYTES_MAX;
use crate::note::CheckpointNote;

/// Bytes of the file of handovers.
const HANDOVERS_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Hashes of one inclusion proof.
const PROOF_HASHES_MAX: usize = 64;

/// A line of `entries.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct EntryLine {
    pub(super) seq: u64,
    envelope: String,
    payload: Option<String>,
    pub(super) erased_by: Option<u64>,
    #[serde(default)]
    pub(super) files: Vec<FilePart>,
}

/// A part of a file beside an entry.
#[derive(Debug, Deserialize)]
pub(super) struct FilePart {
    pub(super) n: u64,
    base64: String,
}

/// A line of `proofs.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct ProofLine {
    pub(super) seq: u64,
    hashes: Vec<String>,
}

impl EntryLine {
    pub(super) fn envelope(&self) -> Result<Vec<u8>, String> {
        bytes(&self.envelope)
    }

    /// Returns salt and payload.
    pub(super) fn payload(&self) -> Result<Option<Vec<u8>>, String> {
        self.payload.as_deref().map(bytes).transpose()
    }
}

impl FilePart {
    pub(super) fn content(&self) -> Result<Vec<u8>, String> {
        bytes(&self.base64)
    }
}

impl ProofLine {
    pub(super) fn hashes(&self) -> Result<Vec<Hash>, String> {
        if self.hashes.len() > PROOF_HASHES_MAX {
            return Err("a proof is longer than any can be".to_owned());
        }
        let hash = |text: &String| {
            bytes(text)?.try_into().map_err(|_| "a hash of a proof has another length".to_owned())
        };
        self.hashes.iter().map(hash).collect()
    }
}

/// The lines of a file, each an object.
pub(super) struct BundleLines {
    name: &'static str,
    reader: BufReader<File>,
}

impl BundleLines {
    pub(super) fn open(folder: &Path, name: &'static str) -> Result<Self, String> {
        Ok(Self { name, reader: BufReader::new(file(folder, name)?) })
    }

    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut line).map_err(|error| format!("{}: {error}", self.name))?;
        if read == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') && read as u64 == LINE_BYTES_MAX {
            return Err(format!("{}: a line is too long", self.name));
        }
        serde_json::from_slice(&line).map(Some).map_err(|error| format!("{}: {error}", self.name))
    }
}

/// Reads the checkpoint that covers the bundle.
pub(super) fn checkpoint(folder: &Path) -> Result<CheckpointNote, String> {
    CheckpointNote::parse(&text(folder, "checkpoint")?)
        .ok_or_else(|| "the checkpoint is out of shape".to_owned())
}

/// Reads the checkpoints that lead to its signer.
pub(super) fn handovers(folder: &Path) -> Result<Vec<CheckpointNote>, String> {
    let text = text(folder, "handovers")?;
    let parts: Vec<&str> = text.split("\n\n").collect();
    let broken = || "the handovers are out of shape".to_owned();
    let (pairs, rest) = parts.as_chunks::<2>();
    if rest.iter().any(|part| !part.trim().is_empty()) {
        return Err(broken());
    }
    let notes = pairs.iter().map(|[body, signatures]| {
        CheckpointNote::parse(&format!("{body}\n\n{}\n", signatures.trim_end_matches('\n')))
            .ok_or_else(broken)
    });
    let notes: Vec<CheckpointNote> = notes.collect::<Result<_, _>>()?;
    if notes.is_sorted_by(|one, next| one.size < next.size) { Ok(notes) } else { Err(broken()) }
}

fn text(folder: &Path, name: &str) -> Result<String, String> {
    let mut text = String::new();
    let read = file(folder, name)?.take(HANDOVERS_BYTES_MAX).read_to_string(&mut text);
    match read {
        Ok(bytes) if (bytes as u64) < HANDOVERS_BYTES_MAX => Ok(text),
        Ok(_) => Err(format!("{name} is too large")),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn file(folder: &Path, name: &str) -> Result<File, String> {
    let path = folder.join(name);
    if !path.is_file() {
        return Err(format!("there is no file `{name}`"));
    }
    File::open(path).map_err(|error| format!("{name}: {error}"))
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|_| "a field is not base64".to_owned())
}
