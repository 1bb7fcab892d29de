//! Clean logs of every shape hold.

use std::path::Path;

use palyra_verify::{
    LogFreshness, Signer, StateKeys, VerifyOptions, VerifyReport, verify_bundle, verify_database,
};
use rusqlite::params;

use crate::writer::{Shape, shape};

fn verified(path: &Path, mut options: VerifyOptions) -> VerifyReport {
    verify_database(path, &mut options)
}

fn demand_ok(report: &VerifyReport, what: &dyn std::fmt::Debug) {
    assert!(report.fault.is_none(), "{what:?}: {:?}", report.fault);
}

#[test]
fn clean_logs_of_every_shape_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    for (seed, of) in (0..).zip(Shape::ALL.into_iter().cycle().take(24)) {
        let log = shape(of, seed);
        log.save(&path);
        let report = verified(&path, VerifyOptions::default());
        demand_ok(&report, &(of, seed));
        assert_eq!(report.entries, log.entries.len() as u64);
        assert_eq!(report.root, log.root(log.entries.len()));
        assert_eq!(report.newest.map(|head| head.size), log.newest().map(|(size, _)| size), "{of:?} {seed}");
        assert_eq!(report.erased_count, log.erased.len() as u64);
    }
}

#[test]
fn a_key_of_any_epoch_and_any_kept_checkpoint_are_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    for seed in 0..6 {
        let log = shape(if seed % 2 == 0 { Shape::Epochs } else { Shape::BroughtUp }, seed);
        log.save(&path);
        let (newest, signed) = log.newest().expect("signed");
        for key in signed.signers.iter().map(|at| &log.keys[*at].1).chain([&log.keys[0].1]) {
            let key = Some(log.vkey(key).parse().expect("a key"));
            let report = verified(&path, VerifyOptions { key, ..VerifyOptions::default() });
            demand_ok(&report, &seed);
            assert_eq!(report.signer, Signer::Trusted);
            // What it prints is what the owner of the key would publish.
            let printed = palyra_verify::json(&report)["newest_signed"]["key"].clone();
            assert_eq!(printed, log.vkey(&log.keys[*signed.signers.iter().max().expect("one")].1));
        }
        for (size, signed) in &log.checkpoints {
            let since = Some(signed.note.parse().expect("a checkpoint"));
            let report = verified(&path, VerifyOptions { since, ..VerifyOptions::default() });
            demand_ok(&report, &(seed, size, newest));
            assert_eq!(report.freshness, LogFreshness::Since(*size));
        }
    }
}

#[test]
fn sealed_payloads_are_counted_and_with_their_keys_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = shape(Shape::Sealed, 5);
    log.save(&path);
    log.save_keys(folder.path());
    let without = verified(&path, VerifyOptions::default());
    demand_ok(&without, &"without keys");
    assert!(without.payloads_sealed > 0);
    let keys = Some(StateKeys::open(folder.path()).expect("keys"));
    let with = verified(&path, VerifyOptions { keys, ..VerifyOptions::default() });
    demand_ok(&with, &"with keys");
    assert_eq!(with.payloads_sealed, 0);
    assert_eq!(with.payloads_checked, without.payloads_checked + without.payloads_sealed);
}

#[test]
fn what_could_not_be_checked_is_not_called_ok() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = shape(Shape::Sealed, 5);
    log.save(&path);
    log.save_keys(folder.path());
    assert_eq!(verified(&path, VerifyOptions::default()).exit_code(), 18);
    let keys = Some(StateKeys::open(folder.path()).expect("keys"));
    assert_eq!(verified(&path, VerifyOptions { keys, ..VerifyOptions::default() }).exit_code(), 0);
}

/// Logs whose epochs say nothing of sealing, and such as say that they seal nothing.
#[test]
fn marking_a_payload_as_sealed_does_not_turn_its_check_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    for (seed, expected) in [(3, 18), (4, 10)] {
        let log = shape(Shape::Plain, seed);
        log.save(&path);
        assert_eq!(verified(&path, VerifyOptions::default()).exit_code(), 0, "before: {seed}");
        let to = rusqlite::Connection::open(&path).expect("a database");
        let sql = "UPDATE payload SET key_id = 1, sealed = ?1 WHERE seq = (SELECT min(seq) FROM payload)";
        to.execute(sql, params![vec![7_u8; 90]]).expect("a row");
        assert_eq!(verified(&path, VerifyOptions::default()).exit_code(), expected, "{seed}");
    }
}

#[test]
fn in_a_state_directory_without_keys_nothing_may_be_sealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let log = shape(Shape::Plain, 3);
    log.save(&path);
    let keys = || Some(StateKeys::open(folder.path()).expect("a folder without keys.db will do"));
    assert_eq!(verified(&path, VerifyOptions { keys: keys(), ..VerifyOptions::default() }).exit_code(), 0);
    let to = rusqlite::Connection::open(&path).expect("a database");
    to.execute_batch("UPDATE payload SET key_id = 1 WHERE seq = (SELECT min(seq) FROM payload)")
        .expect("a row");
    let report = verified(&path, VerifyOptions { keys: keys(), ..VerifyOptions::default() });
    assert_eq!(report.exit_code(), 10, "{:?}", report.fault);
}

#[test]
fn a_bundle_of_each_run_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    for (seed, of) in
        [(1, Shape::Plain), (2, Shape::Epochs), (3, Shape::Erased), (4, Shape::Long), (5, Shape::Reopened)]
    {
        let log = shape(of, seed);
        for run in log.runs().iter().take(5) {
            log.save_bundle(run, folder.path());
            let report = verify_bundle(folder.path(), &VerifyOptions::default());
            demand_ok(&report, &(of, seed));
        }
    }
}
