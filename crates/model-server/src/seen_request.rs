//! What the server has seen: its requests, and counts.

use serde_json::Value;

/// What a server has seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerCounts {
    /// Connections taken.
    pub connections: usize,
    /// Requests read, of any kind.
    pub requests: usize,
    /// Requests that broke the rules of their format, and were refused for that.
    pub invalid: usize,
    /// Replies that were sent to their end, faults included.
    pub completed: usize,
    /// Replies during which the client went away.
    pub aborted: usize,
    /// Bytes of bodies sent, without their framing; endless bodies do not count.
    pub body_bytes: usize,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRequest {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// All headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, a person's words in it without the line that says when they were said; null when there is none or it is
    /// not JSON.
    pub body: Value,
    /// When the words of each message of a person were said, as the body has it, in order.
    pub times: Vec<String>,
    /// The body's size.
    pub body_bytes: usize,
}

impl SeenRequest {
    /// Returns a header by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether it asks a model for an answer.
    #[must_use]
    pub fn asks_a_model(&self) -> bool {
        self.method == "POST"
    }
}
