//! Components that reach for more than the workspace, or for more than they were pinned with.
//!
//! The canary lies beside the workspace, or in what something runs later; each control is the same component with a plain
//! name.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{ComponentStoreError, ProcessLimits};
use palyra_types::ErrorCode;
use palyra_wasm::COMPILE_LIMITS;

use crate::component::{ComponentAbout, ECHO, Wat};
use crate::files;
use crate::shelf::{Shelf, native};

/// Adds a component that writes, and checks that it does where it may.
async fn writing() -> Shelf {
    let shelf = Shelf::new();
    shelf.add(&files::writes()).await;
    assert_eq!(shelf.call("save", "plain.txt").await.failure, None, "the control");
    assert_eq!(std::fs::read_to_string(shelf.work().join("plain.txt")).expect("a file"), "written");
    shelf
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_out_of_the_workspace() {
    let shelf = writing().await;
    let canary = shelf.folder.path().join("canary.txt");
    std::fs::write(&canary, "untouched").unwrap();
    std::os::unix::fs::symlink(&canary, shelf.work().join("out.txt")).unwrap();
    std::os::unix::fs::symlink(shelf.folder.path(), shelf.work().join("up")).unwrap();
    std::fs::create_dir(shelf.work().join("in")).unwrap();
    let absolute = canary.display().to_string();
    for path in [
        "../canary.txt",
        "in/../../canary.txt",
        &absolute,
        "out.txt",
        "up/canary.txt",
        "/proc/self/root/etc/x",
        "a\0b",
    ] {
        let outcome = shelf.call("save", path).await;
        assert_eq!(outcome.failure, Some(ErrorCode::ToolFailed), "{path}");
        assert_eq!(std::fs::read_to_string(&canary).unwrap(), "untouched", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_later_is_not_written() {
    let shelf = writing().await;
    let hooks = shelf.work().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    std::os::unix::fs::symlink(".git/hooks", shelf.work().join("hooks")).unwrap();
    std::fs::create_dir(shelf.work().join("sub")).unwrap();
    for path in [
        ".git/hooks/post-commit",
        ".GIT/hooks/post-commit",
        "./.git/config",
        "hooks/post-commit",
        ".envrc",
        ".vscode/tasks.json",
        "sub/.git",
        ".mcp.json",
        ".claude/settings.json",
        ".bashrc",
        "sub/.husky/pre-commit",
        ".env\u{200c}rc",
        ".github/workflows/ci.yml",
        ".github/x/../workflows/ci.yml",
        ".cargo/config.toml",
        ".config/systemd/x.service",
    ] {
        assert_eq!(shelf.call("save", path).await.failure, Some(ErrorCode::ToolFailed), "{path}");
    }
    assert_eq!(std::fs::read_dir(&hooks).unwrap().count(), 0);
    assert!(!shelf.work().join(".envrc").exists() && !shelf.work().join(".git/config").exists());
    shelf.add(&files::links()).await;
    assert_eq!(shelf.call("save", ".git/hooks/post-commit").await.failure, Some(ErrorCode::ToolFailed));
    assert_eq!(std::fs::read_dir(&hooks).unwrap().count(), 0, "through a link of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_later_is_not_reached_by_a_folder_in_between() {
    let shelf = writing().await;
    for folder in [".github/workflows", ".github/x", "sub/workflows"] {
        std::fs::create_dir_all(shelf.work().join(folder)).unwrap();
    }
    assert_eq!(shelf.call("save", ".github/note.md").await.failure, None, "the control");
    shelf.add(&files::enters()).await;
    assert_eq!(shelf.call("save", "sub:workflows/ci.yml").await.failure, None, "the control");
    assert_eq!(shelf.call("save", ".github/x:note.md").await.failure, None, "the control");
    for way in [".github:workflows/ci.yml", ".github/workflows:ci.yml", "sub/../.GitHub:workflows/ci.yml"] {
        assert_eq!(shelf.call("save", way).await.failure, Some(ErrorCode::ToolFailed), "{way}");
    }
    shelf.add(&files::moves()).await;
    for way in ["sub:.cargo", "sub/workflows/ci.yml:.github/workflows/ci.yml", ".github:elsewhere"] {
        assert_eq!(shelf.call("save", way).await.failure, Some(ErrorCode::ToolFailed), "{way}");
    }
    assert_eq!(shelf.call("save", "sub:other").await.failure, None, "the control");
    assert!(std::fs::read_dir(shelf.work().join(".github/workflows")).unwrap().next().is_none());
    assert!(!shelf.work().join(".cargo").exists() && shelf.work().join("other/workflows/ci.yml").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_not_held_without_end() {
    let shelf = writing().await;
    shelf.add(&files::opens("open_0100")).await;
    assert_eq!(shelf.call("open_0100", "plain.txt").await.failure, None, "the control");
    shelf.add(&files::opens("open_9999")).await;
    let ended = shelf.call("open_9999", "plain.txt").await;
    assert_eq!(ended.failure, Some(ErrorCode::ComponentTrapped), "{:?}", ended.output);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_without_files_finds_no_folder() {
    let shelf = writing().await;
    std::fs::remove_file(shelf.work().join("plain.txt")).unwrap();
    for capability in [4, 0] {
        let about =
            ComponentAbout { name: "save", contract: 1, capabilities: vec![(capability, String::new())] };
        shelf.add(&Wat { about, ..files::writes() }).await;
        assert_eq!(
            shelf.call("save", "plain.txt").await.failure,
            Some(ErrorCode::ToolFailed),
            "{capability}"
        );
        assert!(!shelf.work().join("plain.txt").exists(), "capability {capability} is not to write");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_was_not_declared_is_not_asked() {
    let shelf = Shelf::new();
    shelf.add(&files::saves("https://a.example/x", "a.example")).await;
    assert_eq!(shelf.call("save_page", "{}").await.failure, None, "the control");
    std::fs::remove_file(shelf.work().join("page.txt")).unwrap();
    shelf.add(&files::saves("https://b.test/x", "a.example")).await;
    assert_eq!(shelf.call("save_page", "{}").await.failure, Some(ErrorCode::ToolFailed));
    assert!(!shelf.work().join("page.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_was_changed_on_the_disk_does_not_run() {
    let shelf = writing().await;
    let examined = shelf.examine(&files::writes().bytes()).await.unwrap();
    // Another component in its place, with native code and all: nothing of it runs.
    let about = ComponentAbout { name: "save", contract: 1, capabilities: vec![(1, String::new())] };
    let other = Wat { about, ..Wat::running(ECHO) };
    let other = shelf.examine(&other.bytes()).await.unwrap();
    let (kept, of_other) = (shelf.kept(&examined), shelf.kept(&other));
    std::fs::copy(of_other.join("component.wasm"), kept.join("component.wasm")).unwrap();
    std::fs::copy(native(&of_other), native(&kept)).unwrap();
    let restarted = shelf.restarted();
    assert_eq!(restarted.call("save", "later.txt").await.failure, Some(ErrorCode::ComponentChanged));
    assert!(!shelf.work().join("later.txt").exists());
    // The control: looked at again, it is what it was, and runs.
    shelf.examine(&files::writes().bytes()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_takes_the_compiler_too_long_ends_the_compiler_only() {
    let limits = ProcessLimits { processor_time_max: Duration::from_secs(1), ..COMPILE_LIMITS };
    let shelf = Shelf::over(Arc::new(tempfile::tempdir().unwrap()), limits);
    let bomb = bomb(200, 4_000);
    let ended = shelf.examine(&bomb).await.unwrap_err();
    assert!(matches!(ended, ComponentStoreError::Limit { .. }), "{ended}");
    // The control: the same shelf goes on, and its compiler compiles what is small.
    let about = ComponentAbout { contract: 1, ..ComponentAbout::default() };
    let small = Wat { about, ..Wat::running(ECHO) };
    assert_eq!(shelf.examine(&small.bytes()).await.unwrap().description.name.as_str(), "echo");
}

/// A component whose core module has this many functions, each of this many lines: small to store, long to compile.
fn bomb(functions: usize, lines: usize) -> Vec<u8> {
    // x = (x + 7) * rotl(x, x)
    const LINE: &[u8] = &[0x20, 0, 0x42, 7, 0x7c, 0x20, 0, 0x20, 0, 0x89, 0x7e, 0x21, 0];
    let section = |number: u8, inside: &[u8]| [&[number], &*leb(inside.len()), inside].concat();
    let body = [&[0][..], &LINE.repeat(lines), &[0x20, 0, 0x0b]].concat();
    let body = [&*leb(body.len()), &body].concat();
    let count = leb(functions);
    let module = [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, &[1, 0x60, 1, 0x7e, 1, 0x7e]),
        section(3, &[&*count, &vec![0; functions]].concat()),
        section(10, &[&*count, &body.repeat(functions)].concat()),
    ];
    [b"\0asm\x0d\0\x01\0".to_vec(), section(1, &module.concat())].concat()
}

/// A number as WebAssembly writes it.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_became_a_link_is_not_entered() {
    let shelf = writing().await;
    let private = shelf.folder.path().join("private");
    std::fs::create_dir(&private).unwrap();
    std::fs::rename(shelf.work(), shelf.folder.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(&private, shelf.work()).unwrap();
    let outcome = shelf.call("save", "plain.txt").await;
    assert_eq!(std::fs::read_dir(&private).unwrap().count(), 0, "{outcome:?}");
    let told = outcome.output.expose();
    assert!(
        told.contains("has become a link and is not entered; tell the user; nothing of it ran"),
        "{told}"
    );
    assert_eq!(outcome.failure, Some(ErrorCode::PathRefused));

    // The control: back in its place it is what it was.
    std::fs::remove_file(shelf.work()).unwrap();
    std::fs::rename(shelf.folder.path().join("moved"), shelf.work()).unwrap();
    assert_eq!(shelf.call("save", "plain.txt").await.failure, None);
}
