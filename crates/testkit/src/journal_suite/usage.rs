//! Usage of models.

use std::sync::Arc;

use palyra_journal_core::families::runs::{PastUsage, usage_of_run, usage_report};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::read_usage::{PriceUsage, PricedUsage, UsageQuery, UsageReport, UsageTotals};
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::event::{AbandonCause, JournalEvent, ModelEvent, NextAttempt, RunEvent, TapeEvent};
use palyra_types::model::{ModelFailureClass, ModelRef};
use palyra_types::surface::Surface;
use palyra_types::{Attempt, PrincipalId, Redacted, RunId, TapeSeq, Timestamp, UtcDay};

use super::JournalFactory;
use super::samples::{self, SampleRun, append};
use crate::family_oracle::SamplePrices;

/// Tokens that a request of the samples is estimated to have.
const CONTEXT_TOKENS: u64 = 812;

fn query(principal: Option<PrincipalId>, from: UtcDay, until: UtcDay) -> UsageQuery {
    UsageQuery { principal, from, until }
}

fn answered(requests: u64, answers: u64) -> UsageTotals {
    let used = samples::usage();
    let mut totals = UsageTotals { requests, ..UsageTotals::default() };
    (0..answers).for_each(|_| totals.add_tokens(used));
    totals
}

fn priced(model: &str, day: UtcDay, totals: UsageTotals) -> PricedUsage {
    PricedUsage::new(totals, SamplePrices.cost_of(model, day, &totals))
}

fn sum(parts: impl IntoIterator<Item = PricedUsage>) -> PricedUsage {
    parts.into_iter().fold(PricedUsage::default(), |mut sum, part| {
        sum.add(part);
        sum
    })
}

async fn report(journal: &(impl QueryFamilies + ?Sized), query: UsageQuery) -> UsageReport {
    journal.query(move |rows, _| usage_report(rows, &query, &SamplePrices)).await.unwrap()
}

async fn of_run(journal: &(impl QueryFamilies + ?Sized), run: RunId) -> PricedUsage {
    journal.query(move |rows, _| usage_of_run(rows, run, &SamplePrices)).await.unwrap()
}

/// Returns the totals of all and of each day, without costs.
fn totals(report: &UsageReport) -> Vec<UsageTotals> {
    let days = report.days.values().map(|used| used.totals);
    std::iter::once(report.all.totals).chain(days).collect()
}

async fn all_time(
    journal: &(impl QueryFamilies + ?Sized),
    mut past: PastUsage,
    today: UtcDay,
) -> (PastUsage, PricedUsage) {
    let advanced = journal.query(move |rows, _| {
        let totals = past.advance(rows, today, &SamplePrices)?;
        Ok((past, totals))
    });
    advanced.await.unwrap()
}

fn models(report: &UsageReport) -> Vec<(&str, PricedUsage)> {
    report.models.iter().map(|(name, used)| (name.expose().as_str(), *used)).collect()
}

/// Returns the entries of an attempt that fails after a word, and of a model that is passed over.
fn failover(run: &mut SampleRun) -> [NewEntry; 2] {
    let failed = run.entry(TapeEvent::Model(ModelEvent::AttemptAbandoned {
        attempt: Attempt(1),
        text_from: TapeSeq(3),
        text_to: TapeSeq(3),
        cause: AbandonCause::Failure(ModelFailureClass::Transient),
        next: NextAttempt::NextModel,
        retry_at: None,
        detail: Redacted::default(),
    }));
    let switched = run.entry(TapeEvent::Model(ModelEvent::Switched {
        attempt: Attempt(2),
        passed_over: 1,
        model: Redacted::default(),
    }));
    [failed, switched]
}

