//! Cases 25, 26 and 28: links that point out.

use std::fs;
use std::os::unix::fs::symlink;

use palyra_types::ErrorCode;
use palyra_types::tool::ToolName;
use serde_json::json;

use super::grounds::{CANARY, Grounds, assert_reaches, assert_untouched_in};
use super::write_grounds::calls_at;
use crate::fixture::{call_in, granted, prepare_call, run_call};

#[test]
fn a_symbolic_link_is_not_followed_at_the_end_or_in_the_middle() {
    let grounds = Grounds::new();
    let root = grounds.root();
    symlink(grounds.secret(), root.join("final")).unwrap();
    symlink("../outside/secret.txt", root.join("relative")).unwrap();
    symlink("relative", root.join("chained")).unwrap();
    symlink(grounds.fixture.outside(), root.join("folder")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("/", root.join("slash")).unwrap();
    symlink("/proc/self/cwd/../../../../../../../../../..", root.join("through-proc")).unwrap();
    let below_slash = format!("slash{}", grounds.secret().display());
    let below_proc = format!("through-proc{}", grounds.secret().display());
    for path in [
        "final",
        "relative",
        "chained",
        "folder",
        "folder/",
        "folder/.",
        "folder/secret.txt",
        "a/../folder/secret.txt",
        "up/outside/secret.txt",
        "up/root/../outside/secret.txt",
        &below_slash,
        &below_proc,
    ] {
        grounds.assert_untouched(path);
        grounds.assert_kernel_refuses(path);
        grounds.assert_control_touches(path);
    }
    // The walk from the root meets all of them, and enters none.
    grounds.assert_untouched(".");
}

#[test]
fn a_link_that_stays_inside_is_refused_too_and_says_how_to_go_on() {
    let grounds = Grounds::new();
    symlink("inside.txt", grounds.root().join("alias")).unwrap();
    assert_eq!(
        grounds.fixture.call("read_file", &json!({"path": "alias"})),
        "path_refused: `alias` leads through a symbolic link, and links are not followed; \
         name the file by its own path inside the workspace"
    );
}

#[test]
fn a_dangling_link_stays_refused_when_its_target_appears() {
    let grounds = Grounds::new();
    symlink("../outside/later.txt", grounds.root().join("dangling")).unwrap();
    grounds.assert_untouched("dangling");
    grounds.assert_kernel_refuses("dangling");
    assert!(!grounds.fixture.outside().join("later.txt").exists());

    fs::copy(grounds.secret(), grounds.fixture.outside().join("later.txt")).unwrap();
    grounds.assert_untouched("dangling");
    grounds.assert_kernel_refuses("dangling");
    grounds.assert_control_touches("dangling");
}

#[test]
fn a_linked_ignore_file_is_not_read() {
    let grounds = Grounds::new();
    let rules = grounds.fixture.outside().join("rules");
    fs::write(&rules, format!("# {CANARY}\ninside.txt\n")).unwrap();
    symlink(&rules, grounds.root().join(".gitignore")).unwrap();

    let found = grounds.fixture.call("glob", &json!({"pattern": "inside.txt"}));
    assert_eq!(found, "[1 match]\ninside.txt\n");
    grounds.assert_control_touches(".gitignore");

    // The same rules in a file of the workspace's own do count.
    fs::remove_file(grounds.root().join(".gitignore")).unwrap();
    fs::copy(&rules, grounds.root().join(".gitignore")).unwrap();
    assert!(grounds.fixture.call("glob", &json!({"pattern": "inside.txt"})).starts_with("[no matches"));
}

#[test]
fn a_hard_link_is_the_file_itself_and_is_read() {
    // Two names of one inode cannot be told apart; whoever could make the link could read the file.
    let grounds = Grounds::new();
    fs::hard_link(grounds.secret(), grounds.root().join("hard")).unwrap();
    let output = grounds.fixture.call("read_file", &json!({"path": "hard"}));
    assert_eq!(output, format!("{CANARY}\n"));
    grounds.assert_control_touches("hard");
}

#[test]
fn a_root_that_became_a_link_is_neither_read_nor_written() {
    let grounds = Grounds::new();
    let (root, moved) = (grounds.root(), grounds.fixture.outside().join("moved"));
    let (tool, arguments) = (ToolName::new("write_file"), r#"{"path":"later.txt","content":"payload"}"#);
    let plan = prepare_call(&tool, arguments, &root).unwrap().body.into_exposed();
    fs::rename(&root, &moved).unwrap();
    symlink(grounds.fixture.outside(), &root).unwrap();
    // The folder itself, and one above it.
    let above = grounds.fixture.outside().join("above");
    symlink(root.parent().unwrap(), &above).unwrap();
    let through = above.join("outside");
    for (root, path) in [(&root, "secret.txt"), (&through, "secret.txt")] {
        assert_untouched_in(root, path);
        for (tool, arguments) in calls_at(path) {
            let told = call_in(root, 4096, tool, &arguments);
            assert!(told.starts_with("tool_failed: the workspace folder itself"), "{told}");
        }
        assert_reaches(&root.join(path));
    }
    let first = granted(&root, &tool, arguments, &plan);
    let outcome = run_call(&first).unwrap();
    assert_eq!(outcome.failure, Some(ErrorCode::ToolFailed), "{}", outcome.output.expose());
    assert!(!grounds.fixture.outside().join("later.txt").exists());
    assert_eq!(fs::read_to_string(grounds.secret()).unwrap(), format!("{CANARY}\n"));
    grounds.assert_control_writes("later.txt", &grounds.fixture.outside().join("later.txt"));
}
