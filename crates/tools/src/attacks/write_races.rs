//! Case 27 for the tools that write: the tree changes between every look and every move.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_ports::EffectKey;
use palyra_tool_kit::ExecutionAttempt;
use palyra_types::ErrorCode;
use palyra_types::tool::ToolName;
use serde_json::{Value, json};

use super::grounds::{CANARY, Grounds};
use super::races::{CONTROL_ROUNDS_MAX, while_swapping};
use crate::fixture::{granted, prepare_call, run_call};

/// How often is written while the tree changes.
const WRITE_ROUNDS: usize = 400;

/// Each effect has a key of its own, and with it names of its own beside each place.
fn fresh_key() -> [u8; 32] {
    static EFFECTS: AtomicU64 = AtomicU64::new(0);
    let mut key = [0; 32];
    key[..8].copy_from_slice(&EFFECTS.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    key
}

/// Prepares and executes one call; returns whether it succeeded.
fn write_once(root: &Path, tool: &str, arguments: &Value) -> bool {
    let (tool, arguments) = (ToolName::new(tool), arguments.to_string());
    let Ok(prepared) = prepare_call(&tool, &arguments, root) else { return false };
    let plan = prepared.body.into_exposed();
    let mut invocation = granted(root, &tool, &arguments, &plan);
    invocation.supervision.key = EffectKey(fresh_key());
    match run_call(&invocation) {
        Ok(outcome) => outcome.failure.is_none(),
        // It was in place and then swapped away: what is left is looked at, as after a restart.
        Err(_) => {
            invocation.execution = ExecutionAttempt::Again;
            run_call(&invocation).is_ok()
        }
    }
}

/// Looks first and writes then, as code without descriptors does; returns whether the outside ever changed.
fn check_then_write_is_fooled(path: &Path, checked: &Path, victim: &Path) -> bool {
    let kept = fs::read(victim).unwrap();
    let is_fooled = (0..CONTROL_ROUNDS_MAX).any(|_| {
        let is_link = fs::symlink_metadata(checked).is_ok_and(|status| status.is_symlink());
        !is_link && fs::write(path, "payload").is_ok() && fs::read(victim).unwrap() != kept
    });
    fs::write(victim, kept).unwrap();
    is_fooled
}

#[test]
fn a_folder_swapped_for_a_link_never_lets_a_write_out() {
    let grounds = Grounds::new();
    let (root, outside) = (grounds.root(), grounds.fixture.outside());
    let (slot, spare) = (root.join("slot"), outside.join("spare"));
    fs::create_dir(&slot).unwrap();
    fs::write(slot.join("secret.txt"), "harmless\n").unwrap();
    symlink(&outside, &spare).unwrap();

    while_swapping(&slot, &spare, || {
        let (mut rounds, mut written) = (0, 0);
        while rounds < WRITE_ROUNDS || written == 0 {
            let content = format!("payload {rounds}\n");
            for (tool, arguments) in [
                ("write_file", json!({"path": "slot/secret.txt", "content": content})),
                ("write_file", json!({"path": format!("slot/new-{rounds}.txt"), "content": content})),
                ("write_file", json!({"path": format!("slot/deep-{rounds}/x.txt"), "content": content})),
            ] {
                written += usize::from(write_once(&root, tool, &arguments));
            }
            rounds += 1;
            assert!(rounds < CONTROL_ROUNDS_MAX, "nothing was ever written");
        }
        assert_eq!(fs::read_to_string(grounds.secret()).unwrap(), format!("{CANARY}\n"));
        let names: Vec<String> = fs::read_dir(&outside)
            .unwrap()
            .map(|name| name.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(
            names.iter().all(|name| !name.starts_with("new-") && !name.starts_with(".palyra-")),
            "{names:?}"
        );
        assert!(
            check_then_write_is_fooled(&slot.join("secret.txt"), &slot, &grounds.secret()),
            "the control was never fooled"
        );
    });
}

#[test]
fn a_file_swapped_for_a_link_is_never_written_through() {
    let grounds = Grounds::new();
    let root = grounds.root();
    let (slot, spare) = (root.join("slot.txt"), grounds.fixture.outside().join("spare"));
    fs::write(&slot, "harmless\n").unwrap();
    symlink(grounds.secret(), &spare).unwrap();

    while_swapping(&slot, &spare, || {
        let (mut rounds, mut written, mut refused) = (0, 0, 0);
        while rounds < WRITE_ROUNDS || written == 0 || refused == 0 {
            let arguments = json!({"path": "slot.txt", "content": format!("payload {rounds}\n")});
            match write_once(&root, "write_file", &arguments) {
                true => written += 1,
                false => refused += 1,
            }
            rounds += 1;
            assert!(rounds < CONTROL_ROUNDS_MAX, "the swap was never seen");
        }
        assert_eq!(fs::read_to_string(grounds.secret()).unwrap(), format!("{CANARY}\n"));
    });
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|status| status.is_symlink());
    let left: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().chain([&spare]).any(|path| is_link(path)), "the link itself was removed: {left:?}");

    // On names of its own: a write that meets the link just then may have moved it aside.
    let (slot, spare) = (root.join("control.txt"), grounds.fixture.outside().join("control-spare"));
    fs::write(&slot, "harmless\n").unwrap();
    symlink(grounds.secret(), &spare).unwrap();
    while_swapping(&slot, &spare, || {
        assert!(check_then_write_is_fooled(&slot, &slot, &grounds.secret()), "the control was never fooled");
    });
}

#[test]
fn a_file_that_becomes_a_link_after_it_was_prepared_is_not_written_through() {
    let grounds = Grounds::new();
    let root = grounds.root();
    for (name, arguments) in [
        ("inside.txt", json!({"path": "inside.txt", "content": "payload\n"})),
        ("new.txt", json!({"path": "new.txt", "content": "payload\n"})),
    ] {
        let (tool, text) = (ToolName::new("write_file"), arguments.to_string());
        let plan = prepare_call(&tool, &text, &root).unwrap().body.into_exposed();
        let _ = fs::remove_file(root.join(name));
        symlink(grounds.secret(), root.join(name)).unwrap();
        let mut invocation = granted(&root, &tool, &text, &plan);
        let outcome = run_call(&invocation).unwrap();
        assert_eq!(outcome.failure, Some(ErrorCode::PathRefused), "{}", outcome.output.expose());
        // After a restart nobody can tell, and still nothing is written through it.
        invocation.execution = ExecutionAttempt::Again;
        assert!(run_call(&invocation).is_err());
        assert_eq!(fs::read_to_string(grounds.secret()).unwrap(), format!("{CANARY}\n"));
        assert!(fs::symlink_metadata(root.join(name)).unwrap().is_symlink());
        grounds.assert_control_writes(name, &grounds.secret());
    }
}
