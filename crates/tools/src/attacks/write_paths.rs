//! Cases 20, 24 to 26, 28, 30, 31 and 33 for the tools that write: paths, links and patches that lead out.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use super::grounds::{CANARY, Grounds};
use super::write_grounds::{PAYLOAD, calls_at};
use crate::fixture::{call_in, prepare_call};
use crate::workspace::{MadeFolders, Workspace, WorkspacePath};

#[test]
fn no_spelling_of_a_path_leads_a_write_out() {
    let grounds = Grounds::new();
    let victim = grounds.secret();
    let absolute = victim.to_str().unwrap().to_owned();
    for path in [
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "a/b/../../../outside/secret.txt",
        "./../outside/secret.txt",
        "../root/../outside/secret.txt",
        absolute.as_str(),
    ] {
        grounds.assert_nothing_written(path);
        grounds.assert_control_writes(path, &victim);

        // The kernel refuses too, without the early look at the spelling.
        let workspace = Workspace::open(&grounds.root()).unwrap();
        let unchecked = WorkspacePath::unchecked(Path::new(path));
        assert!(workspace.slot(&unchecked).is_err(), "{path}");
        assert!(workspace.slot_with_folders(&unchecked, &mut MadeFolders::default()).is_err(), "{path}");
    }
    for path in ["..", "../outside", "/", "", ".", "a", "a/b"] {
        grounds.assert_nothing_written(path);
    }
    for path in ["../outside/secret.txt\0.png", "inside.txt\0", &"../".repeat(3000), &"x".repeat(5000)] {
        grounds.assert_nothing_written(path);
    }
}

#[test]
fn an_encoded_path_is_only_a_strange_name_inside() {
    let grounds = Grounds::new();
    for path in ["%2e%2e%2foutside%2fsecret.txt", "..\\outside\\secret.txt", "\u{ff0e}\u{ff0e}secret.txt"] {
        let told = grounds.fixture.call("write_file", &json!({"path": path, "content": PAYLOAD}));
        assert!(told.starts_with("created "), "{told}");
        assert_eq!(fs::read_to_string(grounds.root().join(path)).unwrap(), PAYLOAD);
        assert_eq!(fs::read_to_string(grounds.secret()).unwrap(), format!("{CANARY}\n"));
    }
    grounds.assert_control_writes("../outside/secret.txt", &grounds.secret());
}

