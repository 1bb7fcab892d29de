//! What people have agents do has to work.

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
async fn git_and_python_work() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let script = "git init -q . && git status --short --branch && python3 -c 'print(6 * 7)'";
        let done = host.shell(tier, script).await;
        assert!(done.printed().ends_with("42"), "{done:?}");
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

    use palyra_ports::{GUARD_PORT, Network};

    let host = Host::new();
    let script = format!(
        "import socket; print(socket.create_connection(('127.0.0.1', {GUARD_PORT})).recv(9).decode())"
    );
    for tier in BOTH {
        let mut command = host.command(tier, "/usr/bin/python3", &["-c", &script]);
        command.network = Network::Guarded;
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
