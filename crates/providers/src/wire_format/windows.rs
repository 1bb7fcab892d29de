//! How large the windows of models are, as their server told it when it listed them.
//!
//! A cache of the adapter: without it a model has the window that its format assumes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use palyra_ports::ModelInfo;
use palyra_types::model::ModelName;

/// Models whose windows are remembered, at most.
const WINDOWS_MAX: usize = 2_000;

/// Windows in tokens, by model.
#[derive(Debug, Default)]
pub(crate) struct Windows(Mutex<BTreeMap<ModelName, u64>>);

impl Windows {
    /// Returns what the server told of a model.
    pub(crate) fn window_of(&self, model: &ModelName) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    }

    /// Replaces what is known by a list.
    pub(crate) fn learn(&self, models: &[ModelInfo]) {
        let windows = models.iter().take(WINDOWS_MAX).map(|info| (info.name.clone(), info.context_tokens));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = windows.collect();
    }
}
