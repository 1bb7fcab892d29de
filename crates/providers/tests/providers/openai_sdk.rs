//! The official OpenAI SDK against our model server: proof that the server speaks the wire format.

use std::path::Path;
use std::time::Duration;

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply, RetryAfter, Stop, Tokens};
use tokio::process::Command;

/// Each fault, and the status and exception it becomes.
const FAULTS: [(Fault, &str); 11] = [
    (Fault::Auth, "401:AuthenticationError"),
    (Fault::Permission, "403:PermissionDeniedError"),
    (Fault::Quota, "429:RateLimitError"),
    (Fault::Server(500), "500:InternalServerError"),
    (Fault::Server(502), "502:InternalServerError"),
    (Fault::Overloaded, "503:InternalServerError"),
    (Fault::BadRequest, "400:BadRequestError"),
    (Fault::UnknownModel, "404:NotFoundError"),
    (Fault::ContextExceeded, "400:BadRequestError"),
    (Fault::TooLarge, "413:APIStatusError"),
    (Fault::ContentPolicy, "400:BadRequestError"),
];

async fn serve(behaviour: Behaviour) -> ModelServer {
    ModelServer::start(behaviour).await.expect("a port")
}

fn thinker() -> Behaviour {
    let tokens = Tokens { input: 100, cached: 80, output: 40, reasoning: 30, ..Tokens::default() };
    let reply = Reply::empty().thinking("Let me think.").piece("It counts ").piece("herons.");
    Behaviour::always(reply.usage(tokens).stop(Stop::MaxTokens))
}

/// Fails with each fault in turn, then with two of them within an answer.
fn faulty() -> Behaviour {
    let faults = FAULTS.iter().map(|(fault, _)| Reply::fault(*fault));
    let within = [Fault::Server(500), Fault::Quota].map(|fault| Reply::text("one two").then(fault));
    Behaviour::each(faults.chain(within).collect())
}

#[tokio::test]
async fn the_official_sdk_understands_our_model_server() {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with the `openai` package; run `cargo xtask test`, which installs one",
    );
    let assistant = serve(Behaviour::assistant(Duration::ZERO).with_key("test-key")).await;
    let limited = serve(Behaviour::always(Fault::RateLimit(RetryAfter::Seconds(7)))).await;
    let (thinker, faulty) = (serve(thinker()).await, serve(faulty()).await);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/openai_sdk.py");
    let output = Command::new(python)
        .arg(script)
        .args([assistant.base_url(), limited.base_url(), thinker.base_url(), faulty.base_url()])
        .args(FAULTS.iter().map(|(_, told)| *told))
        .args(["stream:APIError"; 2])
        .env("NO_PROXY", "127.0.0.1")
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.expect("the script ends");
    let output = output.expect("PALYRA_TEST_PYTHON can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        said.trim(),
        "models document stream tools unpaired auth rate_limit image schema options reasoning embeddings faults"
    );
    assert_eq!(assistant.counts().aborted, 0);
}
