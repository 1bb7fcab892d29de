//! Each target is given every file of its corpus, and inputs that a seeded mutator makes of them.

use std::path::{Path, PathBuf};

use palyra_untrusted::mutate::Mutator;
use palyra_untrusted::{seeds, targets};

/// Mutated inputs per target.
const MUTATED: usize = 10_000;
/// The same for targets that write a file for each.
const MUTATED_WITH_A_FILE: usize = 600;
/// Bytes of all corpora, at most: they are read with every run of the tests.
const CORPORA_BYTES_MAX: u64 = 256 * 1024;

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Returns the files of a target's corpus in order of name.
fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = std::fs::read_dir(corpora().join(name)).expect("each target has a corpus");
    let mut files: Vec<PathBuf> = folder.map(|file| file.expect("it can be listed").path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read(&file).expect("it can be read"))).collect()
}

fn replay(name: &str, mutated: usize) {
    let (_, target) = targets::ALL.into_iter().find(|(known, _)| *known == name).expect("it is known");
    let files = corpus(name);
    assert!(files.len() >= 3, "{name}: a corpus of {} files", files.len());
    for (file, bytes) in &files {
        survives(target, bytes, &file.display().to_string());
    }
    let files: Vec<Vec<u8>> = files.into_iter().map(|(_, bytes)| bytes).collect();
    let seed = palyra_testkit::suite_seed();
    let mutator = Mutator::new(&files, seed);
    for number in 0..mutated {
        survives(target, &mutator.input(), &format!("mutated input {number} of seed {seed}"));
    }
}

fn survives(target: targets::FuzzTarget, bytes: &[u8], what: &str) {
    let outcome = std::panic::catch_unwind(|| target(bytes));
    assert!(outcome.is_ok(), "{what}: {}", bytes.escape_ascii());
}

#[test]
fn envelopes() {
    replay("envelope", MUTATED);
}

#[test]
fn stored_entries() {
    replay("stored_entry", MUTATED);
}

#[test]
fn grpc_frames() {
    replay("grpc_frame", MUTATED);
}

#[test]
fn http_requests() {
    replay("http_request", MUTATED);
}

#[test]
fn answers_by_chat_completions() {
    replay("chat_completions", MUTATED);
}

#[test]
fn answers_by_messages() {
    replay("messages", MUTATED);
}

#[test]
fn answers_by_responses() {
    replay("responses", MUTATED);
}

#[test]
fn arguments_of_tools() {
    replay("tool_arguments", MUTATED);
}

#[test]
fn patches() {
    replay("patch", MUTATED);
}

#[test]
fn configurations() {
    replay("configuration", MUTATED_WITH_A_FILE);
}

#[test]
fn every_seed_is_in_its_corpus_and_reaches_past_the_first_check() {
    for (name, _) in targets::ALL {
        let files = corpus(name);
        for (seed, bytes) in seeds::of(name) {
            let kept = files.iter().any(|(file, kept)| file.ends_with(&seed) && *kept == bytes);
            assert!(
                kept,
                "{name}/{seed} is missing or old: cargo run -p palyra-untrusted --example write_corpora"
            );
        }
    }
    for (_, bytes) in seeds::of("envelope") {
        assert!(palyra_ledger::Envelope::decode(&bytes).is_ok());
    }
    for (name, bytes) in seeds::of("patch") {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (patch, old) = text.split_once('\0').expect("a patch and its file");
        let read = palyra_tools::untrusted::patch(patch, old.as_bytes());
        assert!(read.is_some_and(|files| files.iter().all(|file| file.made.is_some())), "{name}");
    }
    for (name, bytes) in seeds::of("stored_entry") {
        let facts = usize::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        let (kind, read) = (u16::from_le_bytes([bytes[0], bytes[1]]), &bytes[4..]);
        let entry = palyra_journal::untrusted::read_tape_entry(kind, &read[..facts], &read[facts..]);
        let entry =
            entry.or_else(|| palyra_journal::untrusted::read_log_entry(kind, &read[..facts], &read[facts..]));
        assert!(entry.is_some(), "{name}");
    }
}

#[test]
fn corpora_stay_small() {
    let sizes =
        targets::ALL.into_iter().flat_map(|(name, _)| corpus(name)).map(|(_, bytes)| bytes.len() as u64);
    let bytes: u64 = sizes.sum();
    assert!(bytes <= CORPORA_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn the_mutator_repeats_itself() {
    let files = vec![b"one".to_vec(), b"another".to_vec()];
    let made = |seed| {
        let mutator = Mutator::new(&files, seed);
        (0..50).map(|_| mutator.input()).collect::<Vec<_>>()
    };
    assert_eq!(made(3), made(3));
    assert_ne!(made(3), made(4));
}
