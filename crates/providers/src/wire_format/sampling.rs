//! Settings of a request that not every server knows, as features that may be refused.

use palyra_types::sampling::SamplingOptions;

use super::features::OptionalFeature;

/// Returns the settings without those that a model has refused, and the feature of each that is left.
pub(crate) fn accepted(
    options: &SamplingOptions,
    refused: &[OptionalFeature],
) -> (SamplingOptions, Vec<OptionalFeature>) {
    let is_taken = |feature| !refused.contains(&feature);
    let stop = if is_taken(OptionalFeature::Stop) { options.stop.clone() } else { Vec::new() };
    let accepted = SamplingOptions {
        temperature: options.temperature.filter(|_| is_taken(OptionalFeature::Temperature)),
        top_p: options.top_p.filter(|_| is_taken(OptionalFeature::TopP)),
        stop,
        seed: options.seed.filter(|_| is_taken(OptionalFeature::Seed)),
        reasoning_effort: options.reasoning_effort.filter(|_| is_taken(OptionalFeature::Effort)),
        verbosity: options.verbosity.filter(|_| is_taken(OptionalFeature::Verbosity)),
        calls_per_answer: options.calls_per_answer.filter(|_| is_taken(OptionalFeature::CallsPerAnswer)),
    };
    let features = [
        (accepted.temperature.is_some(), OptionalFeature::Temperature),
        (accepted.top_p.is_some(), OptionalFeature::TopP),
        (!accepted.stop.is_empty(), OptionalFeature::Stop),
        (accepted.seed.is_some(), OptionalFeature::Seed),
        (accepted.reasoning_effort.is_some(), OptionalFeature::Effort),
        (accepted.verbosity.is_some(), OptionalFeature::Verbosity),
        (accepted.calls_per_answer.is_some(), OptionalFeature::CallsPerAnswer),
    ];
    (accepted, features.into_iter().filter_map(|(is_used, feature)| is_used.then_some(feature)).collect())
}
