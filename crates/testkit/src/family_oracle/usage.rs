//! Usage of models, by a naive fold over all entries.

use std::collections::BTreeMap;

use palyra_ports::read_usage::{UsageReport, UsageTotals};
use palyra_types::event::{AbandonCause, JournalEvent, ModelEvent, NextAttempt, RunEvent, TapeEvent};
use palyra_types::model::{ModelRef, TokenUsage, UsageSource};
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::tape::JournalEventRecord;
use palyra_types::{Redacted, RunId, TapeSeq, UtcDay};

/// Tokens of a text entry of an attempt without an answer.
const TOKENS_PER_TEXT_ENTRY: u64 = 6;

struct AskedModels {
    session: SessionRef,
    surface: Option<Surface>,
    chain: Vec<ModelRef>,
    place: usize,
    context_tokens: u64,
}

/// Returns the usage on all days by all runs there ever were.
pub(super) fn usage(entries: &[JournalEventRecord]) -> UsageReport {
    let mut runs: BTreeMap<RunId, AskedModels> = BTreeMap::new();
    let mut models: BTreeMap<String, UsageTotals> = BTreeMap::new();
    let mut report = UsageReport::default();
    for entry in entries {
        let (Some((run, tape_seq)), Some(session)) = (entry.run, entry.session) else { continue };
        let JournalEvent::Tape(event) = &entry.event else { continue };
        if tape_seq == TapeSeq(1) {
            runs.insert(run, begun(event, SessionRef { principal: entry.principal, id: session }));
        }
        let (TapeEvent::Model(event), Some(asked)) = (event, runs.get_mut(&run)) else { continue };
        let model = asked.chain.get(asked.place).map(ToString::to_string).unwrap_or_default();
        let Some(used) = used_by(asked, event) else { continue };
        report.all.add(used);
        report.days.entry(UtcDay::from(entry.time)).or_default().add(used);
        report.sessions.entry(asked.session).or_default().add(used);
        let name = asked.surface.map_or("", Surface::name);
        report.surfaces.entry(name).or_insert((asked.surface, UsageTotals::default())).1.add(used);
        models.entry(model).or_default().add(used);
    }
    report.models = models.into_iter().map(|(name, used)| (Redacted::cleaned(name), used)).collect();
    report
}

fn begun(event: &TapeEvent, session: SessionRef) -> AskedModels {
    let mut asked = AskedModels { session, surface: None, chain: Vec::new(), place: 0, context_tokens: 0 };
    if let TapeEvent::Run(RunEvent::Started(started)) = event {
        asked.surface = Some(started.surface);
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
    }
}
