//! One event of a stream of server-sent events, and its bytes.

use serde_json::Value;

/// An event that a client parses.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// Its name; chat completions have none.
    pub name: Option<&'static str>,
    /// Its data.
    pub data: EventData,
}

/// The data of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventData {
    /// A JSON object.
    Object(Value),
    /// The end of a stream of chat completions.
    Done,
}

impl StreamEvent {
    /// Makes an event without a name.
    #[must_use]
    pub fn unnamed(data: Value) -> Self {
        Self { name: None, data: EventData::Object(data) }
    }

    /// Makes an event whose name is its `type`.
    #[must_use]
    pub fn named(name: &'static str, data: Value) -> Self {
        Self { name: Some(name), data: EventData::Object(data) }
    }

    /// Makes the end of a stream of chat completions.
    #[must_use]
    pub fn done() -> Self {
        Self { name: None, data: EventData::Done }
    }

    /// Returns the bytes; JSON has no line breaks, so the data is one line.
    #[must_use]
    pub fn encode(&self) -> String {
        let name = self.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
        match &self.data {
            EventData::Object(data) => format!("{name}data: {data}\n\n"),
            EventData::Done => format!("{name}data: [DONE]\n\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_line_of_data_with_its_name_before() {
        let event = StreamEvent::named("response.created", json!({ "text": "a\nb" }));
        assert_eq!(event.encode(), "event: response.created\ndata: {\"text\":\"a\\nb\"}\n\n");
        assert_eq!(StreamEvent::unnamed(json!({})).encode(), "data: {}\n\n");
        assert_eq!(StreamEvent::done().encode(), "data: [DONE]\n\n");
    }
}
