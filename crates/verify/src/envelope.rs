//! The envelope of an entry: a fixed header, then facts.
//!
//! Owns the layout of docs/journal-format.md, section 2. Knows nothing of the entries around it.

use crate::digest::{Hash, LogId};
use crate::limits::ENVELOPE_BYTES_MAX;

/// Bytes before the facts.
const HEADER_BYTES: usize = 162;
const HAS_PAYLOAD: u8 = 1;
const REDACTED: u8 = 2;
/// Kinds below this have no payload and cannot be erased.
const FIRST_KIND_WITH_CONTENT: u16 = 0x0010;

/// An envelope, taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Envelope<'a> {
    version: u8,
    flags: u8,
    pub(crate) kind: u16,
    pub(crate) epoch: u32,
    pub(crate) seq: u64,
    /// Microseconds UTC.
    pub(crate) time: i64,
    pub(crate) log_id: LogId,
    pub(crate) run: [u8; 16],
    pub(crate) tape_seq: u32,
    pub(crate) prev: Hash,
    pub(crate) commitment: Hash,
    facts_len: u16,
    pub(crate) facts: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Takes the envelope apart; `None` where it is too short or too long for that.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return None;
        }
        let (header, facts) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let mut at = HeaderReader(header);
        let [version, flags] = at.take();
        let (kind, epoch) = (u16::from_be_bytes(at.take()), u32::from_be_bytes(at.take()));
        let (seq, time) = (u64::from_be_bytes(at.take()), i64::from_be_bytes(at.take()));
        let log_id = at.take();
        let (_principal, _session): ([u8; 16], [u8; 16]) = (at.take(), at.take());
        let run = at.take();
        let (tape_seq, _rules) = (u32::from_be_bytes(at.take()), u32::from_be_bytes(at.take()));
        let (prev, commitment, facts_len) = (at.take(), at.take(), u16::from_be_bytes(at.take()));
        Some(Self {
            version,
            flags,
            kind,
            epoch,
            seq,
            time,
            log_id,
            run,
            tape_seq,
            prev,
            commitment,
            facts_len,
            facts,
        })
    }

    pub(crate) fn has_payload(&self) -> bool {
        self.flags & HAS_PAYLOAD != 0
    }

    pub(crate) fn has_run(&self) -> bool {
        self.run != [0; 16]
    }

    /// Returns which rule on a single envelope this one breaks.
    pub(crate) fn broken_rule(&self) -> Option<&'static str> {
        let rules = [
            (self.version == 1, "is of another version"),
            (self.flags & !(HAS_PAYLOAD | REDACTED) == 0, "has unknown flags"),
            (self.epoch > 0, "is of no epoch"),
            (self.has_run() == (self.tape_seq > 0), "has a tape number without a run, or the reverse"),
            (
                self.has_payload() == (self.commitment != [0; 32]),
                "has a commitment without a payload, or the reverse",
            ),
            (usize::from(self.facts_len) == self.facts.len(), "says another length of its facts"),
            (
                self.kind >= FIRST_KIND_WITH_CONTENT || !self.has_payload(),
                "is of a kind that has no payload, with one",
            ),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, what)| what)
    }
}

/// Reads a fixed header from its front.
struct HeaderReader<'a>(&'a [u8]);

impl HeaderReader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((head, rest)) = self.0.split_first_chunk::<N>() else { return [0; N] };
        self.0 = rest;
        *head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_162_bytes_and_the_facts_follow() {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[0] = 1;
        bytes[7] = 9;
        bytes[161] = 2;
        bytes.extend([8, 1]);
        let envelope = Envelope::parse(&bytes).expect("long enough");
        assert_eq!((envelope.epoch, envelope.facts), (9, &[8, 1][..]));
        assert_eq!(envelope.broken_rule(), None);
        assert!(Envelope::parse(&bytes[..161]).is_none());
        bytes.resize(ENVELOPE_BYTES_MAX + 1, 0);
        assert!(Envelope::parse(&bytes).is_none());
    }
}
