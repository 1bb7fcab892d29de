//! What becomes of incidents from look to look.

use std::time::Duration;

use palyra_types::IncidentId;
use palyra_types::incident::{IncidentCause, IncidentResolution, RemedyKind, RemedyOutcome, SelfHealingMode};

use crate::facts::{
    ApprovalFact, ApprovalStanding, ArtifactFact, ArtifactStanding, ArtifactsFact, DomainFacts, HealingFacts,
    JournalFact, ProviderFact, RunStanding,
};
use crate::fixture::{Caller, of_runs, run, seconds, subject};
use crate::incident_key::IncidentKey;
use crate::plan::RemedyDue;
use crate::remedies::REMEDIES_PER_HOUR_MAX;
use crate::state::{RestoredIncident, SelfHealingState};
use crate::times::HealingTimes;

const NOT_DRIVEN: IncidentCause = IncidentCause::RunNotDriven;

fn key(cause: IncidentCause, number: u8) -> IncidentKey {
    IncidentKey { cause, subject: subject(number) }
}

#[test]
fn a_stuck_run_is_resumed_then_cancelled_and_then_left_to_a_person() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let facts = of_runs(vec![run(1, RunStanding::NotDriven, 7)]);
    let mut story = Vec::new();
    for minute in 0..30 {
        let now = seconds(minute * 60);
        let plan = caller.look(&facts, now);
        story.extend(plan.openings.iter().map(|opening| format!("{minute} {}", opening.key.cause.as_str())));
        story.extend(plan.checks.iter().map(|check| format!("{minute} {}", check.outcome.as_str())));
        story.extend(caller.perform(now).iter().map(|it| format!("{minute} {}", it.remedy.as_str())));
    }
    assert_eq!(
        story,
        ["2 run_not_driven", "2 resume_run", "3 did_not_help", "3 cancel_run", "4 did_not_help"]
    );
}

#[test]
fn an_incident_is_resolved_when_its_finding_is_gone() {
    for (mode, resolution) in [
        (SelfHealingMode::Auto, IncidentResolution::Remedied),
        (SelfHealingMode::ObserveOnly, IncidentResolution::ByItself),
    ] {
        let mut caller = Caller::new(mode);
        let stuck = of_runs(vec![run(1, RunStanding::NotDriven, 7)]);
        for minute in 0..=2 {
            caller.look(&stuck, seconds(minute * 60));
        }
        let performed = caller.perform(seconds(120)).len();
        assert_eq!(performed, usize::from(mode == SelfHealingMode::Auto));
        let plan = caller.look(&of_runs(Vec::new()), seconds(130));
        assert_eq!(plan.resolvings.iter().map(|over| over.resolution).collect::<Vec<_>>(), [resolution]);
        let outcomes: Vec<_> = plan.checks.iter().map(|check| check.outcome).collect();
        assert_eq!(outcomes, vec![RemedyOutcome::Helped; performed]);
        assert_eq!(caller.state.next_look(&caller.modes, seconds(130)), None);
    }
}

#[test]
fn a_domain_that_cannot_be_read_opens_and_resolves_nothing() {
    let mut caller = Caller::new(SelfHealingMode::ObserveOnly);
    let stuck = of_runs(vec![run(1, RunStanding::NotDriven, 7)]);
    let unread = HealingFacts { runs: DomainFacts::Unread, ..HealingFacts::default() };
    caller.look(&stuck, seconds(0));
    caller.look(&unread, seconds(60));
    let plan = caller.look(&stuck, seconds(120));
    assert!(plan.openings.is_empty(), "only the silence of looks that saw it counts");
    assert_eq!(Caller::opened(&caller.look(&stuck, seconds(180))), [key(NOT_DRIVEN, 1)]);
    assert!(caller.look(&unread, seconds(240)).resolvings.is_empty());
}

#[test]
fn a_machine_that_slept_finds_nothing_stuck() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let facts = of_runs(vec![run(1, RunStanding::Driven, 7)]);
    caller.look(&facts, seconds(0));
    assert!(caller.look(&facts, seconds(30_000)).openings.is_empty());
}

#[test]
fn a_disabled_domain_opens_nothing_and_ends_what_is_open() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let stuck = of_runs(vec![run(1, RunStanding::NotDriven, 7), run(2, RunStanding::Driven, 1)]);
    for minute in 0..=2 {
        caller.look(&stuck, seconds(minute * 60));
    }
    caller.modes = crate::modes::HealingModes::all(SelfHealingMode::Disabled);
    assert!(caller.perform(seconds(121)).is_empty());
    let plan = caller.look(&stuck, seconds(180));
    assert_eq!(plan.resolvings.len(), 2);
    assert!(plan.resolvings.iter().all(|over| over.resolution == IncidentResolution::NotWatched));
    assert!(caller.look(&stuck, seconds(240)).openings.is_empty());
}

