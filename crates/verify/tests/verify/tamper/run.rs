//! Running classes of damage.
//!
//! Owns the logs that are broken, and comparing answers. Begin at [`run_class`].

use std::path::{Path, PathBuf};

use palyra_verify::{StateKeys, VerifyOptions, VerifyReport, verify_bundle, verify_database};

use super::classes::{Class, Kind};
use super::expect::{Case, TamperFolder};
use super::view::View;
use crate::writer::{Chance, Log, Shape, shape};

/// Tries for one that applies.
const TRIES_MAX: u64 = 200;
/// Wrong answers that are told.
const TOLD_MAX: usize = 5;

/// How a class went.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) tried: u64,
    pub(crate) wrong: u64,
    /// The first wrong answers, in words.
    pub(crate) told: Vec<String>,
    /// Files in which the change left every row as it was, or in derived tables.
    pub(crate) silent: u64,
}

/// A log to break.
pub(crate) struct Base {
    name: String,
    log: Option<Log>,
    file: Vec<u8>,
    view: View,
    state: Option<PathBuf>,
}

/// Logs of every shape, saved below `folder`.
pub(crate) fn bases(each: u64, seed: u64, folder: &Path) -> Vec<Base> {
    let mut bases = Vec::new();
    for of in Shape::ALL {
        for number in 0..each {
            let log = shape(of, seed + number);
            let name = format!("{of:?} {}", seed + number);
            let state = folder.join(name.replace(' ', "-"));
            log.save_keys(&state);
            let path = state.join("journal.db");
            log.save(&path);
            let (file, view) = (std::fs::read(&path).expect("a file"), View::read(&path).expect("a journal"));
            bases.push(Base { name, log: Some(log), file, view, state: Some(state) });
        }
    }
    bases
}

/// A broken file, what was asked about it, and the answer.
pub(crate) struct Seen<'s> {
    pub(crate) path: &'s Path,
    pub(crate) case: &'s Case,
    pub(crate) state: Option<&'s Path>,
    pub(crate) report: &'s VerifyReport,
}

/// A journal that a daemon wrote.
pub(crate) struct Real(pub(crate) PathBuf);

/// Returns real journals as logs to break; only classes that need no keys apply to them.
pub(crate) fn on_real(files: &[Real]) -> Vec<Base> {
    let base = |Real(path): &Real| {
        let name = path.display().to_string();
        let whole = without_wal(path);
        let path_of_whole = whole.path().join("journal.db");
        let file = std::fs::read(&path_of_whole).expect("a file");
        let view = View::read(&path_of_whole).expect("a journal");
        let state = path.parent().filter(|state| state.join("keys.db").is_file()).map(Path::to_owned);
        Base { name, log: None, file, view, state }
    };
    files.iter().map(base).collect()
}

/// Returns a folder with the journal in one file, as it is once its write-ahead log was taken in.
fn without_wal(path: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for ending in ["", "-wal"] {
        let from = PathBuf::from(format!("{}{ending}", path.display()));
        if from.is_file() {
            std::fs::copy(from, folder.path().join(format!("journal.db{ending}"))).expect("a copy");
        }
    }
    let whole = rusqlite::Connection::open(folder.path().join("journal.db")).expect("a database");
    whole.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("taken in");
    folder
}

/// Breaks logs in one way `count` times; `each` sees every file with the answer.
pub(crate) fn run_class(
    class: &Class,
    bases: &[Base],
    count: u64,
    folder: &Path,
    each: &mut dyn FnMut(&Seen<'_>),
) -> Outcome {
    let mut outcome = Outcome::default();
    let place = TamperFolder::new(folder);
    let mut chance = Chance::new(class.name.len() as u64 ^ count);
    for _ in 0..count {
        let made = (0..TRIES_MAX).find_map(|_| {
            let base = chance.pick(bases);
            Some((base, broken(class, base, &mut chance, &place)?))
        });
        let Some((base, case)) = made else { break };
        let state = base.state.as_deref().filter(|_| !class.is_unkeyed());
        let report = verify(&case, class, state, &place);
        outcome.tried += 1;
        outcome.silent += u64::from(report.exit_code() == 0);
        if !case.fits(&report) {
            outcome.wrong += 1;
            if outcome.told.len() < TOLD_MAX {
                let (codes, seq) = (&case.codes, case.seq);
                outcome
                    .told
                    .push(format!("{}: expected {codes:?} {seq:?}, got {:?}", base.name, report.fault));
                if let Some(keep) = std::env::var_os("PALYRA_TAMPER_KEEP") {
                    let _ = std::fs::copy(place.database(), keep);
                }
            }
        }
        let path = if class.is_of_bundles() { place.bundle() } else { place.database() };
        each(&Seen { path: &path, case: &case, state, report: &report });
    }
    outcome
}

fn broken(class: &Class, base: &Base, chance: &mut Chance, place: &TamperFolder) -> Option<Case> {
    match class.kind {
        Kind::File(work) | Kind::Unkeyed(work) => {
            std::fs::write(place.database(), &base.file).expect("a file");
            work(&base.view, chance, &place.database())
        }
        Kind::Log(work) => work(base.log.as_ref()?, chance, &place.database()),
        Kind::Bundle(work) => work(base.log.as_ref()?, chance, &place.bundle()),
    }
}

fn verify(case: &Case, class: &Class, state: Option<&Path>, place: &TamperFolder) -> VerifyReport {
    let mut options = VerifyOptions {
        key: case.key.as_ref().map(|key| key.parse().expect("a key")),
        since: case.since.as_ref().map(|note| note.parse().expect("a checkpoint")),
        keys: state.map(|state| StateKeys::open(state).expect("keys")),
        progress: None,
    };
    match class.kind {
        Kind::Bundle(_) => verify_bundle(&place.bundle(), &options),
        Kind::File(_) | Kind::Unkeyed(_) | Kind::Log(_) => verify_database(&place.database(), &mut options),
    }
}

/// Verifies `count` clean logs with everything that can be asked of them.
pub(crate) fn cleans(count: u64, seed: u64, folder: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let mut chance = Chance::new(seed);
    let path = folder.join("journal.db");
    for number in 0..count {
        let of = *chance.pick(&Shape::ALL);
        let log = shape(of, seed + number);
        log.save(&path);
        log.save_keys(folder);
        let newest = log.newest();
        let key = newest.map(|(_, signed)| log.vkey(&log.keys[signed.signers[0]].1).parse().expect("a key"));
        let kept: Vec<&String> = log.checkpoints.values().map(|signed| &signed.note).collect();
        let since = (!kept.is_empty()).then(|| chance.pick(&kept).parse().expect("a checkpoint"));
        let keys = chance.one_in(2).then(|| StateKeys::open(folder).expect("keys"));
        let report = verify_database(&path, &mut VerifyOptions { key, since, keys, progress: None });
        outcome.tried += 1;
        if let Some(fault) = report.fault {
            outcome.wrong += 1;
            outcome.told.push(format!("{of:?} {}: {fault:?}", seed + number));
        }
    }
    outcome.told.truncate(TOLD_MAX);
    outcome
}
