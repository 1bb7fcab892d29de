//! Envelope v1: the fixed big-endian header of an entry, with its facts behind it.
//!
//! Owns the layout and its strictness. Does not know what facts mean. Invariant: `decode` accepts exactly
//! the byte strings that `encode` makes. Begin at [`Envelope`].

use palyra_types::{Epoch, LogId, PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

use crate::leaf::LeafHash;

/// Size of an encoded envelope, at most.
pub const ENVELOPE_BYTES_MAX: usize = 4_096;
/// Size of everything before the facts.
pub const HEADER_BYTES: usize = 162;
/// Size of the facts, at most.
pub const FACTS_BYTES_MAX: usize = ENVELOPE_BYTES_MAX - HEADER_BYTES;

const VERSION: u8 = 1;
const FLAG_HAS_PAYLOAD: u8 = 0b01;
const FLAG_REDACTED: u8 = 0b10;

/// The part of an entry that is hashed and stays for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Whether the redactor changed the payload before it was committed to.
    pub redaction: RedactionMark,
    /// Number in the registry of kinds.
    pub kind: u16,
    /// The start that wrote it.
    pub epoch: Epoch,
    /// Leaf index, from 0.
    pub seq: Seq,
    /// When it was written; informative.
    pub time: Timestamp,
    /// Which log.
    pub log_id: LogId,
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// Its session.
    pub session: Option<SessionId>,
    /// Its run and place on the tape.
    pub run: Option<(RunId, TapeSeq)>,
    /// Number of the redaction rule set in force; 0 for none.
    pub redaction_ruleset: u32,
    /// The previous leaf; zero for the first entry alone.
    pub prev: LeafHash,
    /// Commitment to the payload; `None` when there never was one.
    pub commitment: Option<[u8; 32]>,
    /// Canonical facts.
    pub facts: Vec<u8>,
}

/// Whether the redactor changed a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RedactionMark {
    /// It did not.
    #[default]
    Untouched,
    /// It did.
    Redacted,
}

/// Why bytes are not an envelope, or a value cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// More than [`ENVELOPE_BYTES_MAX`].
    #[error("the envelope is larger than {ENVELOPE_BYTES_MAX} bytes")]
    TooLarge,
    /// The length does not agree with the header.
    #[error("the envelope has {got} bytes where its header says {expected}")]
    Length {
        /// As the header says.
        expected: usize,
        /// As it is.
        got: usize,
    },
    /// A version that this code does not know.
    #[error("the envelope has version {0}")]
    Version(u8),
    /// A field contradicts another, or has a value outside its range.
    #[error("the envelope's {0} is not canonical")]
    NotCanonical(&'static str),
}

impl Envelope {
    /// Returns the one encoding of this value.
    ///
    /// # Errors
    /// When the value cannot be an envelope: see [`EnvelopeError::NotCanonical`] and the cap on facts.
    pub fn encode(&self) -> Result<Vec<u8>, EnvelopeError> {
        let mut out = Vec::with_capacity(HEADER_BYTES + self.facts.len());
        self.encode_into(&mut out)?;
        Ok(out)
    }

