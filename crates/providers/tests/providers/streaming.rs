//! Text arrives while the model still speaks, and a dropped stream is seen at the other end.

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use palyra_ports::ModelProvider;
use palyra_testkit::Gate;
use palyra_testkit::model_server::{Behaviour, Reply, Tear};
use palyra_types::model::ModelPiece;

use crate::support::{read, request, served};

#[tokio::test]
async fn text_arrives_before_the_answer_is_over() {
    let gate = Gate::closed();
    let (server, provider) =
        served(Behaviour::always(Reply::empty().piece("early").hold(&gate).piece("late"))).await;
    let mut stream = provider.stream(Arc::new(request("openai/m", "Hi")));
    let Some(Ok(ModelPiece::Text(early))) = stream.next().await else { panic!("no text") };
    assert_eq!(early.expose(), "early");
    assert_eq!(server.counts().completed, 0);
    assert!(stream.next().now_or_never().is_none(), "nothing more until the server goes on");
    gate.open();
    let rest: Vec<_> = stream.collect().await;
    assert!(
        matches!(&rest[..], [Ok(ModelPiece::Text(text)), Ok(ModelPiece::Answer(_))] if text.expose() == "late")
    );
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let (server, provider) = served(Behaviour::always(Reply::text("ok"))).await;
    drop(provider.stream(Arc::new(request("openai/m", "never"))));
    read(&provider, &request("openai/m", "asked")).await.end.expect("an answer");
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].body["messages"][1]["content"], "asked");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_in_every_state() {
    let half = Reply::text("one two").torn(Tear::Silence);
    let paused = Reply::empty().hold(&Gate::closed());
    for (reply, pieces) in [(Reply::silent(), 0), (paused, 0), (half, 2)] {
        let (server, provider) = served(Behaviour::always(reply)).await;
        let mut stream = provider.stream(Arc::new(request("openai/m", "Hi")));
        for _ in 0..pieces {
            assert!(matches!(stream.next().await, Some(Ok(ModelPiece::Text(_)))));
        }
        let waiting = tokio::spawn(async move { stream.next().await });
        server.wait_until(|counts| counts.requests == 1).await;
        assert_eq!(server.counts().aborted, 0);
        waiting.abort();
        server.wait_until(|counts| counts.aborted == 1).await;
    }
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    const REQUESTS: usize = 12;
    let (server, provider) = served(Behaviour::always(Reply::text("ok"))).await;
    for done in 1..=REQUESTS {
        read(&provider, &request("openai/m", "Hi")).await.end.expect("an answer");
        server.wait_until(|counts| counts.completed == done).await;
    }
    let connections = server.counts().connections;
    assert!(connections < REQUESTS / 2, "{connections} connections for {REQUESTS} requests");
}

#[tokio::test]
async fn an_answer_is_given_out_though_the_server_never_closes() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (server, provider) =
        served(Behaviour::always(Reply::raw("text/event-stream", body).then_hang())).await;
    assert!(read(&provider, &request("openai/m", "Hi")).await.end.is_ok());
    server.wait_until(|counts| counts.aborted == 1).await;
}
