//! What a daemon that runs says of itself. Each record is rendered by a list of its fields.

use std::collections::BTreeMap;

use palyra_client::{Client, ClientError};
use palyra_wire::json::to_json;
use palyra_wire::v1;
use serde_json::{Map, Value, json};

use crate::machine::process;

/// Entries of the journal whose kinds are counted, at most.
const COUNTED_ENTRIES_MAX: u64 = 20_000;
const ENTRIES_PAGE: u32 = 1_000;
const LISTED_MAX: u32 = 200;
const STATUS_FIELDS: [&str; 6] = ["version", "build_id", "pid", "started", "default_model", "open_runs"];
const JOURNAL_FIELDS: [&str; 13] = [
    "log_id",
    "epoch",
    "health",
    "entries",
    "commits",
    "rows",
    "bytes",
    "database_bytes",
    "wal_bytes",
    "cause",
    "checkpoint",
    "integrity",
    "first_bad_seq",
];
const TASK_FIELDS: [&str; 8] = [
    "name",
    "state",
    "next_tick",
    "ticks",
    "failures_in_a_row",
    "last_started",
    "last_duration_us",
    "last_failure",
];
/// Not its explanation, which may quote a conversation.
const QUEUED_FIELDS: [&str; 10] = [
    "task_id",
    "kind",
    "stage",
    "created",
    "changed",
    "due",
    "attempts",
    "progress",
    "cancel_requested",
    "last_end",
];
/// Not its subject, which may be a name.
const INCIDENT_FIELDS: [&str; 17] = [
    "incident_id",
    "domain",
    "cause",
    "severity",
    "stage",
    "opened",
    "changed",
    "silent_ms",
    "window_ms",
    "measured",
    "limit",
    "planned",
    "remedies",
    "last_remedy",
    "last_outcome",
    "resolution",
    "next_remedy",
];

/// Returns the daemon's state with the figures of its process.
pub(crate) async fn health(client: &Client) -> Result<Value, ClientError> {
    let status = client.status().await?;
    let mut health = fields(&to_json(&status), &STATUS_FIELDS);
    health.insert("process".to_owned(), process(&status.pid.to_string()));
    Ok(health.into())
}

/// Returns the journal's state and head, and how many of its newest entries are of which kind.
pub(crate) async fn journal(client: &Client) -> Result<Value, ClientError> {
    let status = client.journal_status().await?;
    let mut journal = fields(&to_json(&status), &JOURNAL_FIELDS);
    let first = status.entries.saturating_sub(COUNTED_ENTRIES_MAX);
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut from = first;
    while from < status.entries {
        let page = client.list_entries(from, ENTRIES_PAGE).await?;
        let Some(last) = page.last().map(|entry| entry.seq) else { break };
        for entry in page {
            *kinds.entry(entry.kind).or_default() += 1;
        }
        from = last.saturating_add(1);
    }
    journal.insert("kinds_counted_from".to_owned(), first.into());
    journal.insert("entries_of_kind".to_owned(), json!(kinds));
    Ok(journal.into())
}

/// Returns the tasks of the daemon, and those of the queue.
pub(crate) async fn tasks(client: &Client) -> Result<Value, ClientError> {
    let own = client.call(v1::ListBackgroundTasksRequest::default()).await?.tasks;
    let request = v1::ListQueuedTasksRequest { page_size: LISTED_MAX, ..Default::default() };
    let queued = client.call(request).await?.tasks;
    let own: Vec<Value> = own.iter().map(|task| fields(&to_json(task), &TASK_FIELDS).into()).collect();
    let queued: Vec<Value> =
        queued.iter().map(|task| fields(&to_json(task), &QUEUED_FIELDS).into()).collect();
    Ok(json!({ "tasks": own, "queue": queued }))
}

/// Returns the incidents of self-healing, and the mode of each domain.
pub(crate) async fn incidents(client: &Client) -> Result<Value, ClientError> {
    let request = v1::ListIncidentsRequest { all: true, page_size: LISTED_MAX, ..Default::default() };
    let found = client.call(request).await?;
    let incidents: Vec<Value> =
        found.incidents.iter().map(|one| fields(&to_json(one), &INCIDENT_FIELDS).into()).collect();
    let domains: Vec<Value> = found.domains.iter().map(to_json).collect();
    Ok(json!({ "incidents": incidents, "domains": domains }))
}

fn fields(record: &Value, names: &[&str]) -> Map<String, Value> {
    let field = |name: &&str| Some(((*name).to_owned(), record.get(*name)?.clone()));
    names.iter().filter_map(field).collect()
}
