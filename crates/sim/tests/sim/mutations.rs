//! Each deliberate mistake is found, and recognised for what it is.

use palyra_sim::{Mutation, TraceMode, campaign, tell};

/// Stories in which a mistake may be found, at most.
const SEEDS_MAX: u64 = 400;

#[test]
fn every_mistake_is_found_and_recognised() {
    campaign::silence_expected_panics();
    let mut missed = Vec::new();
    for mutation in Mutation::ALL {
        let mut others = Vec::new();
        let recognised = (0..SEEDS_MAX).any(|seed| {
            let findings = tell(seed, Some(mutation), TraceMode::Digest).findings;
            let known = |finding: &String| mutation.found_as().iter().any(|words| finding.contains(words));
            let known = findings.iter().any(known);
            others.extend(findings.into_iter().take(1));
            known
        });
        if !recognised {
            missed.push(format!("{mutation:?}, instead: {others:?}"));
        }
    }
    assert!(missed.is_empty(), "not recognised: {missed:#?}");
}
