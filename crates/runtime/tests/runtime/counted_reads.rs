//! How often the journal is looked into: what is at work is known without that.

use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_journal_core::family::{
    FamilyTable, ReadFamilies, RowId, RowLookup, RowScan, RowStore, RowWrite, ScannedRow, Snapshot,
    SnapshotQuery, StoreFault, StoredRow,
};
use palyra_ports::ReadError;
use palyra_runtime::RequestError;
use palyra_runtime::session::{AdmissionKind, SessionSelector, SubmitRequest};
use palyra_runtime::tape::TapeFollowEvent;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::proof::SeqRange;
use palyra_types::run::RunLifecycleState;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{Seq, TapeSeq};

use crate::faults::FaultyJournal;
use crate::rig::{Rig, by_key, request, settle, soon};

impl ReadFamilies for FaultyJournal {
    fn run_query(&self, query: SnapshotQuery) -> BoxFuture<'static, Result<(), ReadError>> {
        if !self.has_unreadable_postures() {
            return self.counted().run_query(query);
        }
        self.counted().run_query(Box::new(move |snapshot| {
            query(Snapshot { rows: &mut WithoutPostures(snapshot.rows), log: snapshot.log })
        }))
    }
}

/// Rows of which those of the settings of tools are damaged.
struct WithoutPostures<'a>(&'a mut dyn RowStore);

fn readable(table: &FamilyTable) -> Result<(), StoreFault> {
    match table.name {
        "posture" => Err(StoreFault::Damaged { table: "posture", id: RowId(1) }),
        _ => Ok(()),
    }
}

impl RowStore for WithoutPostures<'_> {
    fn get(
        &mut self,
        table: &'static FamilyTable,
        by: RowLookup<'_>,
    ) -> Result<Option<StoredRow>, StoreFault> {
        readable(table)?;
        self.0.get(table, by)
    }

    fn scan(&mut self, table: &'static FamilyTable, scan: &RowScan) -> Result<Vec<ScannedRow>, StoreFault> {
        readable(table)?;
        self.0.scan(table, scan)
    }

    fn write(
        &mut self,
        table: &'static FamilyTable,
        id: RowId,
        write: RowWrite<'_>,
    ) -> Result<(), StoreFault> {
        self.0.write(table, id, write)
    }

    fn sourced(
        &mut self,
        table: &'static FamilyTable,
        column: usize,
        range: SeqRange,
    ) -> Result<Vec<(RowId, Seq)>, StoreFault> {
        self.0.sourced(table, column, range)
    }
}

/// Asks in a session and follows the run to its end.
async fn ask(rig: &Rig, session: SessionSelector, key: &str) -> Vec<Arc<OrchestratorTapeRecord>> {
    let submit = SubmitRequest { idempotency_key: Some(key.into()), ..request(session, "hello") };
    let taken = soon("an answer", rig.gateway.sessions.submit_followed(rig.me(), submit)).await.unwrap();
    let (submitted, follower) = taken;
    assert_eq!((submitted.admission, submitted.begun_upto), (AdmissionKind::Started, Some(TapeSeq(2))));
    let mut follower = follower.expect("a run that began with this");
    let mut entries = Vec::new();
    while let Some(followed) = soon("the next entry", follower.next()).await.unwrap() {
        match followed {
            TapeFollowEvent::Entry(entry) => entries.push(entry),
            TapeFollowEvent::CaughtUp(at) => assert_eq!((at, entries.len()), (TapeSeq(2), 2)),
        }
    }
    assert_eq!(follower.ended_as(), Some(RunLifecycleState::Done));
    // The session hears of the end after those who follow the run.
    settle().await;
    entries
}

#[tokio::test]
async fn a_run_of_a_session_at_work_needs_no_look_into_the_journal() {
    let rig = Rig::start().await;
    let opened = rig.resolve(SessionSelector::default()).await.unwrap();
    let session = || SessionSelector { id: Some(opened.record.session.id), ..SessionSelector::default() };
    let before = rig.faults.reads();
    let first = ask(&rig, session(), "first").await;
    ask(&rig, session(), "second").await;
    ask(&rig, SessionSelector::default(), "third, in a session of its own").await;
    assert_eq!(rig.faults.reads(), before);
    assert!(matches!(first[0].event, TapeEvent::Run(RunEvent::Started(_))));
    let whole: Vec<_> = first.iter().map(|entry| (**entry).clone()).collect();
    assert_eq!(whole, rig.tape(first[0].run).await);
}

#[tokio::test]
async fn a_wish_to_stop_finds_a_run_at_work_without_a_look_into_the_journal() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    let before = rig.faults.reads();
    let theirs = rig.gateway.runs.cancel(rig.stranger(), run).await;
    assert!(matches!(theirs, Err(RequestError::RunNotFound)), "{theirs:?}");
    assert_eq!(rig.faults.reads(), before + 1);
    let receipt = rig.cancel(run).await.unwrap();
    assert!(!receipt.already_finished);
    assert_eq!(rig.faults.reads(), before + 1);
    rig.finished(run).await;
    settle().await;
    assert!(rig.cancel(run).await.unwrap().already_finished);
}

#[tokio::test]
async fn a_branch_that_was_just_opened_sees_what_it_shares() {
    let rig = Rig::start().await;
    let run = rig.submit("k", "first").await.run;
    rig.finished(run).await;
    let submit = palyra_runtime::session::BranchRequest { run, tape_seq: None };
    rig.gateway.sessions.branch(rig.me(), by_key("b"), None, submit).await.unwrap();
    rig.finished(rig.submit("b", "second").await.run).await;
    let asked = rig.model.requests().last().cloned().unwrap();
    assert!(asked.messages.len() > 2, "{} messages", asked.messages.len());
}

#[tokio::test]
async fn who_follows_a_run_that_waits_first_or_was_there_before_is_not_its_first_follower() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let submit = || {
        let submit = SubmitRequest { idempotency_key: Some("once".into()), ..request(by_key("k"), "next") };
        rig.gateway.sessions.submit_followed(rig.me(), submit)
    };
    let (queued, follower) = submit().await.unwrap();
    assert_eq!((queued.admission, queued.begun_upto), (AdmissionKind::Queued, None));
    assert!(follower.is_none());
    let (again, follower) = submit().await.unwrap();
    assert_eq!((again.run, again.admission), (queued.run, AdmissionKind::Attached));
    assert!(follower.is_none());
    gate.open();
    for run in [first, queued.run] {
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    }
}
