//! Usage of models by a run, by day and model: folded into the row of the run, so that no entry writes a row more.
//!
//! A model is counted by its place in the run's chain, which is a fact. The names of the chain are erased with the start of
//! the run. Begin at [`RunUsage::fold`].

use palyra_ports::read_usage::UsageTotals;
use palyra_types::event::{ModelEvent, NextAttempt, RunStarted};
use palyra_types::model::TokenUsage;
use palyra_types::surface::Surface;
use palyra_types::{Redacted, UtcDay};

use crate::families::usage_share::UsageShare;

/// Usage of models by a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunUsage {
    /// Where its input came from; `None` for a run without a start.
    pub surface: Option<Surface>,
    /// The names of its chain of models, as they are stored.
    pub(super) stored_models: Redacted<Vec<u8>>,
    /// The place in the chain of the model that is asked next.
    pub(super) place: u32,
    /// Estimated tokens of the newest request.
    pub(super) context_tokens: u64,
    /// Its parts, by day and place in the chain, in the order of the first requests.
    pub shares: Vec<UsageShare>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ModelNames {
    #[prost(string, repeated, tag = "1")]
    names: Vec<String>,
}

impl RunUsage {
    /// Makes the usage of a run that begins.
    pub(super) fn of_start(started: &RunStarted) -> Self {
        let chain = started.model.expose().iter().chain(started.fallbacks.expose());
        let names = ModelNames { names: chain.map(ToString::to_string).collect() };
        let stored_models = Redacted::from_stored(prost::Message::encode_to_vec(&names));
        Self { surface: Some(started.surface), stored_models, ..Self::default() }
    }

    /// Counts an entry of the run's tape.
    pub(super) fn fold(&mut self, event: &ModelEvent, day: UtcDay) {
        match event {
            ModelEvent::Requested(requested) => {
                self.context_tokens = requested.context.tokens_estimated;
                self.share(day).requests += 1;
            }
            ModelEvent::Switched { passed_over, .. } => {
                self.place = self.place.saturating_add(*passed_over);
            }
            ModelEvent::Message(message) => self.charge(day, message.usage),
            ModelEvent::AttemptAbandoned { text_from, text_to, cause, next, .. } => {
                let estimated = cause.estimated_usage(self.context_tokens, *text_from, *text_to);
                estimated.into_iter().for_each(|usage| self.charge(day, usage));
                self.place = self.place.saturating_add((*next == NextAttempt::NextModel).into());
            }
            ModelEvent::Text { .. } | ModelEvent::Reasoning { .. } => {}
        }
    }

    /// Returns the last day on which it used something.
    pub(super) fn last_day(&self) -> Option<UtcDay> {
        self.shares.iter().map(|share| share.day).max()
    }

    /// Returns the name of the model at a place of the chain; empty once it was erased.
    pub(super) fn model(&self, place: u32) -> Redacted<String> {
        let mut names = self.stored_models.clone().map(|stored| names_of(&stored)).into_elements();
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        if place < names.len() { names.swap_remove(place) } else { Redacted::default() }
    }

    fn charge(&mut self, day: UtcDay, usage: TokenUsage) {
        self.share(day).add_tokens(usage);
    }

    fn share(&mut self, day: UtcDay) -> &mut UsageTotals {
        let place = self.place;
        let known = self.shares.iter().rposition(|share| share.day == day && share.place == place);
        let at = known.unwrap_or_else(|| {
            self.shares.push(UsageShare { day, place, totals: UsageTotals::default() });
            self.shares.len() - 1
        });
        &mut self.shares[at].totals
    }
}

fn names_of(stored: &[u8]) -> Vec<String> {
    <ModelNames as prost::Message>::decode(stored).unwrap_or_default().names
}
