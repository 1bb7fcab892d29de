//! Requests beside runs draw on the budgets of their session and person: summaries and vectors of texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use palyra_governance::{BudgetAccount, PriceCatalogue};
use palyra_ports::ModelProvider;
use palyra_ports::embed_texts::{EmbedError, EmbeddingModelName};
use palyra_runtime::{EmbeddingQuery, EmbeddingRefusal, GatewayRuntimeConfigSnapshot, ModelDirectory};
use palyra_testkit::{Gate, MemoryJournal, Script, ScriptedEmbeddings, ScriptedProvider};
use palyra_types::budget::{
    AccountEvent, AccountKey, BudgetEvent, ChargeBasis, LimitMeasure, PurseKind, TaskClass, UsageAmount,
};
use palyra_types::compaction::{OrchestratorCompactionArtifactRecord, SummaryAuthor, SummaryRefusal};
use palyra_types::event::{JournalEvent, SessionEvent};
use palyra_types::model::{ModelFailureClass, ModelRef, TokenUsage, UsageSource};
use palyra_types::run::{RunLifecycleState, RunLimits};
use palyra_types::surface::Surface;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{Content, ErrorCode, SessionId, UtcDay};

use crate::budgets::{account_events, daily, set, tokens};
use crate::faults::Refusal;
use crate::rig::{Parts, Rig, by_key, entries_of, request, settle, soon};

const KEY: &str = "long";
const WINDOW: u64 = 8_192;
const SUMMARY: &str = "Decisions:\n- none\nDone:\n- They talked.\nOpen:\n- none\n";

async fn rig() -> Rig {
    rig_on(MemoryJournal::new(), 7).await
}

async fn rig_on(memory: MemoryJournal, seed: u64) -> Rig {
    let parts = Parts::new();
    let model = parts.model.clone().with_window(WINDOW);
    let limits = RunLimits { output_tokens_max: 1_000, ..RunLimits::default() };
    let config = GatewayRuntimeConfigSnapshot { limits, ..Default::default() };
    Parts { memory, model, config, seed, ..parts }.start().await
}

/// Ends runs that are long enough for a summary to gain something.
async fn talk(rig: &Rig) {
    for letter in 'a'..='i' {
        let text = format!("Run {letter} was about this. {}", "Plain words of a long talk. ".repeat(60));
        let run = rig.submit(KEY, &text).await.run;
        rig.finished(run).await;
    }
}

async fn compact(rig: &Rig) -> OrchestratorCompactionArtifactRecord {
    let session = rig.resolve(by_key(KEY)).await.unwrap().record.session.id;
    soon("a summary", rig.gateway.sessions.compact(rig.me(), session)).await.unwrap()
}

fn embedder(rig: &Rig) -> ScriptedEmbeddings {
    let model = ModelRef::new("scripted", "embed");
    let embedder = ScriptedEmbeddings::new(EmbeddingModelName::OfProvider(model));
    let default = ModelRef::new("scripted", "scripted");
    let directory = ModelDirectory::new(vec![Arc::new(rig.model.clone())], default, Vec::new());
    rig.replace_models(directory.with_embedders(vec![Arc::new(embedder.clone())]));
    embedder
}

fn query(text: &str) -> EmbeddingQuery {
    let model = EmbeddingModelName::OfProvider(ModelRef::new("scripted", "embed"));
    EmbeddingQuery { model, texts: vec![Content::new(text.to_owned())], dimensions: None }
}

fn reported(input_tokens: u64, output_tokens: u64) -> TokenUsage {
    TokenUsage { input_tokens, output_tokens, source: UsageSource::Reported, ..TokenUsage::default() }
}

/// Folds the accounts entry by entry: no reservation takes one above its limit, and none beside a run above its share.
fn checked_accounts(entries: &[JournalEventRecord]) -> BTreeMap<AccountKey, BudgetAccount> {
    let mut budgets = BTreeMap::new();
    let mut accounts: BTreeMap<AccountKey, BudgetAccount> = BTreeMap::new();
    for entry in entries {
        match &entry.event {
            JournalEvent::Budget(BudgetEvent::Set(set)) => {
                budgets.insert(set.budget, (set.hard, u64::from(set.auxiliary_percent)));
            }
            JournalEvent::Budget(BudgetEvent::Account { account: key, event }) => {
                let account = accounts.entry(*key).or_default();
                account.evolve(event);
                let (hard, percent) = budgets[&key.budget];
                for measure in LimitMeasure::ALL {
                    let Some(limit) = hard.of(measure) else { continue };
                    let totals = account.totals();
                    let used = totals.spent.plus(account.reserved()).of(measure);
                    assert!(used <= limit, "{key:?}: {used} of {limit}, after {event:?}");
                    let beside = u128::from(totals.auxiliary_spent.of(measure))
                        + account.auxiliary_reserved_in(measure);
                    assert!(beside <= u128::from(limit * percent / 100), "{key:?}: {beside} beside runs");
                }
            }
            _ => {}
        }
    }
    accounts
}

