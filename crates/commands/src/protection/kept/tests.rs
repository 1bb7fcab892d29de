//! Kept files: what is listed and read, what is deleted, and what the limits take.

use std::fs::{self, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use palyra_types::{EffectId, PrincipalId, SessionId};
use tempfile::TempDir;

use super::*;

fn owner(run: u64) -> KeptOwner {
    KeptOwner {
        principal: PrincipalId::from_parts(1, 1),
        session: SessionId::from_parts(2, 2),
        run: RunId::from_parts(run, 3),
        effect: EffectId(4),
    }
}

/// Keeps what a script of changes makes, as a review does.
fn keep(store: &KeptStore, run: u64, place: &str, make: impl FnOnce(&Path)) -> KeptFileId {
    let folder = ProgramFolder::make_empty(&store.folder, Some((&owner(run)).into()));
    let mut folder = folder.expect("a folder");
    let (_, item) =
        folder.next_item(Path::new("/w"), Path::new(place), EntryChange::New).expect("it is recorded");
    make(&folder.path.join(item.to_string()));
    let name = folder.path.file_name().expect("a name").to_string_lossy().into_owned();
    KeptFileId(format!("{name}/{item}"))
}

fn store() -> (TempDir, KeptStore) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = KeptStore::new(folder.path().join("kept-aside"));
    (folder, store)
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn what_was_kept_is_listed_and_read_with_its_modes() {
    let (_folder, store) = store();
    assert_eq!(store.list_now(None), []);
    let hook = keep(&store, 1, ".git/hooks/pre-commit", |path| write(path, "#!/bin/sh\n", 0o755));
    let other = keep(&store, 2, ".envrc", |path| write(path, "x", 0o644));
    let listed = store.list_now(Some(RunId::from_parts(1, 3)));
    assert_eq!(listed.iter().map(|file| &file.id).collect::<Vec<_>>(), [&hook]);
    assert_eq!((listed[0].kind, listed[0].bytes, listed[0].owner), (KeptKind::File, 10, owner(1)));
    let read = store.read_now(&hook).expect("it is read");
    assert_eq!((read.entries[0].mode, read.refusal), (0o755, None));
    // The digest tells other permission bits, as it tells other bytes.
    let plain = keep(&store, 1, ".git/hooks/pre-commit", |path| write(path, "#!/bin/sh\n", 0o644));
    assert_ne!(store.read_now(&plain).expect("it is read").file.sha256, read.file.sha256);
    store.remove_now(&[hook.clone(), plain]).expect("they go");
    assert!(matches!(store.read_now(&hook), Err(KeptFileError::NotFound)));
    let left = store.list_now(None);
    assert_eq!(left.iter().map(|file| &file.id).collect::<Vec<_>>(), [&other]);
    let folders = fs::read_dir(&store.folder).expect("the store").count();
    assert_eq!(folders, 1, "nothing is left of a folder whose last file is gone");
}

#[test]
fn what_leads_elsewhere_is_not_read() {
    let (outside, store) = store();
    let secret = outside.path().join("secret");
    write(&secret, "secret", 0o600);
    let link = keep(&store, 1, ".envrc", |path| symlink(&secret, path).expect("a link"));
    let inner = keep(&store, 1, ".vscode", |path| {
        fs::create_dir(path).expect("a folder");
        write(&path.join("a"), "a", 0o644);
        symlink(&secret, path.join("b")).expect("a link");
    });
    for id in [link, inner] {
        let read = store.read_now(&id).expect("it is read");
        assert!(read.refusal.as_ref().is_some_and(|why| why.contains("is a link")), "{read:?}");
        assert!(read.entries.iter().all(|entry| entry.bytes.expose() != b"secret"));
    }
    for wrong in ["../secret", "x/../../secret", "", "/"] {
        assert!(store.read_now(&KeptFileId(wrong.to_owned())).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_displaced_is_kept_as_well() {
    let (_folder, store) = store();
    let id = keep(&store, 1, ".envrc", |path| write(path, "new", 0o644));
    let entry = KeptEntry { place: ".envrc".into(), mode: 0o600, bytes: Content::new(b"old".to_vec()) };
    store.keep_now(&id, std::slice::from_ref(&entry)).expect("it is kept");
    let displaced: Vec<_> =
        store.list_now(None).into_iter().filter(|file| file.change == KeptChange::Displaced).collect();
    assert_eq!(store.read_now(&displaced[0].id).expect("it is read").entries, [entry]);
    assert_eq!(displaced[0].owner, owner(1));
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_too_old() {
    let (_folder, store) = store();
    let young = keep(&store, 1, ".envrc", |path| write(path, "young", 0o644));
    let old = keep(&store, 1, ".envrc", |path| write(path, "old", 0o644));
    let (folder, _) = old.0.split_once('/').expect("a name");
    let list = store.folder.join(folder).join("list.jsonl");
    let text = fs::read_to_string(&list).expect("the list");
    let secs = now_secs() - AGE_MAX_SECS - 1;
    let (before, _) = text.split_once("\"kept_secs\":").expect("its time");
    fs::write(&list, format!("{before}\"kept_secs\":{secs}}}\n")).expect("the list");
    store.prune();
    assert_eq!(store.list_now(None).iter().map(|file| &file.id).collect::<Vec<_>>(), [&young]);
    let large = keep(&store, 1, ".envrc", |path| {
        write(path, "", 0o644);
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_len(BYTES_MAX).expect("a hole");
        file.set_times(FileTimes::new()).expect("its times");
    });
    store.prune();
    let left = store.list_now(None);
    assert!(left.len() == 1 && [&young, &large].contains(&&left[0].id), "{left:?}");
}
