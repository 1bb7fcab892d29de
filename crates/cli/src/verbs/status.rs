//! `palyra status`: the daemon, its model and what waits for a person, on one screen.
//!
//! Invariant: starts no daemon; where none serves, that is the answer.

mod waiting;

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use palyra_client::{Client, ClientError};
use palyra_wire::v1;
use serde_json::Value;

use super::logs::{is_elsewhere, log_file};
use crate::context::{Context, GlobalArgs};
use crate::daemon_hooks::DaemonHooks;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{WaitingWork, age, date, number_of_entries};
use palyra_screen_text::{bytes, clean_line};
use waiting::look_for_work;

const SANDBOX_CHECK: &str = "tool_isolation";
const REACH_CHECK: &str = "approver_reach";
const POLICY_CHECK: &str = "policy";
/// Characters of a mistake of the policies, which names their file.
const DENIAL_CHARS_MAX: usize = 600;
/// Characters of a mistake of the configuration.
const MISTAKE_CHARS_MAX: usize = 200;
/// Below a line that names a tier.
const TIERS_PAGE: &str =
    "tier C restricts programs most, tier B less (`palyra explain docs/sandbox.md#the-tiers`)";

/// Show the daemon, its model, what waits for you and how the journal is; starts no daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra status\n  palyra status --json")]
pub(crate) struct StatusArgs {
    /// All of it as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: &StatusArgs) -> Result<Exit, Failure> {
    let mut report = StatusReport::default();
    match context.connect_running().await {
        Ok(client) => report.running(context, &client).await?,
        Err(Failure::Client(ClientError::NotRunning { .. })) => report.not_running(context)?,
        Err(failure) => return Err(failure),
    }
    if args.json {
        context.output.json(&Value::Object(report.values))?;
        return Ok(Exit::Done);
    }
    for (name, text) in &report.lines {
        context.output.line(&row(name, &context.output.completed(text)))?;
    }
    Ok(Exit::Done)
}

/// Returns a row: two blanks at least are behind a name, by which a terminal knows the column that a long text goes on in.
fn row(name: &str, text: &str) -> String {
    format!("{name:<11}{text}").trim_end().to_owned()
}

/// What is shown, for people and for programs.
#[derive(Default)]
struct StatusReport {
    lines: Vec<(&'static str, String)>,
    values: serde_json::Map<String, Value>,
}

impl StatusReport {
    fn add(&mut self, name: &'static str, text: impl Into<String>) {
        self.lines.push((name, text.into()));
    }

    fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    async fn running(&mut self, context: &Context, client: &Client) -> Result<(), Failure> {
        let folder = context.folder();
        let (status, config, journal, waiting) = tokio::join!(
            client.status(),
            client.config(),
            client.journal_status(),
            look_for_work(client, folder.as_deref())
        );
        let (status, journal, waiting) = (status?, journal?, waiting?);
        self.daemon(&status);
        self.places(Path::new(&status.state_dir), context.is_local());
        // Somebody with a token may not see the configuration.
        let origin = config.ok().and_then(|config| config.model_origin).unwrap_or_default();
        self.model(&status.default_model, &origin);
        if let Some(other) = context.other_file(client).await {
            self.add("config", other.message());
            self.add("", other.mend());
            self.set("config_file", other.read.display().to_string().into());
        }
        self.config(&context.daemon, &context.global);
        self.policy(&status.checks);
        self.waiting(&waiting, status.open_runs);
        self.reach(&status.checks);
        self.sandbox(&status.checks);
        self.journal(&journal);
        Ok(())
    }

    fn daemon(&mut self, status: &v1::GetStatusResponse) {
        let since = format!("since {} ({})", date(status.started), age(status.started));
        self.add("daemon", format!("running, version {}, process {}, {since}", status.version, status.pid));
        for (at, address) in status.listening.iter().enumerate() {
            self.add(if at == 0 { "listens" } else { "" }, address.clone());
        }
        self.set("running", true.into());
        self.set("version", status.version.clone().into());
        self.set("pid", status.pid.into());
        self.set("started", date(status.started).into());
        self.set("listening", status.listening.clone().into());
    }

