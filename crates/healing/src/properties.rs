//! Random histories of every domain.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_types::BootTime;
use palyra_types::incident::{HealingDomain, IncidentCause, IncidentSubject, RemedyKind, SelfHealingMode};

use crate::facts::{
    ApprovalFact, ApprovalStanding, DomainFacts, HealingFacts, JournalFact, ProgressMarker, ProviderFact,
    RunFact, RunStanding, SandboxFact, SpareFact, TaskFact, TaskStanding,
};
use crate::fixture::{Caller, entries, of_runs, seconds, subject};
use crate::incident_key::IncidentKey;
use crate::modes::HealingModes;

/// Numbers from a seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// The facts of a world in which things move, stop and come back.
struct World {
    random: Random,
    progress: [u64; 4],
}

impl World {
    fn facts(&mut self) -> HealingFacts {
        let random = &mut self.random;
        for progress in &mut self.progress {
            *progress += u64::from(random.chance(6));
        }
        let standings =
            [RunStanding::Driven, RunStanding::NotDriven, RunStanding::Driven, RunStanding::Waits];
        let run = |(number, (progress, standing)): (u8, (u64, RunStanding))| RunFact {
            subject: subject(number),
            standing,
            marker: entries(progress),
            effect_deadline: (number == 2).then_some(Duration::from_secs(200)),
        };
        let runs = (0..).zip(self.progress.into_iter().zip(standings)).map(run).collect();
        let approval = [ApprovalStanding::Unreachable, ApprovalStanding::Expired, ApprovalStanding::Decided];
        let approval = approval.get(random.below(3) as usize).copied();
        HealingFacts {
            runs: if random.chance(9) { DomainFacts::Unread } else { DomainFacts::Read(runs) },
            tasks: DomainFacts::Read(vec![TaskFact {
                subject: subject(7),
                standing: if random.chance(2) { TaskStanding::Due } else { TaskStanding::Leased },
                marker: entries(random.below(9) / 8),
                deadline: Duration::from_secs(60),
            }]),
            approvals: DomainFacts::Read(
                approval.map(|standing| ApprovalFact { subject: subject(8), standing }).into_iter().collect(),
            ),
            providers: DomainFacts::Read(vec![ProviderFact {
                subject: subject(9),
                is_paused: !random.chance(12),
            }]),
            journal: DomainFacts::Read(JournalFact {
                wal_bytes: random.below(3) << 30,
                projection_differs: random.chance(5),
                ..JournalFact::default()
            }),
            sandbox: DomainFacts::Read(SandboxFact {
                scratch: SpareFact { bytes: random.below(4), is_disk_low: !random.chance(8) },
            }),
            ..HealingFacts::default()
        }
    }

    fn step(&mut self, now: BootTime) -> BootTime {
        now.after(Duration::from_secs(20 + self.random.below(60)))
    }
}

fn world(seed: u64) -> World {
    World { random: Random(seed), progress: [0; 4] }
}

#[test]
fn a_disabled_domain_has_no_incident_and_no_remedy() {
    for seed in 0..300 {
        let (mut world, mut caller) = (world(seed), Caller::new(SelfHealingMode::Disabled));
        let mut now = seconds(0);
        for _ in 0..60 {
            let plan = caller.look(&world.facts(), now);
            assert!(plan.openings.is_empty() && plan.remedies.is_empty(), "seed {seed}");
            assert!(caller.perform(now).is_empty(), "seed {seed}");
            now = world.step(now);
        }
    }
}

#[test]
fn observing_shows_the_plan_that_auto_performs() {
    let mut planned = 0;
    for seed in 0..300 {
        let (mut world, mut caller) = (world(seed), Caller::new(SelfHealingMode::Auto));
        let observing = HealingModes::all(SelfHealingMode::ObserveOnly);
        let mut now = seconds(0);
        for _ in 0..60 {
            caller.look(&world.facts(), now);
            let shown = caller.state.plan(&observing, now);
            assert_eq!(shown, caller.state.plan(&caller.modes, now), "seed {seed}");
            assert!(shown.remedies.iter().all(|remedy| !remedy.is_performed(&observing)));
            planned += shown.remedies.len();
            caller.perform(now);
            now = world.step(now);
        }
    }
    assert!(planned > 1_000, "the histories have remedies: {planned}");
}

#[test]
fn no_remedy_is_performed_twice_in_a_row_without_progress() {
    let mut performed = 0;
    for seed in 0..500 {
        let (mut world, mut caller) = (world(seed), Caller::new(SelfHealingMode::Auto));
        let mut last: BTreeMap<IncidentKey, (RemedyKind, ProgressMarker)> = BTreeMap::new();
        let mut now = seconds(0);
        for _ in 0..100 {
            let facts = world.facts();
            let plan = caller.look(&facts, now);
            last.retain(|key, _| plan.resolvings.iter().all(|over| over.key != *key));
            for remedy in caller.perform(now) {
                let marker = marker_of(&facts, &remedy.key);
                let before = last.insert(remedy.key, (remedy.remedy, marker));
                assert_ne!(before, Some((remedy.remedy, marker)), "seed {seed}: {:?}", remedy.key);
                performed += 1;
            }
            now = world.step(now);
        }
    }
    assert!(performed > 1_000, "the histories have remedies: {performed}");
}

fn marker_of(facts: &HealingFacts, key: &IncidentKey) -> ProgressMarker {
    let of_runs = facts.runs.read().into_iter().flatten().map(|run| (run.subject, run.marker));
    let of_tasks = facts.tasks.read().into_iter().flatten().map(|task| (task.subject, task.marker));
    let measured = |received| ProgressMarker { received, ..ProgressMarker::default() };
    let of_sandbox = facts.sandbox.read().map(|sandbox| measured(sandbox.scratch.bytes));
    let of_journal = facts.journal.read().map(|journal| measured(journal.wal_bytes));
    let of_journal = of_journal.filter(|_| key.cause == IncidentCause::WalTooLarge);
    let whole = |marker: Option<ProgressMarker>| marker.map(|marker| (IncidentSubject::default(), marker));
    let watched: BTreeMap<_, _> = match key.cause.domain() {
        HealingDomain::Runs => of_runs.collect(),
        HealingDomain::Tasks => of_tasks.collect(),
        HealingDomain::Journal => whole(of_journal).into_iter().collect(),
        HealingDomain::Sandbox => whole(of_sandbox).into_iter().collect(),
        HealingDomain::Approvals
        | HealingDomain::Artifacts
        | HealingDomain::Channels
        | HealingDomain::Providers
        | HealingDomain::Workers
        | HealingDomain::Browser => BTreeMap::new(),
    };
    watched.get(&key.subject).copied().unwrap_or_default()
}

#[test]
fn a_run_that_waits_for_a_person_has_no_incident_over_ten_thousand_histories() {
    for seed in 0..10_000 {
        let (mut random, mut caller) = (Random(seed), Caller::new(SelfHealingMode::Auto));
        let (mut now, mut progress) = (seconds(0), 0);
        for _ in 0..40 {
            // It works for less than a window, then waits for as long as a person takes, again and again.
            let standing = if random.chance(5) { RunStanding::Driven } else { RunStanding::Waits };
            progress += u64::from(standing == RunStanding::Driven);
            let run = RunFact {
                subject: subject(1),
                standing,
                marker: entries(progress),
                effect_deadline: random.chance(3).then_some(Duration::from_secs(random.below(900))),
            };
            let plan = caller.look(&of_runs(vec![run]), now);
            assert!(plan.openings.is_empty(), "seed {seed}");
            now = now.after(Duration::from_secs(random.below(100_000)));
        }
    }
}
