//! Who could have written what.

use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::*;

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
}

/// A folder below another one, with a file in it.
fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let base = tempfile::tempdir().expect("a folder");
    let folder = base.path().join("config");
    std::fs::create_dir(&folder).expect("made");
    let file = folder.join("palyra.toml");
    std::fs::write(&file, "").expect("written");
    set(&folder, 0o755);
    set(&file, 0o644);
    (base, folder, file)
}

#[test]
fn what_others_may_write_is_named_with_its_mend() {
    let (base, folder, file) = places();
    assert_eq!(check(&file), Ok(()));
    for (path, private) in [(&file, 0o644), (&folder, 0o755), (&base.path().to_owned(), 0o700)] {
        set(path, 0o777);
        let refused = check(&file).expect_err("others may write").to_string();
        let mend = format!("(mode 0777); look at what is there, then `chmod go-w {}`", path.display());
        assert!(refused.contains(&mend), "{refused}");
        assert_eq!(check(&folder).is_err(), path != &file, "a folder is looked at as well");
        set(path, private);
    }
    set(&folder, 0o1777);
    assert_eq!(check(&file), Ok(()), "in a sticky folder nobody takes away what is another's");
    assert_eq!(check(&folder.join("missing.toml")), Ok(()));
    assert_eq!(check(&base.path().join("missing/palyra.toml")), Ok(()));
}

#[test]
fn a_link_is_believed_where_it_lies_and_where_it_leads() {
    let (base, folder, file) = places();
    let (open, link) = (base.path().join("open"), base.path().join("link.toml"));
    std::fs::create_dir(&open).expect("made");
    symlink(&file, &link).expect("linked");
    assert_eq!(check(&link), Ok(()));
    set(&folder, 0o777);
    assert!(check(&link).is_err(), "where it leads");
    set(&folder, 0o755);
    let by_open = open.join("link.toml");
    symlink(&file, &by_open).expect("linked");
    let twice = base.path().join("twice.toml");
    symlink(&by_open, &twice).expect("linked");
    assert_eq!((check(&by_open), check(&twice)), (Ok(()), Ok(())));
    set(&open, 0o777);
    assert!(check(&by_open).is_err() && check(&twice).is_err(), "where it lies");
}

#[test]
fn what_belongs_to_another_user_is_named() {
    let (_base, folder, file) = places();
    if !rustix::process::geteuid().is_root() {
        // Nothing can be given away, but the file system itself belongs to root, which is believed.
        assert_eq!(check(Path::new("/etc/passwd")), Ok(()));
        return;
    }
    for path in [&file, &folder] {
        chown(path, Some(4711), None).expect("given away");
        let refused = check(&file).expect_err("another user's").to_string();
        assert!(refused.contains(&format!("{} belongs to user 4711", path.display())), "{refused}");
        assert!(refused.contains(&format!("`chown 0 {}`", path.display())), "{refused}");
        chown(path, Some(0), None).expect("taken back");
    }
    assert_eq!(check(&file), Ok(()));
}

#[test]
fn a_group_is_ones_own_when_nobody_else_is_in_it() {
    let passwd =
        "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n";
    let groups = "root:x:0:\nann:x:1000:\nbob:x:1001:\nann2:x:1002:ann\nstaff:x:50:ann,bob\n";
    let alone = |group| is_alone(1000, group, passwd, groups);
    assert!(alone(1000) && alone(1002));
    for shared in [50, 1001, 0, 4711] {
        assert!(!alone(shared), "{shared}");
    }
    assert!(!is_alone(1000, 1000, &format!("{passwd}eve:x:1003:1000::/:/bin/sh\n"), groups));
    assert!(!is_alone(4711, 1000, passwd, groups), "who is not listed");
}
