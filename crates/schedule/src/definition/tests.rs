//! The occurrence check, and which grants a schedule may use.

use palyra_types::tool::Taints;
use palyra_types::{PrincipalId, RunId};

use super::*;
use crate::fixture::{cron, definition, rules};
use crate::rules::{MissedRule, OverlapRule};

fn digest(byte: u8) -> ContentDigest {
    ContentDigest([byte; 32])
}

fn run_definition() -> ScheduleDefinition {
    let action = ScheduleAction::Run(ApprovedRun {
        agent: AgentId::from_parts(1, 1),
        agent_profile: digest(2),
        prompt: digest(1),
        target: digest(3),
    });
    let made = definition(cron("0 8 * * *", "UTC"), rules(MissedRule::Skip, OverlapRule::Forbid));
    ScheduleDefinition { action, ..made }
}

const FACTS: OccurrenceFacts = OccurrenceFacts {
    creator_allowed: true,
    agent_profile: Some(ContentDigest([2; 32])),
    text: Some(ContentDigest([1; 32])),
    target: Some(ContentDigest([3; 32])),
    policy_allows: true,
};

#[test]
fn an_occurrence_is_refused_when_anything_that_was_approved_has_changed() {
    let made = run_definition();
    assert_eq!(made.check_occurrence(&FACTS), Ok(()));
    let cases = [
        (OccurrenceFacts { creator_allowed: false, ..FACTS }, OccurrenceRefusal::Creator),
        (OccurrenceFacts { agent_profile: None, ..FACTS }, OccurrenceRefusal::AgentGone),
        (OccurrenceFacts { agent_profile: Some(digest(9)), ..FACTS }, OccurrenceRefusal::AgentChanged),
        (OccurrenceFacts { text: Some(digest(9)), ..FACTS }, OccurrenceRefusal::PromptChanged),
        (OccurrenceFacts { text: None, ..FACTS }, OccurrenceRefusal::PromptChanged),
        (OccurrenceFacts { target: Some(digest(9)), ..FACTS }, OccurrenceRefusal::TargetChanged),
        (OccurrenceFacts { policy_allows: false, ..FACTS }, OccurrenceRefusal::Policy),
    ];
    for (facts, refusal) in cases {
        assert_eq!(made.check_occurrence(&facts), Err(refusal));
    }
}

#[test]
fn a_reminder_needs_its_text_and_its_creator_but_no_agent() {
    let made = definition(cron("0 8 * * *", "UTC"), rules(MissedRule::Skip, OverlapRule::Forbid));
    let facts = OccurrenceFacts { agent_profile: None, target: None, ..FACTS };
    assert_eq!(made.check_occurrence(&facts), Ok(()));
    let erased = OccurrenceFacts { text: None, ..facts };
    assert_eq!(made.check_occurrence(&erased), Err(OccurrenceRefusal::PromptChanged));
}

#[test]
fn grants_of_a_principal_apply_only_without_taints_or_after_a_persons_edit() {
    let made = |made_by_run: Option<u128>, taints, edited_by_person| ScheduleProvenance {
        creator: PrincipalId::from_parts(1, 1),
        made_by_run: made_by_run.map(|run| RunId::from_parts(1, run)),
        taints,
        edited_by_person,
    };
    assert!(made(None, Taints::NONE, false).may_use_principal_grants());
    assert!(made(Some(1), Taints::NONE, false).may_use_principal_grants());
    assert!(!made(Some(1), Taints::WEB, false).may_use_principal_grants());
    assert!(made(Some(1), Taints::WEB, true).may_use_principal_grants());
}
