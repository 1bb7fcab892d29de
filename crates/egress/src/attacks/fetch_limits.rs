//! Answers that never end, never come, or become more than was sent.

use std::time::Duration;

use async_compression::tokio::write::{BrotliEncoder, GzipEncoder};
use palyra_ports::{BodyCompleteness, CancelFlag, FetchFailure, FetchHttp, FetchRequest, FetchResponse};
use tokio::io::AsyncWriteExt;

use super::bench::{fetch_open, fetcher};
use super::hostile_server::{HostileServer, Step};
use super::scripted_resolver::ScriptedResolver;
use crate::Tls;

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

fn request(server: &HostileServer) -> FetchRequest {
    FetchRequest::get(format!("http://open.example:{}/", server.port()))
}

async fn answer(
    steps: Vec<Step>,
    change: impl FnOnce(&mut FetchRequest),
) -> Result<FetchResponse, FetchFailure> {
    let server = HostileServer::start(move |_| steps.clone()).await;
    let mut request = request(&server);
    change(&mut request);
    fetch_open(server.port(), request).await
}

fn packed(name: &str, body: &[u8]) -> Vec<Step> {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: {name}\r\ncontent-length: {}\r\n\r\n", body.len());
    vec![head.as_str().into(), Step::Say(body.to_vec())]
}

async fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzipEncoder::new(Vec::new());
    encoder.write_all(body).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

async fn brotli(body: &[u8]) -> Vec<u8> {
    let mut encoder = BrotliEncoder::new(Vec::new());
    encoder.write_all(body).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

#[tokio::test]
async fn an_endless_body_is_cut() {
    let piece = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let steps = vec![CHUNKED.into(), Step::Repeat(piece.into_bytes(), Duration::ZERO)];
    let answer = answer(steps, |request| request.limits.body_bytes_max = 10_000).await.unwrap();
    assert_eq!((answer.body.expose().len(), answer.completeness), (10_000, BodyCompleteness::Cut));
}

#[tokio::test]
async fn a_body_as_long_as_the_limit_is_whole() {
    for (limit, completeness) in
        [(4, BodyCompleteness::Cut), (5, BodyCompleteness::Whole), (6, BodyCompleteness::Whole)]
    {
        let steps = vec!["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".into()];
        let answer = answer(steps, |request| request.limits.body_bytes_max = limit).await.unwrap();
        assert_eq!((answer.body.expose().len(), answer.completeness), (limit.min(5), completeness));
    }
}

#[tokio::test(start_paused = true)]
async fn a_byte_a_second_ends_with_the_time() {
    let slow_body = vec![CHUNKED.into(), Step::Repeat(b"1\r\nx\r\n".to_vec(), Duration::from_secs(1))];
    let slow_head = vec![Step::Repeat(b"H".to_vec(), Duration::from_secs(1))];
    let slow_headers =
        vec!["HTTP/1.1 200 OK\r\n".into(), Step::Repeat(b"a: b\r\n".to_vec(), Duration::from_secs(1))];
    let informed = vec![Step::Repeat(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), Duration::from_secs(1))];
    for steps in [slow_body, slow_headers, informed, vec![Step::Hang]] {
        let failure = answer(steps, |_| ()).await.unwrap_err();
        assert!(matches!(failure, FetchFailure::TimedOut { .. }), "{failure}");
    }
    // Rubbish is noticed before the time is up.
    let failure = answer(slow_head, |_| ()).await.unwrap_err();
    assert!(matches!(failure, FetchFailure::Answer { .. } | FetchFailure::TimedOut { .. }), "{failure}");
}

