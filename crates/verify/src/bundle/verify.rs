//! The order of checks over one bundle.
//!
//! Owns what is remembered between entries: tapes, erasures that are still to come, handovers. Begin at
//! [`verify_bundle`].

use std::collections::HashMap;
use std::path::Path;

use super::check::{self, PayloadCheck};
use super::read::{self, BundleLines, EntryLine, ProofLine};
use crate::calls::{LogExtent, OpenCalls};
use crate::digest;
use crate::envelope::Envelope;
use crate::facts::{ERASED, ErasedFacts, RUN_FINISHED};
use crate::fault::{FaultCode, FaultCount, LogFault};
use crate::limits::BUNDLE_ENTRIES_MAX;
use crate::lineage::Lineage;
use crate::note::CheckpointNote;
use crate::options::VerifyOptions;
use crate::report::{
    BundleRun, EntryTime, ErasedRange, LogFreshness, RunCompleteness, SignedHead, Signer, VerifyReport,
};
use crate::vouch;

/// Verifies the bundle in the folder at `path`; a checkpoint that the caller kept is not compared with it.
///
/// Whatever the folder holds, the outcome is a report: what cannot be read is a fault of it.
pub fn verify_bundle(path: &Path, options: &VerifyOptions) -> VerifyReport {
    read_all(path, options).unwrap_or_else(|what| {
        let fault = LogFault { seq: None, code: FaultCode::Malformed, what };
        VerifyReport { fault: Some(fault), faults: 1, ..VerifyReport::default() }
    })
}

/// How far the tape of a run reaches.
#[derive(Debug, Clone, Copy, Default)]
struct Tape {
    last: u32,
    finished: bool,
}

/// What was seen so far.
struct BundleReading<'o> {
    options: &'o VerifyOptions,
    checkpoint: CheckpointNote,
    handovers: std::iter::Peekable<std::vec::IntoIter<CheckpointNote>>,
    faults: FaultCount,
    lineage: Lineage,
    calls: OpenCalls,
    tapes: HashMap<[u8; 16], Tape>,
    awaited: Vec<(u64, u64)>,
    erased: Vec<ErasedRange>,
    last: Option<(u64, digest::Hash)>,
    last_time: i64,
    report: VerifyReport,
}

fn read_all(path: &Path, options: &VerifyOptions) -> Result<VerifyReport, String> {
    let checkpoint = read::checkpoint(path)?;
    let mut reading = BundleReading {
        options,
        checkpoint,
        handovers: read::handovers(path)?.into_iter().peekable(),
        faults: FaultCount::default(),
        lineage: Lineage::default(),
        calls: OpenCalls::new(LogExtent::Runs),
        tapes: HashMap::new(),
        awaited: Vec::new(),
        erased: Vec::new(),
        last: None,
        last_time: 0,
        report: VerifyReport::default(),
    };
    let (mut entries, mut proofs) =
        (BundleLines::open(path, "entries.jsonl")?, BundleLines::open(path, "proofs.jsonl")?);
    while let Some(line) = entries.next::<EntryLine>()? {
        let proof = proofs.next::<ProofLine>()?;
        reading.entry(&line, proof.as_ref())?;
        if reading.report.entries > BUNDLE_ENTRIES_MAX as u64 || reading.lineage.is_full() {
            return Err("it has more entries than a verifier takes in".to_owned());
        }
    }
    if proofs.next::<ProofLine>()?.is_some() {
        reading.faults.add(None, FaultCode::Malformed, || "there are more proofs than entries".to_owned());
    }
    Ok(reading.finish())
}

