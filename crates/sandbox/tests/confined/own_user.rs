//! Programs of a daemon of root: under tier C they are another user of the host, and their files are not.
//!
//! Each test has the same host without that mechanism for its control. For an ordinary user there is nothing to try, and
//! on a host of root that lacks something the offer has to say what.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use palyra_ports::{ConfinedCommand, ProcessSandbox, ProcessTier, WorkspaceAccess, WorkspaceRoot};

use crate::host::Host;

const TIER_C: ProcessTier = ProcessTier::Isolated;
/// The first of the numbers that programs have.
const FIRST: u32 = 2_100_000_000;
const SECRET: &str = "canary-7f3a91";

/// Returns a host, and the same without users for programs; nothing where there are none.
fn hosts(folder: &str) -> Option<[Host; 2]> {
    let offer = Host::below(folder).sandbox.offer().clone();
    let root = rustix::process::geteuid().is_root();
    assert_eq!(offer.own_users, root && offer.own_users_missing.is_empty(), "{offer:?}");
    offer.own_users.then(|| {
        let mut without = Host::below(folder);
        without.sandbox = without.sandbox.without(|offer| offer.own_users = false);
        [Host::below(folder), without]
    })
}

/// Returns the users of the processes of this host that have a mark in their environment, and of their parents, each once.
fn users_of(mark: &str) -> Vec<[u32; 2]> {
    let field = |process: &Path, name: &str| {
        let status = fs::read_to_string(process.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned))?;
        line.split_ascii_whitespace().next()?.parse::<u32>().ok()
    };
    let marked = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes())
    };
    let user = |process: PathBuf| {
        let parent = Path::new("/proc").join(field(&process, "PPid:")?.to_string());
        Some([field(&process, "Uid:")?, field(&parent, "Uid:")?])
    };
    let processes = fs::read_dir("/proc").expect("processes").flatten().map(|process| process.path());
    let mut users: Vec<[u32; 2]> = processes.filter(|process| marked(process)).filter_map(user).collect();
    users.dedup();
    users
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_root_is_another_user_of_the_host() {
    let Some([host, without]) = hosts("/var/tmp") else { return };
    let mut seen = Vec::new();
    for (host, word) in [(&host, "own"), (&without, "roots")] {
        let mark = format!("MARK=palyra-{}-{word}", std::process::id());
        let (name, value) = mark.split_once('=').expect("a pair");
        let script = "echo $(id -u) $(id -g) $(id -G) $(awk '/^[UG]id:/ { print $2, $3, $4, $5 }' /proc/self/status); \
                      sleep 1000; :";
        let mut command = host.command(TIER_C, "/bin/sh", &["-c", script]);
        command.environment.push((name.into(), value.into()));
        let mut process = host.start(command).await.expect("it starts");
        let (output, _errors) = process.take_output().expect("its output");
        let mut output = fs::File::from(output);
        let mut said = String::new();
        let mut byte = [0];
        while !said.ends_with('\n') && output.read(&mut byte).expect("it speaks") == 1 {
            said.push(char::from(byte[0]));
        }
        seen.push((said.trim_end().to_owned(), users_of(&mark)));
        process.stop();
        process.wait().await;
    }
    let (said, on_host) = &seen[0];
    let numbers: Vec<u32> = said.split(' ').map(|number| number.parse().expect("a number")).collect();
    let own = numbers[0];
    assert!(own >= FIRST && numbers.iter().all(|number| *number == own) && numbers.len() == 11, "{said}");
    // The first process of its table, which reaps for it, is no more than it is.
    assert_eq!(*on_host, [[own, own]]);
    let (said, on_host) = &seen[1];
    assert!(said.starts_with("0 0 "), "{said}");
    assert_eq!(*on_host, [[0, 0]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_at_the_same_time_are_different_users() {
    let Some([host, _]) = hosts("/var/tmp") else { return };
    let (first, second) = (host.shell(TIER_C, "id -u").await, host.shell(TIER_C, "id -u").await);
    assert_ne!(first.printed(), second.printed());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_root_may_read_in_a_readable_folder_stays_closed() {
    let Some([host, without]) = hosts("/var/tmp") else { return };
    for (host, reads) in [(&host, false), (&without, true)] {
        let tools = host.folder.path().join("tools");
        fs::create_dir(&tools).expect("a folder");
        for (name, mode) in [("open", 0o644), ("closed", 0o600)] {
            fs::write(tools.join(name), SECRET).expect("a file");
            fs::set_permissions(tools.join(name), PermissionsExt::from_mode(mode)).expect("its mode");
        }
        let read = |name: &str| {
            let script = format!("ls {0} >/dev/null && cat {0}/{name}", tools.display());
            let mut command = host.command(TIER_C, "/bin/sh", &["-c", &script]);
            command.readable = vec![tools.clone()];
            host.run(command)
        };
        assert_eq!(read("open").await.printed(), SECRET);
        assert_eq!(read("closed").await.output.contains(SECRET), reads);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_readable_folder_that_is_closed_itself_is_readable_with_all_in_it() {
    let Some([host, _]) = hosts("/var/tmp") else { return };
    let tools = host.folder.path().join("tools");
    fs::create_dir(&tools).expect("a folder");
    fs::write(tools.join("file"), SECRET).expect("a file");
    for (path, mode) in [(tools.join("file"), 0o600), (tools.clone(), 0o700)] {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("its mode");
    }
    let script = format!("cat {0}/file; echo no > {0}/file; chmod 777 {0}/file; true", tools.display());
    let mut command = host.command(TIER_C, "/bin/sh", &["-c", &script]);
    command.readable = vec![tools.clone()];
    assert_eq!(host.run(command).await.printed(), SECRET);
    let found = fs::metadata(tools.join("file")).expect("the file");
    assert_eq!((found.uid(), found.mode() & 0o777), (0, 0o600));
    assert_eq!(fs::read_to_string(tools.join("file")).expect("the file"), SECRET);
}

/// A workspace of an owner, below a folder that nobody else may enter, with a file that is kept.
fn closed_workspace(host: &Host, owner: u32) -> ConfinedCommand {
    let work = host.folder.path().join(format!("closed/{owner}/work"));
    fs::create_dir_all(work.join("settings")).expect("a folder");
    for name in ["own", "settings/kept"] {
        fs::write(work.join(name), "before\n").expect("a file");
        fs::set_permissions(work.join(name), PermissionsExt::from_mode(0o600)).expect("its mode");
    }
    for path in ["own", "settings/kept", "settings", ""] {
        chown(work.join(path), Some(owner), Some(owner)).expect("its owner");
    }
    fs::set_permissions(host.folder.path().join("closed"), PermissionsExt::from_mode(0o700))
        .expect("its mode");
    let script = "set -e; cat own; echo after > own; echo new > new; mkdir deep; echo deep > deep/file; ln new link; \
                  mv deep/file deep/moved; chmod 755 new; if echo no 2>/dev/null > settings/kept; then exit 9; fi; cat settings/kept; \
                  export GIT_CONFIG_NOSYSTEM=1; git init -q .; git add new; \
                  git -c user.name=a -c user.email=a@b commit -q -m first; git log --format=%s; \
                  echo told > /dev/stderr; echo well > /dev/stdout; echo scratch > /tmp/own; cat /tmp/own; whoami; pwd";
    ConfinedCommand {
        directory: work.clone(),
        workspace: WorkspaceRoot::open(&work).expect("the folder"),
        kept: vec![work.join("settings")],
        ..host.command(TIER_C, "/bin/sh", &["-c", script])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_workspace_stay_with_its_owner() {
    // Most hosts have another file system in each.
    for folder in ["/var/tmp", "/dev/shm"] {
        let Some([host, _]) = hosts(folder) else { return };
        for owner in [0, 1000] {
            let command = closed_workspace(&host, owner);
            let work = command.directory.clone();
            if owner != 0 {
                // To look whether it is where it should be, root has no more rights than others there.
                fs::set_permissions(&work, PermissionsExt::from_mode(0o755)).expect("its mode");
            }
            let done = host.run(command).await;
            let wanted = format!("before\nbefore\nfirst\nwell\nscratch\nprogram\n{}", work.display());
            assert_eq!(done.printed(), wanted, "{folder} {owner} {done:?}");
            assert_eq!(done.errors, "told\n", "{folder} {owner}");
            for name in [
                "own",
                "new",
                "link",
                "deep",
                "deep/moved",
                ".git",
                ".git/HEAD",
                ".git/index",
                "settings/kept",
            ] {
                let found = fs::symlink_metadata(work.join(name)).expect(name);
                assert_eq!((found.uid(), found.gid()), (owner, owner), "{folder} {name}");
            }
            assert_eq!(fs::read_to_string(work.join("own")).expect("the file"), "after\n");
            assert_eq!(fs::read_to_string(work.join("settings/kept")).expect("the file"), "before\n");
            assert!(host.sandbox.runs_as_root().is_none());
        }
    }
}

/// Files that belong to neither are what their modes say.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_others_in_the_workspace_are_what_their_modes_say() {
    let Some([host, without]) = hosts("/var/tmp") else { return };
    for host in [host, without] {
        for (name, mode) in [("all", 0o666), ("read", 0o644), ("none", 0o600)] {
            fs::write(host.work().join(name), "text").expect("a file");
            fs::set_permissions(host.work().join(name), PermissionsExt::from_mode(mode)).expect("its mode");
            chown(host.work().join(name), Some(1234), Some(1234)).expect("its owner");
        }
        let script = "for name in all read none; do cat $name > /dev/null && echo reads $name; echo >> $name && echo writes $name; \
                      done 2>/dev/null; true";
        assert_eq!(host.shell(TIER_C, script).await.printed(), "reads all\nwrites all\nreads read");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_counts_the_processes_of_the_program_by_its_user() {
    let Some([host, without]) = hosts("/var/tmp") else { return };
    let script = "import os, resource, time\nresource.setrlimit(resource.RLIMIT_NPROC, (20, 20))\nn = 0\n\
                  while n < 40:\n  try:\n    if os.fork() == 0: time.sleep(1000)\n    n += 1\n  except OSError: break\nprint(n)";
    for (host, is_held) in [(host, true), (without, false)] {
        let done = host.run(host.command(TIER_C, "/usr/bin/python3", &["-c", script])).await;
        let made: u64 = done.printed().parse().expect("a number");
        assert_eq!(made < 20, is_held, "{made}");
    }
}

/// A file system that shows its files as nobody else's; every Linux has it.
#[tokio::test(flavor = "multi_thread")]
async fn where_a_workspace_cannot_be_mapped_the_program_is_root_as_before_and_that_is_noted() {
    let Some([host, _]) = hosts("/var/tmp") else { return };
    let work = PathBuf::from("/proc/sys/kernel");
    let command = ConfinedCommand {
        directory: work.clone(),
        workspace: WorkspaceRoot::open(&work).expect("the folder"),
        access: WorkspaceAccess::Read,
        ..host.command(TIER_C, "/bin/sh", &["-c", "id -u; echo told > /dev/stderr"])
    };
    let done = host.run(command).await;
    assert_eq!((done.printed(), done.errors.as_str()), ("0", "told\n"));
    let (path, why) = host.sandbox.runs_as_root().expect("it is noted");
    assert_eq!((path, why.raw_os_error()), (work, Some(libc::EINVAL)));
}
