//! Runs proofs that other people published, good and bad ones, through our verification.
//!
//! Owns reading the vectors of the project transparency-dev/merkle (`testdata/inclusion`,
//! `testdata/consistency`), one JSON file each. Run by `cargo xtask merkle-vectors`. Fails when a vector
//! disagrees, or when there is none of a sort.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which reads files"
)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use palyra_ledger::tree::{SizedRoot, verify_consistency, verify_inclusion};
use palyra_ledger::{LeafHash, NodeHash, sha256};
use serde::Deserialize;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inclusion {
    leaf_idx: u64,
    tree_size: u64,
    root: String,
    leaf_hash: String,
    proof: Option<Vec<String>>,
    want_err: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Consistency {
    size1: u64,
    size2: u64,
    root1: String,
    root2: String,
    proof: Option<Vec<String>>,
    want_err: bool,
}

/// What became of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Accepted,
    Refused,
    /// It holds a hash of another length than 32 bytes, which cannot even be handed to us.
    NotHashes,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("merkle_vectors: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<ExitCode> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("usage: merkle_vectors FOLDER")?;
    let folder = if folder.join("testdata").is_dir() { folder.join("testdata") } else { folder };
    for other in others(&folder)? {
        println!("{other}: left out, there are no such proofs here");
    }
    let mut well = true;
    well &= judge("inclusion", &folder.join("inclusion"), inclusion)?;
    well &= judge("consistency", &folder.join("consistency"), consistency)?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the folders beside those that are judged.
fn others(folder: &Path) -> Outcome<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "inclusion" && name != "consistency" {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Runs every vector below a folder and says how many there were of each sort.
fn judge(sort: &str, folder: &Path, check: fn(&[u8]) -> Outcome<(bool, Verdict)>) -> Outcome<bool> {
    let mut files = Vec::new();
    find(folder, &mut files)?;
    let mut counts: BTreeMap<(bool, Verdict), usize> = BTreeMap::new();
    let mut disagree = 0;
    for file in &files {
        let (wanted_error, verdict) =
            check(&std::fs::read(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
        if wanted_error == (verdict == Verdict::Accepted) {
            println!("{}: {verdict:?}, which is wrong", file.display());
            disagree += 1;
        }
        *counts.entry((wanted_error, verdict)).or_default() += 1;
    }
    let count = |wanted_error, verdict| counts.get(&(wanted_error, verdict)).copied().unwrap_or(0);
    let (positive, negative) = (count(false, Verdict::Accepted), count(true, Verdict::Refused));
    let unreadable = count(true, Verdict::NotHashes);
    println!(
        "{sort}: {} vectors; {positive} positive accepted, {negative} negative refused, \
         {unreadable} negative without whole hashes, {disagree} disagree",
        files.len()
    );
    Ok(disagree == 0 && positive > 0 && negative > 0)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome<()> {
    let listed = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> =
        listed.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(())
}

fn inclusion(json: &[u8]) -> Outcome<(bool, Verdict)> {
    let vector: Inclusion = serde_json::from_slice(json)?;
    let hashes = (hash(&vector.leaf_hash)?, hash(&vector.root)?, proof(vector.proof)?);
    let (Some(leaf), Some(root), Some(proof)) = hashes else {
        return Ok((vector.want_err, Verdict::NotHashes));
    };
    let verified =
        verify_inclusion(LeafHash(leaf), vector.leaf_idx, vector.tree_size, &proof, NodeHash(root));
    Ok((vector.want_err, if verified.is_ok() { Verdict::Accepted } else { Verdict::Refused }))
}

fn consistency(json: &[u8]) -> Outcome<(bool, Verdict)> {
    let vector: Consistency = serde_json::from_slice(json)?;
    let (root1, root2) = (label(&vector.root1)?, label(&vector.root2)?);
    let Some(proof) = proof(vector.proof)? else { return Ok((vector.want_err, Verdict::NotHashes)) };
    let old = SizedRoot::new(vector.size1, NodeHash(root1));
    let new = SizedRoot::new(vector.size2, NodeHash(root2));
    let verified = verify_consistency(old, new, &proof);
    Ok((vector.want_err, if verified.is_ok() { Verdict::Accepted } else { Verdict::Refused }))
}

fn proof(hashes: Option<Vec<String>>) -> Outcome<Option<Vec<NodeHash>>> {
    let hashes = hashes.unwrap_or_default();
    hashes.iter().map(|text| hash(text).map(|hash| hash.map(NodeHash))).collect()
}

fn hash(text: &str) -> Outcome<Option<[u8; 32]>> {
    Ok(bytes(text)?.try_into().ok())
}

/// Reads a root that may be any text ("don't care 1"): its digest stands for what is not a hash, so that
/// equal ones stay equal and others differ.
fn label(text: &str) -> Outcome<[u8; 32]> {
    let bytes = bytes(text)?;
    Ok(bytes.as_slice().try_into().unwrap_or_else(|_| sha256(&bytes)))
}

fn bytes(text: &str) -> Outcome<Vec<u8>> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    Ok(bytes.map_err(|error| format!("not base64: {error}"))?)
}
