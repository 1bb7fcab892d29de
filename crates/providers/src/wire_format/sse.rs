//! Decodes server-sent events from bytes, however they are cut.
//!
//! Follows the WHATWG rules for lines, comments and fields, with two deviations: an event that is
//! not closed by a blank line still counts at the end, and an event has a size it may not exceed; data that
//! are not UTF-8 are an error and not replaced.
//! Sans-IO. Invariant: the events do not depend on how the bytes were split.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SseEvent {
    /// Its type; empty unless the server named one.
    pub(crate) kind: String,
    /// Its data lines, joined by line feeds.
    pub(crate) data: String,
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    /// An event is larger than the decoder takes.
    #[error("an event of the stream is larger than {event_bytes_max} bytes")]
    TooLarge {
        /// What it takes.
        event_bytes_max: usize,
    },
    /// The data of an event are not UTF-8. Replacing what is broken would change what was said.
    #[error("an event of the stream is not UTF-8")]
    NotText,
}

/// The decoder.
#[derive(Debug)]
pub(crate) struct SseDecoder {
    event_bytes_max: usize,
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    after_carriage_return: bool,
    at_first_line: bool,
}

impl SseDecoder {
    /// Makes a decoder that refuses lines and events beyond a size.
    pub(crate) fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_carriage_return: false,
            at_first_line: true,
        }
    }

    /// Takes bytes and hands each completed event to `sink`.
    ///
    /// # Errors
    /// [`SseError`]; the decoder is of no use afterwards.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(SseEvent)) -> Result<(), SseError> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_carriage_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + part.len() > self.event_bytes_max {
                return Err(SseError::TooLarge { event_bytes_max: self.event_bytes_max });
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(()) };
            self.after_carriage_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.end_of_line(&mut sink)?;
        }
        Ok(())
    }

    /// Returns the event that the end of the stream left open, if it has data.
    ///
    /// # Errors
    /// [`SseError`].
    pub(crate) fn finish(mut self) -> Result<Option<SseEvent>, SseError> {
        let mut last = None;
        if !self.line.is_empty() {
            self.end_of_line(&mut |event| last = Some(event))?;
        }
        self.line.clear();
        self.end_of_line(&mut |event| last = Some(event))?;
        Ok(last)
    }

    fn end_of_line(&mut self, sink: &mut impl FnMut(SseEvent)) -> Result<(), SseError> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let line =
            if std::mem::take(&mut self.at_first_line) { text.trim_start_matches('\u{feff}') } else { &text };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                sink(event);
            }
        } else {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            if field == "data" && std::str::from_utf8(&bytes).is_err() {
                return Err(SseError::NotText);
            }
            self.take_field(field, value.strip_prefix(' ').unwrap_or(value))?;
        }
        self.line = bytes;
        self.line.clear();
        Ok(())
    }

    fn take_field(&mut self, field: &str, value: &str) -> Result<(), SseError> {
        match field {
            "data" => {
                if self.event.data.len() + value.len() >= self.event_bytes_max {
                    return Err(SseError::TooLarge { event_bytes_max: self.event_bytes_max });
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.kind),
            // Comments have an empty field name; ids and retry times serve reconnection, which we do not do.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
