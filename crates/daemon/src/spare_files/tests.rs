//! What may go, goes; a fault that is staged to make it free something else frees nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::*;

/// A state directory beside a folder of automatic backups.
struct Place {
    folder: tempfile::TempDir,
    spare: StateSpareFiles,
}

impl Place {
    fn new(low_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, backups) = (folder.path().join("state"), folder.path().join("backups"));
        fs::create_dir_all(&state_dir).unwrap();
        fs::create_dir_all(&backups).unwrap();
        fs::write(state_dir.join("journal.db"), "the journal").unwrap();
        let file = folder.path().join("palyra.toml");
        fs::write(&file, format!("[backup]\nfolder = \"{}\"\n", backups.display())).unwrap();
        let config = crate::config::load(Some(&file), &BTreeMap::new(), &[]).unwrap();
        let components = ComponentTools::new(palyra_wasm::ComponentParts {
            folder: state_dir.join("components"),
            program: PathBuf::new(),
            sandbox: crate::host_sandbox::HostSandbox::new(state_dir.join("scratch")),
            compiling: palyra_wasm::COMPILE_LIMITS,
            fetch: None,
            secrets: None,
            clock: Arc::new(crate::system::SystemClock),
        });
        let spare = StateSpareFiles {
            scratch: state_dir.join("scratch"),
            components: Arc::new(components),
            config: watch::channel(Arc::new(config)).1,
            state_dir,
            low_bytes,
        };
        Self { folder, spare }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, file: &str) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, vec![1; 8_192]).unwrap();
    }

    fn is_there(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }
}

const NATIVE: &str =
    "state/components/0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a/native-x";
const COMPONENT: &str =
    "state/components/0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a/component.wasm";

#[tokio::test]
async fn scratch_space_and_native_code_are_measured_and_freed_while_the_disk_is_low() {
    let place = Place::new(u64::MAX);
    for file in ["state/scratch/program-1-1/output", NATIVE, COMPONENT, "state/kept-aside/a/evidence"] {
        place.put(file);
    }
    let space = place.spare.measure().await.unwrap();
    assert!(space.is_disk_low);
    assert_eq!((space.scratch, space.compiled_components, space.older_backups), (8_192, 8_192, 0));
    assert_eq!(place.spare.free(SpareKind::ALL).await.unwrap(), 16_384);
    assert!(!place.is_there("state/scratch/program-1-1") && !place.is_there(NATIVE));
    assert!(place.is_there(COMPONENT) && place.is_there("state/kept-aside/a/evidence"));
    assert_eq!(place.spare.measure().await.unwrap().bytes(), 0);
    assert_eq!(place.spare.free(SpareKind::ALL).await.unwrap(), 0);
}

#[tokio::test]
async fn nothing_is_freed_while_the_disk_has_room() {
    let place = Place::new(0);
    place.put("state/scratch/program-1-1/output");
    assert_eq!(place.spare.measure().await.unwrap(), SpareSpace::default());
    assert_eq!(place.spare.free(SpareKind::ALL).await.unwrap(), 0);
    assert!(place.is_there("state/scratch/program-1-1/output"));
}

#[tokio::test]
async fn links_that_lead_to_the_journal_free_nothing_of_it() {
    let place = Place::new(u64::MAX);
    let state = place.path("state");
    place.put("state/scratch/program-1-1/output");
    symlink(&state, place.path("state/scratch/program-1-1/link")).unwrap();
    symlink(&state, place.path("state/scratch/program-2-2")).unwrap();
    fs::hard_link(state.join("journal.db"), place.path("state/scratch/program-1-1/second-name")).unwrap();
    // A component whose folder, and one whose native code, is a link.
    place.put("elsewhere/native-x");
    fs::create_dir_all(place.path("state/components")).unwrap();
    symlink(place.path("elsewhere"), place.path(&format!("state/components/{}", "0b".repeat(32)))).unwrap();
    place.put(COMPONENT);
    symlink(state.join("journal.db"), place.path(NATIVE)).unwrap();
    symlink(&state, place.path("backups/palyra-20260101-000000-a")).unwrap();
    let space = place.spare.measure().await.unwrap();
    assert_eq!((space.scratch, space.artifacts()), (8_192, 0));
    place.spare.free(SpareKind::ALL).await.unwrap();
    assert_eq!(fs::read_to_string(state.join("journal.db")).unwrap(), "the journal");
    assert!(place.is_there("elsewhere/native-x") && place.is_there(NATIVE));
    assert!(!place.is_there("state/scratch/program-1-1"));
}

#[tokio::test]
async fn older_backups_stay_where_the_newest_one_does_not_verify() {
    let place = Place::new(u64::MAX);
    for name in ["palyra-20260101-000000-a", "palyra-20260102-000000-a", "palyra-mine"] {
        place.put(&format!("backups/{name}/manifest.json"));
    }
    assert_eq!(place.spare.measure().await.unwrap().older_backups, 8_192);
    let failed = place.spare.free(&[SpareKind::OlderBackups]).await.unwrap_err();
    assert!(failed.what.contains("palyra-20260102"), "{failed}");
    assert!(place.is_there("backups/palyra-20260101-000000-a") && place.is_there("backups/palyra-mine"));
}