    /// Appends the one encoding of this value to `out`.
    ///
    /// # Errors
    /// As [`Envelope::encode`]; `out` is then unchanged.
    pub fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), EnvelopeError> {
        self.check()?;
        let facts_len = u16::try_from(self.facts.len()).map_err(|_| EnvelopeError::TooLarge)?;
        let (run, tape_seq) = self.run.unwrap_or((RunId::NIL, TapeSeq(0)));
        out.extend_from_slice(&[VERSION, self.flags()]);
        out.extend_from_slice(&self.kind.to_be_bytes());
        out.extend_from_slice(&self.epoch.0.to_be_bytes());
        out.extend_from_slice(&self.seq.0.to_be_bytes());
        out.extend_from_slice(&self.time.0.to_be_bytes());
        out.extend_from_slice(&self.log_id.0);
        out.extend_from_slice(&self.principal.to_bytes());
        out.extend_from_slice(&self.session.unwrap_or(SessionId::NIL).to_bytes());
        out.extend_from_slice(&run.to_bytes());
        out.extend_from_slice(&tape_seq.0.to_be_bytes());
        out.extend_from_slice(&self.redaction_ruleset.to_be_bytes());
        out.extend_from_slice(&self.prev.0);
        out.extend_from_slice(&self.commitment.unwrap_or_default());
        out.extend_from_slice(&facts_len.to_be_bytes());
        out.extend_from_slice(&self.facts);
        Ok(())
    }

    /// Reads an envelope.
    ///
    /// # Errors
    /// For every byte string that [`Envelope::encode`] does not make.
    pub fn decode(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        if bytes.len() > ENVELOPE_BYTES_MAX {
            return Err(EnvelopeError::TooLarge);
        }
        let short = EnvelopeError::Length { expected: HEADER_BYTES, got: bytes.len() };
        let (header, facts) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(short)?;
        let mut fields = Fields(header);
        let version = u8::from_be_bytes(fields.take());
        if version != VERSION {
            return Err(EnvelopeError::Version(version));
        }
        let flags = u8::from_be_bytes(fields.take());
        let envelope = fields.read(flags, facts)?;
        envelope.check()?;
        Ok(envelope)
    }

    fn flags(&self) -> u8 {
        let payload = if self.commitment.is_some() { FLAG_HAS_PAYLOAD } else { 0 };
        match self.redaction {
            RedactionMark::Untouched => payload,
            RedactionMark::Redacted => payload | FLAG_REDACTED,
        }
    }

    /// The rules that tie fields to each other; both directions pass through here.
    fn check(&self) -> Result<(), EnvelopeError> {
        let rules = [
            (self.facts.len() <= FACTS_BYTES_MAX, "facts_len"),
            ((self.seq.0 == 0) == (self.prev == LeafHash::ZERO), "prev"),
            (self.commitment != Some([0; 32]), "commitment"),
            (self.redaction == RedactionMark::Untouched || self.commitment.is_some(), "redacted flag"),
            (self.session != Some(SessionId::NIL), "session"),
            (self.run.is_none_or(|(run, at)| run != RunId::NIL && at.0 != 0), "run"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, "facts_len")) => Err(EnvelopeError::TooLarge),
            Some((_, what)) => Err(EnvelopeError::NotCanonical(what)),
            None => Ok(()),
        }
    }
}

/// A cursor over the fixed header.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk::<N>().expect("the header's fields add up to its size");
        self.0 = rest;
        *head
    }

    fn read(&mut self, flags: u8, facts: &[u8]) -> Result<Envelope, EnvelopeError> {
        if flags & !(FLAG_HAS_PAYLOAD | FLAG_REDACTED) != 0 {
            return Err(EnvelopeError::NotCanonical("flags"));
        }
        let kind = u16::from_be_bytes(self.take());
        let epoch = Epoch(u32::from_be_bytes(self.take()));
        let seq = Seq(u64::from_be_bytes(self.take()));
        let time = Timestamp(i64::from_be_bytes(self.take()));
        let log_id = LogId(self.take());
        let principal = PrincipalId::from_bytes(self.take());
        let session = SessionId::from_bytes_or_none(self.take());
        let run = RunId::from_bytes_or_none(self.take());
        let tape_seq = TapeSeq(u32::from_be_bytes(self.take()));
        let redaction_ruleset = u32::from_be_bytes(self.take());
        let prev = LeafHash(self.take());
        let commitment: [u8; 32] = self.take();
        let facts_len = usize::from(u16::from_be_bytes(self.take()));
        if facts.len() != facts_len {
            let [expected, got] = [facts_len, facts.len()].map(|len| HEADER_BYTES + len);
            return Err(EnvelopeError::Length { expected, got });
        }
        let run = match (run, tape_seq) {
            (Some(run), tape_seq) => Some((run, tape_seq)),
            (None, TapeSeq(0)) => None,
            (None, TapeSeq(_)) => return Err(EnvelopeError::NotCanonical("tape_seq")),
        };
        let commitment = match (flags & FLAG_HAS_PAYLOAD != 0, commitment) {
            (true, commitment) => Some(commitment),
            (false, commitment) if commitment == [0; 32] => None,
            (false, _) => return Err(EnvelopeError::NotCanonical("has_payload flag")),
        };
        let redaction =
            if flags & FLAG_REDACTED == 0 { RedactionMark::Untouched } else { RedactionMark::Redacted };
        Ok(Envelope {
            redaction,
            kind,
            epoch,
            seq,
            time,
            log_id,
            principal,
            session,
            run,
            redaction_ruleset,
            prev,
            commitment,
            facts: facts.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests;
