//! Items, targets and times of tests.

use palyra_types::delivery::DeliveryTargetKind;
use palyra_types::tool::ApprovalRiskLevel;
use palyra_types::{ApprovalId, Timestamp};

use crate::{AttentionItem, AttentionKind, AttentionSubject, ConsoleOrigin, QuietHours, TargetName};

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

pub(crate) fn approval(number: u64, since: Timestamp, risk: ApprovalRiskLevel) -> AttentionItem {
    AttentionItem {
        kind: AttentionKind::Approval,
        subject: AttentionSubject::Approval(ApprovalId::from_parts(number, 1)),
        agent: "default".to_owned(),
        risk: Some(risk),
        severity: None,
        since,
    }
}

pub(crate) fn targets() -> Vec<TargetName> {
    let webhook = TargetName { kind: DeliveryTargetKind::Webhook, name: "webhook".to_owned() };
    let command = TargetName { kind: DeliveryTargetKind::Command, name: "command".to_owned() };
    vec![webhook, command]
}

pub(crate) fn nights() -> QuietHours {
    QuietHours::parse("22:00", "07:00", "Europe/Prague").unwrap()
}

pub(crate) fn origin() -> ConsoleOrigin {
    ConsoleOrigin::new("http://palyra.localhost:7787/")
}
