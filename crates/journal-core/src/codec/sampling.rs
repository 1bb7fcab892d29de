//! Stored form of the settings of a run's model requests: numbers and choices are facts, texts are content.

use palyra_types::Redacted;
use palyra_types::sampling::{SamplingNumber, SamplingOptions};
use palyra_wire::store;

use super::field::ReadResult;
use super::stored_enums::StoredEnum;

/// Returns the facts; `None` where everything is left to the provider, as in entries of older versions.
pub(super) fn sampling_to_stored(options: &SamplingOptions) -> Option<store::SamplingOptions> {
    let stored = store::SamplingOptions {
        temperature_millionths: options.temperature.map(|number| number.millionths),
        top_p_millionths: options.top_p.map(|number| number.millionths),
        seed: options.seed,
        reasoning_effort: options.reasoning_effort.map(StoredEnum::to_stored),
        verbosity: options.verbosity.map(StoredEnum::to_stored),
        calls_per_answer: options.calls_per_answer.map(StoredEnum::to_stored),
    };
    (stored != store::SamplingOptions::default()).then_some(stored)
}

/// Reads the facts and the texts of the payload.
pub(super) fn sampling_from_stored(
    stored: store::SamplingOptions,
    stop: Vec<String>,
) -> ReadResult<SamplingOptions> {
    let number = |millionths| SamplingNumber { millionths };
    Ok(SamplingOptions {
        temperature: stored.temperature_millionths.map(number),
        top_p: stored.top_p_millionths.map(number),
        stop: stop.into_iter().map(Redacted::from_stored).collect(),
        seed: stored.seed,
        reasoning_effort: stored.reasoning_effort.map(StoredEnum::from_stored).transpose()?,
        verbosity: stored.verbosity.map(StoredEnum::from_stored).transpose()?,
        calls_per_answer: stored.calls_per_answer.map(StoredEnum::from_stored).transpose()?,
    })
}
