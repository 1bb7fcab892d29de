//! The usual event of a stream: one piece of text, and nothing else.
//!
//! Nearly all events are like that, so they are read without a tree of JSON. Invariant: an event that is read here
//! says what it would have said as a tree; one with anything more in it is not read here.

use std::borrow::Cow;

use serde::Deserialize;

/// An event with one piece of text. What it does not name must not be there, and `()` stands for `null`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "a field that is not looked at is one that may be there")]
pub(super) struct PlainEvent<'a> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) model: Cow<'a, str>,
    #[serde(borrow)]
    object: Cow<'a, str>,
    created: u64,
    #[serde(borrow, default)]
    system_fingerprint: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    service_tier: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    obfuscation: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: (),
    #[serde(borrow)]
    choices: [PlainChoice<'a>; 1],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "a field that is not looked at is one that may be there")]
struct PlainChoice<'a> {
    index: u64,
    #[serde(borrow)]
    delta: PlainDelta<'a>,
    #[serde(default)]
    logprobs: (),
    #[serde(default)]
    finish_reason: (),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "a field that is not looked at is one that may be there")]
struct PlainDelta<'a> {
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(default)]
    refusal: (),
    #[serde(default)]
    tool_calls: (),
    #[serde(default)]
    reasoning_content: (),
    #[serde(default)]
    reasoning: (),
}

impl<'a> PlainEvent<'a> {
    /// Reads an event; `None` where it is not a usual one.
    pub(super) fn read(data: &'a str) -> Option<Self> {
        serde_json::from_str(data).ok().filter(|event: &Self| event.choices[0].index == 0)
    }

    /// Returns its piece of text, which may be empty.
    pub(super) fn text(&self) -> &str {
        &self.choices[0].delta.content
    }
}
