//! What is recorded of jobs, and what is said of those that only the record knows.

use futures::future::BoxFuture;
use palyra_ports::read_approvals::{EffectFilter, EffectQuery};
use palyra_ports::{
    AppendError, AppendTape, CredentialUser, ExecuteToolError, MaintainJournal, ReadError, Recorder,
    Supervision, ToolRuntime,
};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::samples::{SampleRun, append};
use palyra_testkit::{FakeClock, MemoryJournal, PassThrough, journal_suite};
use palyra_tool_kit::ExecutionAttempt;
use palyra_types::effect::EffectRecord;
use palyra_types::event::JournalEvent;
use palyra_types::job::{JobEnd, JobEvent, JobNumber, JobState};
use palyra_types::tool::{EffectContract, ToolName};
use palyra_types::{EffectId, PrincipalId, Seq};

use super::tests::Bench;
use super::*;
use crate::job_log::ReadJobs;

const CALL: EffectId = EffectId(1);

/// A journal that answers for jobs.
struct JournalJobs(MemoryJournal);

impl ReadJobs for JournalJobs {
    fn last_job(&self) -> BoxFuture<'static, Result<JobNumber, ReadError>> {
        self.0.last_job()
    }

    fn job(
        &self,
        principal: PrincipalId,
        job: JobNumber,
    ) -> BoxFuture<'static, Result<Option<EffectRecord>, ReadError>> {
        let only = EffectFilter::Job(job);
        let found = self.0.effects(EffectQuery {
            principal: Some(principal),
            only,
            limit: 1,
            ..EffectQuery::default()
        });
        Box::pin(async move { Ok(found.await?.pop()) })
    }
}

/// A bench whose jobs are recorded, and the run whose call starts them.
struct Recorded {
    bench: Bench,
    journal: MemoryJournal,
    run: SampleRun,
}

impl Recorded {
    async fn on(journal: MemoryJournal, n: u64) -> Self {
        let bench = Bench::new();
        let clock = Arc::new(FakeClock::new());
        let recorder = Recorder::new(Arc::new(journal.clone()), Arc::new(PassThrough), clock);
        bench.tools.jobs().record_in(recorder, Arc::new(JournalJobs(journal.clone())));
        let session = journal_suite::samples::session(journal_suite::samples::principal(0), 0);
        let mut run = SampleRun::new(session, n);
        let mut entries = vec![run.started("serve"), run.requested(1)];
        entries.extend(run.proposed(CALL.0));
        entries.push(journal_suite::approval_entries::begun(&mut run, CALL.0, EffectContract::Opaque));
        journal.append(append(entries)).await.expect("it is recorded");
        Self { bench, journal, run }
    }

    /// Makes a call as one of the run's.
    async fn call(&self, tool: &str, arguments: &str) -> Result<ToolResult, CommandFailure> {
        let plan = match tool {
            jobs::START => self.bench.prepare(arguments)?.body.expose().clone(),
            _ => String::new(),
        };
        let mut granted = self.bench.granted(tool, arguments, &plan);
        granted.session = self.run.session.id;
        let principal = self.run.session.principal;
        granted.used_by = CredentialUser { principal, run: self.run.run, effect: CALL };
        self.bench.execute(&granted).await
    }

    async fn events(&self) -> Vec<JobEvent> {
        let entries = self.journal.entries(Seq(0), 1_000).await.expect("they are read");
        let job = |event| match event {
            JournalEvent::Job(event) => Some(event),
            _ => None,
        };
        entries.into_iter().filter_map(|entry| job(entry.event)).collect()
    }

    async fn record(&self, job: u32) -> EffectRecord {
        let only = EffectFilter::Job(JobNumber(job));
        let found = self.journal.effects(EffectQuery { only, limit: 1, ..EffectQuery::default() }).await;
        found.expect("it is read").pop().expect("there is one")
    }

    fn started(&self, job: u32) -> JobEvent {
        JobEvent::Started { job: JobNumber(job), run: self.run.run, effect: CALL }
    }

    fn ended(&self, end: JobEnd) -> JobEvent {
        JobEvent::Ended { run: self.run.run, effect: CALL, end }
    }
}

