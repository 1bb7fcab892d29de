//! The idempotency ids of messages: the same message to the same target has the same id in each process.

use palyra_types::Timestamp;
use palyra_types::delivery::DeliveryKey;
use sha2::{Digest, Sha256};

use crate::attention_item::AttentionSubject;
use crate::target_name::TargetName;

const ITEM: &[u8] = b"palyra/notify/item/v1";
const COUNT: &[u8] = b"palyra/notify/count/v1";
const TEST: &[u8] = b"palyra/notify/test/v1";

pub(crate) fn item_key(target: &TargetName, subject: AttentionSubject) -> DeliveryKey {
    key(ITEM, target, &subject.identity())
}

pub(crate) fn count_key(target: &TargetName, quiet_until: Timestamp) -> DeliveryKey {
    key(COUNT, target, &quiet_until.0.to_be_bytes())
}

/// Returns the id of a test message; two that are asked for in the same microsecond are one.
#[must_use]
pub fn test_key(target: &TargetName, asked: Timestamp) -> DeliveryKey {
    key(TEST, target, &asked.0.to_be_bytes())
}

fn key(domain: &[u8], target: &TargetName, identity: &[u8]) -> DeliveryKey {
    let mut hash = Sha256::new();
    for part in [domain, target.kind.as_str().as_bytes(), target.name.as_bytes(), identity] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    DeliveryKey(std::array::from_fn(|index| digest[index]))
}