#[test]
fn a_provider_that_fails_again_and_again_is_reopened_a_few_times_an_hour() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let of_provider = |is_paused| HealingFacts {
        providers: DomainFacts::Read(vec![ProviderFact { subject: subject(3), is_paused }]),
        ..HealingFacts::default()
    };
    let mut performed = 0;
    for minute in 0..58 {
        let now = seconds(minute * 60);
        // It recovers for a moment after each remedy, so each failure is an incident of its own.
        caller.look(&of_provider(minute % 4 != 3), now);
        performed += caller.perform(now).len();
    }
    assert_eq!(performed, REMEDIES_PER_HOUR_MAX);
    let limited = (58..62).any(|minute| {
        let now = seconds(minute * 60);
        caller.look(&of_provider(true), now);
        let planned = caller.state.plan(&caller.modes, now).remedies;
        planned.iter().any(|remedy| remedy.due == RemedyDue::RateLimited)
    });
    assert!(limited);
}

#[test]
fn an_incident_of_an_earlier_process_goes_on_with_the_next_remedy_after_its_pause() {
    let mut state = SelfHealingState::new(HealingTimes::default());
    let key = key(NOT_DRIVEN, 1);
    let incident = IncidentId::from_parts(1, 1);
    let last_remedy = Some(RemedyKind::ResumeRun);
    state.restore(RestoredIncident { key, incident, remedies: 1, last_remedy }, seconds(0));
    let modes = crate::modes::HealingModes::all(SelfHealingMode::Auto);
    let facts = of_runs(vec![run(1, RunStanding::NotDriven, 7)]);
    for minute in 0..=2 {
        state.observe(&facts, seconds(minute * 60));
    }
    let planned = state.plan(&modes, seconds(120)).remedies;
    assert_eq!(
        planned.iter().map(|it| (it.remedy, it.due)).collect::<Vec<_>>(),
        [(RemedyKind::CancelRun, RemedyDue::Now)]
    );
}

/// Returns the seconds from look to look, as long as one is needed by itself, of at most 40.
fn looks(caller: &mut Caller, facts: &HealingFacts) -> Vec<u64> {
    let (mut now, mut spans) = (seconds(0), Vec::new());
    while spans.len() < 40 {
        caller.look(facts, now);
        caller.perform(now);
        let Some(span) = caller.state.next_look(&caller.modes, now) else { break };
        spans.push(span.as_secs());
        now = now.after(span);
    }
    spans
}

#[test]
fn looks_become_rare_while_nothing_can_be_done() {
    let stuck = of_runs(vec![run(1, RunStanding::NotDriven, 7)]);
    let mut observing = Caller::new(SelfHealingMode::ObserveOnly);
    let spans = looks(&mut observing, &stuck);
    // Two looks until the window is over, then one after the opening.
    assert_eq!(spans[..8], [60, 60, 60, 120, 240, 480, 600, 600]);
    assert!(spans[8..].iter().all(|span| *span == 600), "{spans:?}");
    let mut auto = Caller::new(SelfHealingMode::Auto);
    let spans = looks(&mut auto, &stuck);
    // The window, two remedies with their checks, and a person.
    assert_eq!(spans[..9], [60, 60, 60, 60, 60, 120, 240, 480, 600]);
    let mut disabled = Caller::new(SelfHealingMode::Disabled);
    assert_eq!(looks(&mut disabled, &stuck).last(), Some(&600));
}

#[test]
fn looks_are_frequent_while_something_could_become_stuck() {
    let mut caller = Caller::new(SelfHealingMode::ObserveOnly);
    let working =
        |progress| of_runs(vec![run(1, RunStanding::NotDriven, 7), run(2, RunStanding::Driven, progress)]);
    for minute in 0..30 {
        let now = seconds(minute * 60);
        caller.look(&working(minute), now);
        assert_eq!(caller.state.next_look(&caller.modes, now), Some(Duration::from_secs(60)), "{minute}");
    }
}

#[test]
fn a_remedy_that_the_limit_of_an_hour_delays_is_due_when_the_hour_is_over() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let of_provider = |is_paused| HealingFacts {
        providers: DomainFacts::Read(vec![ProviderFact { subject: subject(3), is_paused }]),
        ..HealingFacts::default()
    };
    let (mut now, mut performed) = (seconds(0), Vec::new());
    // It recovers for a moment after each remedy.
    for look in 0..200 {
        let is_paused = performed.len() != look / 4;
        caller.look(&of_provider(is_paused || look % 4 != 3), now);
        performed.extend(caller.perform(now).into_iter().map(|_| now));
        let Some(span) = caller.state.next_look(&caller.modes, now) else {
            now = now.after(Duration::from_secs(60));
            continue;
        };
        assert!(span <= Duration::from_secs(600), "{span:?}");
        now = now.after(span);
    }
    let hour = Duration::from_secs(3_600);
    assert!(performed.len() > REMEDIES_PER_HOUR_MAX, "it goes on after an hour: {}", performed.len());
    for pair in performed.windows(REMEDIES_PER_HOUR_MAX + 1) {
        assert!(pair[REMEDIES_PER_HOUR_MAX].since(pair[0]) >= hour);
    }
}

