//! Which model a request goes to: by what it needs, by what answers at present, by budgets, and after each class of failure.

use std::sync::Arc;
use std::time::Duration;

use palyra_admin::budgets::OverBudgetModel;
use palyra_governance::{PAUSE_WAITED_FOR_MAX, PriceCatalogue};
use palyra_ports::{ModelCapabilities, ModelProvider, ProviderHealth};
use palyra_run_core::failure_table::{ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX, CLASSES};
use palyra_runtime::ModelDirectory;
use palyra_testkit::{Script, ScriptedProvider};
use palyra_types::budget::{LimitAction, MoneyAmount, UsageLimits};
use palyra_types::event::{ModelEvent, ModelRequested, PassOverCause, RoutingReason, RunEvent, TapeEvent};
use palyra_types::model::{ModelFailureClass, ModelRef};
use palyra_types::run::{RunPhase, TerminationReason, WaitReason};
use palyra_types::{ErrorCode, RunId};

use crate::budgets::{daily, set};
use crate::rig::{Rig, by_key, request, settle, soon};
use crate::shapes::check;

const PAGE: &str = include_str!("../../../../docs/model-failures.md");

/// Models in a chain: `scripted/one` and those behind it.
struct ModelChain {
    rig: Rig,
    others: Vec<ScriptedProvider>,
}

impl ModelChain {
    async fn of(others: Vec<(&str, ModelCapabilities)>) -> Self {
        let rig = Rig::start().await;
        let others: Vec<_> = others
            .into_iter()
            .map(|(name, capabilities)| {
                let clock = Arc::new(rig.clock.clone());
                let other = ScriptedProvider::new(clock).named(name).with_capabilities(capabilities);
                other.otherwise(Script::new().text(name));
                other
            })
            .collect();
        let chain = Self { rig, others };
        chain.use_first(chain.rig.model.clone());
        chain
    }

    /// Puts another first model into the chain.
    fn use_first(&self, first: ScriptedProvider) {
        let fallbacks = self.others.iter().map(|other| ModelRef::new(other.name().as_str(), "m")).collect();
        let mut providers: Vec<Arc<dyn ModelProvider>> = vec![Arc::new(first)];
        providers.extend(self.others.iter().map(|other| Arc::new(other.clone()) as Arc<_>));
        let directory = ModelDirectory::new(providers, ModelRef::new("scripted", "one"), Vec::new());
        self.rig.replace_models(directory.with_fallbacks(fallbacks));
    }

    /// Sets prices: the first model is cheap, those behind it cost so much for a million tokens.
    fn price_others(&self, amount: &str) {
        let mut text = "currency = \"EUR\"\n".to_owned();
        let names = self.others.iter().map(|other| (other.name().to_string(), amount));
        for (name, amount) in names.chain([("scripted".to_owned(), "1")]) {
            text +=
                &format!("[[price]]\nmodel = \"{name}/*\"\ninput = \"{amount}\"\noutput = \"{amount}\"\n");
        }
        let catalogue = Arc::new(PriceCatalogue::parse(&text).unwrap());
        self.rig.configure(|config| {
            config.prices = Some(Arc::clone(&catalogue));
            config.limits.output_tokens_max = 1_000;
        });
    }

    async fn limit_money(&self, millionths: u64) {
        let hard = UsageLimits { money: Some(MoneyAmount(millionths)), ..UsageLimits::default() };
        set(&self.rig, daily("money", hard)).await;
    }

    async fn run(&self) -> (RunId, Vec<ModelRequested>) {
        let run = self.rig.submit("k", "go").await.run;
        self.rig.finished(run).await;
        (run, self.requests(run).await)
    }

    async fn requests(&self, run: RunId) -> Vec<ModelRequested> {
        let tape = self.rig.tape(run).await;
        check(&tape);
        let requests = tape.into_iter().filter_map(|entry| match entry.event {
            TapeEvent::Model(ModelEvent::Requested(requested)) => Some(requested),
            _ => None,
        });
        requests.collect()
    }
}

fn provider_of(requested: &ModelRequested) -> String {
    requested.model.expose().as_ref().unwrap().provider.to_string()
}

fn passed(requested: &ModelRequested) -> Vec<(String, Vec<PassOverCause>)> {
    let passed = requested.routing.passed_over.expose().iter();
    passed.map(|passed| (passed.model.provider.to_string(), passed.causes.clone())).collect()
}

