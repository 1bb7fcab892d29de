//! A bundle from which the end of its run was taken out is not called whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::writer::{Log, Shape, shape};

const RUN_FINISHED: u16 = 0x44;

fn say(folder: &Path, more: &[&str]) -> (i32, String) {
    let mut verify = Command::new(env!("CARGO_BIN_EXE_palyra-verify"));
    let Output { status, stdout, stderr } =
        verify.arg("--bundle").arg(folder).args(more).output().expect("the program runs");
    let said = [stdout, stderr].concat();
    (status.code().expect("it ended by itself"), String::from_utf8(said).expect("text"))
}

/// Saves a bundle of a run that has its end; returns the seqs of the run's entries.
fn saved(log: &Log, folder: &Path) -> Vec<u64> {
    for run in log.runs() {
        log.save_bundle(&run, folder);
        let of_run = |seq: &u64| log.entries[*seq as usize].envelope[72..88] == run[..];
        let seqs: Vec<u64> = seqs(&folder.join("entries.jsonl")).into_iter().filter(of_run).collect();
        if seqs.last().is_some_and(|last| log.kind(*last) == RUN_FINISHED) {
            return seqs;
        }
    }
    panic!("the log has no run with its end");
}

fn seqs(path: &Path) -> Vec<u64> {
    let text = fs::read_to_string(path).expect("a file");
    let seq = |line: &str| serde_json::from_str::<Value>(line).expect("an object")["seq"].as_u64();
    text.lines().map(|line| seq(line).expect("a number")).collect()
}

/// Takes entries with their proofs out of a bundle.
fn take_out(folder: &Path, gone: &[u64]) {
    for name in ["entries.jsonl", "proofs.jsonl"] {
        let path = folder.join(name);
        let kept: Vec<bool> = seqs(&path).iter().map(|seq| !gone.contains(seq)).collect();
        let text = fs::read_to_string(&path).expect("a file");
        let lines = text.lines().zip(kept).filter(|(_, kept)| *kept);
        fs::write(&path, lines.map(|(line, _)| format!("{line}\n")).collect::<String>()).expect("a file");
    }
}

#[test]
fn a_time_is_of_the_last_entry_of_the_head_only_where_the_bundle_has_it() {
    let (folder, database) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let log = shape(Shape::Plain, 4);
    let (size, _) = log.newest().expect("signed");
    let mut lacking = 0;
    for run in log.runs() {
        log.save_bundle(&run, folder.path());
        let has_last = seqs(&folder.path().join("entries.jsonl")).contains(&(size - 1));
        lacking += usize::from(!has_last);
        let (text, json) = (say(folder.path(), &[]).1, say(folder.path(), &["--json"]).1);
        assert_eq!(text.contains(", its last entry of "), has_last, "{text}");
        assert_eq!(text.contains(", the newest entry in this bundle of "), !has_last, "{text}");
        let signed = serde_json::from_str::<Value>(&json).expect("an object")["newest_signed"].clone();
        assert_eq!(
            (signed["entry_time"].is_string(), signed["newest_entry_in_bundle"].is_null()),
            (has_last, has_last)
        );
    }
    assert!(lacking > 0, "a bundle without the last entry");
    // The whole log has it.
    let path = database.path().join("journal.db");
    log.save(&path);
    let whole =
        Command::new(env!("CARGO_BIN_EXE_palyra-verify")).arg("--db").arg(&path).output().expect("it runs");
    assert!(String::from_utf8_lossy(&whole.stdout).contains(", its last entry of "));
}

#[test]
fn a_bundle_without_the_end_of_its_run_has_a_verdict_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = shape(Shape::Plain, 2);
    for cut in [1, 2, usize::MAX] {
        let run = saved(&log, folder.path());
        assert_eq!(say(folder.path(), &[]).0, 0, "whole");
        take_out(folder.path(), &run[run.len().saturating_sub(cut)..]);
        let (code, said) = say(folder.path(), &[]);
        assert_eq!(code, 19, "{cut} gone: {said}");
        assert!(said.starts_with("unfinished (19)"), "{said}");
        let (code, said) = say(folder.path(), &["--open-run"]);
        assert_eq!(code, 0, "asked for: {said}");
    }
}

#[test]
fn a_bundle_is_reported_with_its_run_and_how_far_it_reaches() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = shape(Shape::Plain, 2);
    let run = saved(&log, folder.path());
    let (_, whole) = say(folder.path(), &["--json"]);
    let whole: Value = serde_json::from_str(&whole).expect("one object");
    let named = &whole["runs"][0];
    assert_eq!(named["last_tape_seq"].as_u64(), Some(run.len() as u64), "{whole}");
    assert_eq!((named["finished"].as_bool(), whole["verdict"].as_str()), (Some(true), Some("ok")));
    let id = named["run"].as_str().expect("an id").to_owned();
    assert!(
        say(folder.path(), &[]).1.contains(&format!("run       {id}, {} entries, to its end", run.len()))
    );

    take_out(folder.path(), &run[run.len() - 1..]);
    let (_, cut) = say(folder.path(), &["--json"]);
    let cut: Value = serde_json::from_str(&cut).expect("one object");
    assert_eq!(cut["runs"][0]["last_tape_seq"].as_u64(), Some(run.len() as u64 - 1), "{cut}");
    assert_eq!((cut["code"].as_u64(), cut["verdict"].as_str()), (Some(19), Some("unfinished")));
}
