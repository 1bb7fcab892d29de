//! Plans for a handful of models: order, reasons, and what happens when none is left.

use std::time::Duration;

use super::*;
use crate::budget::{BudgetDefinition, LimitAction};
use crate::fixture::{TestAccount, budget, candidate, day, id, quote};
use palyra_types::budget::MoneyAmount;
use palyra_types::budget::UsageLimits;

fn request(class: TaskClass) -> RoutingRequest {
    RoutingRequest {
        id: id(1, class),
        needs: BTreeSet::new(),
        size: RequestSize { input_tokens: 1_000, output_tokens_max: 100 },
        preference: ModelPreference::of_class(class),
    }
}

fn names(plan: &UsageRoutingPlan) -> Vec<String> {
    plan.choices.iter().map(|choice| choice.model.to_string()).collect()
}

fn passed(plan: &UsageRoutingPlan) -> Vec<String> {
    let lines = plan.passed_over.iter().map(|passed| {
        let codes: Vec<&str> = passed.reasons.iter().map(PassOverReason::code).collect();
        format!("{}: {}", passed.model, codes.join(" "))
    });
    lines.collect()
}

/// A dear fast model, a cheap slow one, and one without a price.
fn three() -> [ModelCandidate; 3] {
    [
        ModelCandidate {
            first_token: Some(Duration::from_millis(200)),
            ..candidate("a/dear", Some(quote(9, 9)))
        },
        ModelCandidate {
            first_token: Some(Duration::from_secs(2)),
            ..candidate("b/cheap", Some(quote(1, 1)))
        },
        candidate("c/unknown", None),
    ]
}

#[test]
fn the_preference_of_the_class_decides_the_order() {
    for (preference, order) in [
        (ModelPreference::ConfiguredOrder, ["a/dear", "b/cheap", "c/unknown"]),
        (ModelPreference::Cheapest, ["b/cheap", "a/dear", "c/unknown"]),
        (ModelPreference::Fastest, ["c/unknown", "a/dear", "b/cheap"]),
    ] {
        let request = RoutingRequest { preference, ..request(TaskClass::Interactive) };
        assert_eq!(names(&UsageRoutingPlan::make(&request, &three(), &[])), order, "{preference:?}");
    }
    for (class, first) in [
        (TaskClass::Interactive, "a/dear"),
        (TaskClass::Background, "a/dear"),
        (TaskClass::Auxiliary, "b/cheap"),
    ] {
        assert_eq!(names(&UsageRoutingPlan::make(&request(class), &three(), &[]))[0], first, "{class}");
    }
}

#[test]
fn healthy_models_go_before_degraded_ones_and_unavailable_ones_are_passed_over() {
    let [first, second, third] = three();
    let candidates = [
        ModelCandidate { health: ModelHealth::Degraded, ..first },
        ModelCandidate { health: ModelHealth::Unavailable { until: None }, ..second },
        third,
    ];
    for preference in [ModelPreference::Cheapest, ModelPreference::Fastest] {
        let request = RoutingRequest { preference, ..request(TaskClass::Auxiliary) };
        let plan = UsageRoutingPlan::make(&request, &candidates, &[]);
        assert_eq!(names(&plan), ["c/unknown", "a/dear"]);
        assert!(plan.choices[1].reasons.contains(&RoutingReason::Degraded));
        assert_eq!(passed(&plan), ["b/cheap: unavailable"]);
    }
    let plan = UsageRoutingPlan::make(&request(TaskClass::Interactive), &candidates, &[]);
    assert_eq!(
        names(&plan),
        ["a/dear", "c/unknown"],
        "in the configured order a degraded one keeps its place"
    );
    assert!(plan.choices[0].reasons.contains(&RoutingReason::Degraded));
}

#[test]
fn a_model_that_cannot_serve_the_request_is_passed_over_with_every_reason() {
    let [first, second, third] = three();
    let candidates = [
        ModelCandidate {
            capabilities: [ModelCapability::Tools].into(),
            context_tokens_max: Some(1_099),
            ..first
        },
        ModelCandidate { context_tokens_max: Some(1_100), ..second },
        third,
    ];
    let needs = [ModelCapability::Images, ModelCapability::Tools].into();
    let request = RoutingRequest { needs, ..request(TaskClass::Interactive) };
    let plan = UsageRoutingPlan::make(&request, &candidates, &[]);
    assert_eq!(names(&plan), ["b/cheap", "c/unknown"]);
    assert_eq!(passed(&plan), ["a/dear: capability_missing context_too_small"]);
}

