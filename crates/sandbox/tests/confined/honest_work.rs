//! What people have agents do has to work.

use std::path::PathBuf;

use crate::host::{BOTH, HOLDS, Host};

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_says_what_it_is_told() {
    for (hold, folder) in HOLDS.into_iter().flat_map(|hold| ["/var/tmp", "/tmp"].map(|folder| (hold, folder)))
    {
        let (host, tier) = Host::below(folder).held_as(hold);
        let done = host.shell(tier, "echo hello; pwd; echo kept > kept").await;
        assert_eq!(done.printed(), format!("hello\n{}", host.work().display()));
        assert!(host.work().join("kept").exists(), "{hold:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_c_program_is_compiled_and_run() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let source = "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n";
        std::fs::write(host.work().join("a.c"), source).expect("a source");
        assert_eq!(host.shell(tier, "cc -o a a.c && ./a").await.printed(), "built");
        assert!(host.work().join("a").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_looks_at_and_changes_its_repository() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let script = "git init -q . && echo text > new && git status --short && git add new && \
                      git -c user.name=a -c user.email=a@b commit -q -m first && git status --short && git log --format=%s";
        assert_eq!(host.shell(tier, script).await.printed(), "?? new\nfirst", "{hold:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn python_runs_its_own_processes_and_threads() {
    let script = "import subprocess, tempfile, threading\nt = threading.Thread(target=print, args=(6 * 7,))\nt.start(); \
                  t.join()\nf = tempfile.TemporaryFile(); f.write(b'kept')\nprint(subprocess.check_output(['echo', 'well'], \
                  text=True))";
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let done = host.run(host.command(tier, "/usr/bin/python3", &["-c", script])).await;
        assert_eq!(done.printed(), "42\nwell", "{hold:?}");
    }
}

/// Where this user has a Rust toolchain, a program finds it in the folders that it is given; where not, neither does it.
#[tokio::test(flavor = "multi_thread")]
async fn a_toolchain_in_the_home_works_from_folders_that_may_be_read() {
    let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/root"), PathBuf::from);
    let folder =
        |variable: &str, name: &str| std::env::var_os(variable).map_or(home.join(name), PathBuf::from);
    let (cargo_home, rustup_home) = (folder("CARGO_HOME", ".cargo"), folder("RUSTUP_HOME", ".rustup"));
    let cargo = cargo_home.join("bin/cargo");
    let environment = [("CARGO_HOME", &cargo_home), ("RUSTUP_HOME", &rustup_home)]
        .map(|(name, folder)| (name.into(), folder.into()));
    let mut unheld = std::process::Command::new(&cargo);
    unheld.arg("--version").env_clear().envs(environment.clone()).env("PATH", "/usr/bin:/bin");
    let version = unheld.output().ok().filter(|output| output.status.success()).map(|output| output.stdout);
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let mut command = host.command(tier, cargo.to_str().expect("text"), &["--version"]);
        command.environment.extend(environment.clone());
        command.readable = vec![cargo_home.clone(), rustup_home.clone()];
        match &version {
            Some(version) => {
                let done = host.run(command).await;
                assert_eq!(done.printed(), String::from_utf8_lossy(version).trim_end(), "{hold:?}");
            }
            None => assert!(host.start(command).await.is_err(), "{hold:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_talk_to_themselves_over_the_loopback() {
    let host = Host::new();
    let script = "import socket\ns = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\n\
                  s.accept()[0].sendall(b'heard')\nprint(c.recv(5).decode())";
    for tier in BOTH {
        let done = host.run(host.command(tier, "/usr/bin/python3", &["-c", script])).await;
        assert_eq!(done.printed(), "heard");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guarded_program_finds_its_way_out_and_no_other() {
    use std::io::Write;

    use palyra_ports::{GUARD_PORT, NetworkAccess};

    let host = Host::new();
    let script = format!(
        "import socket; print(socket.create_connection(('127.0.0.1', {GUARD_PORT})).recv(9).decode())"
    );
    for tier in BOTH {
        let mut command = host.command(tier, "/usr/bin/python3", &["-c", &script]);
        command.network = NetworkAccess::Guarded;
        let mut process = host.start(command).await.expect("it starts");
        let listener = std::net::TcpListener::from(process.take_listener().expect("a way out"));
        let (output, _errors) = process.take_output().expect("output");
        let mut heard = String::new();
        let read = tokio::task::spawn_blocking(move || {
            listener.accept().expect("a visitor").0.write_all(b"this way").expect("it is told");
            std::io::Read::read_to_string(&mut std::fs::File::from(output), &mut heard).expect("it is heard");
            heard
        });
        assert_eq!(read.await.expect("read").trim_end(), "this way");
        process.wait().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_named_readable_is_there_below_the_scratch_folder_too() {
    let host = Host::new();
    let tools = tempfile::tempdir_in("/tmp").expect("a folder");
    std::fs::write(tools.path().join("told"), "lantern").expect("a file");
    for tier in BOTH {
        let told = tools.path().join("told");
        let script = format!("cat {0}; echo more > {0}; echo kept > /tmp/own; cat /tmp/own", told.display());
        let mut command = host.command(tier, "/bin/sh", &["-c", &script]);
        command.readable = vec![tools.path().to_owned()];
        let done = host.run(command).await;
        assert_eq!(done.output, "lanternkept\n", "{tier:?} {done:?}");
    }
}

/// What the filter looks at of `fcntl` is more than what programs use it for.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_locked_and_descriptors_copied() {
    let script = "import fcntl, os, struct\nf = open('own', 'w')\nfcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n\
                  fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\nfcntl.lockf(f, fcntl.LOCK_UN)\nfcntl.fcntl(f, 37, struct.pack('hhqqi4x', 1, 0, 0, 0, 0))\n\
                  flags = fcntl.fcntl(f, fcntl.F_GETFL)\nfcntl.fcntl(f, fcntl.F_SETFL, flags | os.O_NONBLOCK)\n\
                  fcntl.fcntl(f, fcntl.F_SETFD, fcntl.FD_CLOEXEC)\nr, w = os.pipe()\nfcntl.fcntl(w, 1031, 8192)\n\
                  print(fcntl.fcntl(f, 0, 10) >= 10, fcntl.fcntl(f, fcntl.F_DUPFD_CLOEXEC, 10) >= 10, fcntl.fcntl(w, 1032))";
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let done = host.run(host.command(tier, "/usr/bin/python3", &["-c", script])).await;
        assert_eq!(done.printed(), "True True 8192", "{hold:?}");
    }
}
