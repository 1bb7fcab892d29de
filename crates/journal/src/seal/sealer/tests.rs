//! Keys through restarts, wear, and a replacement of the root that is cut off anywhere.

use palyra_testkit::FixedEntropy;
use palyra_types::{LogId, Seq};
use tempfile::TempDir;

use super::*;
use crate::connection::{ConnectionAccess, connect};

struct Scene {
    folder: TempDir,
    entropy: Arc<dyn Entropy>,
}

const PLACE: SealPlace = SealPlace { log_id: LogId([5; 16]), seq: Seq(3), chunk: None };

fn principal(n: u128) -> PrincipalId {
    PrincipalId::from_parts(1, n)
}

impl Scene {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), entropy: Arc::new(FixedEntropy::new(1)) }
    }

    fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("journal.db")
    }

    fn open(&self) -> PayloadSealer {
        PayloadSealer::open(&self.database(), PayloadSealing::On, &self.entropy).unwrap().unwrap()
    }

    /// A log in which payloads under these keys lie.
    fn log(&self, keys: &[i64]) -> Connection {
        let connection = connect(&self.database(), ConnectionAccess::Write).unwrap();
        connection
            .execute_batch("CREATE TABLE IF NOT EXISTS payload(key_id INTEGER); DELETE FROM payload")
            .unwrap();
        for key in keys {
            connection.execute("INSERT INTO payload VALUES (?1)", [key]).unwrap();
        }
        connection
    }

    fn unsealed(&self, (key_id, sealed): &(i64, Vec<u8>)) -> Option<Vec<u8>> {
        let connection = connect(&self.database(), ConnectionAccess::Write).unwrap();
        let sql = "SELECT unseal(?1, ?2, ?3, 3, -1)";
        connection.query_row(sql, (key_id, sealed, [5_u8; 16]), |row| row.get(0)).unwrap()
    }
}

#[test]
fn nothing_is_made_where_nothing_is_sealed() {
    let scene = Scene::new();
    assert!(PayloadSealer::open(&scene.database(), PayloadSealing::Off, &scene.entropy).unwrap().is_none());
    assert_eq!(std::fs::read_dir(scene.folder.path()).unwrap().count(), 0);
    let sealed = scene.open().seal(principal(1), PLACE, b"text").unwrap();
    let off = PayloadSealer::open(&scene.database(), PayloadSealing::Off, &scene.entropy).unwrap().unwrap();
    assert!(!off.seals());
    assert_eq!(scene.unsealed(&sealed).as_deref(), Some(&b"text"[..]), "what was sealed is still read");
}

#[test]
fn each_principal_has_a_key_that_outlives_a_restart_and_wears_out() {
    let scene = Scene::new();
    let mut sealer = scene.open();
    let first = sealer.seal(principal(1), PLACE, b"text").unwrap();
    let other = sealer.seal(principal(2), PLACE, b"text").unwrap();
    assert_eq!((first.0, other.0), (1, 2));
    let mut sealer = scene.open();
    assert_eq!(sealer.seal(principal(1), PLACE, b"text").unwrap().0, 1);
    sealer.keys.wear_out(1);
    assert_eq!(sealer.seal(principal(1), PLACE, b"text").unwrap().0, 1, "what was counted is still sealed");
    sealer.held.clear();
    let next = sealer.seal(principal(1), PLACE, b"text").unwrap();
    assert_eq!(next.0, 3);
    for sealed in [first, other, next] {
        assert_eq!(scene.unsealed(&sealed).as_deref(), Some(&b"text"[..]));
    }
}

#[test]
fn a_replaced_root_opens_what_is_left_and_no_copy_from_before() {
    let scene = Scene::new();
    let mut sealer = scene.open();
    let kept = sealer.seal(principal(1), PLACE, b"kept").unwrap();
    let gone = sealer.seal(principal(2), PLACE, b"gone").unwrap();
    let keys = scene.folder.path().join("keys.db");
    let copy = std::fs::read(&keys).unwrap();
    sealer.replace_root(&scene.log(&[kept.0])).unwrap();
    assert_eq!(sealer.keys.ids(), [kept.0]);
    assert_eq!(scene.unsealed(&kept).as_deref(), Some(&b"kept"[..]));
    assert_eq!(scene.unsealed(&gone), None);
    assert_eq!(sealer.seal(principal(2), PLACE, b"new").unwrap().0, 3, "no number comes twice");
    drop(sealer);
    std::fs::write(&keys, copy).unwrap();
    assert_eq!((scene.unsealed(&kept), scene.unsealed(&gone)), (None, None), "the copy of the keys");
}

/// What a crash after each step leaves is settled by the next start.
#[test]
fn a_replacement_that_is_cut_off_is_finished_or_taken_back() {
    for step in 0..4 {
        let scene = Scene::new();
        let mut sealer = scene.open();
        let sealed = sealer.seal(principal(1), PLACE, b"text").unwrap();
        let before = sealer.root;
        let next = [9; 32];
        sealer.files.announce(&next).unwrap();
        if step > 0 {
            sealer.keys.rewrap(&[sealed.0], &before, &next, &*scene.entropy).unwrap();
        }
        if step > 1 {
            sealer.files.destroy_present().unwrap();
        }
        if step > 2 {
            sealer.files.replace().unwrap();
        }
        drop(sealer);
        assert_eq!(scene.unsealed(&sealed).as_deref(), Some(&b"text"[..]), "read in between, step {step}");
        let mut sealer = scene.open();
        assert_eq!(sealer.root, if step == 0 { before } else { next }, "step {step}");
        assert_eq!(sealer.files.next().unwrap(), None);
        assert_eq!(sealer.seal(principal(1), PLACE, b"more").unwrap().0, sealed.0);
        assert_eq!(scene.unsealed(&sealed).as_deref(), Some(&b"text"[..]));
    }
}

#[test]
fn keys_without_their_root_are_not_written_over() {
    let scene = Scene::new();
    let sealed = scene.open().seal(principal(1), PLACE, b"text").unwrap();
    let root = scene.folder.path().join("keys/root.key");
    let kept = std::fs::read(&root).unwrap();
    for root_is in [None, Some("f".repeat(64))] {
        match root_is {
            None => std::fs::remove_file(&root).unwrap(),
            Some(other) => std::fs::write(&root, other).unwrap(),
        }
        let refused = PayloadSealer::open(&scene.database(), PayloadSealing::On, &scene.entropy);
        assert!(matches!(refused, Err(SealError::NoRoot)));
        assert_eq!(scene.unsealed(&sealed), None);
    }
    std::fs::write(&root, kept).unwrap();
    assert_eq!(scene.unsealed(&sealed).as_deref(), Some(&b"text"[..]));
}
