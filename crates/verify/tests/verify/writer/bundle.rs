//! One run of a log as a bundle.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::Log;
use super::log::{leaf, root};

impl Log {
    /// Saves what proves the run, under the newest checkpoint.
    pub(crate) fn save_bundle(&self, run: &[u8; 16], folder: &Path) {
        std::fs::create_dir_all(folder).expect("a folder");
        let (size, newest) = self.newest().expect("a signed head");
        let leaves: Vec<[u8; 32]> =
            self.entries[..size as usize].iter().map(|entry| leaf(&entry.envelope)).collect();
        let of_run = |seq: u64| self.entries[seq as usize].envelope[72..88] == run[..];
        let erases_some =
            |by: u64| self.erased.iter().any(|(first, last, e)| *e == by && (*first..=*last).any(of_run));
        let wanted = (0..size).filter(|seq| match self.kind(*seq) {
            1 | 2 | 4 => true,
            3 => erases_some(*seq),
            _ => of_run(*seq),
        });
        let (mut entries, mut proofs) = (String::new(), String::new());
        for seq in wanted {
            let path: Vec<String> =
                proof(&leaves, seq as usize).iter().map(|hash| STANDARD.encode(hash)).collect();
            writeln!(entries, "{}", self.line(seq)).expect("a string");
            writeln!(proofs, "{}", json!({ "seq": seq, "hashes": path })).expect("a string");
        }
        let handovers: String = self
            .checkpoints
            .iter()
            .filter(|(at, signed)| **at < size && signed.signers.len() > 1)
            .map(|(_, signed)| format!("{}\n", signed.note))
            .collect();
        for (name, text) in [
            ("checkpoint", &newest.note),
            ("handovers", &handovers),
            ("entries.jsonl", &entries),
            ("proofs.jsonl", &proofs),
        ] {
            std::fs::write(folder.join(name), text).expect("a file");
        }
    }

    fn line(&self, seq: u64) -> serde_json::Value {
        let entry = &self.entries[seq as usize];
        let clear = entry
            .payload
            .as_ref()
            .map(|payload| STANDARD.encode([&payload.salt[..], &payload.bytes].concat()));
        let erased_by =
            self.erased.iter().find(|(first, last, _)| (*first..=*last).contains(&seq)).map(|range| range.2);
        let erased_by = erased_by.filter(|_| entry.envelope[1] & 1 == 1);
        let files =
            entry.payload.iter().flat_map(|payload| (1..).zip(&payload.files)).flat_map(|(i, file)| {
                let parts = (i * super::log::FILE..).zip(file.chunks(super::log::PART));
                parts.map(|(n, part)| json!({ "n": n, "base64": STANDARD.encode(part) }))
            });
        json!({
            "seq": seq, "envelope": STANDARD.encode(&entry.envelope), "payload": clear, "erased_by": erased_by,
            "files": files.collect::<Vec<_>>(),
        })
    }
}

/// Returns an inclusion proof: RFC 6962's own definition, by halves.
fn proof(leaves: &[[u8; 32]], index: usize) -> Vec<[u8; 32]> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let half = leaves.len().next_power_of_two() / 2;
    let (left, right) = leaves.split_at(half);
    let (mut below, beside) = if index < half {
        (proof(left, index), root(right))
    } else {
        (proof(right, index - half), root(left))
    };
    below.push(beside);
    below
}
