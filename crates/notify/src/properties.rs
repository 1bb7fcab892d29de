//! What holds for every sequence of items, nights and restarts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use palyra_types::Timestamp;
use palyra_types::delivery::DeliveryKey;
use palyra_types::tool::ApprovalRiskLevel;
use proptest::prelude::*;

use crate::fixture::{approval, at, nights, targets};
use crate::{
    AttentionItem, HOURLY_MESSAGES_MAX, NotifyMessage, RecentMessages, TargetName, candidates, plan,
};

const MINUTES: i64 = 60 * 24 * 3;
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Minutes after which an item begins to wait, how long it waits, and whether it is critical.
fn items() -> impl Strategy<Value = Vec<(i64, i64, bool)>> {
    prop::collection::vec((0..MINUTES, 1..2_000_i64, prop::bool::weighted(0.2)), 0..60)
}

fn minute(number: i64) -> Timestamp {
    Timestamp(at("2026-03-27T12:00:00Z").0 + number * 60_000_000)
}

/// A planner that looks at some minutes, with the rows that it recorded.
#[derive(Default)]
struct Outbox {
    planned: Vec<(Timestamp, TargetName, NotifyMessage)>,
    known: BTreeSet<DeliveryKey>,
    recent: RecentMessages,
}

impl Outbox {
    fn look(&mut self, items: &[AttentionItem], now: Timestamp) -> Option<Timestamp> {
        let found = plan(candidates(&targets(), Some(&nights()), items), &self.known, &self.recent, now);
        for candidate in found.due {
            assert!(candidate.due <= now);
            assert!(self.known.insert(candidate.key), "planned twice");
            self.recent.entry(candidate.target.clone()).or_default().push(now);
            self.planned.push((now, candidate.target, candidate.message));
        }
        found.next
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_item_reaches_each_target_once_alone_or_in_a_count(
        given in items(),
        looks in prop::collection::btree_set(0..MINUTES + 3_000, 1..40),
    ) {
        let all: Vec<(AttentionItem, Timestamp)> = (0_u64..).zip(&given).map(|(number, (begin, span, critical))| {
            let risk = if *critical { ApprovalRiskLevel::Critical } else { ApprovalRiskLevel::High };
            (approval(number, minute(*begin), risk), minute(begin + span))
        }).collect();
        let mut outbox = Outbox::default();
        for now in looks.into_iter().map(minute) {
            let waiting: Vec<AttentionItem> =
                all.iter().filter(|(item, end)| item.since <= now && now < *end).map(|(item, _)| item.clone()).collect();
            let next = outbox.look(&waiting, now);
            prop_assert!(next.is_none_or(|next| next > now));
            let mut seen = BTreeSet::new();
            for (time, target, message) in &outbox.planned {
                match message {
                    NotifyMessage::Item(item) => {
                        let is_quiet = nights().span_at(item.since).is_some();
                        prop_assert!(item.is_critical() || !is_quiet, "an item of quiet hours is sent alone");
                        prop_assert!(seen.insert((target.clone(), item.subject.identity())), "an item is sent twice");
                    }
                    NotifyMessage::Count { items, since } => {
                        prop_assert!(*items > 0 && time >= since);
                        prop_assert!(nights().span_at(Timestamp(since.0 - 1)).is_some());
                        prop_assert!(seen.insert((target.clone(), since.0.to_be_bytes().to_vec())), "a night is counted twice");
                    }
                    NotifyMessage::Test { .. } => prop_assert!(false, "no item makes a test"),
                }
            }
        }
    }

    #[test]
    fn a_look_leaves_nothing_due_behind_unless_the_target_is_at_its_limit(given in items(), at_minute in 0..MINUTES + 3_000) {
        let now = minute(at_minute);
        let items: Vec<AttentionItem> = (0_u64..).zip(&given).filter(|(_, (begin, ..))| minute(*begin) <= now)
            .map(|(number, (begin, ..))| approval(number, minute(*begin), ApprovalRiskLevel::High)).collect();
        let mut outbox = Outbox::default();
        outbox.look(&items, now);
        let mut counts: BTreeMap<&TargetName, usize> = BTreeMap::new();
        for (_, target, _) in &outbox.planned {
            *counts.entry(target).or_default() += 1;
        }
        let due: Vec<_> = candidates(&targets(), Some(&nights()), &items).into_iter().filter(|found| found.due <= now).collect();
        for target in targets() {
            let wanted = due.iter().filter(|found| found.target == target).count();
            prop_assert_eq!(counts.get(&target).copied().unwrap_or(0), wanted.min(HOURLY_MESSAGES_MAX));
        }
        // An hour later there is room for as many again.
        outbox.look(&items, now.after(HOUR));
        prop_assert!(outbox.planned.len() >= due.len().min(2 * HOURLY_MESSAGES_MAX));
    }

    #[test]
    fn quiet_hours_contain_the_time_that_they_are_asked_for(at_minute in -1_000_000..1_000_000_i64, from in 0..24_u8, span in 1..24_u8) {
        let text = |hour: u8| format!("{:02}:15", hour % 24);
        let hours = crate::QuietHours::parse(&text(from), &text(from + span), "America/New_York").unwrap();
        let now = minute(at_minute);
        if let Some(found) = hours.span_at(now) {
            prop_assert!(found.begin <= now && now < found.end);
            // Clocks move by an hour.
            let length = found.end.since(found.begin);
            prop_assert!(length.abs_diff(HOUR * u32::from(span)) <= HOUR);
            prop_assert_eq!(hours.span_at(Timestamp(found.end.0 - 1)), Some(found));
            prop_assert_eq!(hours.span_at(found.begin), Some(found));
        }
    }

    #[test]
    fn no_text_is_read_as_another_secret(text in "\\PC{0,80}") {
        if let Ok(secret) = crate::WebhookSecret::parse(&text) {
            prop_assert_ne!(secret.sign("a", 1, "b"), secret.sign("a", 1, "c"));
        }
    }
}