    /// The files of the daemon; of another machine's daemon only what it says itself.
    fn places(&mut self, state_dir: &Path, is_local: bool) {
        self.add("state", state_dir.display().to_string());
        self.set("state_dir", state_dir.display().to_string().into());
        let log = log_file(state_dir);
        self.set("log_file", log.display().to_string().into());
        let message = match std::fs::metadata(&log) {
            _ if is_local && is_elsewhere(state_dir) => {
                "where the daemon was started: its standard error".to_owned()
            }
            Ok(meta) if is_local => format!("{} ({}; `palyra logs`)", log.display(), bytes(meta.len())),
            _ => log.display().to_string(),
        };
        self.add("log", message);
    }

    fn model(&mut self, model: &str, origin: &v1::ModelOrigin) {
        let place = match (origin.source(), origin.place.as_str()) {
            (v1::ModelSource::Unspecified, _) => String::new(),
            (v1::ModelSource::BuiltIn, _) => ", built in: no default is set".to_owned(),
            (_, place) => format!(", by {place}"),
        };
        self.add("model", format!("{model}{place}"));
        self.set("model", model.into());
        self.set("model_source", origin.source_name().into());
        self.set("model_place", origin.place.clone().into());
    }

    fn waiting(&mut self, waiting: &WaitingWork, open_runs: u64) {
        let total = waiting.here + waiting.elsewhere;
        if total.is_nothing() {
            self.add("waits", "nothing waits for you");
        }
        for (place, counts) in [("in this folder", waiting.here), ("elsewhere", waiting.elsewhere)] {
            if !counts.is_nothing() {
                self.add("waits", format!("{place}: {}", counts.words()));
            }
        }
        if total.approvals > 0 {
            self.add("", "`palyra approve` shows what asks and takes the answers");
        }
        if let Some((run, asked)) = &waiting.question {
            self.add("", format!("run {run} asks: {asked}"));
            self.add("", format!("`palyra runs answer {run} TEXT` answers it"));
        }
        if total.questions > u64::from(waiting.question.is_some()) {
            self.add("", "`palyra runs list --open` lists the runs that wait");
        }
        if total.budgets > 0 {
            self.add("", "`palyra runs list --open` names runs that wait for one; `palyra budget go-on RUN` lets one go on");
        }
        if total.doubts > 0 {
            self.add("", "`palyra runs effects --unknown` lists the unknown outcomes");
        }
        let active = open_runs.saturating_sub(waiting.waiting_runs);
        self.add("runs", format!("{active} active, {} waiting", waiting.waiting_runs));
        self.set("waiting_here", waiting.here.json());
        self.set("waiting_elsewhere", waiting.elsewhere.json());
        self.set("active_runs", active.into());
        self.set("waiting_runs", waiting.waiting_runs.into());
    }

    /// Names the policies that cannot be used, so that every call is denied.
    fn policy(&mut self, checks: &[v1::Check]) {
        let is_broken =
            |check: &&v1::Check| check.name == POLICY_CHECK && check.level() == v1::CheckLevel::Error;
        let Some(found) = checks.iter().find(is_broken) else { return };
        self.add("policy", clean_line(&found.found, DENIAL_CHARS_MAX));
        self.add("", clean_line(&found.mend, DENIAL_CHARS_MAX));
        self.set("policy_error", found.found.clone().into());
    }

    /// Names the surfaces on which a person who may approve sees what waits.
    fn reach(&mut self, checks: &[v1::Check]) {
        let Some(found) = checks.iter().find(|check| check.name == REACH_CHECK) else { return };
        self.add("approvers", found.found.clone());
        self.set("approver_reach", found.found.clone().into());
    }

