//! A client in another language that has no schema of ours: it learns all it needs by reflection.

use std::path::Path;
use std::process::Stdio;

use palyra_testkit::Script;
use tokio::process::Command;

use crate::daemon::TestDaemon;

#[tokio::test]
async fn a_client_that_knows_only_reflection_runs_a_question() {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with `grpcio` and `grpcio-reflection`; run `cargo xtask test`, which installs one",
    );
    let daemon = TestDaemon::start().await;
    daemon.provider.push(Script::new().texts(&["Hello", ", ", "stranger"]));
    let token = daemon.token("user:stranger").await;
    let socket = daemon.socket.display().to_string();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/reflect.py");
    let output = Command::new(python)
        .arg(script)
        .args([daemon.tcp.to_string(), socket])
        // Not an argument: those are for everybody to see.
        .env("PALYRA_TOKEN", token)
        .env("NO_PROXY", "127.0.0.1")
        .env("no_proxy", "127.0.0.1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output =
        tokio::time::timeout(std::time::Duration::from_secs(120), output).await.expect("the script ends");
    let output = output.expect("PALYRA_TEST_PYTHON can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        said.trim(),
        "refused:PLY-1201 opened text:Hello, stranger end:3 path:refused localhost:served"
    );
}
