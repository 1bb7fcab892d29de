//! Media types of bodies.

/// The media type of a message.
pub(crate) const JSON: &str = "application/json";
/// The media type of messages in lines.
pub(crate) const JSON_LINES: &str = "application/x-ndjson";
/// The media type of server-sent events.
pub(crate) const EVENTS: &str = "text/event-stream";