    fn sandbox(&mut self, checks: &[v1::Check]) {
        let Some(found) = checks.iter().find(|check| check.name == SANDBOX_CHECK) else { return };
        // The rest is for `doctor`.
        let brief = found.found.split(';').next().unwrap_or_default();
        self.add("sandbox", brief);
        if brief.contains("tier ") {
            self.add("", TIERS_PAGE);
        }
        self.set("sandbox", brief.into());
    }

    fn journal(&mut self, journal: &v1::GetJournalStatusResponse) {
        let verified = match journal.integrity() {
            v1::JournalIntegrity::Holds => "every entry verified".to_owned(),
            v1::JournalIntegrity::Faulty => {
                format!("entry {} does not verify: {}", journal.first_bad_seq, journal.fault)
            }
            v1::JournalIntegrity::TableDiffers => {
                format!("table `{}` differs (`palyra journal rebuild`)", journal.fault)
            }
            v1::JournalIntegrity::NotChecked | v1::JournalIntegrity::Unspecified => {
                "not verified since the start".to_owned()
            }
        };
        let signed = journal.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.size);
        let health = if journal.health() == v1::JournalHealth::Writable {
            "writable"
        } else {
            "read-only (`palyra journal status`)"
        };
        self.add(
            "journal",
            format!("{health}, {}, {signed} of them signed", number_of_entries(journal.entries)),
        );
        self.add("", verified);
        self.set("journal_health", journal.health_name().into());
        self.set("journal_integrity", journal.integrity_name().into());
        self.set("journal_entries", journal.entries.into());
        self.set("journal_signed", signed.into());
    }

    fn not_running(&mut self, context: &Context) -> Result<(), Failure> {
        let state_dir = context.state_dir()?;
        let words = not_running_words(std::fs::metadata(&state_dir).ok().map(|found| found.uid()));
        let is_refused = context.is_local()
            && !(context.daemon.check_config)(context.global.config.as_deref()).mistakes.is_empty();
        // No daemon starts with a file that has mistakes; the line about it says so.
        self.add("daemon", words.strip_suffix(STARTS_IT).filter(|_| is_refused).unwrap_or(words));
        self.set("running", false.into());
        self.places(&state_dir, context.is_local());
        if !self.config(&context.daemon, &context.global) {
            let own = (context.daemon.own_model)(context.global.config.as_deref());
            self.add("model", format!("{}, once it runs", own.name));
            self.set("model", own.name.into());
        }
        Ok(())
    }

    /// Names the first mistake of this machine's configuration; returns whether there is any.
    fn config(&mut self, daemon: &DaemonHooks, global: &GlobalArgs) -> bool {
        if global.connect.is_some() {
            return false;
        }
        let verdict = (daemon.check_config)(global.config.as_deref());
        let Some(first) = verdict.mistakes.first() else { return false };
        let file = verdict.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        let place = if first.in_environment || file.is_empty() { "the environment" } else { &file };
        self.add("config", format!("{place} has mistakes, and no daemon starts with it"));
        self.add("", clean_line(&first.message, MISTAKE_CHARS_MAX));
        self.add("", "`palyra config check` shows all of them");
        self.set("config_mistakes", verdict.mistakes.len().into());
        true
    }
}

/// What starts a daemon where nothing is in the way.
const STARTS_IT: &str = "; `palyra run ...` starts it";

/// Says that no daemon answers, and what starts one; `owner` is the user of the state directory, where that exists.
fn not_running_words(owner: Option<u32>) -> &'static str {
    let is_foreign = owner.is_some_and(|owner| owner != rustix::process::geteuid().as_raw());
    match is_foreign {
        true => {
            "none that you may use: the state directory belongs to another user; choose one of your own with --state-dir or \
             PALYRA_HOME"
        }
        false => "not running; `palyra run ...` starts it",
    }
}

#[cfg(test)]
mod tests;
