//! Folders as people have them and as attackers make them, on a real disk. Each canary lies outside of what may be
//! touched; the same folder without the attack shows that the canary would be met.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

use palyra_ports::SkillFileMode;
use palyra_ports::skill_folders::{SKILL_BYTES_MAX, SKILL_FILE_BYTES_MAX, SKILL_FILES_MAX};

use super::*;

const NAME: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct SkillsRig {
    dir: tempfile::TempDir,
    folders: StateSkillFolders,
}

impl SkillsRig {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let state = dir.path().join("state");
        fs::create_dir(&state).expect("state");
        let source = dir.path().join("source");
        fs::create_dir_all(source.join("scripts")).expect("source");
        fs::write(source.join("SKILL.md"), "---\nname: a\ndescription: b\n---\n").expect("a file");
        fs::write(source.join("scripts/run.sh"), "echo").expect("a file");
        let runs = fs::Permissions::from_mode(0o755);
        fs::set_permissions(source.join("scripts/run.sh"), runs).expect("a mode");
        fs::write(dir.path().join("canary"), "secret canary").expect("a canary");
        Self { folders: StateSkillFolders::new(state), dir }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn read(&self) -> Result<Vec<SkillFile>, SkillFolderError> {
        StateSkillFolders::read_now(&self.path("source"))
    }

    /// Returns why the source is refused, and checks that nothing of the canary was read.
    fn refusal(&self) -> String {
        match self.read() {
            Err(SkillFolderError::Refused { what }) => what,
            other => panic!("it was not refused: {other:?}"),
        }
    }

    fn keep(&self) -> Vec<SkillFile> {
        let files = self.read().expect("a folder");
        self.folders.keep_now(NAME, &files).expect("kept");
        files
    }
}

#[test]
fn a_folder_is_copied_whole_and_read_back() {
    let ground = SkillsRig::new();
    fs::create_dir_all(ground.path("source/.git/objects")).unwrap();
    fs::write(ground.path("source/.git/config"), "x").unwrap();
    let files = ground.keep();
    let told: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.mode)).collect();
    assert_eq!(told, [("SKILL.md", SkillFileMode::Plain), ("scripts/run.sh", SkillFileMode::Executable)]);
    assert_eq!(ground.folders.kept_now(NAME).unwrap(), files);
    assert_eq!(ground.folders.names_now().unwrap(), [NAME]);
    for path in ["state/skills", &format!("state/skills/{NAME}"), &format!("state/skills/{NAME}/SKILL.md")] {
        assert_eq!(fs::metadata(ground.path(path)).unwrap().permissions().mode() & 0o077, 0, "{path}");
    }
    ground.folders.discard_now(NAME).unwrap();
    ground.folders.discard_now(NAME).unwrap();
    assert_eq!(ground.folders.kept_now(NAME), Err(SkillFolderError::Missing));
    assert_eq!(StateSkillFolders::read_now(&ground.path("nowhere")), Err(SkillFolderError::Missing));
    assert_eq!(StateSkillFolders::read_now(&ground.path("canary")), Err(SkillFolderError::Missing));
}

#[test]
fn a_copy_takes_the_place_of_another_as_a_whole() {
    let ground = SkillsRig::new();
    let files = ground.keep();
    let copy = ground.path(&format!("state/skills/{NAME}"));
    fs::write(copy.join("more"), "tampered").unwrap();
    fs::create_dir_all(ground.path(&format!("state/skills/.new-{NAME}/left/over"))).unwrap();
    assert_ne!(ground.folders.kept_now(NAME).unwrap(), files);
    ground.folders.keep_now(NAME, &files).unwrap();
    assert_eq!(ground.folders.kept_now(NAME).unwrap(), files);
    assert_eq!(ground.folders.names_now().unwrap(), [NAME], "nothing unfinished is left");
    let unfinished = format!(".new-{NAME}");
    fs::create_dir_all(ground.path(&format!("state/skills/{unfinished}/a"))).unwrap();
    ground.folders.discard_now(&unfinished).unwrap();
    assert_eq!(ground.folders.names_now().unwrap(), [NAME]);
}

