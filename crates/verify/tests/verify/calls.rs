//! Calls whose record contradicts itself, of every kind.

use palyra_verify::{FaultCode, VerifyOptions, verify_bundle, verify_database};

use crate::tamper::append_wrong;
use crate::writer::{Chance, Shape, Wrong, shape};

#[test]
fn every_contradiction_is_named_at_its_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    for (seed, wrong) in (0..).zip(Wrong::ALL) {
        let mut log = shape(Shape::Plain, seed);
        let (_, seq) = append_wrong(&mut log, wrong, &mut Chance::new(seed));
        log.save(&path);
        let report = verify_database(&path, &mut VerifyOptions::default());
        let fault = report.fault.expect("a fault");
        assert_eq!(
            (fault.code, fault.seq, report.faults),
            (FaultCode::Attestation, Some(seq), 1),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_bundle_shows_what_its_run_shows_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    for (seed, wrong) in (0..).zip(Wrong::ALL) {
        let mut log = shape(Shape::Plain, seed);
        let (run, seq) = append_wrong(&mut log, wrong, &mut Chance::new(seed));
        log.save_bundle(&run, folder.path());
        let report = verify_bundle(folder.path(), &VerifyOptions::default());
        let seq = is_of_one_run(wrong).then_some(seq);
        assert_eq!(report.fault.and_then(|fault| fault.seq), seq, "{wrong:?}");
    }
}

/// What a bundle has of a grant may be a part of it.
fn is_of_one_run(wrong: Wrong) -> bool {
    !matches!(wrong, Wrong::GrantNeverGiven | Wrong::GrantRevoked | Wrong::GrantUsedUp)
}