fn beside_runs(entries: &[JournalEventRecord]) -> Vec<AccountEvent> {
    let events = account_events(entries).map(|(_, event)| event);
    events
        .filter(|event| match event {
            AccountEvent::Reserved { request } => request.id.class == TaskClass::Auxiliary,
            AccountEvent::Settled { id, .. } | AccountEvent::Released { id } => {
                id.class == TaskClass::Auxiliary
            }
            AccountEvent::WindowOpened { .. }
            | AccountEvent::ToppedUp { .. }
            | AccountEvent::SoftLimitPassed { .. } => false,
        })
        .collect()
}

fn reserved_tokens(events: &[AccountEvent]) -> u64 {
    let AccountEvent::Reserved { request } = events[0] else { panic!("{events:?}") };
    request.amount().tokens
}

fn charged(event: &AccountEvent) -> (UsageAmount, ChargeBasis) {
    let AccountEvent::Settled { charge, .. } = event else { panic!("{event:?}") };
    (charge.charged, charge.basis)
}

#[tokio::test]
async fn a_summary_is_reserved_before_it_is_asked_for_and_charged_with_the_reported_usage() {
    let rig = rig().await;
    talk(&rig).await;
    let each = |kind| palyra_types::budget::BudgetScope::Each(kind);
    for (name, kind) in [("p", PurseKind::Principal), ("a", PurseKind::Agent), ("s", PurseKind::Session)] {
        let change = palyra_admin::usage::BudgetChange { scope: each(kind), ..daily(name, tokens(100_000)) };
        set(&rig, change).await;
    }
    set(&rig, daily("total", tokens(100_000))).await;
    rig.model.push(Script::new().text(SUMMARY).usage(reported(700, 30)));
    let made = compact(&rig).await.made;
    assert_eq!((made.author, made.refused), (SummaryAuthor::Model, None));
    let entries = entries_of(&rig.memory).await;
    let events = beside_runs(&entries);
    let [reserved, settled] = [&events[..4], &events[4..]];
    assert!(reserved.iter().all(|event| matches!(event, AccountEvent::Reserved { .. })), "{events:?}");
    assert!(settled.len() == 4 && settled.iter().all(|event| charged(event).0.tokens == 730), "{events:?}");
    let asked = rig.model.requests().pop().unwrap();
    let cap = asked.output_tokens_max.unwrap();
    assert!(reserved_tokens(&events) > u64::from(cap), "the input and the cap that is sent");
    let place = |wanted: fn(&JournalEvent) -> bool| entries.iter().rposition(|entry| wanted(&entry.event));
    let settled_at = place(|event| matches!(event, JournalEvent::Budget(_)));
    let made_at = place(|event| matches!(event, JournalEvent::Session(SessionEvent::Compacted(_))));
    assert!(settled_at < made_at);
    assert_eq!(checked_accounts(&entries).len(), 4, "total, principal, agent, session");
}

#[tokio::test]
async fn requests_beside_runs_are_usage_with_and_without_a_budget() {
    let rig = rig().await;
    talk(&rig).await;
    rig.model.push(Script::new().text(SUMMARY).usage(reported(700, 30)));
    let made = compact(&rig).await.made;
    assert_eq!(made.author, SummaryAuthor::Model);
    let usage = async |rig: &Rig| {
        let whole =
            rig.gateway.admin.usage.report(rig.me(), UtcDay(i32::MIN), UtcDay(i32::MAX)).await.unwrap();
        let (_, beside) = whole.used.surfaces[Surface::Background.name()];
        let parts = whole.used.sessions.values().chain(whole.used.days.values());
        let sum = parts.fold(0, |sum, part| sum + part.totals.requests);
        assert_eq!(sum, 2 * whole.used.all.totals.requests, "each grouping has the same sum");
        (whole.used, beside.totals)
    };
    let (report, beside) = usage(&rig).await;
    assert_eq!((beside.requests, beside.input_tokens, beside.output_tokens), (1, 700, 30));
    let of_session = report.sessions.iter().find(|(session, _)| session.id == made.session).unwrap().1;
    assert_eq!(of_session.totals.requests, 10, "nine runs and the summary");

    set(&rig, daily("wide", tokens(1_000))).await;
    let embedder = embedder(&rig);
    let me = rig.me().actor.principal;
    soon("vectors", rig.gateway.models.embed(me, query(&"x".repeat(40)))).await.unwrap();
    assert_eq!(embedder.texts().len(), 1);
    let (report, beside) = usage(&rig).await;
    assert_eq!((beside.requests, beside.estimated_requests), (2, 1));
    assert!(report.sessions.keys().any(|session| session.id == SessionId::NIL && session.principal == me));
    let again = rig_on(rig.memory.restarted(), 3_000_017).await;
    assert_eq!(usage(&again).await.1, beside, "a restart counts nothing twice");
}

