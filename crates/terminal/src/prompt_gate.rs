//! Decides which typed bytes are an answer to a prompt.
//!
//! Owns the order of silence, drawing and reading. Knows no terminal and no clock: bytes, time and requests arrive as
//! calls, and what the terminal has to do leaves as [`GateAction`]s, to be performed in their order before the next
//! read.
//!
//! Invariant: every byte of an accepted answer arrived after its prompt was drawn, and the prompt was drawn after
//! [`SILENCE`] without input. Begin at [`PromptGate::ask`].

use std::time::Duration;

/// How long no input may come before a prompt is drawn.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);

/// A longer answer is refused as a whole.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// What the terminal has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateAction {
    /// Drop all input that has arrived.
    Discard,
    /// Show the prompt.
    Draw,
    /// Show that an answer can be typed now.
    Mark,
}

/// What came of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GateReply {
    /// A line, without its end.
    Answer(Vec<u8>),
    /// The end of the input.
    End,
}

/// A gate between a terminal's input and one prompt at a time. Times are spans since any fixed moment.
#[derive(Debug, Default)]
pub(crate) struct PromptGate {
    phase: GatePhase,
}

#[derive(Debug, Default)]
enum GatePhase {
    /// No prompt: input does not answer anything.
    #[default]
    Closed,
    /// A prompt waits for silence; the last input came at this time, or before.
    Settling(Duration),
    /// The prompt is drawn; this much of an answer was typed.
    Open(Vec<u8>),
}

impl PromptGate {
    /// Begins a prompt in place of the one before; a half-typed answer to that is dropped.
    pub(crate) fn ask(&mut self, now: Duration) -> &'static [GateAction] {
        self.phase = GatePhase::Settling(now);
        &[GateAction::Discard]
    }

    /// Ends the prompt without an answer.
    pub(crate) fn withdraw(&mut self) {
        self.phase = GatePhase::Closed;
    }

    /// Takes what was read, nothing at the end of the input. Input before the prompt is dropped and delays it.
    pub(crate) fn received(&mut self, bytes: &[u8], now: Duration) -> Option<GateReply> {
        match &mut self.phase {
            GatePhase::Closed => None,
            GatePhase::Settling(_) | GatePhase::Open(_) if bytes.is_empty() => self.close(GateReply::End),
            GatePhase::Settling(_) => {
                self.phase = GatePhase::Settling(now);
                None
            }
            GatePhase::Open(line) => {
                let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                let room = ANSWER_BYTES_MAX.saturating_sub(line.len());
                let part = &bytes[..end.unwrap_or(bytes.len())];
                if part.len() > room {
                    return self.close(GateReply::Answer(Vec::new()));
                }
                line.extend_from_slice(part);
                let line = std::mem::take(line);
                if end.is_some() {
                    return self.close(GateReply::Answer(line));
                }
                self.phase = GatePhase::Open(line);
                None
            }
        }
    }

    /// Takes note that nothing more was there to read at `now`; draws the prompt once the silence was long enough.
    pub(crate) fn nothing_to_read(&mut self, now: Duration) -> &'static [GateAction] {
        match self.phase {
            GatePhase::Settling(last) if now.saturating_sub(last) >= SILENCE => {
                self.phase = GatePhase::Open(Vec::new());
                // What arrives while it is drawn is older than the whole prompt.
                &[GateAction::Draw, GateAction::Discard, GateAction::Mark]
            }
            GatePhase::Settling(_) | GatePhase::Closed | GatePhase::Open(_) => &[],
        }
    }

    /// Returns how long to wait for input before [`nothing_to_read`](Self::nothing_to_read); `None` without a limit.
    pub(crate) fn wait(&self, now: Duration) -> Option<Duration> {
        match self.phase {
            GatePhase::Settling(last) => Some((last + SILENCE).saturating_sub(now)),
            GatePhase::Closed | GatePhase::Open(_) => None,
        }
    }

    /// Returns whether the prompt is drawn and takes an answer.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, GatePhase::Open(_))
    }

    fn close(&mut self, reply: GateReply) -> Option<GateReply> {
        self.phase = GatePhase::Closed;
        Some(reply)
    }
}

#[cfg(test)]
mod tests;
