//! What tests that throw dice throw: one seed per content of the checkout.
//!
//! Owns how the seed is found and by which variables tests are told. Invariant: two runs of one commit throw the
//! same dice, so it passes or fails the same way every time; the next commit throws others.

use std::process::Command;

use super::command;
use crate::repo;

/// The seed where there is no git to ask for the content.
const WITHOUT_GIT: u64 = 0x5eed;

/// Who reads the seed, and by which name: property tests (proptest), schedules of threads (shuttle), and our own.
const VARIABLES: [&str; 3] = ["PROPTEST_RNG_SEED", "SHUTTLE_RANDOM_SEED", "PALYRA_TEST_SEED"];

/// The dice of one run of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeededRandom {
    seed: u64,
}

impl SeededRandom {
    pub(super) fn of(seed: u64) -> Self {
        Self { seed }
    }

    /// Takes the seed from the content of the last commit.
    pub(super) fn of_checkout() -> Self {
        let mut git = Command::new("git");
        git.args(["rev-parse", "HEAD^{tree}"]).current_dir(repo::root());
        Self::of(command::read(git).ok().and_then(|tree| of_tree(&tree)).unwrap_or(WITHOUT_GIT))
    }

    /// Returns the number.
    pub(super) fn seed(self) -> u64 {
        self.seed
    }

    /// Returns the variables that tests are told it by.
    pub(super) fn variables(self) -> [(&'static str, String); 3] {
        VARIABLES.map(|name| (name, self.seed.to_string()))
    }

    /// Tells it to what `command` starts, except by variables that are set already; says all of them in one line.
    pub(super) fn tell(self, command: &mut Command) {
        let told: Vec<String> = self
            .variables()
            .into_iter()
            .map(|(name, seed)| {
                let value = std::env::var(name).unwrap_or(seed);
                command.env(name, &value);
                format!("{name}={value}")
            })
            .collect();
        println!("dice: {}", told.join(" "));
    }
}

/// Reads the first half of a tree's name in hex, as far as 64 bits reach.
fn of_tree(tree: &str) -> Option<u64> {
    u64::from_str_radix(tree.trim().get(..16)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_a_seed_and_another_is_another() {
        let one = of_tree("4b825dc642cb6eb9a060e54bf8d69288fbee4904\n");
        assert_eq!(one, Some(0x4b82_5dc6_42cb_6eb9));
        assert_ne!(one, of_tree("4b825dc642cb6ebaa060e54bf8d69288fbee4904"));
        assert_eq!((of_tree("short"), of_tree("not hex not hex ")), (None, None));
    }

    #[test]
    fn a_checkout_throws_the_same_dice_twice_and_tells_all_who_throw() {
        assert_eq!(SeededRandom::of_checkout(), SeededRandom::of_checkout());
        let mut command = Command::new("true");
        SeededRandom::of(7).tell(&mut command);
        let told: Vec<_> = command.get_envs().filter_map(|(name, value)| name.to_str().zip(value)).collect();
        assert_eq!(told.len(), VARIABLES.len());
        assert!(VARIABLES.iter().all(|name| told.iter().any(|(told, value)| {
            told == name && (std::env::var_os(name).as_deref() == Some(value) || *value == "7")
        })));
    }
}