#[test]
fn a_remedy_is_repeated_once_the_measurement_has_changed() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let of_log = |wal_bytes| HealingFacts {
        journal: DomainFacts::Read(JournalFact { wal_bytes, ..JournalFact::default() }),
        ..HealingFacts::default()
    };
    let mut performed = Vec::new();
    for minute in 0..20 {
        let now = seconds(minute * 60);
        // A reader keeps it until it has grown.
        caller.look(&of_log(if minute < 10 { 100 << 20 } else { 101 << 20 }), now);
        performed.extend(caller.perform(now).into_iter().map(|due| (minute, due.remedy)));
    }
    assert_eq!(performed, [(2, RemedyKind::TruncateWal), (10, RemedyKind::TruncateWal)]);
}

/// Approvals without a reachable person: the subject and the look at which each begins.
fn of_unreachable(numbers: &[u8]) -> HealingFacts {
    let fact =
        |number: &u8| ApprovalFact { subject: subject(*number), standing: ApprovalStanding::Unreachable };
    HealingFacts {
        approvals: DomainFacts::Read(numbers.iter().map(fact).collect()),
        ..HealingFacts::default()
    }
}

#[test]
fn many_approvals_without_a_reachable_person_are_one_incident() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    let one = IncidentKey::of(IncidentCause::ApproverUnreachable, subject(1));
    let mut opened = Vec::new();
    for minute in 0..=12 {
        // A second one comes late, and further ones while the incident is open.
        let all: Vec<u8> = (1..=if minute < 8 { 1 } else { u8::try_from(minute).unwrap() - 6 }).collect();
        let plan = caller.look(&of_unreachable(&all), seconds(minute * 60));
        opened.extend(plan.openings.into_iter().map(|opening| (minute, opening)));
        assert!(caller.perform(seconds(minute * 60)).is_empty(), "no remedy reaches a person");
    }
    let [(10, opening)] = opened[..] else { panic!("{opened:?}") };
    assert_eq!((opening.key, opening.finding.about, opening.finding.evidence.measured), (one, subject(1), 4));
    let now = caller.state.findings()[&one].evidence;
    assert_eq!((now.measured, now.silent.as_secs()), (6, 720), "the evidence goes on");
    // The oldest one is decided: the incident goes on with the next one.
    let next = caller.look(&of_unreachable(&[2, 3]), seconds(13 * 60));
    assert!(next.resolvings.is_empty() && next.openings.is_empty(), "{next:?}");
    let now = caller.state.findings()[&one];
    assert_eq!((now.about, now.evidence.measured), (subject(2), 2));
    let over = caller.look(&of_unreachable(&[]), seconds(14 * 60));
    assert_eq!(over.resolvings.len(), 1, "none is open");
}

#[test]
fn looks_become_rare_while_no_person_is_reachable() {
    let mut caller = Caller::new(SelfHealingMode::Auto);
    for minute in 0..=10 {
        caller.look(&of_unreachable(&[1]), seconds(minute * 60));
    }
    caller.look(&of_unreachable(&[1, 2]), seconds(11 * 60));
    assert_eq!(caller.state.next_look(&caller.modes, seconds(11 * 60)), Some(Duration::from_secs(120)));
}

#[test]
fn an_artifact_without_a_copy_waits_for_a_person_until_there_is_one() {
    let of = |standing| HealingFacts {
        artifacts: DomainFacts::Read(ArtifactsFact {
            damaged: vec![ArtifactFact { subject: subject(1), standing }],
            ..ArtifactsFact::default()
        }),
        ..HealingFacts::default()
    };
    let mut caller = Caller::new(SelfHealingMode::Auto);
    for minute in 0..5 {
        caller.look(&of(ArtifactStanding::Lost), seconds(minute * 60));
        assert!(caller.perform(seconds(minute * 60)).is_empty());
    }
    caller.look(&of(ArtifactStanding::Repairable), seconds(300));
    let performed: Vec<_> = caller.perform(seconds(300)).iter().map(|it| it.remedy).collect();
    assert_eq!(performed, [RemedyKind::RepairArtifact]);
}
