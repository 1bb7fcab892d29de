//! A workspace whose path leads elsewhere by the time its program starts.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palyra_ports::{ConfinedCommand, SandboxError};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::SECRET;
use crate::host::{HOLDS, Hold, Host};

/// Reads and makes a file by both roads to the workspace.
const ATTACK: &str = r#"cat file "$WORK/file" 2>/dev/null; echo made > made; echo made > "$WORK/made"; true"#;

/// A folder that no program may reach, and a link to it beside the workspace.
fn private(host: &Host) -> (PathBuf, PathBuf) {
    let (private, link) = (host.folder.path().join("private"), host.folder.path().join("link"));
    std::fs::create_dir(&private).expect("a folder");
    std::fs::write(private.join("file"), SECRET).expect("a canary");
    std::fs::write(host.work().join("file"), "own").expect("a file");
    symlink(&private, &link).expect("a link");
    (private, link)
}

fn attack(host: &Host, hold: Hold) -> ConfinedCommand {
    let mut command = host.command(hold.tier(), "/bin/sh", &["-c", ATTACK]);
    command.environment.push(("WORK".into(), host.work().into()));
    command
}

fn exchange(host: &Host, link: &PathBuf) {
    renameat_with(CWD, host.work(), CWD, link, RenameFlags::EXCHANGE).expect("both are there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_is_replaced_by_a_link_is_not_what_the_link_leads_to() {
    for hold in HOLDS {
        let (host, _) = Host::new().held_as(hold);
        let (private, link) = private(&host);
        let done = host.run(attack(&host, hold)).await;
        assert!(done.printed().contains("ownown"), "the control: {hold:?} {done:?}");
        std::fs::remove_file(host.work().join("made")).expect("it was made");

        let command = attack(&host, hold);
        exchange(&host, &link);
        match hold {
            Hold::Tier(_) => {
                let refused = host.start(command).await.err();
                assert!(matches!(refused, Some(SandboxError::NotStarted { .. })), "{hold:?} {refused:?}");
            }
            // By its descriptor it is there all the same; its path is not.
            Hold::WithoutNamespaces => {
                let done = host.run(command).await;
                assert_eq!(done.output, "own", "{done:?}");
                assert!(link.join("made").exists(), "{done:?}");
            }
        }
        assert_eq!(std::fs::read_dir(&private).expect("the folder").count(), 1, "{hold:?}");
    }
}

/// Starts while the workspace and a link change places all the time.
const RACES: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_changes_places_with_a_link_never_lets_a_program_there() {
    for hold in HOLDS {
        let (host, _) = Host::new().held_as(hold);
        let (private, link) = private(&host);
        let template = attack(&host, hold);
        let (work, end) = (host.work(), Arc::new(AtomicBool::new(false)));
        let swaps = {
            let (work, link, ended) = (work.clone(), link.clone(), Arc::clone(&end));
            std::thread::spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    renameat_with(CWD, &work, CWD, &link, RenameFlags::EXCHANGE).expect("both are there");
                }
            })
        };
        let (mut ran, mut seen) = (0, false);
        for _ in 0..RACES {
            // The control: who goes there by the path gets there, now and then.
            let unheld = Command::new("/bin/cat").arg(work.join("file")).output().expect("it runs");
            seen |= unheld.stdout == SECRET.as_bytes();
            let Ok(root) = palyra_ports::WorkspaceRoot::open(&work) else { continue };
            let command = ConfinedCommand { workspace: root, ..template.clone() };
            if let Ok(process) = host.start(command).await {
                let done = host.gather(process).await;
                assert!(!done.output.contains(SECRET), "{hold:?} {done:?}");
                ran += 1;
            }
        }
        end.store(true, Ordering::Relaxed);
        swaps.join().expect("it ends");
        assert!(seen && ran > 0, "{hold:?}: seen {seen}, ran {ran}");
        assert_eq!(std::fs::read_dir(&private).expect("the folder").count(), 1, "{hold:?}");
    }
}
