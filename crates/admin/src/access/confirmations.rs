//! One-time codes with which an owner confirms one change that is asked for over the network.
//!
//! Codes are made at the daemon's own socket, live a minute, and confirm one call. Invariant: only digests are kept, in
//! memory; a restart ends every code. Begin at [`AccessHandle::create_confirmation`].

use std::sync::Mutex;
use std::time::Duration;

use palyra_types::{BootTime, Content};

use super::AccessHandle;

/// How long a code holds.
pub const CONFIRMATION_SPAN: Duration = Duration::from_secs(60);
/// Codes that hold at once; a further one ends the oldest.
const CODES_MAX: usize = 8;
/// Wrong codes after which all that hold are ended, so that none is found by trying.
const WRONG_CODES_MAX: u32 = 10;
/// Letters of a code: no letter that looks like another, so that it can be typed.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE_LETTERS: usize = 10;

/// The codes that hold.
#[derive(Debug, Default)]
pub(super) struct ConfirmationCodes {
    state: Mutex<CodeState>,
}

#[derive(Debug, Default)]
struct CodeState {
    /// Digest and end of each, oldest first.
    codes: Vec<([u8; 32], BootTime)>,
    wrong: u32,
}

impl ConfirmationCodes {
    fn add(&self, code: &str, now: BootTime) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.codes.retain(|(_, ends)| now < *ends);
        if state.codes.len() >= CODES_MAX {
            state.codes.remove(0);
        }
        state.codes.push((palyra_ledger::sha256(code.as_bytes()), now.after(CONFIRMATION_SPAN)));
        state.wrong = 0;
    }

    /// Takes a code; whether it was valid. It is never valid again.
    fn take(&self, code: &str, now: BootTime) -> bool {
        let digest = palyra_ledger::sha256(code.as_bytes());
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.codes.retain(|(_, ends)| now < *ends);
        if let Some(at) =
            state.codes.iter().position(|(known, _)| super::snapshot::same_digest(known, &digest))
        {
            state.codes.remove(at);
            return true;
        }
        state.wrong = state.wrong.saturating_add(1);
        if state.wrong >= WRONG_CODES_MAX {
            state.codes.clear();
        }
        false
    }
}

impl AccessHandle {
    /// Makes a code; it is shown once.
    #[must_use]
    pub fn create_confirmation(&self) -> Content<String> {
        let random = self.ports.entropy.bytes32();
        let letters =
            random.iter().take(CODE_LETTERS).map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
        let code: String = letters.collect();
        self.confirmations.add(&code, self.ports.clock.boot());
        let (first, second) = code.split_at(CODE_LETTERS / 2);
        Content::new(format!("{first}-{second}"))
    }

    /// Takes a code as a person typed it; whether it was valid until now.
    #[must_use]
    pub fn redeem_confirmation(&self, typed: &str) -> bool {
        if typed.len() > 4 * CODE_LETTERS {
            return false;
        }
        let code = typed.replace(['-', ' '], "").to_ascii_uppercase();
        self.confirmations.take(&code, self.ports.clock.boot())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootTime {
        BootTime::default().after(Duration::from_secs(seconds))
    }

    #[test]
    fn a_code_holds_once_and_for_a_minute() {
        let codes = ConfirmationCodes::default();
        codes.add("AAAAA", at(0));
        assert!(codes.take("AAAAA", at(59)));
        assert!(!codes.take("AAAAA", at(59)), "a second time");
        codes.add("BBBBB", at(0));
        assert!(!codes.take("BBBBB", at(60)), "a minute later");
    }

    #[test]
    fn trying_ends_every_code() {
        let codes = ConfirmationCodes::default();
        codes.add("AAAAA", at(0));
        for n in 0..WRONG_CODES_MAX {
            assert!(!codes.take(&format!("X{n}"), at(1)));
        }
        assert!(!codes.take("AAAAA", at(1)));
        codes.add("BBBBB", at(2));
        assert!(codes.take("BBBBB", at(2)), "the control: a new one holds");
    }

    #[test]
    fn a_code_too_many_ends_the_oldest() {
        let codes = ConfirmationCodes::default();
        (0..=CODES_MAX).for_each(|n| codes.add(&n.to_string(), at(0)));
        assert!(!codes.take("0", at(1)) && codes.take("1", at(1)));
    }
}
