//! What is counted: a numbered case in one variant, what stops it, and what came of it.

use serde::{Deserialize, Serialize};

/// One case of the catalogue in one variant, and what stops it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CasePair {
    /// Its number in the catalogue.
    pub case: u8,
    /// Which of the ways there are.
    pub variant: String,
    /// What keeps it from its canary.
    pub mechanism: String,
}

impl CasePair {
    /// Names a pair.
    pub fn new(case: u8, variant: impl Into<String>, mechanism: impl Into<String>) -> Self {
        Self { case, variant: variant.into(), mechanism: mechanism.into() }
    }

    /// Returns the text that `--only` looks in.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}/{} ({})", self.case, self.variant, self.mechanism)
    }
}

/// As whom the attacker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttackerUser {
    /// An ordinary user.
    User,
    /// The user who may do everything.
    Root,
}

/// Which pairs are carried out as which user, where each is carried out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairDivision {
    seed: u64,
}

impl PairDivision {
    /// Divides the pairs by a seed; another seed divides them in another way.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the half to which a pair belongs: FNV-1a over the seed and the pair's text, its parity.
    #[must_use]
    pub fn half_of(self, pair: &CasePair) -> AttackerUser {
        let bytes = self.seed.to_le_bytes().into_iter().chain(pair.text().into_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // The lowest bit of FNV-1a is the parity of its input alone.
        if (hash >> 32) & 1 == 0 { AttackerUser::User } else { AttackerUser::Root }
    }
}

/// What came of one pair in one half: what was touched, of its canaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairResult {
    /// Which pair.
    #[serde(flatten)]
    pub pair: CasePair,
    /// The part of the suite it stands in.
    pub zone: String,
    /// As whom.
    pub half: AttackerUser,
    /// What the attack touched in spite of the mechanism.
    pub touched: Vec<String>,
    /// What the same attack touched without it.
    pub control: Vec<String>,
    /// Why the attack could not be carried out at all; it counts for nothing then.
    pub broken: Option<String>,
    /// Whether this host has nothing that the attack could touch, so that there is nothing to guard.
    pub left_out: bool,
}

impl PairResult {
    /// Tells what came of an attack that was carried out twice.
    #[must_use]
    pub fn new(pair: CasePair, half: AttackerUser, touched: Vec<String>, control: Vec<String>) -> Self {
        Self { pair, zone: String::new(), half, touched, control, broken: None, left_out: false }
    }

    /// Tells that an attack could not be carried out.
    #[must_use]
    pub fn broken(pair: CasePair, half: AttackerUser, why: impl Into<String>) -> Self {
        let broken = Some(why.into());
        Self { broken, ..Self::new(pair, half, Vec::new(), Vec::new()) }
    }

    /// Tells that this host has nothing to guard.
    #[must_use]
    pub fn left_out(pair: CasePair, half: AttackerUser) -> Self {
        Self { left_out: true, ..Self::new(pair, half, Vec::new(), Vec::new()) }
    }

    /// Whether the mechanism held, and the control shows that there was something to hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.touched.is_empty() && !self.control.is_empty() && self.broken.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_gives_each_user_about_half_of_the_pairs_and_another_seed_divides_them_anew() {
        let pairs: Vec<_> = (0..200_u8).map(|case| CasePair::new(case, "a way", "tier B")).collect();
        let as_root = |seed| {
            let division = PairDivision::new(seed);
            pairs.iter().map(|pair| division.half_of(pair) == AttackerUser::Root).collect::<Vec<_>>()
        };
        let (one, other) = (as_root(1), as_root(2));
        for half in [&one, &other] {
            let count = half.iter().filter(|&&root| root).count();
            assert!((60..=140).contains(&count), "{count} of 200");
        }
        let moved = one.iter().zip(&other).filter(|(one, other)| one != other).count();
        assert!((60..=140).contains(&moved), "{moved} of 200");
        assert_eq!(as_root(1), one);
    }
}