#[tokio::test]
async fn a_summary_that_no_budget_allows_is_made_by_rule() {
    let rig = rig().await;
    talk(&rig).await;
    set(&rig, daily("small", tokens(1_000))).await;
    let asked = rig.model.requests().len();
    let made = compact(&rig).await.made;
    assert_eq!((made.author, made.refused), (SummaryAuthor::Fallback, Some(SummaryRefusal::OverBudget)));
    assert_eq!(*made.model.expose(), None);
    assert_eq!(rig.model.requests().len(), asked);
    assert!(made.refused.unwrap().in_words().contains("`palyra budget`"));
    assert_eq!(beside_runs(&entries_of(&rig.memory).await), []);
}

#[tokio::test]
async fn a_provider_that_panics_costs_its_summary_and_no_run() {
    let rig = rig().await;
    talk(&rig).await;
    set(&rig, daily("wide", tokens(100_000))).await;
    rig.configure(|config| config.compacts = true);
    rig.model.push(Script::new().fail(ModelFailureClass::ContextExceeded));
    rig.model.push(Script::new().panic());
    let run = rig.submit(KEY, "go on").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    let events = beside_runs(&entries_of(&rig.memory).await);
    assert_eq!(events.len(), 2, "reserved and charged: {events:?}");
    assert_eq!(charged(&events[1]).0.tokens, reserved_tokens(&events));
}

#[tokio::test]
async fn the_end_of_a_summary_that_is_in_doubt_is_recorded_once() {
    let rig = rig().await;
    talk(&rig).await;
    set(&rig, daily("wide", tokens(100_000))).await;
    let begun = rig.model.counts().begun;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text(SUMMARY).usage(reported(700, 30)));
    let sessions = rig.gateway.sessions.clone();
    let session = rig.resolve(by_key(KEY)).await.unwrap().record.session.id;
    let me = rig.me();
    let waiting = tokio::spawn(async move { sessions.compact(me, session).await });
    rig.model.wait_until(|counts| counts.begun == begun + 1).await;
    rig.faults.refuse(Refusal::AnswersInDoubt);
    gate.open();
    soon("the summary", waiting).await.unwrap().unwrap_err();
    rig.faults.mend();
    let run = rig.submit(KEY, "and more").await.run;
    rig.finished(run).await;
    settle().await;
    let events = beside_runs(&entries_of(&rig.memory).await);
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(charged(&events[1]).0.tokens, 730);
}

#[tokio::test]
async fn a_summary_that_a_restart_caught_is_charged_as_reserved_once() {
    let rig = rig().await;
    talk(&rig).await;
    set(&rig, daily("wide", tokens(100_000))).await;
    let begun = rig.model.counts().begun;
    rig.model.push(Script::new().hang());
    let sessions = rig.gateway.sessions.clone();
    let session = rig.resolve(by_key(KEY)).await.unwrap().record.session.id;
    let me = rig.me();
    let waiting = tokio::spawn(async move { sessions.compact(me, session).await });
    rig.model.wait_until(|counts| counts.begun == begun + 1).await;
    let before = beside_runs(&entries_of(&rig.memory).await);
    assert_eq!(before.len(), 1, "only its reservation is recorded");

    let again = rig_on(rig.memory.restarted(), 2_000_003).await;
    settle().await;
    let entries = entries_of(&again.memory).await;
    let events = beside_runs(&entries);
    assert_eq!(events.len(), 2);
    let (amount, basis) = charged(&events[1]);
    assert_eq!((amount.tokens, basis), (reserved_tokens(&events), ChargeBasis::LostRequest));
    assert!(checked_accounts(&entries).values().all(|account| account.open().is_empty()));
    waiting.abort();
}