#[test]
fn a_pause_is_short_for_the_plan_where_it_is_for_the_run_machine() {
    assert_eq!(PAUSE_WAITED_FOR_MAX, ASKED_PAUSE_BEFORE_NEXT_MODEL_MAX);
}

#[tokio::test]
async fn the_plan_of_a_request_is_on_the_tape() {
    let chain = ModelChain::of(Vec::new()).await;
    let (_, requests) = chain.run().await;
    let reasons = [RoutingReason::OnlyChoice, RoutingReason::Unpriced, RoutingReason::NoBudget];
    assert_eq!(requests[0].routing.reasons, reasons);
    assert_eq!(passed(&requests[0]), []);

    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.price_others("1");
    chain.limit_money(10_000_000).await;
    let (_, requests) = chain.run().await;
    assert_eq!(requests[0].routing.reasons, [RoutingReason::ConfiguredOrder, RoutingReason::WithinBudgets]);
}

#[tokio::test]
async fn a_model_whose_provider_pauses_is_passed_over_and_a_short_pause_is_waited_for() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.rig.model.set_health(ProviderHealth::Paused { rest: Duration::from_secs(30) });
    let (run, requests) = chain.run().await;
    assert_eq!(requests.len(), 1);
    assert_eq!(provider_of(&requests[0]), "second");
    assert_eq!(passed(&requests[0]), [("scripted".to_owned(), vec![PassOverCause::Unavailable])]);
    let switched = chain.rig.tape(run).await.into_iter().find_map(|entry| match entry.event {
        TapeEvent::Model(ModelEvent::Switched { passed_over, .. }) => Some(passed_over),
        _ => None,
    });
    assert_eq!(switched, Some(0), "no window is too small");

    chain.rig.model.set_health(ProviderHealth::Paused { rest: Duration::from_secs(5) });
    let (_, requests) = chain.run().await;
    assert_eq!(provider_of(&requests[0]), "scripted");
    assert!(requests[0].routing.reasons.contains(&RoutingReason::Degraded));
}

#[tokio::test]
async fn where_no_model_answers_the_first_one_is_asked_and_its_failure_says_why() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    for model in [&chain.rig.model, &chain.others[0]] {
        model.set_health(ProviderHealth::Paused { rest: Duration::from_secs(30) });
    }
    let (_, requests) = chain.run().await;
    assert_eq!(provider_of(&requests[0]), "scripted");
    assert_eq!(requests[0].routing.reasons[0], RoutingReason::LastResort);
    assert_eq!(passed(&requests[0]), [("second".to_owned(), vec![PassOverCause::Unavailable])]);
}

#[tokio::test]
async fn a_model_that_lacks_what_the_request_needs_is_passed_over_if_another_one_has_it() {
    let images = ModelCapabilities { images: true, ..ModelCapabilities::TEXT };
    let chain = ModelChain::of(vec![("second", images), ("third", ModelCapabilities::ALL)]).await;
    chain.use_first(chain.rig.model.clone().with_capabilities(ModelCapabilities::TEXT));
    let (_, requests) = chain.run().await;
    assert_eq!(provider_of(&requests[0]), "third");
    let no_tools = vec![PassOverCause::NoTools];
    assert_eq!(
        passed(&requests[0]),
        [("scripted".to_owned(), no_tools.clone()), ("second".to_owned(), no_tools)]
    );

    let chain = ModelChain::of(vec![("second", ModelCapabilities::TEXT)]).await;
    chain.use_first(chain.rig.model.clone().with_capabilities(ModelCapabilities::TEXT));
    let (_, requests) = chain.run().await;
    assert_eq!(provider_of(&requests[0]), "scripted", "a need that no model has is no reason");
    assert_eq!(passed(&requests[0]), []);
}

#[tokio::test]
async fn words_that_were_shown_keep_the_model_whatever_its_health() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.rig.model.push(Script::new().text("half ").fail(ModelFailureClass::Network));
    let run = chain.rig.submit("k", "go").await.run;
    let abandoned =
        |event: &TapeEvent| matches!(event, TapeEvent::Model(ModelEvent::AttemptAbandoned { .. }));
    chain.rig.until(run, "a failure", abandoned).await;
    chain.rig.model.set_health(ProviderHealth::Paused { rest: Duration::from_secs(30) });
    chain.rig.finished(run).await;
    let requests = chain.requests(run).await;
    assert_eq!(requests.iter().map(provider_of).collect::<Vec<_>>(), ["scripted", "scripted"]);
    assert_eq!(requests[1].routing.reasons[0], RoutingReason::LastResort);
}

