//! What all parts of a story share: time, dice, weather, who watches, and what is noted down.
//!
//! Invariant: everything that happens in a story is noted here in the order in which it happens, so two stories
//! are the same exactly when their digests are.

use std::fmt::Arguments;
use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::Clock;
use palyra_testkit::FakeClock;

use crate::dice::ScenarioRandom;
use crate::fault::{Fault, FaultMatrix, Phase};
use crate::fault_rates::FaultRates;
use crate::mutation::Mutation;
use crate::oracle::Oracle;
use crate::outside::OutsideWorld;

/// Lines of the chronicle that are kept for whoever reads about a failure.
const LINES_KEPT_MAX: usize = 100_000;

/// How far the wall clock is set back when it is a little: less than the daemon waits for.
const CLOCK_BACK_LITTLE_MAX: Duration = Duration::from_secs(4);
/// How far it is set back at once, at most.
const CLOCK_BACK_MAX: Duration = Duration::from_secs(10 * 60);
/// How far it is set on at once, mostly.
const CLOCK_ON_MAX: Duration = Duration::from_secs(10 * 60);
/// How far now and then: beyond every expiry.
const CLOCK_FAR_ON_MAX: Duration = Duration::from_secs(30 * 60 * 60);

/// Shared by everything in a story.
pub(crate) struct SimWorld {
    pub(crate) clock: FakeClock,
    pub(crate) dice: ScenarioRandom,
    pub(crate) mutation: Option<Mutation>,
    fault_rates: FaultRates,
    features: StoryFeatures,
    calm: AtomicBool,
    /// The next request to a model is never answered.
    hangs_model: AtomicBool,
    ahead: Mutex<ClockLead>,
    policy_changed: AtomicBool,
    oracle: Mutex<Oracle>,
    outside: Mutex<OutsideWorld>,
    trace: Mutex<EventTrace>,
}

/// Microseconds that the wall clock is ahead of a right one, or behind.
#[derive(Debug, Default, Clone, Copy)]
struct ClockLead {
    now: i64,
    /// The most it ever was.
    most: i64,
}

/// What a story has beside runs; a story without it shows what it hides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoryFeatures {
    /// Budgets are set.
    pub(crate) has_budgets: bool,
    /// People remember, sum up and erase.
    pub(crate) has_content: bool,
    /// Models have a small window, and sessions are summed up by themselves.
    pub(crate) has_small_window: bool,
    /// Models are silent for minutes, and calls take minutes.
    pub(crate) has_long_work: bool,
}

impl StoryFeatures {
    fn of(dice: &ScenarioRandom) -> Self {
        let has_content = dice.below(2) == 0;
        Self {
            has_budgets: dice.below(2) == 0,
            has_content,
            has_small_window: has_content && dice.below(3) > 0,
            has_long_work: false,
        }
    }

    /// Returns what weeks of usual work have.
    fn of_weeks(dice: &ScenarioRandom) -> Self {
        Self { has_budgets: false, has_long_work: true, ..Self::of(dice) }
    }
}

/// What was noted down.
#[derive(Default)]
pub(crate) struct EventTrace {
    hasher: DefaultHasher,
    pub(crate) lines: Option<Vec<String>>,
    pub(crate) matrix: FaultMatrix,
    pub(crate) steps: u64,
}

/// Whether the chronicle is kept in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceMode {
    /// Only its digest.
    Digest,
    /// In words as well, up to a limit.
    Words,
}

impl SimWorld {
    pub(crate) fn new(seed: u64, mutation: Option<Mutation>, chronicled: TraceMode) -> Arc<Self> {
        Self::with_features(seed, mutation, chronicled, StoryFeatures::of)
    }

    /// Returns a world without faults, in which work takes as long as it may.
    pub(crate) fn of_weeks(seed: u64) -> Arc<Self> {
        let world = Self::with_features(seed, None, TraceMode::Digest, StoryFeatures::of_weeks);
        world.calm_down();
        world
    }

