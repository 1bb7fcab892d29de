//! Every string that separates one use of a hash from another. Nothing else, and nowhere else.
//!
//! Invariant: none is a prefix of another, each ends in a line feed, and none ever changes its meaning.

/// Of the commitment to an entry's payload.
pub const PAYLOAD: &[u8] = b"palyra/payload/v1\n";
/// Of digests of content, keyed by the run's salt.
pub const DIGEST: &[u8] = b"palyra/digest/v1\n";
/// Of digests of clients' idempotency keys.
pub const IDEMPOTENCY: &[u8] = b"palyra/idempotency/v1\n";
/// Of what an approval is bound to, keyed by the run's salt.
pub const BINDING: &[u8] = b"palyra/binding/v1\n";
/// Of the key of one effect.
pub const EFFECT: &[u8] = b"palyra/effect/v1\n";
/// Of the id of a log that began in the journal's format 1, which had no tree.
pub const LOG_V1: &[u8] = b"palyra/log/v1\n";
/// Of a log's id.
pub const LOG_V2: &[u8] = b"palyra/log/v2\n";

/// What RFC 6962 puts before a leaf.
pub const LEAF_PREFIX: u8 = 0x00;
/// What RFC 6962 puts before the two hashes of a node.
pub const NODE_PREFIX: u8 = 0x01;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_domain_begins_another() {
        let all = [PAYLOAD, DIGEST, IDEMPOTENCY, BINDING, EFFECT, LOG_V1, LOG_V2];
        for (i, a) in all.iter().enumerate() {
            assert_eq!(a.last(), Some(&b'\n'));
            for (j, b) in all.iter().enumerate() {
                assert!(i == j || !a.starts_with(b));
            }
        }
    }
}
