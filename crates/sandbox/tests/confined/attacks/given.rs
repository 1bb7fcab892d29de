//! What a program was given stays as it was given: descriptors, scratch space, kept and sealed files.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palyra_ports::{ProcessTier, ProgramEnd, SealedFile};
use rustix::fs::{MemfdFlags, SealFlags};

use super::SECRET;
use crate::host::{BOTH, Hold, Host};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_inherited_but_three_descriptors() {
    let host = Host::new();
    let held = std::fs::File::open(host.folder.path()).expect("a descriptor");
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).expect("it would be inherited");
    for tier in BOTH {
        let done = host.run(host.command(tier, "/bin/ls", &["/proc/self/fd"])).await;
        // The fourth is the folder that is being listed.
        assert_eq!(done.printed(), "0\n1\n2\n3");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_tmp_is_gone_afterwards() {
    let host = Host::new();
    for tier in BOTH {
        assert_eq!(
            host.shell(tier, "echo kept > /tmp/palyra-left-over; cat /tmp/palyra-left-over").await.printed(),
            "kept"
        );
        assert!(!std::path::Path::new("/tmp/palyra-left-over").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_files_stay_and_cannot_be_moved_away() {
    let host = Host::new();
    let hooks = host.work().join(".git/hooks");
    for tier in BOTH {
        let _ = std::fs::remove_dir_all(host.work().join(".git"));
        std::fs::create_dir_all(&hooks).expect("hooks");
        std::fs::write(hooks.join("pre-commit"), SECRET).expect("a hook");
        let script = "echo evil > .git/hooks/pre-commit; mv .git/hooks .git/old; rm -rf .git/hooks; mv .git away; \
                      echo evil > .git/hooks/new; echo fine > .git/other";
        let mut command = host.command(tier, "/bin/sh", &["-c", script]);
        command.kept = vec![hooks.clone()];
        let done = host.run(command).await;
        assert_eq!(std::fs::read_to_string(hooks.join("pre-commit")).expect("the hook"), SECRET, "{done:?}");
        assert!(!hooks.join("new").exists());
        assert_eq!(std::fs::read_to_string(host.work().join(".git/other")).expect("a file"), "fine\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_file_that_is_a_link_stays_with_what_it_leads_to() {
    use std::os::unix::fs::symlink;

    let host = Host::new();
    let at = |inner: &str| host.work().join(inner);
    let attack = "ln -sfn evil .envrc; rm -f .envrc; mv .envrc away; echo evil > .envrc; echo evil > shared/envrc; \
                  mv shared gone; rm -rf .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > hooks/pre-commit; \
                  chmod 777 hooks; mv hooks gone; rm -f away-link; echo fine > shared/other";
    for tier in BOTH {
        for kept in [true, false] {
            let _ = std::fs::remove_dir_all(host.work());
            for folder in ["shared", "hooks", ".git"] {
                std::fs::create_dir_all(at(folder)).expect("a folder");
            }
            for file in ["shared/envrc", "hooks/pre-commit"] {
                std::fs::write(at(file), SECRET).expect("a file");
            }
            symlink("shared/envrc", at(".envrc")).expect("a link");
            symlink("../hooks", at(".git/hooks")).expect("a link");
            symlink(host.folder.path().join("scratch"), at("away-link")).expect("a link");
            symlink("nowhere", at("dangling")).expect("a link");
            let mut command = host.command(tier, "/bin/sh", &["-c", attack]);
            if kept {
                command.kept = [".envrc", ".git/hooks", "away-link", "dangling"]
                    .map(|inner| host.work().join(inner))
                    .to_vec();
            }
            let done = host.run(command).await;
            let read = |file: &str| std::fs::read_to_string(at(file)).unwrap_or_default();
            let stayed = [".envrc", ".git/hooks/pre-commit"].map(|file| read(file) == SECRET);
            assert_eq!(stayed, [kept, kept], "{tier:?} {done:?}");
            assert_eq!(at("away-link").is_symlink(), kept, "{tier:?} {done:?}");
            assert_eq!(read(if kept { "shared/other" } else { "gone/other" }).is_empty(), !kept, "{done:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nothing_can_be_kept_nothing_is_changed() {
    use palyra_ports::{SandboxError, WorkspaceAccess};

    let (host, tier) = Host::new().held_as(Hold::WithoutNamespaces);
    let hook = host.work().join("hook");
    // Nothing is there yet that could be changed.
    let mut command = host.command(tier, "/bin/sh", &["-c", "echo fine"]);
    command.kept = vec![hook.clone()];
    assert_eq!(host.run(command.clone()).await.printed(), "fine");
    command.arguments[2] = "cat hook; echo evil > hook; true".into();
    std::fs::write(&hook, SECRET).expect("a hook");
    let refused = host.start(command.clone()).await.err();
    assert!(matches!(refused, Some(SandboxError::Missing { mechanism: "mount namespaces" })), "{refused:?}");
    command.access = WorkspaceAccess::Read;
    assert_eq!(host.run(command.clone()).await.printed(), SECRET);
    assert_eq!(std::fs::read_to_string(&hook).expect("the hook"), SECRET);
    // Not kept, it is changed.
    (command.access, command.kept) = (WorkspaceAccess::Change, Vec::new());
    host.run(command).await;
    assert_eq!(std::fs::read_to_string(&hook).expect("the hook"), "evil\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn tier_c_shows_nothing_of_the_host() {
    let host = Host::new();
    let done = host
        .shell(
            ProcessTier::Isolated,
            "ls / | tr '\\n' ' '; cat /etc/shadow /etc/hostname; hostname; ls /home /root /var; echo $$",
        )
        .await;
    assert!(!done.output.contains("root:"), "{done:?}");
    assert!(done.output.contains("sandbox"), "{done:?}");
    let mut shadow = String::new();
    let _ = std::fs::File::open("/etc/hostname").and_then(|mut file| file.read_to_string(&mut shadow));
    assert!(shadow.trim().is_empty() || !done.output.contains(shadow.trim()), "{done:?}");
}

/// Seals some bytes, to be found at a path.
fn sealed(path: &Path, bytes: &[u8]) -> SealedFile {
    let memory = rustix::fs::memfd_create("script", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let mut memory = std::fs::File::from(memory.expect("memory"));
    memory.write_all(bytes).expect("bytes");
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&memory, seals).expect("seals");
    SealedFile { path: path.to_owned(), bytes: Arc::new(OwnedFd::from(memory)) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_program_is_what_was_looked_at() {
    let host = Host::new();
    let script = host.work().join("script.sh");
    for tier in BOTH {
        std::fs::write(&script, "#!/bin/sh\necho evil\n").expect("a script");
        let mut command = host.command(tier, script.to_str().expect("text"), &[]);
        command.sealed = vec![sealed(&script, b"#!/bin/sh\necho approved $0; echo evil > $0\n")];
        let done = host.run(command).await;
        assert_eq!(done.output.trim_end(), format!("approved {}", script.display()), "{done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_program_finds_itself_where_it_lies() {
    let host = Host::new();
    let tool = host.work().join("tool");
    let shell = std::fs::read("/bin/sh").expect("a shell");
    for tier in BOTH {
        std::fs::write(&tool, "").expect("a file");
        // No pipe behind `ls`: the shell may hold its end still when it is looked at.
        let script =
            "readlink /proc/$$/exe; echo $0; cat /proc/$$/cmdline | tr '\\0' ' '; echo; ls /proc/$$/fd; :";
        let mut command = host.command(tier, tool.to_str().expect("text"), &["-c", script]);
        command.sealed = vec![sealed(&tool, &shell)];
        let done = host.run(command).await;
        let lines: Vec<&str> = done.printed().lines().collect();
        let path = tool.display().to_string();
        assert_eq!(lines[..2], [path.as_str(), "tool"], "{done:?}");
        assert!(lines[2].starts_with("tool -c "), "{done:?}");
        assert_eq!(lines[3..], ["0", "1", "2"], "{done:?}");
    }
}

/// Starts of a program whose file is replaced all the while.
const RACES: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_program_stays_when_another_is_renamed_over_it() {
    let host = Host::new();
    let (tool, evil) = (host.work().join("tool"), host.work().join("evil"));
    let (approved, other) =
        (std::fs::read("/bin/true").expect("one"), std::fs::read("/bin/false").expect("two"));
    std::fs::write(&evil, &other).expect("a program");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    std::fs::hard_link(&evil, &tool).expect("a program");
    let (end, next) = (Arc::new(AtomicBool::new(false)), host.work().join("next"));
    let command = |tier, seal: bool| {
        let mut command = host.command(tier, tool.to_str().expect("text"), &[]);
        command.sealed = if seal { vec![sealed(&tool, &approved)] } else { Vec::new() };
        command
    };
    let mut outcomes = Vec::new();
    let renames = {
        let (tool, ended) = (tool.clone(), Arc::clone(&end));
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                // Another name of the same file would be no change.
                let _ = std::fs::copy(&evil, &next);
                let _ = std::fs::rename(&next, &tool);
            }
        })
    };
    for tier in BOTH {
        // The control: without a seal, what lies there is what runs.
        assert_eq!(host.run(command(tier, false)).await.ended, ProgramEnd::Exited { code: 1 });
        for _ in 0..RACES {
            if let Ok(mut process) = host.start(command(tier, true)).await {
                outcomes.push(process.wait().await);
            }
        }
    }
    end.store(true, Ordering::Relaxed);
    renames.join().expect("it ends");
    assert!(outcomes.len() > RACES, "{}", outcomes.len());
    assert!(outcomes.iter().all(|ended| *ended == ProgramEnd::Exited { code: 0 }), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_is_only_read_stays_as_it_is() {
    let host = Host::new();
    std::fs::write(host.work().join("file"), SECRET).expect("a file");
    for tier in BOTH {
        let script = "cat file; echo dead > file; rm file; touch new; true";
        let mut command = host.command(tier, "/bin/sh", &["-c", script]);
        command.access = palyra_ports::WorkspaceAccess::Read;
        assert_eq!(host.run(command).await.printed(), SECRET);
        assert_eq!(std::fs::read_dir(host.work()).expect("the folder").count(), 1);
        assert_eq!(std::fs::read_to_string(host.work().join("file")).expect("the file"), SECRET);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_keeps_its_mode_and_times() {
    use std::os::unix::fs::MetadataExt;

    let host = Host::new();
    let changed = || {
        let device = std::fs::metadata("/dev/null").expect("a device");
        (device.ctime(), device.ctime_nsec())
    };
    let before = changed();
    for tier in BOTH {
        let done = host.shell(tier, "chmod 666 /dev/null; echo heard > /dev/null && echo written").await;
        assert_eq!(done.printed(), "written");
    }
    assert_eq!(changed(), before);
    // Its owner could: the mode is what it was.
    let mine = rustix::process::geteuid().is_root();
    let done = std::process::Command::new("/bin/chmod").args(["666", "/dev/null"]).output().expect("it runs");
    assert_eq!((done.status.success(), changed() != before), (mine, mine));
}
