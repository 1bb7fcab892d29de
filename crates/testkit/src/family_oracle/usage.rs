//! Usage of models, by a naive fold over all entries, and prices for tests.

use std::collections::BTreeMap;

use palyra_ports::read_usage::{PriceUsage, PricedUsage, UsageReport, UsageTotals};
use palyra_types::budget::{AuxiliaryUse, BudgetEvent};
use palyra_types::event::{AbandonCause, JournalEvent, ModelEvent, NextAttempt, RunEvent, TapeEvent};
use palyra_types::model::{ModelRef, TokenUsage, UsageSource};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{AgentId, Redacted, RunId, SessionId, TapeSeq, UtcDay};

/// Tokens of a text entry of an attempt without an answer.
const TOKENS_PER_TEXT_ENTRY: u64 = 6;

/// Prices that some models have on some days. The cost grows evenly with the tokens, so that the sum of the costs of parts is
/// the cost of the sum.
#[derive(Debug, Clone, Copy)]
pub struct SamplePrices;

impl PriceUsage for SamplePrices {
    fn cost_of(&self, model: &str, day: UtcDay, used: &UsageTotals) -> Option<u64> {
        let rate = (model.len() + usize::from(day.0 % 2 == 0)) % 3;
        let rate = u128::try_from(rate).ok().filter(|rate| *rate > 0)?;
        let weights = [
            (used.input_tokens, 10),
            (used.cached_input_tokens, 1),
            (used.output_tokens, 50),
            (used.reasoning_tokens, 3),
        ];
        let weighted: u128 = weights.iter().map(|(tokens, weight)| u128::from(*tokens) * weight).sum();
        Some(u64::try_from(rate * weighted).unwrap_or(u64::MAX))
    }
}

struct AskedModels {
    session: SessionRef,
    agent: AgentId,
    surface: Option<Surface>,
    chain: Vec<ModelRef>,
    place: usize,
    context_tokens: u64,
}

/// Returns the usage on all days by all runs there ever were, with the costs by [`SamplePrices`].
pub(super) fn usage(entries: &[JournalEventRecord]) -> UsageReport {
    let mut runs: BTreeMap<RunId, AskedModels> = BTreeMap::new();
    let mut models: BTreeMap<String, PricedUsage> = BTreeMap::new();
    let mut report = UsageReport::default();
    for entry in entries {
        if let JournalEvent::Budget(BudgetEvent::AuxiliaryUsed(used)) = &entry.event {
            add_beside_runs(&mut report, &mut models, entry, used);
            continue;
        }
        let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { continue };
        let JournalEvent::Tape(event) = &entry.event else { continue };
        if tape_seq == TapeSeq(1) {
            runs.insert(run, begun(event, SessionRef { principal: entry.principal, id: session }));
        }
        let (TapeEvent::Model(event), Some(asked)) = (event, runs.get_mut(&run)) else { continue };
        let model = asked.chain.get(asked.place).map(ToString::to_string).unwrap_or_default();
        let Some(used) = used_by(asked, event) else { continue };
        let day = UtcDay::from(entry.time);
        let used = PricedUsage::new(used, SamplePrices.cost_of(&model, day, &used));
        report.all.add(used);
        report.days.entry(day).or_default().add(used);
        report.agents.entry(asked.agent).or_default().add(used);
        report.sessions.entry(asked.session).or_default().add(used);
        let name = asked.surface.map_or("", Surface::name);
        report.surfaces.entry(name).or_insert((asked.surface, PricedUsage::default())).1.add(used);
        models.entry(model).or_default().add(used);
    }
    report.models = models.into_iter().map(|(name, used)| (Redacted::cleaned(name), used)).collect();
    report
}

/// Adds a request beside runs.
fn add_beside_runs(
    report: &mut UsageReport,
    models: &mut BTreeMap<String, PricedUsage>,
    entry: &JournalEventRecord,
    used: &AuxiliaryUse,
) {
    let model = used.model.expose().as_ref().map(ToString::to_string).unwrap_or_default();
    let mut totals = UsageTotals { requests: 1, ..UsageTotals::default() };
    totals.add_tokens(used.usage);
    let day = UtcDay::from(entry.time);
    let priced = PricedUsage::new(totals, SamplePrices.cost_of(&model, day, &totals));
    let session = SessionRef { principal: entry.principal, id: used.session.unwrap_or(SessionId::NIL) };
    report.all.add(priced);
    report.days.entry(day).or_default().add(priced);
    report.agents.entry(used.agent.unwrap_or(AgentId::NIL)).or_default().add(priced);
    report.sessions.entry(session).or_default().add(priced);
    let surface = Surface::Background;
    report.surfaces.entry(surface.name()).or_insert((Some(surface), PricedUsage::default())).1.add(priced);
    models.entry(model).or_default().add(priced);
}

fn begun(event: &TapeEvent, session: SessionRef) -> AskedModels {
    let mut asked = AskedModels {
        session,
        agent: AgentId::NIL,
        surface: None,
        chain: Vec::new(),
        place: 0,
        context_tokens: 0,
    };
    if let TapeEvent::Run(RunEvent::Started(started)) = event {
        asked.surface = Some(started.surface);
        asked.agent = started.agent;
        asked.chain.extend(started.model.expose().clone());
        asked.chain.extend(started.fallbacks.expose().iter().cloned());
    }
    asked
}

/// Returns what an entry adds to the model that was asked before it.
fn used_by(asked: &mut AskedModels, event: &ModelEvent) -> Option<UsageTotals> {
    match event {
        ModelEvent::Requested(requested) => {
            asked.context_tokens = requested.context.tokens_estimated;
            Some(UsageTotals { requests: 1, ..UsageTotals::default() })
        }
        ModelEvent::Switched { passed_over, .. } => {
            asked.place += *passed_over as usize;
            None
        }
        ModelEvent::Message(message) => Some(tokens(message.usage)),
        ModelEvent::AttemptAbandoned { text_from, text_to, cause, next, .. } => {
            if *next == NextAttempt::NextModel {
                asked.place += 1;
            }
            let texts = match text_from.0 {
                0 if matches!(cause, AbandonCause::Failure(_)) => return None,
                0 => 0,
                from => 1 + u64::from(text_to.0.max(from) - from),
            };
            Some(tokens(TokenUsage {
                input_tokens: asked.context_tokens,
                output_tokens: texts * TOKENS_PER_TEXT_ENTRY,
                source: UsageSource::Estimated,
                ..TokenUsage::default()
            }))
        }
        ModelEvent::Text { .. } | ModelEvent::Reasoning { .. } => None,
    }
}

fn tokens(used: TokenUsage) -> UsageTotals {
    UsageTotals {
        requests: 0,
        estimated_requests: if used.source == UsageSource::Estimated { 1 } else { 0 },
        input_tokens: used.input_tokens,
        cached_input_tokens: used.cached_input_tokens,
        output_tokens: used.output_tokens,
        reasoning_tokens: used.reasoning_tokens,
    }
}
