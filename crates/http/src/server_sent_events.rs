//! Server-sent events as text (WHATWG HTML, section 9.2).

use std::fmt::{self, Display, Write as _};

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentEvent {
    /// What a client sends as `Last-Event-ID` when it comes back.
    pub id: Option<u64>,
    /// Its name; without one browsers call it `message`.
    pub name: Option<&'static str>,
    /// A line that parsers skip.
    pub comment: Option<&'static str>,
    /// What it says.
    pub data: String,
}

impl SentEvent {
    /// Returns an unnamed event with an id.
    #[must_use]
    pub fn numbered(id: u64, data: String) -> Self {
        Self { id: Some(id), data, ..Self::default() }
    }

    /// Returns a named event.
    #[must_use]
    pub fn named(name: &'static str, data: String) -> Self {
        Self { name: Some(name), data, ..Self::default() }
    }

    /// Returns a sign of life: a comment, and an event for clients that time events.
    #[must_use]
    pub fn heartbeat(data: String) -> Self {
        Self { comment: Some("heartbeat"), ..Self::named("heartbeat", data) }
    }
}

impl Display for SentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(comment) = self.comment {
            writeln!(f, ": {comment}")?;
        }
        if let Some(id) = self.id {
            writeln!(f, "id: {id}")?;
        }
        if let Some(name) = self.name {
            writeln!(f, "event: {name}")?;
        }
        // A carriage return ends a line as well.
        for line in self.data.split(['\n', '\r']) {
            writeln!(f, "data: {line}")?;
        }
        f.write_char('\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_block_and_its_data_cannot_end_it() {
        assert_eq!(SentEvent::numbered(7, "{}".to_owned()).to_string(), "id: 7\ndata: {}\n\n");
        let split = SentEvent::named("end", "a\n\nid: 9\rb".to_owned()).to_string();
        assert_eq!(split, "event: end\ndata: a\ndata: \ndata: id: 9\ndata: b\n\n");
        let heartbeat = SentEvent::heartbeat("{}".to_owned()).to_string();
        assert_eq!(heartbeat, ": heartbeat\nevent: heartbeat\ndata: {}\n\n");
    }
}
