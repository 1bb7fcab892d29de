//! Jobs that an earlier daemon left without an end.

use palyra_ports::NewEntry;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_runtime::RequestError;
use palyra_testkit::scripted_tools::{ACT, LOOK};
use palyra_testkit::{Gate, MemoryJournal, Script, ToolScript};
use palyra_types::effect::{EffectRecord, EffectResolution, EffectState};
use palyra_types::event::{ApprovalEvent, JournalEvent, TapeEvent, ToolEvent};
use palyra_types::job::{JobEnd, JobEvent, JobNumber, JobState};
use palyra_types::run::RunPhase;
use palyra_types::{EffectId, RunId};

use crate::approval_calls::{approve, ask, asking_rig, deny};
use crate::rig::{Rig, append, entries_of, settle, soon};

const CALL: EffectId = EffectId(1);

/// Records what the tools record of a job.
async fn record(rig: &Rig, run: RunId, event: JobEvent) {
    let owner = rig.record(run).await;
    let entry = NewEntry {
        time: owner.updated,
        principal: owner.principal,
        session: Some(owner.session),
        run: None,
        event: JournalEvent::Job(event),
    };
    append(&rig.memory, entry).await;
}

async fn started(rig: &Rig, run: RunId, job: u32) {
    record(rig, run, JobEvent::Started { job: JobNumber(job), run, effect: CALL }).await;
}

/// Returns the ends that are recorded, in order.
async fn ends(memory: &MemoryJournal) -> Vec<(RunId, JobEnd)> {
    let end = |event| match event {
        JournalEvent::Job(JobEvent::Ended { run, end, .. }) => Some((run, end)),
        _ => None,
    };
    entries_of(memory).await.into_iter().filter_map(|entry| end(entry.event)).collect()
}

async fn unknown(rig: &Rig) -> Vec<EffectRecord> {
    let query = EffectQuery { only: EffectFilter::Unknown, limit: 9, ..EffectQuery::default() };
    soon("effects", rig.gateway.runs.effects(rig.me(), query)).await.unwrap()
}

/// Of an open run, which waits for something else, and of one that is over; one that ended before is not doubted.
#[tokio::test]
async fn a_job_without_an_end_is_in_doubt_from_the_next_start_on_and_settled_once() {
    let rig = asking_rig().await;
    let mut runs = Vec::new();
    for job in 1..=3 {
        let gate = Gate::closed();
        rig.tools.push(ACT, ToolScript::Hold(gate.clone(), format!("started as job-{job}")));
        let (run, approval) = ask(&rig, &format!("k{job}"), ACT, "{}").await;
        // The first one goes on to another question.
        let next =
            if job == 1 { Script::new().call(ACT, r#"{"more":1}"#) } else { Script::new().text("done") };
        rig.model.push(next);
        approve(&rig, approval).await.unwrap();
        rig.until(run, "the start", |event| matches!(event, TapeEvent::Tool(ToolEvent::Started(_)))).await;
        started(&rig, run, job).await;
        assert!(unknown(&rig).await.is_empty());
        gate.open();
        rig.until(run, "the outcome", |event| matches!(event, TapeEvent::Tool(ToolEvent::Finished(_)))).await;
        runs.push(run);
    }
    let [open, over, seen] = runs[..] else { panic!("three runs") };
    let asks_more = |event: &TapeEvent| matches!(event, TapeEvent::Approval(ApprovalEvent::Requested(asked)) if asked.effect != CALL);
    let entry = rig.until(open, "another question", asks_more).await;
    let TapeEvent::Approval(ApprovalEvent::Requested(question)) = &entry.event else { panic!("it is one") };
    rig.finished(over).await;
    rig.finished(seen).await;
    record(&rig, seen, JobEvent::Ended { run: seen, effect: CALL, end: JobEnd::Exited { code: 0 } }).await;
    settle().await;
    let tapes = (rig.tape(open).await, rig.tape(over).await);

    let mut rig = rig.restarted().await;
    for _ in 0..2 {
        let doubted: Vec<_> = unknown(&rig).await.iter().map(|effect| (effect.run, effect.effect)).collect();
        assert_eq!(doubted, [(over, CALL), (open, CALL)]);
        let recorded = ends(&rig.memory).await;
        assert_eq!(recorded.len(), 3, "{recorded:?}");
        assert!(recorded.contains(&(over, JobEnd::Lost)) && recorded.contains(&(open, JobEnd::Lost)));
        settle().await;
        assert_eq!((rig.tape(open).await, rig.tape(over).await), tapes, "it stands beside the tapes");
        rig = rig.restarted().await;
    }
    let effects = &rig.gateway.runs;
    let (happened, did_not) = (EffectResolution::Happened, EffectResolution::DidNotHappen);
    let say = |run, resolution| effects.resolve_effect(rig.me(), run, CALL, resolution, "I looked".into());
    let stranger = effects.resolve_effect(rig.stranger(), over, CALL, happened, "".into()).await;
    assert!(matches!(stranger, Err(RequestError::RunNotFound)), "{stranger:?}");
    for run in [open, over] {
        let again = soon("a refusal", say(run, EffectResolution::Retry)).await;
        assert!(matches!(again, Err(RequestError::InvalidArgument { .. })), "{again:?}");
        let said = soon("a resolution", say(run, happened)).await.unwrap();
        assert_eq!(
            (said.state, said.job.unwrap().state),
            (EffectState::Resolved(happened), JobState::Settled)
        );
        assert_eq!(soon("the same", say(run, happened)).await.unwrap(), said);
        let other = soon("a contradiction", say(run, did_not)).await;
        assert!(matches!(other, Err(RequestError::EffectNotUnknown)), "{other:?}");
    }
    assert!(unknown(&rig).await.is_empty());
    assert_eq!((rig.tape(open).await, rig.tape(over).await), tapes);
    // The run waits for what it waited for, and goes on when that comes.
    assert!(matches!(rig.record(open).await.phase, RunPhase::Waiting(_)));
    rig.model.push(Script::new().text("done"));
    deny(&rig, question.approval).await.unwrap();
    rig.finished(open).await;
    let rig = rig.restarted().await;
    assert!(unknown(&rig).await.is_empty());
    assert_eq!(ends(&rig.memory).await.len(), 3, "nothing is added");
}

/// Then the call itself is in doubt, once, and on its tape.
#[tokio::test]
async fn a_job_whose_call_was_cut_off_is_not_doubted_twice() {
    let rig = asking_rig().await;
    rig.tools.push(ACT, ToolScript::Hang);
    let (run, approval) = ask(&rig, "k", ACT, "{}").await;
    approve(&rig, approval).await.unwrap();
    rig.until(run, "the start", |event| matches!(event, TapeEvent::Tool(ToolEvent::Started(_)))).await;
    started(&rig, run, 1).await;
    let rig = rig.restarted().await;
    rig.until(run, "the doubt", |event| matches!(event, TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. })))
        .await;
    settle().await;
    let doubted = unknown(&rig).await;
    assert_eq!(doubted.len(), 1);
    assert_eq!(doubted[0].job.map(|job| job.state), Some(JobState::Gone));
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.model.push(Script::new().text("done"));
    let effects = &rig.gateway.runs;
    let said = effects.resolve_effect(rig.me(), run, CALL, EffectResolution::Retry, "".into());
    soon("a resolution", said).await.expect("the run takes it");
    rig.finished(run).await;
    assert!(unknown(&rig).await.is_empty());
}
