//! What is wrong, and which of several wrongs is named.
//!
//! Owns the exit codes. Invariant: the named fault is the one of the lowest seq, and of the lowest code at that
//! seq; faults that belong to no entry come last.

use std::fmt;

/// The kinds of fault; the numbers are exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum FaultCode {
    /// An entry does not match its leaf, commitment, columns or proof.
    Mismatch = 10,
    /// Fewer entries than a signed head, the frontier or rows beside the log say.
    Truncated = 11,
    /// Shorter than the checkpoint that somebody kept.
    RolledBack = 12,
    /// Another history than a signed head, or than the checkpoint that somebody kept.
    Forked = 13,
    /// A signature is bad, missing or of a key that nobody vouched for.
    Signature = 14,
    /// A payload is missing and no erasure covers it.
    Missing = 15,
    /// Not a journal, unreadable, or out of shape.
    Malformed = 16,
    /// A tool did what no decision in the log permits.
    Attestation = 17,
}

impl FaultCode {
    /// Returns the exit code.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for FaultCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mismatch => "mismatch",
            Self::Truncated => "truncated",
            Self::RolledBack => "rolled back",
            Self::Forked => "forked",
            Self::Signature => "signature",
            Self::Missing => "payload missing",
            Self::Malformed => "malformed",
            Self::Attestation => "attestation",
        })
    }
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFault {
    /// The entry it belongs to; `None` where it belongs to none.
    pub seq: Option<u64>,
    /// Its kind.
    pub code: FaultCode,
    /// What was seen, in words.
    pub what: String,
}

impl LogFault {
    fn rank(seq: Option<u64>, code: FaultCode) -> (bool, u64, FaultCode) {
        (seq.is_none(), seq.unwrap_or_default(), code)
    }
}

/// The first fault so far, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct FaultCount {
    first: Option<LogFault>,
    count: u64,
}

impl FaultCount {
    /// Notes a fault; `what` is only asked for when it becomes the first.
    pub(crate) fn add(
        &mut self,
        seq: impl Into<Option<u64>>,
        code: FaultCode,
        what: impl FnOnce() -> String,
    ) {
        let seq = seq.into();
        self.count += 1;
        let better =
            self.first.as_ref().is_none_or(|f| LogFault::rank(seq, code) < LogFault::rank(f.seq, f.code));
        if better {
            self.first = Some(LogFault { seq, code, what: what() });
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn into_first(self) -> Option<LogFault> {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_seq_is_named_then_the_lowest_code() {
        let mut faults = FaultCount::default();
        faults.add(None, FaultCode::Mismatch, || "beside the log".to_owned());
        faults.add(7, FaultCode::Signature, || "late".to_owned());
        faults.add(5, FaultCode::Malformed, || "shape".to_owned());
        faults.add(5, FaultCode::Mismatch, || "leaf".to_owned());
        assert_eq!(faults.count(), 4);
        let first = faults.into_first().expect("there are some");
        assert_eq!((first.seq, first.code, first.what.as_str()), (Some(5), FaultCode::Mismatch, "leaf"));
    }
}