#[test]
fn a_model_that_is_too_dear_leaves_the_request_to_a_cheaper_one() {
    let hard = UsageLimits { money: Some(MoneyAmount(5_000)), ..UsageLimits::default() };
    let account = TestAccount::of(BudgetDefinition { hard, ..budget("b") });
    let plan = UsageRoutingPlan::make(&request(TaskClass::Interactive), &three(), &[account.at(day(1))]);
    assert_eq!(names(&plan), ["b/cheap"]);
    assert_eq!(plan.choices[0].reasons, [RoutingReason::OnlyChoice, RoutingReason::WithinBudgets]);
    assert_eq!(passed(&plan), ["a/dear: over_budget", "c/unknown: no_price"]);
    assert_eq!(plan.stop, None, "a model is left");
    assert_eq!(
        plan.explanation(),
        "b/cheap serves this interactive request (the only model left; it fits under all budgets) and reserves 1100 \
         tokens, 0.0011 in money. Not a/dear: its reservation is above the limit on money of the budget `b`. Not \
         c/unknown: it has no price, and the budget `b` limits money."
    );
}

#[test]
fn when_no_model_fits_the_mildest_stop_is_the_plan_s() {
    let hard = UsageLimits { money: Some(MoneyAmount(2_000)), ..UsageLimits::default() };
    let mut account = TestAccount::of(BudgetDefinition { hard, at_limit: LimitAction::Park, ..budget("b") });
    let flying = ReservationRequest { price: Some(quote(1, 1)), ..crate::fixture::reservation(9, 1_000, 0) };
    let reserved = crate::account::AccountEvent::Reserved { request: flying };
    account.account.evolve(&reserved);
    let [dear, cheap, unknown] = three();
    let candidates = [unknown, dear, cheap];
    let plan = UsageRoutingPlan::make(&request(TaskClass::Interactive), &candidates, &[account.at(day(1))]);
    assert!(plan.choices.is_empty());
    let stop = plan.stop.as_ref().unwrap();
    assert_eq!(stop.action, StopAction::Park { resume: Some(day(1).end) }, "the cheap one fits tomorrow");
    assert!(plan.explanation().starts_with("No model can serve this interactive request. Not c/unknown: "));
    assert_eq!(plan.retry_at, None);
}

#[test]
fn when_all_models_are_unavailable_the_first_to_answer_again_says_when() {
    let until = |micros: i64| ModelHealth::Unavailable { until: Some(Timestamp(micros)) };
    let [first, second, third] = three();
    let candidates = [
        ModelCandidate { health: until(500), ..first },
        ModelCandidate { health: until(300), ..second },
        ModelCandidate { health: until(100), capabilities: BTreeSet::new(), ..third },
    ];
    let needs = [ModelCapability::Tools].into();
    let request = RoutingRequest { needs, ..request(TaskClass::Interactive) };
    let plan = UsageRoutingPlan::make(&request, &candidates, &[]);
    assert_eq!((plan.retry_at, plan.stop), (Some(Timestamp(300)), None));
}

#[test]
fn the_same_inputs_give_the_same_plan() {
    let equal = ["x/1", "x/2", "x/3"].map(|name| candidate(name, Some(quote(1, 1))));
    for preference in ModelPreference::ALL.map(|(preference, _)| preference) {
        let request = RoutingRequest { preference, ..request(TaskClass::Background) };
        let plan = UsageRoutingPlan::make(&request, &equal, &[]);
        assert_eq!(names(&plan), ["x/1", "x/2", "x/3"], "the configured order decides between equals");
        assert_eq!(plan, UsageRoutingPlan::make(&request, &equal, &[]));
        assert_eq!(ModelPreference::of(preference.as_str()), Some(preference));
    }
}

#[test]
fn a_plan_without_candidates_has_no_model() {
    let plan = UsageRoutingPlan::make(&request(TaskClass::Interactive), &[], &[]);
    assert_eq!(plan.explanation(), "No model can serve this interactive request.");
}
