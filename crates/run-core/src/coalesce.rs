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
    use proptest::prelude::*;

    use super::*;

    /// Streams pieces, each so many milliseconds after the one before, and wakes at each deadline as a caller
    /// does; returns when each entry went out, and with how many bytes.
    fn stream(pieces: &[(u64, usize)]) -> Vec<(u64, usize)> {
        let mut coalescer = TextCoalescer::default();
        let mut entries = Vec::new();
        let mut now_ms = 0;
        for (pause_ms, bytes) in pieces {
            now_ms += pause_ms;
            let now = BootTime(now_ms * 1_000);
            while let Some(due) = coalescer.deadline().filter(|due| *due <= now) {
                let text = coalescer.flush(due).expect("a deadline means that something is held");
                entries.push((due.0 / 1_000, text.expose().len()));
            }
            entries
                .extend(coalescer.push(&"x".repeat(*bytes), now).map(|text| (now_ms, text.expose().len())));
        }
        entries.extend(coalescer.flush(BootTime(now_ms * 1_000)).map(|text| (now_ms, text.expose().len())));
        entries
    }

    proptest! {
        #[test]
        fn nothing_is_lost_nothing_waits_long_and_entries_are_few(
            pieces in proptest::collection::vec((0..400_u64, 1..700_usize), 1..60)
        ) {
            let entries = stream(&pieces);
            let sent: usize = entries.iter().map(|(_, bytes)| bytes).sum();
            prop_assert_eq!(sent, pieces.iter().map(|(_, bytes)| bytes).sum::<usize>());
            prop_assert_eq!(entries[0], (pieces[0].0, pieces[0].1), "the first piece goes out at once");
            let start = entries[0].0;
            for pair in entries[..entries.len() - 1].windows(2) {
                let pause = if pair[0].0 - start < 1_000 { 50 } else { 150 };
                let early = pair[1].0 - pair[0].0 < pause;
                prop_assert!(!early || pair[1].1 >= HELD_BYTES_MAX, "{pair:?} came too soon");
            }
            let mut arrived = 0;
            let mut now_ms = 0;
            for (pause_ms, bytes) in &pieces {
                now_ms += pause_ms;
                arrived += bytes;
                let within = entries.iter().filter(|(at, _)| *at <= now_ms + 150);
                prop_assert!(within.map(|(_, bytes)| bytes).sum::<usize>() >= arrived, "held back too long");
                let by_now = entries.iter().filter(|(at, _)| *at <= now_ms);
                prop_assert!(arrived - by_now.map(|(_, bytes)| bytes).sum::<usize>().min(arrived) < HELD_BYTES_MAX);
            }
        }
    }

    #[test]
    fn the_pause_grows_after_the_first_second() {
        let steady: Vec<(u64, usize)> = (0..300).map(|piece| (if piece == 0 { 0 } else { 10 }, 1)).collect();
        let entries = stream(&steady);
        let times: Vec<u64> = entries.iter().map(|(at, _)| *at).collect();
        assert_eq!(times[..4], [0, 50, 100, 150]);
        assert!(times.windows(2).any(|pair| pair == [1_000, 1_150]), "{times:?}");
    }

    #[test]
    fn a_piece_that_comes_at_the_deadline_takes_the_held_ones_along() {
        let mut coalescer = TextCoalescer::default();
        coalescer.push("a", BootTime(0));
        coalescer.push("b", BootTime(10_000));
        assert_eq!(coalescer.push("c", BootTime(50_000)), Some("bc".into()));
    }

    #[test]
    fn a_flush_of_nothing_is_nothing() {
        let mut coalescer = TextCoalescer::default();
        assert_eq!((coalescer.flush(BootTime(1)), coalescer.deadline()), (None, None));
        assert_eq!(coalescer.push("", BootTime(2)), None);
        assert!(coalescer.push("a", BootTime(3)).is_some());
        assert_eq!(coalescer.deadline(), None, "nothing is held");
    }

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
        assert!(coalescer.push(&"c".repeat(HELD_BYTES_MAX - 1), BootTime(9)).is_some());
    }
}
