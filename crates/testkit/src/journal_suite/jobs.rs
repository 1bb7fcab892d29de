//! Jobs, and the doubts about them.

use palyra_journal_core::family::ReadFamilies;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::{AppendError, AppendTape, Guard, JournalAppendRequest, NewEntry};
use palyra_types::effect::{EffectRecord, EffectResolution, EffectSettled, EffectState};
use palyra_types::event::{EffectEvent, JournalEvent, TapeEvent, ToolEvent, UnknownOutcomeCause};
use palyra_types::job::{JobEnd, JobEvent, JobNumber, JobState};
use palyra_types::tool::EffectContract;
use palyra_types::{EffectId, RunId, Timestamp};

use super::JournalFactory;
use super::approval_entries::begun;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

const CALL: EffectId = EffectId(1);

/// Makes a run with a call that was started.
fn calling(n: u64) -> (SampleRun, Vec<NewEntry>) {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), n);
    let mut entries = vec![run.started("serve it"), run.requested(1)];
    entries.extend(run.proposed(CALL.0));
    entries.push(begun(&mut run, CALL.0, EffectContract::Opaque));
    (run, entries)
}

fn beside(run: &SampleRun, time: i64, event: JournalEvent) -> NewEntry {
    let (principal, session) = (run.session.principal, Some(run.session.id));
    NewEntry { time: Timestamp(time), principal, session, run: None, event }
}

fn starts(run: &SampleRun, job: u32) -> NewEntry {
    let started = JobEvent::Started { job: JobNumber(job), run: run.run, effect: CALL };
    beside(run, 700, JournalEvent::Job(started))
}

fn ends(run: &SampleRun, end: JobEnd) -> NewEntry {
    beside(run, 800, JournalEvent::Job(JobEvent::Ended { run: run.run, effect: CALL, end }))
}

fn settles(run: &SampleRun, resolution: EffectResolution, time: i64) -> NewEntry {
    let by = samples::principal(1);
    let said = EffectSettled { run: run.run, effect: CALL, resolution, by, note: "I looked".into() };
    beside(run, time, JournalEvent::Effect(EffectEvent::Settled(said)))
}

async fn listed(journal: &impl ReadFamilies, only: EffectFilter) -> Vec<EffectRecord> {
    journal.effects(EffectQuery { only, limit: 9, ..EffectQuery::default() }).await.unwrap()
}

fn runs_of(effects: &[EffectRecord]) -> Vec<RunId> {
    effects.iter().map(|effect| effect.run).collect()
}

/// Its run neither waits for it nor has an entry of it, whether it is over or not.
pub async fn a_job_that_was_lost_is_in_doubt_beside_its_tape(factory: &impl JournalFactory) {
    let journal = factory.make();
    assert_eq!(journal.last_job().await.unwrap(), JobNumber(0));
    let (mut open, entries) = calling(0);
    journal.append(append(entries)).await.unwrap();
    let (mut over, entries) = calling(1);
    journal.append(append(entries)).await.unwrap();
    journal.append(append(vec![starts(&open, 3), starts(&over, 4)])).await.unwrap();
    let ended =
        vec![open.tool_finished(CALL.0, "job-3"), over.tool_finished(CALL.0, "job-4"), over.finished()];
    journal.append(append(ended)).await.unwrap();
    assert_eq!(runs_of(&listed(&journal, EffectFilter::OpenJobs).await), [over.run, open.run]);
    assert_eq!(listed(&journal, EffectFilter::Unknown).await, []);
    assert_eq!(journal.last_job().await.unwrap(), JobNumber(4));
    let before = (journal.run(open.run).await.unwrap(), journal.run(over.run).await.unwrap());

    let lost = vec![ends(&open, JobEnd::Lost), ends(&over, JobEnd::Lost)];
    for _ in 0..2 {
        journal.append(append(lost.clone())).await.unwrap();
        let unknown = listed(&journal, EffectFilter::Unknown).await;
        assert_eq!(runs_of(&unknown), [over.run, open.run]);
        assert!(unknown.iter().all(|effect| effect.state == EffectState::Unknown));
        assert_eq!(listed(&journal, EffectFilter::OpenJobs).await, []);
    }
    let named = listed(&journal, EffectFilter::Job(JobNumber(3))).await;
    assert_eq!((runs_of(&named), named[0].job.unwrap().state), (vec![open.run], JobState::InDoubt));

    let happened = EffectResolution::Happened;
    let guards = vec![Guard::EffectUnknown { run: open.run, effect: CALL }];
    let entries = vec![settles(&open, happened, 900)];
    let said = JournalAppendRequest { guards, ..append(entries) };
    let seq = journal.append(said.clone()).await.unwrap().first_seq;
    assert_eq!(journal.append(said).await, Err(AppendError::GuardFailed { index: 0 }), "it is said");
    journal.append(append(vec![settles(&open, EffectResolution::DidNotHappen, 901)])).await.unwrap();
    assert_eq!(runs_of(&listed(&journal, EffectFilter::Unknown).await), [over.run]);
    let record = listed(&journal, EffectFilter::Job(JobNumber(3))).await.remove(0);
    assert_eq!((record.state, record.ended), (EffectState::Resolved(happened), Some(Timestamp(900))));
    assert_eq!(record.job.unwrap().state, JobState::Settled);
    let after = (journal.run(open.run).await.unwrap(), journal.run(over.run).await.unwrap());
    assert_eq!(after, before, "no run waits for a job");
    factory.erase(&journal, seq);
    assert_eq!(listed(&journal, EffectFilter::Job(JobNumber(3))).await, [record]);
}

/// What the tape says of the call stands.
pub async fn a_job_whose_end_was_seen_or_whose_call_has_no_outcome_is_not_in_doubt(
    factory: &impl JournalFactory,
) {
    let journal = factory.make();
    let (mut seen, entries) = calling(0);
    journal.append(append(entries)).await.unwrap();
    // A short job ends before the outcome of its call is recorded.
    let early = vec![starts(&seen, 1), ends(&seen, JobEnd::Exited { code: 3 })];
    journal.append(append(early)).await.unwrap();
    let outcome = seen.tool_finished(CALL.0, "job-1");
    journal.append(append(vec![outcome, ends(&seen, JobEnd::Lost)])).await.unwrap();
    assert_eq!(listed(&journal, EffectFilter::Unknown).await, []);

    let (mut cut, entries) = calling(1);
    journal.append(append(entries)).await.unwrap();
    journal.append(append(vec![starts(&cut, 2), ends(&cut, JobEnd::Lost)])).await.unwrap();
    assert_eq!(listed(&journal, EffectFilter::Unknown).await, [], "its call has no outcome yet");
    let record = listed(&journal, EffectFilter::Job(JobNumber(2))).await.remove(0);
    assert_eq!((record.state, record.job.unwrap().state), (EffectState::Started, JobState::Gone));
    let lost =
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect: CALL, cause: UnknownOutcomeCause::Restart });
    journal.append(append(vec![cut.entry(lost)])).await.unwrap();
    let unknown = listed(&journal, EffectFilter::Unknown).await;
    assert_eq!((runs_of(&unknown), unknown[0].job.unwrap().state), (vec![cut.run], JobState::Gone));

    let (nothing, _) = calling(2);
    journal.append(append(vec![starts(&nothing, 9), ends(&nothing, JobEnd::Lost)])).await.unwrap();
    assert_eq!(listed(&journal, EffectFilter::All).await.len(), 2, "there is no such call");
    assert_eq!(journal.last_job().await.unwrap(), JobNumber(2));
}
