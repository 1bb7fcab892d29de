//! The official OpenAI SDK against our model server: proof that the server speaks the wire format.

use std::path::Path;
use std::time::Duration;

use palyra_testkit::model_server::{Behaviour, ModelServer, Reply};
use tokio::process::Command;

#[tokio::test]
async fn the_official_sdk_understands_our_model_server() {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with the `openai` package; run `cargo xtask test`, which installs one",
    );
    let assistant = Behaviour::assistant(Duration::ZERO).with_key("test-key");
    let assistant = ModelServer::start(assistant).await.expect("a port");
    let limited = Reply::error(429, "rate_limit_exceeded", "slow down").header("Retry-After", "7");
    let limited = ModelServer::start(Behaviour::always(limited)).await.expect("a port");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/openai_sdk.py");
    let output = Command::new(python)
        .arg(script)
        .args([assistant.base_url(), limited.base_url()])
        .env("NO_PROXY", "127.0.0.1")
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.expect("the script ends");
    let output = output.expect("PALYRA_TEST_PYTHON can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), "models document stream tools unpaired auth rate_limit");
    assert_eq!(assistant.counts().aborted, 0);
}
