//! Gathers text that comes in pieces into few entries.
//!
//! A model's first piece goes out at once; then one entry each 50 ms in the first second and each 150 ms after, or
//! at 1 KiB if that is sooner. What a tool prints is held for a moment first, so that a quick call has no entry but
//! its outcome, and the pauses grow, so that one that prints for minutes does not run out of entries. Owns only the
//! text held back; who waits for the deadline is the caller's affair.

use std::time::Duration;

use palyra_types::{BootTime, Redacted};

/// The pause between entries in the first second.
pub const EARLY_PAUSE: Duration = Duration::from_millis(50);
/// The pause between entries after it.
pub const LATE_PAUSE: Duration = Duration::from_millis(150);
/// How long the first pause holds.
pub const EARLY_SPAN: Duration = Duration::from_secs(1);
/// Text of a model is not held back beyond this.
pub const HELD_BYTES_MAX: usize = 1_024;

/// How long what a tool prints is held, by how long ago it printed first: the pause holds up to that time. A tool that
/// prints for ten minutes without a break is shown in fewer entries than
/// [`OUTPUT_PIECES_MAX`](crate::machine::OUTPUT_PIECES_MAX).
const TOOL_PAUSES: [(Duration, Duration); 3] = [
    (Duration::from_secs(1), Duration::from_millis(100)),
    (Duration::from_secs(5), Duration::from_millis(200)),
    (Duration::from_secs(30), Duration::from_millis(500)),
];
/// The pause after the last of them.
const TOOL_PAUSE_MAX: Duration = Duration::from_secs(4);

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextSource {
    #[default]
    Model,
    Tool,
}

impl TextSource {
    fn pause(self, since_first: Duration) -> Duration {
        match self {
            Self::Model if since_first < EARLY_SPAN => EARLY_PAUSE,
            Self::Model => LATE_PAUSE,
            Self::Tool => {
                let step = TOOL_PAUSES.iter().find(|(upto, _)| since_first < *upto);
                step.map_or(TOOL_PAUSE_MAX, |(_, pause)| *pause)
            }
        }
    }

    /// A tool that prints much has no more entries than one that prints little.
    fn buffer_bytes_max(self) -> usize {
        match self {
            Self::Model => HELD_BYTES_MAX,
            Self::Tool => usize::MAX,
        }
    }
}

/// Holds back text of one attempt, or of one call.
#[derive(Debug, Default)]
pub struct TextCoalescer {
    speaker: TextSource,
    held: Redacted<String>,
    first: Option<BootTime>,
    last: Option<BootTime>,
}

impl TextCoalescer {
    /// Makes one for what a tool prints.
    #[must_use]
    pub fn of_tool() -> Self {
        Self { speaker: TextSource::Tool, ..Self::default() }
    }

    /// Takes a piece; returns text that is due now.
    pub fn push(&mut self, piece: &Redacted<String>, now: BootTime) -> Option<Redacted<String>> {
        self.held.push(piece);
        if self.speaker == TextSource::Tool && !self.held.expose().is_empty() {
            self.first.get_or_insert(now);
            self.last.get_or_insert(now);
        }
        let due = match self.deadline() {
            None => self.last.is_none(),
            Some(deadline) => now >= deadline || self.held.expose().len() >= self.speaker.buffer_bytes_max(),
        };
        if due { self.flush(now) } else { None }
    }

    /// Returns when the held text is due; `None` when nothing is held or nothing was sent yet.
    #[must_use]
    pub fn deadline(&self) -> Option<BootTime> {
        let (first, last) = (self.first?, self.last?);
        if self.held.expose().is_empty() {
            return None;
        }
        Some(last.after(self.speaker.pause(last.since(first))))
    }

    /// Returns all held text; `None` when there is none.
    pub fn flush(&mut self, now: BootTime) -> Option<Redacted<String>> {
        if self.held.expose().is_empty() {
            return None;
        }
        self.first.get_or_insert(now);
        self.last = Some(now);
        Some(std::mem::take(&mut self.held))
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
            entries.extend(
                coalescer
                    .push(&Redacted::cleaned("x".repeat(*bytes)), now)
                    .map(|text| (now_ms, text.expose().len())),
            );
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
        coalescer.push(&"a".into(), BootTime(0));
        coalescer.push(&"b".into(), BootTime(10_000));
        assert_eq!(coalescer.push(&"c".into(), BootTime(50_000)), Some("bc".into()));
    }

    #[test]
    fn a_flush_of_nothing_is_nothing() {
        let mut coalescer = TextCoalescer::default();
        assert_eq!((coalescer.flush(BootTime(1)), coalescer.deadline()), (None, None));
        assert_eq!(coalescer.push(&"".into(), BootTime(2)), None);
        assert!(coalescer.push(&"a".into(), BootTime(3)).is_some());
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
            out.extend(coalescer.push(&"x".into(), now));
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

    /// Prints a byte each so often for so long; returns when each entry went out.
    fn print(each_ms: u64, for_ms: u64) -> Vec<u64> {
        let mut coalescer = TextCoalescer::of_tool();
        let mut out = Vec::new();
        for now_ms in (0..for_ms).step_by(usize::try_from(each_ms).unwrap()) {
            let now = BootTime(now_ms * 1_000);
            if let Some(due) = coalescer.deadline().filter(|due| *due <= now) {
                out.extend(coalescer.flush(due).map(|_| due.0 / 1_000));
            }
            out.extend(coalescer.push(&"x".into(), now).map(|_| now_ms));
        }
        out
    }

    #[test]
    fn a_tool_that_prints_for_ten_minutes_has_entries_to_the_end() {
        let entries = print(10, 600_000);
        assert!(entries.len() < crate::machine::OUTPUT_PIECES_MAX as usize, "{}", entries.len());
        assert_eq!(entries[..3], [100, 200, 300], "the first is held for a moment, too");
        let pauses: Vec<u64> = entries.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses.is_sorted(), "they only grow: {pauses:?}");
        assert_eq!(pauses.last(), Some(&4_000), "and not beyond this");
    }

    #[test]
    fn a_tool_that_prints_much_has_no_more_entries() {
        let mut coalescer = TextCoalescer::of_tool();
        assert_eq!(coalescer.push(&Redacted::cleaned("x".repeat(1 << 20)), BootTime(5)), None);
        assert_eq!(coalescer.deadline(), Some(BootTime(100_005)));
        assert_eq!(
            coalescer.push(&"".into(), BootTime(100_005)).map(|text| text.expose().len()),
            Some(1 << 20)
        );
    }

    #[test]
    fn the_first_piece_is_not_held_back() {
        let mut coalescer = TextCoalescer::default();
        assert!(coalescer.push(&"a".into(), BootTime(7)).is_some());
        assert!(coalescer.push(&"b".into(), BootTime(8)).is_none());
        assert!(coalescer.push(&Redacted::cleaned("c".repeat(HELD_BYTES_MAX - 1)), BootTime(9)).is_some());
    }
}
