//! The law of streams, over real sockets: text arrives while the model still speaks, and a dropped stream
//! is seen at the other end.

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use palyra_model_server::{Behaviour, Reply, Stop, Tear};
use palyra_testkit::Gate;
use palyra_types::model::{ModelFailureClass, ModelPiece};

use crate::support::{Subject, read};

#[tokio::test]
async fn text_arrives_before_the_answer_is_over() {
    for subject in Subject::ALL {
        let gate = Gate::closed();
        let reply = Reply::empty().thinking("Hm.").piece("early").hold(&gate).piece("late");
        let (server, provider) = subject.served(Behaviour::always(reply)).await;
        let mut stream = provider.stream(Arc::new(subject.request("Hi")));
        let Some(Ok(ModelPiece::Reasoning(_))) = stream.next().await else { panic!("no reasoning") };
        let Some(Ok(ModelPiece::Text(early))) = stream.next().await else { panic!("no text") };
        assert_eq!(early.expose(), "early");
        assert_eq!(server.counts().completed, 0);
        assert!(stream.next().now_or_never().is_none(), "nothing more until the server goes on");
        gate.open();
        let rest: Vec<_> = stream.collect().await;
        let [Ok(ModelPiece::Text(text)), Ok(ModelPiece::Answer(_))] = &rest[..] else { panic!("{rest:?}") };
        assert_eq!(text.expose(), "late");
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    for subject in Subject::ALL {
        let (server, provider) = subject.served(Behaviour::always(Reply::text("ok"))).await;
        drop(provider.stream(Arc::new(subject.request("never"))));
        read(provider.as_ref(), &subject.request("asked")).await.end.expect("an answer");
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        assert!(requests[0].body[subject.conversation()].to_string().contains("asked"));
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_in_every_state() {
    for subject in Subject::ALL {
        let half = Reply::text("one two").torn(Tear::Silence);
        let thinks = Reply::empty().thinking("one").thinking("two").torn(Tear::Silence);
        let paused = Reply::empty().hold(&Gate::closed());
        for (reply, pieces) in [(Reply::silent(), 0), (paused, 0), (half, 2), (thinks, 2)] {
            let (server, provider) = subject.served(Behaviour::always(reply)).await;
            let mut stream = provider.stream(Arc::new(subject.request("Hi")));
            for _ in 0..pieces {
                assert!(matches!(stream.next().await, Some(Ok(_))));
            }
            let waiting = tokio::spawn(async move { stream.next().await });
            server.wait_until(|counts| counts.requests == 1).await;
            assert_eq!(server.counts().aborted, 0);
            waiting.abort();
            server.wait_until(|counts| counts.aborted == 1).await;
        }
    }
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    const REQUESTS: usize = 12;
    for subject in Subject::ALL {
        let (server, provider) = subject.served(Behaviour::always(Reply::text("ok"))).await;
        for done in 1..=REQUESTS {
            read(provider.as_ref(), &subject.request("Hi")).await.end.expect("an answer");
            server.wait_until(|counts| counts.completed == done).await;
        }
        let connections = server.counts().connections;
        assert!(connections < REQUESTS / 2, "{connections} connections for {REQUESTS} requests");
    }
}

#[tokio::test]
async fn an_answer_is_given_out_though_the_server_never_closes() {
    for subject in Subject::ALL {
        let (server, provider) = subject.served(Behaviour::always(Reply::text("ok").then_hang())).await;
        assert!(read(provider.as_ref(), &subject.request("Hi")).await.end.is_ok());
        server.wait_until(|counts| counts.aborted == 1).await;
    }
}

#[tokio::test]
async fn proposals_come_only_from_complete_answers() {
    for subject in Subject::ALL {
        let call = || Reply::text("Let me look. ").call("read_file", r#"{"path":"a"}"#);
        for tear in [Tear::MidFrame, Tear::CleanEnd] {
            let (_server, provider) = subject.served(Behaviour::always(call().torn(tear))).await;
            let given = read(provider.as_ref(), &subject.request("Hi")).await;
            assert!(given.end.is_err(), "{subject:?} {tear:?}");
        }
        let refused = call().stop(Stop::Refusal);
        for (reply, proposals) in [(call(), 1), (refused, 0)] {
            let (_server, provider) = subject.served(Behaviour::always(reply)).await;
            let answer = read(provider.as_ref(), &subject.request("Hi")).await.end.expect("an answer");
            assert_eq!(answer.proposals.len(), proposals, "{subject:?}");
        }
    }
}

#[tokio::test]
async fn the_second_telling_of_an_answer_is_none() {
    for subject in Subject::ALL {
        // Where nothing marks the first end, the answer goes on behind its end and is broken.
        let (_server, provider) = subject.served(Behaviour::always(Reply::text("one").twice())).await;
        let given = read(provider.as_ref(), &subject.request("Hi")).await;
        assert_eq!(given.texts, ["one"], "{subject:?}");
        let failure = given.end.expect_err("no answer");
        assert_eq!(failure.class, ModelFailureClass::Malformed, "{subject:?}");

        let unasked = Reply::text("one").responds_twice();
        let (_server, provider) = subject.served(Behaviour::always(unasked)).await;
        for _ in 0..3 {
            let given = read(provider.as_ref(), &subject.request("Hi")).await;
            assert_eq!((given.texts.concat().as_str(), given.end.is_ok()), ("one", true), "{subject:?}");
        }
    }
}