#[tokio::test]
async fn long_headers_are_given_up() {
    let long_line = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(10 << 20));
    let many_lines = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(100_000));
    let endless = Step::Repeat(b"x: yyyyyyyyyyyyyyyyyyyyyyyy\r\n".to_vec(), Duration::ZERO);
    for steps in [
        vec![long_line.as_str().into()],
        vec![many_lines.as_str().into()],
        vec!["HTTP/1.1 200 OK\r\n".into(), endless],
    ] {
        let failure = answer(steps, |_| ()).await.unwrap_err();
        assert!(matches!(failure, FetchFailure::Answer { .. }), "{failure}");
    }
    // The control: with room for them, the same headers are read.
    let fits = format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 0\r\n\r\n", "y".repeat(100 << 10));
    let steps = || vec![fits.as_str().into()];
    assert!(answer(steps(), |_| ()).await.is_err());
    assert!(answer(steps(), |request| request.limits.header_bytes_max = 1 << 20).await.is_ok());
}

#[tokio::test]
async fn a_bomb_is_noticed_while_it_goes_off() {
    let zeros = vec![0; 4 << 20];
    let (gzipped, brotlied) = (gzip(&zeros).await, brotli(&zeros).await);
    for (name, body) in [("gzip", &gzipped), ("br", &brotlied)] {
        let failure = answer(packed(name, body), |request| request.limits.body_bytes_max = 4 << 20).await;
        assert!(matches!(failure, Err(FetchFailure::Answer { .. })), "{name}");
        // The control: without the limit on the ratio it goes off.
        let whole = answer(packed(name, body), |request| {
            request.limits.body_bytes_max = 4 << 20;
            request.limits.unpacking_ratio_max = u32::MAX;
        });
        assert_eq!(whole.await.unwrap().body.expose().len(), zeros.len(), "{name}");
    }
}

#[tokio::test]
async fn packed_bodies_are_unpacked() {
    let text = "all work and no play ".repeat(1000);
    for (name, body) in [("gzip", gzip(text.as_bytes()).await), ("br", brotli(text.as_bytes()).await)] {
        let answer = answer(packed(name, &body), |_| ()).await.unwrap();
        assert_eq!(answer.body.expose(), text.as_bytes());
        let cut =
            self::answer(packed(name, &body), |request| request.limits.body_bytes_max = 100).await.unwrap();
        assert_eq!((cut.body.expose().len(), cut.completeness), (100, BodyCompleteness::Cut));
    }
    assert_eq!(answer(packed("gzip", b""), |_| ()).await.unwrap().body.expose(), b"");
}

#[tokio::test]
async fn packings_that_nobody_asked_for_are_given_up() {
    let twice = gzip(&gzip(b"hello").await).await;
    // A window of a gibibyte (`0x11`, then its 30 bits) and an empty last block: the decoder would take it.
    let window: &[u8] = &[0x11, 0xde];
    let cut = gzip(&vec![7; 10_000]).await;
    for (name, body) in [
        ("gzip, gzip", twice.as_slice()),
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("deflate", b"x"),
        ("br", window),
        ("br", b"rubbish that is not brotli at all"),
        ("gzip", b"rubbish"),
        ("gzip", &cut[..cut.len() / 2]),
    ] {
        let failure = answer(packed(name, body), |_| ()).await;
        assert!(matches!(failure, Err(FetchFailure::Answer { .. })), "{name}: {failure:?}");
    }
}

#[tokio::test]
async fn answers_that_are_no_http_are_given_up() {
    for said in [
        "",
        "SSH-2.0-OpenSSH\r\n",
        "<html>",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    ] {
        let failure = answer(vec![said.into()], |_| ()).await;
        assert!(
            matches!(failure, Err(FetchFailure::Answer { .. })),
            "{said}: {:?}",
            failure.map(|answer| answer.status)
        );
    }
}

#[tokio::test]
async fn a_raised_flag_ends_a_fetch() {
    let server = HostileServer::start(|_| vec![Step::Hang]).await;
    let resolver = ScriptedResolver::answering("open.example", &[&["127.0.0.1"]]);
    let fetcher =
        fetcher(&resolver, &[format!("open.example:{}", server.port())], Tls::trusting([]).unwrap());
    let cancel = CancelFlag::default();
    let fetching = fetcher.fetch(request(&server), cancel.clone());
    cancel.cancel();
    let error = fetching.await.unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Cancelled), "{error}");
}