/// A run over midnight whose first model fails after some words, beside one of another person: both are counted once, on their
/// days, and with the models that were asked. Without its first entry the names are gone, and the numbers stay.
pub async fn usage_is_summed_by_day_model_session_and_surface(factory: &impl JournalFactory) {
    let journal = factory.make();
    let me = samples::principal(0);
    let other = samples::principal(1);
    let mut run = SampleRun::new(samples::session(me, 0), 1);
    let first_day = UtcDay::from(run.time);
    let next_day = UtcDay(first_day.0 + 1);
    let mut start = run.started("go");
    if let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut start.event {
        started.surface = Surface::Openai;
        started.fallbacks = vec![ModelRef::new("demo", "small"), ModelRef::new("demo", "large")].into();
    }
    let born = journal.append(append(vec![start, run.requested(1), run.text(1, "He")])).await.unwrap();
    let [failed, switched] = failover(&mut run);
    journal.append(append(vec![failed, switched, run.requested(2)])).await.unwrap();
    run.time = next_day.start();
    journal.append(append(vec![run.message(2, 0), run.finished()])).await.unwrap();
    let mut theirs = SampleRun::new(samples::session(other, 0), 2);
    for part in theirs.text_run() {
        journal.append(part).await.unwrap();
    }

    let words = UsageTotals {
        requests: 1,
        estimated_requests: 1,
        input_tokens: CONTEXT_TOKENS,
        output_tokens: 6,
        ..UsageTotals::default()
    };
    let broken = priced("demo/demo-1", first_day, words);
    let asked = priced("demo/large", first_day, answered(1, 0));
    let answer = priced("demo/large", next_day, answered(0, 1));
    let mine = sum([broken, asked, answer]);
    let both_days = report(&journal, query(Some(me), first_day, next_day)).await;
    assert_eq!(both_days.all, mine);
    assert_eq!(models(&both_days), [("demo/demo-1", broken), ("demo/large", sum([asked, answer]))]);
    assert_eq!(both_days.sessions.into_iter().collect::<Vec<_>>(), [(run.session, mine)]);
    assert_eq!(both_days.surfaces["openai"], (Some(Surface::Openai), mine));
    assert_eq!(both_days.agents.into_values().collect::<Vec<_>>(), [mine]);
    assert_eq!(both_days.days[&next_day], answer, "an answer counts on the day of its end");
    assert_eq!(of_run(&journal, run.run).await, mine);
    assert_eq!(of_run(&journal, RunId::from_parts(9, 9)).await, PricedUsage::default());
    let late = report(&journal, query(Some(me), next_day, next_day)).await;
    assert_eq!((late.all, late.days.len()), (answer, 1));
    let of_all = report(&journal, query(None, first_day, next_day)).await;
    let others = UtcDay::from(theirs.time);
    let all = sum([mine, priced("demo/demo-1", others, answered(1, 1))]);
    assert_eq!((of_all.all, of_all.surfaces.len()), (all, 2));
    let before = report(&journal, query(None, first_day.minus(9), first_day.minus(1))).await;
    assert_eq!(before, UsageReport::default());

    factory.erase(&journal, born.first_seq);
    journal.rebuild(Arc::new(|_, _| {})).await.unwrap();
    let erased = report(&journal, query(None, first_day, next_day)).await;
    assert_eq!(totals(&erased), totals(&of_all));
    let parts = [(first_day, asked), (first_day, broken), (next_day, answer)];
    assert_eq!(models(&erased)[0].1, sum(parts.map(|(day, part)| priced("", day, part.totals))));
    assert_eq!(models(&erased).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["", "demo/demo-1"]);
}

/// Days that were summed before are not read again, and nothing is counted twice or left out when days pass.
pub async fn totals_of_all_days_are_the_same_however_often_they_are_asked_for(factory: &impl JournalFactory) {
    let journal = factory.make();
    let session = samples::session(samples::principal(0), 0);
    let mut long = SampleRun::new(session, 0);
    let first_day = UtcDay::from(long.time);
    journal.append(append(vec![long.started("go"), long.requested(1)])).await.unwrap();
    let mut past = PastUsage::default();
    for day in 0..6_u64 {
        let today = UtcDay(first_day.0 + i32::try_from(day).unwrap());
        let mut short = SampleRun::new(samples::session(samples::principal(1), 0), 1 + day);
        for time in [&mut long.time, &mut short.time] {
            *time = Timestamp(time.0.max(today.start().0));
        }
        let attempt = u32::try_from(day).unwrap() + 1;
        journal.append(append(vec![long.message(attempt, 0), long.requested(attempt + 1)])).await.unwrap();
        for part in short.text_run() {
            journal.append(part).await.unwrap();
        }
        let anew = all_time(&journal, PastUsage::default(), today).await.1;
        assert_eq!(anew.totals, answered(2 * day + 3, 2 * day + 2));
        for _ in 0..2 {
            let (next, totals) = all_time(&journal, past, today).await;
            assert_eq!(totals, anew, "day {day}");
            past = next;
        }
    }
}