#[test]
fn links_lead_nowhere() {
    let control = SkillsRig::new();
    fs::copy(control.path("canary"), control.path("source/notes")).unwrap();
    let shown =
        format!("{:?}", control.read().unwrap().iter().map(|file| file.bytes.clone()).collect::<Vec<_>>());
    assert!(shown.contains(&format!("{:?}", b"secret canary".to_vec())), "the control meets the canary");

    for (target, name) in [
        ("../canary", "notes"),
        ("/etc/passwd", "notes"),
        (".", "loop"),
        ("nowhere", "SKILL2.md"),
        ("..", "up"),
    ] {
        let ground = SkillsRig::new();
        symlink(target, ground.path("source").join(name)).unwrap();
        assert_eq!(
            ground.refusal(),
            format!("`{name}` is a symbolic link; put what it leads to there"),
            "{target}"
        );
    }
    let ground = SkillsRig::new();
    fs::remove_file(ground.path("source/SKILL.md")).unwrap();
    symlink(ground.path("canary"), ground.path("source/SKILL.md")).unwrap();
    assert!(ground.refusal().starts_with("`SKILL.md` is a symbolic link"));
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let ground = SkillsRig::new();
    let socket = std::os::unix::net::UnixListener::bind(ground.path("source/socket")).unwrap();
    assert_eq!(ground.refusal(), "`socket` is not a regular file; remove it");
    drop(socket);
    fs::remove_file(ground.path("source/socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        ground.path("source/pipe"),
        rustix::fs::FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    assert!(fs::metadata(ground.path("source/pipe")).unwrap().file_type().is_fifo());
    assert_eq!(ground.refusal(), "`pipe` is not a regular file; remove it");
}

#[test]
fn what_is_too_much_is_refused() {
    let ground = SkillsRig::new();
    let big = fs::File::create(ground.path("source/big")).unwrap();
    big.set_len(1 << 40).unwrap();
    assert_eq!(
        ground.refusal(),
        format!("`big` has more than {SKILL_FILE_BYTES_MAX} bytes; make it smaller")
    );
    fs::remove_file(ground.path("source/big")).unwrap();

    for n in 0..5 {
        fs::File::create(ground.path(&format!("source/{n}"))).unwrap().set_len(1 << 20).unwrap();
    }
    assert_eq!(ground.refusal(), format!("its files have more than {SKILL_BYTES_MAX} bytes; leave some out"));
    for n in 0..5 {
        fs::remove_file(ground.path(&format!("source/{n}"))).unwrap();
    }

    fs::create_dir_all(ground.path("source/1/2/3/4/5/6/7/8")).unwrap();
    assert_eq!(ground.refusal(), "`1/2/3/4/5/6/7/8` is more than 8 levels deep; move it up");
    fs::remove_dir_all(ground.path("source/1")).unwrap();

    for n in 0..SKILL_FILES_MAX {
        fs::write(ground.path(&format!("source/{n}")), "").unwrap();
    }
    assert_eq!(ground.refusal(), format!("it has more than {SKILL_FILES_MAX} files; leave some out"));
}

#[test]
fn a_name_leads_to_no_place_but_its_own() {
    let ground = SkillsRig::new();
    ground.keep();
    for name in ["", ".", "..", "../canary", "/etc", "A", &NAME[1..], &format!("{NAME}/scripts"), "SKILL.md"]
    {
        assert!(matches!(ground.folders.kept_now(name), Err(SkillFolderError::Refused { .. })), "{name}");
        assert!(
            ground.folders.discard_now(name).is_err() && ground.folders.keep_now(name, &[]).is_err(),
            "{name}"
        );
    }
    assert_eq!(fs::read_to_string(ground.path("canary")).unwrap(), "secret canary");
}

#[test]
fn a_folder_of_copies_that_was_replaced_by_a_link_is_not_followed() {
    let ground = SkillsRig::new();
    let files = ground.keep();
    fs::rename(ground.path("state/skills"), ground.path("elsewhere")).unwrap();
    symlink("../elsewhere", ground.path("state/skills")).unwrap();
    assert!(matches!(ground.folders.kept_now(NAME), Err(SkillFolderError::Refused { .. })));
    assert!(ground.folders.keep_now(NAME, &files).is_err() && ground.folders.discard_now(NAME).is_err());
    assert!(
        ground.path(&format!("elsewhere/{NAME}/SKILL.md")).exists(),
        "what lies elsewhere is not touched"
    );

    fs::remove_file(ground.path("state/skills")).unwrap();
    fs::create_dir(ground.path("state/skills")).unwrap();
    symlink(ground.path(&format!("elsewhere/{NAME}")), ground.path(&format!("state/skills/{NAME}"))).unwrap();
    assert!(matches!(ground.folders.kept_now(NAME), Err(SkillFolderError::Refused { .. })));
    ground.folders.discard_now(NAME).unwrap();
    assert!(
        ground.path(&format!("elsewhere/{NAME}/SKILL.md")).exists(),
        "the link goes, what it leads to stays"
    );
}
