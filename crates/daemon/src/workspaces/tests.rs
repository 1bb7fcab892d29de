//! Which folders are taken, and whose the own ones are.

use palyra_types::SessionId;

use super::*;

fn note(state: &Path, home: &Path, wanted: &Path) -> Option<String> {
    let workspaces = StateWorkspaces::new(state.to_owned(), Some(home.to_owned()));
    let session = SessionRef { principal: PrincipalId::from_parts(1, 1), id: SessionId::from_parts(1, 1) };
    workspaces.choose(Some(&Content::new(wanted.to_owned())), session).expect("a workspace").note
}

#[test]
fn dangerous_folders_are_replaced_and_the_person_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("a real path");
    let (home, work) = (base.join("home"), base.join("home/work"));
    let state = home.join(".local/state/palyra");
    std::fs::create_dir_all(&state).expect("state");
    std::fs::create_dir_all(&work).expect("work");
    assert_eq!(note(&state, &home, &work), None);
    for bad in [Path::new("/"), &home, &base, &state, &state.join("workspaces"), &base.join("missing")] {
        assert!(note(&state, &home, bad).is_some(), "{} was accepted", bad.display());
    }
}

fn session_of(principal: u64) -> SessionRef {
    SessionRef { principal: PrincipalId::from_parts(principal, 1), id: SessionId::from_parts(9, 9) }
}

fn own_folder(workspaces: &StateWorkspaces, principal: u64) -> PathBuf {
    workspaces.choose(None, session_of(principal)).expect("a workspace").root.into_exposed()
}

#[test]
fn two_principals_with_one_session_id_have_two_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let workspaces = StateWorkspaces::new(folder.path().to_owned(), None);
    let (carol, bob) = (own_folder(&workspaces, 1), own_folder(&workspaces, 2));
    assert_ne!(carol, bob);
    assert!(carol.is_dir() && bob.is_dir() && !carol.starts_with(&bob) && !bob.starts_with(&carol));
    assert_eq!(own_folder(&workspaces, 1), carol, "a session keeps its folder");
}

#[test]
fn a_folder_without_a_principal_goes_on_for_the_owner_and_for_nobody_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = folder.path().join("workspaces").join(session_of(1).id.to_string());
    std::fs::create_dir_all(&before).expect("made");
    let owner = Some(session_of(1).principal);
    let workspaces = StateWorkspaces::new(folder.path().to_owned(), None).owned_by(owner);
    assert_eq!(own_folder(&workspaces, 1), before);
    assert_ne!(own_folder(&workspaces, 2), before, "it may be anybody's");
    let unknown = StateWorkspaces::new(folder.path().to_owned(), None);
    assert_ne!(own_folder(&unknown, 1), before, "nobody is known to be the owner");
    std::fs::remove_dir(&before).expect("removed");
    std::os::unix::fs::symlink(folder.path(), &before).expect("linked");
    assert_ne!(own_folder(&workspaces, 1), before, "a link is no folder");
}

#[test]
fn a_look_names_the_folder_that_is_used_and_makes_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("a real path");
    let workspaces = StateWorkspaces::new(base.join("state"), None);
    let missing = Content::new(base.join("missing"));
    for wanted in [None, Some(&missing)] {
        let looked = workspaces.look(wanted, session_of(1)).expect("a folder");
        assert_eq!(std::fs::read_dir(&base).expect("readable").count(), 0, "nothing was made");
        assert_eq!(looked.note.is_some(), wanted.is_some());
        let chosen = workspaces.choose(wanted, session_of(1)).expect("a workspace");
        assert_eq!(chosen, looked);
        assert!(chosen.root.expose().is_dir());
        std::fs::remove_dir_all(base.join("state")).expect("removed");
    }
}