#[tokio::test]
async fn vectors_draw_on_the_budgets_of_their_person_and_are_refused_above_the_share() {
    let rig = rig().await;
    let embedder = embedder(&rig);
    let me = rig.me().actor.principal;
    set(&rig, daily("small", tokens(100))).await;
    let text = "x".repeat(40);
    let embed = |text: &str| soon("vectors", rig.gateway.models.embed(me, query(text)));
    embed(&text).await.unwrap();
    // Its usage is estimated, so it is charged as reserved: 10 tokens of the 20 of the share.
    let refused = embed(&"x".repeat(60)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::OverBudget);
    let EmbeddingRefusal::Budget(why) = refused else { panic!("{refused:?}") };
    assert!(why.to_string().contains("budget `small` (total, window day) allows auxiliary calls 20 tokens"));
    assert_eq!(embedder.texts().len(), 1, "the refused request was not sent");
    embed(&text).await.unwrap();
    let entries = entries_of(&rig.memory).await;
    let account = checked_accounts(&entries).into_values().next().unwrap();
    assert_eq!((account.totals().auxiliary_spent.tokens, account.open().len()), (20, 0));
}

#[tokio::test]
async fn vectors_of_the_embedded_model_cost_nothing() {
    let rig = rig().await;
    let embedder = ScriptedEmbeddings::new(EmbeddingModelName::Embedded);
    let default = ModelRef::new("scripted", "scripted");
    let directory = ModelDirectory::new(vec![Arc::new(rig.model.clone())], default, Vec::new());
    rig.replace_models(directory.with_embedders(vec![Arc::new(embedder)]));
    set(&rig, daily("none", tokens(1))).await;
    let query = EmbeddingQuery { model: EmbeddingModelName::Embedded, ..query("a text of some length") };
    soon("vectors", rig.gateway.models.embed(rig.me().actor.principal, query)).await.unwrap();
    assert_eq!(beside_runs(&entries_of(&rig.memory).await), []);
}

#[tokio::test]
async fn vectors_whose_caller_leaves_are_charged_as_reserved() {
    let rig = rig().await;
    let embedder = embedder(&rig);
    let me = rig.me().actor.principal;
    set(&rig, daily("wide", tokens(1_000))).await;
    let gate = Gate::closed();
    embedder.hold(&gate);
    let models = rig.gateway.models.clone();
    let leaving = tokio::spawn(async move { models.embed(me, query(&"x".repeat(40))).await });
    settle().await;
    assert_eq!(embedder.texts().len(), 1, "it is under way");
    leaving.abort();
    settle().await;
    let events = beside_runs(&entries_of(&rig.memory).await);
    assert_eq!(
        charged(&events[1]),
        (UsageAmount { tokens: 10, requests: 1, ..UsageAmount::ZERO }, ChargeBasis::LostRequest)
    );
}

/// No account says whether it was recorded, so it is not recorded again.
#[tokio::test]
async fn usage_without_a_budget_whose_record_is_in_doubt_counts_once() {
    let rig = rig().await;
    let embedder = embedder(&rig);
    let me = rig.me().actor.principal;
    let gate = Gate::closed();
    embedder.hold(&gate);
    let models = rig.gateway.models.clone();
    let leaving = tokio::spawn(async move { models.embed(me, query(&"x".repeat(40))).await });
    settle().await;
    assert_eq!(embedder.texts().len(), 1, "it is under way");
    rig.memory.lose_next_answer();
    leaving.abort();
    settle().await;
    // Another one that is left lets the daemon look for unrecorded ends again.
    let models = rig.gateway.models.clone();
    let leaving = tokio::spawn(async move { models.embed(me, query("other words")).await });
    settle().await;
    leaving.abort();
    settle().await;
    let entries = entries_of(&rig.memory).await;
    let used = |entry: &&JournalEventRecord| {
        matches!(entry.event, JournalEvent::Budget(BudgetEvent::AuxiliaryUsed(_)))
    };
    assert_eq!(entries.iter().filter(used).count(), 2, "one for each request");
}

#[tokio::test]
async fn a_refused_request_for_vectors_counts_without_tokens() {
    let rig = rig().await;
    let embedder = embedder(&rig);
    let me = rig.me().actor.principal;
    set(&rig, daily("wide", tokens(1_000))).await;
    embedder.fail(EmbedError::Model(palyra_admin::models::failure(ModelFailureClass::Auth, "no key")));
    soon("a failure", rig.gateway.models.embed(me, query("some text"))).await.unwrap_err();
    let events = beside_runs(&entries_of(&rig.memory).await);
    let refused = (UsageAmount { requests: 1, ..UsageAmount::ZERO }, ChargeBasis::RefusedRequest);
    assert_eq!(charged(&events[1]), refused);
}

