//! As much of HTTP/1.1 as it takes to ask the model's server and to read what was recorded.
//!
//! Owns one request per connection and the parsing of a whole response. Knows no model.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// How long a server may be silent before it is given up.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// A whole response, or what came of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// The body, freed of chunk lengths; what a cut-off response held of it.
    pub(super) body: Vec<u8>,
}

impl Response {
    /// Returns the body as JSON.
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| {
            format!("status {}, and no JSON: {}", self.status, String::from_utf8_lossy(&self.body))
        })
    }

    /// Returns the payloads of a stream of server-sent events, without the closing `[DONE]`.
    pub(super) fn events(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.body).into_owned();
        let payloads = text.lines().filter_map(|line| line.strip_prefix("data:"));
        payloads.filter_map(|payload| serde_json::from_str(payload.trim()).ok()).collect()
    }
}

/// Asks for `path`.
pub(super) fn get(server: SocketAddr, path: &str) -> Result<Response> {
    exchange(server, &format!("GET {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n"))
}

/// Sends `body` to `path`.
pub(super) fn post(server: SocketAddr, path: &str, body: &Value) -> Result<Response> {
    let body = body.to_string();
    let length = body.len();
    exchange(
        server,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ),
    )
}

fn exchange(server: SocketAddr, request: &str) -> Result<Response> {
    let mut stream = TcpStream::connect(server).with_context(|| format!("could not connect to {server}"))?;
    stream.set_read_timeout(Some(SILENCE_MAX)).context("could not set a deadline")?;
    stream.write_all(request.as_bytes()).context("could not send the request")?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all).context("could not read the response")?;
    parse(&all)
}

/// Parses a response of which the connection's end is the end.
pub(super) fn parse(bytes: &[u8]) -> Result<Response> {
    let Some(end) = find(bytes, b"\r\n\r\n") else {
        bail!("the response has no complete head ({} bytes came)", bytes.len())
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.with_context(|| format!("no status in `{}`", head.lines().next().unwrap_or("")))?;
    let chunked = head.lines().any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("transfer-encoding:") && line.contains("chunked")
    });
    let body = &bytes[end + 4..];
    Ok(Response { status, body: if chunked { dechunk(body) } else { body.to_vec() } })
}

/// Frees a body of its chunk lengths; stops quietly where it was cut off.
fn dechunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line_end) = find(rest, b"\r\n") {
        let line = String::from_utf8_lossy(&rest[..line_end]).into_owned();
        let length = usize::from_str_radix(line.split(';').next().unwrap_or("").trim(), 16).unwrap_or(0);
        let from = line_end + 2;
        let to = from.saturating_add(length).min(rest.len());
        body.extend_from_slice(&rest[from..to]);
        if length == 0 || rest.len() < to + 2 {
            break;
        }
        rest = &rest[to + 2..];
    }
    body
}

/// Returns where `wanted` begins.
pub(super) fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunked_stream_yields_its_events() {
        let whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                      10\r\ndata: {\"a\":1}\n\nd\r\ne\r\nata: {\"b\":2}\n\n\r\n0\r\n\r\n";
        let response = parse(whole).expect("it parses");
        assert_eq!(response.status, 200);
        assert_eq!(response.events(), [serde_json::json!({"a": 1}), serde_json::json!({"b": 2})]);
    }

    #[test]
    fn what_came_before_a_cut_is_kept() {
        let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\ndata: {\"a\":1}\n\ndata: {\"b";
        assert_eq!(parse(cut).expect("it parses").events(), [serde_json::json!({"a": 1})]);
        assert!(parse(b"HTTP/1.1 200 OK\r\nTransf").is_err());
    }

    #[test]
    fn a_plain_body_is_read_as_it_is() {
        let response = parse(b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}").expect("it parses");
        assert_eq!((response.status, response.json().expect("JSON")), (503, serde_json::json!({})));
    }
}
