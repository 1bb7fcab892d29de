//! Reminders, schedules that paused themselves and reviews: each is notified once, and without a word.

use palyra_ports::{DeliverySettings, NewEntry};
use palyra_testkit::journal_suite::samples;
use palyra_types::delivery::DeliveryTargetKind::Webhook;
use palyra_types::event::JournalEvent;
use palyra_types::learning::{
    CandidateAuthor, CandidateChanged, CandidateKind, CandidateProposed, CandidateState, HoldReason,
    LearningEvent,
};
use palyra_types::schedule::{
    MissedRule, OccurrenceCause, OccurrenceFinished, OccurrenceOutcome, OverlapRule, PauseCause, SavedAction,
    SavedRun, SavedTimes, ScheduleEvent, ScheduleProvenance, ScheduleRules, ScheduleSaved,
};
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{CandidateId, Redacted, ScheduleId, Timestamp};

use super::rig::{Rig, quiet, to};

const CANARY: &str = "canary-9f31";

fn reminder() -> ScheduleId {
    ScheduleId::from_parts(14, 1)
}

fn runs() -> ScheduleId {
    ScheduleId::from_parts(14, 2)
}

fn candidate() -> CandidateId {
    CandidateId::from_parts(15, 1)
}

fn saved(schedule: ScheduleId, action: SavedAction, at: Timestamp) -> ScheduleSaved {
    ScheduleSaved {
        schedule,
        at,
        times: SavedTimes::Every { minutes: 60, anchor: at },
        rules: ScheduleRules { missed: MissedRule::Skip, overlap: OverlapRule::Forbid, jitter_seconds: 0 },
        action,
        provenance: ScheduleProvenance {
            creator: samples::principal(0),
            made_by_run: None,
            taints: Taints::NONE,
            edited_by_person: false,
        },
        name: Redacted::cleaned(format!("{CANARY} name")),
        text: Redacted::cleaned(format!("{CANARY} text")),
    }
}

impl Rig {
    async fn record(&self, events: Vec<JournalEvent>) {
        let entry = |event| NewEntry {
            time: Timestamp(0),
            principal: samples::principal(0),
            session: None,
            run: None,
            event,
        };
        self.append(events.into_iter().map(entry).collect()).await;
        self.settle().await;
    }

    fn now(&self) -> Timestamp {
        palyra_ports::Clock::wall(&self.clock)
    }

    async fn make_schedules(&self) {
        let run = SavedAction::Run(SavedRun {
            agent: samples::agent(),
            agent_profile: Default::default(),
            target: Default::default(),
        });
        let events = [(reminder(), SavedAction::Reminder), (runs(), run)];
        let events = events.map(|(id, action)| ScheduleEvent::Created(saved(id, action, self.now())).into());
        self.record(events.into()).await;
    }

    async fn deliver_reminder(&self) {
        let (schedule, planned) = (reminder(), self.now());
        let finished = OccurrenceFinished {
            schedule,
            planned,
            outcome: OccurrenceOutcome::Succeeded,
            run: None,
            explanation: Redacted::default(),
        };
        let events = [
            ScheduleEvent::OccurrenceCreated { schedule, planned, cause: OccurrenceCause::Due },
            ScheduleEvent::OccurrenceStarted { schedule, planned, at: planned },
            ScheduleEvent::OccurrenceFinished(finished),
        ];
        self.record(events.map(JournalEvent::from).into()).await;
    }

    async fn pause(&self, cause: PauseCause) {
        self.record(vec![ScheduleEvent::Paused { schedule: runs(), cause, at: self.now() }.into()]).await;
    }

    async fn propose(&self) {
        let proposed = CandidateProposed {
            candidate: candidate(),
            kind: CandidateKind::Fact,
            confidence_bps: 5_000,
            state: CandidateState::PendingReview,
            held_back: Some(HoldReason::Unsure),
            author: CandidateAuthor::Rules,
            evidence: Vec::new(),
            taints: Taints::NONE,
            via: Surface::LocalSocket,
            memory: None,
            supersedes: None,
            text: Redacted::cleaned(format!("{CANARY} fact")),
        };
        self.record(vec![LearningEvent::Proposed(Box::new(proposed)).into()]).await;
    }

