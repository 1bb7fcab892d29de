//! Answers without end (45): what is kept of them, and how long that takes, is the canary.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palyra_ports::FetchRequest;

use super::careless;
use super::listeners::ServerStep;
use super::world::{PUBLIC_PORT, world};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Bytes that nobody asked for, and a time that nobody has.
const BYTES_MAX: usize = 6 << 20;
const TIME_MAX: Duration = Duration::from_millis(2_500);

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

type AnswerScript = fn() -> io::Result<Vec<ServerStep>>;

const ALL: &[(&str, AnswerScript)] = &[
    ("a body in pieces", || Ok(vec![CHUNKED.into(), again(&format!("4000\r\n{}\r\n", "x".repeat(0x4000)))])),
    ("a body without a length", || Ok(vec!["HTTP/1.1 200 OK\r\n\r\n".into(), again(&"x".repeat(0x4000))])),
    ("a body of a terabyte", || {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 1_u64 << 40);
        Ok(vec![head.as_str().into(), again(&"x".repeat(0x4000))])
    }),
    ("one header of ten megabytes", || {
        Ok(vec![ServerStep::from(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(10 << 20)).as_str())])
    }),
    ("headers without end", || {
        Ok(vec!["HTTP/1.1 200 OK\r\n".into(), again(&"x: yyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(500))])
    }),
    ("extensions of pieces without end", || {
        Ok(vec![CHUNKED.into(), again(&";x=yyyyyyyyyyyyyyyyyyyyyyyyyyyy".repeat(500))])
    }),
    ("trailers without end", || {
        Ok(vec![CHUNKED.into(), "0\r\n".into(), again(&"x: yyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(500))])
    }),
    ("news before the answer without end", || {
        Ok(vec![again(&"HTTP/1.1 103 Early Hints\r\nx: yyyyyyyyyyyy\r\n\r\n".repeat(300))])
    }),
    ("a byte now and then in the body", || Ok(vec![CHUNKED.into(), slow("1\r\nx\r\n")])),
    ("a byte now and then in the headers", || Ok(vec!["HTTP/1.1 200 OK\r\n".into(), slow("a: b\r\n")])),
    ("a byte now and then before all", || Ok(vec![slow("HTTP/1.1 100 Continue\r\n\r\n")])),
    ("a bomb of gzip", || packed("gzip", &gzip(&vec![0; 8 << 20])?)),
    ("a bomb in a bomb", || packed("gzip, gzip", &gzip(&gzip(&vec![0; 64 << 20])?)?)),
];

fn again(text: &str) -> ServerStep {
    ServerStep::Repeat(text.as_bytes().to_vec(), Duration::ZERO)
}

fn slow(text: &str) -> ServerStep {
    ServerStep::Repeat(text.as_bytes().to_vec(), Duration::from_millis(200))
}

fn packed(name: &str, body: &[u8]) -> io::Result<Vec<ServerStep>> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: {name}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Ok(vec![head.as_str().into(), ServerStep::Say(body.to_vec())])
}

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    by_gzip("-c", body)
}

fn by_gzip(flag: &str, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut gzip = Command::new("gzip").arg(flag).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut to = gzip.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let body = body.to_vec();
    let writer = std::thread::spawn(move || to.write_all(&body));
    let output = gzip.wait_with_output()?;
    writer.join().map_err(|_| io::Error::other("the writer is gone"))??;
    Ok(output.stdout)
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |&(variant, answer): &(&'static str, AnswerScript)| {
        let pair = CasePair::new(45, variant, "the limits of the fetcher");
        AttackTrial::new(vec![pair], move |place, pairs| carry_out(answer, place, pairs)).alone()
    };
    ALL.iter().map(trial).collect()
}

async fn carry_out(answer: AnswerScript, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let url = format!("http://public.example:{PUBLIC_PORT}/");
    run_attempts(pairs, place.half, |_| async {
        let world = world().await?;
        let steps = answer()?;
        world.public.answers(steps.clone());
        let mut request = FetchRequest::get(url.as_str());
        request.limits.body_bytes_max = 1 << 20;
        request.limits.time_max = Duration::from_secs(1);
        let begun = Instant::now();
        let fetched = world.fetch(request).await;
        let kept = fetched.map_or(0, |answer| answer.body.expose().len());
        let touched = too_much(kept, begun.elapsed());

        world.public.answers(steps);
        let begun = Instant::now();
        let taken = careless::fetch(&url, "", 1).await?;
        Ok(Some((touched, too_much(unpacked(&taken)?, begun.elapsed()))))
    })
    .await
}

fn too_much(bytes: usize, time: Duration) -> Vec<String> {
    let mut touched = Vec::new();
    if bytes > BYTES_MAX {
        touched.push(format!("{} MiB were kept", bytes >> 20));
    }
    if time > TIME_MAX {
        touched.push("it took too long".to_owned());
    }
    touched
}

/// Returns what a careless client ends up with: as often packed, as often unpacked.
fn unpacked(answer: &[u8]) -> io::Result<usize> {
    let end = answer.windows(4).position(|end| end == b"\r\n\r\n").map_or(answer.len(), |end| end + 4);
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let mut body = answer[end..].to_vec();
    for _ in 0..head.matches("gzip").count() {
        body = by_gzip("-dc", &body)?;
    }
    Ok(end + body.len())
}
