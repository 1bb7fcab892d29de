//! Chooses the reply to a request.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::reply::Reply;

type Choice = Box<dyn Fn(&Value) -> Reply + Send + Sync>;

/// How a server behaves.
pub struct Behaviour {
    models: Vec<String>,
    key: Option<String>,
    choose: Choice,
}

impl Behaviour {
    /// Answers every request by a function of its body.
    #[must_use]
    pub fn by(choose: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self { models: vec!["test-model".to_owned()], key: None, choose: Box::new(choose) }
    }

    /// Answers every request alike.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        Self::by(move |_| reply.clone())
    }

    /// Answers with each reply once, in order, and then with "ok".
    #[must_use]
    pub fn each(replies: Vec<Reply>) -> Self {
        let queue = Mutex::new(VecDeque::from(replies));
        Self::by(move |_| {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.pop_front().unwrap_or_else(|| Reply::text("ok"))
        })
    }

    /// Behaves like a small assistant: reads the file that is spoken of, if it may, and answers with
    /// what stands in it; waits before each piece.
    #[must_use]
    pub fn assistant(pace: Duration) -> Self {
        Self::by(move |body| assist(body).paced(pace))
    }

    /// Lists other models.
    #[must_use]
    pub fn with_models(mut self, models: &[&str]) -> Self {
        self.models = models.iter().map(|model| (*model).to_owned()).collect();
        self
    }

    /// Wants a key.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    pub(super) fn models(&self) -> &[String] {
        &self.models
    }

    pub(super) fn admits(&self, authorization: Option<&str>) -> bool {
        self.key.as_ref().is_none_or(|key| authorization == Some(format!("Bearer {key}").as_str()))
    }

    pub(super) fn choose(&self, body: &Value) -> Reply {
        (self.choose)(body)
    }
}

fn assist(body: &Value) -> Reply {
    let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    let content = last["content"].as_str().unwrap_or_default();
    if last["role"] == "tool" {
        let lines: Vec<&str> =
            content.lines().map(str::trim).filter(|line| !line.is_empty()).take(3).collect();
        return Reply::text(&format!("The file says: {}", lines.join(" / ")));
    }
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let may_read =
        tools.iter().any(|tool| tool.pointer("/function/name").is_some_and(|name| name == "read_file"));
    match spoken_file(content).filter(|_| may_read) {
        Some(path) => Reply::text("Let me read it. ").call("read_file", &json!({"path": path}).to_string()),
        None => Reply::text(&format!("You said: {content}")),
    }
}

fn spoken_file(text: &str) -> Option<&str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(['`', '"', '\'', ',', '.', '?', '!']));
    words
        .into_iter()
        .find(|word| word.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.len() <= 4))
}