    fn kinds(&self) -> Vec<&'static str> {
        let of = |body: &String| {
            let kinds = ["reminder", "schedule_paused", "review"];
            kinds.into_iter().find(|kind| body.contains(&format!(r#""kind":"{kind}""#)))
        };
        self.sent_bodies().iter().map(|body| of(body).unwrap_or("another kind")).collect()
    }
}

#[tokio::test]
async fn a_reminder_a_pause_and_a_review_are_sent_once_each() {
    let rig = Rig::start(to(&[Webhook]));
    rig.make_schedules().await;
    assert_eq!(rig.kinds(), [""; 0]);
    rig.advance(60).await;
    rig.deliver_reminder().await;
    rig.pause(PauseCause::Failures).await;
    rig.propose().await;
    assert_eq!(rig.kinds(), ["reminder", "schedule_paused", "review"]);
    rig.look_again().await;
    let again = rig.killed_and_restarted();
    again.advance(3_600).await;
    assert_eq!(again.kinds().len(), 3, "neither a look nor a restart sends one again");
    again.deliver_reminder().await;
    assert_eq!(again.kinds()[3..], ["reminder"], "its next time is another item");
    again.record(vec![ScheduleEvent::Resumed { schedule: runs(), at: again.now() }.into()]).await;
    again.advance(60).await;
    again.pause(PauseCause::Refused).await;
    assert_eq!(again.kinds()[4..], ["schedule_paused"], "another pause is another item");
}

#[tokio::test]
async fn what_a_person_paused_or_reviewed_is_not_sent() {
    let rig = Rig::start(DeliverySettings::default());
    rig.make_schedules().await;
    rig.pause(PauseCause::Person).await;
    rig.propose().await;
    let changed = CandidateChanged {
        candidate: candidate(),
        state: CandidateState::Rejected,
        memory: None,
        text: Redacted::default(),
    };
    rig.record(vec![LearningEvent::Changed(changed).into()]).await;
    rig.settings.send_replace(to(&[Webhook]).into());
    rig.look_again().await;
    assert_eq!(rig.kinds(), [""; 0]);
    // The control.
    rig.advance(60).await;
    rig.deliver_reminder().await;
    assert_eq!(rig.kinds(), ["reminder"]);
}

#[tokio::test]
async fn an_act_during_a_pause_makes_no_second_message() {
    let rig = Rig::start(to(&[Webhook]));
    rig.make_schedules().await;
    rig.pause(PauseCause::Failures).await;
    rig.advance(60).await;
    let (schedule, planned) = (runs(), rig.now());
    let finished = OccurrenceFinished {
        schedule,
        planned,
        outcome: OccurrenceOutcome::Failed,
        run: None,
        explanation: Redacted::default(),
    };
    let events = [
        ScheduleEvent::OccurrenceCreated { schedule, planned, cause: OccurrenceCause::Manual },
        ScheduleEvent::OccurrenceStarted { schedule, planned, at: planned },
        ScheduleEvent::OccurrenceFinished(finished),
    ];
    rig.record(events.map(JournalEvent::from).into()).await;
    assert_eq!(rig.kinds(), ["schedule_paused"]);
}

#[tokio::test]
async fn no_name_and_no_text_of_them_is_in_a_message() {
    let rig = Rig::start(to(&[Webhook]));
    rig.make_schedules().await;
    rig.advance(60).await;
    rig.deliver_reminder().await;
    rig.pause(PauseCause::Failures).await;
    rig.propose().await;
    let bodies = rig.sent_bodies();
    assert_eq!(bodies.len(), 3);
    let allowed = ["type", "timestamp", "data", "kind", "agent", "risk", "id", "link"];
    for body in bodies {
        assert!(!body.contains(CANARY), "{body}");
        let names: Vec<&str> = body.split('"').skip(1).step_by(2).collect();
        for name in names.iter().filter(|name| body.contains(&format!("\"{name}\":"))) {
            assert!(allowed.contains(name), "{name} in {body}");
        }
        assert!(body.contains(r#""link":"http://palyra.localhost:7787/console"}"#), "{body}");
    }
}

#[tokio::test]
async fn quiet_hours_hold_them_back_and_count_them() {
    // The clock of tests begins at midnight.
    let rig = Rig::start(quiet("00:00", "06:00", to(&[Webhook])));
    rig.make_schedules().await;
    rig.advance(60).await;
    rig.deliver_reminder().await;
    rig.pause(PauseCause::Failures).await;
    rig.propose().await;
    assert_eq!(rig.sent_ids().len(), 0);
    for _ in 0..30 {
        rig.advance(900).await;
    }
    let bodies = rig.sent_bodies();
    assert!(bodies.len() == 1 && bodies[0].contains(r#""count":3"#), "{bodies:?}");
}