    fn with_features(
        seed: u64,
        mutation: Option<Mutation>,
        chronicled: TraceMode,
        features: fn(&ScenarioRandom) -> StoryFeatures,
    ) -> Arc<Self> {
        let dice = ScenarioRandom::new(seed);
        let fault_rates = FaultRates::of(seed, &dice.apart());
        let features = features(&dice.apart());
        let lines = (chronicled == TraceMode::Words).then(Vec::new);
        Arc::new(Self {
            clock: FakeClock::new(),
            dice,
            mutation,
            fault_rates,
            features,
            calm: AtomicBool::new(false),
            hangs_model: AtomicBool::new(false),
            ahead: Mutex::default(),
            policy_changed: AtomicBool::new(false),
            oracle: Mutex::default(),
            outside: Mutex::default(),
            trace: Mutex::new(EventTrace { lines, ..EventTrace::default() }),
        })
    }

    pub(crate) fn oracle(&self) -> MutexGuard<'_, Oracle> {
        self.oracle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn outside(&self) -> MutexGuard<'_, OutsideWorld> {
        self.outside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn trace(&self) -> MutexGuard<'_, EventTrace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn fault_rates(&self) -> &FaultRates {
        &self.fault_rates
    }

    /// Returns what a story has beside runs.
    pub(crate) fn features(&self) -> StoryFeatures {
        self.features
    }

    /// Notes something down.
    pub(crate) fn note(&self, what: Arguments<'_>) {
        let at = self.clock.boot().0;
        let mut trace = self.trace();
        let line = format!("{:>12} {:>7} {what}", at, trace.steps);
        trace.hasher.write(line.as_bytes());
        if let Some(lines) = &mut trace.lines
            && lines.len() < LINES_KEPT_MAX
        {
            lines.push(line);
        }
    }

    /// Returns the digest of all that was noted so far.
    pub(crate) fn digest(&self) -> u64 {
        self.trace().hasher.finish()
    }

    /// Returns whether a fault strikes now, and counts it if so.
    pub(crate) fn strikes(&self, fault: Fault, phase: Phase) -> bool {
        if self.is_calm() || !self.dice.in_thousand(self.fault_rates.in_thousand(fault, phase)) {
            return false;
        }
        self.struck(fault, phase);
        true
    }

    /// Counts a fault.
    pub(crate) fn struck(&self, fault: Fault, phase: Phase) {
        self.trace().matrix.count(fault, phase);
        self.note(format_args!("! {} while {}", fault.name(), phase.name()));
    }

    /// Sets the wall clock: a little or far back, on by minutes, or by more than a day.
    pub(crate) fn set_clock(&self) {
        let dice = &self.dice;
        let by = match dice.below(5) {
            0 => -dice.micros(CLOCK_BACK_LITTLE_MAX),
            1 | 2 => -dice.micros(CLOCK_BACK_MAX),
            3 => dice.micros(CLOCK_ON_MAX),
            _ => dice.micros(CLOCK_FAR_ON_MAX),
        };
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.now += by;
        ahead.most = ahead.most.max(ahead.now);
        self.clock.set_wall_ahead(ahead.now);
        self.note(format_args!("the clock is {} us ahead", ahead.now));
    }

    /// Returns whether the clock may be behind what was recorded.
    pub(crate) fn is_clock_behind(&self) -> bool {
        let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.now < ahead.most
    }

    /// Returns the microseconds that the wall clock is ahead of a right one.
    pub(crate) fn clock_lead(&self) -> i64 {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).now
    }

    /// Notes that other rules are in force than those that the story began with.
    pub(crate) fn policy_changes(&self) {
        self.policy_changed.store(true, Ordering::Relaxed);
    }

    /// Returns whether they ever changed.
    pub(crate) fn has_policy_changed(&self) -> bool {
        self.policy_changed.load(Ordering::Relaxed)
    }

    /// Ends all faults; a clock that is behind is set to where it was before.
    pub(crate) fn calm_down(&self) {
        self.calm.store(true, Ordering::Relaxed);
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.now = ahead.most;
        self.clock.set_wall_ahead(ahead.now);
        drop(ahead);
        self.note(format_args!("calm"));
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    /// Lets the next request to a model go without an answer for good, longer than a provider waits.
    pub(crate) fn hang_model(&self) {
        self.hangs_model.store(true, Ordering::Relaxed);
    }

    /// Returns whether this request is the one without an answer.
    pub(crate) fn takes_hang(&self) -> bool {
        self.hangs_model.swap(false, Ordering::Relaxed)
    }

    /// Returns whether this story makes a mistake on purpose.
    pub(crate) fn mutates(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }
}

/// Lets everybody else have so many turns.
pub(crate) async fn turns(count: u64) {
    for _ in 0..count {
        let mut waited = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return std::task::Poll::Ready(());
            }
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
    }
}
