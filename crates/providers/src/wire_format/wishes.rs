//! What a request may wish for beyond the plain format, and which models have refused it.
//!
//! Servers of one format differ in what they know. A wish that a server refuses as unknown is left out
//! for that model from then on; the request is sent again without it before anything was shown. That is
//! finding a common language, and no retry: a plain request is never sent twice.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_types::model::{ModelFailure, ModelFailureClass, ModelName};

/// How many refusals are remembered; beyond that servers are asked again.
const REFUSALS_MAX: usize = 256;

/// Something a server may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wish {
    /// That the provider makes the answer fit a schema; otherwise the model is told to.
    Schema,
    /// That the model reasons and shows it.
    Reasoning,
}

impl Wish {
    /// What servers name when they refuse it, in lower case.
    fn signs(self) -> &'static [&'static str] {
        match self {
            Self::Schema => {
                &["output_config", "output_format", "response_format", "json_schema", "schema", "structured"]
            }
            Self::Reasoning => &["thinking", "reasoning"],
        }
    }
}

/// What models have refused.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    known: Mutex<BTreeSet<(ModelName, Wish)>>,
}

impl Refusals {
    /// Returns whether a model has refused a wish.
    pub(crate) fn has(&self, model: &ModelName, wish: Wish) -> bool {
        self.lock().contains(&(model.clone(), wish))
    }

    /// Returns whether a failure refuses one of the wishes, which is remembered then.
    pub(crate) fn learn(&self, model: &ModelName, wishes: &[Wish], failure: &ModelFailure) -> bool {
        if failure.class != ModelFailureClass::Permanent {
            return false;
        }
        let said = failure.detail.expose().to_lowercase();
        let refused = wishes.iter().find(|wish| wish.signs().iter().any(|sign| said.contains(sign)));
        let Some(wish) = refused else { return false };
        let mut known = self.lock();
        if known.len() >= REFUSALS_MAX {
            known.clear();
        }
        known.insert((model.clone(), *wish))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(ModelName, Wish)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_wish_is_learnt_once_and_for_its_model() {
        let refusals = Refusals::default();
        let model = ModelName::new("m");
        let failure = |class, detail: &str| ModelFailure { class, detail: detail.into(), retry_after: None };
        let wishes = [Wish::Schema, Wish::Reasoning];
        let no_schema = failure(ModelFailureClass::Permanent, "HTTP 400: Response_Format is not supported");
        let busy = failure(ModelFailureClass::RateLimit, "thinking models are busy");
        let other = failure(ModelFailureClass::Permanent, "no such model");
        assert!(!refusals.learn(&model, &wishes, &busy) && !refusals.learn(&model, &wishes, &other));
        assert!(!refusals.learn(&model, &[Wish::Reasoning], &no_schema), "it was not wished for");
        assert!(refusals.learn(&model, &wishes, &no_schema));
        assert!(!refusals.learn(&model, &wishes, &no_schema), "the second time it is a failure");
        assert!(refusals.has(&model, Wish::Schema) && !refusals.has(&model, Wish::Reasoning));
        assert!(!refusals.has(&ModelName::new("n"), Wish::Schema));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let refusals = Refusals::default();
        let no =
            ModelFailure { class: ModelFailureClass::Permanent, detail: "schema".into(), retry_after: None };
        for number in 0..1_000 {
            assert!(refusals.learn(&ModelName::new(&number.to_string()), &[Wish::Schema], &no));
        }
        assert!(refusals.lock().len() <= REFUSALS_MAX);
    }
}
