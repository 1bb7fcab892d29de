//! Which models see images, as their server listed it or a test has shown.
//!
//! A cache of the adapter: without it the catalogue and the format decide.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_types::model::ModelName;

/// Models that are remembered, at most.
const MODELS_MAX: usize = 2_000;

/// What is known, by model.
#[derive(Debug, Default)]
pub(crate) struct ImageKnowledge(Mutex<BTreeMap<ModelName, bool>>);

impl ImageKnowledge {
    /// Returns whether a model sees images, if that is known.
    pub(crate) fn of(&self, model: &ModelName) -> Option<bool> {
        self.lock().get(model).copied()
    }

    /// Remembers a model that sees images.
    pub(crate) fn learn_seeing(&self, model: &ModelName) {
        self.remember(model, true);
    }

    /// Remembers a model that sees none.
    pub(crate) fn learn_blind(&self, model: &ModelName) {
        self.remember(model, false);
    }

    fn remember(&self, model: &ModelName, sees: bool) {
        let mut known = self.lock();
        if known.len() >= MODELS_MAX {
            known.clear();
        }
        known.insert(model.clone(), sees);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ModelName, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
