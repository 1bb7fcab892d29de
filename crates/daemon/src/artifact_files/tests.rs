//! Damaged artifacts are found by their digests, and put back only from a copy with the pinned digest.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::*;

const WHOLE: &[u8] = b"the bytes that a person added";
const DAMAGED: &[u8] = b"the bytes that a person adDed";

/// A state directory beside a folder of automatic backups.
struct ArtifactPlace {
    folder: tempfile::TempDir,
    artifacts: StateArtifacts,
}

impl ArtifactPlace {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, backups) = (folder.path().join("state"), folder.path().join("backups"));
        fs::create_dir_all(&state_dir).unwrap();
        fs::create_dir_all(&backups).unwrap();
        let file = folder.path().join("palyra.toml");
        fs::write(&file, format!("[backup]\nfolder = \"{}\"\n", backups.display())).unwrap();
        let config = crate::config::load(Some(&file), &BTreeMap::new(), &[]).unwrap();
        let components = ComponentTools::new(palyra_wasm::ComponentParts {
            folder: state_dir.join(COMPONENTS_FOLDER),
            program: PathBuf::new(),
            sandbox: crate::host_sandbox::HostSandbox::new(state_dir.join("scratch")),
            compiling: palyra_wasm::COMPILE_LIMITS,
            fetch: None,
            secrets: None,
            clock: Arc::new(crate::system::SystemClock),
        });
        let config = watch::channel(Arc::new(config)).1;
        Self { artifacts: StateArtifacts::new(state_dir, Arc::new(components), config), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_default()
    }

    /// Puts a component into an automatic backup.
    fn back_up(&self, backup: &str, bytes: &[u8]) {
        self.put(&format!("backups/{backup}/manifest.json"), b"{}");
        self.put(&format!("backups/{backup}/state/{}", in_state()), bytes);
    }

    fn damaged(&self) -> Vec<String> {
        let found = fs::read_dir(self.path("state/damaged")).into_iter().flatten().flatten();
        found.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    fn check(&self) -> ArtifactCheck {
        self.artifacts.check_now(component()).unwrap()
    }
}

fn component() -> ArtifactRef {
    ArtifactRef { kind: ArtifactKind::Component, sha256: palyra_ledger::sha256(WHOLE) }
}

/// The place of the component below a state directory.
fn in_state() -> String {
    format!("components/{}/component.wasm", hex(&component().sha256))
}

fn whole() -> ArtifactCheck {
    ArtifactCheck::Whole { bytes: WHOLE.len() as u64 }
}

#[tokio::test]
async fn a_component_is_put_back_from_the_newest_backup_with_its_digest() {
    let place = ArtifactPlace::new();
    let file = format!("state/{}", in_state());
    place.put(&file, WHOLE);
    assert_eq!(place.check(), whole());
    place.back_up("palyra-20260101-000000-a", WHOLE);
    place.back_up("palyra-20260102-000000-a", DAMAGED);
    for damage in [Some(DAMAGED), None] {
        match damage {
            Some(bytes) => place.put(&file, bytes),
            None => fs::remove_file(place.path(&file)).unwrap(),
        }
        assert_eq!(place.check(), ArtifactCheck::Repairable);
        place.artifacts.repair(component()).await.unwrap();
        assert_eq!((place.check(), place.read(&file)), (whole(), WHOLE.to_vec()));
    }
    let [kept] = &place.damaged()[..] else { panic!("{:?}", place.damaged()) };
    assert_eq!(place.read(&format!("state/damaged/{kept}")), DAMAGED, "what was there is kept");
}

#[tokio::test]
async fn without_a_copy_nothing_is_changed() {
    let place = ArtifactPlace::new();
    let file = format!("state/{}", in_state());
    place.put(&file, DAMAGED);
    place.back_up("palyra-20260101-000000-a", DAMAGED);
    // One that a person made is a person's to use.
    place.back_up("palyra-mine", WHOLE);
    assert_eq!(place.check(), ArtifactCheck::Lost);
    place.artifacts.repair(component()).await.unwrap_err();
    assert_eq!((place.read(&file), place.damaged()), (DAMAGED.to_vec(), Vec::<String>::new()));
}

