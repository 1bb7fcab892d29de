//! Which messages are planned now.

use palyra_types::tool::ApprovalRiskLevel::{Critical, High};

use super::*;
use crate::NotifyMessage;
use crate::candidates::candidates;
use crate::fixture::{approval, at, nights, targets};

const NOW: &str = "2026-01-09T20:40:00Z";

fn candidates_of(count: u64) -> Vec<MessageCandidate> {
    let items: Vec<_> = (0..count).map(|number| approval(number, at("2026-01-09T20:30:00Z"), High)).collect();
    candidates(&targets()[..1], Some(&nights()), &items)
}

#[test]
fn a_message_that_was_planned_before_is_not_planned_again() {
    let found = candidates_of(2);
    let known = BTreeSet::from([found[0].key]);
    let planned = plan(found.clone(), &known, &RecentMessages::new(), at(NOW));
    assert_eq!(planned, NotifyPlan { due: vec![found[1].clone()], next: None });
}

#[test]
fn a_count_waits_for_the_end_of_quiet_hours() {
    let items = [approval(1, at("2026-01-09T22:00:00Z"), High)];
    let found = candidates(&targets()[..1], Some(&nights()), &items);
    let end = at("2026-01-10T06:00:00Z");
    let none = BTreeSet::new();
    let before = plan(found.clone(), &none, &RecentMessages::new(), Timestamp(end.0 - 1));
    assert_eq!(before, NotifyPlan { due: vec![], next: Some(end) });
    let after = plan(found.clone(), &none, &RecentMessages::new(), end);
    assert_eq!(after, NotifyPlan { due: found, next: None });
}

#[test]
fn beyond_the_hourly_limit_messages_wait_and_critical_ones_come_first() {
    let (now, since) = (at(NOW), at("2026-01-09T20:30:00Z"));
    let mut items: Vec<_> = (0..40).map(|number| approval(number, since, High)).collect();
    items.push(approval(99, at("2026-01-09T20:39:00Z"), Critical));
    let found = candidates(&targets(), None, &items);
    let webhook = targets()[0].clone();
    let oldest = at("2026-01-09T20:00:00Z");
    let ages = [at("2026-01-09T19:00:00Z"), oldest, at("2026-01-09T20:10:00Z")];
    let recent = RecentMessages::from([(webhook.clone(), ages.to_vec())]);
    let planned = plan(found, &BTreeSet::new(), &recent, now);
    let of = |target: &TargetName| planned.due.iter().filter(|found| found.target == *target).count();
    assert_eq!(of(&webhook), HOURLY_MESSAGES_MAX - 2);
    assert_eq!(of(&targets()[1]), HOURLY_MESSAGES_MAX);
    assert_eq!(planned.next, Some(oldest.after(HOUR)));
    assert!(matches!(&planned.due[0].message, NotifyMessage::Item(item) if item.is_critical()));
}
