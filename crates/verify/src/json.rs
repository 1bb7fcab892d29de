//! A report for programs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json as object};

use crate::report::{EntryTime, LogFreshness, LogVerdict, Signer, VerifyReport};
use crate::text_report::{erasing, reopening, ulid, utc};

/// Returns a report as one JSON object.
pub fn json(report: &VerifyReport) -> Value {
    let signed = report.newest.map(|head| {
        let (entry_time, newest_in_bundle) = match head.entry_time {
            EntryTime::OfHead(time) => (Some(utc(time)), None),
            EntryTime::OfBundle(time) => (None, Some(utc(time))),
        };
        object!({
            "size": head.size, "root": STANDARD.encode(head.root), "epoch": head.epoch,
            "key": report.log.as_deref().map(|name| head.verifier_key(name)),
            "entry_time": entry_time,
            "newest_entry_in_bundle": newest_in_bundle,
        })
    });
    let erased = report.erased.iter().map(|range| {
        object!({
            "first": range.first, "last": range.last, "authoriser": ulid(&range.authoriser), "by": range.by,
            "reason": erasing(range.reason),
        })
    });
    let reopened = report.reopened.iter().map(|old| {
        object!({
            "seq": old.seq, "before": old.old_name, "abandoned_size": old.abandoned_size,
            "abandoned_root": STANDARD.encode(old.abandoned_root), "reason": reopening(old.reason),
        })
    });
    let runs = report.runs.iter().map(|run| {
        object!({
            "run": ulid(&run.run), "last_tape_seq": run.last_tape_seq, "finished": run.finished,
        })
    });
    object!({
        "code": report.exit_code(),
        "verdict": match report.verdict() {
            LogVerdict::Holds => "ok".to_owned(),
            LogVerdict::Faulty(fault) => fault.code.to_string(),
            LogVerdict::Unchecked => "unchecked".to_owned(),
            LogVerdict::Unfinished => "unfinished".to_owned(),
        },
        "first_bad_seq": report.fault.as_ref().and_then(|fault| fault.seq),
        "what": report.fault.as_ref().map(|fault| fault.what.as_str()),
        "faults": report.faults,
        "log": report.log,
        "format": report.format,
        "epochs": report.epochs,
        "entries": report.entries,
        "root": STANDARD.encode(report.root),
        "newest_signed": signed,
        "signer": match report.signer {
            Signer::NotChecked => "not checked",
            Signer::Trusted => "trusted",
            Signer::Foreign => "foreign",
        },
        "since": match report.freshness {
            LogFreshness::Unknown => None,
            LogFreshness::Since(size) => Some(size),
        },
        "payloads_checked": report.payloads_checked,
        "payloads_sealed": report.payloads_sealed,
        "statics": report.statics,
        "erased": erased.collect::<Vec<_>>(),
        "erased_ranges": report.erased_count,
        "reopened": reopened.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    })
}