impl BundleReading<'_> {
    fn entry(&mut self, line: &EntryLine, proof: Option<&ProofLine>) -> Result<(), String> {
        let (seq, bytes) = (line.seq, line.envelope()?);
        let Some(envelope) = Envelope::parse(&bytes) else {
            return Err(format!("the envelope of entry {seq} is too short or too long"));
        };
        if self.last.is_some_and(|(last, _)| last >= seq) {
            return Err("the entries are not in order".to_owned());
        }
        self.report.entries += 1;
        self.hand_over(seq);
        if envelope.seq != seq {
            self.faults
                .add(seq, FaultCode::Mismatch, || format!("entry {seq} has another number in its envelope"));
        }
        if seq >= self.checkpoint.size {
            self.faults
                .add(seq, FaultCode::Truncated, || "the checkpoint does not cover all entries".to_owned());
        } else {
            check::inclusion(&bytes, seq, proof, &self.checkpoint, &mut self.faults);
        }
        if let Some(rule) = envelope.broken_rule() {
            self.faults.add(seq, FaultCode::Malformed, || format!("entry {seq} {rule}"));
        }
        self.chain(seq, &envelope);
        if envelope.seq == seq {
            self.lineage.entry(&envelope, &mut self.faults);
            self.calls.entry(&envelope, &mut self.faults);
        }
        self.tape(seq, &envelope);
        self.content(line, &envelope)?;
        self.last = Some((seq, digest::leaf(&bytes)));
        self.last_time = envelope.time;
        Ok(())
    }

    /// Lets the keys of handovers below `seq` vouch for each other.
    fn hand_over(&mut self, seq: u64) {
        while let Some(note) = self.handovers.next_if(|note| note.size <= seq) {
            self.examine(&note);
        }
    }

    fn examine(&mut self, note: &CheckpointNote) -> Option<vouch::VerifiedHead> {
        let at = note.size.saturating_sub(1);
        let outcome = match self.lineage.log_mut() {
            Some(log) => vouch::examine(note, log, self.options.key.as_ref()),
            None => Err("comes before the log was opened"),
        };
        outcome
            .map_err(|what| {
                let size = note.size;
                self.faults.add(at, FaultCode::Signature, || format!("the checkpoint of size {size} {what}"));
            })
            .ok()
    }

    fn chain(&mut self, seq: u64, envelope: &Envelope<'_>) {
        let expected = match self.last {
            None if seq == 0 => Some([0; 32]),
            Some((last, leaf)) if last + 1 == seq => Some(leaf),
            Some(_) | None => None,
        };
        if expected.is_some_and(|expected| expected != envelope.prev) {
            self.faults
                .add(seq, FaultCode::Mismatch, || format!("entry {seq} does not follow the one before it"));
        }
    }

    fn tape(&mut self, seq: u64, envelope: &Envelope<'_>) {
        if !envelope.has_run() {
            return;
        }
        let tape = self.tapes.entry(envelope.run).or_default();
        if tape.last.checked_add(1) != Some(envelope.tape_seq) {
            self.faults
                .add(seq, FaultCode::Malformed, || format!("entry {seq} does not go on its run's tape"));
        }
        tape.last = envelope.tape_seq;
        tape.finished |= envelope.kind == RUN_FINISHED;
    }

    fn content(&mut self, line: &EntryLine, envelope: &Envelope<'_>) -> Result<(), String> {
        match check::content(line, envelope, &mut self.faults)? {
            PayloadCheck::None => {}
            PayloadCheck::Checked => self.report.payloads_checked += 1,
            PayloadCheck::ErasedBy(by) => self.awaited.push((line.seq, by)),
        }
        if envelope.kind != ERASED {
            return Ok(());
        }
        let by = line.seq;
        match ErasedFacts::parse(envelope.facts, by) {
            Some(ErasedFacts { authoriser, reason, ranges }) => {
                self.erased.extend(ranges.iter().map(|&(first, last)| ErasedRange {
                    first,
                    last,
                    authoriser,
                    reason,
                    by,
                }));
            }
            None => {
                self.faults.add(by, FaultCode::Malformed, || {
                    format!("entry {by} erases an entry that is not before it")
                });
            }
        }
        Ok(())
    }

    fn finish(mut self) -> VerifyReport {
        self.hand_over(u64::MAX);
        let CheckpointNote { size, root, .. } = self.checkpoint;
        let checkpoint = self.checkpoint.clone();
        let has_last = self.last.and_then(|(seq, _)| seq.checked_add(1)) == Some(size);
        let entry_time =
            if has_last { EntryTime::OfHead(self.last_time) } else { EntryTime::OfBundle(self.last_time) };
        let newest = self.examine(&checkpoint).map(|head| SignedHead {
            size,
            root,
            epoch: head.epoch,
            key: head.key,
            entry_time,
            trusted: head.trusted,
        });
        self.explain_erasures();
        let signer = match (&self.options.key, &newest) {
            (None, _) => Signer::NotChecked,
            (Some(_), Some(head)) if head.trusted => Signer::Trusted,
            (Some(_), _) => {
                let what = || "the given key does not lead to the checkpoint".to_owned();
                self.faults.add(size.saturating_sub(1), FaultCode::Signature, what);
                Signer::Foreign
            }
        };
        if self.report.entries == 0 {
            self.faults.add(0, FaultCode::Malformed, || "there is no entry, not even LogOpened".to_owned());
        }
        let ends = self.tapes.iter();
        let mut runs: Vec<BundleRun> = ends
            .map(|(run, tape)| BundleRun { run: *run, last_tape_seq: tape.last, finished: tape.finished })
            .collect();
        runs.sort_by_key(|run| run.run);
        VerifyReport {
            runs,
            completeness: RunCompleteness::Required,
            root,
            newest,
            signer,
            freshness: LogFreshness::Unknown,
            erased_count: self.erased.len() as u64,
            erased: self.erased,
            log: self.lineage.log().map(|log| log.name.clone()),
            epochs: self.lineage.epochs(),
            reopened: self.lineage.reopened,
            faults: self.faults.count(),
            fault: self.faults.into_first(),
            ..self.report
        }
    }

    fn explain_erasures(&mut self) {
        let mut explained: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
        for range in &self.erased {
            explained.entry(range.by).or_default().push((range.first, range.last));
        }
        for &(seq, by) in &self.awaited {
            let covered = explained
                .get(&by)
                .is_some_and(|ranges| ranges.iter().any(|(first, last)| (*first..=*last).contains(&seq)));
            if !covered {
                self.faults.add(seq, FaultCode::Missing, || {
                    format!("entry {seq}: the erasure it names does not cover it")
                });
            }
        }
    }
}
