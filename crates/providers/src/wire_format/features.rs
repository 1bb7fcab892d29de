//! What a request may wish for beyond the plain format, and which models have refused it.
//!
//! Servers of one format differ in what they know. A wish that a server refuses is left out, and the request is
//! sent again without it before anything was shown. That is finding a common language, and no retry: a plain
//! request is never sent twice. What a model does not know at all is remembered; a schema that is too much for
//! it is a matter of that schema.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use palyra_types::model::{ModelFailure, ModelFailureClass, ModelName};

/// How many refusals are remembered; beyond that servers are asked again.
const REFUSALS_MAX: usize = 256;

/// Something a server may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OptionalFeature {
    /// That the provider makes the answer fit a schema; otherwise the model is told to.
    Schema,
    /// That the model reasons and shows it, or hands its reasoning out to have it back.
    Reasoning,
    /// That the answer ends at a cap; otherwise the run ends it.
    OutputCap,
    /// How freely words are chosen.
    Temperature,
    /// From which part of the likely words one is chosen.
    TopP,
    /// That the answer ends before a text.
    Stop,
    /// Where chance begins.
    Seed,
    /// How much the model thinks.
    Effort,
    /// How long the answer is.
    Verbosity,
    /// How many tools one answer may call.
    CallsPerAnswer,
}

impl OptionalFeature {
    const ALL: [Self; 10] = [
        Self::Schema,
        Self::Reasoning,
        Self::OutputCap,
        Self::Temperature,
        Self::TopP,
        Self::Stop,
        Self::Seed,
        Self::Effort,
        Self::Verbosity,
        Self::CallsPerAnswer,
    ];

    /// What servers name when they refuse it, in lower case.
    fn signs(self) -> &'static [&'static str] {
        match self {
            Self::Schema => &[
                "output_config",
                "output_format",
                "response_format",
                "text.format",
                "'text'",
                "json_schema",
                "structured output",
            ],
            Self::Reasoning => &[
                "thinking",
                "reasoning",
                "'include'",
                "`include`",
                "include:",
                "encrypted content",
                "encrypted_content",
            ],
            Self::OutputCap => &["max_tokens", "max_completion_tokens", "max_output_tokens"],
            Self::Temperature => &["temperature"],
            Self::TopP => &["top_p"],
            // The word alone says nothing.
            Self::Stop => &["'stop'", "`stop`", "\"stop\"", "stop:", "supplied: stop", "stop_sequences"],
            Self::Seed => &["'seed'", "`seed`", "\"seed\"", "seed:", "supplied: seed"],
            // The member of some formats that holds it, where a server does not know that member.
            Self::Effort => &["effort", "output_config:", "parameter: 'reasoning'", "supplied: reasoning"],
            Self::Verbosity => &["verbosity"],
            Self::CallsPerAnswer => &["parallel_tool_calls", "parallel_tool_use"],
        }
    }

    /// Returns whether a failure of this class may be a refusal of it. A cap that does not fit the window beside the
    /// request is refused like a request that is too large.
    fn may_be_refused_by(self, class: ModelFailureClass) -> bool {
        class == ModelFailureClass::Permanent
            || (self == Self::OutputCap && class == ModelFailureClass::ContextExceeded)
    }
}

/// What servers say when it is one value that they do not take, such as a schema or a cap, in lower case.
const OF_ONE_VALUE: &[&str] = &[
    "invalid schema",
    "format.schema",
    "json_schema.schema",
    "too large",
    "at most",
    "maximum",
    "less than",
    "exceed",
    "supported values are",
    "minimum",
    // Of reasoning that was handed back.
    "following item",
    "could not be verified",
    "decrypt",
];

/// What models have refused.
#[derive(Debug, Default)]
pub(crate) struct RefusedFeatures {
    known: Mutex<BTreeSet<(ModelName, OptionalFeature)>>,
}

impl RefusedFeatures {
    /// Returns whether a model does not know a wish.
    pub(crate) fn has(&self, model: &ModelName, feature: OptionalFeature) -> bool {
        self.lock().contains(&(model.clone(), feature))
    }

    /// Returns what a model does not know.
    pub(crate) fn of(&self, model: &ModelName) -> Vec<OptionalFeature> {
        OptionalFeature::ALL.into_iter().filter(|feature| self.has(model, *feature)).collect()
    }

    /// Returns which of the wishes a failure refuses, and remembers it where the model knows it not at all.
    pub(crate) fn learn(
        &self,
        model: &ModelName,
        features: &[OptionalFeature],
        failure: &ModelFailure,
    ) -> Option<OptionalFeature> {
        let said = failure.detail.expose().to_lowercase();
        let names_one = |signs: &[&str]| signs.iter().any(|sign| said.contains(sign));
        let refuses = |feature: &&OptionalFeature| {
            feature.may_be_refused_by(failure.class) && names_one(feature.signs())
        };
        let refused = *features.iter().find(refuses)?;
        if !names_one(OF_ONE_VALUE) {
            let mut known = self.lock();
            if known.len() >= REFUSALS_MAX {
                known.clear();
            }
            known.insert((model.clone(), refused));
        }
        Some(refused)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(ModelName, OptionalFeature)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: ModelFailureClass, detail: &str) -> ModelFailure {
        ModelFailure { class, detail: detail.into(), retry_after: None }
    }

