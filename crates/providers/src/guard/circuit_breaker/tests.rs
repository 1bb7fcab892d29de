//! The breaker against a table, and against a second one that knows only what was seen.

use proptest::prelude::*;

use super::*;

const SPAN: Duration = Duration::from_secs(30);

fn at(seconds: u64) -> BootTime {
    BootTime::default().after(Duration::from_secs(seconds))
}

fn opened(now: BootTime) -> CircuitBreaker {
    let mut breaker = CircuitBreaker::new(3, SPAN);
    for _ in 0..3 {
        let ticket = breaker.admit(now).expect("closed");
        breaker.settle(ticket, HealthSign::Down, now);
    }
    breaker
}

#[test]
fn health_is_read_without_a_change_and_names_the_rest_of_a_pause() {
    let mut breaker = CircuitBreaker::new(2, Duration::from_secs(30));
    assert_eq!(breaker.health(at(0)), ProviderHealth::Healthy);
    for _ in 0..2 {
        let ticket = breaker.admit(at(0)).expect("closed");
        breaker.settle(ticket, HealthSign::Down, at(0));
    }
    assert_eq!(breaker.health(at(10)), ProviderHealth::Paused { rest: Duration::from_secs(20) });
    assert_eq!(breaker.health(at(30)), ProviderHealth::Degraded, "the next request is the probe");
    let probe = breaker.admit(at(30)).expect("the probe");
    assert_eq!(breaker.health(at(31)), ProviderHealth::Paused { rest: Duration::ZERO });
    breaker.settle(probe, HealthSign::Alive, at(32));
    assert_eq!(breaker.health(at(32)), ProviderHealth::Healthy);
}

#[test]
fn three_failures_in_a_row_open_it_and_anything_alive_begins_anew() {
    let mut breaker = CircuitBreaker::new(3, SPAN);
    let signs = [
        HealthSign::Down,
        HealthSign::Down,
        HealthSign::Alive,
        HealthSign::Down,
        HealthSign::Unclear,
        HealthSign::Down,
    ];
    for sign in signs {
        let ticket = breaker.admit(at(1)).expect("closed");
        breaker.settle(ticket, sign, at(1));
    }
    let ticket = breaker.admit(at(1)).expect("two in a row are not three");
    breaker.settle(ticket, HealthSign::Down, at(1));
    assert_eq!(breaker.admit(at(1)), Err(SPAN));
    assert_eq!(breaker.refusal(at(30)), Some(Duration::from_secs(1)));
    assert_eq!(breaker.refusal(at(31)), None);
}

#[test]
fn one_probe_decides() {
    for (sign, expect) in
        [(HealthSign::Alive, None), (HealthSign::Down, Some(SPAN)), (HealthSign::Unclear, None)]
    {
        let mut breaker = opened(at(0));
        let probe = breaker.admit(at(30)).expect("the probe");
        assert_eq!(breaker.admit(at(99)), Err(Duration::ZERO), "one at a time");
        breaker.settle(probe, sign, at(99));
        assert_eq!(breaker.refusal(at(99)), expect, "{sign:?}");
    }
    let mut breaker = opened(at(0));
    let probe = breaker.admit(at(30)).expect("the probe");
    breaker.settle(probe, HealthSign::Unclear, at(31));
    assert!(breaker.admit(at(31)).is_ok() && breaker.admit(at(31)).is_err(), "the next one is the probe");
}

#[test]
fn a_probe_that_speaks_lets_the_others_in_and_its_end_counts_as_any() {
    let mut breaker = opened(at(0));
    let probe = breaker.admit(at(30)).expect("the probe");
    let ticket = breaker.speaks(probe, at(31));
    assert_eq!(breaker.refusal(at(31)), None);
    breaker.settle(ticket, HealthSign::Down, at(32));
    assert_eq!(breaker.refusal(at(32)), None, "one failure");
    let again = breaker.admit(at(32)).expect("closed");
    assert_eq!(breaker.speaks(again, at(32)), again, "nothing new");
}

#[test]
fn what_began_before_it_opened_no_longer_counts() {
    let mut breaker = CircuitBreaker::new(1, SPAN);
    let (early, late) = (breaker.admit(at(0)).expect("closed"), breaker.admit(at(0)).expect("closed"));
    breaker.settle(early, HealthSign::Down, at(0));
    breaker.settle(late, HealthSign::Alive, at(5));
    assert_eq!(breaker.refusal(at(5)), Some(Duration::from_secs(25)));
    let probe = breaker.admit(at(30)).expect("the probe");
    breaker.settle(late, HealthSign::Alive, at(30));
    assert_eq!(breaker.refusal(at(30)), Some(Duration::ZERO), "it is the probe that counts");
    breaker.settle(probe, HealthSign::Alive, at(30));
    assert_eq!(breaker.refusal(at(30)), None);
}

