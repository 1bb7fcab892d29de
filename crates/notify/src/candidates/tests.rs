//! Which messages items make.

use palyra_types::tool::ApprovalRiskLevel::{Critical, High};
use palyra_types::{CandidateId, ScheduleId};

use super::*;
use crate::fixture::{approval, at, nights, targets};
use crate::{AttentionKind, AttentionSubject};

fn shown(quiet: Option<&QuietHours>, items: &[AttentionItem]) -> Vec<String> {
    let found = candidates(&targets()[..1], quiet, items);
    found
        .iter()
        .map(|candidate| {
            let due = jiff::Timestamp::from_microsecond(candidate.due.0).unwrap();
            match &candidate.message {
                NotifyMessage::Item(item) => format!("{due} {:?}", item.risk.unwrap()),
                NotifyMessage::Count { items, .. } => format!("{due} count {items}"),
                NotifyMessage::Test { .. } => panic!("no item makes a test"),
            }
        })
        .collect()
}

#[test]
fn quiet_hours_let_critical_things_pass_and_count_the_rest() {
    let items = [
        approval(1, at("2026-01-09T20:30:00Z"), High),
        approval(2, at("2026-01-09T22:00:00Z"), High),
        approval(3, at("2026-01-09T23:00:00Z"), Critical),
        approval(4, at("2026-01-10T05:00:00Z"), High),
        approval(5, at("2026-01-10T22:00:00Z"), High),
    ];
    assert_eq!(
        shown(Some(&nights()), &items),
        [
            "2026-01-09T20:30:00Z High",
            "2026-01-09T23:00:00Z Critical",
            "2026-01-10T06:00:00Z count 2",
            "2026-01-11T06:00:00Z count 1",
        ]
    );
    assert_eq!(shown(None, &items).len(), 5);
    assert_eq!(shown(Some(&nights()), &[]), [""; 0]);
}

#[test]
fn each_target_has_ids_of_its_own_and_they_stay_the_same() {
    let items =
        [approval(1, at("2026-01-09T20:30:00Z"), High), approval(2, at("2026-01-09T22:00:00Z"), High)];
    let keys = |items: &[AttentionItem]| {
        let mut keys: Vec<_> =
            candidates(&targets(), Some(&nights()), items).iter().map(|found| found.key).collect();
        keys.sort_unstable();
        keys
    };
    let found = keys(&items);
    assert_eq!(found.len(), 4);
    assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(keys(&[items[1].clone(), items[0].clone()]), found);
    // Another number of counted items is the same message.
    let more = [items.to_vec(), vec![approval(3, at("2026-01-09T22:30:00Z"), High)]].concat();
    assert_eq!(keys(&more), found);
}

#[test]
fn each_wait_of_a_schedule_and_each_review_has_an_id_of_its_own() {
    let (schedule, early, late) =
        (ScheduleId::from_parts(1, 1), at("2026-01-09T08:00:00Z"), at("2026-01-10T08:00:00Z"));
    let subjects = [
        (AttentionKind::Reminder, AttentionSubject::Reminder { schedule, planned: early }),
        (AttentionKind::Reminder, AttentionSubject::Reminder { schedule, planned: late }),
        (AttentionKind::SchedulePaused, AttentionSubject::PausedSchedule { schedule, at: early }),
        (AttentionKind::SchedulePaused, AttentionSubject::PausedSchedule { schedule, at: late }),
        (AttentionKind::Review, AttentionSubject::Review(CandidateId::from_parts(1, 1))),
        (AttentionKind::Review, AttentionSubject::Review(CandidateId::from_parts(1, 2))),
    ];
    let items = subjects.map(|(kind, subject)| AttentionItem {
        kind,
        subject,
        agent: String::new(),
        risk: None,
        severity: None,
        since: late,
    });
    let found = candidates(&targets()[..1], None, &items);
    let mut keys: Vec<_> = found.iter().map(|found| found.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), items.len());
    assert!(items.iter().all(|item| !item.is_critical()), "quiet hours hold them back");
}
