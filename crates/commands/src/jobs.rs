//! `start_job`, `tail_job`, `stop_job`: programs that go on while the run does other things.
//!
//! Owns the table of jobs. A job belongs to a session and dies with the daemon; what became of one that was lost so
//! nobody knows, and that is what is said. Invariant: at most [`JOBS_MAX`] run, and at most [`KEPT_MAX`] are remembered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_ports::{Ended, ProcessTier};
use palyra_types::SessionId;
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, watch};

use crate::commands::{Granted, Made, Parts};
use crate::failure::CommandFailure;
use crate::run_command::{argv_schema, folder_schema, how, parse, planned_again};
use crate::running::{self, Gathered, Running};

pub(crate) const START: &str = "start_job";
pub(crate) const TAIL: &str = "tail_job";
pub(crate) const STOP: &str = "stop_job";
const VERSION: u32 = 1;
const DEADLINE: Duration = Duration::from_secs(60);
const OUTPUT_BYTES_MAX: usize = 32 * 1024;
/// Bytes of output that are kept of each job until somebody looks.
const KEPT_BYTES_MAX: usize = 128 * 1024;

/// Jobs that run at once, of all sessions.
pub(crate) const JOBS_MAX: usize = 16;
/// Jobs that are remembered, ended ones among them.
pub(crate) const KEPT_MAX: usize = 64;

pub(crate) fn start_spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(START),
        version: VERSION,
        description: "Starts one program in the workspace and does not wait for its end, for servers and long builds. \
                      It is held as run_command holds its program. Look at it with tail_job, end it with stop_job; it \
                      ends with the daemon at the latest."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"argv": argv_schema(), "cwd": folder_schema()},
            "required": ["argv"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Opaque,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Prepared,
        capabilities: vec![Capability::ReadFiles, Capability::WriteFiles, Capability::Process],
        taints: Taints::WORKSPACE.with(Taints::TOOL),
        risk: ApprovalRiskLevel::High,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

pub(crate) fn tail_spec() -> ToolSpec {
    of_a_job(
        TAIL,
        "Says whether a job still runs, and what it printed since the last look.",
        EffectContract::Pure,
    )
}

pub(crate) fn stop_spec() -> ToolSpec {
    of_a_job(STOP, "Ends a job and all that it started.", EffectContract::Pure)
}

fn of_a_job(name: &str, description: &str, contract: EffectContract) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: VERSION,
        description: description.to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"job": {"type": "string", "maxLength": 32, "description": "Its name, as start_job said it."}},
            "required": ["job"],
            "additionalProperties": false,
        }),
        contract,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Direct,
        capabilities: vec![Capability::ReadFiles],
        taints: Taints::WORKSPACE.with(Taints::TOOL),
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

/// Jobs by session and number.
pub(crate) struct Jobs(Mutex<Table>);

#[derive(Default)]
struct Table {
    started: u64,
    jobs: BTreeMap<u64, Job>,
}

struct Job {
    session: SessionId,
    tier: ProcessTier,
    output: Gathered,
    stop: Arc<Notify>,
    ended: watch::Receiver<Option<Ended>>,
}

impl Jobs {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_room(&self) -> Result<(), CommandFailure> {
        let table = self.table();
        let running = table.jobs.values().filter(|job| job.ended.borrow().is_none()).count();
        if running < JOBS_MAX {
            return Ok(());
        }
        Err(CommandFailure::TooMany(format!("{JOBS_MAX} jobs run already; end one of them first")))
    }

    fn keep(&self, session: SessionId, tier: ProcessTier, running: Running) -> u64 {
        let (stop, output) = (Arc::new(Notify::new()), running.output.clone());
        let (end, ended) = watch::channel(None);
        tokio::spawn(follow(running, Arc::clone(&stop), end));
        let mut table = self.table();
        table.started += 1;
        let number = table.started;
        table.jobs.insert(number, Job { session, tier, output, stop, ended });
        while table.jobs.len() > KEPT_MAX {
            let oldest =
                table.jobs.iter().find(|(_, job)| job.ended.borrow().is_some()).map(|(number, _)| *number);
            let Some(oldest) = oldest else { break };
            table.jobs.remove(&oldest);
        }
        number
    }
}

async fn follow(mut running: Running, stop: Arc<Notify>, end: watch::Sender<Option<Ended>>) {
    let ended = {
        let mut ended = std::pin::pin!(running.process.wait());
        tokio::select! {
            biased;
            ended = &mut ended => Some(ended),
            () = stop.notified() => None,
        }
    };
    running.process.stop();
    let last = running.wait().await;
    end.send_replace(Some(ended.unwrap_or(last)));
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfJob {
    job: String,
}

pub(crate) async fn start(parts: &Parts, granted: &Granted) -> Result<Made, CommandFailure> {
    parts.jobs.check_room()?;
    let (planned, _) = planned_again(parts, granted).await?;
    let tier = planned.plan.tier.of_process();
    let running = running::start(&*parts.sandbox, &parts.settings, planned, KEPT_BYTES_MAX).await?;
    let number = parts.jobs.keep(granted.session, tier, running);
    let text = format!("started as job-{number}; look at it with tail_job");
    Ok(Made { text, bytes_total: 0, failed: None, tier: Some(tier) })
}

pub(crate) fn tail(parts: &Parts, granted: &Granted) -> Result<Made, CommandFailure> {
    let named: OfJob = parse(&granted.arguments)?;
    let table = parts.jobs.table();
    let job = find(&table, granted.session, &named.job)?;
    let state = (*job.ended.borrow()).map_or("still running".to_owned(), how);
    let mut output = job.output.get();
    let bytes_total = output.total();
    let printed = output.take();
    let text =
        if printed.is_empty() { format!("{state}; nothing new") } else { format!("{state}\n\n{printed}") };
    Ok(Made { text, bytes_total, failed: None, tier: Some(job.tier) })
}

pub(crate) async fn stop(parts: &Parts, granted: &Granted) -> Result<Made, CommandFailure> {
    let named: OfJob = parse(&granted.arguments)?;
    let (mut ended, tier) = {
        let table = parts.jobs.table();
        let job = find(&table, granted.session, &named.job)?;
        job.stop.notify_one();
        (job.ended.clone(), job.tier)
    };
    let ended = ended.wait_for(Option::is_some).await.ok().and_then(|ended| *ended);
    let text = ended.map_or("gone".to_owned(), how);
    Ok(Made { text, bytes_total: 0, failed: None, tier: Some(tier) })
}

fn find<'t>(table: &'t Table, session: SessionId, name: &str) -> Result<&'t Job, CommandFailure> {
    let number = name.strip_prefix("job-").and_then(|number| number.parse().ok());
    let job = number.and_then(|number: u64| table.jobs.get(&number)).filter(|job| job.session == session);
    job.ok_or_else(|| {
        CommandFailure::JobUnknown(format!(
            "this session has no `{name}`; if it was started before the daemon was, it ended with it, and how far it \
             came is not known"
        ))
    })
}
