//! The official Anthropic SDK against our model server: proof that the server speaks the wire format.

use std::path::Path;
use std::time::Duration;

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply, RetryAfter, Tokens};
use tokio::process::Command;

/// Each fault, and the SDK's exception for it; behind `stream:` it happens within an answer.
const FAULTS: [(Fault, &str); 13] = [
    (Fault::Auth, "AuthenticationError"),
    (Fault::Permission, "PermissionDeniedError"),
    (Fault::RateLimit(RetryAfter::Seconds(7)), "RateLimitError"),
    (Fault::Quota, "BadRequestError"),
    (Fault::Server(500), "InternalServerError"),
    (Fault::Server(503), "ServiceUnavailableError"),
    (Fault::Server(504), "GatewayTimeoutError"),
    (Fault::Overloaded, "OverloadedError"),
    (Fault::BadRequest, "BadRequestError"),
    (Fault::UnknownModel, "NotFoundError"),
    (Fault::ContextExceeded, "BadRequestError"),
    (Fault::TooLarge, "ContentTooLargeError"),
    (Fault::ContentPolicy, "BadRequestError"),
];

async fn serve(behaviour: Behaviour) -> ModelServer {
    ModelServer::start(behaviour).await.expect("a port")
}

fn thinker() -> Behaviour {
    let tokens = Tokens { input: 100, cached: 80, cache_written: 10, output: 40, reasoning: 30 };
    let first = Reply::empty().thinking("Let me think.").redacted_thinking("hush").piece("I read. ");
    let first = first.call("read_file", "{\"path\":\"README.md\"}").usage(tokens);
    Behaviour::times(1, first).then(Reply::text("It counts herons."))
}

#[tokio::test]
async fn the_official_anthropic_sdk_understands_our_model_server() {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with the `anthropic` package; run `cargo xtask test`, which installs one",
    );
    let assistant = serve(Behaviour::assistant(Duration::ZERO).with_key("test-key")).await;
    let thinker = serve(thinker().with_key("test-key")).await;
    let models: Vec<String> = (0..45).map(|number| format!("model-{number}")).collect();
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let lister = serve(Behaviour::always(Reply::text("ok")).with_models(&models)).await;
    let faults = FAULTS.iter().map(|(fault, _)| Reply::fault(*fault));
    let faulty = serve(Behaviour::each(faults.collect())).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/anthropic_sdk.py");
    let output = Command::new(python)
        .arg(script)
        .args([assistant.origin(), thinker.origin(), lister.origin(), faulty.origin()])
        .args(FAULTS.iter().map(|(_, name)| *name))
        .env("NO_PROXY", "127.0.0.1")
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.expect("the script ends");
    let output = output.expect("PALYRA_TEST_PYTHON can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), "models document stream tools image schema thinking auth faults");
    assert_eq!(assistant.counts().aborted + thinker.counts().aborted, 0);
}
