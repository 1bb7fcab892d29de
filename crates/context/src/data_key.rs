//! Nonces for the delimiters of data parts.
//!
//! Invariant: equal for one part each time it is rendered, so that a provider's prompt cache can serve what comes before;
//! different for each part and each run; computed by none who has not the key.

use hmac::{Hmac, KeyInit, Mac};
use palyra_types::data_delimiter::DataDelimiter;
use palyra_types::{Redacted, TapeSeq};
use sha2::Sha256;

/// Separates this use of HMAC-SHA-256 (RFC 2104) from each other one.
const DOMAIN: &[u8] = b"palyra/data-delimiter/v1\n";

/// The key of a run's delimiters: the random salt that its first entry records.
#[derive(Debug, Clone, Default)]
pub struct DataKey(Redacted<[u8; 32]>);

/// A part of data within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataPart {
    /// The entry that brought it.
    pub entry: TapeSeq,
    /// Its place among the parts of that entry, from 0.
    pub place: u32,
}

impl DataKey {
    /// Makes the key of a run from its salt.
    #[must_use]
    pub fn new(run_salt: &Redacted<[u8; 32]>) -> Self {
        Self(run_salt.clone())
    }

    /// Returns the delimiter of one part.
    #[must_use]
    pub fn delimiter(&self, part: DataPart) -> DataDelimiter {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose()).unwrap_or_else(
            |never: hmac::digest::InvalidLength| unreachable!("HMAC takes keys of any length: {never}"),
        );
        mac.update(DOMAIN);
        mac.update(&part.entry.0.to_be_bytes());
        mac.update(&part.place.to_be_bytes());
        let code: [u8; 32] = mac.finalize().into_bytes().into();
        let mut nonce = [0; 8];
        nonce.copy_from_slice(&code[..8]);
        DataDelimiter(nonce)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn key(byte: u8) -> DataKey {
        DataKey::new(&Redacted::cleaned([byte; 32]))
    }

    #[test]
    fn each_part_of_each_run_has_a_delimiter_of_its_own_that_stays() {
        let parts = || {
            [(1, 0), (1, 1), (2, 0), (256, 0)].map(|(entry, place)| DataPart { entry: TapeSeq(entry), place })
        };
        let all: BTreeSet<[u8; 8]> =
            [key(1), key(2)].iter().flat_map(|key| parts().map(|part| key.delimiter(part).0)).collect();
        assert_eq!(all.len(), 8);
        let again: Vec<_> = parts().iter().map(|part| key(1).delimiter(*part)).collect();
        assert!(again.iter().all(|delimiter| all.contains(&delimiter.0)));
    }
}