#[test]
fn only_failures_of_the_provider_count() {
    use ModelFailureClass as Class;
    let down = [Class::Transient, Class::Network, Class::Timeout];
    let alive = [
        Class::Auth,
        Class::Permission,
        Class::RateLimit,
        Class::Quota,
        Class::Permanent,
        Class::ContextExceeded,
        Class::ContentPolicy,
    ];
    assert!(down.into_iter().all(|class| HealthSign::of(class) == HealthSign::Down));
    assert!(alive.into_iter().all(|class| HealthSign::of(class) == HealthSign::Alive));
    assert_eq!(HealthSign::of(Class::Malformed), HealthSign::Unclear);
}

#[derive(Debug, Clone)]
enum Act {
    Ask,
    Speak(usize),
    End(usize, HealthSign),
    Wait(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let sign = prop_oneof![
        Just(HealthSign::Alive),
        Just(HealthSign::Down),
        Just(HealthSign::Down),
        Just(HealthSign::Unclear)
    ];
    let act = prop_oneof![
        3 => Just(Act::Ask),
        1 => (0_usize..8).prop_map(Act::Speak),
        4 => (0_usize..8, sign).prop_map(|(which, sign)| Act::End(which, sign)),
        2 => (0_u64..40).prop_map(Act::Wait),
    ];
    prop::collection::vec(act, 0..200)
}

/// What the breaker has to do, told by what was seen and not by its state.
#[derive(Default)]
struct Seen {
    now: u64,
    in_a_row: u32,
    /// When the last failure shut it, and since when it may be tried again.
    shut_until: Option<u64>,
    probe_is_out: bool,
}

impl Seen {
    fn may_ask(&self) -> bool {
        !self.probe_is_out && self.shut_until.is_none_or(|until| self.now >= until)
    }

    fn takes(&mut self, sign: HealthSign, failures_max: u32) {
        match sign {
            HealthSign::Alive => *self = Self { now: self.now, ..Self::default() },
            HealthSign::Down => {
                self.in_a_row += 1;
                if self.probe_is_out || self.in_a_row >= failures_max {
                    self.shut_until = Some(self.now + SPAN.as_secs());
                    (self.in_a_row, self.probe_is_out) = (0, false);
                }
            }
            HealthSign::Unclear => self.probe_is_out = false,
        }
    }
}

proptest! {
    #[test]
    fn it_admits_as_what_was_seen_says_and_one_probe_at_a_time(failures_max in 1_u32..5, acts in acts()) {
        let mut breaker = CircuitBreaker::new(failures_max, SPAN);
        let mut seen = Seen::default();
        let mut running: Vec<BreakerTicket> = Vec::new();
        for act in acts {
            match act {
                Act::Wait(seconds) => seen.now += seconds,
                Act::Ask => {
                    let admitted = breaker.admit(at(seen.now));
                    prop_assert_eq!(admitted.is_ok(), seen.may_ask());
                    prop_assert!(admitted.err().is_none_or(|rest| rest <= SPAN));
                    seen.probe_is_out |= admitted.is_ok() && seen.shut_until.is_some();
                    running.extend(admitted);
                }
                Act::Speak(which) if !running.is_empty() => {
                    let which = which % running.len();
                    let ticket = running[which];
                    running[which] = breaker.speaks(ticket, at(seen.now));
                    if running[which] != ticket {
                        prop_assert!(seen.probe_is_out);
                        seen.takes(HealthSign::Alive, failures_max);
                    }
                }
                Act::End(which, sign) if !running.is_empty() => {
                    let ticket = running.swap_remove(which % running.len());
                    if ticket.era == breaker.era {
                        seen.takes(sign, failures_max);
                    }
                    breaker.settle(ticket, sign, at(seen.now));
                }
                Act::Speak(_) | Act::End(..) => {}
            }
            let now = at(seen.now);
            prop_assert_eq!(breaker.refusal(now).is_none(), seen.may_ask());
        }
    }
}

#[test]
fn a_pause_that_a_person_ends_leaves_one_probe() {
    let mut breaker = opened(at(0));
    breaker.end_pause(at(5));
    let probe = breaker.admit(at(5)).expect("the probe");
    breaker.end_pause(at(6));
    assert_eq!(breaker.admit(at(6)), Err(Duration::ZERO), "a probe is on its way");
    breaker.settle(probe, HealthSign::Down, at(6));
    assert_eq!(breaker.refusal(at(6)), Some(SPAN));
    let mut closed = CircuitBreaker::new(3, SPAN);
    closed.end_pause(at(1));
    assert_eq!(closed.refusal(at(1)), None);
}
