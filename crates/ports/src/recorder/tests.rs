//! Too many registered values are noted once.

use std::time::Duration;

use palyra_types::{BootTime, PrincipalId};

use super::guesses::{GUESSES_MAX, GuessCounts};

#[test]
fn many_hits_in_a_minute_are_noted_once() {
    let guesses = GuessCounts::default();
    let somebody = PrincipalId::NIL;
    let at = |seconds| BootTime::default().after(Duration::from_secs(seconds));
    assert!(!guesses.count(somebody, GUESSES_MAX, at(0)));
    assert!(guesses.count(somebody, 1, at(1)));
    assert!(!guesses.count(somebody, 5, at(2)));
    assert!(!guesses.count(somebody, GUESSES_MAX, at(100)));
    assert!(guesses.count(somebody, 1, at(101)));
}
