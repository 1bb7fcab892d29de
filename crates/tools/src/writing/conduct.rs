//! Prepares a call, and carries it out as it was prepared.

use palyra_ports::PreparedCall;
use palyra_run_core::Execution;
use palyra_types::Redacted;

use super::change::{Change, work_out};
use super::end::WriteEnd;
use super::order::{Purpose, WriteOrder};
use super::pace::Pace;
use super::plan::{Plan, pre_images, told};
use super::preview::preview;
use super::resume::resume;
use super::rollout::Rollout;
use super::twins::twin_note;
use crate::failure::ToolFailure;
use crate::page::ToolOutput;
use crate::workspace::{Found, Workspace};

/// Works out what a call would do; changes nothing.
pub(crate) fn prepare(workspace: &Workspace, order: &WriteOrder) -> Result<PreparedCall, ToolFailure> {
    let changes = work_out(workspace, order.tasks())?;
    let shown = preview(&changes, &twin_notes(workspace, &changes));
    let unchanged = match order.purpose() {
        Purpose::Change => told_unchanged(&changes),
        Purpose::Rehearse => String::new(),
    };
    let (changes, summary) = match order.purpose() {
        Purpose::Change => (changes, shown.summary),
        Purpose::Rehearse => (Vec::new(), format!("changes nothing; it would be: {}", shown.summary)),
    };
    Ok(PreparedCall {
        body: Redacted::new(order.plan_of(&changes).body()),
        pre_images: pre_images(changes),
        summary: Redacted::new(summary),
        preview: Redacted::new(shown.diff),
        unchanged: Redacted::new(unchanged),
        ..PreparedCall::default()
    })
}

/// Says that every file has its content already; nothing where one would change.
fn told_unchanged(changes: &[Change]) -> String {
    match changes {
        [only] if only.is_none() => {
            format!("`{}` has this content already; nothing was changed", only.path.show())
        }
        [_, _, ..] if changes.iter().all(Change::is_none) => {
            format!("all {} files have this content already; nothing was changed", changes.len())
        }
        _ => String::new(),
    }
}

fn twin_notes(workspace: &Workspace, changes: &[Change]) -> Vec<String> {
    let made = changes.iter().filter(|change| change.before == Found::Absent);
    made.filter_map(|change| workspace.slot(&change.path).ok().flatten().and_then(|slot| twin_note(&slot)))
        .collect()
}

/// Does what a call was prepared to do, or finishes it.
pub(crate) fn execute(
    workspace: &Workspace,
    order: &WriteOrder,
    recorded: &str,
    execution: Execution,
    key: &[u8; 32],
    pace: &Pace<'_>,
) -> Result<ToolOutput, WriteEnd> {
    let Some(plan) = Plan::read(recorded) else {
        return Err(match execution {
            Execution::First => {
                ToolFailure::System("the call was not prepared; nothing was done".to_owned()).into()
            }
            Execution::Again => WriteEnd::Lost,
        });
    };
    if order.purpose() == Purpose::Rehearse {
        let changes = work_out(workspace, order.tasks())?;
        return Ok(output(format!(
            "nothing was changed; the patch applies: {}",
            preview(&changes, &[]).summary
        )));
    }
    match execution {
        Execution::First => {
            let changes = work_out(workspace, order.tasks())?;
            if order.plan_of(&changes) != plan {
                return Err(drifted(&plan, &changes).into());
            }
            Rollout::with(Vec::new(), pace).run(workspace, changes, key)?;
        }
        Execution::Again => resume(workspace, order, &plan, key, pace)?,
    }
    Ok(output(told(&plan)))
}

fn drifted(plan: &Plan, changes: &[Change]) -> ToolFailure {
    let differs = changes.iter().find(|change| {
        let path = change.path.as_path().to_string_lossy();
        !plan.files.iter().any(|file| file.path == path && file.was(change.before_sha256()))
    });
    let named = differs.map_or("what it depends on".to_owned(), |change| format!("`{}`", change.path.show()));
    ToolFailure::Conflict(format!(
        "{named} changed since this call was prepared, so nothing was done; read it again"
    ))
}

fn output(text: String) -> ToolOutput {
    let bytes_total = text.len() as u64;
    ToolOutput { text, bytes_total }
}

#[cfg(test)]
mod tests;
