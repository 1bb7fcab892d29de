//! Tables: what each domain finds, and after how many seconds.

use std::time::Duration;

use palyra_types::incident::SelfHealingMode;

use crate::domains::journal::WAL_BYTES_MAX;
use crate::facts::{
    ApprovalFact, ApprovalStanding, ArtifactFact, ArtifactStanding, ArtifactsFact, BrowserFact,
    ConnectorFact, DomainFacts, HealingFacts, JournalFact, ProgressMarker, ProviderFact, RunFact,
    RunStanding, SandboxFact, SpareFact, TaskFact, TaskStanding, WorkerFact,
};
use crate::fixture::{Caller, entries, of_runs, run, seconds, subject};

/// Looks at the same facts every ten seconds; returns what is found first, and when.
fn first_found(facts: &HealingFacts) -> String {
    let mut caller = Caller::new(SelfHealingMode::ObserveOnly);
    for step in 0..200 {
        let plan = caller.look(facts, seconds(step * 10));
        if !plan.openings.is_empty() {
            let found: Vec<_> = plan
                .openings
                .iter()
                .map(|it| {
                    let remedy = it.planned.map_or("a person", |remedy| remedy.as_str());
                    format!("{} {} -> {remedy}", it.key.cause.as_str(), it.finding.severity.as_str())
                })
                .collect();
            return format!("{} s: {}", step * 10, found.join(", "));
        }
    }
    "nothing".to_owned()
}

#[test]
fn runs() {
    let with_deadline = |deadline| RunFact {
        effect_deadline: Some(Duration::from_secs(deadline)),
        ..run(1, RunStanding::Driven, 5)
    };
    for (fact, found) in [
        (run(1, RunStanding::Waits, 5), "nothing"),
        (run(1, RunStanding::Queued, 5), "nothing"),
        (run(1, RunStanding::Driven, 5), "120 s: run_no_progress warning -> cancel_run"),
        (run(1, RunStanding::NotDriven, 5), "120 s: run_not_driven warning -> resume_run"),
        (with_deadline(30), "120 s: run_no_progress warning -> cancel_run"),
        (with_deadline(600), "610 s: run_no_progress warning -> cancel_run"),
    ] {
        assert_eq!(first_found(&of_runs(vec![fact])), found, "{fact:?}");
    }
}

#[test]
fn any_progress_begins_the_silence_of_a_run_anew() {
    let moved: [fn(u64) -> ProgressMarker; 3] = [
        entries,
        |received| ProgressMarker { received, ..ProgressMarker::default() },
        |processor_us| ProgressMarker { processor_us, ..ProgressMarker::default() },
    ];
    for marker in moved {
        let mut caller = Caller::new(SelfHealingMode::Auto);
        for step in 0..100 {
            // It moves every hundred seconds.
            let fact = RunFact { marker: marker(step / 10), ..run(1, RunStanding::Driven, 0) };
            assert!(caller.look(&of_runs(vec![fact]), seconds(step * 10)).openings.is_empty());
        }
    }
}

#[test]
fn tasks() {
    let task = |standing, deadline| HealingFacts {
        tasks: DomainFacts::Read(vec![TaskFact {
            subject: subject(1),
            standing,
            marker: entries(2),
            deadline: Duration::from_secs(deadline),
        }]),
        ..HealingFacts::default()
    };
    for (facts, found) in [
        (task(TaskStanding::Due, 1_800), "120 s: task_not_taken warning -> wake_queue"),
        (task(TaskStanding::Leased, 60), "120 s: task_no_progress warning -> wake_queue"),
        (task(TaskStanding::Leased, 300), "310 s: task_no_progress warning -> wake_queue"),
    ] {
        assert_eq!(first_found(&facts), found);
    }
}

#[test]
fn approvals() {
    for (standing, found) in [
        (ApprovalStanding::Pending, "nothing"),
        (ApprovalStanding::Unreachable, "600 s: approver_unreachable warning -> a person"),
        (ApprovalStanding::Expired, "120 s: approval_expiry_missed warning -> expire_approvals"),
        (ApprovalStanding::Decided, "120 s: approval_not_continued warning -> resume_run"),
    ] {
        let approvals = DomainFacts::Read(vec![ApprovalFact { subject: subject(1), standing }]);
        assert_eq!(first_found(&HealingFacts { approvals, ..HealingFacts::default() }), found);
    }
}