#[tokio::test]
async fn a_skill_is_put_back_with_the_modes_of_its_files() {
    let place = ArtifactPlace::new();
    let file = |path: &str, mode| SkillFile { path: path.to_owned(), mode, bytes: path.as_bytes().to_vec() };
    let files =
        vec![file("SKILL.md", SkillFileMode::Plain), file("scripts/run.sh", SkillFileMode::Executable)];
    let sha256 = skill_digest(&files);
    let (skill, name) = (ArtifactRef { kind: ArtifactKind::SkillCopy, sha256 }, hex(&sha256));
    place.artifacts.skills.keep_now(&name, &files).unwrap();
    assert!(matches!(place.artifacts.check_now(skill), Ok(ArtifactCheck::Whole { .. })));
    let backup = "backups/palyra-20260101-000000-a";
    for file in &files {
        place.put(&format!("{backup}/state/skills/{name}/{}", file.path), &file.bytes);
    }
    place.put(&format!("{backup}/manifest.json"), b"{}");
    place.put(&format!("state/skills/{name}/SKILL.md"), b"changed");
    assert_eq!(
        place.artifacts.check_now(skill).unwrap(),
        ArtifactCheck::Lost,
        "without its manifest a backup does not say which file may be started"
    );
    let manifest = manifest_of(&name, &files);
    place.put(&format!("{backup}/manifest.json"), manifest.as_bytes());
    assert_eq!(place.artifacts.check_now(skill).unwrap(), ArtifactCheck::Repairable);
    place.artifacts.repair(skill).await.unwrap();
    assert_eq!(place.artifacts.skills.kept_now(&name).unwrap(), files);
    assert_eq!(place.damaged(), [format!("skill-{name}-0")]);
    assert_eq!(place.read(&format!("state/damaged/skill-{name}-0/SKILL.md")), b"changed");
}

/// A manifest as a backup has it, with the modes of a skill's files.
fn manifest_of(name: &str, files: &[SkillFile]) -> String {
    let entry = |file: &SkillFile| {
        serde_json::json!({
            "name": format!("state/skills/{name}/{}", file.path),
            "bytes": file.bytes.len(),
            "mode": if file.mode == SkillFileMode::Executable { 0o700 } else { 0o600 },
            "sha256": hex(&palyra_ledger::sha256(&file.bytes)),
        })
    };
    let journal = serde_json::json!({
        "name": "journal.db",
        "bytes": 0,
        "mode": 0o600,
        "sha256": hex(&palyra_ledger::sha256(b"")),
    });
    serde_json::json!({
        "kind": "palyra-backup",
        "format": palyra_backup::BACKUP_FORMAT,
        "created": "2026-01-01T00:00:00Z",
        "created_unix_us": 1,
        "program_version": "0",
        "log": "log",
        "entries": 1,
        "checkpoint": null,
        "vault_key": "no_secrets",
        "seal_key_left_out": false,
        "left_out": [],
        "files": files.iter().map(entry).chain([journal]).collect::<Vec<_>>(),
    })
    .to_string()
}

/// What a model can leave behind: files that commands put in protected places, a workspace, names of all of them. The canaries
/// are evidence; the control is the damaged component beside them, which is mended.
#[tokio::test]
async fn no_planted_name_makes_a_repair_touch_evidence() {
    let name = hex(&component().sha256);
    let evidence = [
        format!("state/kept-aside/{name}/component.wasm"),
        format!("state/kept-aside/native-{}-1", std::env::consts::ARCH),
        format!("state/workspaces/{name}/component.wasm"),
        "state/journal.db".to_owned(),
        format!("state/damaged/component-{name}-0"),
    ];
    let place = ArtifactPlace::new();
    evidence.iter().for_each(|canary| place.put(canary, b"evidence"));
    let file = format!("state/{}", in_state());
    // A link in the place of the component, and one in a backup, lead to the journal.
    fs::create_dir_all(place.path(&file).parent().unwrap()).unwrap();
    symlink(place.path("state/journal.db"), place.path(&file)).unwrap();
    place.back_up("palyra-20260101-000000-a", WHOLE);
    place.back_up("palyra-20260102-000000-a", DAMAGED);
    let planted = place.path(&format!("backups/palyra-20260102-000000-a/state/{}", in_state()));
    fs::remove_file(&planted).unwrap();
    symlink(place.path("state/journal.db"), &planted).unwrap();
    assert_eq!(place.check(), ArtifactCheck::Repairable);
    place.artifacts.repair(component()).await.unwrap();
    assert_eq!(place.check(), whole(), "the control: the component is mended");
    for canary in &evidence {
        assert_eq!(place.read(canary), b"evidence", "{canary}");
    }

    // A folder of damaged artifacts that leads elsewhere: nothing is moved there, and nothing is put back.
    let led = ArtifactPlace::new();
    led.put("elsewhere/canary", b"evidence");
    led.put(&file, DAMAGED);
    led.back_up("palyra-20260101-000000-a", WHOLE);
    symlink(led.path("elsewhere"), led.path("state/damaged")).unwrap();
    led.artifacts.repair(component()).await.unwrap_err();
    assert_eq!(led.read(&file), DAMAGED);
    assert_eq!(fs::read_dir(led.path("elsewhere")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_full_folder_of_damaged_artifacts_waits_for_a_person() {
    let place = ArtifactPlace::new();
    let file = format!("state/{}", in_state());
    (0..DAMAGED_MAX).for_each(|number| place.put(&format!("state/damaged/{number}"), b"evidence"));
    place.put(&file, DAMAGED);
    place.back_up("palyra-20260101-000000-a", WHOLE);
    let refused = place.artifacts.repair(component()).await.unwrap_err();
    assert!(refused.what.contains("look at them"), "{refused}");
    assert_eq!((place.read(&file), place.damaged().len()), (DAMAGED.to_vec(), DAMAGED_MAX));
}