/// Draws numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Lets runs, summaries and vectors draw on two budgets in a random order, with callers that leave and answers that fail.
async fn spend_together(seed: u64) -> (usize, usize) {
    let mut dice = Dice(seed);
    let rig = rig_on(MemoryJournal::new(), seed).await;
    let embedder = embedder(&rig);
    rig.model.otherwise(Script::new().text(SUMMARY));
    talk(&rig).await;
    set(&rig, daily("total", tokens(30_000 + dice.below(30_000)))).await;
    let requests = palyra_types::budget::UsageLimits { requests: Some(20), ..Default::default() };
    set(&rig, daily("requests", requests)).await;
    let me = rig.me().actor.principal;
    let mut callers = Vec::new();
    for step in 0..40 {
        match dice.below(6) {
            0 | 1 => drop(rig.submit(&format!("k{}", step % 5), "some words").await),
            2 => {
                let (sessions, caller) = (rig.gateway.sessions.clone(), rig.me());
                let session = rig.resolve(by_key(KEY)).await.unwrap().record.session.id;
                callers.push(tokio::spawn(async move { drop(sessions.compact(caller, session).await) }));
            }
            3 | 4 => {
                let (models, bytes) = (rig.gateway.models.clone(), 40 + dice.below(4_000));
                let text = "x".repeat(usize::try_from(bytes).unwrap());
                callers.push(tokio::spawn(async move { drop(models.embed(me, query(&text)).await) }));
            }
            _ => {
                if dice.below(2) == 0 {
                    embedder.fail(EmbedError::Model(palyra_admin::models::failure(
                        ModelFailureClass::Network,
                        "gone",
                    )));
                } else if let Some(caller) = callers.pop() {
                    caller.abort();
                }
                if dice.below(3) == 0 {
                    settle().await;
                }
            }
        }
    }
    for caller in callers {
        let _ = caller.await;
    }
    settle().await;
    settle().await;
    let entries = entries_of(&rig.memory).await;
    let accounts = checked_accounts(&entries);
    assert!(accounts.values().all(|account| account.open().is_empty()), "seed {seed}: {accounts:?}");
    let of_runs = account_events(&entries).filter(|(_, event)| {
        matches!(event, AccountEvent::Reserved { request } if request.id.class == TaskClass::Interactive)
    });
    (of_runs.count(), beside_runs(&entries).len())
}

#[tokio::test]
async fn runs_summaries_and_vectors_together_never_take_a_budget_above_its_limit() {
    let mut all = (0, 0);
    for seed in 1..=12 {
        let (of_runs, beside) = spend_together(seed).await;
        all = (all.0 + of_runs, all.1 + beside);
    }
    assert!(all.0 > 50 && all.1 > 50, "the histories have both kinds: {all:?}");
}

#[tokio::test]
async fn a_summary_goes_to_the_cheapest_model_that_the_latest_run_may_ask() {
    for names_its_model in [false, true] {
        let rig = rig().await;
        let cheap = ScriptedProvider::new(Arc::new(rig.clock.clone())).named("cheap").with_window(WINDOW);
        let providers: Vec<Arc<dyn ModelProvider>> =
            vec![Arc::new(rig.model.clone()), Arc::new(cheap.clone())];
        let default = ModelRef::new("scripted", "scripted");
        let directory = ModelDirectory::new(providers, default.clone(), Vec::new());
        rig.replace_models(directory.with_fallbacks(vec![ModelRef::new("cheap", "m")]));
        let price = |model: &str, amount: &str| {
            format!("[[price]]\nmodel = \"{model}/*\"\ninput = \"{amount}\"\noutput = \"{amount}\"\n")
        };
        let text = format!("currency = \"EUR\"\n{}{}", price("scripted", "10"), price("cheap", "1"));
        let prices = Some(Arc::new(PriceCatalogue::parse(&text).unwrap()));
        rig.configure(|config| config.prices = prices.clone());
        talk(&rig).await;
        let mut latest = request(by_key(KEY), "the latest");
        latest.model = names_its_model.then(|| default.clone());
        let run = rig.gateway.sessions.submit(rig.me(), latest).await.unwrap().run;
        rig.finished(run).await;
        let before = (rig.model.requests().len(), cheap.requests().len());
        for model in [&rig.model, &cheap] {
            model.otherwise(Script::new().text(SUMMARY));
        }
        let made = compact(&rig).await.made;
        let asked = (rig.model.requests().len() - before.0, cheap.requests().len() - before.1);
        assert_eq!(asked, if names_its_model { (1, 0) } else { (0, 1) });
        let provider = if names_its_model { "scripted" } else { "cheap" };
        assert_eq!(made.model.expose().as_ref().unwrap().provider.as_str(), provider);
    }
}