#[test]
fn a_symbolic_link_is_not_written_through_at_the_end_or_in_the_middle() {
    let grounds = Grounds::new();
    let (root, victim) = (grounds.root(), grounds.secret());
    symlink(&victim, root.join("final")).unwrap();
    symlink("../outside/secret.txt", root.join("relative")).unwrap();
    symlink("relative", root.join("chained")).unwrap();
    symlink(grounds.fixture.outside(), root.join("folder")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("/proc/self/cwd/../../../../../../../../../..", root.join("proc")).unwrap();
    let below_proc = format!("proc{}", victim.display());
    for path in ["final", "relative", "chained", "folder/secret.txt", "up/outside/secret.txt", &below_proc] {
        grounds.assert_nothing_written(path);
        grounds.assert_control_writes(path, &victim);
    }
    // A new file in a linked folder, and a link that stays inside, are refused as well.
    symlink("inside.txt", root.join("alias")).unwrap();
    for path in ["folder/new.txt", "folder/new/deep.txt", "up/new.txt", "alias"] {
        grounds.assert_nothing_written(path);
    }
}

#[test]
fn a_dangling_link_does_not_make_its_target() {
    let grounds = Grounds::new();
    let later = grounds.fixture.outside().join("later.txt");
    symlink("../outside/later.txt", grounds.root().join("dangling")).unwrap();
    symlink("../outside/folder", grounds.root().join("dangling-folder")).unwrap();
    for path in ["dangling", "dangling-folder/x", "dangling-folder"] {
        grounds.assert_nothing_written(path);
    }
    assert!(!later.exists());
    grounds.assert_control_writes("dangling", &later);
}

#[test]
fn a_hard_link_to_the_outside_is_not_written() {
    let grounds = Grounds::new();
    fs::hard_link(grounds.secret(), grounds.root().join("hard")).unwrap();
    grounds.assert_nothing_written("hard");
    grounds.assert_control_writes("hard", &grounds.secret());
}

#[test]
fn descriptor_and_process_paths_are_not_written() {
    let grounds = Grounds::new();
    let victim = grounds.secret();
    let open = File::options().read(true).write(true).open(&victim).unwrap();
    let fd = open.as_raw_fd();
    for path in [
        format!("/dev/fd/{fd}"),
        format!("/proc/self/fd/{fd}"),
        format!("/proc/{}/fd/{fd}", std::process::id()),
        format!("/proc/self/root{}", victim.display()),
    ] {
        grounds.assert_nothing_written(&path);
        // Even where the root is so wide that the path lies beneath it.
        for (tool, arguments) in calls_at(path.trim_start_matches('/')) {
            // A rename to the path would take a file of the wide root with it.
            if !arguments.to_string().contains("inside.txt") {
                call_in(Path::new("/"), 4096, tool, &arguments);
            }
            assert_eq!(fs::read_to_string(&victim).unwrap(), format!("{CANARY}\n"), "{tool} {arguments}");
        }
        grounds.assert_control_writes(&path, &victim);
    }
}

#[test]
fn names_that_only_look_alike_are_different_files() {
    let grounds = Grounds::new();
    for (kept, asked) in [
        ("Secret.txt", "secret.txt"),
        ("caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("token.txt", "t\u{43e}ken.txt"),
        ("keys.txt", "keys.txt "),
        ("list.txt", "\u{200b}list.txt"),
        ("\u{212a}elvin", "Kelvin"),
    ] {
        grounds.fixture.write(kept, format!("{CANARY}\n").as_bytes());
        let edit = json!({"path": asked, "old": CANARY, "new": "payload"});
        assert!(grounds.fixture.call("edit_file", &edit).starts_with("file_not_found"), "{asked}");
        let told = grounds.fixture.call("write_file", &json!({"path": asked, "content": PAYLOAD}));
        assert!(told.starts_with("created "), "{told}");
        assert_eq!(fs::read_to_string(grounds.root().join(kept)).unwrap(), format!("{CANARY}\n"), "{asked}");
        // The control: the name itself is reached.
        grounds.assert_control_writes(kept, &grounds.root().join(kept));
        fs::remove_file(grounds.root().join(kept)).unwrap();
        fs::remove_file(grounds.root().join(asked)).unwrap();
    }
}

#[test]
fn a_patch_makes_no_link_and_no_submodule_and_changes_no_mode() {
    let grounds = Grounds::new();
    let target = grounds.secret();
    let calls: Vec<_> = [
        format!("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+{}\n", target.display()),
        "diff --git a/inside.txt b/inside.txt\nold mode 100644\nnew mode 120000\n".to_owned(),
        "diff --git a/inside.txt b/inside.txt\nold mode 100644\nnew mode 100755\n".to_owned(),
        "diff --git a/inside.txt b/inside.txt\nold mode 100644\nnew mode 104755\n".to_owned(),
        "diff --git a/m b/m\nnew file mode 160000\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 0\n".to_owned(),
        "diff --git a/s b/s\nnew file mode 104755\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+x\n".to_owned(),
        "diff --git a/inside.txt b/../outside/x\nrename from inside.txt\nrename to ../outside/x\n".to_owned(),
        "diff --git a/inside.txt b/../outside/x\ncopy from inside.txt\ncopy to ../outside/x\n".to_owned(),
    ]
    .into_iter()
    .map(|patch| ("apply_patch", json!({"patch": patch})))
    .collect();
    grounds.assert_nothing_written_by(&calls);

    // The control: as plain code reads the same patch, a link to the canary is made, and a write follows it.
    symlink(&target, grounds.root().join("l")).unwrap();
    grounds.assert_control_writes("l", &target);
}

#[test]
fn what_will_run_later_is_named_to_who_judges_the_call() {
    // Whether it may be written is for policy to say: what is prepared names the path as it is resolved.
    let grounds = Grounds::new();
    for path in
        [".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json", "a/../.git/config", "./.git/./config"]
    {
        let prepared = prepare_call(
            &palyra_types::tool::ToolName::new("write_file"),
            &json!({"path": path, "content": "x"}).to_string(),
            &grounds.root(),
        );
        match prepared {
            Ok(prepared) => {
                let resolved = path.replace("./", "");
                assert_eq!(prepared.pre_images[0].path.expose(), &resolved);
                assert!(prepared.summary.expose().contains(&resolved));
            }
            Err(failure) => assert_eq!(failure.code().slug(), "path_refused", "{path}"),
        }
    }
    assert!(!grounds.root().join(".git").exists(), "preparing made a folder");
}

/// Makes the folder `docs/build` a repository whose settings run a program, by writing files only.
#[test]
fn no_files_become_a_repository_that_git_finds() {
    let members = [
        ("HEAD", "ref: refs/heads/main\n"),
        ("objects/keep", ""),
        ("refs/keep", ""),
        ("config", "[core]\n\tbare = false\n\tfsmonitor = ./evil\n"),
    ];
    let is_repository = |root: &Path| {
        let git = std::process::Command::new("git")
            .args(["rev-parse", "--git-dir"])
            .current_dir(root.join("docs/build"))
            .env("GIT_CEILING_DIRECTORIES", root)
            .output();
        git.unwrap().status.success()
    };
    for first in 0..members.len() {
        let grounds = Grounds::new();
        let mut told = Vec::new();
        for at in 0..members.len() {
            let (name, content) = members[(first + at) % members.len()];
            let path = format!("docs/build/{name}");
            told.push(grounds.fixture.call("write_file", &json!({"path": path, "content": content})));
        }
        assert!(!is_repository(&grounds.root()), "{told:?}");
        assert!(told.iter().any(|told| told.contains("is a git repository")), "{told:?}");
    }
    // All at once, and into one that is there already.
    let grounds = Grounds::new();
    let patch: String = members
        .iter()
        .map(|(name, _)| {
            format!("--- /dev/null\n+++ b/docs/build/{name}\n@@ -0,0 +1 @@\n+ref: refs/heads/main\n")
        })
        .collect();
    let told = grounds.fixture.call("apply_patch", &json!({"patch": patch}));
    assert!(told.contains("is a git repository") && !grounds.root().join("docs/build").exists(), "{told}");
    for (name, content) in members {
        let path = grounds.root().join("docs/build").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.replace("fsmonitor = ./evil", "")).unwrap();
    }
    assert!(is_repository(&grounds.root()), "what git is asked knows one");
    for name in ["config", "hooks/post-commit", "info/attributes"] {
        let path = format!("docs/build/{name}");
        let told = grounds.fixture.call("write_file", &json!({"path": path, "content": "x"}));
        assert!(told.contains("is a git repository"), "{told}");
    }
    let told = grounds.fixture.call("write_file", &json!({"path": "docs/build/notes.md", "content": "x"}));
    assert!(told.starts_with("created "), "{told}");
}