#[tokio::test]
async fn a_job_is_recorded_before_it_runs_and_its_end_before_it_is_told() {
    let recorded = Recorded::on(MemoryJournal::new(), 0).await;
    let started = recorded.call("start_job", r#"{"argv":["sleep","1000"]}"#).await.expect("it started");
    assert!(started.text.contains("job-1"), "{}", started.text);
    assert_eq!(recorded.events().await, [recorded.started(1)]);
    assert_eq!(recorded.bench.tools.jobs().running(), 1);
    let ended = recorded.call("stop_job", r#"{"job":"job-1"}"#).await.expect("it ends");
    assert!(ended.text.starts_with("ended"), "{}", ended.text);
    assert_eq!(recorded.events().await, [recorded.started(1), recorded.ended(JobEnd::Stopped)]);
    assert_eq!(recorded.bench.tools.jobs().running(), 0);
}

#[tokio::test]
async fn a_job_that_exits_by_itself_is_recorded_as_that() {
    let recorded = Recorded::on(MemoryJournal::new(), 0).await;
    recorded.call("start_job", r#"{"argv":["sh","-c","exit 3"]}"#).await.expect("it started");
    while recorded.bench.tools.jobs().running() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(recorded.events().await[1..], [recorded.ended(JobEnd::Exited { code: 3 })]);
}

#[tokio::test]
async fn a_job_that_cannot_be_recorded_is_not_started() {
    let recorded = Recorded::on(MemoryJournal::new(), 0).await;
    recorded.journal.fail_next(AppendError::DiskFull);
    let refused = recorded.call("start_job", r#"{"argv":["sleep","1000"]}"#).await;
    assert_eq!(refused, Err(CommandFailure::NotRecorded(AppendError::DiskFull)));
    assert!(recorded.bench.asked.lock().expect("nobody panicked").is_empty(), "nothing was started");
    assert_eq!(recorded.bench.tools.jobs().running(), 0);
}

#[tokio::test]
async fn a_job_of_an_earlier_daemon_is_told_as_what_it_is_and_keeps_its_number() {
    let mut before = Recorded::on(MemoryJournal::new(), 0).await;
    before.call("start_job", r#"{"argv":["sleep","1000"]}"#).await.expect("it started");
    let outcome = before.run.tool_finished(CALL.0, "started as job-1");
    before.journal.append(append(vec![outcome])).await.expect("it is recorded");
    let journal = before.journal.clone();
    // Another table: that of the next daemon.
    let now = Recorded::on(journal.clone(), 1).await;
    let started = now.call("start_job", r#"{"argv":["sleep","1000"]}"#).await.expect("it started");
    assert!(started.text.contains("job-2"), "{}", started.text);
    let lost = palyra_ports::NewEntry {
        time: before.record(1).await.started,
        principal: before.run.session.principal,
        session: Some(before.run.session.id),
        run: None,
        event: JournalEvent::Job(before.ended(JobEnd::Lost)),
    };
    journal.append(append(vec![lost])).await.expect("it is recorded");
    assert_eq!(before.record(1).await.job.map(|job| job.state), Some(JobState::InDoubt));
    let named = format!("effect 1 of run {}", before.run.run);
    for tool in ["tail_job", "stop_job"] {
        let told = now.call(tool, r#"{"job":"job-1"}"#).await.expect_err("it runs no more");
        assert_eq!(told.code(), palyra_types::ErrorCode::JobUnknown);
        assert!(told.to_string().contains(&named) && told.to_string().contains("in doubt"), "{told}");
    }
    // Of another conversation it is nobody's.
    let stranger = now.bench.granted("tail_job", r#"{"job":"job-1"}"#, "");
    let told = now.bench.execute(&stranger).await.expect_err("it has none").to_string();
    assert!(!told.contains("effect"), "{told}");
}

#[tokio::test]
async fn what_only_looks_is_done_again_after_a_restart_and_a_command_is_not() {
    let bench = Bench::new();
    let folder = tempfile::tempdir().expect("a folder");
    let again = |tool: &str, arguments: &str, contract| {
        let grant = palyra_testkit::grants::GrantRequest::new(tool, arguments, folder.path())
            .contract(contract)
            .repeated();
        assert_eq!(grant.execution(), ExecutionAttempt::Again);
        bench.tools.execute(grant, Supervision::default())
    };
    let catalog = bench.tools.catalog();
    let declared = |tool: &str| catalog.get(&ToolName::new(tool)).expect("a tool").contract;
    assert_eq!(declared("tail_job"), EffectContract::Pure);
    assert_eq!(declared("stop_job"), EffectContract::Probe);
    for tool in ["tail_job", "stop_job"] {
        let outcome = again(tool, r#"{"job":"job-7"}"#, declared(tool)).await.expect("it says what it found");
        assert_eq!(outcome.failure, Some(palyra_types::ErrorCode::JobUnknown), "{tool}");
    }
    let outcome = again("git", r#"{"subcommand":"status"}"#, EffectContract::Pure).await.expect("it says so");
    assert!(outcome.failure.is_some(), "there is no repository");
    // The control: what changes something, even if a decision called it something else.
    for tool in ["run_command", "start_job"] {
        let lost = again(tool, r#"{"argv":["true"]}"#, EffectContract::Pure).await;
        assert!(matches!(lost, Err(ExecuteToolError::OutcomeUnknown { .. })), "{tool}");
    }
}