#[tokio::test]
async fn a_run_that_names_its_model_asks_no_other_one() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.rig.model.set_health(ProviderHealth::Paused { rest: Duration::from_secs(30) });
    let mut named = request(by_key("k"), "go");
    named.model = Some(ModelRef::new("scripted", "one"));
    let run = chain.rig.gateway.sessions.submit(chain.rig.me(), named).await.unwrap().run;
    chain.rig.finished(run).await;
    let requests = chain.requests(run).await;
    assert_eq!(requests.iter().map(provider_of).collect::<Vec<_>>(), ["scripted"]);
}

#[tokio::test]
async fn a_model_over_budget_waits_unless_the_configuration_lets_a_fallback_answer() {
    let dear_first = async || {
        let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
        // The prices the other way round: the fallback costs next to nothing.
        chain.price_others("0.001");
        chain.limit_money(100).await;
        chain
    };
    let chain = dear_first().await;
    let run = chain.rig.submit("k", "go").await.run;
    waits(&chain.rig, run).await;
    assert!(chain.others[0].requests().is_empty());

    let chain = dear_first().await;
    chain.rig.configure(|config| config.over_budget = OverBudgetModel::PassedOver);
    let (_, requests) = chain.run().await;
    assert_eq!(provider_of(&requests[0]), "second");
    assert_eq!(passed(&requests[0]), [("scripted".to_owned(), vec![PassOverCause::OverBudget])]);
    assert_eq!(requests[0].routing.reasons, [RoutingReason::ConfiguredOrder, RoutingReason::WithinBudgets]);
}

#[tokio::test]
async fn a_run_whose_models_are_all_over_budget_goes_on_when_one_of_them_fits() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.price_others("0.5");
    chain.rig.configure(|config| config.over_budget = OverBudgetModel::PassedOver);
    chain.limit_money(1).await;
    let run = chain.rig.submit("k", "go").await.run;
    waits(&chain.rig, run).await;
    let (_, requests) = (run, chain.requests(run).await);
    assert!(requests.is_empty());
    // Half of what the first model needs, so the second one fits.
    chain.limit_money(1_400).await;
    chain.rig.finished(run).await;
    let requests = chain.requests(run).await;
    assert_eq!(provider_of(&requests[0]), "second", "{:?}", requests[0].context.tokens_estimated);
}

#[tokio::test]
async fn a_model_without_a_price_leaves_the_request_to_a_priced_one_where_configured() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    let text = "currency = \"EUR\"\n[[price]]\nmodel = \"second/*\"\ninput = \"1\"\noutput = \"1\"\n";
    let prices = Some(Arc::new(PriceCatalogue::parse(text).unwrap()));
    chain.rig.configure(|config| config.prices = prices.clone());
    chain.limit_money(10_000_000).await;
    let run = chain.rig.submit("k", "go").await.run;
    assert_eq!(chain.rig.finished(run).await.error, Some(ErrorCode::ModelWithoutPrice));
    chain.rig.configure(|config| config.over_budget = OverBudgetModel::PassedOver);
    let (_, requests) = chain.run().await;
    assert_eq!(passed(&requests[0]), [("scripted".to_owned(), vec![PassOverCause::NoPrice])]);
}

/// What is behind the model that fails, by the column of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BehindFailure {
    Answers,
    Nothing,
    OverBudget,
    LacksTools,
}

const BEHIND: [BehindFailure; 4] =
    [BehindFailure::Answers, BehindFailure::Nothing, BehindFailure::OverBudget, BehindFailure::LacksTools];

async fn waits(rig: &Rig, run: RunId) {
    let reached = |event: &TapeEvent| matches!(event, TapeEvent::Run(RunEvent::BudgetReached { .. }));
    rig.until(run, "a wait for a budget", reached).await;
    settle().await;
    assert_eq!(rig.record(run).await.phase, RunPhase::Waiting(WaitReason::Budget));
}

