//! Which messages what waits would make, for each target: critical things at once, others at once or as a count at the end
//! of the quiet hours that they began in.

use std::collections::BTreeMap;

use palyra_types::Timestamp;
use palyra_types::delivery::DeliveryKey;

use crate::attention_item::AttentionItem;
use crate::message::NotifyMessage;
use crate::message_key::{count_key, item_key};
use crate::quiet_hours::QuietHours;
use crate::target_name::TargetName;

/// A message that is to be planned, unless it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageCandidate {
    /// Its idempotency id.
    pub key: DeliveryKey,
    /// Where it goes.
    pub target: TargetName,
    /// What it says.
    pub message: NotifyMessage,
    /// When it may be sent.
    pub due: Timestamp,
}

/// Returns every message for what waits. An item is in exactly one message for each target, which follows from the time at
/// which it began to wait: so a restart, or the end of quiet hours while the daemon was away, changes nothing.
#[must_use]
pub fn candidates(
    targets: &[TargetName],
    quiet: Option<&QuietHours>,
    items: &[AttentionItem],
) -> Vec<MessageCandidate> {
    let mut alone = Vec::new();
    let mut counted: BTreeMap<Timestamp, usize> = BTreeMap::new();
    for item in items {
        let span = quiet.filter(|_| !item.is_critical()).and_then(|quiet| quiet.span_at(item.since));
        match span {
            Some(span) => *counted.entry(span.end).or_default() += 1,
            None => alone.push(item),
        }
    }
    let of_target = |target: &TargetName| {
        let alone = alone.iter().map(|item| MessageCandidate {
            key: item_key(target, item.subject),
            target: target.clone(),
            message: NotifyMessage::Item((*item).clone()),
            due: item.since,
        });
        let counts = counted.iter().map(|(end, items)| MessageCandidate {
            key: count_key(target, *end),
            target: target.clone(),
            message: NotifyMessage::Count { items: *items, since: *end },
            due: *end,
        });
        alone.chain(counts).collect::<Vec<_>>()
    };
    targets.iter().flat_map(of_target).collect()
}

#[cfg(test)]
mod tests;
