//! Each client with each scenario: one process for a client.

use crate::client_trial::ClientTrial;
use crate::leaving_clients::EventReports;

/// How many endpoints a client has.
enum Endpoints {
    /// Chat completions alone.
    Chat,
    /// Responses too.
    Both,
}

async fn check(mut trial: ClientTrial, endpoints: Endpoints) {
    trial.streamed().await;
    trial.whole().await;
    if matches!(endpoints, Endpoints::Both) {
        trial.streamed().await;
        trial.whole().await;
    }
    trial.left(EventReports::Written).await;
    trial.stopped().await;
    trial.client.end().await;
}

#[tokio::test]
async fn the_python_client_of_openai_gets_a_late_answer_and_leaves_and_sees_a_stop() {
    check(ClientTrial::python("openai_python.py").await, Endpoints::Both).await;
}

#[tokio::test]
async fn langchain_gets_a_late_answer_and_leaves_and_sees_a_stop() {
    check(ClientTrial::python("langchain_chat.py").await, Endpoints::Both).await;
}

#[tokio::test]
async fn the_node_client_of_openai_gets_a_late_answer_and_leaves_and_sees_a_stop() {
    check(ClientTrial::node("openai_node.mjs").await, Endpoints::Both).await;
}

/// Its provider for compatible servers has chat completions alone.
#[tokio::test]
async fn the_ai_sdk_gets_a_late_answer_and_leaves_and_sees_a_stop() {
    check(ClientTrial::node("ai_sdk.mjs").await, Endpoints::Chat).await;
}

/// It has streamed responses alone, and asks again by itself when a daemon stops.
#[tokio::test]
async fn codex_gets_a_late_answer_of_the_agents_tools_and_leaves() {
    let mut trial = ClientTrial::codex().await;
    trial.streamed_silently().await;
    trial.left(EventReports::Absent).await;
    trial.client.end().await;
}