    #[test]
    fn a_refused_wish_is_found_and_remembered_for_its_model() {
        let refusals = RefusedFeatures::default();
        let model = ModelName::new("m");
        let features = [OptionalFeature::Schema, OptionalFeature::Reasoning];
        let learn = |features: &[OptionalFeature], class, detail: &str| {
            refusals.learn(&model, features, &failure(class, detail))
        };
        let permanent = ModelFailureClass::Permanent;
        assert_eq!(learn(&features, ModelFailureClass::RateLimit, "thinking models are busy"), None);
        assert_eq!(learn(&features, permanent, "no such model"), None);
        assert_eq!(learn(&features, permanent, "tools.0.input_schema: no"), None);
        let unknown = "HTTP 400: Response_Format is not supported";
        assert_eq!(learn(&[OptionalFeature::Reasoning], permanent, unknown), None, "it was not wished for");
        let too_much = "Invalid schema for response_format 'answer': no";
        assert_eq!(learn(&features, permanent, too_much), Some(OptionalFeature::Schema));
        assert_eq!(refusals.of(&model), [], "another schema may do");
        assert_eq!(learn(&features, permanent, unknown), Some(OptionalFeature::Schema));
        assert_eq!(refusals.of(&model), [OptionalFeature::Schema]);
        assert_eq!(refusals.of(&ModelName::new("n")), []);
    }

    #[test]
    fn a_cap_is_refused_for_good_or_for_its_size() {
        let refusals = RefusedFeatures::default();
        let model = ModelName::new("m");
        let learn = |class, detail: &str| {
            refusals.learn(&model, &[OptionalFeature::OutputCap], &failure(class, detail))
        };
        let (permanent, context) = (ModelFailureClass::Permanent, ModelFailureClass::ContextExceeded);
        assert_eq!(learn(context, "This model's maximum context length is 4096 tokens"), None);
        assert_eq!(
            learn(context, "`max_tokens` is too large: 9. Maximum context length is 8"),
            Some(OptionalFeature::OutputCap)
        );
        assert_eq!(refusals.of(&model), [], "a smaller one may do");
        assert_eq!(learn(permanent, "Unsupported parameter: 'max_tokens'"), Some(OptionalFeature::OutputCap));
        assert_eq!(refusals.of(&model), [OptionalFeature::OutputCap]);
    }

    #[test]
    fn settings_are_refused_by_their_names_and_for_good_unless_it_is_their_value() {
        let model = ModelName::new("m");
        for (detail, refused, is_remembered) in [
            ("temperature: Extra inputs are not permitted", Some(OptionalFeature::Temperature), true),
            (
                "temperature: Input should be less than or equal to 1",
                Some(OptionalFeature::Temperature),
                false,
            ),
            ("Unsupported parameter: 'stop' is not supported", Some(OptionalFeature::Stop), true),
            ("the server has to stop", None, false),
            ("output_config.effort: unknown", Some(OptionalFeature::Effort), true),
            ("output_config: Extra inputs are not permitted", Some(OptionalFeature::Effort), true),
            ("output_config.format: unknown", Some(OptionalFeature::Schema), true),
            ("Unknown parameter: 'include'.", Some(OptionalFeature::Reasoning), true),
            ("Encrypted content is not supported with this model.", Some(OptionalFeature::Reasoning), true),
            ("Unsupported parameter: 'reasoning.effort'", Some(OptionalFeature::Effort), true),
            ("Unknown parameter: 'reasoning'.", Some(OptionalFeature::Effort), true),
            ("Unsupported parameter: 'text.format'", Some(OptionalFeature::Schema), true),
            ("The encrypted content gAAA... could not be verified.", Some(OptionalFeature::Reasoning), false),
            (
                "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
                Some(OptionalFeature::Reasoning),
                false,
            ),
            (
                "Unsupported value: 'reasoning_effort' does not support 'max'. Supported values are: 'low'",
                Some(OptionalFeature::Effort),
                false,
            ),
        ] {
            let refusals = RefusedFeatures::default();
            let features = [
                OptionalFeature::Temperature,
                OptionalFeature::Stop,
                OptionalFeature::Effort,
                OptionalFeature::Schema,
                OptionalFeature::Reasoning,
            ];
            let failure = failure(ModelFailureClass::Permanent, detail);
            assert_eq!(refusals.learn(&model, &features, &failure), refused, "{detail}");
            assert_eq!(!refusals.of(&model).is_empty(), is_remembered, "{detail}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let refusals = RefusedFeatures::default();
        let no = failure(ModelFailureClass::Permanent, "json_schema: unknown");
        for number in 0..1_000 {
            let model = ModelName::new(&number.to_string());
            assert_eq!(
                refusals.learn(&model, &[OptionalFeature::Schema], &no),
                Some(OptionalFeature::Schema)
            );
        }
        assert!(refusals.lock().len() <= REFUSALS_MAX);
    }
}