#[test]
fn artifacts() {
    for (standing, found) in [
        (ArtifactStanding::Repairable, "0 s: artifact_damaged warning -> repair_artifact"),
        (ArtifactStanding::Lost, "0 s: artifact_damaged warning -> a person"),
    ] {
        let damaged = vec![ArtifactFact { subject: subject(1), standing }];
        let artifacts = DomainFacts::Read(ArtifactsFact { damaged, ..ArtifactsFact::default() });
        assert_eq!(first_found(&HealingFacts { artifacts, ..HealingFacts::default() }), found);
    }
}

#[test]
fn channels() {
    for (is_connected, found) in
        [(true, "nothing"), (false, "120 s: connector_down warning -> restart_connector")]
    {
        let channels = DomainFacts::Read(vec![ConnectorFact { subject: subject(1), is_connected }]);
        assert_eq!(first_found(&HealingFacts { channels, ..HealingFacts::default() }), found);
    }
}

#[test]
fn providers() {
    for (is_paused, found) in
        [(false, "nothing"), (true, "120 s: provider_paused warning -> reopen_provider")]
    {
        let providers = DomainFacts::Read(vec![ProviderFact { subject: subject(1), is_paused }]);
        assert_eq!(first_found(&HealingFacts { providers, ..HealingFacts::default() }), found);
    }
}

#[test]
fn journal() {
    let usual = JournalFact::default();
    for (fact, found) in [
        (usual, "nothing"),
        (JournalFact { wal_bytes: WAL_BYTES_MAX, ..usual }, "nothing"),
        (
            JournalFact { wal_bytes: WAL_BYTES_MAX + 1, ..usual },
            "120 s: wal_too_large notice -> truncate_wal",
        ),
        (JournalFact { is_disk_low: true, ..usual }, "0 s: disk_low critical -> free_space"),
        (
            JournalFact { projection_differs: true, ..usual },
            "0 s: projection_differs critical -> rebuild_projections",
        ),
        (JournalFact { damaged_entry: Some(9), ..usual }, "0 s: entry_damaged critical -> a person"),
    ] {
        let journal = DomainFacts::Read(fact);
        assert_eq!(first_found(&HealingFacts { journal, ..HealingFacts::default() }), found);
    }
}

#[test]
fn sandbox() {
    for (bytes, is_disk_low, found) in
        [(0, true, "nothing"), (2, false, "nothing"), (2, true, "120 s: scratch_left notice -> free_space")]
    {
        let sandbox = DomainFacts::Read(SandboxFact { scratch: SpareFact { bytes, is_disk_low } });
        assert_eq!(first_found(&HealingFacts { sandbox, ..HealingFacts::default() }), found);
    }
}

#[test]
fn spare_files() {
    for (bytes, is_disk_low, found) in
        [(0, true, "nothing"), (2, false, "nothing"), (2, true, "120 s: spare_files warning -> free_space")]
    {
        let spare = SpareFact { bytes, is_disk_low };
        let artifacts = DomainFacts::Read(ArtifactsFact { spare, ..ArtifactsFact::default() });
        assert_eq!(first_found(&HealingFacts { artifacts, ..HealingFacts::default() }), found);
    }
}

#[test]
fn workers() {
    let lease = Duration::from_secs(140);
    let workers = DomainFacts::Read(vec![WorkerFact { subject: subject(1), marker: entries(1), lease }]);
    let facts = HealingFacts { workers, ..HealingFacts::default() };
    assert_eq!(first_found(&facts), "150 s: worker_silent warning -> revoke_worker");
}

#[test]
fn browser() {
    for (answers, found) in [(true, "nothing"), (false, "120 s: browser_silent warning -> restart_browser")] {
        let browser = DomainFacts::Read(vec![BrowserFact { subject: subject(1), answers }]);
        assert_eq!(first_found(&HealingFacts { browser, ..HealingFacts::default() }), found);
    }
}

#[test]
fn a_domain_without_a_system_finds_nothing() {
    assert_eq!(first_found(&HealingFacts::default()), "nothing");
}
