//! The official OpenAI SDK against our model server by Responses: proof that the server speaks the wire format.

use std::path::Path;
use std::time::Duration;

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply, RetryAfter, Stop, Tokens};
use tokio::process::Command;

async fn serve(behaviour: Behaviour) -> ModelServer {
    ModelServer::start(behaviour).await.expect("a port")
}

#[tokio::test]
async fn the_official_sdk_understands_responses_of_our_model_server() {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with the `openai` package; run `cargo xtask test`, which installs one",
    );
    let tokens = Tokens { input: 100, cached: 80, output: 40, reasoning: 30, ..Tokens::default() };
    let thinks = Reply::empty().thinking("Let me think.").piece("It counts ").piece("herons.");
    let thinker = serve(Behaviour::always(thinks.usage(tokens).stop(Stop::MaxTokens))).await;
    let assistant = serve(Behaviour::assistant(Duration::ZERO).with_key("test-key")).await;
    let failing = |fault: Fault| Reply::text("one two").then(fault);
    let faults = vec![failing(Fault::Server(500)), failing(Fault::RateLimit(RetryAfter::Unsaid))];
    let faulty = serve(Behaviour::each(faults)).await;
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/openai_responses_sdk.py"))
        .args([assistant.base_url(), thinker.base_url(), faulty.base_url()])
        .env("NO_PROXY", "127.0.0.1")
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.expect("the script ends");
    let output = output.expect("PALYRA_TEST_PYTHON can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), "document stream tools unpaired auth unknown image schema reasoning faults");
    assert_eq!(assistant.counts().aborted, 0);
}
