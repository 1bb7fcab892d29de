//! Incidents of self-healing, and the modes of its domains.

use palyra_journal_core::families::healing_modes;
use palyra_journal_core::families::incidents::{self, IncidentQuery};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::incident::{
    HealingDomain, IncidentCause, IncidentEvent, IncidentEvidence, IncidentOpened, IncidentRecord,
    IncidentResolution, IncidentSeverity, IncidentStage, IncidentSubject, RemedyKind, RemedyOutcome,
    SelfHealingMode,
};
use palyra_types::{IncidentId, PrincipalId, Timestamp};

use super::JournalFactory;
use super::samples::append;

fn id(number: u128) -> IncidentId {
    IncidentId::from_parts(17, number)
}

fn opened(number: u128, cause: IncidentCause) -> IncidentEvent {
    IncidentEvent::Opened(IncidentOpened {
        incident: id(number),
        cause,
        severity: IncidentSeverity::Warning,
        subject: IncidentSubject([4; 16]),
        evidence: IncidentEvidence { measured: 7, ..IncidentEvidence::default() },
        planned: Some(RemedyKind::ResumeRun),
    })
}

async fn record<F: JournalFactory>(journal: &F::Journal, time: i64, event: IncidentEvent) {
    let entry = NewEntry {
        time: Timestamp(time),
        principal: PrincipalId::NIL,
        session: None,
        run: None,
        event: event.into(),
    };
    journal.append(append(vec![entry])).await.unwrap();
}

async fn one<F: JournalFactory>(journal: &F::Journal, number: u128) -> IncidentRecord {
    let reading = journal.query(move |rows, log| incidents::record(rows, log, id(number)));
    reading.await.unwrap().unwrap()
}

async fn listed<F: JournalFactory>(journal: &F::Journal, query: IncidentQuery) -> Vec<IncidentId> {
    let found = journal.query(move |rows, log| incidents::records(rows, log, &query)).await.unwrap();
    found.into_iter().map(|record| record.opened.incident).collect()
}

/// An incident is open, at work and over; a repeated entry, and an end of another remedy, changes nothing.
pub async fn an_incident_is_folded_from_its_entries<F: JournalFactory>(factory: &F) {
    let remedy = RemedyKind::ResumeRun;
    let incident = id(1);
    let journal = factory.make();
    record::<F>(&journal, 1, opened(1, IncidentCause::RunNotDriven)).await;
    record::<F>(&journal, 2, opened(1, IncidentCause::DiskLow)).await;
    record::<F>(&journal, 3, opened(2, IncidentCause::DiskLow)).await;
    let first = one::<F>(&journal, 1).await;
    assert_eq!((first.stage, first.opened.cause), (IncidentStage::Open, IncidentCause::RunNotDriven));
    assert_eq!((first.opened.evidence.measured, first.changed), (7, Timestamp(1)));
    record::<F>(&journal, 4, IncidentEvent::RemedyStarted { incident, remedy }).await;
    let other = RemedyKind::CancelRun;
    let outcome = RemedyOutcome::Failed;
    record::<F>(&journal, 5, IncidentEvent::RemedyEnded { incident, remedy: other, outcome }).await;
    let at_work = one::<F>(&journal, 1).await;
    assert_eq!((at_work.stage, at_work.remedies), (IncidentStage::Remediating, 1));
    assert_eq!((at_work.last_remedy, at_work.changed), (Some(remedy), Timestamp(4)));
    let all = IncidentQuery { limit: 9, ..IncidentQuery::default() };
    let open = IncidentQuery { stage: Some(IncidentStage::Open), ..all };
    assert_eq!(listed::<F>(&journal, open).await, [id(2)]);
    record::<F>(&journal, 6, IncidentEvent::RemedyEnded { incident, remedy, outcome }).await;
    assert_eq!(one::<F>(&journal, 1).await.last_outcome, Some(outcome));
    assert_eq!(listed::<F>(&journal, open).await, [id(2), id(1)]);
    let resolution = IncidentResolution::ByItself;
    record::<F>(&journal, 7, IncidentEvent::Resolved { incident, resolution }).await;
    record::<F>(&journal, 8, IncidentEvent::RemedyStarted { incident, remedy }).await;
    let over = one::<F>(&journal, 1).await;
    assert_eq!((over.stage, over.resolution), (IncidentStage::Resolved, Some(resolution)));
    assert_eq!((over.remedies, over.changed), (1, Timestamp(7)));
    assert_eq!(listed::<F>(&journal, all).await, [id(2), id(1)]);
    assert_eq!(listed::<F>(&journal, IncidentQuery { limit: 1, ..all }).await, [id(2)]);
    assert_eq!(listed::<F>(&journal, IncidentQuery { below: Some(id(2)), ..all }).await, [id(1)]);
    let of_journal = IncidentQuery { domain: Some(HealingDomain::Journal), ..all };
    assert_eq!(listed::<F>(&journal, of_journal).await, [id(2)]);
    let unresolved = journal.query(incidents::unresolved).await.unwrap();
    assert_eq!(unresolved.iter().map(|one| one.opened.incident).collect::<Vec<_>>(), [id(2)]);
}

/// The latest choice of a domain is in force; the choice of the configuration leaves none.
pub async fn a_chosen_mode_is_in_force_until_another_one_is<F: JournalFactory>(factory: &F) {
    let journal = factory.make();
    let runs = HealingDomain::Runs;
    let tasks = HealingDomain::Tasks;
    let steps = [
        (runs, Some(SelfHealingMode::Auto)),
        (tasks, Some(SelfHealingMode::Disabled)),
        (runs, Some(SelfHealingMode::ObserveOnly)),
        (tasks, None),
    ];
    for (domain, mode) in steps {
        record::<F>(&journal, 1, IncidentEvent::ModeSet { domain, mode }).await;
    }
    let modes = journal.query(|rows, _| healing_modes::in_force(rows)).await.unwrap();
    assert_eq!(modes, [(runs, SelfHealingMode::ObserveOnly)]);
}
