//! As much of HTTP/1.1 as a test server needs: reads requests, writes heads and chunks.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::request_words::take_times;
use super::seen_request::SeenRequest;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Reads the next request; `None` when the client closed the connection between two.
pub(super) async fn read_request(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> io::Result<Option<SeenRequest>> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if buffer.len() > HEAD_BYTES_MAX {
            return Err(bad("the head is too large"));
        }
        if stream.read_buf(buffer).await? == 0 {
            return if buffer.is_empty() { Ok(None) } else { Err(bad("the head breaks off")) };
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path)) = (first.next(), first.next()) else { return Err(bad("no request line")) };
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let header = |name: &str| {
        headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let length: usize = header("content-length").map_or(Ok(0), str::parse).map_err(|_| bad("no length"))?;
    if length > BODY_BYTES_MAX || header("transfer-encoding").is_some() {
        return Err(bad("a body of another kind than expected"));
    }
    let body_from = head_end + 4;
    while buffer.len() < body_from + length {
        if stream.read_buf(buffer).await? == 0 {
            return Err(bad("the body breaks off"));
        }
    }
    let mut body = serde_json::from_slice(&buffer[body_from..body_from + length]).unwrap_or_default();
    let times = take_times(&mut body);
    let authorization = header("authorization").map(str::to_owned);
    let headers = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    let request = SeenRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        authorization,
        headers: headers.collect(),
        body,
        times,
        body_bytes: length,
    };
    buffer.drain(..body_from + length);
    Ok(Some(request))
}

/// Writes the head of a reply whose body comes in chunks.
pub(super) async fn write_head(
    stream: &mut (impl AsyncWrite + Unpin),
    status: u16,
    headers: &[(String, String)],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} Status\r\nTransfer-Encoding: chunked\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await
}

/// Writes a chunk; an empty one ends the body.
pub(super) async fn write_chunk(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk).await?;
    stream.flush().await
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