/// Lets the first model fail each time, and returns what comes of the run in the words of the page.
async fn outcome(class: ModelFailureClass, said: bool, behind: BehindFailure) -> String {
    let others = match behind {
        BehindFailure::Nothing => Vec::new(),
        BehindFailure::Answers | BehindFailure::OverBudget => vec![("second", ModelCapabilities::ALL)],
        BehindFailure::LacksTools => vec![("second", ModelCapabilities::TEXT)],
    };
    let chain = ModelChain::of(others).await;
    if behind == BehindFailure::OverBudget {
        chain.price_others("1000");
        chain.limit_money(500_000).await;
    }
    let broken = if said { Script::new().text("half ") } else { Script::new() };
    chain.rig.model.otherwise(broken.fail(class));
    let run = chain.rig.submit("k", "go").await.run;
    // Each pause passes at once.
    let rig = &chain.rig;
    let over = async {
        loop {
            settle().await;
            let record = rig.record(run).await;
            match record.phase {
                RunPhase::Finished | RunPhase::Waiting(_) => return record,
                RunPhase::Queued | RunPhase::Running => rig.clock.advance(Duration::from_secs(60)),
            }
        }
    };
    let record = soon("an outcome", over).await;
    check(&rig.tape(run).await);
    let asked = chain.others.first().map_or(0, |other| other.requests().len());
    match (record.phase, record.reason) {
        (RunPhase::Waiting(WaitReason::Budget), _) => {
            assert_eq!(asked, 0);
            "waits for the budget".to_owned()
        }
        (RunPhase::Finished, Some(TerminationReason::FinalAnswer)) => {
            assert_eq!(asked, 1);
            "fallback answers".to_owned()
        }
        (RunPhase::Finished, Some(reason)) => {
            assert_eq!((asked, record.error), (0, Some(class.code())), "{class:?} {said} {behind:?}");
            format!("{reason:?}")
        }
        other => panic!("{class:?} {said} {behind:?}: {other:?}"),
    }
}

/// Returns the cells of a class in the matrix of the page.
fn documented(class: ModelFailureClass) -> Vec<String> {
    let matrix = PAGE.split("## Failover matrix").nth(1).expect("the section");
    let begin = format!("| {class:?} |");
    let row = matrix.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("{class:?}"));
    row.trim_matches('|').split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()
}

#[tokio::test]
async fn the_failover_matrix_of_the_page_is_what_happens() {
    for class in CLASSES {
        let cells = documented(class);
        assert_eq!(cells.len(), BEHIND.len() + 1, "{class:?}");
        for (behind, cell) in BEHIND.into_iter().zip(&cells) {
            assert_eq!(outcome(class, false, behind).await, *cell, "{class:?}, behind {behind:?}");
            let after = outcome(class, true, behind).await;
            assert_eq!(after, cells[4], "{class:?}, behind {behind:?}, after words");
        }
    }
}

#[tokio::test]
async fn a_budget_that_refuses_the_fallback_ends_the_run_with_its_own_code() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.price_others("1000");
    let hard = UsageLimits { money: Some(MoneyAmount(500_000)), ..UsageLimits::default() };
    let change = palyra_admin::usage::BudgetChange { at_limit: LimitAction::Refuse, ..daily("money", hard) };
    set(&chain.rig, change).await;
    chain.rig.model.otherwise(Script::new().fail(ModelFailureClass::Auth));
    let run = chain.rig.submit("k", "go").await.run;
    assert_eq!(chain.rig.finished(run).await.error, Some(ErrorCode::OverBudget));
}

#[tokio::test]
async fn a_run_that_goes_on_once_asks_its_own_model() {
    let chain = ModelChain::of(vec![("second", ModelCapabilities::ALL)]).await;
    chain.price_others("0.5");
    chain.rig.configure(|config| config.over_budget = OverBudgetModel::PassedOver);
    chain.limit_money(1).await;
    let run = chain.rig.submit("k", "go").await.run;
    waits(&chain.rig, run).await;
    soon("going on", chain.rig.gateway.runs.go_on_once(chain.rig.me(), run)).await.unwrap();
    chain.rig.finished(run).await;
    let requests = chain.requests(run).await;
    assert_eq!(provider_of(&requests[0]), "scripted");
    assert_eq!(requests[0].routing.reasons, [RoutingReason::ConfiguredOrder, RoutingReason::WithinBudgets]);
}
