//! The bytes of requests, answers and their pieces.

use std::fmt::Write as _;

use serde_json::json;

use super::directive::{AnswerDirective, CallPath};

/// A request larger than this is refused: nothing here asks so much.
pub(super) const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(super) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
const END: &[u8] = b"0\r\n\r\n";
/// Words of an answer: as long as tokens are.
const WORDS: [&str; 8] = ["The ", "gateway ", "writes ", "each ", "entry ", "down ", "before ", "showing "];

/// A request that has come in whole: where its body begins and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestSpan {
    pub(super) is_chat: bool,
    pub(super) body_from: usize,
    pub(super) end: usize,
}

/// Finds the request at the front of `bytes`; `None` while it is not whole.
pub(crate) fn request(bytes: &[u8]) -> Option<RequestSpan> {
    let body_from = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..body_from]).unwrap_or_default();
    let length = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    };
    let end = body_from + head.lines().find_map(length).unwrap_or(0);
    let is_chat = head.lines().next().is_some_and(|line| line.contains("/chat/completions"));
    (bytes.len() >= end).then_some(RequestSpan { is_chat, body_from, end })
}

/// The pieces of an answer as HTTP chunks, each to be sent on its own. Each is made when it is asked for: a long
/// answer must not keep the server from seeing that the one who asked has gone.
pub(super) fn pieces(directive: &AnswerDirective, answered: usize) -> impl Iterator<Item = Vec<u8>> {
    let call = (answered < directive.tools).then(|| tool_call(directive.calls, answered));
    let count = if call.is_some() { 0 } else { directive.pieces.max(1) };
    call.into_iter().chain((0..count).map(move |at| piece(at, count)))
}

fn piece(at: usize, count: usize) -> Vec<u8> {
    let mut piece = chunk(&text(WORDS[at % WORDS.len()]));
    if at == 0 {
        piece = [chunk(&delta(r#"{"role":"assistant","content":""}"#, "null")), piece].concat();
    }
    if at + 1 == count {
        piece.extend(ending("stop", count));
    }
    piece
}

fn tool_call(calls: CallPath, at: usize) -> Vec<u8> {
    let (tool, arguments) = calls.call(at);
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let call = json!({ "index": 0, "id": format!("call_{at}"), "type": "function", "function": function });
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    [chunk(&delta(&call.to_string(), "null")), ending("tool_calls", 12)].concat()
}

fn ending(finish: &str, tokens: usize) -> Vec<u8> {
    let usage = format!(
        r#"data: {{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"mock","choices":[],"usage":{{"prompt_tokens":20,"completion_tokens":{tokens},"total_tokens":{}}}}}"#,
        20 + tokens
    );
    let finish = delta("{}", &format!("\"{finish}\""));
    [chunk(&finish), chunk(&(usage + "\n\n")), chunk("data: [DONE]\n\n"), END.to_vec()].concat()
}

fn text(word: &str) -> String {
    delta(&format!(r#"{{"content":"{word}"}}"#), "null")
}

fn delta(delta: &str, finish: &str) -> String {
    format!(
        r#"data: {{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
    ) + "\n\n"
}

fn chunk(data: &str) -> Vec<u8> {
    let mut text = String::with_capacity(data.len() + 8);
    let _ = write!(text, "{:x}\r\n{data}\r\n", data.len());
    text.into_bytes()
}

/// A refusal of anything but chat.
pub(super) const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_taken_whole_and_one_after_the_other() {
        let one = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(request(&one[..one.len() - 1]), None);
        let span = RequestSpan { is_chat: true, body_from: one.len() - 3, end: one.len() };
        assert_eq!(request(one), Some(span));
        assert_eq!(request(&[&one[..], b"GET"].concat()), Some(span));
        let models = b"GET /v1/models HTTP/1.1\r\n\r\n";
        assert_eq!(request(models).map(|span| span.is_chat), Some(false));
    }
}
