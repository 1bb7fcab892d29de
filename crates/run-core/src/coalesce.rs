//! Gathers the text of a streaming model into few entries.
//!
//! The first piece goes out at once; then one entry each 50 ms in the first second and each 150 ms after, or
//! at 1 KiB if that is sooner. Owns only the text held back; who waits for the deadline is the caller's affair.

use std::time::Duration;

use palyra_types::{BootTime, Redacted};

/// The pause between entries in the first second.
pub const EARLY_PAUSE: Duration = Duration::from_millis(50);
/// The pause between entries after it.
pub const LATE_PAUSE: Duration = Duration::from_millis(150);
/// How long the first pause holds.
pub const EARLY_SPAN: Duration = Duration::from_secs(1);
/// Text is not held back beyond this.
pub const HELD_BYTES_MAX: usize = 1_024;

/// Holds back text of one attempt.
#[derive(Debug, Default)]
pub struct TextCoalescer {
    held: String,
    first: Option<BootTime>,
    last: Option<BootTime>,
}

impl TextCoalescer {
    /// Takes a piece; returns text that is due now.
    pub fn push(&mut self, piece: &str, now: BootTime) -> Option<Redacted<String>> {
        self.held.push_str(piece);
        let due = match self.deadline() {
            None => self.last.is_none(),
            Some(deadline) => now >= deadline || self.held.len() >= HELD_BYTES_MAX,
        };
        if due { self.flush(now) } else { None }
    }

    /// Returns when the held text is due; `None` when nothing is held or nothing was sent yet.
    #[must_use]
    pub fn deadline(&self) -> Option<BootTime> {
        let (first, last) = (self.first?, self.last?);
        if self.held.is_empty() {
            return None;
        }
        let pause = if last.since(first) < EARLY_SPAN { EARLY_PAUSE } else { LATE_PAUSE };
        Some(last.after(pause))
    }

    /// Returns all held text; `None` when there is none.
    pub fn flush(&mut self, now: BootTime) -> Option<Redacted<String>> {
        if self.held.is_empty() {
            return None;
        }
        self.first.get_or_insert(now);
        self.last = Some(now);
        Some(Redacted::new(std::mem::take(&mut self.held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(pieces: u64, pause_ms: u64) -> (usize, String) {
        let mut coalescer = TextCoalescer::default();
        let mut out = Vec::new();
        for piece in 0..pieces {
            let now = BootTime(piece * pause_ms * 1_000);
            if let Some(due) = coalescer.deadline().filter(|due| *due <= now) {
                out.extend(coalescer.flush(due));
            }
            out.extend(coalescer.push("x", now));
        }
        out.extend(coalescer.flush(BootTime(pieces * pause_ms * 1_000)));
        (out.len(), out.into_iter().map(Redacted::into_exposed).collect())
    }

    #[test]
    fn sixty_four_pieces_ten_ms_apart_are_few_entries() {
        let (count, text) = entries(64, 10);
        assert_eq!(text, "x".repeat(64));
        assert_eq!(count, 14);
    }

    #[test]
    fn the_first_piece_is_not_held_back() {
        let mut coalescer = TextCoalescer::default();
        assert!(coalescer.push("a", BootTime(7)).is_some());
        assert!(coalescer.push("b", BootTime(8)).is_none());
        assert!(coalescer.push(&"c".repeat(HELD_BYTES_MAX), BootTime(9)).is_some());
    }
}
