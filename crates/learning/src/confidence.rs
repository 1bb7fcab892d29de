//! How sure a candidate is, in basis points.
//!
//! Each run that supports it removes a share of the doubt, less the older it is; each statement against it takes a share of the
//! confidence away. Integers only, so that the same evidence gives the same figure everywhere.

use palyra_types::{RunId, Timestamp};

/// Certainty.
pub const FULL_CONFIDENCE_BPS: u32 = 10_000;
/// After so many days a statement counts half.
const HALF_DAYS: u64 = 180;
const DAY_MICROS: u64 = 24 * 60 * 60 * 1_000_000;
/// A statement against a newer one counts this part of one against an older one: people correct themselves.
const CORRECTED_SHARE: u64 = 100;

/// A statement for or against a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupportingEvidence {
    /// The run; of several statements of a run the strongest one counts.
    pub run: RunId,
    /// When it was made.
    pub time: Timestamp,
    /// How sure it is by itself, in basis points.
    pub strength_bps: u32,
}

/// Returns how sure something is for which and against which these statements are.
#[must_use]
pub fn confidence_bps(
    supporting: &[SupportingEvidence],
    against: &[SupportingEvidence],
    now: Timestamp,
) -> u32 {
    let full = u64::from(FULL_CONFIDENCE_BPS);
    let for_it = full - doubt(supporting, now);
    let latest = supporting.iter().map(|evidence| evidence.time).max().unwrap_or_default();
    let (older, newer): (Vec<_>, Vec<_>) = against.iter().copied().partition(|other| other.time < latest);
    let corrected = (full - doubt(&older, now)) / CORRECTED_SHARE;
    let contradicted = full - doubt(&newer, now);
    let left = for_it * (full - corrected) / full * (full - contradicted) / full;
    u32::try_from(left).unwrap_or_default()
}

/// Returns the doubt that evidence leaves.
fn doubt(evidence: &[SupportingEvidence], now: Timestamp) -> u64 {
    let full = u64::from(FULL_CONFIDENCE_BPS);
    let mut strongest: Vec<(RunId, u64)> = Vec::new();
    for one in evidence {
        let weight = weight(one, now);
        match strongest.iter_mut().find(|(run, _)| *run == one.run) {
            Some((_, known)) => *known = weight.max(*known),
            None => strongest.push((one.run, weight)),
        }
    }
    strongest.into_iter().fold(full, |doubt, (_, weight)| doubt * (full - weight) / full)
}

fn weight(evidence: &SupportingEvidence, now: Timestamp) -> u64 {
    let age = u64::try_from(now.0.saturating_sub(evidence.time.0)).unwrap_or_default() / DAY_MICROS;
    let strength = u64::from(evidence.strength_bps.min(FULL_CONFIDENCE_BPS));
    strength * HALF_DAYS / HALF_DAYS.saturating_add(age)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn evidence(run: u128, days_ago: i64, strength_bps: u32) -> SupportingEvidence {
        let day = i64::try_from(DAY_MICROS).unwrap_or_default();
        let time = Timestamp(NOW.0 - days_ago * day);
        SupportingEvidence { run: RunId::from_parts(1, run), time, strength_bps }
    }

    const NOW: Timestamp = Timestamp(1_000_000_000_000_000);

    #[test]
    fn count_agreement_recency_and_contradiction_change_it() {
        let cases: [(&[SupportingEvidence], &[SupportingEvidence], u32); 8] = [
            (&[], &[], 0),
            (&[evidence(1, 0, 9_000)], &[], 9_000),
            (&[evidence(1, 0, 7_000), evidence(2, 0, 7_000)], &[], 9_100),
            (&[evidence(1, 0, 7_000), evidence(1, 0, 6_000)], &[], 7_000),
            (&[evidence(1, 180, 9_000)], &[], 4_500),
            (&[evidence(1, 0, 9_000)], &[evidence(2, 0, 9_000)], 900),
            (&[evidence(1, 0, 9_300)], &[evidence(2, 180, 9_000)], 9_258),
            (&[evidence(1, 0, 20_000)], &[], 10_000),
        ];
        for (supporting, against, expected) in cases {
            assert_eq!(confidence_bps(supporting, against, NOW), expected, "{supporting:?} {against:?}");
        }
    }

    fn any_evidence() -> impl Strategy<Value = Vec<SupportingEvidence>> {
        let one = (0..4u128, 0..2_000i64, 0..12_000u32);
        proptest::collection::vec(one.prop_map(|(run, days, bps)| evidence(run, days, bps)), 0..6)
    }

    proptest! {
        #[test]
        fn more_support_never_lowers_it_and_more_against_never_raises_it(
            supporting in any_evidence(), against in any_evidence(), more in (10..20u128, 0..10_000u32),
        ) {
            let before = confidence_bps(&supporting, &against, NOW);
            prop_assert!(before <= FULL_CONFIDENCE_BPS);
            let oldest = supporting.iter().map(|one| one.time).min().unwrap_or(NOW);
            let more = SupportingEvidence { time: oldest, ..evidence(more.0, 0, more.1) };
            let supported: Vec<_> = supporting.iter().copied().chain([more]).collect();
            if !supporting.is_empty() {
                prop_assert!(confidence_bps(&supported, &against, NOW) >= before);
            }
            let contradicted: Vec<_> = against.iter().copied().chain([more]).collect();
            prop_assert!(confidence_bps(&supporting, &contradicted, NOW) <= before);
        }
    }
}
